use proptest::prelude::*;

use super::*;
use crate::cpu::Backend;

fn subfield() -> impl Strategy<Value = Gf64> {
    any::<u64>().prop_map(Gf64)
}

fn tower() -> impl Strategy<Value = Tower> {
    (subfield(), subfield()).prop_map(|(low, high)| Tower { low, high })
}

/// Schoolbook: multiply by x, bit by bit.
fn slowly(a: Gf64, b: Gf64) -> Gf64 {
    let mut power = a.0;
    let mut product = 0;
    for i in 0..64 {
        product ^= if b.0 >> i & 1 == 1 { power } else { 0 };
        power = (power << 1) ^ ((power >> 63) * 0b11011);
    }
    Gf64(product)
}

/// Schoolbook, with t² = t + x^61.
fn tower_slowly(a: Tower, b: Tower) -> Tower {
    let square = slowly(a.high, b.high);
    Tower {
        low: slowly(a.low, b.low) ^ slowly(square, Gf64(1 << 61)),
        high: slowly(a.low, b.high) ^ slowly(a.high, b.low) ^ square,
    }
}

#[test]
fn the_tower_is_a_field() {
    // t² + t + ν is irreducible iff ν has trace 1.
    let nu = Gf64(1 << 61);
    let mut power = nu;
    let mut trace = Gf64::default();
    for _ in 0..64 {
        trace ^= power;
        power = slowly(power, power);
    }
    assert!(power == nu, "64 squarings are the identity");
    assert!(trace == Gf64::ONE);
}

#[test]
fn zero_has_no_inverse() {
    assert!(Gf64::default().invert() == Gf64::default());
    assert!(Gf64::ONE.invert() == Gf64::ONE);
}

proptest! {
    #[test]
    fn multiplies(a in subfield(), b in subfield(), c in tower(), d in tower()) {
        prop_assert!(a * b == slowly(a, b));
        prop_assert!(c * d == tower_slowly(c, d));
        prop_assert!(c.scale(a) == c * Tower::from(a));
        prop_assert!(a == Gf64::default() || a * a.invert() == Gf64::ONE);
    }

    #[test]
    fn backends_agree_on_the_subfield(
        elements in prop::collection::vec((subfield(), subfield(), tower()), 0..9),
        coefficients in prop::collection::vec(subfield(), 0..4),
        factor in tower(),
    ) {
        let sums: Vec<Gf64> = elements.iter().map(|element| element.0).collect();
        let at: Vec<Gf64> = elements.iter().map(|element| element.1).collect();
        let weights: Vec<Tower> = elements.iter().map(|element| element.2).collect();
        let value = |at: Gf64| {
            let mut power = Gf64::ONE;
            coefficients.iter().fold(Gf64::default(), |sum, coefficient| {
                power = slowly(power, at);
                sum ^ slowly(*coefficient, power)
            })
        };
        for backend in cpu::available() {
            let mut found = sums.clone();
            polynomials(backend, &mut found, &at, &coefficients);
            for (found, (sum, at)) in found.iter().zip(sums.iter().zip(&at)) {
                prop_assert!(*found == *sum ^ value(*at));
            }
            check_products(backend, &weights, &at, factor)?;
        }
    }

    #[test]
    fn backends_agree_on_the_tower(
        elements in prop::collection::vec((tower(), subfield(), tower()), 0..9),
        coefficients in prop::collection::vec(tower(), 0..4),
        factor in tower(),
    ) {
        let sums: Vec<Tower> = elements.iter().map(|element| element.0).collect();
        let at: Vec<Gf64> = elements.iter().map(|element| element.1).collect();
        let weights: Vec<Tower> = elements.iter().map(|element| element.2).collect();
        let value = |at: Gf64| {
            let mut power = Gf64::ONE;
            coefficients.iter().fold(Tower::default(), |sum, coefficient| {
                power = slowly(power, at);
                sum ^ tower_slowly(*coefficient, power.into())
            })
        };
        for backend in cpu::available() {
            let mut found = sums.clone();
            tower_polynomials(backend, &mut found, &at, &coefficients);
            for (found, (sum, at)) in found.iter().zip(sums.iter().zip(&at)) {
                prop_assert!(*found == *sum ^ value(*at));
            }
            let mut found = sums.clone();
            tower_products(backend, &mut found, factor, &weights);
            for (found, (sum, element)) in found.iter().zip(sums.iter().zip(&weights)) {
                prop_assert!(*found == *sum ^ tower_slowly(factor, *element));
            }
            let mut found = Tower::default();
            tower_weighted_sum(backend, &weights, &sums, &mut found);
            let expected = weights.iter().zip(&sums).fold(Tower::default(), |sum, (a, b)| {
                sum ^ tower_slowly(*a, *b)
            });
            prop_assert!(found == expected);
        }
    }
}

fn check_products(
    backend: Backend,
    sums: &[Tower],
    elements: &[Gf64],
    factor: Tower,
) -> Result<(), TestCaseError> {
    let mut found = sums.to_vec();
    products(backend, &mut found, factor, elements);
    for (found, (sum, element)) in found.iter().zip(sums.iter().zip(elements)) {
        prop_assert!(*found == *sum ^ tower_slowly(factor, (*element).into()));
    }
    let mut found = Tower::default();
    weighted_sum(backend, sums, elements, &mut found);
    let expected = sums
        .iter()
        .zip(elements)
        .fold(Tower::default(), |sum, (weight, element)| {
            sum ^ tower_slowly(*weight, (*element).into())
        });
    prop_assert!(found == expected);
    Ok(())
}
