//! The operations on limbs, which differ between representations.

use zeroize::Zeroize;

use super::Constant;
use crate::lanes::Lanes;

/// The limbs of an element.
pub(crate) type Limbs<L> = [<<L as Lanes>::Field as Arithmetic<L>>::Limb; 5];

/// A representation of elements on lanes of one kind. Sizes are those of [`super`].
///
/// As in [`Lanes`], every method is `#[inline(always)]`.
pub(crate) trait Arithmetic<L: Lanes>: Sized {
    /// A limb in each lane.
    type Limb: Copy + Zeroize;

    /// Returns the representation of limbs as integers.
    fn bits_of(l: L, limb: Self::Limb) -> L::Word;

    /// Returns the limbs with these representations.
    fn limb_of(l: L, bits: L::Word) -> Self::Limb;

    /// Puts a constant into every lane, reduced.
    fn splat(l: L, constant: Constant) -> [Self::Limb; 5];

    /// Returns the element Σ wₖ·2^(51k) of words below 2^51, reduced.
    fn from_words(l: L, words: &[L::Word; 5]) -> [Self::Limb; 5];

    /// Returns words below 2^53 of an equal number Σ wₖ·2^(51k) modulo p. Takes any size up to 7.
    fn to_words(l: L, x: &[Self::Limb; 5]) -> [L::Word; 5];

    /// Reduces the limbs. Takes any size up to 7.
    fn reduce(l: L, x: &[Self::Limb; 5]) -> [Self::Limb; 5];

    /// Returns a + b; its size is the sum of both sizes.
    fn add(l: L, a: &[Self::Limb; 5], b: &[Self::Limb; 5]) -> [Self::Limb; 5];

    /// Returns a − b; its size is the sum of both sizes.
    fn sub(l: L, a: &[Self::Limb; 5], b: &[Self::Limb; 5]) -> [Self::Limb; 5];

    /// Returns −x where the mask is set, x elsewhere; the size stays.
    fn negate_if(l: L, x: &[Self::Limb; 5], mask: L::Word) -> [Self::Limb; 5];

    /// Returns a·b as a wide number of size 1. Takes sizes whose product is at most 3.
    fn multiply(l: L, a: &[Self::Limb; 5], b: &[Self::Limb; 5]) -> [L::Word; 5];

    /// Returns a² as a wide number of size 1. Takes size 1.
    fn square(l: L, a: &[Self::Limb; 5]) -> [L::Word; 5];

    /// Returns a + b of wide numbers; its size is the sum of both sizes.
    fn add_wide(l: L, a: &[L::Word; 5], b: &[L::Word; 5]) -> [L::Word; 5];

    /// Returns a − b of wide numbers. Takes size 1 of b; the size grows by 2.
    fn sub_wide(l: L, a: &[L::Word; 5], b: &[L::Word; 5]) -> [L::Word; 5];

    /// Returns a wide number, of size up to 8, reduced.
    fn reduce_wide(l: L, sums: &[L::Word; 5]) -> [Self::Limb; 5];
}
