use proptest::prelude::*;
use psijoin_block::{
    Block, Prg,
    additive_fft::AdditiveFft,
    gf2k::{Element, Field},
};
use psijoin_runtime::parallel;

use super::*;
use crate::Error;

fn fft(width: u32) -> AdditiveFft {
    AdditiveFft::new(Field::new(width))
}

fn random(fft: &AdditiveFft, seed: u64, len: usize) -> Vec<Element> {
    let mut prg = Prg::from_seed(Block(seed.into()));
    (0..len)
        .map(|_| {
            fft.field()
                .from_words([(); 2].map(|()| u64::from_le_bytes(prg.bytes())))
        })
        .collect()
}

fn words(fft: &AdditiveFft, elements: &[Element]) -> Vec<[u64; 2]> {
    elements
        .iter()
        .map(|element| fft.field().to_words(*element))
        .collect()
}

/// Returns the value by the definition of the basis.
fn value(fft: &AdditiveFft, coefficients: &[Element], at: Element) -> Element {
    let field = fft.field();
    let mut sum = Element::ZERO;
    for (i, coefficient) in coefficients.iter().enumerate() {
        let mut term = *coefficient;
        let mut monic = at;
        for k in 0..usize::BITS - i.leading_zeros() {
            if i >> k & 1 == 1 {
                term = field.product(term, field.product(monic, field.invert(fft.pivot(k))));
            }
            monic = field.product(monic, monic ^ fft.pivot(k));
        }
        sum ^= term;
    }
    sum
}

fn interpolate(
    fft: &AdditiveFft,
    points: &[Element],
    slices: &[Vec<Element>],
) -> Result<Vec<Vec<Element>>, Error> {
    let mut slices = slices.to_vec();
    let interpolator = Interpolator::start(fft, points, &mut slices)?;
    Ok(slices
        .into_iter()
        .map(|slice| interpolator.finish(slice))
        .collect())
}

fn evaluate(
    fft: &AdditiveFft,
    points: &[Element],
    polynomials: &[Vec<Element>],
) -> Result<Vec<Vec<Element>>, Error> {
    let evaluator = Evaluator::new(fft, points, polynomials[0].len())?;
    evaluator.finish(polynomials.iter().map(|it| evaluator.start(it)).collect())
}

#[test]
fn values_are_those_of_the_definition() {
    for (width, points, coefficients) in [
        (55, 1, 1),
        (54, 1, 7),
        (60, 7, 1),
        (48, 9, 30),
        (63, 41, 41),
        (56, 100, 41),
        (53, 33, 300),
    ] {
        let fft = fft(width);
        let at = random(&fft, 1, points);
        let polynomials = [2, 3].map(|seed| random(&fft, seed, coefficients));
        let values = evaluate(&fft, &at, &polynomials).unwrap();
        for (polynomial, values) in polynomials.iter().zip(&values) {
            let expected: Vec<Element> = at.iter().map(|at| value(&fft, polynomial, *at)).collect();
            assert_eq!(
                words(&fft, values),
                words(&fft, &expected),
                "{points}, {coefficients}"
            );
        }
    }
}

#[test]
fn polynomials_have_the_values_that_they_were_given() {
    // Around powers of two, and above one block.
    for count in [1, 2, 3, 4, 5, 31, 32, 33, 2047, 2048, 2049, 4096, 5000] {
        let fft = fft(55);
        let points = random(&fft, 1, count);
        let slices = [2, 3, 4].map(|seed| random(&fft, seed, count));
        let polynomials = interpolate(&fft, &points, &slices).unwrap();
        assert!(
            polynomials
                .iter()
                .all(|polynomial| polynomial.len() == count)
        );
        let values = evaluate(&fft, &points, &polynomials).unwrap();
        for (slice, values) in slices.iter().zip(&values) {
            assert_eq!(words(&fft, slice), words(&fft, values), "{count} points");
        }
    }
}

#[test]
fn more_points_than_blocks_and_more_coefficients_than_points() {
    let fft = fft(54);
    for (points, coefficients) in [(9000, 4096), (9000, 100), (2100, 9000), (10, 5000)] {
        let at = random(&fft, 1, points);
        let polynomial = random(&fft, 2, coefficients);
        let values = evaluate(&fft, &at, std::slice::from_ref(&polynomial)).unwrap();
        for place in [0, 1, points / 2, points - 1] {
            let expected = value(&fft, &polynomial, at[place]);
            assert_eq!(
                words(&fft, &values[0][place..=place]),
                words(&fft, &[expected])
            );
        }
    }
}

#[test]
fn threads_change_nothing() {
    let fft = fft(55);
    let points = random(&fft, 1, 20_000);
    let slices = [random(&fft, 2, 20_000)];
    let on = |threads| {
        let pool = parallel::Pool::new(threads).unwrap();
        let polynomials = pool.run(|| interpolate(&fft, &points, &slices));
        words(&fft, &polynomials.unwrap()[0])
    };
    assert_eq!(on(1), on(3));
}

