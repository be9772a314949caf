use proptest::prelude::*;

use super::*;
use crate::cpu::Backend;

fn subfield() -> impl Strategy<Value = Gf64> {
    any::<u64>().prop_map(Gf64)
}

fn tower() -> impl Strategy<Value = Tower> {
    (subfield(), subfield()).prop_map(|(low, high)| Tower { low, high })
}

/// Multiplies by schoolbook: by x, bit by bit.
fn slowly(a: Gf64, b: Gf64) -> Gf64 {
    let mut power = a.0;
    let mut product = 0;
    for i in 0..64 {
        product ^= if b.0 >> i & 1 == 1 { power } else { 0 };
        power = (power << 1) ^ ((power >> 63) * 0b11011);
    }
    Gf64(product)
}

/// Multiplies by schoolbook, with t² = t + x^61.
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
    fn elements_survive_the_wire(seed: u128, count in 0..33usize) {
        bytes_and_back::<Gf64>(seed, count)?;
        bytes_and_back::<Subspace<Gf64, 57>>(seed, count)?;
        bytes_and_back::<Subspace<Gf64, 58>>(seed, count)?;
        bytes_and_back::<Subspace<Gf64, 61>>(seed, count)?;
        bytes_and_back::<Subspace<Gf64, 63>>(seed, count)?;
        bytes_and_back::<Subspace<Tower, 65>>(seed, count)?;
        bytes_and_back::<Subspace<Tower, 68>>(seed, count)?;
        bytes_and_back::<Subspace<Tower, 72>>(seed, count)?;
        bytes_and_back::<Subspace<Tower, 77>>(seed, count)?;
        bytes_and_back::<Subspace<Tower, 80>>(seed, count)?;
        bytes_and_back::<Tower>(seed, count)?;
    }

    #[test]
    fn subspaces_multiply_as_the_tower(seed: u128, sum in tower(), factor in tower()) {
        multiplies_as_the_tower::<Subspace<Gf64, 4>>(seed, sum, factor)?;
        multiplies_as_the_tower::<Subspace<Gf64, 61>>(seed, sum, factor)?;
        multiplies_as_the_tower::<Subspace<Tower, 72>>(seed, sum, factor)?;
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

fn multiplies_as_the_tower<E: Element>(
    seed: u128,
    sum: Tower,
    factor: Tower,
) -> Result<(), TestCaseError> {
    let mut elements = [E::default(); 5];
    E::fill(&mut elements, &mut Prg::from_seed(crate::Block(seed)));
    let mut sums = [sum; 5];
    E::add_products(&mut sums, factor, &elements);
    for (found, element) in sums.iter().zip(elements) {
        prop_assert!(*found == sum ^ tower_slowly(factor, element.into()));
    }
    let expected = elements.iter().fold(Tower::default(), |total, element| {
        total ^ tower_slowly(sum, (*element).into())
    });
    prop_assert!(E::inner_product(&[sum; 5], &elements) == expected);
    Ok(())
}

fn bytes_and_back<E: Element>(seed: u128, count: usize) -> Result<(), TestCaseError> {
    let mut elements = vec![E::default(); count];
    E::fill(&mut elements, &mut Prg::from_seed(crate::Block(seed)));
    let upper = |element: &E| {
        let element: Tower = (*element).into();
        (u128::from(element.high.0) << 64 | u128::from(element.low.0)).checked_shr(E::BITS)
    };
    let above = elements.iter().filter_map(upper).fold(0, |a, b| a | b);
    prop_assert_eq!(above, 0, "within {} bits", E::BITS);

    let mut bytes = vec![7];
    E::pack(&elements, &mut bytes);
    prop_assert_eq!(bytes.len(), 1 + E::packed_bytes(count));
    let whole_bytes = count * (E::BITS as usize / 8);
    let bits_left = count * (E::BITS as usize % 8);
    prop_assert_eq!(E::packed_bytes(count), whole_bytes + bits_left.div_ceil(8));
    let mut unpacked = vec![E::default(); count];
    E::unpack(&bytes[1..], &mut unpacked);
    prop_assert!(unpacked == elements);
    // Any bytes are elements, which are as others.
    bytes.fill(0xff);
    E::unpack(&bytes[1..], &mut unpacked);
    let most = E::from_bytes(&[0xff; 16][..E::BYTES]);
    prop_assert!(unpacked.iter().all(|element| *element == most));
    for element in elements {
        let tower: Tower = element.into();
        let bytes: [u8; 16] = bytemuck::cast(tower);
        prop_assert!(E::from_bytes(&bytes[..E::BYTES]) == element);
    }
    Ok(())
}

/// Asserts that uniform elements have every bit both ways.
fn every_bit_is_drawn<E: Element>() {
    let mut elements = vec![E::default(); 100];
    E::fill(&mut elements, &mut Prg::from_seed(crate::Block(1)));
    let bits = |element: &E| -> u128 { bytemuck::cast::<Tower, _>((*element).into()) };
    let (any, all) = (elements.iter().map(bits)).fold((0, !0), |(any, all), b| (any | b, all & b));
    assert_eq!((any, all), (u128::MAX >> (128 - E::BITS), 0));
}

#[test]
fn elements_are_drawn_from_all() {
    every_bit_is_drawn::<Gf64>();
    every_bit_is_drawn::<Subspace<Gf64, 4>>();
    every_bit_is_drawn::<Subspace<Gf64, 61>>();
    every_bit_is_drawn::<Subspace<Tower, 72>>();
    every_bit_is_drawn::<Subspace<Tower, 80>>();
    every_bit_is_drawn::<Tower>();
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
