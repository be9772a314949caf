//! The groups that `dh` works in. The decisional Diffie-Hellman problem is hard in them, and nobody
//! knows discrete logarithms of hashes to them. Encoded elements follow each other without gaps.

use psijoin_block::{Prg, blake3_rows};
use psijoin_curve::{Error, Scalar, ffdhe3072};
use psijoin_params::public_key::{MODULUS_BITS, SHORT_EXPONENT_BITS};
use psijoin_psi::masks::{Mask, MaskLength};

use crate::{compare, uniform_hash};

/// Bytes of an encoded element of ristretto255.
pub(crate) const POINT_BYTES: usize = 32;

/// Bytes of an encoded element of ffdhe3072.
const NUMBER_BYTES: usize = ffdhe3072::ELEMENT_BYTES;

const _: () = assert!(8 * NUMBER_BYTES == MODULUS_BITS as usize);
const _: () = assert!(ffdhe3072::UNIFORM_BYTES == uniform_hash::BYTES);

/// A group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// The group of RFC 9496.
    Ristretto255,
    /// The group of RFC 7919, with short exponents.
    Ffdhe3072,
}

/// A secret exponent in a group. Wiped on drop.
pub(crate) enum Exponent {
    /// Of [`Group::Ristretto255`].
    Ristretto255(Scalar),
    /// Of [`Group::Ffdhe3072`].
    Ffdhe3072(ffdhe3072::Exponent),
}

impl Group {
    /// Returns the number of bytes of an encoded element.
    pub(crate) fn element_bytes(self) -> usize {
        match self {
            Self::Ristretto255 => POINT_BYTES,
            Self::Ffdhe3072 => NUMBER_BYTES,
        }
    }

    /// Elements in a message: some KiB, and some milliseconds of computing.
    pub(crate) fn elements_per_message(self) -> usize {
        match self {
            Self::Ristretto255 => 256,
            Self::Ffdhe3072 => 16,
        }
    }

    /// Returns a random exponent.
    pub(crate) fn exponent(self, rng: &mut Prg) -> Exponent {
        match self {
            Self::Ristretto255 => Exponent::Ristretto255(Scalar::from_uniform_bytes(&rng.bytes())),
            Self::Ffdhe3072 => Exponent::Ffdhe3072(ffdhe3072::Exponent::from_uniform_bytes(
                &rng.bytes(),
                SHORT_EXPONENT_BITS,
            )),
        }
    }

    /// Returns the masks of elements: hashes of all of their bytes.
    pub(crate) fn masks(self, elements: &[u8], key: &[u8; 32], length: MaskLength) -> Vec<Mask> {
        match self {
            Self::Ristretto255 => compare::masks::<{ POINT_BYTES / 8 }>(elements, key, length),
            Self::Ffdhe3072 => compare::masks::<{ NUMBER_BYTES / 8 }>(elements, key, length),
        }
    }
}

impl Exponent {
    /// Returns H(row)^exponent of each row; H is keyed.
    pub(crate) fn hash_power(&self, key: &[u8; 32], rows: &[[u64; 4]]) -> Vec<u8> {
        match self {
            Self::Ristretto255(exponent) => {
                let mut hashes = vec![[0_u64; 4]; rows.len()];
                blake3_rows::keyed_hash(key, rows, &mut hashes);
                let mut powers = vec![[0; POINT_BYTES]; rows.len()];
                let hashes = bytemuck::cast_slice(&hashes);
                psijoin_curve::map_mul_encode(hashes, exponent, &mut powers);
                powers.into_flattened()
            }
            Self::Ffdhe3072(exponent) => {
                let mut powers = vec![[0; NUMBER_BYTES]; rows.len()];
                let uniform = uniform_hash::hash(key, rows);
                ffdhe3072::hash_pow_encode(&uniform, exponent, &mut powers);
                powers.into_flattened()
            }
        }
    }

    /// Raises elements to the exponent.
    ///
    /// # Errors
    /// If bytes encode no element, or one whose powers reveal nothing about the exponent.
    pub(crate) fn power(&self, elements: &[u8]) -> Result<Vec<u8>, Error> {
        match self {
            Self::Ristretto255(exponent) => {
                let (elements, _) = elements.as_chunks();
                let mut powers = vec![[0; POINT_BYTES]; elements.len()];
                psijoin_curve::decode_mul_encode(elements, exponent, &mut powers)?;
                Ok(powers.into_flattened())
            }
            Self::Ffdhe3072(exponent) => {
                let (elements, _) = elements.as_chunks();
                let mut powers = vec![[0; NUMBER_BYTES]; elements.len()];
                ffdhe3072::decode_pow_encode(elements, exponent, &mut powers)?;
                Ok(powers.into_flattened())
            }
        }
    }
}
