//! Elements of the tower with fewer bits than 128.

use std::{
    fmt,
    ops::{BitXor, BitXorAssign},
};

use bytemuck::{Pod, Zeroable};
use zeroize::DefaultIsZeroes;

use super::{Element, Gf64, Tower};
use crate::Prg;

/// low + high·t with high < 2^(`BITS` − 64): a vector space over GF(2). It is no field: sums stay
/// in it, products are anywhere in [`Tower`].
///
/// It takes 16 bytes in memory, so that the code under vector OLE compresses it as fast as the
/// tower, and [`BYTES`](Element::BYTES) on the wire. `BITS` is a multiple of 8 from 72 to 120.
/// Whoever casts bytes to it keeps the upper bits zero.
#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Subspace<const BITS: u32>(Tower);

impl<const BITS: u32> Subspace<BITS> {
    /// Bytes of the upper part on the wire.
    const HIGH_BYTES: usize = Self::BYTES - LOW_BYTES;

    /// Returns the lowest bits of an element.
    fn of(element: Tower) -> Self {
        Self(Tower {
            low: element.low,
            high: Gf64(element.high.0 & Self::HIGH_MASK),
        })
    }

    const HIGH_MASK: u64 = {
        assert!(BITS > 64 && BITS < 128 && BITS.is_multiple_of(8));
        (1 << (BITS - 64)) - 1
    };
}

/// Bytes of the lower part.
const LOW_BYTES: usize = size_of::<Gf64>();

impl<const BITS: u32> Element for Subspace<BITS> {
    const BITS: u32 = BITS;

    fn from_bytes(bytes: &[u8]) -> Self {
        assert_eq!(bytes.len(), Self::BYTES, "the bytes of an element");
        let (low, high) = bytes.split_at(LOW_BYTES);
        Self(from_parts(low, high))
    }

    fn fill(elements: &mut [Self], prg: &mut Prg) {
        prg.fill_bytes(bytemuck::cast_slice_mut(elements));
        for element in elements {
            *element = Self::of(element.0);
        }
    }

    /// Packs all lower parts, then all upper parts.
    fn pack(elements: &[Self], bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.resize(start + elements.len() * Self::BYTES, 0);
        let (low, high) = bytes[start..].split_at_mut(elements.len() * LOW_BYTES);
        let parts = low.chunks_exact_mut(LOW_BYTES);
        for ((low, high), element) in parts
            .zip(high.chunks_exact_mut(Self::HIGH_BYTES))
            .zip(elements)
        {
            low.copy_from_slice(&element.0.low.0.to_le_bytes());
            high.copy_from_slice(&element.0.high.0.to_le_bytes()[..Self::HIGH_BYTES]);
        }
    }

    fn unpack(bytes: &[u8], elements: &mut [Self]) {
        assert_eq!(
            bytes.len(),
            elements.len() * Self::BYTES,
            "the bytes of the elements"
        );
        let (low, high) = bytes.split_at(elements.len() * LOW_BYTES);
        let parts = low.chunks_exact(LOW_BYTES);
        for ((low, high), element) in parts.zip(high.chunks_exact(Self::HIGH_BYTES)).zip(elements) {
            *element = Self(from_parts(low, high));
        }
    }

    fn add_products(sums: &mut [Tower], factor: Tower, elements: &[Self]) {
        Tower::add_products(sums, factor, bytemuck::cast_slice(elements));
    }

    fn inner_product(weights: &[Tower], elements: &[Self]) -> Tower {
        Tower::inner_product(weights, bytemuck::cast_slice(elements))
    }
}

/// Returns an element from the bytes of its parts, the upper one of which may be short.
#[inline(always)]
fn from_parts(low: &[u8], high: &[u8]) -> Tower {
    let part = |bytes: &[u8]| {
        let mut part = [0; LOW_BYTES];
        part[..bytes.len()].copy_from_slice(bytes);
        Gf64(u64::from_le_bytes(part))
    };
    Tower {
        low: part(low),
        high: part(high),
    }
}

impl<const BITS: u32> From<Subspace<BITS>> for Tower {
    fn from(element: Subspace<BITS>) -> Self {
        element.0
    }
}

/// Shows nothing: an element may be a secret.
impl<const BITS: u32> fmt::Debug for Subspace<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subspace(…)")
    }
}

impl<const BITS: u32> BitXor for Subspace<BITS> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl<const BITS: u32> BitXorAssign for Subspace<BITS> {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

impl<const BITS: u32> DefaultIsZeroes for Subspace<BITS> {}
