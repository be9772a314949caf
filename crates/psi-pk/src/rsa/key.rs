//! The sender's key, and signatures.

use std::convert::Infallible;

use crypto_bigint::{
    NonZero, Odd, U1536, U3072,
    modular::FixedMontyForm,
    rand_core::{TryCryptoRng, TryRng},
};
use crypto_primes::{
    Flavor,
    hazmat::{SetBits, SmallFactorsSieveFactory},
    is_prime, sieve_and_find,
};
use psijoin_block::Prg;
use psijoin_curve::modular::{Modulus1536, Modulus3072};
use psijoin_params::public_key::RSA_PUBLIC_EXPONENT;
use psijoin_psi::Error;
use psijoin_runtime::parallel;
use zeroize::Zeroize;

use super::public::PublicKey;

/// N = p·q, and the e-th root by either prime. Wiped on drop.
pub(super) struct PrivateKey {
    pub(super) public: PublicKey,
    p: Prime,
    q: Prime,
    /// 1/q modulo p.
    q_inverse: U1536,
}

impl Drop for PrivateKey {
    fn drop(&mut self) {
        self.q_inverse.zeroize();
    }
}

/// A prime factor p of N.
#[derive(Clone)]
pub(super) struct Prime {
    modulus: Modulus1536,
    /// 1/e modulo p − 1.
    exponent: U1536,
}

impl Drop for Prime {
    fn drop(&mut self) {
        self.exponent.zeroize();
    }
}

impl Prime {
    /// Returns a random prime p of 1,536 bits, the two highest set, with e prime to p − 1.
    fn random(rng: &mut Prg) -> Self {
        let mut rng = Randomness(rng.fork());
        loop {
            let sieve = SmallFactorsSieveFactory::new(Flavor::Any, U1536::BITS, SetBits::TwoMsb)
                .expect("primes of this length exist");
            let mut prime: U1536 =
                sieve_and_find(&mut rng, sieve, |_, number| is_prime(Flavor::Any, number))
                    .expect("the generator does not fail")
                    .expect("the sieve does not end");
            let found = Self::new(&prime);
            prime.zeroize();
            if let Some(found) = found {
                return found;
            }
        }
    }

    /// Returns `None` if e has no inverse modulo p − 1.
    fn new(prime: &U1536) -> Option<Self> {
        let order = prime.wrapping_sub(&U1536::ONE);
        let exponent = U1536::from_u32(RSA_PUBLIC_EXPONENT)
            .invert_mod(&NonZero::new(order).into_option()?)
            .into_option()?;
        let modulus = Modulus1536::new(Odd::new(*prime).into_option()?)?;
        Some(Self { modulus, exponent })
    }

    /// Returns the e-th roots modulo p of numbers modulo N.
    fn roots(&self, numbers: &[U3072]) -> Vec<U1536> {
        let bases: Vec<U1536> = numbers
            .iter()
            .map(|number| {
                let (low, high) = number.split();
                self.modulus.reduce(&low, &high)
            })
            .collect();
        let mut roots = vec![U1536::ZERO; numbers.len()];
        self.modulus
            .pow(&bases, &self.exponent, U1536::BITS, &mut roots);
        roots
    }
}

impl PrivateKey {
    /// Returns a fresh key.
    pub(super) fn generate(rng: &mut Prg) -> Self {
        let mut rngs = [rng.fork(), rng.fork()];
        let [first, second] = &mut rngs;
        loop {
            let (p, q) = parallel::join(|| Prime::random(first), || Prime::random(second));
            if let Some(key) = Self::new(p, q) {
                return key;
            }
        }
    }

    /// Returns `None` if the primes are the same.
    pub(super) fn new(p: Prime, q: Prime) -> Option<Self> {
        let modulus: U3072 = p.modulus.get().concatenating_mul(q.modulus.get());
        let public = PublicKey {
            modulus: Modulus3072::new(Odd::new(modulus).into_option()?)?,
        };
        let q_inverse = FixedMontyForm::new(q.modulus.get(), p.modulus.params())
            .invert()
            .into_option()?
            .retrieve();
        Some(Self {
            public,
            p,
            q,
            q_inverse,
        })
    }

    /// Returns the e-th roots modulo N: numbers to the power d.
    ///
    /// # Errors
    /// If this machine computed one wrongly.
    pub(super) fn sign(&self, numbers: &[U3072]) -> Result<Vec<U3072>, Error> {
        let (mut modulo_p, mut modulo_q) = (self.p.roots(numbers), self.q.roots(numbers));
        let signatures: Vec<U3072> = modulo_p
            .iter()
            .zip(&modulo_q)
            .map(|(p, q)| self.combine(p, q))
            .collect();
        modulo_p.zeroize();
        modulo_q.zeroize();
        if self.public.raise(&signatures) != numbers {
            return Err(Error::Fault("an RSA signature is not what it should be"));
        }
        Ok(signatures)
    }

    /// Returns the number modulo N with these residues (Garner): s_q + q·((s_p − s_q)/q mod p).
    fn combine(&self, modulo_p: &U1536, modulo_q: &U1536) -> U3072 {
        let monty = |number| FixedMontyForm::new(number, self.p.modulus.params());
        let difference = monty(modulo_p) - monty(modulo_q);
        let quotient = (difference * monty(&self.q_inverse)).retrieve();
        let multiple: U3072 = self.q.modulus.get().concatenating_mul(&quotient);
        multiple.wrapping_add(&modulo_q.resize())
    }

    /// Spoils the prime p: half of what the key computes is wrong.
    #[cfg(test)]
    pub(super) fn insecure_with_fault(mut self) -> Self {
        self.p.exponent = self.p.exponent.wrapping_sub(&U1536::ONE);
        self
    }
}

/// A generator as the search for primes wants it. Wiped on drop, as [`Prg`] is.
struct Randomness(Prg);

impl TryRng for Randomness {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.0.bytes()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.0.bytes()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

impl TryCryptoRng for Randomness {}
