//! The number of items that a malicious receiver can put into one key-value store.
//!
//! In an oblivious PRF from vector OLE (`rr22-malicious`), the receiver's message fixes a vector p
//! of m elements of V, a vector space over GF(2) of 2^b elements. It gets the PRF at the items x
//! with d(x) = Decode(p, x) + H(x) = 0. An honest receiver solves for n < m items. One that cheats
//! can solve for m, and may search for p that has some more: the store is *overfitted* (Han, Kim,
//! Lee and Son, Asiacrypt 2024).
//!
//! # The bound
//!
//! Row and H are a random oracle, which the receiver evaluated at up to Q items, in any way that it
//! likes, before its message. For one p, and n' of these evaluations: each value H(x) is uniform in
//! V, given its own row and all that was evaluated before. So d(x) = 0 for all of them with
//! probability 2^(-b·n'), one factor after the other. There are 2^(b·m) vectors p, and C(Q, n') ≤
//! (e·Q/n')^n' choices of n' evaluations. By the union bound over both, any p has n' or more items
//! with probability at most
//!
//! > 2^(b·m)·(e·Q/n')^n'·2^(-b·n'),
//!
//! which is above 2^-σ only if **n'·(b − log2(e·Q/n')) < m·b + σ**. This holds however p is found,
//! and whatever the rows look like.
//!
//! Items that are evaluated only after the message do not count: d of each is 0 with probability
//! 2^-b, which matters for items of the sender alone, and is an event of its own in the protocol's
//! budget.

use std::f64::consts::LOG2_E;

use crate::Security;

/// Steps of a bisection that ends at two neighbouring numbers.
const STEPS: usize = 200;

/// Returns a bound on the items that a store of `elements` elements with `bits` bits each has for a
/// receiver that evaluated 2^`queries_log2` items before, except with probability 2^-σ.
///
/// # Panics
/// If there are no elements or no bits, or `queries_log2` is not a number.
pub fn most_items(elements: u64, bits: u32, queries_log2: f64, security: Security) -> f64 {
    assert!(elements > 0 && bits > 0, "a store has elements with bits");
    assert!(!queries_log2.is_nan(), "a number of evaluations");
    let (m, b) = (elements as f64, f64::from(bits));
    let room = m * b - security.failure().log2();
    let fit = |items: f64| items * (b - (LOG2_E + queries_log2 - items.log2())) < room;
    // The left side falls up to Q/2^b items, and grows from there on.
    let mut fits = (queries_log2 - b).exp2().max(1.0);
    let mut too_many = 2.0 * fits;
    while fit(too_many) {
        (fits, too_many) = (too_many, 2.0 * too_many);
    }
    for _ in 0..STEPS {
        let middle = fits + (too_many - fits) / 2.0;
        if fit(middle) {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    too_many.floor().min(queries_log2.exp2())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For a million items.
    const ELEMENTS: u64 = 1_160_297;

    /// Returns the number of items over elements.
    fn factor(bits: u32, queries_log2: f64) -> f64 {
        most_items(ELEMENTS, bits, queries_log2, Security::default()) / ELEMENTS as f64
    }

    #[test]
    fn factors_at_a_million_items() {
        for (bits, factors) in [(80, [1.35, 2.23, 3.87]), (128, [1.20, 1.54, 1.89])] {
            for (queries_log2, expected) in [40.0, 64.0, 80.0].into_iter().zip(factors) {
                let found = factor(bits, queries_log2);
                assert!(
                    (found - expected).abs() < 0.005,
                    "{bits}, 2^{queries_log2}: {found}"
                );
            }
        }
    }

    /// The condition of the header, just below and just above.
    #[test]
    fn more_items_do_not_fit() {
        let log2_choices = |n: f64, q: f64| n * (LOG2_E + q - n.log2());
        for (elements, bits, queries_log2) in [(100, 80, 64.0), (5000, 64, 50.0), (1, 128, 100.0)] {
            let n = most_items(elements, bits, queries_log2, Security::default());
            let (m, b) = (elements as f64, f64::from(bits));
            let unlikely = |n: f64| m * b + log2_choices(n, queries_log2) - b * n;
            assert!(unlikely(n + 1.0) <= -40.0 + 1e-6, "{elements}");
            assert!(unlikely(n - 1.0) > -40.0, "{elements}");
        }
    }

    /// A vector of one element of two bits, and four items with a coefficient of 1: the most items
    /// that any vector has exceed n' no more often than the union bound says.
    #[test]
    fn a_tiny_store_is_overfitted_as_the_bound_says() {
        const ITEMS: usize = 4;
        let values = |draw: usize| (0..ITEMS).map(move |i| draw >> (2 * i) & 3);
        let draws = 1 << (2 * ITEMS);
        for (fitted, choices) in [(2, 6.0), (3, 4.0), (4, 1.0)] {
            let exceeded = (0..draws).filter(|draw| {
                let of = |p| values(*draw).filter(|value| *value == p).count();
                (0..4).any(|p| of(p) >= fitted)
            });
            let rate = exceeded.count() as f64 / draws as f64;
            let bound: f64 = 4.0 * choices / 4_f64.powi(fitted as i32);
            assert!(rate <= bound.min(1.0), "{fitted}: {rate} {bound}");
        }
    }

    #[test]
    fn no_more_than_were_evaluated() {
        assert_eq!(most_items(1000, 80, 3.0, Security::default()), 8.0);
        // As many as all values: anything fits.
        assert!(factor(80, 100.0) > 4.0);
    }
}
