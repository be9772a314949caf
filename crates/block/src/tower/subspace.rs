//! Elements of a field with fewer bits than it has.

use std::{
    fmt,
    ops::{BitXor, BitXorAssign},
};

use bytemuck::{Pod, Zeroable};
use zeroize::DefaultIsZeroes;

use super::{Element, Gf64, Tower};
use crate::Prg;

/// The elements of a field `F` with the lowest `BITS` bits alone: a vector space over GF(2). It is
/// no field: sums stay in it, products are anywhere in [`Tower`].
///
/// In memory it is an element of `F`, so that what computes with `F` is as fast, and the same code.
/// On the wire it takes its bits: all whole bytes of each element first, then the bits that are
/// left of one element after the other, and zeros up to a whole byte at the end. Packing is for 57
/// to 80 bits, and does not compile for others. Whoever casts bytes to it keeps the upper bits
/// zero.
#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Subspace<F, const BITS: u32>(F);

/// A field that elements of fewer bits lie in: [`Gf64`] or [`Tower`].
pub trait Field: Element + DefaultIsZeroes + Eq {
    /// Returns the element with these bits.
    fn of_bits(bits: u128) -> Self;

    /// Returns the bits of the element.
    fn bits(self) -> u128;
}

impl Field for Gf64 {
    #[inline(always)]
    fn of_bits(bits: u128) -> Self {
        Self(bits as u64)
    }

    #[inline(always)]
    fn bits(self) -> u128 {
        self.0.into()
    }
}

impl Field for Tower {
    #[inline(always)]
    fn of_bits(bits: u128) -> Self {
        Self {
            low: Gf64(bits as u64),
            high: Gf64((bits >> 64) as u64),
        }
    }

    #[inline(always)]
    fn bits(self) -> u128 {
        u128::from(self.high.0) << 64 | u128::from(self.low.0)
    }
}

/// The bits that are left of so many elements fill whole bytes.
const GROUP: usize = 8;

impl<F: Field, const BITS: u32> Subspace<F, BITS> {
    /// Bytes of each element that are whole: 7 or 8. They are copied as they are.
    const WHOLE: usize = {
        assert!(BITS >= 57 && BITS < F::BITS && BITS <= 80);
        if BITS < 64 { 7 } else { 8 }
    };

    /// Bits of each element that are left.
    const LEFT: usize = BITS as usize - 8 * Self::WHOLE;

    /// Returns the lowest bits of an element.
    #[inline(always)]
    fn lowest(element: F) -> Self {
        Self(F::of_bits(element.bits() & ((1 << BITS) - 1)))
    }
}

impl<F: Field, const BITS: u32> Element for Subspace<F, BITS> {
    const BITS: u32 = BITS;

    #[inline]
    fn from_bytes(bytes: &[u8]) -> Self {
        assert_eq!(bytes.len(), Self::BYTES, "the bytes of an element");
        let mut all = [0; 16];
        all[..Self::BYTES].copy_from_slice(bytes);
        Self::lowest(F::of_bits(u128::from_le_bytes(all)))
    }

    fn fill(elements: &mut [Self], prg: &mut Prg) {
        prg.fill_bytes(bytemuck::cast_slice_mut(elements));
        for element in elements {
            *element = Self::lowest(element.0);
        }
    }

    fn packed_bytes(count: usize) -> usize {
        count * Self::WHOLE + (count * Self::LEFT).div_ceil(8)
    }

    fn pack(elements: &[Self], bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.resize(start + Self::packed_bytes(elements.len()), 0);
        let (whole, left) = bytes[start..].split_at_mut(elements.len() * Self::WHOLE);
        for (bytes, element) in whole.chunks_exact_mut(Self::WHOLE).zip(elements) {
            bytes.copy_from_slice(&element.0.bits().to_le_bytes()[..Self::WHOLE]);
        }
        for (bytes, elements) in left.chunks_mut(Self::LEFT).zip(elements.chunks(GROUP)) {
            let mut word = 0;
            for (element, place) in elements.iter().zip((0..).step_by(Self::LEFT)) {
                word |= element.0.bits() >> (8 * Self::WHOLE) << place;
            }
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
    }

    fn unpack(bytes: &[u8], elements: &mut [Self]) {
        let expected = Self::packed_bytes(elements.len());
        assert_eq!(bytes.len(), expected, "the bytes of the elements");
        let (whole, left) = bytes.split_at(elements.len() * Self::WHOLE);
        let whole = whole.chunks(GROUP * Self::WHOLE);
        let bytes = whole.zip(left.chunks(Self::LEFT));
        for (elements, (whole, left)) in elements.chunks_mut(GROUP).zip(bytes) {
            let mut word = [0; 16];
            word[..left.len()].copy_from_slice(left);
            let mut left = u128::from_le_bytes(word);
            for (element, whole) in elements.iter_mut().zip(whole.chunks_exact(Self::WHOLE)) {
                let mut low = [0; 8];
                low[..Self::WHOLE].copy_from_slice(whole);
                let low = u128::from(u64::from_le_bytes(low));
                *element = Self::lowest(F::of_bits(low | left << (8 * Self::WHOLE)));
                left >>= Self::LEFT;
            }
        }
    }

    fn add_products(sums: &mut [Tower], factor: Tower, elements: &[Self]) {
        F::add_products(sums, factor, bytemuck::cast_slice(elements));
    }

    fn inner_product(weights: &[Tower], elements: &[Self]) -> Tower {
        F::inner_product(weights, bytemuck::cast_slice(elements))
    }
}

impl<F: Field, const BITS: u32> From<Subspace<F, BITS>> for Tower {
    fn from(element: Subspace<F, BITS>) -> Self {
        element.0.into()
    }
}

/// Shows nothing: an element may be a secret.
impl<F, const BITS: u32> fmt::Debug for Subspace<F, BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subspace(…)")
    }
}

impl<F: Field, const BITS: u32> BitXor for Subspace<F, BITS> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl<F: Field, const BITS: u32> BitXorAssign for Subspace<F, BITS> {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

impl<F: Field, const BITS: u32> DefaultIsZeroes for Subspace<F, BITS> {}
