//! Dispatch of a batch to the widest instruction set that the processor has.

use std::sync::LazyLock;

use curve25519_dalek::{
    constants::RISTRETTO_BASEPOINT_COMPRESSED, ristretto::RistrettoBasepointTable,
};

use crate::{Error, Scalar};

mod portable;
#[cfg(target_arch = "x86_64")]
mod vector;

#[cfg(all(test, target_arch = "x86_64"))]
use crate::lanes::model::Model;
#[cfg(target_arch = "x86_64")]
use crate::{
    edwards::FixedTable,
    lanes::{Lanes, avx2::Avx2, avx512::Avx512, ifma::Ifma},
};

/// An implementation that this processor can run. All give the same results.
#[derive(Clone, Copy)]
pub struct Backend(pub(crate) Kind);

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Vector(Vector),
}

/// An instruction set with lanes, which the processor has.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) enum Vector {
    Avx2(Avx2),
    Avx512(Avx512),
    Ifma(Ifma),
    /// The lanes of `Ifma` on any processor.
    #[cfg(test)]
    Model(Model),
}

/// Runs a job in the lanes of a vector.
#[cfg(target_arch = "x86_64")]
macro_rules! run {
    ($vector:expr, $job:expr) => {
        match $vector {
            Vector::Avx2(lanes) => lanes.run($job),
            Vector::Avx512(lanes) => lanes.run($job),
            Vector::Ifma(lanes) => lanes.run($job),
            #[cfg(test)]
            Vector::Model(lanes) => lanes.run($job),
        }
    };
}

impl Backend {
    /// Returns all that this processor can run, slowest first; the portable one always.
    pub fn available() -> impl DoubleEndedIterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let vectors = [
            #[cfg(test)]
            Some(Vector::Model(Model)),
            Avx2::detect().map(Vector::Avx2),
            Avx512::detect().map(Vector::Avx512),
            Ifma::detect().map(Vector::Ifma),
        ]
        .map(|vector| vector.map(Kind::Vector));
        #[cfg(not(target_arch = "x86_64"))]
        let vectors = [];
        [Some(Kind::Portable)]
            .into_iter()
            .chain(vectors)
            .flatten()
            .map(Self)
    }

    /// Returns the fastest.
    pub fn fastest() -> Self {
        Self::available()
            .next_back()
            .unwrap_or(Self(Kind::Portable))
    }

    /// Returns its name: `portable`, `avx2`, `avx512` or `avx512ifma`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Vector(Vector::Avx2(_)) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Vector(Vector::Avx512(_)) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Kind::Vector(Vector::Ifma(_)) => "avx512ifma",
            #[cfg(all(test, target_arch = "x86_64"))]
            Kind::Vector(Vector::Model(_)) => "model of avx512ifma",
        }
    }

    /// Does [`hash_mul_encode`](crate::hash_mul_encode) on this backend.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn hash_mul_encode(self, uniform: &[[u8; 64]], scalar: &Scalar, out: &mut [[u8; 32]]) {
        assert_eq!(uniform.len(), out.len(), "one output for each input");
        match self.0 {
            Kind::Portable => portable::hash_mul_encode(uniform, scalar, out),
            #[cfg(target_arch = "x86_64")]
            Kind::Vector(vector) => run!(
                vector,
                vector::HashMulEncode {
                    uniform,
                    scalar,
                    out,
                }
            ),
        }
    }

    /// Does [`map_mul_encode`](crate::map_mul_encode) on this backend.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn map_mul_encode(self, bytes: &[[u8; 32]], scalar: &Scalar, out: &mut [[u8; 32]]) {
        assert_eq!(bytes.len(), out.len(), "one output for each input");
        match self.0 {
            Kind::Portable => portable::map_mul_encode(bytes, scalar, out),
            #[cfg(target_arch = "x86_64")]
            Kind::Vector(vector) => run!(vector, vector::MapMulEncode { bytes, scalar, out }),
        }
    }

    /// Does [`decode_mul_encode`](crate::decode_mul_encode) on this backend.
    ///
    /// # Errors
    /// If an encoding is not that of an element, or that of the identity.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn decode_mul_encode(
        self,
        encoded: &[[u8; 32]],
        scalar: &Scalar,
        out: &mut [[u8; 32]],
    ) -> Result<(), Error> {
        self.decode_sum_mul_encode(encoded, None, scalar, out)
    }

    /// Does [`decode_add_hash_mul_encode`](crate::decode_add_hash_mul_encode) on this backend.
    ///
    /// # Errors
    /// If an encoding is not that of an element, or that of the identity.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn decode_add_hash_mul_encode(
        self,
        encoded: &[[u8; 32]],
        uniform: &[[u8; 64]],
        scalar: &Scalar,
        out: &mut [[u8; 32]],
    ) -> Result<(), Error> {
        assert_eq!(uniform.len(), out.len(), "one output for each input");
        self.decode_sum_mul_encode(encoded, Some(uniform), scalar, out)
    }

    /// Does it with or without hashes to add.
    fn decode_sum_mul_encode(
        self,
        encoded: &[[u8; 32]],
        uniform: Option<&[[u8; 64]]>,
        scalar: &Scalar,
        out: &mut [[u8; 32]],
    ) -> Result<(), Error> {
        assert_eq!(encoded.len(), out.len(), "one output for each input");
        for (index, encoding) in encoded.iter().enumerate() {
            check_encoding(index, encoding)?;
        }
        match self.0 {
            Kind::Portable => portable::decode_mul_encode(encoded, uniform, scalar, out),
            #[cfg(target_arch = "x86_64")]
            Kind::Vector(vector) => run!(
                vector,
                vector::DecodeMulEncode {
                    encoded,
                    uniform,
                    scalar,
                    out,
                }
            ),
        }
    }

    /// Does [`FixedBase::new`] for this backend.
    ///
    /// # Errors
    /// If the encoding is not that of an element, or that of the identity.
    pub fn fixed_base(self, encoded: &[u8; 32]) -> Result<FixedBase, Error> {
        check_encoding(0, encoded)?;
        Ok(FixedBase(match self.0 {
            Kind::Portable => Prepared::Portable(portable::prepare_base(encoded)?),
            #[cfg(target_arch = "x86_64")]
            Kind::Vector(vector) => {
                let table = run!(vector, vector::PrepareBase { encoded })?;
                Prepared::Vector(vector, table)
            }
        }))
    }
}

