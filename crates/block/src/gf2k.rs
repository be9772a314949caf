//! GF(2^w) for widths w up to 63, chosen at run time, and its quadratic extension GF(2^2w).
//!
//! It is for values that are not 64 or 128 bits long, so that no more bits travel than the values
//! have. Linear maps over the small field act on both halves of an element of the extension alike,
//! which costs two carry-less products; [`AdditiveFft`](crate::additive_fft::AdditiveFft) is such a
//! map.
//!
//! **Representation.** The small field is `GF(2)[x]/m` with an irreducible m of degree w.
//! Computation is with residues modulo a multiple M = x^d + r of m, where r is short: its degree is
//! at most d − w + 1. The product of a residue and a *reduced* constant (of degree below w) is then
//! reduced by one more carry-less product with r, without carries into x^d. [`Field::to_words`]
//! reduces modulo m. A residue is kept shifted up by 64 − d bits, so that the upper word of a
//! product is what lies above x^d.
//!
//! The extension is `GF(2^w)[t]/(t^2 + t + x^e)`: e = 0 for odd w, where 1 has trace 1. For even w,
//! e = 1: m is chosen so that x has trace 1.
//!
//! Addition is exclusive or. Everything is constant time, except [`Field::invert_all`], which shows
//! whether it was given a zero.

use std::ops::{BitXor, BitXorAssign};

use bytemuck::{Pod, Zeroable};

use crate::cpu::{self, multiversion};

mod matrix;
pub(crate) mod products;
mod widths;

#[cfg(target_arch = "x86_64")]
use products::x86;
use products::{Constants, portable};
use widths::{WIDTHS, Width};

/// low + high·t, an element of GF(2^2w), in the representation of some [`Field`]. Equal elements
/// may look different.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Element {
    pub(crate) low: u64,
    pub(crate) high: u64,
}

impl Element {
    /// The neutral element of addition.
    pub const ZERO: Self = Self { low: 0, high: 0 };
}

impl BitXor for Element {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self {
            low: self.low ^ other.low,
            high: self.high ^ other.high,
        }
    }
}

impl BitXorAssign for Element {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

/// The field of some width, and what is needed to compute in it.
#[derive(Clone, Copy)]
pub struct Field {
    width: &'static Width,
    constants: Constants,
}

impl Field {
    /// Returns the widths w that there are, ascending.
    pub fn widths() -> impl Iterator<Item = u32> {
        WIDTHS.iter().map(|width| width.bits)
    }

    /// Returns the field of 2^`bits` elements, and its extension.
    ///
    /// # Panics
    /// If there is none of this [width](Self::widths).
    pub fn new(bits: u32) -> Self {
        let width = WIDTHS.iter().find(|width| width.bits == bits);
        let width = width.expect("the width is one of those that there are");
        let shift = 64 - width.ring_bits;
        Self {
            width,
            constants: Constants {
                shift: shift.into(),
                fold: width.fold << shift,
                twist: u64::from(bits.is_multiple_of(2)),
            },
        }
    }

    /// Returns w.
    pub fn bits(&self) -> u32 {
        self.width.bits
    }

    pub(crate) fn constants(&self) -> &Constants {
        &self.constants
    }

    /// Returns the element whose halves have these coefficients: bit i is that of x^i, for i below
    /// w; the bits above are ignored.
    #[inline]
    pub fn from_words(&self, [low, high]: [u64; 2]) -> Element {
        let lift = |word: u64| (word & self.mask()) << self.constants.shift;
        Element {
            low: lift(low),
            high: lift(high),
        }
    }

    /// Returns an element of the small field.
    pub fn small(&self, word: u64) -> Element {
        self.from_words([word, 0])
    }

    /// Returns 1.
    pub fn one(&self) -> Element {
        self.small(1)
    }

    /// Returns the coefficients of both halves, reduced: w bits each.
    #[inline]
    pub fn to_words(&self, element: Element) -> [u64; 2] {
        [element.low, element.high].map(|half| self.reduce(half >> self.constants.shift))
    }

    /// Reduces modulo m, by Barrett's method: since M = m·c, the quotient is that of `residue`·c by
    /// x^d.
    #[inline]
    fn reduce(&self, residue: u64) -> u64 {
        let extra = self.width.ring_bits - self.bits();
        let top = residue >> self.bits();
        let mut quotient = 0;
        // At most 7 bits.
        for i in 0..extra {
            quotient ^= (self.width.cofactor << i) & (top >> i & 1).wrapping_neg();
        }
        quotient >>= extra;
        let mut reduced = residue;
        for i in 0..extra {
            reduced ^= (self.width.modulus << i) & (quotient >> i & 1).wrapping_neg();
        }
        reduced & self.mask()
    }

    fn mask(&self) -> u64 {
        (1 << self.bits()) - 1
    }

    /// Returns whether an element is zero.
    pub fn is_zero(&self, element: Element) -> bool {
        self.to_words(element) == [0; 2]
    }

    /// Returns a·b.
    pub fn product(&self, a: Element, b: Element) -> Element {
        let mut product = [a];
        self.multiply(&mut product, &[b]);
        product[0]
    }

