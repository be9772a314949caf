//! How many rows of a bin depend on the others.
//!
//! Each of n rows has ones in three distinct slots of m, uniformly chosen, and zeros
//! elsewhere. Let L be the left kernel over GF(2): the sets of rows whose sum is zero. Its
//! dimension is the *deficiency*, the number of equations that only the dense columns can
//! satisfy. This bounds the probability that it is at least D.
//!
//! # Ears
//!
//! Build up L row by row. Let U be the rows taken so far (none, at first). As long as some
//! member T of L is not within U, take one for which the *ear* T∖U is minimal by inclusion,
//! and add the ear to U. Each ear adds exactly one dimension to the members of L within U
//! (the difference of two members that both need the ear lies in U; none needs a part of
//! it). So if the deficiency is at least D there are D ears, disjoint sets of rows. The rows
//! of an ear sum up to the sum of T∩U: either to zero, or to another vector in the span of
//! the rows before it.
//!
//! 1. Ears that sum up to zero: let E_k = C(n, k)·ρ_k be the expected number of members of L
//!    with k rows, where ρ_k is the probability that k rows sum up to zero. Disjoint sets of
//!    rows are independent, so the expected number of families of j disjoint members of L is
//!    at most (Σ_k E_k)^j / j!.
//! 2. Other ears: every slot that U touches is touched by two rows of U or more (each row of
//!    U is in a member of L within U, which meets a slot an even number of times), so U
//!    touches s ≤ 3|U|/2 slots, and the span has at most C(s, h) ≤ (1+y)^s·y^-h vectors of
//!    weight h, for any y > 0. Given U, the expected number of ears of k rows that sum up to
//!    one of them is at most (1+y)^s Σ_{h≥1} C(n, k)·P_k(h)·y^-h, where P_k(h) is the
//!    probability that k rows sum up to a given vector of weight h.
//!
//! A member of L with more than K rows exists with probability at most τ = Σ_{k>K} E_k;
//! otherwise no ear has more rows than that. Put the ears of the first kind before the others
//! (this only enlarges the spans); at least one is of the first kind. With c = D - j of the
//! second kind, and each (1+y)^s split among the ears that make up U,
//!
//! > P\[deficiency ≥ D\] ≤ τ + μ^D / D! + Σ_{1≤j<D} a^j / j! · b^c,\
//! > μ = Σ_{k≤K} E_k, a = Σ_{k≤K} E_k·(1+y)^{3kc/2},\
//! > b = Σ_{k≤K} (1+y)^{3k(c-1)/2} Σ_{h≥1} C(n, k)·P_k(h)·y^-h.
//!
//! For bins of thousands of rows the second term is by far the largest: D pairs of rows with
//! the same slots, μ ≈ n²/2 · 6/m³. The weight of the sum of k rows is a Markov chain, which
//! gives ρ_k and P_k(h) for small k. Beyond, ρ_k ≤ (3k)!·\[z^{3k}\] cosh(z)^m / (m(m-1)(m-2))^k
//! (this counts sequences of 3k slots in which each occurs an even number of times), and the
//! coefficient is at most cosh(λ)^m / λ^{3k} for every λ > 0.
//!
//! # Summing over k
//!
//! In cells \[a, c\] with one λ. For fixed λ the logarithm f of the bound on E_k has
//! f'' ≥ -1/(k+½) - 1/(n-k+½): ln C(n, k) contributes that, by ψ'(x+1) ≤ 1/(x+½);
//! ln (3k)! is convex, and the rest is linear. So it exceeds the larger of its values at the
//! ends by at most M·(c-a)²/8, where M bounds -f'' in the cell.

use std::f64::consts::LN_2;

use crate::{
    Log2Prob,
    binomial::{ln_choose, ln_factorial},
    ln_sum::LnSum,
};

/// Up to this many rows are treated by the Markov chain.
const FEW_ROWS: usize = 32;

/// Beyond, a cell spans this part of the distance to the nearer end of 0..n.
const CELL_PART: u64 = 48;

/// The values 2^-i tried for y.
const SMALLEST_Y_LOG2: i32 = 7;

