//! Tails of the binomial distribution, in log space.

use std::f64::consts::LN_2;

use crate::Log2Prob;

/// Returns the probability that a uniform word of `bits` bits has a Hamming weight below
/// `weight`: 2^-n Σ_{i<d} C(n, i) with n = `bits`, d = `weight`.
pub(crate) fn tail(bits: u32, weight: u32) -> Log2Prob {
    biased_tail(bits, weight, 0.5)
}

/// Returns the probability that fewer than `successes` of `trials` independent trials succeed,
/// each with probability `success`.
///
/// Sums the terms relative to the largest of them, so that all digits of it but the last
/// few are right.
///
/// # Panics
/// Unless 0 < `success` < 1.
pub(crate) fn biased_tail(trials: u32, successes: u32, success: f64) -> Log2Prob {
    assert!(
        success > 0.0 && success < 1.0,
        "a biased coin can fall on both sides"
    );
    if successes == 0 {
        return Log2Prob::ZERO;
    }
    if successes > trials {
        return Log2Prob::ONE;
    }
    let n = f64::from(trials);
    let odds = success / (1.0 - success);
    // Terms rise up to the mean and fall after it.
    let mode = ((n + 1.0) * success) as u32;
    let largest = mode.min(successes - 1);

    let mut sum = 1.0;
    let mut term = 1.0;
    for i in (1..=largest).rev() {
        let i = f64::from(i);
        term *= i / ((n - i + 1.0) * odds);
        sum += term;
    }
    term = 1.0;
    for i in largest + 1..successes {
        let i = f64::from(i);
        term *= (n - i + 1.0) * odds / i;
        sum += term;
    }

    let k = f64::from(largest);
    let ln_largest = ln_choose(n, k) + k * success.ln() + (n - k) * (-success).ln_1p();
    Log2Prob::from_log2((ln_largest + sum.ln()) / LN_2)
}

/// Returns a bound on the probability that at least `successes` of `trials` independent trials
/// succeed, each with probability `success`. Sums term by term, and bounds the rest by a geometric
/// series. Below the mean the bound is trivial.
///
/// # Panics
/// Unless 0 < `success` < 1.
pub(crate) fn upper_tail(trials: u64, successes: u64, success: f64) -> Log2Prob {
    assert!(
        success > 0.0 && success < 1.0,
        "a biased coin can fall on both sides"
    );
    if successes > trials {
        return Log2Prob::ZERO;
    }
    let (n, k) = (trials as f64, successes as f64);
    if k <= n * success {
        return Log2Prob::ONE;
    }
    let odds = success / (1.0 - success);
    let ratio = |i: f64| (n - i) / (i + 1.0) * odds;
    let (mut sum, mut term, mut i) = (1.0, 1.0, k);
    while i < n && term > f64::EPSILON * sum {
        term *= ratio(i);
        sum += term;
        i += 1.0;
    }
    sum += term * ratio(i) / (1.0 - ratio(i));
    let ln_first = ln_choose(n, k) + k * success.ln() + (n - k) * (-success).ln_1p();
    Log2Prob::from_log2((ln_first + sum.ln()) / LN_2)
}

/// Returns ln C(n, k) for real 0 ≤ k ≤ n, by the Γ function.
pub(crate) fn ln_choose(n: f64, k: f64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// Returns ln n! for real n ≥ 0.
pub(crate) fn ln_factorial(n: f64) -> f64 {
    libm::lgamma(n + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns 2^-n Σ_{i<d} C(n, i), summed in whole numbers; right for n ≤ 120.
    fn exact(n: u32, d: u32) -> f64 {
        let mut sum = 0u128;
        let mut choose = 1u128;
        for i in 0..d.min(n + 1) {
            sum += choose;
            choose = choose * u128::from(n - i) / u128::from(i + 1);
        }
        (sum as f64).log2() - f64::from(n)
    }

    #[test]
    fn agrees_with_whole_numbers() {
        for n in [1, 2, 3, 10, 37, 64, 119] {
            for d in 1..=n + 1 {
                let (got, want) = (tail(n, d).log2(), exact(n, d));
                assert!(
                    (got - want).abs() < 1e-11,
                    "n = {n}, d = {d}: {got}, not {want}"
                );
            }
        }
    }

    /// Computed with Python's integers: `log2(sum(comb(n, i) for i in range(d))) - n`.
    #[test]
    fn agrees_with_big_integers() {
        for (n, d, want) in [
            (416, 128, -50.4702938192900),
            (448, 128, -66.5154177197466),
            (600, 128, -157.407606214056),
            (4096, 1500, -219.971743648254),
        ] {
            let got = tail(n, d).log2();
            assert!((got - want).abs() < 1e-9, "n = {n}: {got}, not {want}");
        }
    }

    #[test]
    fn a_biased_tail_agrees_with_rational_arithmetic() {
        // P[Bin(4, 1/4) < 2] = (81 + 108) / 256.
        let want = (189.0f64 / 256.0).log2();
        assert!((biased_tail(4, 2, 0.25).log2() - want).abs() < 1e-14);
        // P[Bin(4, 1/4) < 4] = 1 - 1/256: terms fall from the second on.
        let want = (255.0f64 / 256.0).log2();
        assert!((biased_tail(4, 4, 0.25).log2() - want).abs() < 1e-14);
        // P[Bin(3, 9/10) < 3] = 1 - 0.729.
        assert!((biased_tail(3, 3, 0.9).log2() - 0.271f64.log2()).abs() < 1e-14);
    }

    #[test]
    fn upper_and_lower_tails_agree() {
        for (n, k, p) in [(10_u32, 4_u32, 0.2), (1000, 30, 0.01), (4096, 2500, 0.5)] {
            let lower = biased_tail(n, n - k + 1, 1.0 - p).log2();
            let upper = upper_tail(n.into(), k.into(), p).log2();
            assert!(
                (upper - lower).abs() < 1e-9,
                "{n}, {k}: {upper}, not {lower}"
            );
        }
        assert_eq!(upper_tail(5, 6, 0.5), Log2Prob::ZERO);
        assert_eq!(upper_tail(10, 5, 0.5), Log2Prob::ONE);
        assert!((upper_tail(10, 10, 0.5).log2() + 10.0).abs() < 1e-9);
    }

    #[test]
    fn the_edges_are_certain() {
        assert_eq!(tail(100, 0), Log2Prob::ZERO);
        assert_eq!(tail(100, 101), Log2Prob::ONE);
        assert_eq!(tail(0, 1), Log2Prob::ONE);
        assert!((tail(1000, 1).log2() + 1000.0).abs() < 1e-9);
    }
}
