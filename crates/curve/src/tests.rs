//! Every backend against `curve25519-dalek`.
use super::*;
use curve25519_dalek::ristretto::RistrettoPoint;

fn bytes<const N: usize>(seed: u64, count: usize) -> Vec<[u8; N]> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            std::array::from_fn(|_| {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                (state >> 56) as u8
            })
        })
        .collect()
}

#[test]
fn smoke() {
    let scalar = Scalar::from_uniform_bytes(&bytes::<64>(7, 1)[0]);
    for n in [0, 1, 7, 8, 9, 100, 300] {
        let uniform = bytes::<64>(n as u64, n);
        let expected: Vec<_> = uniform
            .iter()
            .map(|u| {
                (RistrettoPoint::from_uniform_bytes(u) * scalar.value())
                    .compress()
                    .to_bytes()
            })
            .collect();
        let expected2: Vec<_> = uniform
            .iter()
            .map(|u| {
                (RistrettoPoint::from_uniform_bytes(u) * scalar.value() * scalar.value())
                    .compress()
                    .to_bytes()
            })
            .collect();
        for backend in Backend::available() {
            let mut out = vec![[0; 32]; n];
            backend.hash_mul_encode(&uniform, &scalar, &mut out);
            assert!(out == expected, "{} {n}", backend.name());
            let mut out2 = vec![[0; 32]; n];
            backend.decode_mul_encode(&out, &scalar, &mut out2).unwrap();
            assert!(out2 == expected2, "{} {n}", backend.name());
        }
    }
}
