//! Adding numbers, given by their wires, the lowest bit first.

use crate::{Backend, Lanes};

/// Returns a + b, with a bit more than the longer of them: one gate per bit of the longer.
///
/// # Errors
/// As [`Backend::products`].
pub fn add<B: Backend>(
    backend: &mut B,
    a: &[B::Wires],
    b: &[B::Wires],
) -> Result<Vec<B::Wires>, B::Error> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let lanes = long.first().map_or(0, Lanes::lanes);
    let mut sum = Vec::with_capacity(long.len() + 1);
    let mut carry = backend.constant(false, lanes);
    for (i, a) in long.iter().enumerate() {
        let differs = backend.xor(a, &carry);
        // (a ⊕ c)(b ⊕ c) ⊕ c is the majority of a, b and c.
        let (bit, product) = match short.get(i) {
            Some(b) => {
                let other = backend.xor(b, &carry);
                (backend.xor(&differs, b), backend.and(&differs, &other)?)
            }
            None => (differs.clone(), backend.and(&differs, &carry)?),
        };
        sum.push(bit);
        carry = backend.xor(&carry, &product);
    }
    sum.push(carry);
    Ok(sum)
}

/// Returns how many lanes of `bits` are one: a number of one lane. About one gate per lane, in
/// about (log2 n)²/2 layers.
///
/// # Errors
/// As [`Backend::products`].
pub fn count_ones<B: Backend>(backend: &mut B, bits: &B::Wires) -> Result<Vec<B::Wires>, B::Error> {
    sum(backend, std::slice::from_ref(bits), usize::MAX)
}

/// Returns the sum of all lanes of `numbers`, modulo 2^`most_bits`: a number of one lane. About one
/// gate per bit and lane, in about log2(n)·`most_bits` layers.
///
/// # Errors
/// As [`Backend::products`].
pub fn sum<B: Backend>(
    backend: &mut B,
    numbers: &[B::Wires],
    most_bits: usize,
) -> Result<Vec<B::Wires>, B::Error> {
    if numbers.first().is_none_or(|wire| wire.lanes() == 0) {
        return Ok(vec![backend.constant(false, 1); numbers.len()]);
    }
    let mut sum = numbers.to_vec();
    while sum[0].lanes() > 1 {
        let half = sum[0].lanes() / 2;
        let part = |range: std::ops::Range<usize>| -> Vec<B::Wires> {
            sum.iter().map(|wire| wire.range(range.clone())).collect()
        };
        let (low, high) = (part(0..half), part(half..2 * half));
        let odd = part(2 * half..sum[0].lanes());
        let mut next = add(backend, &low, &high)?;
        next.truncate(most_bits);
        if odd[0].lanes() > 0 {
            let zero = backend.constant(false, 1);
            for (i, wire) in next.iter_mut().enumerate() {
                wire.append(odd.get(i).unwrap_or(&zero));
            }
        }
        sum = next;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::{Bits, plain::Plain};

    proptest! {
        #[test]
        fn sums_are_exact(
            pairs in vec((any::<u64>(), any::<u32>()), 1..40),
            width_a in 1..=64_usize,
            width_b in 1..=32_usize,
        ) {
            let a: Vec<u128> = pairs.iter().map(|p| u128::from(p.0 >> (64 - width_a))).collect();
            let b: Vec<u128> = pairs.iter().map(|p| u128::from(p.1 >> (32 - width_b))).collect();
            let wires = (Bits::transposed(&a, width_a), Bits::transposed(&b, width_b));
            let plain = &mut Plain::small();
            let sum = add(plain, &wires.0, &wires.1).unwrap();
            let expected: Vec<u128> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
            prop_assert_eq!(Bits::numbers(&sum), expected);
            prop_assert_eq!(plain.gates().ands(), (width_a.max(width_b) * pairs.len()) as u64);
        }

        #[test]
        fn lanes_are_added_up(numbers in vec(any::<u64>(), 0..100)) {
            let wires = Bits::transposed(&Vec::from_iter(numbers.iter().map(|n| u128::from(*n))), 64);
            let plain = &mut Plain::small();
            let total = sum(plain, &wires, 64).unwrap();
            let expected = numbers.iter().fold(0_u64, |sum, number| sum.wrapping_add(*number));
            prop_assert_eq!(total.len(), 64);
            prop_assert_eq!(Bits::numbers(&total), [u128::from(expected)]);
            prop_assert!(plain.gates().ands() <= 64 * numbers.len() as u64);
        }

        #[test]
        fn ones_are_counted(bits in vec(any::<bool>(), 0..300)) {
            let packed: Bits = bits.iter().copied().collect();
            let plain = &mut Plain::small();
            let count = count_ones(plain, &packed).unwrap();
            prop_assert_eq!(Bits::numbers(&count), [packed.count_ones() as u128]);
            prop_assert!(plain.gates().ands() <= 2 * bits.len() as u64);
        }
    }
}
