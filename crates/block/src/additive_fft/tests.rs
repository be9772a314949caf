use super::*;
use crate::Prg;

fn random(fft: &AdditiveFft, len: usize) -> Vec<Element> {
    let mut prg = Prg::from_seed(Block(len as u128));
    (0..len)
        .map(|_| fft.field.from_words(bytemuck::cast(prg.block().to_bytes())))
        .collect()
}

fn same(fft: &AdditiveFft, a: &[Element], b: &[Element]) -> bool {
    a.iter().zip(b).all(|(a, b)| fft.field.is_zero(*a ^ *b))
}

/// Returns X_i(at), by the definition: a product over all elements of subspaces.
fn basis_polynomial(fft: &AdditiveFft, i: usize, at: Element) -> Element {
    let field = &fft.field;
    let vanishing = |k: u32, at: Element| {
        (0..1_u64 << k).fold(field.one(), |product, element| {
            field.product(product, at ^ field.small(element))
        })
    };
    (0..6)
        .filter(|t| i >> t & 1 == 1)
        .fold(field.one(), |product, t| {
            let norm = field.invert(vanishing(t, field.small(1 << t)));
            field.product(product, field.product(norm, vanishing(t, at)))
        })
}

#[test]
fn evaluates_by_the_definition() {
    for width in Field::widths() {
        let fft = AdditiveFft::new(Field::new(width));
        let coefficients = random(&fft, 16);
        for offset in [0, 16, 48] {
            let mut values = coefficients.clone();
            fft.evaluate(4, offset, &mut values);
            for (j, value) in values.iter().enumerate() {
                let at = fft.field.small((offset + j) as u64);
                let expected = coefficients.iter().enumerate().map(|(i, coefficient)| {
                    fft.field
                        .product(*coefficient, basis_polynomial(&fft, i, at))
                });
                let expected = expected.fold(Element::ZERO, |sum, term| sum ^ term);
                assert!(same(&fft, &[*value], &[expected]), "{width}, {offset}, {j}");
            }
        }
    }
}

#[test]
fn interpolates_what_was_evaluated() {
    let fft = AdditiveFft::new(Field::new(55));
    let logs = if cfg!(miri) { 0..4 } else { 0..KERNEL_LOG + 3 };
    for log in logs {
        for offset in [0, 1 << log, 5 << log] {
            let coefficients = random(&fft, 2 << log);
            let mut data = coefficients.clone();
            fft.evaluate(log, offset, &mut data);
            assert!(log == 0 || !same(&fft, &data, &coefficients));
            fft.interpolate(log, offset, &mut data);
            assert!(same(&fft, &data, &coefficients), "2^{log} at {offset}");
        }
    }
}

/// A polynomial of degree below 2^log is one of degree below 2^(log + 1): the large transform,
/// computed half by half, has the values of the small one on both cosets.
#[test]
fn cosets_and_sizes_fit_together() {
    let fft = AdditiveFft::new(Field::new(54));
    let logs = if cfg!(miri) { 1..3 } else { 1..KERNEL_LOG + 2 };
    for log in logs {
        let coefficients = random(&fft, 1 << log);
        let mut large = coefficients.clone();
        large.resize(2 << log, Element::ZERO);
        fft.evaluate(log + 1, 0, &mut large);
        for (offset, part) in [0, 1 << log].into_iter().zip(large.chunks_exact(1 << log)) {
            let mut small = coefficients.clone();
            fft.evaluate(log, offset, &mut small);
            assert!(same(&fft, &small, part));
        }
    }
}

#[test]
fn backends_agree() {
    for width in [48, 54, 55, 60, 63] {
        let fft = AdditiveFft::new(Field::new(width));
        for backend in cpu::available() {
            for log in 0..5 {
                let input = random(&fft, 3 << log);
                let offset = 2 << log;
                let mut expected = input.clone();
                portable::evaluate(&fft, log, offset, &mut expected);
                let mut data = input.clone();
                evaluate_on(backend, &fft, log, offset, &mut data);
                assert!(
                    same(&fft, &data, &expected),
                    "{backend:?}, {width}, 2^{log}"
                );
                interpolate_on(backend, &fft, log, offset, &mut data);
                assert!(same(&fft, &data, &input), "{backend:?}, {width}, 2^{log}");
            }
        }
    }
}

#[test]
fn subspace_polynomials_are_linear_and_normalised() {
    let fft = AdditiveFft::new(Field::new(56));
    let field = &fft.field;
    // s_k at some other element, by its recursion.
    let mut monic = field.small(1 << MAX_LOG);
    let mut slope = field.one();
    for k in 0..=MAX_LOG {
        let values = &fft.values[k as usize];
        assert_eq!(values[k as usize], 1);
        assert!(values[..k as usize].iter().all(|value| *value == 0));
        let normalised = field.small(values[MAX_LOG as usize]);
        assert!(same(
            &fft,
            &[field.product(normalised, fft.pivot(k))],
            &[monic]
        ));
        assert!(same(
            &fft,
            &[field.product(fft.slope(k), fft.pivot(k))],
            &[slope]
        ));
        monic = field.product(monic, monic ^ fft.pivot(k));
        slope = field.product(slope, fft.pivot(k));
    }
}
