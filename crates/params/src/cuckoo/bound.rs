//! An upper bound on the probability that no placement exists.
//!
//! # The obstacle
//!
//! For a set M of bins let S(M) be the items whose three bins all lie in M. By the
//! deficiency form of Hall's theorem, all but s items can be placed unless some M is
//! *overfull*: |S(M)| ≥ |M| + s + 1. If there is such a set, there is one that is also
//! *dense*, meaning that every bin of M is hit by at least two items of S(M): take a
//! smallest overfull M; dropping a bin that is hit by at most one item would drop at most
//! that item, and leave a smaller overfull set. (An item hits a bin at most once, since its
//! bins are distinct.)
//!
//! Now take a dense overfull set M to which no other bin can be added. Then no bin j
//! outside is hit by two items whose other two bins lie in M: M ∪ {j} would be dense, and
//! overfull. So if placing fails, there are m bins (m ≥ 3) and k ≥ m + s + 1 items with
//!
//! 1. these k items lie in the m bins, and hit each of them at least twice;
//! 2. none of the other n - k items lies in the m bins, and those of them that have exactly
//!    two bins inside have pairwise different third bins.
//!
//! # Counting
//!
//! Items are independent, so the union bound over bins and items is
//!
//! > P ≤ Σ_m Σ_{k ≥ m+s+1} C(b, m) · C(n, k) · I(m, k) · O(m, n - k).
//!
//! I(m, k), the probability of 1: of the (b(b-1)(b-2))^k ways to choose k ordered triples of
//! distinct bins, at most (3k)!·\[z^{3k}\](e^z - 1 - z)^m hit each of m given bins at least
//! twice and no other (this counts triples that are not distinct, too), and at most
//! (m(m-1)(m-2))^k. As the power series has no negative coefficient, the coefficient is at
//! most (e^λ - 1 - λ)^m / λ^{3k} for every λ > 0.
//!
//! O(m, N), the probability of 2: with ℓ = b - m, an item has at most one bin inside with
//! probability p = ℓ(ℓ-1)(b-2+2m) / (b(b-1)(b-2)), and exactly two inside and a given third
//! bin with probability q = 3m(m-1) / (b(b-1)(b-2)). So
//! O(m, N) = N!·\[z^N\] e^{pz}(1 + qz)^ℓ ≤ N!·e^{px}(1 + qx)^ℓ / x^N for every x > 0; and
//! O ≤ 1.
//!
//! The best λ makes 3k/m the mean of a Poisson variable that is conditioned to be at least
//! two; the best x solves px + ℓqx/(1+qx) = N, a quadratic equation. Without condition 2 the
//! sum would be useless below 1.30 bins per item (terms at k ≈ 2n/3); with it, it serves down
//! to 1.20.
//!
//! # Summing over k
//!
//! For given m the bound of a term, minimised over λ and x, is log-concave in k. Second
//! derivatives: ln (3k)! has 9ψ'(3k+1) ≤ 3/k and the minimum over λ has -9/(m·v), where v,
//! the variance of the conditioned Poisson variable, is at most its mean 3k/m; ln N! has
//! ψ'(N+1) ≤ 1/N and the minimum over x has -1/V, where V ≤ N is the variance belonging to
//! the mean N; ln C(n, k) is concave, and so is the smaller of two concave bounds. Hence the
//! sum over k is at most its first term divided by 1 - r, where r bounds the ratio of the
//! second to the first: keeping λ and x gives such a bound.
//!
//! # Summing over m
//!
//! Up to [`SUMMED_SINGLY`] bins, term by term. After that in cells \[a, c\] of about a/64
//! terms with one λ and one x for the whole cell. Each of them is a valid choice for every m. For
//! fixed λ and x the logarithm f of the first term is a smooth function of m with f'' ≥ -M: ln C(b,
//! m) and -ln k! contribute -1/(m+½) - 1/(ℓ+½) - 1/(k+½), by ψ'(y+1) ≤ 1/(y+½); ln (3k)! is convex;
//! px contributes at least -6x/((b-1)(b-2)); and ℓ·ln(1+qx) at least -2ρu - ℓρ²u² with ρ = q'/q =
//! (2m-1)/(m(m-1)) and u = qx/(1+qx); the rest is linear. A function with f'' ≥ -M exceeds the
//! larger of its values at the ends of an interval by at most M·(c-a)²/8. The ratio r is bounded
//! over the cell by taking each factor at its worst end.
//!
//! # Without replacement
//!
//! Permutation-based hashing (PSSZ15) draws bins without replacement: hash function i is the
//! bin's part of a random permutation of the d_i places that all bins together have, so that two
//! items never share a place. Any sequence of bins of k items is then at most
//! d_i^k / (d_i·(d_i - 1)⋯(d_i - k + 1)) ≤ exp(k² / (2(d_i - k))) times as likely as if bins were
//! drawn independently. So with d the least of the three, I(m, k) grows by at most
//! exp(3k² / (2(d - n))), and I(m, k)·O(m, n - k), which speaks of all items, by
//! exp(3n² / (2(d - n))). The sum over k stays as it is: what the factor adds to the second
//! derivative of the logarithm, 3/(d - n), is less than the 4/n that ln C(n, k) takes away, for
//! d ≥ 2n.

