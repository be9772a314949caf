//! Every backend against the vectors of RFC 9496 and against `curve25519-dalek`.

use std::fmt::Debug;

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use proptest::{collection::vec, prelude::*};

use super::*;

mod rfc9496;

#[track_caller]
fn assert_on_all<T: PartialEq + Debug>(found: impl Fn(Backend) -> T, expected: T) {
    for backend in Backend::available() {
        assert_eq!(found(backend), expected, "{}", backend.name());
    }
}

/// Returns a small scalar.
fn small(x: u8) -> Scalar {
    let mut bytes = [0; 64];
    bytes[0] = x;
    Scalar::from_uniform_bytes(&bytes)
}

/// Returns −1 modulo ℓ.
fn minus_one() -> Scalar {
    let mut bytes = [0; 64];
    bytes[..32].copy_from_slice((-curve25519_dalek::Scalar::ONE).as_bytes());
    Scalar::from_uniform_bytes(&bytes)
}

fn hashed_by_dalek(uniform: &[[u8; 64]], scalar: &Scalar) -> Vec<[u8; 32]> {
    let product = |uniform| RistrettoPoint::from_uniform_bytes(uniform) * scalar.value();
    uniform
        .iter()
        .map(|uniform| product(uniform).compress().to_bytes())
        .collect()
}

fn multiplied_by_dalek(encoded: &[[u8; 32]], scalar: &Scalar) -> Vec<[u8; 32]> {
    let product =
        |encoded: &[u8; 32]| CompressedRistretto(*encoded).decompress().unwrap() * scalar.value();
    encoded
        .iter()
        .map(|encoded| product(encoded).compress().to_bytes())
        .collect()
}

fn hashed(backend: Backend, uniform: &[[u8; 64]], scalar: &Scalar) -> Vec<[u8; 32]> {
    let mut out = vec![[0xaa; 32]; uniform.len()];
    backend.hash_mul_encode(uniform, scalar, &mut out);
    out
}

fn multiplied(
    backend: Backend,
    encoded: &[[u8; 32]],
    scalar: &Scalar,
) -> Result<Vec<[u8; 32]>, Error> {
    let mut out = vec![[0xaa; 32]; encoded.len()];
    backend
        .decode_mul_encode(encoded, scalar, &mut out)
        .map(|()| out)
}

#[test]
fn multiples_of_the_generator() {
    let multiples = rfc9496::GENERATOR_MULTIPLES.map(rfc9496::bytes::<32>);
    for k in 1..16 {
        let generators = [multiples[1]; 10];
        let products = Ok(vec![multiples[usize::from(k)]; 10]);
        assert_on_all(
            |backend| multiplied(backend, &generators, &small(k)),
            products,
        );
    }
    // From the other side: doubles of all at once.
    let doubles = Ok((1..8).map(|k| multiples[2 * k]).collect());
    assert_on_all(
        |backend| multiplied(backend, &multiples[1..8], &small(2)),
        doubles,
    );
}

#[test]
fn products_with_zero_encode_the_identity() {
    let uniform: [[u8; 64]; 10] = std::array::from_fn(|k| [k as u8; 64]);
    let identities = vec![[0; 32]; 10];
    assert_on_all(|backend| hashed(backend, &uniform, &small(0)), identities);
}

#[test]
fn one_way_map() {
    let (uniform, elements): (Vec<_>, Vec<_>) = rfc9496::ONE_WAY_MAP
        .iter()
        .map(|(uniform, element)| (rfc9496::bytes(uniform), rfc9496::bytes::<32>(element)))
        .unzip();
    assert_on_all(|backend| hashed(backend, &uniform, &small(1)), elements);
}

fn mapped(backend: Backend, bytes: &[[u8; 32]], scalar: &Scalar) -> Vec<[u8; 32]> {
    let mut out = vec![[0xaa; 32]; bytes.len()];
    backend.map_mul_encode(bytes, scalar, &mut out);
    out
}

/// The one-way map is the sum of MAP of both halves.
#[test]
fn maps_add_up_to_the_one_way_map() {
    for count in [1, 7, 8, 9, 17, 130] {
        let (uniform, scalar) = case(count as u64 + 2, count);
        let half = |first: usize| -> Vec<[u8; 32]> {
            let half = |uniform: &[u8; 64]| std::array::from_fn(|k| uniform[first + k]);
            uniform.iter().map(half).collect()
        };
        let halves = [half(0), half(32)];
        let expected = hashed_by_dalek(&uniform, &scalar);
        for backend in Backend::available() {
            let maps = [0, 1].map(|i| mapped(backend, &halves[i], &scalar));
            let decode = |encoded: &[u8; 32]| CompressedRistretto(*encoded).decompress().unwrap();
            let sums = maps[0]
                .iter()
                .zip(&maps[1])
                .map(|(a, b)| decode(a) + decode(b));
            let sums: Vec<_> = sums.map(|sum| sum.compress().to_bytes()).collect();
            assert_eq!(sums, expected, "{}: {count}", backend.name());
        }
    }
}