/// A public element with a table of its multiples, for products with many secret scalars:
/// each takes a third of the time of a product with an element of its own, and the table that
/// of sixteen or so.
///
/// ```
/// use psijoin_curve::{FixedBase, Scalar};
///
/// // In earnest these are secret uniform bytes.
/// let secrets = [[1; 64], [2; 64], [3; 64]].map(|bytes| Scalar::from_uniform_bytes(&bytes));
/// let mut public = [[0; 32]; 3];
/// FixedBase::generator().mul_encode(&secrets, &mut public);
///
/// // The others take the first one's element times their secrets as keys, and the first has the same.
/// let (mut with_first, mut with_second) = ([[0; 32]; 2], [[0; 32]]);
/// FixedBase::new(&public[0])?.mul_encode(&secrets[1..], &mut with_first);
/// FixedBase::new(&public[1])?.mul_encode(&secrets[..1], &mut with_second);
/// assert_eq!(with_first[0], with_second[0]);
/// # Ok::<(), psijoin_curve::Error>(())
/// ```
pub struct FixedBase(Prepared);

enum Prepared {
    Portable(Box<RistrettoBasepointTable>),
    #[cfg(target_arch = "x86_64")]
    Vector(Vector, FixedTable),
}

impl FixedBase {
    /// Prepares the element with this encoding.
    ///
    /// # Errors
    /// If it is not that of an element, or that of the identity.
    pub fn new(encoded: &[u8; 32]) -> Result<Self, Error> {
        Backend::fastest().fixed_base(encoded)
    }

    /// Returns the generator of the group, prepared on first use.
    pub fn generator() -> &'static Self {
        static GENERATOR: LazyLock<FixedBase> = LazyLock::new(|| {
            let encoded = RISTRETTO_BASEPOINT_COMPRESSED.as_bytes();
            FixedBase::new(encoded).expect("the generator is an element")
        });
        &GENERATOR
    }

    /// Multiplies the element by each scalar, and encodes the products.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn mul_encode(&self, scalars: &[Scalar], out: &mut [[u8; 32]]) {
        self.mul_difference_encode(scalars, None, out);
    }

    /// Multiplies the element by each scalar, subtracts twice the elements to which the
    /// one-way map takes each 64 uniform bytes, and encodes the differences. Twice as in
    /// [`decode_add_hash_mul_encode`](crate::decode_add_hash_mul_encode).
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn mul_sub_hash_encode(
        &self,
        scalars: &[Scalar],
        uniform: &[[u8; 64]],
        out: &mut [[u8; 32]],
    ) {
        assert_eq!(uniform.len(), out.len(), "one output for each input");
        self.mul_difference_encode(scalars, Some(uniform), out);
    }

    /// Does it with or without hashes to subtract.
    fn mul_difference_encode(
        &self,
        scalars: &[Scalar],
        uniform: Option<&[[u8; 64]]>,
        out: &mut [[u8; 32]],
    ) {
        assert_eq!(scalars.len(), out.len(), "one output for each input");
        match &self.0 {
            Prepared::Portable(table) => portable::fixed_mul_encode(table, scalars, uniform, out),
            #[cfg(target_arch = "x86_64")]
            Prepared::Vector(vector, table) => run!(
                *vector,
                vector::FixedMulEncode {
                    table,
                    scalars,
                    uniform,
                    out,
                }
            ),
        }
    }
}

/// Does the first step of DECODE (RFC 9496 §4.3.1): the encoding is a number below p, and even, and
/// not zero, which is the identity. Encodings are public, so this may branch.
fn check_encoding(index: usize, encoding: &[u8; 32]) -> Result<(), Error> {
    if *encoding == [0; 32] {
        return Err(Error::Identity { index });
    }
    let is_negative = encoding[0] & 1 == 1;
    // The numbers from p = 2^255 − 19 on.
    let is_too_large = encoding[31] >= 0x80
        || (encoding[31] == 0x7f
            && encoding[1..31].iter().all(|byte| *byte == 0xff)
            && encoding[0] >= 0xed);
    if is_negative || is_too_large {
        return Err(Error::NotAnElement { index });
    }
    Ok(())
}