use std::f64::consts::LN_2;

use super::Shape;
use crate::{
    Log2Prob, Sizes,
    binomial::{ln_choose, ln_factorial},
    ln_sum::LnSum,
};

/// Terms of up to this many bins are summed one by one.
const SUMMED_SINGLY: u64 = 1024;

/// The cells after that span this part of the m they begin with.
const CELL_PART: u64 = 64;

/// Added to the logarithm (base 2) of the sum. It covers the bias of the hash functions, which make
/// a choice of three bins up to 1 + 2^-34 times as likely as uniform ones, for each of up to 2^26
/// items (2^-8 / ln 2 = 0.006), and rounding errors (below 0.001).
const SLACK_LOG2: f64 = 1.0 / 64.0;

/// Returns a bound on the probability that `items` items cannot be placed in a table of this shape;
/// see the module for its proof.
///
/// Takes up to about a millisecond.
///
/// # Panics
/// If there are more items than [`Sizes::MAX_AT_ONCE`] or more bins than
/// [`MAX_BINS`](super::MAX_BINS).
pub fn failure(items: u64, shape: Shape) -> Log2Prob {
    assert!(items <= Sizes::MAX_AT_ONCE, "a set has at most 2^26 items");
    assert!(
        shape.bins <= super::MAX_BINS,
        "a table has at most 2^28 bins"
    );
    union_bound(items, shape, 0.0, SUMMED_SINGLY)
}

/// Returns [`failure`] where each hash function is part of a random permutation of at least
/// `places` places; see the module's last section.
///
/// # Panics
/// As [`failure`].
pub fn failure_without_replacement(items: u64, shape: Shape, places: f64) -> Log2Prob {
    assert!(items <= Sizes::MAX_AT_ONCE, "a set has at most 2^26 items");
    assert!(
        shape.bins <= super::MAX_BINS,
        "a table has at most 2^28 bins"
    );
    let n = items as f64;
    if places < 2.0 * n {
        return Log2Prob::ONE;
    }
    union_bound(items, shape, 1.5 / (places - n), SUMMED_SINGLY)
}

/// Returns the union bound. `dependence` is 3/(2(d - n)), or 0 if choices are independent.
fn union_bound(items: u64, shape: Shape, dependence: f64, summed_singly: u64) -> Log2Prob {
    let (bins, stash) = (u64::from(shape.bins), u64::from(shape.stash));
    if items <= stash {
        return Log2Prob::ZERO;
    }
    if bins < 3 || items > bins + stash {
        return Log2Prob::ONE;
    }
    let obstacles = Obstacles::new(items, bins, stash, dependence);
    let most_bins = items - stash - 1;
    let mut sum = LnSum::default();
    for m in 3..=most_bins.min(summed_singly) {
        sum.add(obstacles.term(m as f64));
    }
    let mut first = summed_singly.saturating_add(1).max(3);
    while first <= most_bins && sum.ln() < 0.0 {
        let last = most_bins.min(first + first / CELL_PART);
        sum.add(obstacles.cell(first as f64, last as f64));
        first = last + 1;
    }
    Log2Prob::from_log2(sum.ln() / LN_2 + SLACK_LOG2)
}

/// The terms of the union bound for one table, as natural logarithms. In the module's
/// notation, with real numbers for all counts.
struct Obstacles {
    n: f64,
    b: f64,
    s: f64,
    /// b(b-1)(b-2)
    triples: f64,
    /// k items make an event exp(this·k²) times as likely as independent choices would.
    dependence: f64,
}

impl Obstacles {
    fn new(items: u64, bins: u64, stash: u64, dependence: f64) -> Self {
        let b = bins as f64;
        Self {
            n: items as f64,
            b,
            s: stash as f64,
            triples: b * (b - 1.0) * (b - 2.0),
            dependence,
        }
    }