/// What is known about the sums of rows of one bin.
pub(super) struct Deficiency {
    rows: u64,
    /// ln E_k for k = 0, 1, … (the first is not used).
    zero_sums: Vec<f64>,
    /// (h, ln (C(n, k)·P_k(h))) for each h ≥ 1, for k = 0, 1, …
    other_sums: Vec<Vec<(f64, f64)>>,
    /// ln Σ E_k for more rows than these.
    many_rows: f64,
}

impl Deficiency {
    /// For `rows` rows of three distinct among `slots` ≥ 3 slots, each ordered choice at most
    /// `bias` times as likely as any other.
    pub(super) fn new(rows: u64, slots: u64, bias: f64) -> Self {
        let few = FEW_ROWS.min(rows as usize);
        let (n, m) = (rows as f64, slots as f64);
        let mut zero_sums = vec![f64::NEG_INFINITY];
        let mut other_sums = vec![Vec::new()];
        let mut weights = Weights::new(slots);
        for k in 1..=few {
            weights.add_row();
            let sets = ln_choose(n, k as f64) + k as f64 * bias.ln();
            zero_sums.push(sets + weights.probabilities[0].ln());
            let of_weight = |(h, p): (usize, &f64)| {
                let h = h as f64;
                (h, sets + p.ln() - ln_choose(m, h))
            };
            let possible = weights.probabilities.iter().enumerate().skip(1);
            other_sums.push(possible.filter(|(_, p)| **p > 0.0).map(of_weight).collect());
        }
        Self {
            rows,
            zero_sums,
            other_sums,
            many_rows: many_rows(few as u64 + 1, n, m, bias),
        }
    }

    /// The logarithm to base 2 of a bound on E\[2^deficiency - 1\], the expected number of
    /// dependent sets of rows.
    pub(super) fn dependent_sets_log2(&self) -> f64 {
        let all = self.zero_sums.iter().copied().chain([self.many_rows]);
        LnSum::of(all).ln() / LN_2
    }

    /// A bound on the probability that the deficiency is at least `least`.
    pub(super) fn at_least(&self, least: u32) -> Log2Prob {
        if u64::from(least) >= self.rows.max(1) {
            // No single row is zero.
            return Log2Prob::ZERO;
        }
        if least == 0 {
            return Log2Prob::ONE;
        }
        let mixed: Vec<_> = (1..least).map(|c| self.mixed_ears(least - c, c)).collect();
        let bound = |most: usize| {
            let (up_to, beyond) = self.zero_sums.split_at(most + 1);
            let tail = LnSum::of(beyond.iter().copied().chain([self.many_rows])).ln();
            let mu = LnSum::of(up_to.iter().copied()).ln();
            let disjoint = f64::from(least) * mu - ln_factorial(f64::from(least));
            let mixed = mixed.iter().map(|bounds| bounds[most]);
            LnSum::of(mixed.chain([tail, disjoint])).ln()
        };
        let bounds = (1..self.zero_sums.len()).map(bound);
        Log2Prob::from_log2(bounds.fold(f64::INFINITY, f64::min) / LN_2)
    }

    /// ln (a^j / j!·b^c) for each limit K on the rows of an ear, with the best y for each.
    fn mixed_ears(&self, j: u32, c: u32) -> Vec<f64> {
        let (j, c) = (f64::from(j), f64::from(c));
        let mut best = vec![f64::INFINITY; self.zero_sums.len()];
        for y in (0..=SMALLEST_Y_LOG2).map(|i| f64::from(-i).exp2()) {
            let per_row = 1.5 * y.ln_1p();
            let (mut a, mut b) = (LnSum::default(), LnSum::default());
            for (k, best) in best.iter_mut().enumerate() {
                let grown = per_row * k as f64;
                a.add(self.zero_sums[k] + c * grown);
                for (h, ln) in &self.other_sums[k] {
                    b.add(ln - h * y.ln() + (c - 1.0) * grown);
                }
                *best = best.min(j * a.ln() - ln_factorial(j) + c * b.ln());
            }
        }
        best
    }
}

