//! The public facts about a key, and the reason why the receiver may blind its items with it.

use crypto_bigint::{Odd, U64, U3072};
use psijoin_curve::modular::Modulus3072;
use psijoin_params::public_key::{RSA_PUBLIC_EXPONENT, rsa_root_proofs};
use psijoin_psi::{
    Error, Input,
    masks::{Mask, MaskLength},
};

use super::NUMBER_BYTES;
use crate::{compare, uniform_hash};

/// A modulus N for which raising to the power e permutes the units.
pub(super) struct PublicKey {
    pub(super) modulus: Modulus3072,
}

impl PublicKey {
    /// Returns the number of bytes of an encoded key with its proof.
    pub(super) fn encoded_bytes() -> usize {
        (1 + rsa_root_proofs()) * NUMBER_BYTES
    }

    /// Returns the encoding: N, then roots of the [challenges](Self::challenges).
    pub(super) fn encode(&self, roots: &[U3072]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::encoded_bytes());
        encode([self.modulus.get()], &mut bytes);
        encode(roots, &mut bytes);
        bytes
    }

    /// Reads an encoded key and checks the proof.
    ///
    /// # Errors
    /// If N is not an odd number of 3,072 bits, or raising to e might not permute its units.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let (modulus, roots) = bytes.split_at(NUMBER_BYTES);
        let modulus = Odd::new(U3072::from_le_slice(modulus))
            .into_option()
            .and_then(Modulus3072::new)
            .ok_or(Error::Peer(
                "its RSA modulus is not an odd number of 3072 bits",
            ))?;
        let key = Self { modulus };
        let roots = key.decode_numbers(roots)?;
        if key.raise(&roots) != key.challenges() {
            return Err(Error::Peer("its RSA key might not hide what is blinded"));
        }
        Ok(key)
    }

    /// Hashes of N. Knowing their e-th roots shows that raising to the power e permutes the units.
    pub(super) fn challenges(&self) -> Vec<U3072> {
        let mut modulus = Vec::new();
        encode([self.modulus.get()], &mut modulus);
        let key = blake3::derive_key("psijoin 2026 rsa permutation proof", &modulus);
        let rows: Vec<[u64; 4]> = (0..rsa_root_proofs() as u64)
            .map(|number| [number, 0, 0, 0])
            .collect();
        self.hash(&key, &rows)
    }

    /// Returns H: keyed, onto all numbers modulo N.
    pub(super) fn hash(&self, key: &[u8; 32], rows: &[[u64; 4]]) -> Vec<U3072> {
        uniform_hash::hash(key, rows)
            .iter()
            .map(|bytes| self.modulus.from_uniform(bytes))
            .collect()
    }

    /// Returns the e-th powers.
    pub(super) fn raise(&self, numbers: &[U3072]) -> Vec<U3072> {
        let exponent = U64::from_u32(RSA_PUBLIC_EXPONENT);
        let bits = RSA_PUBLIC_EXPONENT.ilog2() + 1;
        let mut powers = vec![U3072::ZERO; numbers.len()];
        self.modulus.pow(numbers, &exponent, bits, &mut powers);
        powers
    }

    /// Returns numbers that a peer sent.
    ///
    /// # Errors
    /// If one is 0, 1, −1, or not below N: no honest party sends those.
    pub(super) fn decode_numbers(&self, bytes: &[u8]) -> Result<Vec<U3072>, Error> {
        let minus_one = self.modulus.get().wrapping_sub(&U3072::ONE);
        bytes
            .chunks_exact(NUMBER_BYTES)
            .map(|bytes| {
                let number = U3072::from_le_slice(bytes);
                if number > U3072::ONE && number < minus_one {
                    Ok(number)
                } else {
                    Err(Error::Peer(
                        "it sent a number that is trivial or beyond the modulus",
                    ))
                }
            })
            .collect()
    }
}

/// Appends numbers, little endian.
pub(super) fn encode<'a>(numbers: impl IntoIterator<Item = &'a U3072>, message: &mut Vec<u8>) {
    for number in numbers {
        message.extend_from_slice(number.to_le_bytes().as_ref());
    }
}

/// Returns the key of H.
pub(super) fn hash_key(input: &Input) -> [u8; 32] {
    input.joint_seed.key("psijoin 2026 rsa full-domain hash")
}

/// Returns the masks of signatures: hashes of all of their bytes.
pub(super) fn masks(input: &Input, length: MaskLength, signatures: &[U3072]) -> Vec<Mask> {
    let key = input.joint_seed.key("psijoin 2026 rsa masks");
    let mut encoded = Vec::with_capacity(signatures.len() * NUMBER_BYTES);
    encode(signatures, &mut encoded);
    compare::masks::<{ NUMBER_BYTES / 8 }>(&encoded, &key, length)
}