    /// Returns the fewest items that overfill m bins.
    fn fewest(&self, m: f64) -> f64 {
        m + self.s + 1.0
    }

    /// Returns all terms of m bins: the sum over k.
    fn term(&self, m: f64) -> f64 {
        let k = self.fewest(m);
        let (inside, inside_growth) = self.inside(m, k);
        let (outside, outside_growth) = self.outside(m, k);
        let growth = (self.n - k) / (k + 1.0) * inside_growth * outside_growth;
        ln_choose(self.b, m) + ln_choose(self.n, k) + inside + outside + ln_geometric(growth)
    }

    /// Returns I(m, k), and the factor by which its bound grows with the next item.
    fn inside(&self, m: f64, k: f64) -> (f64, f64) {
        let within = m * (m - 1.0) * (m - 2.0);
        let all_within = (k * (within / self.triples).ln(), within / self.triples);

        let lambda = Lambda::of_mean(3.0 * k / m);
        let hit_twice = ln_factorial(3.0 * k) + m * lambda.ln_series()
            - 3.0 * k * lambda.0.ln()
            - k * self.triples.ln();
        let growth =
            (3.0 * k + 1.0) * (3.0 * k + 2.0) * (3.0 * k + 3.0) / (lambda.0.powi(3) * self.triples);
        let (ln, growth) = if hit_twice < all_within.0 {
            (hit_twice, growth)
        } else {
            all_within
        };
        let repeated = self.dependence * (2.0 * k + 1.0);
        (ln + self.dependence * k * k, growth * repeated.exp())
    }

    /// Returns O(m, n - k), and the factor by which its bound changes with the next item inside.
    fn outside(&self, m: f64, k: f64) -> (f64, f64) {
        let others = self.n - k;
        let p = self.at_most_one_inside(m);
        if others == 0.0 || p == 0.0 {
            return (0.0, 1.0);
        }
        let x = self.best_x(m, others);
        let bound = ln_factorial(others) + p * x + (self.b - m) * (self.two_inside(m) * x).ln_1p()
            - others * x.ln()
            + self.dependence * (self.n * self.n - k * k);
        if bound < 0.0 {
            let repeated = self.dependence * (2.0 * k + 1.0);
            (bound, x / others * (-repeated).exp())
        } else {
            (0.0, 1.0)
        }
    }

    /// Returns the terms of `a` to `c` bins together.
    fn cell(&self, a: f64, c: f64) -> f64 {
        let middle = (a + c) / 2.0;
        let k = self.fewest(middle);
        let lambda = Lambda::of_mean(3.0 * k / middle);
        let x = self.best_x(middle, (self.n - k).max(0.5));

        let curvature = {
            let l = self.b - a;
            let rho = (2.0 * a - 1.0) / (a * (a - 1.0));
            let u = {
                let qx = self.two_inside(c) * x;
                qx / (1.0 + qx)
            };
            1.0 / (a + 0.5)
                + 1.0 / (self.b - c + 0.5)
                + 1.0 / (self.fewest(a) + 0.5)
                + 6.0 * x / ((self.b - 1.0) * (self.b - 2.0))
                + 2.0 * rho * u
                + l * (rho * u).powi(2)
        };
        let highest = self
            .first_term(a, lambda, x)
            .max(self.first_term(c, lambda, x))
            + curvature * (c - a).powi(2) / 8.0;

        let worst_lambda = Lambda::of_mean(3.0 * self.fewest(c) / c).0;
        let worst_x = (self.n - self.fewest(a)) / self.at_most_one_inside(c);
        let growth =
            27.0 * (self.fewest(c) + 1.0).powi(2) * worst_x / (worst_lambda.powi(3) * self.triples);
        highest + (c - a + 1.0).ln() + ln_geometric(growth)
    }

    /// Returns the term of m bins and k = m + s + 1 items for any λ and x.
    fn first_term(&self, m: f64, lambda: Lambda, x: f64) -> f64 {
        let k = self.fewest(m);
        ln_choose(self.b, m) + ln_factorial(self.n) - ln_factorial(k) + ln_factorial(3.0 * k)
            - k * self.triples.ln()
            + m * lambda.ln_series()
            - 3.0 * k * lambda.0.ln()
            + self.at_most_one_inside(m) * x
            + (self.b - m) * (self.two_inside(m) * x).ln_1p()
            - (self.n - k) * x.ln()
            + self.dependence * self.n * self.n
    }

