//! The groups that `dh` works in.

use bytemuck::Pod;
use psijoin_block::{Prg, blake3_rows};
use psijoin_curve::{Error, Scalar, ffdhe3072};
use psijoin_params::public_key::{MODULUS_BITS, SHORT_EXPONENT_BITS};

use crate::{
    Adversary, Info, full_domain,
    items::words,
    masks::{Mask, MaskLength},
};

/// A group in which the decisional Diffie-Hellman problem is hard, with a hash to it of which
/// nobody knows discrete logarithms.
pub(super) trait Group: Clone + Send + Sync + 'static {
    /// An encoded element: bytes, sent as they are.
    type Element: Pod + Send + Sync;

    /// A secret exponent, wiped on drop.
    type Exponent: Send + Sync;

    /// The protocol over this group.
    const INFO: Info;

    /// Elements in a message: some KiB, and some milliseconds of computing.
    const ELEMENTS_PER_MESSAGE: usize;

    /// A random exponent.
    fn exponent(rng: &mut Prg) -> Self::Exponent;

    /// Encodes H(row)^exponent of each row; H is keyed.
    fn hash_power(
        key: &[u8; 32],
        rows: &[[u64; 4]],
        exponent: &Self::Exponent,
        out: &mut [Self::Element],
    );

    /// Raises elements to the exponent.
    ///
    /// # Errors
    /// If bytes encode no element, or one whose powers say nothing.
    fn power(
        elements: &[Self::Element],
        exponent: &Self::Exponent,
        out: &mut [Self::Element],
    ) -> Result<(), Error>;

    /// The masks of elements: hashes of all of their bytes.
    fn masks(elements: &[Self::Element], key: &[u8; 32], length: MaskLength) -> Vec<Mask>;
}

/// The group of RFC 9496.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ristretto255;

impl Group for Ristretto255 {
    type Element = [u8; 32];
    type Exponent = Scalar;

    const INFO: Info = Info {
        name: "dh",
        summary: "Diffie-Hellman: least traffic for small sets, most computing",
        paper: "PSZ14 §4.1, SpOT19 §6",
        adversary: Adversary::SemiHonest,
        leaks: "set sizes",
        version: 1,
    };
    const ELEMENTS_PER_MESSAGE: usize = 256;

    fn exponent(rng: &mut Prg) -> Scalar {
        Scalar::from_uniform_bytes(&rng.bytes())
    }

    fn hash_power(key: &[u8; 32], rows: &[[u64; 4]], exponent: &Scalar, out: &mut [[u8; 32]]) {
        let mut uniform = vec![[0_u64; 8]; rows.len()];
        blake3_rows::keyed_hash(key, rows, &mut uniform);
        psijoin_curve::hash_mul_encode(bytemuck::cast_slice(&uniform), exponent, out);
    }

    fn power(elements: &[[u8; 32]], exponent: &Scalar, out: &mut [[u8; 32]]) -> Result<(), Error> {
        psijoin_curve::decode_mul_encode(elements, exponent, out)
    }

    fn masks(elements: &[[u8; 32]], key: &[u8; 32], length: MaskLength) -> Vec<Mask> {
        let rows: Vec<[u64; 4]> = elements.iter().map(|element| words(element)).collect();
        length.hash(key, &rows).collect()
    }
}

/// The group of RFC 7919, with short exponents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ffdhe3072;

const _: () = assert!(8 * ffdhe3072::ELEMENT_BYTES == MODULUS_BITS as usize);
const _: () = assert!(ffdhe3072::UNIFORM_BYTES == full_domain::BYTES);

impl Group for Ffdhe3072 {
    type Element = [u8; ffdhe3072::ELEMENT_BYTES];
    type Exponent = ffdhe3072::Exponent;

    const INFO: Info = Info {
        name: "dh-ffdhe3072",
        summary: "dh modulo a prime of 3072 bits: for those who may not use curves",
        paper: "PSZ14 §4.1",
        adversary: Adversary::SemiHonest,
        leaks: "set sizes",
        version: 1,
    };
    const ELEMENTS_PER_MESSAGE: usize = 16;

    fn exponent(rng: &mut Prg) -> ffdhe3072::Exponent {
        ffdhe3072::Exponent::from_uniform_bytes(&rng.bytes(), SHORT_EXPONENT_BITS)
    }

    fn hash_power(
        key: &[u8; 32],
        rows: &[[u64; 4]],
        exponent: &ffdhe3072::Exponent,
        out: &mut [Self::Element],
    ) {
        ffdhe3072::hash_pow_encode(&full_domain::hash(key, rows), exponent, out);
    }

    fn power(
        elements: &[Self::Element],
        exponent: &ffdhe3072::Exponent,
        out: &mut [Self::Element],
    ) -> Result<(), Error> {
        ffdhe3072::decode_pow_encode(elements, exponent, out)
    }

    fn masks(elements: &[Self::Element], key: &[u8; 32], length: MaskLength) -> Vec<Mask> {
        let rows: Vec<[u64; ffdhe3072::ELEMENT_BYTES / 8]> =
            elements.iter().map(|element| words(element)).collect();
        length.hash(key, &rows).collect()
    }
}
