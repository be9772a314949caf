use super::*;
use crate::{Block, Prg};

fn random(field: &Field, count: usize) -> Vec<Element> {
    let mut prg = Prg::from_seed(Block(count as u128));
    (0..count)
        .map(|_| field.from_words(bytemuck::cast(prg.block().to_bytes())))
        .collect()
}

/// Multiplies by schoolbook, modulo m.
fn small_product(width: &Width, a: u64, b: u64) -> u64 {
    let mut power = a;
    let mut product = 0;
    for i in 0..width.bits {
        product ^= power & (b >> i & 1).wrapping_neg();
        power <<= 1;
        power ^= width.modulus & (power >> width.bits & 1).wrapping_neg();
    }
    product
}

fn frobenius(width: &Width, a: u64, times: u32) -> u64 {
    (0..times).fold(a, |a, _| small_product(width, a, a))
}

/// Returns the remainder of a polynomial of degree below 127.
fn remainder(mut a: u128, m: u64) -> u64 {
    let degree = 63 - m.leading_zeros();
    while a >> degree != 0 {
        a ^= u128::from(m) << (127 - a.leading_zeros() - degree);
    }
    a as u64
}

#[test]
fn moduli_are_irreducible() {
    // Rabin's test: x^(2^w) = x, and x^(2^(w/p)) − x is prime to m for the primes p of w.
    for width in WIDTHS {
        let (w, m) = (width.bits, width.modulus);
        assert_eq!(frobenius(width, 2, w), 2, "{w}");
        for p in (2..=w).filter(|p| w % p == 0 && (2..*p).all(|q| p % q != 0)) {
            let (mut a, mut b) = (m, frobenius(width, 2, w / p) ^ 2);
            while b != 0 {
                (a, b) = (b, remainder(a.into(), b));
            }
            assert_eq!(a, 1, "{w}, {p}");
        }
    }
}

#[test]
fn moduli_are_what_reduction_relies_on() {
    for width in WIDTHS {
        let (w, d) = (width.bits, width.ring_bits);
        let degree = |a: u64| 63 - a.leading_zeros();
        assert_eq!(degree(width.modulus), w);
        assert_eq!(degree(width.cofactor), d - w);
        assert!(degree(width.fold) <= d - w + 1, "{w}");
        assert!(d < 64, "{w}");
        let large = u128::from(width.fold) | 1 << d;
        assert_eq!(remainder(large, width.modulus), 0, "{w}");
        let product = (0..8).fold(0, |sum, i| {
            let taken = u128::from(width.cofactor >> i & 1);
            sum ^ (taken * u128::from(width.modulus)) << i
        });
        assert_eq!(product, large, "{w}");
    }
}

/// t² + t + c is irreducible if c has trace 1.
#[test]
fn the_extension_is_a_field() {
    for width in WIDTHS {
        let twist = Field::new(width.bits).constants.twist;
        let trace = (0..width.bits).fold(0, |sum, i| sum ^ frobenius(width, 1 << twist, i));
        assert_eq!(trace, 1, "{}", width.bits);
    }
}

#[test]
fn words_are_reduced_and_come_back() {
    for width in WIDTHS {
        let field = Field::new(width.bits);
        for i in 0..width.ring_bits {
            // x^i, as a residue modulo M.
            let element = Element {
                low: 1 << (i as u64 + field.constants.shift),
                high: 0,
            };
            let expected = remainder(1 << i, width.modulus);
            assert_eq!(
                field.to_words(element),
                [expected, 0],
                "{}, {i}",
                width.bits
            );
        }
        let words = [field.mask(), 5];
        assert_eq!(field.to_words(field.from_words(words)), words);
        assert_eq!(field.to_words(field.from_words([u64::MAX, 5])), words);
    }
}

#[test]
fn multiplies_by_the_definition() {
    for width in WIDTHS {
        let field = Field::new(width.bits);
        let twist = 1 << field.constants.twist;
        let elements = random(&field, 8);
        for a in &elements {
            for b in &elements {
                let ([a0, a1], [b0, b1]) = (field.to_words(*a), field.to_words(*b));
                let times = |a, b| small_product(width, a, b);
                let both = times(a1, b1);
                let expected = [
                    times(a0, b0) ^ times(both, twist),
                    times(a0, b1) ^ times(a1, b0) ^ both,
                ];
                assert_eq!(field.to_words(field.product(*a, *b)), expected);
            }
        }
    }
}

#[test]
fn backends_agree() {
    for width in WIDTHS {
        let field = Field::new(width.bits);
        // Also residues that are not reduced.
        let all = u64::MAX << field.constants.shift;
        let ones = Element {
            low: all,
            high: all,
        };
        let inputs: Vec<Vec<Element>> = (9..13)
            .map(|seed| {
                let mut elements = random(&field, seed);
                elements.truncate(8);
                elements.push(ones);
                elements
            })
            .collect();
        let [a, b, c, d] = &inputs[..] else {
            unreachable!()
        };
        let words = |elements: &[Element]| -> Vec<[u64; 2]> {
            elements
                .iter()
                .map(|element| field.to_words(*element))
                .collect()
        };
        let product = |a: &Element, b: &Element| portable::product(field.constants, *a, *b);
        let products: Vec<Element> = a.iter().zip(b).map(|(a, b)| product(a, b)).collect();
        let others: Vec<Element> = c.iter().zip(d).map(|(c, d)| product(c, d)).collect();
        let sums: Vec<Element> = products.iter().zip(&others).map(|(a, b)| *a ^ *b).collect();
        for backend in cpu::available() {
            let mut computed = a.clone();
            multiply_on(backend, field.constants, &mut computed, b);
            assert_eq!(words(&computed), words(&products), "{backend:?}");
            add_products_on(backend, field.constants, &mut computed, c, d);
            assert_eq!(words(&computed), words(&sums), "{backend:?}");
            let mut computed = products.clone();
            add_multiples_on(backend, field.constants, &mut computed, d[0], c);
            let multiples = c
                .iter()
                .zip(&products)
                .map(|(c, sum)| *sum ^ product(c, &d[0]));
            assert_eq!(words(&computed), words(&multiples.collect::<Vec<_>>()));
        }
    }
}

#[test]
fn inverts() {
    for width in [54, 55, 63] {
        let field = Field::new(width);
        for count in [0, 1, 2, 3, 7, 20] {
            let elements = random(&field, count);
            let mut inverses = elements.clone();
            assert!(field.invert_all(&mut inverses));
            for (element, inverse) in elements.iter().zip(&inverses) {
                let one = field.product(*element, *inverse);
                assert_eq!(field.to_words(one), [1, 0]);
            }
            for zero in 0..count {
                let mut with_zero = elements.clone();
                // A zero that does not look like one: m itself.
                with_zero[zero] = Element {
                    low: 0,
                    high: field.width.modulus << field.constants.shift,
                };
                if width != 63 {
                    assert!(!field.invert_all(&mut with_zero));
                }
            }
        }
        assert!(field.is_zero(field.invert(Element::ZERO)));
    }
}