    /// Returns p
    fn at_most_one_inside(&self, m: f64) -> f64 {
        let l = self.b - m;
        l * (l - 1.0) * (self.b - 2.0 + 2.0 * m) / self.triples
    }

    /// Returns q
    fn two_inside(&self, m: f64) -> f64 {
        3.0 * m * (m - 1.0) / self.triples
    }

    /// Returns the positive root x of px + ℓqx/(1+qx) = N, in a form that does not cancel.
    fn best_x(&self, m: f64, others: f64) -> f64 {
        let (p, q) = (self.at_most_one_inside(m), self.two_inside(m));
        let half = (p + (self.b - m) * q - others * q) / 2.0;
        let root = (half * half + p * q * others).sqrt();
        if half >= 0.0 {
            others / (half + root)
        } else {
            (root - half) / (p * q)
        }
    }
}

/// The parameter of a Poisson distribution conditioned to be at least two.
#[derive(Clone, Copy)]
struct Lambda(f64);

impl Lambda {
    /// Returns the one whose mean λ + λ²/(e^λ-1-λ) is `mean` ≥ 3, by Newton's method from the
    /// right, where it converges.
    fn of_mean(mean: f64) -> Self {
        let mut lambda = mean;
        for _ in 0..8 {
            let reached = lambda + (2.0 * lambda.ln() - Self(lambda).ln_series()).exp();
            let variance = reached + (reached - lambda) * (1.0 - reached);
            let step = (reached - mean) * lambda / variance;
            lambda -= step;
            if step.abs() < 1e-9 * lambda {
                break;
            }
        }
        Self(lambda)
    }

    /// Returns ln(e^λ - 1 - λ)
    fn ln_series(self) -> f64 {
        self.0 + (-(1.0 + self.0) * (-self.0).exp()).ln_1p()
    }
}

