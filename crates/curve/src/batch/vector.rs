//! The whole way from bytes to bytes, for any instruction set with lanes.

use zeroize::{Zeroize, Zeroizing};

use crate::{
    Error, Scalar,
    digits::{Digits, LaneDigits},
    edwards::{FixedTable, Projective, Table},
    field::{Constant, Element, Mask},
    lanes::{Job, Lanes},
    ristretto::{self, HalfEncoded},
};

/// Vectors of points that share an inversion: it costs about 280 multiplications, a point
/// about 2,000.
const BATCH_VECTORS: usize = 16;

/// Inputs of [`crate::hash_mul_encode`].
pub(super) struct HashMulEncode<'a> {
    pub(super) uniform: &'a [[u8; 64]],
    pub(super) scalar: &'a Scalar,
    pub(super) out: &'a mut [[u8; 32]],
}

impl<L: Lanes> Job<L> for HashMulEncode<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, lanes: L) {
        // Half, because encoding doubles.
        let half = Digits::new(&self.scalar.value().div_by_2());
        let mut table = Zeroizing::new(Table::new(lanes));
        let mut products = Zeroizing::new(Products::new(lanes));
        let batch_len = BATCH_VECTORS * L::COUNT;
        for (uniform, out) in self
            .uniform
            .chunks(batch_len)
            .zip(self.out.chunks_mut(batch_len))
        {
            for (k, uniform) in uniform.chunks(L::COUNT).enumerate() {
                products.put(k, &table.multiply(&ristretto::hash(lanes, uniform), &half));
            }
            products.encode(lanes, out);
        }
    }
}

/// Inputs of [`crate::map_mul_encode`].
pub(super) struct MapMulEncode<'a> {
    pub(super) bytes: &'a [[u8; 32]],
    pub(super) scalar: &'a Scalar,
    pub(super) out: &'a mut [[u8; 32]],
}

impl<L: Lanes> Job<L> for MapMulEncode<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, lanes: L) {
        // Half, because encoding doubles.
        let half = Digits::new(&self.scalar.value().div_by_2());
        let mut table = Zeroizing::new(Table::new(lanes));
        let mut products = Zeroizing::new(Products::new(lanes));
        let batch_len = BATCH_VECTORS * L::COUNT;
        let batches = (self.bytes.chunks(batch_len)).zip(self.out.chunks_mut(batch_len));
        for (bytes, out) in batches {
            for (pair, bytes) in bytes.chunks(2 * L::COUNT).enumerate() {
                let halves = bytes.split_at(L::COUNT.min(bytes.len()));
                let points = ristretto::map(lanes, [halves.0, halves.1]);
                let used = bytes.len().div_ceil(L::COUNT);
                for (k, point) in points.iter().take(used).enumerate() {
                    products.put(2 * pair + k, &table.multiply(point, &half));
                }
            }
            products.encode(lanes, out);
        }
    }
}

/// Inputs of [`crate::decode_mul_encode`] or [`crate::decode_add_hash_mul_encode`], whose
/// encodings are canonical.
pub(super) struct DecodeMulEncode<'a> {
    pub(super) encoded: &'a [[u8; 32]],
    /// The bytes whose elements are added, twice, if any.
    pub(super) uniform: Option<&'a [[u8; 64]]>,
    pub(super) scalar: &'a Scalar,
    pub(super) out: &'a mut [[u8; 32]],
}

impl<L: Lanes> Job<L> for DecodeMulEncode<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run(self, lanes: L) -> Result<(), Error> {
        // Half, because encoding doubles.
        let half = Digits::new(&self.scalar.value().div_by_2());
        let mut table = Zeroizing::new(Table::new(lanes));
        let mut products = Zeroizing::new(Products::new(lanes));
        let batch_len = BATCH_VECTORS * L::COUNT;
        let batches = self
            .encoded
            .chunks(batch_len)
            .zip(self.out.chunks_mut(batch_len));
        for (batch, (encoded, out)) in batches.enumerate() {
            // Two vectors at once hide each other's latencies.
            for (pair, encoded) in encoded.chunks(2 * L::COUNT).enumerate() {
                let halves = encoded.split_at(L::COUNT.min(encoded.len()));
                let decoded = ristretto::decode(lanes, [halves.0, halves.1]);
                let used = encoded.len().div_ceil(L::COUNT);
                for (k, (mut point, invalid)) in decoded.into_iter().take(used).enumerate() {
                    let first = batch * batch_len + (2 * pair + k) * L::COUNT;
                    if let Some(lane) = invalid.iter().position(|invalid| *invalid) {
                        let index = first + lane;
                        return Err(Error::NotAnElement { index });
                    }
                    if let Some(uniform) = self.uniform {
                        let hashed = ristretto::hash(lanes, &uniform[first..]);
                        point = point.plus(&hashed.double());
                    }
                    products.put(2 * pair + k, &table.multiply(&point, &half));
                }
            }
            products.encode(lanes, out);
        }
        Ok(())
    }
}

