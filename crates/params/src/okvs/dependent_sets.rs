//! The number of sets of rows that cancel out in the slots: claim 4 of `docs/rr22.md`.
//!
//! There are S segments of L slots. A row has a one in one uniform slot of each of w consecutive
//! segments. Let at most C rows have a slot in any one segment. This bounds μ, the expected number
//! of nonempty sets of rows whose sum over GF(2) is zero, by
//!
//! > μ ≤ U^S − 1, with U = E (1 + |X|^w)^(C/w), X = 1 − 2·Bin(L, ½)/L.
//!
//! (These sets, with the empty one, are the left kernel of the rows: μ = E\[2^d - 1\] for its
//! dimension d, the number of equations that only the dense columns can satisfy.)
//!
//! U is nearly 1 as long as C/w stays below a threshold (0.8895·L for w = 3, 0.9671·L for w = 4),
//! and huge above.
//!
//! # Summing over the distribution of X
//!
//! X is symmetric, so half of the values v of the binomial do, in cells \[a, c\] with c ≤ L/2. The
//! excess U − 1 has the terms p(v)·h(v) with p(v) = C(L, v)/2^L and h = (1 + |x|^w)^(C/w) − 1. In
//! a cell, each is at most the lesser of
//!
//! - p(c)·h(a), since p rises and h falls;
//! - the larger of exp f(a) and exp f(c), where exp f = p·(h + 1), times exp(M·(c-a)²/8), where M
//!   bounds -f'' in the cell: ln p has a second derivative of at least -1/(v+½) - 1/(L-v+½), by
//!   ψ'(x+1) ≤ 1/(x+½), and ln(1 + x^w) is convex for 0 ≤ x^w ≤ w − 1.
//!
//! The first is better near the middle, where almost all of the distribution is, the second one
//! further out.

use std::f64::consts::LN_2;

use crate::{binomial::ln_choose, ln_sum::LnSum};

/// A cell spans this part of the distance to the nearer end of 0..L.
const CELL_PART: u64 = 48;

/// And at most this part of √L, which is twice the standard deviation.
const ROOT_PART: f64 = 4.0;

/// Rows, as a segment sees them.
pub(super) struct Segments {
    /// S.
    pub(super) count: u64,
    /// L.
    pub(super) slots: u64,
    /// w.
    pub(super) weight: u32,
    /// C.
    pub(super) rows: u64,
    /// How much likelier than 1/L a slot is drawn at most.
    pub(super) bias: f64,
}

impl Segments {
    /// Returns log2 μ.
    pub(super) fn expected_log2(&self) -> f64 {
        let excess = self.ln_excess();
        let ln_one_more = match excess > LARGE {
            true => excess,
            false => excess.exp().ln_1p(),
        };
        ln_less_one(self.count as f64 * ln_one_more) / LN_2
    }

    /// Returns ln(U − 1).
    fn ln_excess(&self) -> f64 {
        let half = self.slots / 2;
        let widest = ((self.slots as f64).sqrt() / ROOT_PART) as u64;
        let mut sum = LnSum::default();
        let mut a = 0;
        while a <= half {
            let c = half.min(a + widest.min(a / CELL_PART));
            // The value in the middle, if there is one, stands for itself.
            let both = match 2 * c == self.slots {
                true => 2 * (c - a) + 1,
                false => 2 * (c - a + 1),
            };
            sum.add(self.ln_highest(a, c) + (both as f64).ln());
            a = c + 1;
        }
        sum.ln()
    }

    /// Returns the logarithm of a bound on each term of a cell.
    fn ln_highest(&self, a: u64, c: u64) -> f64 {
        let (low, high, l) = (a as f64, c as f64, self.slots as f64);
        let [p_low, p_high] = [low, high].map(|v| ln_choose(l, v) - l * LN_2);
        let [power_low, power_high] = [low, high].map(|v| self.ln_power(1.0 - 2.0 * v / l));
        let monotone = p_high + ln_less_one(power_low);
        let curvature = 1.0 / (low + 0.5) + 1.0 / (l - high + 0.5);
        let curved =
            (p_low + power_low).max(p_high + power_high) + curvature * (high - low).powi(2) / 8.0;
        monotone.min(curved)
    }

    /// Returns ln (1 + x^w)^(C/w), where a bias makes x larger.
    fn ln_power(&self, x: f64) -> f64 {
        let x = (self.bias * x).powi(self.weight as i32);
        self.rows as f64 / f64::from(self.weight) * x.ln_1p()
    }
}

/// Above it, e^x and e^x − 1 are the same.
const LARGE: f64 = 40.0;

