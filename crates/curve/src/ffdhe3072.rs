//! The group ffdhe3072 (RFC 7919) in batches: many elements raised to one secret exponent.
//!
//! p = 2^3072 − 2^3008 + (⌊2^2942·e⌋ + 2625351)·2^64 − 1 is a safe prime: q = (p − 1)/2 is prime
//! too. The group consists of the squares modulo p, and has order q. An element is encoded as the
//! number below p, little endian, in 384 bytes.
//!
//! # The cofactor
//!
//! Modulo p there are two numbers, x and −x, for each square x². Exponents here are even, 2α:
//! whatever number is raised, the result is in the group of prime order, and x and −x give the
//! same. Squaring a uniform number hashes to the group. It also clears any component outside of the
//! group that a peer may have put in, without a Legendre symbol. Among the numbers below p, only 0,
//! 1 and −1 have a power that tells nothing about α; they are refused.
//!
//! # Short exponents
//!
//! α has 275 bits, not 3,071, as RFC 7919 §5.2 and §A.2 have it: finding it takes 2^137 steps by
//! Pollard's kangaroos, more than the 2^125 that RFC 7919 gives for the number field sieve. No
//! subgroup is small enough for it to be pieced together (van Oorschot and Wiener, Eurocrypt 1996),
//! since q is prime. The assumption is that of decisional Diffie-Hellman with short exponents: DDH,
//! and that powers with short exponents look like others (Koshiba and Kurosawa, PKC 2004).

use std::{fmt, sync::LazyLock};

use crypto_bigint::{Odd, U320, U3072};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{Error, modular::Modulus3072};

/// Bytes of an encoded element.
pub const ELEMENT_BYTES: usize = 384;

/// Uniform bytes that are hashed to an element: the bias is 2^-128.
pub const UNIFORM_BYTES: usize = ELEMENT_BYTES + 16;

const PRIME: &str = "\
     FFFFFFFFFFFFFFFFADF85458A2BB4A9AAFDC5620273D3CF1D8B9C583CE2D3695\
     A9E13641146433FBCC939DCE249B3EF97D2FE363630C75D8F681B202AEC4617A\
     D3DF1ED5D5FD65612433F51F5F066ED0856365553DED1AF3B557135E7F57C935\
     984F0C70E0E68B77E2A689DAF3EFE8721DF158A136ADE73530ACCA4F483A797A\
     BC0AB182B324FB61D108A94BB2C8E3FBB96ADAB760D7F4681D4F42A3DE394DF4\
     AE56EDE76372BB190B07A7C8EE0A6D709E02FCE1CDF7E2ECC03404CD28342F61\
     9172FE9CE98583FF8E4F1232EEF28183C3FE3B1B4C6FAD733BB5FCBC2EC22005\
     C58EF1837D1683B2C6F34A26C1B2EFFA886B4238611FCFDCDE355B3B6519035B\
     BC34F4DEF99C023861B46FC9D6E6C9077AD91D2691F7F7EE598CB0FAC186D91C\
     AEFE130985139270B4130C93BC437944F4FD4452E2D74DD364F2E21E71F54BFF\
     5CAE82AB9C9DF69EE86D2BC522363A0DABC521979B0DEADA1DBF9A42D5C4484E\
     0ABCD06BFA53DDEF3C1B20EE3FD59D7C25E41D2B66C62E37FFFFFFFFFFFFFFFF";

/// Arithmetic modulo p.
static MODULUS: LazyLock<Modulus3072> = LazyLock::new(|| {
    let prime = Odd::new(U3072::from_be_hex(PRIME)).expect("p is odd");
    Modulus3072::new(prime).expect("p has 3072 bits")
});

/// A secret exponent 2α. Wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Exponent {
    doubled: U320,
    #[zeroize(skip)]
    bits: u32,
}

impl Exponent {
    /// Uniform bytes for an exponent.
    pub const UNIFORM_BYTES: usize = U320::BYTES - 1;

    /// Returns the one with the lowest `bits` of these uniform bytes as α, at most
    /// 8·[`UNIFORM_BYTES`](Self::UNIFORM_BYTES).
    ///
    /// # Panics
    /// If `bits` are more than there are.
    pub fn from_uniform_bytes(bytes: &[u8; Self::UNIFORM_BYTES], bits: u32) -> Self {
        assert!(
            bits as usize <= 8 * Self::UNIFORM_BYTES,
            "more bits than there are"
        );
        let mut padded = [0; U320::BYTES];
        padded[..Self::UNIFORM_BYTES].copy_from_slice(bytes);
        let number = U320::from_le_slice(&padded);
        padded.zeroize();
        let unused = U320::BITS - bits;
        Self {
            doubled: number.shl_vartime(unused).shr_vartime(unused - 1),
            bits: bits + 1,
        }
    }
}

impl fmt::Debug for Exponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exponent(secret)")
    }
}

/// Hashes uniform bytes to the group, raises the elements to the exponent, and encodes the powers.
///
/// # Panics
/// If the slices differ in length.
pub fn hash_pow_encode(
    uniform: &[[u8; UNIFORM_BYTES]],
    exponent: &Exponent,
    out: &mut [[u8; ELEMENT_BYTES]],
) {
    let numbers: Vec<U3072> = uniform
        .iter()
        .map(|bytes| MODULUS.from_uniform(bytes))
        .collect();
    pow_encode(&numbers, exponent, out);
}

/// Decodes elements, raises them to the exponent, and encodes the powers.
///
/// # Errors
/// If an encoding is not below p, or that of 0, 1 or −1.
///
/// # Panics
/// If the slices differ in length.
pub fn decode_pow_encode(
    encoded: &[[u8; ELEMENT_BYTES]],
    exponent: &Exponent,
    out: &mut [[u8; ELEMENT_BYTES]],
) -> Result<(), Error> {
    let numbers = encoded
        .iter()
        .enumerate()
        .map(|(index, bytes)| decode(index, bytes))
        .collect::<Result<Vec<_>, _>>()?;
    pow_encode(&numbers, exponent, out);
    Ok(())
}

/// Encodings are public, so this may branch.
fn decode(index: usize, bytes: &[u8; ELEMENT_BYTES]) -> Result<U3072, Error> {
    let number = U3072::from_le_slice(bytes);
    let minus_one = MODULUS.get().wrapping_sub(&U3072::ONE);
    if number > minus_one || number == U3072::ZERO {
        return Err(Error::NotAnElement { index });
    }
    if number == minus_one || number == U3072::ONE {
        return Err(Error::Identity { index });
    }
    Ok(number)
}

fn pow_encode(numbers: &[U3072], exponent: &Exponent, out: &mut [[u8; ELEMENT_BYTES]]) {
    let mut powers = vec![U3072::ZERO; numbers.len()];
    MODULUS.pow(numbers, &exponent.doubled, exponent.bits, &mut powers);
    assert_eq!(powers.len(), out.len(), "one output for each input");
    for (power, out) in powers.iter().zip(out) {
        out.copy_from_slice(power.to_le_bytes().as_ref());
    }
    powers.zeroize();
}

#[cfg(test)]
mod tests;