/// The distribution of the weight of a sum of rows.
struct Weights {
    slots: usize,
    /// Probabilities of weights 0, 1, …
    probabilities: Vec<f64>,
}

impl Weights {
    /// Of no rows.
    fn new(slots: u64) -> Self {
        Self {
            slots: slots as usize,
            probabilities: vec![1.0],
        }
    }

    /// Adds a row, of whose three slots i are in the support of the sum so far.
    fn add_row(&mut self) {
        let m = self.slots as f64;
        let mut after = vec![0.0; (self.probabilities.len() + 3).min(self.slots + 1)];
        for (h, probability) in self.probabilities.iter().enumerate() {
            let (inside, outside) = (h as f64, m - h as f64);
            let ways = [
                outside * (outside - 1.0) * (outside - 2.0),
                3.0 * inside * outside * (outside - 1.0),
                3.0 * inside * (inside - 1.0) * outside,
                inside * (inside - 1.0) * (inside - 2.0),
            ];
            for (i, ways) in ways.into_iter().enumerate() {
                if ways > 0.0 {
                    after[h + 3 - 2 * i] += probability * ways / triples(m);
                }
            }
        }
        self.probabilities = after;
    }
}

/// Ordered choices of three distinct slots.
fn triples(slots: f64) -> f64 {
    slots * (slots - 1.0) * (slots - 2.0)
}

/// ln Σ E_k from k = `first` on.
fn many_rows(first: u64, n: f64, m: f64, bias: f64) -> f64 {
    let rows = n as u64;
    let mut sum = LnSum::default();
    let mut a = first;
    while a <= rows {
        let c = rows.min(a + a.min(rows - a) / CELL_PART);
        let (low, high) = (a as f64, c as f64);
        let lambda = best_lambda(3.0 * (low + high) / (2.0 * m));
        // cosh(λ) = e^λ·(1 + e^-2λ)/2
        let ln_cosh = lambda + ((-2.0 * lambda).exp().ln_1p() - LN_2);
        let bound = |k: f64| {
            ln_choose(n, k) + ln_factorial(3.0 * k) + m * ln_cosh - 3.0 * k * lambda.ln()
                + k * (bias.ln() - triples(m).ln())
        };
        let curvature = 1.0 / (low + 0.5) + 1.0 / (n - high + 0.5);
        let highest = bound(low).max(bound(high)) + curvature * (high - low).powi(2) / 8.0;
        sum.add(highest + (high - low + 1.0).ln());
        a = c + 1;
    }
    sum.ln()
}

