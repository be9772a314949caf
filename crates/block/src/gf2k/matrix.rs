//! Products of matrices: sums of products that are reduced once.

use super::{Element, Field, products::Constants};
use crate::cpu::{self, multiversion};

use super::products::portable;
#[cfg(target_arch = "x86_64")]
use super::products::x86;

/// Rows that are multiplied at the same time, so that their sums stay in registers.
const ROWS: usize = 4;

impl Field {
    /// Computes left·right, for matrices of `inner` columns and `inner` rows, row by row: each
    /// element of the product is a sum of `inner` products.
    ///
    /// # Panics
    /// If the lengths do not fit together.
    pub fn matrix_product(
        &self,
        inner: usize,
        left: &[Element],
        right: &[Element],
        product: &mut [Element],
    ) {
        assert!(
            inner > 0 && left.len().is_multiple_of(inner) && right.len().is_multiple_of(inner),
            "whole rows and columns"
        );
        let columns = right.len() / inner;
        assert_eq!(
            product.len(),
            left.len() / inner * columns,
            "an element for each row and column"
        );
        if columns == 0 {
            return;
        }
        let backend = cpu::best();
        let groups = left
            .chunks(ROWS * inner)
            .zip(product.chunks_mut(ROWS * columns));
        for (left, product) in groups {
            let rows = left.len() / inner;
            let prepared: Vec<Prepared> = (0..inner)
                .flat_map(|i| (0..rows).map(move |row| left[row * inner + i]))
                .map(|element| Prepared::new(element, self.constants.shift))
                .collect();
            match rows {
                1 => on_backend::<1>(backend, self.constants, &prepared, right, product),
                2 => on_backend::<2>(backend, self.constants, &prepared, right, product),
                3 => on_backend::<3>(backend, self.constants, &prepared, right, product),
                _ => on_backend::<ROWS>(backend, self.constants, &prepared, right, product),
            }
        }
    }
}

/// A left factor: its halves, not shifted, and the sum of these.
#[derive(Clone, Copy)]
struct Prepared {
    element: Element,
    sum: Element,
}

impl Prepared {
    fn new(element: Element, shift: u64) -> Self {
        let (low, high) = (element.low >> shift, element.high >> shift);
        Self {
            element: Element { low, high },
            sum: Element {
                low: low ^ high,
                high: 0,
            },
        }
    }
}

multiversion! {
    fn on_backend<const S: usize>(
        field: Constants, left: &[Prepared], right: &[Element], product: &mut [Element],
    )
    portable all::<S, _>(
        left, right, product, [0; 3], |sums: &mut _, a: &Prepared, b| {
            portable::add_karatsuba(sums, a.element, a.sum.low, b);
        },
        |sums| portable::reduce_karatsuba(field, sums),
    );
    avx2 all::<S, _>(
        left, right, product, x86::zeros(), |sums: &mut _, a: &Prepared, b| {
            x86::add_karatsuba(sums, a.element, a.sum, b);
        },
        |sums| x86::reduce_karatsuba(field, sums),
    );
    avx512 all::<S, _>(
        left, right, product, x86::zeros(), |sums: &mut _, a: &Prepared, b| {
            x86::add_karatsuba(sums, a.element, a.sum, b);
        },
        |sums| x86::reduce_karatsuba(field, sums),
    );
}

/// Computes all products; `left` has S factors for each row of `right`.
#[inline(always)]
fn all<const S: usize, W: Copy>(
    left: &[Prepared],
    right: &[Element],
    product: &mut [Element],
    zero: W,
    add_product: impl Fn(&mut W, &Prepared, Element),
    reduce: impl Fn(W) -> Element,
) {
    let columns = product.len() / S;
    for column in 0..columns {
        let mut sums = [zero; S];
        let factors = left
            .chunks_exact(S)
            .zip(right[column..].iter().step_by(columns));
        for (left, right) in factors {
            for (sum, left) in sums.iter_mut().zip(left) {
                add_product(sum, left, *right);
            }
        }
        for (row, sum) in sums.into_iter().enumerate() {
            product[row * columns + column] = reduce(sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Prg};

    #[test]
    fn every_backend_multiplies_by_the_definition() {
        for bits in [54, 55, 63] {
            let field = Field::new(bits);
            let mut prg = Prg::from_seed(Block(bits.into()));
            let mut random = |len: usize| -> Vec<Element> {
                let word = |prg: &mut Prg| u64::from_le_bytes(prg.bytes());
                (0..len)
                    .map(|_| field.from_words([word(&mut prg), word(&mut prg)]))
                    .collect()
            };
            for (rows, inner, columns) in [(1, 1, 1), (4, 3, 5), (5, 41, 2), (7, 2, 0), (2, 9, 1)] {
                let (left, right) = (random(rows * inner), random(inner * columns));
                let mut product = vec![field.one(); rows * columns];
                field.matrix_product(inner, &left, &right, &mut product);
                for row in 0..rows {
                    for column in 0..columns {
                        let expected = (0..inner).fold(Element::ZERO, |sum, i| {
                            sum ^ field.product(left[row * inner + i], right[i * columns + column])
                        });
                        let computed = product[row * columns + column];
                        assert!(
                            field.is_zero(computed ^ expected),
                            "{rows}, {inner}, {columns}"
                        );
                    }
                }
            }
            // The other backends give the same products, since their single products agree.
            let (left, right) = (random(8), random(6));
            let prepared: Vec<Prepared> = left
                .iter()
                .map(|it| Prepared::new(*it, field.constants.shift))
                .collect();
            let on = |backend| {
                let mut product = [Element::ZERO; 12];
                on_backend::<4>(backend, field.constants, &prepared, &right, &mut product);
                product.map(|element| field.to_words(element))
            };
            for backend in cpu::available() {
                assert_eq!(on(backend), on(cpu::Backend::Portable), "{backend:?}");
            }
        }
    }
}
