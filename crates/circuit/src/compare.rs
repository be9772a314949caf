//! Comparing numbers, given by their wires, the lowest bit first.

use crate::{Backend, Lanes, Product};

/// A wire for each lane.
type Wire<B> = <B as Backend>::Wires;

/// Returns whether a = b: n − 1 gates for n bits, in ⌈log2 n⌉ layers.
///
/// # Errors
/// As [`Backend::products`].
///
/// # Panics
/// If the numbers differ in length, or have no bits. So do all functions here.
pub fn equal<B: Backend>(
    backend: &mut B,
    a: &[Wire<B>],
    b: &[Wire<B>],
) -> Result<Wire<B>, B::Error> {
    let same = bits_equal(backend, a, b);
    all(backend, same)
}

/// Returns whether all of some bits are one: n − 1 gates for n bits, in ⌈log2 n⌉ layers.
///
/// # Errors
/// As [`Backend::products`].
pub fn all<B: Backend>(backend: &mut B, mut bits: Vec<Wire<B>>) -> Result<Wire<B>, B::Error> {
    while bits.len() > 1 {
        let odd = pop_unpaired(&mut bits);
        let layer: Vec<_> = (bits.chunks_exact(2))
            .map(|pair| Product {
                bit: &pair[0],
                vector: &pair[1..],
            })
            .collect();
        bits = backend.products(&layer)?.into_iter().flatten().collect();
        bits.extend(odd);
    }
    Ok(bits.pop().expect("a number has bits"))
}

/// Returns whether a > b, as unsigned numbers: in as few gates as are known, or as few layers, as
/// the backend prefers.
///
/// # Errors
/// As [`Backend::products`].
pub fn greater<B: Backend>(
    backend: &mut B,
    a: &[Wire<B>],
    b: &[Wire<B>],
) -> Result<Wire<B>, B::Error> {
    if backend.layers_take_rounds() {
        greater_shallow(backend, a, b)
    } else {
        greater_small(backend, a, b)
    }
}

/// Returns whether a number is at least `least`, which both know: no gates if it always is, or
/// never.
///
/// # Errors
/// As [`Backend::products`].
pub fn at_least<B: Backend>(
    backend: &mut B,
    number: &[Wire<B>],
    least: u64,
) -> Result<Wire<B>, B::Error> {
    let (bits, lanes) = (number.len() as u32, number[0].lanes());
    let Some(below) = least.checked_sub(1) else {
        return Ok(backend.constant(true, lanes));
    };
    if least.checked_shr(bits).unwrap_or(0) > 0 {
        return Ok(backend.constant(false, lanes));
    }
    let below: Vec<_> = (0..bits)
        .map(|bit| backend.constant(below.checked_shr(bit).unwrap_or(0) & 1 == 1, lanes))
        .collect();
    greater(backend, number, &below)
}

/// Returns whether a > b: one gate and one layer per bit (Kolesnikov, Sadeghi and Schneider, CANS
/// 2009).
///
/// # Errors
/// As [`Backend::products`].
pub fn greater_small<B: Backend>(
    backend: &mut B,
    a: &[Wire<B>],
    b: &[Wire<B>],
) -> Result<Wire<B>, B::Error> {
    assert_eq!(a.len(), b.len(), "as many bits");
    // a is greater in the bits so far: the highest bit decides if it differs.
    let mut greater = backend.constant(false, a[0].lanes());
    for (a, b) in a.iter().zip(b) {
        let carried = backend.xor(b, &greater);
        let differs = backend.xor(a, &greater);
        let product = backend.and(&differs, &carried)?;
        greater = backend.xor(a, &product);
    }
    Ok(greater)
}