/// t = 0, ±1, p and above, as for the one-way map.
#[test]
fn every_backend_maps_extreme_bytes_alike() {
    let first = |x| std::array::from_fn(|k| if k == 0 { x } else { 0 });
    let mut bytes = vec![[0; 32], [0xff; 32], first(1), first(2), first(0x80)];
    bytes.push(rfc9496::bytes(rfc9496::INVALID_ENCODINGS[3]));
    let expected = mapped(Backend(crate::batch::Kind::Portable), &bytes, &small(7));
    assert_on_all(|backend| mapped(backend, &bytes, &small(7)), expected);
}

#[test]
fn one_way_map_of_extreme_bytes() {
    // t = 0, ±1 and p, in each half: special cases of Elligator.
    let halves: Vec<[u8; 32]> = [
        [0; 32],
        [0xff; 32],
        rfc9496::bytes(rfc9496::INVALID_ENCODINGS[3]),
    ]
    .into_iter()
    .chain([1, 2, 0x80].map(|x| std::array::from_fn(|k| if k == 0 { x } else { 0 })))
    .collect();
    let mut uniform = Vec::new();
    for first in &halves {
        for second in &halves {
            uniform.push(std::array::from_fn(|k| {
                if k < 32 { first[k] } else { second[k - 32] }
            }));
        }
    }
    let expected = hashed_by_dalek(&uniform, &small(7));
    assert_on_all(|backend| hashed(backend, &uniform, &small(7)), expected);
}

#[test]
fn invalid_encodings_are_refused_wherever_they_stand() {
    let generator = rfc9496::bytes::<32>(rfc9496::GENERATOR_MULTIPLES[1]);
    for (index, invalid) in rfc9496::INVALID_ENCODINGS.into_iter().enumerate() {
        let mut encoded = [generator; 30];
        encoded[index] = rfc9496::bytes(invalid);
        let refused = Err(Error::NotAnElement { index });
        assert_on_all(|backend| multiplied(backend, &encoded, &small(3)), refused);
    }
}

#[test]
fn an_invalid_encoding_deep_in_a_batch_is_refused() {
    let mut encoded = [rfc9496::bytes::<32>(rfc9496::GENERATOR_MULTIPLES[1]); 300];
    encoded[293] = rfc9496::bytes(rfc9496::INVALID_ENCODINGS[12]);
    let refused = Err(Error::NotAnElement { index: 293 });
    assert_on_all(|backend| multiplied(backend, &encoded, &small(3)), refused);
}

#[test]
fn the_identity_is_refused() {
    let mut encoded = [rfc9496::bytes::<32>(rfc9496::GENERATOR_MULTIPLES[1]); 9];
    encoded[8] = [0; 32];
    let refused = Err(Error::Identity { index: 8 });
    assert_on_all(|backend| multiplied(backend, &encoded, &small(3)), refused);
}

#[test]
#[should_panic(expected = "one output for each input")]
fn slices_of_different_lengths_are_a_mistake() {
    hash_mul_encode(&[[0; 64]; 2], &small(1), &mut [[0; 32]; 3]);
}

#[test]
fn a_scalar_does_not_show() {
    assert_eq!(format!("{:?}", small(42)), "Scalar(secret)");
}

fn by_dalek(uniform: &[u8; 64]) -> RistrettoPoint {
    RistrettoPoint::from_uniform_bytes(uniform)
}

#[test]
fn sums_with_hashes_are_right() {
    // Around a vector, a pair of vectors, and a batch.
    for count in [0, 1, 7, 8, 9, 17, 64, 65, 129, 137] {
        let (uniform, scalar) = case(count as u64, 2 * count);
        let (first, second) = uniform.split_at(count);
        let encoded = hashed_by_dalek(first, &small(1));
        let expected: Vec<[u8; 32]> = first
            .iter()
            .zip(second)
            .map(|(a, b)| (by_dalek(a) + by_dalek(b) + by_dalek(b)) * scalar.value())
            .map(|sum| sum.compress().to_bytes())
            .collect();
        for backend in Backend::available() {
            let mut out = vec![[0xaa; 32]; count];
            backend
                .decode_add_hash_mul_encode(&encoded, second, &scalar, &mut out)
                .unwrap();
            assert_eq!(out, expected, "{}: {count}", backend.name());
        }
    }
}