/// Consecutive numbers as points: nothing about them is random.
#[test]
fn structured_points_are_points_like_others() {
    let fft = fft(55);
    let points: Vec<Element> = (0..3000)
        .map(|i| fft.field().from_words([i, 1 << 20]))
        .collect();
    let slices = [random(&fft, 2, points.len())];
    let polynomials = interpolate(&fft, &points, &slices).unwrap();
    let values = evaluate(&fft, &points, &polynomials).unwrap();
    assert_eq!(words(&fft, &values[0]), words(&fft, &slices[0]));
}

#[test]
fn equal_points_and_points_of_the_subspace_are_errors() {
    let fft = fft(55);
    for count in [2, 100, 3000] {
        let slices = [random(&fft, 2, count)];
        let mut points = random(&fft, 1, count);
        points[count - 1] = points[0];
        let error = interpolate(&fft, &points, &slices).err().unwrap();
        assert_eq!(error, Error::UnfitPoints, "{count}");

        for place in [0, count / 2, count - 1] {
            let mut points = random(&fft, 1, count);
            // On the coset of the uppermost division.
            points[place] = fft.field().small((count.next_power_of_two() / 2) as u64);
            assert!(interpolate(&fft, &points, &slices).is_err(), "{count}");
            assert!(evaluate(&fft, &points, &slices).is_err(), "{count}");
        }
    }
}

/// Returns Σ cᵢ·at^i.
fn value_of_powers(fft: &AdditiveFft, coefficients: &[Element], at: Element) -> Element {
    let horner = |value, coefficient: &Element| fft.field().product(value, at) ^ *coefficient;
    coefficients.iter().rev().fold(Element::ZERO, horner)
}

#[test]
fn quadratic_evaluation_follows_the_definition() {
    let fft = fft(55);
    let mut quadratic = Quadratic::new(*fft.field());
    for (points, coefficients, slices) in
        [(1, 1, 1), (80, 41, 4), (32, 5, 5), (33, 1, 2), (0, 3, 1)]
    {
        let at = random(&fft, 1, points);
        let polynomials = random(&fft, 2, slices * coefficients);
        let mut values = random(&fft, 3, slices * points);
        quadratic.evaluate(&at, coefficients, &polynomials, &mut values);
        let polynomials = polynomials.chunks_exact(coefficients);
        let expected: Vec<Element> = polynomials
            .flat_map(|it| {
                at.iter()
                    .map(|at| value_of_powers(&fft, it, *at))
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(words(&fft, &values), words(&fft, &expected));
    }
}

#[test]
fn quadratic_interpolation_has_the_values_that_it_was_given() {
    for width in [54, 55] {
        let fft = fft(width);
        let mut quadratic = Quadratic::new(*fft.field());
        for (count, sets) in [
            (1, 1),
            (1, 4),
            (2, 1),
            (3, 7),
            (12, 5),
            (32, 1),
            (41, 2),
            (100, 1),
        ] {
            let points = random(&fft, 1, sets * count);
            let given = random(&fft, 2, 4 * points.len());
            let mut polynomials = given.clone();
            (quadratic.interpolate(count, &points, &mut polynomials)).unwrap();
            let mut values = given.clone();
            for ((points, polynomials), values) in (points.chunks_exact(count))
                .zip(polynomials.chunks_exact(4 * count))
                .zip(values.chunks_exact_mut(4 * count))
            {
                quadratic.evaluate(points, count, polynomials, values);
            }
            assert_eq!(words(&fft, &values), words(&fft, &given), "{count}, {sets}");
        }
    }
}

#[test]
fn quadratic_interpolation_refuses_equal_points() {
    let fft = fft(55);
    let mut points = random(&fft, 1, 3 * 41);
    let mut values = random(&fft, 2, 3 * 41);
    let mut quadratic = Quadratic::new(*fft.field());
    points[41 + 40] = points[41 + 3];
    let error = quadratic.interpolate(41, &points, &mut values);
    assert_eq!(error, Err(Error::UnfitPoints));
    // In different sets they may be equal.
    points[41 + 40] = points[3];
    assert_eq!(quadratic.interpolate(41, &points, &mut values), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn evaluation_inverts_interpolation(count in 1_usize..400, seed: u64, width in 48_u32..=60) {
        let fft = fft(width);
        let points = random(&fft, seed, count);
        let slices = [random(&fft, seed ^ 1, count)];
        let polynomials = interpolate(&fft, &points, &slices).unwrap();
        let values = evaluate(&fft, &points, &polynomials).unwrap();
        prop_assert_eq!(words(&fft, &values[0]), words(&fft, &slices[0]));
    }

    #[test]
    fn any_sizes_evaluate(points in 1_usize..60, coefficients in 1_usize..200, seed: u64) {
        let fft = fft(57);
        let at = random(&fft, seed, points);
        let polynomial = random(&fft, seed ^ 1, coefficients);
        let values = evaluate(&fft, &at, std::slice::from_ref(&polynomial)).unwrap();
        let expected: Vec<Element> = at.iter().map(|at| value(&fft, &polynomial, *at)).collect();
        prop_assert_eq!(words(&fft, &values[0]), words(&fft, &expected));
    }
}
