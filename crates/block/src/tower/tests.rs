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

proptest! {
    #[test]
    fn multiplies(a in tower(), b in tower()) {
        prop_assert!(a * b == tower_slowly(a, b));
    }

    #[test]
    fn backends_agree_on_the_subfield(
        elements in prop::collection::vec((tower(), subfield()), 0..9),
        factor in tower(),
    ) {
        let (weights, elements): (Vec<Tower>, Vec<Gf64>) = elements.into_iter().unzip();
        for backend in cpu::available() {
            check_products(backend, &weights, &elements, factor)?;
        }
    }

    #[test]
    fn backends_agree_on_the_tower(
        elements in prop::collection::vec((tower(), tower()), 0..9),
        factor in tower(),
    ) {
        let (weights, elements): (Vec<Tower>, Vec<Tower>) = elements.into_iter().unzip();
        for backend in cpu::available() {
            let mut found = weights.clone();
            tower_products(backend, &mut found, factor, &elements);
            for (found, (sum, element)) in found.iter().zip(weights.iter().zip(&elements)) {
                prop_assert!(*found == *sum ^ tower_slowly(factor, *element));
            }
            let mut found = Tower::default();
            tower_weighted_sum(backend, &weights, &elements, &mut found);
            let expected = weights.iter().zip(&elements).fold(Tower::default(), |sum, (a, b)| {
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
