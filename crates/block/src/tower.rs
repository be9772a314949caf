//! GF(2^64), and GF(2^128) on top of it, where the subfield lies in one half of a block.
//!
//! - [`Gf64`] = `GF(2)[x] / (x^64 + x^4 + x^3 + x + 1)`; bit i is the coefficient of x^i.
//! - [`Tower`] = `Gf64[t] / (t^2 + t + x^61)`. The polynomial is irreducible, because x^61
//!   has trace 1; it and x^63 are the only powers of x with that property.
//!
//! - [`Subspace`] = the elements of either with a given number of lowest bits, for when the others
//!   are a waste.
//!
//! Subfield vector OLE multiplies elements of the tower by elements of the subfield, which
//! costs two carry-less products, and sends and stores the latter in half the space. Addition
//! is exclusive or. Everything is constant time.

use std::{
    fmt,
    ops::{BitXor, BitXorAssign, Mul},
};

use bytemuck::{Pod, Zeroable};
use zeroize::{DefaultIsZeroes, Zeroize};

use crate::{
    Prg,
    cpu::{self, multiversion},
};

mod kernels;
mod subspace;

pub use subspace::{Field, Subspace};

use kernels::portable;
#[cfg(target_arch = "x86_64")]
use kernels::x86;

/// An element of GF(2^64).
#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Gf64(pub u64);

/// low + high·t, an element of GF(2^128).
#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Tower {
    /// The part in the subfield.
    pub low: Gf64,
    /// The coefficient of t.
    pub high: Gf64,
}

/// The interface of the fields and [`Subspace`]: a vector space over GF(2) inside [`Tower`].
pub trait Element:
    Pod
    + Default
    + PartialEq
    + Send
    + Sync
    + BitXor<Output = Self>
    + BitXorAssign
    + Into<Tower>
    + Zeroize
{
    /// Bits of an element.
    const BITS: u32;

    /// Bytes that the bits of an element lie in.
    const BYTES: usize = Self::BITS.div_ceil(8) as usize;

    /// Returns the element with these bytes, the lowest first. Bits beyond its own are left out.
    ///
    /// # Panics
    /// Unless there are [`BYTES`](Self::BYTES) of them.
    fn from_bytes(bytes: &[u8]) -> Self;

    /// Draws uniform elements.
    fn fill(elements: &mut [Self], prg: &mut Prg) {
        prg.fill_bytes(bytemuck::cast_slice_mut(elements));
    }

    /// Returns the number of bytes that so many elements take on the wire.
    fn packed_bytes(count: usize) -> usize {
        count * Self::BYTES
    }

    /// Appends what elements are on the wire: [`packed_bytes`](Self::packed_bytes).
    fn pack(elements: &[Self], bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(bytemuck::cast_slice(elements));
    }

    /// Unpacks the elements that were packed to these bytes. Any bytes are elements.
    ///
    /// # Panics
    /// Unless there are [`packed_bytes`](Self::packed_bytes) for them.
    fn unpack(bytes: &[u8], elements: &mut [Self]) {
        bytemuck::cast_slice_mut(elements).copy_from_slice(bytes);
    }

    /// Computes sumsᵢ += factor·elementsᵢ.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn add_products(sums: &mut [Tower], factor: Tower, elements: &[Self]);

    /// Returns Σ weightsᵢ·elementsᵢ.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn inner_product(weights: &[Tower], elements: &[Self]) -> Tower;
}

impl Gf64 {
    /// The neutral element of multiplication.
    pub const ONE: Self = Self(1);
}

impl Tower {
    /// Returns itself times t.
    fn times_t(self) -> Self {
        // With t² = t + x^61.
        Self {
            low: kernels::times_x61(self.high),
            high: self.low ^ self.high,
        }
    }
}

impl Element for Gf64 {
    const BITS: u32 = 64;

    fn from_bytes(bytes: &[u8]) -> Self {
        bytemuck::pod_read_unaligned(bytes)
    }

    fn add_products(sums: &mut [Tower], factor: Tower, elements: &[Self]) {
        assert_eq!(sums.len(), elements.len(), "a sum for each element");
        products(cpu::best(), sums, factor, elements);
    }

    fn inner_product(weights: &[Tower], elements: &[Self]) -> Tower {
        assert_eq!(weights.len(), elements.len(), "a weight for each element");
        let mut sum = Tower::default();
        weighted_sum(cpu::best(), weights, elements, &mut sum);
        sum
    }
}

impl Element for Tower {
    const BITS: u32 = 128;

    fn from_bytes(bytes: &[u8]) -> Self {
        bytemuck::pod_read_unaligned(bytes)
    }

    fn add_products(sums: &mut [Tower], factor: Tower, elements: &[Self]) {
        assert_eq!(sums.len(), elements.len(), "a sum for each element");
        tower_products(cpu::best(), sums, factor, elements);
    }

    fn inner_product(weights: &[Tower], elements: &[Self]) -> Tower {
        assert_eq!(weights.len(), elements.len(), "a weight for each element");
        let mut sum = Tower::default();
        tower_weighted_sum(cpu::best(), weights, elements, &mut sum);
        sum
    }
}

impl From<Gf64> for Tower {
    fn from(low: Gf64) -> Self {
        Self {
            low,
            high: Gf64::default(),
        }
    }
}

/// Shows nothing: an element may be a secret.
impl fmt::Debug for Gf64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gf64(…)")
    }
}

/// Shows nothing: an element may be a secret.
impl fmt::Debug for Tower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tower(…)")
    }
}

impl BitXor for Gf64 {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl BitXor for Tower {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self {
            low: self.low ^ other.low,
            high: self.high ^ other.high,
        }
    }
}

impl BitXorAssign for Gf64 {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

impl BitXorAssign for Tower {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

impl Mul for Tower {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let mut product = [Self::default()];
        tower_products(cpu::best(), &mut product, self, &[other]);
        product[0]
    }
}

impl DefaultIsZeroes for Gf64 {}
impl DefaultIsZeroes for Tower {}

multiversion! {
    fn products(sums: &mut [Tower], factor: Tower, elements: &[Gf64])
    portable portable::products(sums, factor, elements);
    avx2 x86::products(sums, factor, elements);
    avx512 x86::products(sums, factor, elements);
}

multiversion! {
    fn tower_products(sums: &mut [Tower], factor: Tower, elements: &[Tower])
    portable portable::tower_products(sums, factor, elements);
    avx2 x86::tower_products(sums, factor, elements);
    avx512 x86::tower_products(sums, factor, elements);
}

multiversion! {
    fn weighted_sum(weights: &[Tower], elements: &[Gf64], sum: &mut Tower)
    portable portable::weighted_sum(weights, elements, sum);
    avx2 x86::weighted_sum(weights, elements, sum);
    avx512 x86::weighted_sum(weights, elements, sum);
}

multiversion! {
    fn tower_weighted_sum(weights: &[Tower], elements: &[Tower], sum: &mut Tower)
    portable portable::tower_weighted_sum(weights, elements, sum);
    avx2 x86::tower_weighted_sum(weights, elements, sum);
    avx512 x86::tower_weighted_sum(weights, elements, sum);
}

#[cfg(test)]
mod tests;