/// Returns whether a > b, in 1 + ⌈log2 n⌉ layers of at most 3n − ⌈log2 n⌉ − 2 gates together (PSZ14
/// App. D.2), which are 2n − 1 products of a bit and a vector.
///
/// # Errors
/// As [`Backend::products`].
pub fn greater_shallow<B: Backend>(
    backend: &mut B,
    a: &[Wire<B>],
    b: &[Wire<B>],
) -> Result<Wire<B>, B::Error> {
    let equal = bits_equal(backend, a, b);
    let not_b: Vec<_> = b.iter().map(|b| backend.not(b)).collect();
    let layer: Vec<_> = (a.iter().zip(&not_b))
        .map(|(bit, b)| Product {
            bit,
            vector: std::slice::from_ref(b),
        })
        .collect();
    let greater = backend.products(&layer)?.into_iter().flatten();
    // A part of the number: whether a is greater there, and, except for the lowest part, whether
    // the parts are equal.
    let mut parts: Vec<Vec<_>> = greater.zip(equal).map(|(g, e)| vec![g, e]).collect();
    parts[0].pop();
    while parts.len() > 1 {
        let odd = pop_unpaired(&mut parts);
        let layer: Vec<_> = (parts.chunks_exact(2))
            .map(|pair| Product {
                bit: &pair[1][1],
                vector: &pair[0],
            })
            .collect();
        let mut joined = backend.products(&layer)?;
        for (part, pair) in joined.iter_mut().zip(parts.chunks_exact(2)) {
            part[0] = backend.xor(&part[0], &pair[1][0]);
        }
        joined.extend(odd);
        parts = joined;
    }
    Ok(parts.swap_remove(0).swap_remove(0))
}

/// Takes the last of an odd number away, which has no neighbour.
fn pop_unpaired<T>(list: &mut Vec<T>) -> Option<T> {
    if list.len() % 2 == 1 {
        list.pop()
    } else {
        None
    }
}

fn bits_equal<B: Backend>(backend: &B, a: &[Wire<B>], b: &[Wire<B>]) -> Vec<Wire<B>> {
    assert_eq!(a.len(), b.len(), "as many bits");
    let bits = a.iter().zip(b);
    bits.map(|(a, b)| backend.not(&backend.xor(a, b))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::{Bits, plain::Plain};

    proptest! {
        #[test]
        fn compare_as_numbers_do(
            pairs in vec((any::<u128>(), any::<u128>(), 0..4_u32), 1..80),
            width in 1..=128_usize,
        ) {
            let mask = u128::MAX >> (128 - width);
            // Some are equal, some differ in one bit.
            let pairs: Vec<_> = pairs.iter().map(|&(a, b, how)| match how {
                0 => (a & mask, a & mask),
                1 => (a & mask, (a ^ 1 << (b % width as u128)) & mask),
                _ => (a & mask, b & mask),
            }).collect();
            let a: Vec<_> = pairs.iter().map(|pair| pair.0).collect();
            let b: Vec<_> = pairs.iter().map(|pair| pair.1).collect();
            let (a, b) = (Bits::transposed(&a, width), Bits::transposed(&b, width));
            let greater: Bits = pairs.iter().map(|(a, b)| a > b).collect();
            let same: Bits = pairs.iter().map(|(a, b)| a == b).collect();
            let plain = &mut Plain::small();
            prop_assert!(equal(plain, &a, &b).unwrap() == same);
            prop_assert!(greater_small(plain, &a, &b).unwrap() == greater);
            prop_assert!(greater_shallow(plain, &a, &b).unwrap() == greater);
        }
    }

    #[test]
    fn at_least_of_every_number_and_beyond() {
        let numbers: Vec<u128> = (0..16).collect();
        let wires = Bits::transposed(&numbers, 4);
        for least in [0, 1, 5, 15, 16, 17, u64::MAX] {
            let reached: Bits = numbers.iter().map(|n| *n >= u128::from(least)).collect();
            let mut plain = Plain::small();
            assert!(at_least(&mut plain, &wires, least).unwrap() == reached);
            let gates = if (1..16).contains(&least) { 4 } else { 0 };
            assert_eq!(plain.gates().ands(), gates * 16);
        }
    }

    #[test]
    fn gates_are_as_published() {
        type Circuit = fn(&mut Plain, &[Bits], &[Bits]) -> Result<Bits, std::convert::Infallible>;
        let gates = |circuit: Circuit, bits: usize| {
            let number = Bits::transposed(&[0], bits);
            let mut plain = Plain::small();
            circuit(&mut plain, &number, &number).unwrap();
            (plain.gates().ands(), plain.gates().layers)
        };
        for log2 in 0..=7 {
            let bits = 1 << log2;
            assert_eq!(gates(equal, bits), (bits as u64 - 1, log2));
            assert_eq!(gates(greater_small, bits), (bits as u64, bits as u64));
            let shallow = (3 * bits as u64 - log2 - 2, 1 + log2);
            assert_eq!(gates(greater_shallow, bits), shallow);
        }
        assert!(gates(greater_shallow, 75).0 <= 3 * 75 - 7 - 2);
    }
}