#[test]
fn products_of_a_fixed_base_are_right() {
    for count in [0, 1, 7, 8, 9, 17, 64, 65, 129, 137] {
        let (uniform, first) = case(count as u64 + 1, count + 1);
        let base = by_dalek(&uniform[count]);
        // The last are special, as far as there are that many.
        let special = [small(0), small(1), minus_one(), first];
        let scalars: Vec<Scalar> = (0..count)
            .map(|k| match special.get(count - 1 - k) {
                Some(scalar) => scalar.clone(),
                None => Scalar::from_uniform_bytes(&uniform[k]),
            })
            .collect();
        let products: Vec<RistrettoPoint> =
            scalars.iter().map(|scalar| base * scalar.value()).collect();
        let encoded = |points: &[RistrettoPoint]| -> Vec<[u8; 32]> {
            points
                .iter()
                .map(|point| point.compress().to_bytes())
                .collect()
        };
        let differences: Vec<RistrettoPoint> = products
            .iter()
            .zip(&uniform)
            .map(|(product, uniform)| product - by_dalek(uniform) - by_dalek(uniform))
            .collect();
        for backend in Backend::available() {
            let base = backend.fixed_base(base.compress().as_bytes()).unwrap();
            let mut out = vec![[0xaa; 32]; count];
            base.mul_encode(&scalars, &mut out);
            assert_eq!(out, encoded(&products), "{}: {count}", backend.name());
            base.mul_sub_hash_encode(&scalars, &uniform[..count], &mut out);
            assert_eq!(out, encoded(&differences), "{}: {count}", backend.name());
        }
    }
}

#[test]
fn differences_that_are_zero_encode_the_identity() {
    let uniform = [[9; 64]; 10];
    let base = by_dalek(&uniform[0]).compress();
    let twos = vec![small(2); 10];
    for backend in Backend::available() {
        let mut out = [[0xaa; 32]; 10];
        let base = backend.fixed_base(base.as_bytes()).unwrap();
        base.mul_sub_hash_encode(&twos, &uniform, &mut out);
        assert_eq!(out, [[0; 32]; 10], "{}", backend.name());
    }
}

#[test]
fn the_generator_is_that_of_the_standard() {
    let mut out = [[0; 32]; 15];
    let scalars: Vec<Scalar> = (1..16).map(small).collect();
    FixedBase::generator().mul_encode(&scalars, &mut out);
    let multiples = rfc9496::GENERATOR_MULTIPLES.map(rfc9496::bytes::<32>);
    assert_eq!(out, multiples[1..16]);
}

#[test]
fn a_base_must_be_an_element_other_than_the_identity() {
    for backend in Backend::available() {
        for invalid in rfc9496::INVALID_ENCODINGS {
            let refused = backend.fixed_base(&rfc9496::bytes(invalid)).err();
            assert_eq!(refused, Some(Error::NotAnElement { index: 0 }));
        }
        let refused = backend.fixed_base(&[0; 32]).err();
        assert_eq!(refused, Some(Error::Identity { index: 0 }));
    }
}

/// Returns uniform bytes and a scalar, from a generator with a seed.
fn case(seed: u64, count: usize) -> (Vec<[u8; 64]>, Scalar) {
    use proptest::test_runner::{RngAlgorithm, TestRng};
    let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed as u8; 32]);
    let mut draw = || {
        let mut bytes = [0; 64];
        rng.fill_bytes(&mut bytes);
        bytes
    };
    let scalar = Scalar::from_uniform_bytes(&draw());
    ((0..count).map(|_| draw()).collect(), scalar)
}

#[test]
fn every_length_of_a_batch_is_right() {
    // Around a vector, a pair of vectors, and a batch of 16 vectors of 4 or 8 lanes.
    for count in [
        0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 100, 128, 129, 137, 273,
    ] {
        let (uniform, scalar) = case(count as u64, count);
        let first = hashed_by_dalek(&uniform, &scalar);
        let second = multiplied_by_dalek(&first, &scalar);
        assert_on_all(|backend| multiplied(backend, &first, &scalar), Ok(second));
        assert_on_all(|backend| hashed(backend, &uniform, &scalar), first);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn products_are_right(
        uniform in vec(any::<[u8; 32]>(), 1..20),
        more in any::<[u8; 32]>(),
        scalar in prop_oneof![
            any::<[u8; 32]>().prop_map(|bytes| {
                let mut wide = [0; 64];
                wide[..32].copy_from_slice(&bytes);
                Scalar::from_uniform_bytes(&wide)
            }),
            (0..20u8).prop_map(small),
            Just(minus_one()),
        ],
    ) {
        let uniform: Vec<[u8; 64]> = uniform
            .iter()
            .map(|half| std::array::from_fn(|k| if k < 32 { half[k] } else { more[k - 32] }))
            .collect();
        let elements = hashed_by_dalek(&uniform, &small(1));
        let expected = multiplied_by_dalek(&elements, &scalar);
        for backend in Backend::available() {
            prop_assert_eq!(&hashed(backend, &uniform, &scalar), &expected);
            prop_assert_eq!(&multiplied(backend, &elements, &scalar).unwrap(), &expected);
        }
    }

    #[test]
    fn random_bytes_are_refused_exactly_when_dalek_refuses_them(bytes: [u8; 32]) {
        // Even and below 2^255, else hardly any gets past the first check.
        let mut bytes = bytes;
        bytes[0] &= 0xfe;
        bytes[31] &= 0x7f;
        let is_valid = CompressedRistretto(bytes).decompress().is_some();
        for backend in Backend::available() {
            prop_assert_eq!(multiplied(backend, &[bytes], &small(5)).is_ok(), is_valid);
        }
    }
}
