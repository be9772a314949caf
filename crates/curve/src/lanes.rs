//! Vectors of integers and of double-precision numbers: the few instructions that the field
//! arithmetic needs, on each instruction set that multiplies numbers of some 50 bits.
//!
//! A value of a [`Lanes`] type is the proof that the processor has the instructions: it can
//! be made only by its `detect`, and every operation takes one. That keeps `unsafe` to the
//! files that name the instructions.

use zeroize::Zeroize;

use crate::field::Arithmetic;

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod ifma;
#[cfg(test)]
pub(crate) mod model;

/// The most lanes that any instruction set has.
pub(crate) const MAX_LANES: usize = 8;

/// An instruction set with `COUNT` lanes of 64 bits, each seen as an integer.
///
/// Implementations mark every method but [`Self::run`] `#[inline(always)]`, so that it becomes
/// one instruction inside a job. So must be every function between the two, and closures must
/// not come between: what is compiled without the instructions calls a function for each.
pub(crate) trait Lanes: Copy {
    /// Lanes in a vector, at most [`MAX_LANES`].
    const COUNT: usize;

    /// `COUNT` unsigned integers of 64 bits; arithmetic wraps.
    type Word: Copy + Zeroize;

    /// How the limbs of a field element are held and multiplied.
    type Field: Arithmetic<Self>;

    /// Runs a job compiled for this instruction set, as a function of its own.
    fn run<J: Job<Self>>(self, job: J) -> J::Output;

    /// Puts one integer into every lane.
    fn splat_word(self, x: u64) -> Self::Word;

    /// Returns the first `COUNT` integers.
    fn load(self, words: &[u64; MAX_LANES]) -> Self::Word;

    /// Returns the lanes, followed by zeros.
    fn store(self, x: Self::Word) -> [u64; MAX_LANES];

    /// Returns a + b.
    fn add_words(self, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns a − b.
    fn sub_words(self, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns the bitwise and.
    fn and(self, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns the bitwise or.
    fn or(self, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns the bitwise exclusive or.
    fn xor(self, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns a·2^BITS.
    fn shl<const BITS: u32>(self, a: Self::Word) -> Self::Word;

    /// Returns ⌊a / 2^BITS⌋.
    fn shr<const BITS: u32>(self, a: Self::Word) -> Self::Word;
}

/// Lanes that are seen as doubles, too, with a fused multiply-add.
pub(crate) trait Doubles: Lanes {
    /// `COUNT` doubles.
    type Float: Copy + Zeroize;

    /// Puts one double into every lane.
    fn splat(self, x: f64) -> Self::Float;

    /// Returns a + b, rounded to nearest.
    fn add(self, a: Self::Float, b: Self::Float) -> Self::Float;

    /// Returns a − b, rounded to nearest.
    fn sub(self, a: Self::Float, b: Self::Float) -> Self::Float;

    /// Returns a·b + c, rounded once, to nearest.
    fn mul_add(self, a: Self::Float, b: Self::Float, c: Self::Float) -> Self::Float;

    /// Returns the representation of doubles as integers.
    fn bits_of(self, x: Self::Float) -> Self::Word;

    /// Returns the doubles with these representations.
    fn float_of(self, x: Self::Word) -> Self::Float;
}

/// Lanes with a multiplier of the lower 52 bits of integers: AVX-512 IFMA.
pub(crate) trait Multiplier52: Lanes {
    /// Returns c + (a·b mod 2^52), of the lower 52 bits of a and b.
    fn add_low(self, c: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns c + ⌊a·b / 2^52⌋, of the lower 52 bits of a and b.
    fn add_high(self, c: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;
}

/// Code to run on one instruction set.
pub(crate) trait Job<L: Lanes> {
    /// The result.
    type Output;

    /// Does it. Implementations are `#[inline(always)]`.
    fn run(self, lanes: L) -> Self::Output;
}