/// The λ with λ·tanh(λ) = `mean`, where cosh(λ)^m / λ^{m·mean} is smallest: by Newton's
/// method, since every λ gives a valid bound.
fn best_lambda(mean: f64) -> f64 {
    let mut lambda = mean.max(mean.sqrt());
    for _ in 0..8 {
        let tanh = lambda.tanh();
        let slope = tanh + lambda * (1.0 - tanh * tanh);
        let step = (lambda * tanh - mean) / slope;
        lambda = (lambda - step).max(lambda / 2.0);
        if step.abs() < 1e-9 * lambda {
            break;
        }
    }
    lambda
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_least(rows: u64, slots: u64, least: u32) -> f64 {
        Deficiency::new(rows, slots, 1.0).at_least(least).log2()
    }

    /// The exact probability, by trying all choices.
    fn by_enumeration(rows: u32, slots: u32, least: u32) -> f64 {
        let triples: Vec<u32> = (0..1 << slots)
            .filter(|set: &u32| set.count_ones() == 3)
            .collect();
        let choices = triples.len().pow(rows);
        let deficient = (0..choices).filter(|&choice| {
            let chosen = std::iter::successors(Some(choice), |c| Some(c / triples.len()));
            let mut echelon: Vec<u32> = Vec::new();
            for c in chosen.take(rows as usize) {
                let row = echelon
                    .iter()
                    .fold(triples[c % triples.len()], |row, pivot| {
                        row.min(row ^ pivot)
                    });
                if row != 0 {
                    echelon.push(row);
                }
            }
            rows - echelon.len() as u32 >= least
        });
        (deficient.count() as f64 / choices as f64).log2()
    }

    #[test]
    fn is_above_the_exact_probability_of_tiny_bins() {
        for (rows, slots) in [(2, 4), (3, 4), (3, 6), (4, 5), (5, 5), (4, 6)] {
            for least in 1..rows {
                let bound = at_least(rows.into(), slots.into(), least);
                let exact = by_enumeration(rows, slots, least);
                assert!(
                    bound >= exact,
                    "{rows} rows, {slots} slots: {bound} < {exact}"
                );
            }
        }
    }

    #[test]
    fn is_tight_for_two_rows() {
        for slots in [5.0f64, 100.0, 131_072.0] {
            let exact = (6.0 / triples(slots)).log2();
            assert!((at_least(2, slots as u64, 1) - exact).abs() < 1e-9);
        }
    }

    #[test]
    fn large_bins_fail_by_disjoint_pairs() {
        let (n, m) = (65_536.0f64, 80_900.0);
        let pairs = (n * (n - 1.0) / 2.0 * 6.0 / triples(m)).log2();
        for (least, factorial, slack) in [(1, 1.0f64, 0.01), (2, 2.0, 0.1), (3, 6.0, 1.0)] {
            let expected = f64::from(least) * pairs - factorial.log2();
            let bound = at_least(n as u64, m as u64, least);
            assert!((expected..expected + slack).contains(&bound), "{bound}");
        }
    }

    #[test]
    fn the_edges() {
        assert_eq!(at_least(0, 3, 1), f64::NEG_INFINITY);
        assert_eq!(at_least(1, 3, 1), f64::NEG_INFINITY);
        assert_eq!(at_least(9, 3, 9), f64::NEG_INFINITY);
        assert_eq!(at_least(9, 3, 8), 0.0, "all rows are the same");
        assert_eq!(at_least(9, 20, 0), 0.0);
        assert_eq!(
            at_least(1 << 16, 60_000, 3),
            0.0,
            "vacuous below the threshold"
        );
    }

    /// All of a distribution, and its parity: each row changes the weight by an odd number.
    #[test]
    fn weights_add_up() {
        for slots in [3, 4, 10, 1000] {
            let mut weights = Weights::new(slots);
            for rows in 1..=40 {
                weights.add_row();
                let odd = weights.probabilities.iter().skip(1 - rows % 2).step_by(2);
                assert_eq!(odd.sum::<f64>(), 0.0);
                let sum: f64 = weights.probabilities.iter().sum();
                assert!((sum - 1.0).abs() < 1e-12, "{slots} slots: {sum}");
            }
        }
    }

    /// The bound for many rows, where the Markov chain gives the exact sum.
    #[test]
    fn cells_are_above_their_terms() {
        for (rows, slots) in [(32u64, 40u64), (32, 60), (32, 500)] {
            let sums = Deficiency::new(rows, slots, 1.0);
            for first in [2, 5, 10, 20] {
                let exact = LnSum::of(sums.zero_sums[first..].iter().copied()).ln();
                let bound = many_rows(first as u64, rows as f64, slots as f64, 1.0);
                assert!(bound >= exact && bound < exact + 8.0, "{bound} {exact}");
            }
        }
    }

    /// Single terms. Cells may lose only little compared with them.
    #[test]
    fn wide_cells_lose_little() {
        let (n, m) = (30_000.0, 37_000.0);
        let term = |k: f64| {
            let lambda = best_lambda(3.0 * k / m);
            ln_choose(n, k) + ln_factorial(3.0 * k) + m * lambda.cosh().ln()
                - 3.0 * k * lambda.ln()
                - k * triples(m).ln()
        };
        for first in [1000u64, 10_000, 15_000, 29_000] {
            let exact = LnSum::of((first..=30_000).map(|k| term(k as f64))).ln();
            let bound = many_rows(first, n, m, 1.0);
            assert!(bound >= exact && bound < exact + 12.0, "{bound} {exact}");
        }
    }
}