/// A canonical encoding, whose element is to be a [`crate::FixedBase`].
pub(super) struct PrepareBase<'a> {
    pub(super) encoded: &'a [u8; 32],
}

impl<L: Lanes> Job<L> for PrepareBase<'_> {
    type Output = Result<FixedTable, Error>;

    #[inline(always)]
    fn run(self, lanes: L) -> Result<FixedTable, Error> {
        let [(point, invalid), _] = ristretto::decode(lanes, [&[*self.encoded], &[]]);
        if invalid[0] {
            return Err(Error::NotAnElement { index: 0 });
        }
        Ok(FixedTable::new(&point))
    }
}

/// Inputs of [`crate::FixedBase::mul_encode`] or [`crate::FixedBase::mul_sub_hash_encode`].
pub(super) struct FixedMulEncode<'a> {
    pub(super) table: &'a FixedTable,
    pub(super) scalars: &'a [Scalar],
    /// The bytes whose elements are subtracted, twice, if any.
    pub(super) uniform: Option<&'a [[u8; 64]]>,
    pub(super) out: &'a mut [[u8; 32]],
}

impl<L: Lanes> Job<L> for FixedMulEncode<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, lanes: L) {
        let mut products = Zeroizing::new(Products::new(lanes));
        let batch_len = BATCH_VECTORS * L::COUNT;
        for (batch, out) in self.out.chunks_mut(batch_len).enumerate() {
            for k in 0..out.len().div_ceil(L::COUNT) {
                let first = batch * batch_len + k * L::COUNT;
                // Half, because encoding doubles.
                let scalars = self.scalars[first..].iter().take(L::COUNT);
                let halves = LaneDigits::new(scalars.map(|scalar| scalar.value().div_by_2()));
                let mut product = self.table.multiply(lanes, &halves);
                if let Some(uniform) = self.uniform {
                    product = product.minus(&ristretto::hash(lanes, &uniform[first..]));
                }
                products.put(k, &product.to_projective());
            }
            products.encode(lanes, out);
        }
    }
}

/// Products that share an inversion.
struct Products<L: Lanes>([HalfEncoded<L>; BATCH_VECTORS]);

impl<L: Lanes> Products<L> {
    #[inline(always)]
    fn new(lanes: L) -> Self {
        Self([HalfEncoded::zero(lanes); BATCH_VECTORS])
    }

    /// Puts a product in place k.
    #[inline(always)]
    fn put(&mut self, k: usize, product: &Projective<L>) {
        self.0[k] = HalfEncoded::new(product);
    }

    /// Encodes the first products, as many as `out` has room for, all lanes of a vector
    /// sharing nothing, all vectors one inversion (Montgomery's trick).
    #[inline(always)]
    fn encode(&self, lanes: L, out: &mut [[u8; 32]]) {
        let one = Element::splat(lanes, Constant::ONE);
        let zero = Element::splat(lanes, Constant::ZERO);
        let nothing: Mask<L> = Mask::splat(lanes, 0);
        let used = out.len().div_ceil(L::COUNT);

        let mut denominators = [(one, nothing); BATCH_VECTORS];
        let mut products_before = [one; BATCH_VECTORS];
        let mut product = one;
        for k in 0..used {
            let denominator = self.0[k].denominator();
            let is_zero = denominator.is_zero();
            denominators[k] = (Element::select(is_zero, &one, &denominator), is_zero);
            products_before[k] = product;
            product = &product * &denominators[k].0;
        }

        let mut inverse_of_rest = product.invert();
        for (k, out) in out.chunks_mut(L::COUNT).enumerate().rev() {
            let (denominator, is_zero) = &denominators[k];
            let inverse = &inverse_of_rest * &products_before[k];
            let inverse = Element::select(*is_zero, &zero, &inverse);
            inverse_of_rest = &inverse_of_rest * denominator;
            self.0[k].finish(&inverse).to_bytes(out);
        }
    }
}

impl<L: Lanes> Zeroize for Products<L> {
    fn zeroize(&mut self) {
        for product in &mut self.0 {
            product.zeroize();
        }
    }
}
