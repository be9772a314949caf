//! The whole way from bytes to bytes, for any instruction set with lanes.

use zeroize::{Zeroize, Zeroizing};

use crate::{
    Error, Scalar,
    digits::Digits,
    edwards::{Extended, Table},
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
        let mut workspace = Zeroizing::new(Workspace::new(lanes));
        let batch_len = BATCH_VECTORS * L::COUNT;
        for (uniform, out) in self
            .uniform
            .chunks(batch_len)
            .zip(self.out.chunks_mut(batch_len))
        {
            for (k, uniform) in uniform.chunks(L::COUNT).enumerate() {
                workspace.multiply(k, &ristretto::hash(lanes, uniform), &half);
            }
            workspace.encode(lanes, out);
        }
    }
}

/// Inputs of [`crate::decode_mul_encode`], whose encodings are canonical.
pub(super) struct DecodeMulEncode<'a> {
    pub(super) encoded: &'a [[u8; 32]],
    pub(super) scalar: &'a Scalar,
    pub(super) out: &'a mut [[u8; 32]],
}

impl<L: Lanes> Job<L> for DecodeMulEncode<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run(self, lanes: L) -> Result<(), Error> {
        // Half, because encoding doubles.
        let half = Digits::new(&self.scalar.value().div_by_2());
        let mut workspace = Zeroizing::new(Workspace::new(lanes));
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
                for (k, (point, invalid)) in decoded.iter().take(used).enumerate() {
                    if let Some(lane) = invalid.iter().position(|invalid| *invalid) {
                        let index = batch * batch_len + (2 * pair + k) * L::COUNT + lane;
                        return Err(Error::NotAnElement { index });
                    }
                    workspace.multiply(2 * pair + k, point, &half);
                }
            }
            workspace.encode(lanes, out);
        }
        Ok(())
    }
}

/// Everything in memory that depends on a secret.
struct Workspace<L: Lanes> {
    table: Table<L>,
    products: [HalfEncoded<L>; BATCH_VECTORS],
}

impl<L: Lanes> Workspace<L> {
    #[inline(always)]
    fn new(lanes: L) -> Self {
        Self {
            table: Table::new(lanes),
            products: [HalfEncoded::zero(lanes); BATCH_VECTORS],
        }
    }

    /// Puts a product in place k.
    #[inline(always)]
    fn multiply(&mut self, k: usize, point: &Extended<L>, scalar: &Digits) {
        self.products[k] = HalfEncoded::new(&self.table.multiply(point, scalar));
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
            let denominator = self.products[k].denominator();
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
            self.products[k].finish(&inverse).to_bytes(out);
        }
    }
}

impl<L: Lanes> Zeroize for Workspace<L> {
    fn zeroize(&mut self) {
        self.table.zeroize();
        for product in &mut self.products {
            product.zeroize();
        }
    }
}
