//! Choosing between numbers.

use crate::{Backend, Product};

/// Returns `if choice { a } else { b }`: one gate per bit, all of them one product.
///
/// # Errors
/// As [`Backend::products`].
///
/// # Panics
/// If the numbers differ in length.
pub fn select<B: Backend>(
    backend: &mut B,
    choice: &B::Wires,
    a: &[B::Wires],
    b: &[B::Wires],
) -> Result<Vec<B::Wires>, B::Error> {
    let change = change(backend, choice, a, b)?;
    Ok(xor(backend, b, &change))
}

/// Returns `if choice { (b, a) } else { (a, b) }`: one gate per bit, all of them one product.
///
/// # Errors
/// As [`Backend::products`].
///
/// # Panics
/// If the numbers differ in length.
pub fn swap<B: Backend>(
    backend: &mut B,
    choice: &B::Wires,
    a: &[B::Wires],
    b: &[B::Wires],
) -> Result<[Vec<B::Wires>; 2], B::Error> {
    let change = change(backend, choice, a, b)?;
    Ok([xor(backend, a, &change), xor(backend, b, &change)])
}

/// Returns `choice` ∧ a for every bit of a.
///
/// # Errors
/// As [`Backend::products`].
pub fn mask<B: Backend>(
    backend: &mut B,
    choice: &B::Wires,
    a: &[B::Wires],
) -> Result<Vec<B::Wires>, B::Error> {
    let product = Product {
        bit: choice,
        vector: a,
    };
    Ok(backend.products(&[product])?.swap_remove(0))
}

/// Returns what to add to `b` to get `a`, if `choice`.
fn change<B: Backend>(
    backend: &mut B,
    choice: &B::Wires,
    a: &[B::Wires],
    b: &[B::Wires],
) -> Result<Vec<B::Wires>, B::Error> {
    let difference = xor(backend, a, b);
    mask(backend, choice, &difference)
}

fn xor<B: Backend>(backend: &B, a: &[B::Wires], b: &[B::Wires]) -> Vec<B::Wires> {
    assert_eq!(a.len(), b.len(), "as many bits");
    a.iter().zip(b).map(|(a, b)| backend.xor(a, b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bits, plain::Plain};

    #[test]
    fn the_choice_decides() {
        let (a, b) = ([5, 6, 7, 8], [1, 2, 3, 4]);
        let (a, b) = (Bits::transposed(&a, 4), Bits::transposed(&b, 4));
        let choice: Bits = [true, false, true, false].into_iter().collect();
        let plain = &mut Plain::small();
        let selected = select(plain, &choice, &a, &b).unwrap();
        assert_eq!(Bits::numbers(&selected), [5, 2, 7, 4]);
        let swapped = swap(plain, &choice, &a, &b).unwrap();
        assert_eq!(Bits::numbers(&swapped[0]), [1, 6, 3, 8]);
        assert_eq!(Bits::numbers(&swapped[1]), [5, 2, 7, 4]);
        let masked = mask(plain, &choice, &a).unwrap();
        assert_eq!(Bits::numbers(&masked), [5, 0, 7, 0]);
        // Each of them is one product per lane.
        assert_eq!(plain.gates().products, [(4, 3 * 4)].into());
    }
}
