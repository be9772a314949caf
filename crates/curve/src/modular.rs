//! Powers modulo an odd number of many digits, in batches: many bases, one secret exponent.
//!
//! It is for groups that are not curves: that of RSA, and that of a large prime
//! ([`ffdhe3072`](crate::ffdhe3072)). Numbers are those of `crypto-bigint`, which does everything
//! that is not repeated for each bit of an exponent. On processors without vectors of doubles it
//! does all the work.
//!
//! # Why not `crypto-bigint` alone
//!
//! It computes one power at a time, in portable code. With one exponent for all, eight bases
//! (AVX-512) or four (AVX2 and FMA) go through the same steps in the lanes of a vector, in the
//! arithmetic of `vector`: about five times faster, which is the difference between minutes and an
//! hour for a million items.
//!
//! # Secrets
//!
//! Time and memory addresses depend on lengths only: those of the slices, and the stated one of the
//! exponent. The modulus may be secret too. Powers of bases and digits of exponents are wiped.

use crypto_bigint::{
    Odd, U1536, U3072, Uint,
    modular::{FixedMontyForm, FixedMontyParams},
};

use crate::batch::{Backend, Kind};
#[cfg(target_arch = "x86_64")]
use crate::{batch::Vector, lanes::Doubles};

#[cfg(target_arch = "x86_64")]
mod vector;

/// A modulus of 1,536 bits: a prime of an RSA key.
pub type Modulus1536 = Modulus<{ U1536::LIMBS }, 31>;

/// A modulus of 3,072 bits: that of an RSA key, or the prime of a group.
pub type Modulus3072 = Modulus<{ U3072::LIMBS }, 61>;

/// An odd modulus of `WORDS` machine words, the highest bit set; in the vector arithmetic, numbers
/// have `LIMBS` limbs.
#[derive(Clone)]
pub struct Modulus<const WORDS: usize, const LIMBS: usize> {
    params: FixedMontyParams<WORDS>,
    #[cfg(target_arch = "x86_64")]
    vector: vector::Constants<LIMBS>,
}

impl<const WORDS: usize, const LIMBS: usize> Modulus<WORDS, LIMBS> {
    /// Prepares the modulus; `None` if its highest bit is not set.
    pub fn new(modulus: Odd<Uint<WORDS>>) -> Option<Self> {
        if modulus.as_ref().leading_zeros() != 0 {
            return None;
        }
        Some(Self {
            params: FixedMontyParams::new(modulus),
            #[cfg(target_arch = "x86_64")]
            vector: vector::Constants::new(&modulus),
        })
    }

    /// Returns the number itself.
    pub fn get(&self) -> &Uint<WORDS> {
        self.params.modulus().as_ref()
    }

    /// Returns what `crypto-bigint` needs to compute with this modulus.
    pub fn params(&self) -> &FixedMontyParams<WORDS> {
        &self.params
    }

    /// Returns low + 2^(bits of the modulus)·high, modulo this.
    pub fn reduce(&self, low: &Uint<WORDS>, high: &Uint<WORDS>) -> Uint<WORDS> {
        // The Montgomery form of a number is that number times 2^bits.
        let high = *FixedMontyForm::new(high, &self.params).as_montgomery();
        let low = FixedMontyForm::new(low, &self.params).retrieve();
        low.add_mod(&high, self.params.modulus().as_nz_ref())
    }

    /// Returns the number with these little-endian bytes, modulo this.
    ///
    /// # Panics
    /// If they are fewer than those of the modulus, or more than twice as many.
    pub fn from_uniform(&self, bytes: &[u8]) -> Uint<WORDS> {
        let (low, high) = bytes.split_at(Uint::<WORDS>::BYTES);
        let mut padded = vec![0; Uint::<WORDS>::BYTES];
        padded[..high.len()].copy_from_slice(high);
        self.reduce(&Uint::from_le_slice(low), &Uint::from_le_slice(&padded))
    }

    /// Raises each base, which need not be reduced, to the exponent. Only the lowest
    /// `exponent_bits` of the exponent may be set. Results are reduced.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn pow<const E: usize>(
        &self,
        bases: &[Uint<WORDS>],
        exponent: &Uint<E>,
        exponent_bits: u32,
        out: &mut [Uint<WORDS>],
    ) {
        self.pow_on(Backend::fastest(), bases, exponent, exponent_bits, out);
    }

    /// Does [`pow`](Self::pow) on this backend.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn pow_on<const E: usize>(
        &self,
        backend: Backend,
        bases: &[Uint<WORDS>],
        exponent: &Uint<E>,
        exponent_bits: u32,
        out: &mut [Uint<WORDS>],
    ) {
        assert_eq!(bases.len(), out.len(), "one output for each base");
        match backend.0 {
            Kind::Portable => {
                for (base, out) in bases.iter().zip(out) {
                    let base = FixedMontyForm::new(base, &self.params);
                    *out = base.pow_bounded_exp(exponent, exponent_bits).retrieve();
                }
            }
            #[cfg(target_arch = "x86_64")]
            Kind::Vector(vector) => {
                self.pow_in_vectors(vector, bases, exponent, exponent_bits, out);
            }
        }
    }

    /// Does it in doubles.
    #[cfg(target_arch = "x86_64")]
    fn pow_in_vectors<const E: usize>(
        &self,
        vector: Vector,
        bases: &[Uint<WORDS>],
        exponent: &Uint<E>,
        exponent_bits: u32,
        out: &mut [Uint<WORDS>],
    ) {
        match vector {
            Vector::Avx2(lanes) => self.pow_in_lanes(lanes, bases, exponent, exponent_bits, out),
            Vector::Avx512(lanes) => self.pow_in_lanes(lanes, bases, exponent, exponent_bits, out),
            Vector::Ifma(lanes) => {
                self.pow_in_lanes(lanes.doubles(), bases, exponent, exponent_bits, out);
            }
            // It has no doubles.
            #[cfg(test)]
            Vector::Model(_) => {
                let portable = Backend(Kind::Portable);
                self.pow_on(portable, bases, exponent, exponent_bits, out);
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn pow_in_lanes<L: Doubles, const E: usize>(
        &self,
        lanes: L,
        bases: &[Uint<WORDS>],
        exponent: &Uint<E>,
        exponent_bits: u32,
        out: &mut [Uint<WORDS>],
    ) {
        lanes.run(vector::Pow {
            constants: &self.vector,
            windows: vector::Windows::new(exponent, exponent_bits),
            bases,
            out,
        });
    }
}

#[cfg(test)]
mod tests;