/// Returns ln Σ_i r^i: infinite unless r < 1.
fn ln_geometric(ratio: f64) -> f64 {
    if ratio < 1.0 {
        -(-ratio).ln_1p()
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(items: u64, bins: u32, stash: u32) -> f64 {
        failure(items, Shape { bins, stash }).log2()
    }

    /// Returns the exact probability, by trying all choices and Hall's condition.
    fn by_enumeration(items: u32, bins: u32, stash: u32) -> f64 {
        let triples: Vec<u32> = (0..1u32 << bins)
            .filter(|set| set.count_ones() == 3)
            .collect();
        let choices = triples.len().pow(items);
        let failing = (0..choices).filter(|&choice| {
            let chosen: Vec<u32> = std::iter::successors(Some(choice), |c| Some(c / triples.len()))
                .take(items as usize)
                .map(|c| triples[c % triples.len()])
                .collect();
            (0..1u32 << bins).any(|set| {
                let inside = chosen.iter().filter(|&&triple| triple & !set == 0).count() as u32;
                inside > set.count_ones() + stash
            })
        });
        (failing.count() as f64 / choices as f64).log2()
    }

    #[test]
    fn is_above_the_exact_probability_of_tiny_tables() {
        for (items, bins, stash) in [(4, 4, 0), (4, 5, 0), (5, 5, 0), (5, 5, 1), (4, 6, 0)] {
            let (bound, exact) = (
                bound(items.into(), bins, stash),
                by_enumeration(items, bins, stash),
            );
            assert!(
                bound >= exact,
                "{items} items, {bins} bins: {bound} < {exact}"
            );
        }
    }

    /// Four items fail only if all choose the same three bins.
    #[test]
    fn is_tight_for_four_items() {
        for bins in [5u32, 20, 48] {
            let triples = f64::from(bins * (bins - 1) * (bins - 2) / 6);
            let exact = -3.0 * triples.log2();
            assert!((bound(4, bins, 0) - SLACK_LOG2 - exact).abs() < 1e-9);
        }
    }

    #[test]
    fn large_tables_fail_by_four_items_on_three_bins() {
        for log_n in [16, 20, 24] {
            let n = 1u64 << log_n;
            let bins = (n * 127 / 100) as u32;
            let b = f64::from(bins);
            let four_on_three = (ln_choose(n as f64, 4.0) - 3.0 * ln_choose(b, 3.0)) / LN_2;
            let bound = bound(n, bins, 0);
            assert!(
                (bound - four_on_three - SLACK_LOG2).abs() < 0.01,
                "2^{log_n}: {bound}"
            );
            assert!(bound < -79.0, "2^{log_n}: {bound}");
        }
    }

    #[test]
    fn more_bins_and_more_stash_fail_less() {
        for items in [40u64, 256, 5000] {
            let bins = |percent: u64| (items * percent / 100) as u32;
            let falling: Vec<f64> = (121..160)
                .step_by(3)
                .map(|percent| bound(items, bins(percent), 1))
                .collect();
            assert!(
                falling.is_sorted_by(|more, less| more >= less),
                "{falling:?}"
            );
            let falling: Vec<f64> = (0..8).map(|stash| bound(items, bins(130), stash)).collect();
            assert!(
                falling.is_sorted_by(|more, less| more >= less),
                "{falling:?}"
            );
        }
    }

    #[test]
    fn the_edges_are_certain() {
        assert_eq!(bound(0, 3, 0), f64::NEG_INFINITY);
        assert_eq!(bound(3, 3, 0), f64::NEG_INFINITY);
        assert_eq!(bound(2, 0, 2), f64::NEG_INFINITY);
        assert_eq!(bound(3, 0, 2), 0.0);
        assert_eq!(bound(5, 4, 0), 0.0, "five items never fit four bins");
        assert_eq!(
            bound(1 << 26, 1 << 26, 0),
            0.0,
            "vacuous below the threshold"
        );
    }

    /// For few items among many places it makes no difference; the fewer places, the likelier.
    #[test]
    fn drawing_without_replacement_costs_little() {
        for (log_n, places_log2) in [(12, 35.0), (16, 37.0), (20, 33.3), (24, 37.3)] {
            let n = 1u64 << log_n;
            let shape = Shape {
                bins: (n * 123 / 100) as u32,
                stash: 0,
            };
            let independent = failure(n, shape).log2();
            let bound = failure_without_replacement(n, shape, f64::exp2(places_log2)).log2();
            assert!(bound >= independent, "2^{log_n}: {bound}");
            assert!(
                bound < independent + 0.01,
                "2^{log_n}: {bound}, {independent}"
            );
            let dense = failure_without_replacement(n, shape, 2.0 * n as f64);
            assert!(dense.log2() > bound, "2^{log_n}: {dense}");
            let impossible = failure_without_replacement(n, shape, n as f64);
            assert_eq!(impossible, Log2Prob::ONE);
        }
    }

    /// Every cell bounds the sum of its terms, and not by far.
    #[test]
    fn cells_are_above_their_terms() {
        for (items, percent, stash, dependence) in [
            (1u64 << 13, 121, 0, 0.0),
            (1 << 16, 123, 0, 0.0),
            (1 << 16, 123, 0, 1e-9),
            (1 << 16, 130, 3, 0.0),
            (1 << 15, 300, 16, 0.0),
        ] {
            let obstacles = Obstacles::new(items, items * percent / 100, stash, dependence);
            let last = items - stash - 1;
            let mut first = 200;
            while first <= last {
                let end = last.min(first + first / CELL_PART);
                let mut sum = LnSum::default();
                (first..=end).for_each(|m| sum.add(obstacles.term(m as f64)));
                let cell = obstacles.cell(first as f64, end as f64);
                assert!(
                    cell >= sum.ln(),
                    "{items}, {first}..={end}: {cell} < {}",
                    sum.ln()
                );
                let allowance = 30.0 + 0.02 * sum.ln().abs();
                assert!(
                    cell < sum.ln() + allowance,
                    "{items}, {first}..={end}: {cell} {}",
                    sum.ln()
                );
                first = end + 1;
            }
        }
    }

    /// Near the threshold the sum is dominated by cells.
    #[test]
    fn cells_lose_little_where_they_matter() {
        let shape = Shape {
            bins: (1 << 14) * 6 / 5,
            stash: 0,
        };
        let full = union_bound(1 << 14, shape, 0.0, u64::MAX).log2();
        let fast = union_bound(1 << 14, shape, 0.0, 500).log2();
        let without_cells = bound(500, 1 << 14, 0);
        assert!(
            fast >= full && fast < full + 3.0,
            "{fast}, {full}, {without_cells}"
        );
    }

    #[test]
    fn lambda_has_the_mean_asked_for() {
        for mean in [3.0, 3.0001, 4.2, 20.0, 700.0, 1e6] {
            let Lambda(lambda) = Lambda::of_mean(mean);
            let reached = lambda * lambda.exp_m1() / (lambda.exp_m1() - lambda);
            let reached = if lambda > 700.0 { lambda } else { reached };
            assert!(
                (reached / mean - 1.0).abs() < 1e-9,
                "{mean}: {lambda} gives {reached}"
            );
        }
    }
}