    /// Returns the inverse of an element; zero of zero.
    #[must_use]
    pub fn invert(&self, element: Element) -> Element {
        let mut inverse = [element];
        invert_on(cpu::best(), self.constants, self.bits(), &mut inverse);
        inverse[0]
    }

    /// Replaces all elements by their inverses, with three products each; false, and
    /// garbage, if one of them is zero.
    #[must_use]
    pub fn invert_all(&self, elements: &mut [Element]) -> bool {
        // Products of the two halves, until few are left; and back.
        if elements.len() <= 1 {
            return elements.iter_mut().all(|element| {
                *element = self.invert(*element);
                !self.is_zero(*element)
            });
        }
        let (first, rest) = elements.split_at_mut(elements.len() / 2);
        let (second, odd) = rest.split_at_mut(first.len());
        let mut products = first.to_vec();
        self.multiply(&mut products, second);
        // An element without a partner is its own product.
        products.extend_from_slice(odd);
        let all = self.invert_all(&mut products);
        let (pairs, single) = products.split_at(first.len());
        odd.copy_from_slice(single);
        first.swap_with_slice(second);
        self.multiply(first, pairs);
        self.multiply(second, pairs);
        all
    }

    /// Computes aᵢ ·= bᵢ.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn multiply(&self, a: &mut [Element], b: &[Element]) {
        assert_eq!(a.len(), b.len(), "as many factors on both sides");
        multiply_on(cpu::best(), self.constants, a, b);
    }

    /// Computes sumsᵢ += aᵢ·bᵢ.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn add_products(&self, sums: &mut [Element], a: &[Element], b: &[Element]) {
        assert!(
            sums.len() == a.len() && a.len() == b.len(),
            "a sum for each two factors"
        );
        add_products_on(cpu::best(), self.constants, sums, a, b);
    }

    /// Computes sumsᵢ += factor·elementsᵢ.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn add_multiples(&self, sums: &mut [Element], factor: Element, elements: &[Element]) {
        assert_eq!(sums.len(), elements.len(), "a sum for each element");
        add_multiples_on(cpu::best(), self.constants, sums, factor, elements);
    }
}

multiversion! {
    fn invert_on(field: Constants, bits: u32, element: &mut [Element; 1])
    portable invert(field, bits, element, portable::product);
    avx2 invert(field, bits, element, |field, a, b| x86::product(field, a, b));
    avx512 invert(field, bits, element, |field, a, b| x86::product(field, a, b));
}

multiversion! {
    fn multiply_on(field: Constants, a: &mut [Element], b: &[Element])
    portable multiply(a, b, |a, b| portable::product(field, a, b));
    avx2 multiply(a, b, |a, b| x86::product(field, a, b));
    avx512 multiply(a, b, |a, b| x86::product(field, a, b));
}

multiversion! {
    fn add_products_on(field: Constants, sums: &mut [Element], a: &[Element], b: &[Element])
    portable add_products(sums, a, b, |a, b| portable::product(field, a, b));
    avx2 add_products(sums, a, b, |a, b| x86::product(field, a, b));
    avx512 add_products(sums, a, b, |a, b| x86::product(field, a, b));
}

multiversion! {
    fn add_multiples_on(
        field: Constants, sums: &mut [Element], factor: Element, elements: &[Element],
    )
    portable add_multiples(sums, elements, |a| portable::product(field, a, factor));
    avx2 add_multiples(sums, elements, |a| x86::product(field, a, factor));
    avx512 add_multiples(sums, elements, |a| x86::product(field, a, factor));
}

/// Inverts by the method of Itoh and Tsujii: the product of an element and its conjugate lies in
/// the small field, where the inverse of a is a^(2^w − 2).
#[inline(always)]
fn invert(
    field: Constants,
    bits: u32,
    element: &mut [Element; 1],
    product: impl Fn(Constants, Element, Element) -> Element,
) {
    let [Element { low, high }] = *element;
    // t + 1 is the other root of t² + t + x^e.
    let conjugate = Element {
        low: low ^ high,
        high,
    };
    let norm = product(field, element[0], conjugate);
    // `power` is norm^(2^done − 1), for `done` the upper bits of w − 1.
    let (mut power, mut done) = (norm, 1);
    for bit in (0..(bits - 1).ilog2()).rev() {
        let half = power;
        for _ in 0..done {
            power = product(field, power, power);
        }
        power = product(field, power, half);
        done *= 2;
        if (bits - 1) >> bit & 1 == 1 {
            power = product(field, product(field, power, power), norm);
            done += 1;
        }
    }
    let inverse = product(field, power, power);
    element[0] = product(field, conjugate, inverse);
}

#[inline(always)]
fn multiply(a: &mut [Element], b: &[Element], product: impl Fn(Element, Element) -> Element) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = product(*a, *b);
    }
}

#[inline(always)]
fn add_products(
    sums: &mut [Element],
    a: &[Element],
    b: &[Element],
    product: impl Fn(Element, Element) -> Element,
) {
    for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
        *sum ^= product(*a, *b);
    }
}

#[inline(always)]
fn add_multiples(
    sums: &mut [Element],
    elements: &[Element],
    multiple: impl Fn(Element) -> Element,
) {
    for (sum, element) in sums.iter_mut().zip(elements) {
        *sum ^= multiple(*element);
    }
}

#[cfg(test)]
mod tests;