/// Returns ln(e^x − 1).
fn ln_less_one(x: f64) -> f64 {
    match x > LARGE {
        true => x,
        false => x.exp_m1().ln(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(count: u64, slots: u64, weight: u32, rows: u64) -> Segments {
        Segments {
            count,
            slots,
            weight,
            rows,
            bias: 1.0,
        }
    }

    /// Returns ln(U − 1), term by term.
    fn ln_excess_by_terms(segments: &Segments) -> f64 {
        let l = segments.slots as f64;
        let mut sum = LnSum::default();
        for v in 0..=segments.slots {
            let v = v as f64;
            let power = segments.ln_power((1.0 - 2.0 * v / l).abs());
            sum.add(ln_choose(l, v) - l * LN_2 + ln_less_one(power));
        }
        sum.ln()
    }

    #[test]
    fn cells_are_above_their_terms_and_not_by_far() {
        for weight in [3, 4] {
            for slots in [1, 2, 3, 10, 47, 100, 1001, 8854] {
                for load in [0.3, 0.8, 0.96, 1.05] {
                    let rows = (load * f64::from(weight) * slots as f64) as u64 + 1;
                    let segments = segments(9, slots, weight, rows);
                    let (found, exact) = (segments.ln_excess(), ln_excess_by_terms(&segments));
                    let case = format!("{weight}, {slots}, {load}: {found} {exact}");
                    assert!(found >= exact - 1e-9 && found < exact + 2.0, "{case}");
                }
            }
        }
    }

    /// Returns the exact μ for rows that start at these segments, by trying all choices of slots.
    fn by_enumeration(starts: &[usize], slots: u64, weight: usize) -> f64 {
        let draws = starts.len() * weight;
        let choices = slots.pow(draws as u32);
        let cancelling = |choice: u64| {
            let digits = std::iter::successors(Some(choice), |rest| Some(rest / slots));
            let digits: Vec<u64> = digits.take(draws).map(|rest| rest % slots).collect();
            let rows: Vec<u64> = starts
                .iter()
                .zip(digits.chunks(weight))
                .map(|(start, row)| {
                    let ones = row.iter().zip(*start as u64..);
                    ones.map(|(slot, segment)| 1 << (segment * slots + slot))
                        .fold(0, |row: u64, one: u64| row | one)
                })
                .collect();
            let sum = |set: usize| {
                let members = rows.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
                members.fold(0, |sum, (_, row)| sum ^ row)
            };
            (1..1 << rows.len()).filter(|set| sum(*set) == 0).count()
        };
        (0..choices).map(cancelling).sum::<usize>() as f64 / choices as f64
    }

    /// Whatever the starts are: C is how many rows there are in the fullest segment.
    #[test]
    fn the_bound_is_above_what_all_choices_give() {
        let cases: [(&[usize], u64, usize); 6] = [
            (&[0, 0], 3, 3),
            (&[0, 0, 0, 0], 2, 3),
            (&[0, 0, 1, 1], 2, 4),
            (&[0, 1, 1, 2], 3, 2),
            (&[0, 0, 1, 2, 2], 2, 3),
            (&[0, 0], 4, 4),
        ];
        for (starts, slots, weight) in cases {
            let exact = by_enumeration(starts, slots, weight).log2();
            let segments_of = |start: &usize| *start..*start + weight;
            let count = starts.iter().map(|start| segments_of(start).end).max();
            let count = count.unwrap();
            let in_segment = |i: &usize| {
                let has = starts.iter().filter(|start| segments_of(start).contains(i));
                has.count()
            };
            let rows = (0..count).map(|i| in_segment(&i)).max().unwrap();
            let segments = segments(count as u64, slots, weight as u32, rows as u64);
            let bound = segments.expected_log2();
            assert!(bound >= exact, "{starts:?}: {bound} {exact}");
        }
    }

    /// The thresholds below which only small sets cancel.
    #[test]
    fn thresholds() {
        for (weight, threshold) in [(3, 0.8895), (4, 0.9671)] {
            let log2 = |load: f64| {
                let rows = load * f64::from(weight) * 20_000.0;
                segments(9, 20_000, weight, rows as u64).expected_log2()
            };
            assert!(log2(threshold - 0.002) < 0.0, "{weight}");
            assert!(log2(threshold + 0.01) > 100.0, "{weight}");
        }
    }

    #[test]
    fn a_bias_makes_sets_likelier() {
        let fair = segments(20, 1000, 4, 3800);
        let biased = Segments {
            bias: 1.01,
            ..segments(20, 1000, 4, 3800)
        };
        assert!(biased.expected_log2() > fair.expected_log2());
    }

    #[test]
    fn no_rows_have_no_sets() {
        assert_eq!(segments(3, 3, 3, 0).expected_log2(), f64::NEG_INFINITY);
    }
}
