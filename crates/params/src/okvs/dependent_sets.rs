//! The number of sets of rows of a bin that cancel out in the slots.
//!
//! Each of n rows has ones in three distinct slots of m, uniformly chosen, and zeros
//! elsewhere. This bounds μ, the expected number of nonempty sets of rows whose sum over GF(2) is
//! zero. (These sets, with the empty one, are the left kernel of the rows: μ = E\[2^d - 1\] for its
//! dimension d, the number of equations that only the dense columns can satisfy.)
//!
//! μ = Σ_k C(n, k)·ρ_k, where ρ_k is the probability that k rows sum up to zero. The weight of the
//! sum of k rows is a Markov chain, which gives ρ_k for small k. Beyond, ρ_k ≤ (3k)!·\[z^{3k}\]
//! cosh(z)^m / (m(m-1)(m-2))^k (this counts sequences of 3k slots in which each occurs an even
//! number of times), and the coefficient is at most cosh(λ)^m / λ^{3k} for every λ > 0.
//!
//! For bins of thousands of rows the first term is by far the largest: pairs of rows with the same
//! slots, μ ≈ n²/2 · 6/m³.
//!
//! # Summing over k
//!
//! In cells \[a, c\] with one λ. For fixed λ the logarithm f of the bound on E_k has
//! f'' ≥ -1/(k+½) - 1/(n-k+½): ln C(n, k) contributes that, by ψ'(x+1) ≤ 1/(x+½);
//! ln (3k)! is convex, and the rest is linear. So it exceeds the larger of its values at the
//! ends by at most M·(c-a)²/8, where M bounds -f'' in the cell.

use std::f64::consts::LN_2;

use crate::{
    binomial::{ln_choose, ln_factorial},
    ln_sum::LnSum,
};

/// Up to this many rows are treated by the Markov chain.
const FEW_ROWS: usize = 32;

/// Beyond, a cell spans this part of the distance to the nearer end of 0..n.
const CELL_PART: u64 = 48;

/// Returns log2 μ, for `rows` rows of three distinct among `slots` ≥ 3 slots, each ordered choice
/// at most `bias` times as likely as any other.
pub(super) fn expected_log2(rows: u64, slots: u64, bias: f64) -> f64 {
    let few = FEW_ROWS.min(rows as usize);
    let (n, m) = (rows as f64, slots as f64);
    let mut weights = Weights::new(slots);
    let few_rows = (1..=few).map(|k| {
        weights.add_row();
        let sets = ln_choose(n, k as f64) + k as f64 * bias.ln();
        sets + weights.probabilities[0].ln()
    });
    let many_rows = many_rows(few as u64 + 1, n, m, bias);
    LnSum::of(few_rows.chain([many_rows])).ln() / LN_2
}

/// The distribution of the weight of a sum of rows.
struct Weights {
    slots: usize,
    /// Probabilities of weights 0, 1, …
    probabilities: Vec<f64>,
}

impl Weights {
    /// Makes the weights of no rows.
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

/// Returns the number of ordered choices of three distinct slots.
fn triples(slots: f64) -> f64 {
    slots * (slots - 1.0) * (slots - 2.0)
}

/// Returns ln of the part of μ from k = `first` on.
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

/// Returns the λ with λ·tanh(λ) = `mean`, where cosh(λ)^m / λ^{m·mean} is smallest: by Newton's
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

    fn expected(rows: u64, slots: u64) -> f64 {
        expected_log2(rows, slots, 1.0).exp2()
    }

    /// Returns the exact number, by trying all choices.
    fn by_enumeration(rows: u32, slots: u32) -> f64 {
        let triples: Vec<u32> = (0..1 << slots)
            .filter(|set: &u32| set.count_ones() == 3)
            .collect();
        let choices = triples.len().pow(rows);
        let cancelling = |choice: usize| {
            let chosen = std::iter::successors(Some(choice), |c| Some(c / triples.len()));
            let rows: Vec<u32> = chosen
                .take(rows as usize)
                .map(|c| triples[c % triples.len()])
                .collect();
            let sum = |set: usize| {
                let members = rows.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
                members.fold(0, |sum, (_, row)| sum ^ row)
            };
            (1..1 << rows.len()).filter(|set| sum(*set) == 0).count()
        };
        (0..choices).map(cancelling).sum::<usize>() as f64 / choices as f64
    }

    #[test]
    fn few_rows_are_exact() {
        for (rows, slots) in [(2, 4), (3, 4), (3, 6), (4, 5), (5, 5), (4, 6)] {
            let found = expected(rows.into(), slots.into());
            let exact = by_enumeration(rows, slots);
            assert!((found / exact - 1.0).abs() < 1e-9, "{rows}, {slots}");
        }
    }

    #[test]
    fn large_bins_have_pairs() {
        let (n, m) = (65_536.0f64, 80_900.0);
        let pairs = n * (n - 1.0) / 2.0 * 6.0 / triples(m);
        let found = expected(n as u64, m as u64);
        assert!((pairs..1.01 * pairs).contains(&found), "{found} {pairs}");
    }

    #[test]
    fn the_edges() {
        assert_eq!(expected(0, 3), 0.0);
        assert_eq!(expected(1, 3), 0.0);
        let all_the_same = expected(9, 3);
        assert!((all_the_same - 255.0).abs() < 1e-6, "{all_the_same}");
        assert!(
            expected(1 << 16, 60_000) > 1.0,
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
            let mut weights = Weights::new(slots);
            let terms: Vec<f64> = (0..=rows)
                .map(|k| {
                    let ln = ln_choose(rows as f64, k as f64) + weights.probabilities[0].ln();
                    weights.add_row();
                    ln
                })
                .collect();
            for first in [2, 5, 10, 20] {
                let exact = LnSum::of(terms[first..].iter().copied()).ln();
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
