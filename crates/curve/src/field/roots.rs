//! Inverses and square roots.

use super::{Constant, Element, Mask};
use crate::lanes::{Job, Lanes};

impl<L: Lanes> Element<L> {
    /// Returns x^(p − 2): the inverse, or zero for zero; reduced. Takes size 1.
    #[inline(always)]
    pub(crate) fn invert(&self) -> Self {
        let PowersOf250Ones {
            mut powers,
            elevenths,
        } = PowersOf250Ones::new([*self]);
        // p − 2 = 2^255 − 21 = (2^250 − 1)·2^5 + 11.
        self.lanes.run(SquareTimes {
            powers: &mut powers,
            times: 5,
        });
        &powers[0] * &elevenths[0]
    }

    /// Computes SQRT_RATIO_M1 of RFC 9496 §4.2 for two pairs (u, v): where u/v is a square, and its
    /// non-negative root, elsewhere that of √−1·u/v; zero where u or v is. Takes size 1, gives size
    /// 1. Two at once hide each other's latencies.
    #[inline(always)]
    pub(crate) fn sqrt_ratios(ratios: [(&Self, &Self); 2]) -> [(Mask<L>, Self); 2] {
        let [(u0, v0), (u1, v1)] = ratios;
        // u·v³ and u·v⁷
        let numerators = [&(u0 * v0) * &v0.square(), &(u1 * v1) * &v1.square()];
        let bases = [
            &numerators[0] * &v0.square().square(),
            &numerators[1] * &v1.square().square(),
        ];
        let PowersOf250Ones { mut powers, .. } = PowersOf250Ones::new(bases);
        // (p − 5)/8 = 2^252 − 3 = (2^250 − 1)·2² + 1.
        u0.lanes.run(SquareTimes {
            powers: &mut powers,
            times: 2,
        });
        let root0 = &numerators[0] * &(&powers[0] * &bases[0]);
        let root1 = &numerators[1] * &(&powers[1] * &bases[1]);
        [choose_root(u0, v0, &root0), choose_root(u1, v1, &root1)]
    }
}

/// N independent elements to be squared `times` times over.
struct SquareTimes<'a, L: Lanes, const N: usize> {
    powers: &'a mut [Element<L>; N],
    times: u32,
}

impl<L: Lanes, const N: usize> Job<L> for SquareTimes<'_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run(self, _lanes: L) {
        let mut powers = *self.powers;
        for _ in 0..self.times {
            for power in &mut powers {
                *power = power.squared().reduce();
            }
        }
        *self.powers = powers;
    }
}

/// x^(2^250 − 1) and x^11 of each x, reduced.
struct PowersOf250Ones<L: Lanes, const N: usize> {
    powers: [Element<L>; N],
    elevenths: [Element<L>; N],
}

impl<L: Lanes, const N: usize> PowersOf250Ones<L, N> {
    /// Takes size 1. The addition chain doubles the number of ones: 5, 10, 20, 40, 50, 100,
    /// 200, 250.
    #[inline(always)]
    fn new(x: [Element<L>; N]) -> Self {
        let mut squares = x;
        x[0].lanes.run(SquareTimes {
            powers: &mut squares,
            times: 1,
        });
        let ninths = append_zeros_and_multiply(&squares, 2, &x);
        let elevenths = append_zeros_and_multiply(&ninths, 0, &squares);
        let ones_5 = append_zeros_and_multiply(&elevenths, 1, &ninths);
        let ones_10 = append_zeros_and_multiply(&ones_5, 5, &ones_5);
        let ones_20 = append_zeros_and_multiply(&ones_10, 10, &ones_10);
        let ones_40 = append_zeros_and_multiply(&ones_20, 20, &ones_20);
        let ones_50 = append_zeros_and_multiply(&ones_40, 10, &ones_10);
        let ones_100 = append_zeros_and_multiply(&ones_50, 50, &ones_50);
        let ones_200 = append_zeros_and_multiply(&ones_100, 100, &ones_100);
        let powers = append_zeros_and_multiply(&ones_200, 50, &ones_50);
        Self { powers, elevenths }
    }
}

/// Returns x^(2^zeros)·y of each: in the exponents, appends zeros to x's bits and adds y's.
#[inline(always)]
fn append_zeros_and_multiply<L: Lanes, const N: usize>(
    x: &[Element<L>; N],
    zeros: u32,
    y: &[Element<L>; N],
) -> [Element<L>; N] {
    let mut powers = *x;
    x[0].lanes.run(SquareTimes {
        powers: &mut powers,
        times: zeros,
    });
    for k in 0..N {
        powers[k] = &powers[k] * &y[k];
    }
    powers
}

/// Returns the last steps of SQRT_RATIO_M1: `root` is a root of ±u/v or ±√−1·u/v.
#[inline(always)]
fn choose_root<L: Lanes>(
    u: &Element<L>,
    v: &Element<L>,
    root: &Element<L>,
) -> (Mask<L>, Element<L>) {
    let lanes = u.lanes;
    let sqrt_m1 = Element::splat(lanes, Constant::SQRT_M1);
    let check = v * &root.square();
    let is_u = (&check - u).is_zero();
    let is_minus_u = (&check + u).is_zero();
    let is_minus_iu = (&check + &(u * &sqrt_m1)).is_zero();
    let turned = root * &sqrt_m1;
    let root = Element::select(is_minus_u.or(is_minus_iu), &turned, root);
    (is_u.or(is_minus_u), root.abs())
}
