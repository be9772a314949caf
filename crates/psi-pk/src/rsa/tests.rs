use std::sync::LazyLock;

use crypto_bigint::U3072;
use psijoin_block::{Block, Prg};
use psijoin_psi::ErrorKind;

use super::{
    NUMBER_BYTES,
    key::PrivateKey,
    public::{PublicKey, encode},
};

/// A key for tests that need any.
static KEY: LazyLock<PrivateKey> =
    LazyLock::new(|| PrivateKey::generate(&mut Prg::from_seed(Block(7))));

fn valid_key() -> Vec<u8> {
    let roots = KEY.sign(&KEY.public.challenges()).unwrap();
    KEY.public.encode(&roots)
}

fn refused(bytes: &[u8]) -> bool {
    match PublicKey::decode(bytes) {
        Ok(_) => false,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Peer);
            true
        }
    }
}

#[test]
fn signatures_are_eth_roots() {
    let numbers: Vec<U3072> = (2..13).map(U3072::from_u64).collect();
    let signatures = KEY.sign(&numbers).unwrap();
    assert_eq!(KEY.public.raise(&signatures), numbers);
    // Also of multiples of a factor of N.
    assert!(KEY.sign(&[U3072::ZERO]).unwrap()[0] == U3072::ZERO);
}

/// A wrong half would give the receiver a factor of N.
#[test]
fn a_faulty_signature_is_not_sent() {
    let key = PrivateKey::generate(&mut Prg::from_seed(Block(7))).insecure_with_fault();
    let error = key.sign(&[U3072::from_u64(5)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Fault);
}

#[test]
fn keys_have_the_stated_length_and_differ() {
    let other = PrivateKey::generate(&mut Prg::from_seed(Block(8)));
    for key in [&*KEY, &other] {
        assert_eq!(key.public.modulus.get().bits(), 3072);
    }
    assert!(KEY.public.modulus.get() != other.public.modulus.get());
}

#[test]
fn a_proven_key_is_taken() {
    let key = PublicKey::decode(&valid_key()).unwrap();
    assert!(key.modulus.get() == KEY.public.modulus.get());
}

#[test]
fn a_modulus_of_another_form_is_refused() {
    let valid = valid_key();
    let with = |modulus: &U3072| {
        let mut bytes = Vec::new();
        encode([modulus], &mut bytes);
        bytes.extend_from_slice(&valid[NUMBER_BYTES..]);
        bytes
    };
    let n = *KEY.public.modulus.get();
    assert!(!refused(&with(&n)));
    let even = n.wrapping_sub(&U3072::ONE);
    let short = n.shr_vartime(1) | U3072::ONE;
    for modulus in [U3072::ZERO, U3072::ONE, even, short, U3072::MAX] {
        assert!(refused(&with(&modulus)));
    }
}

#[test]
fn every_root_is_checked() {
    let valid = valid_key();
    for number in 1..valid.len() / NUMBER_BYTES {
        let mut wrong = valid.clone();
        wrong[number * NUMBER_BYTES] ^= 1;
        assert!(refused(&wrong), "root {number}");
        wrong[number * NUMBER_BYTES..][..NUMBER_BYTES].fill(0xff);
        assert!(refused(&wrong), "root {number} beyond the modulus");
    }
}

#[test]
fn trivial_numbers_are_refused() {
    let n = *KEY.public.modulus.get();
    let minus_one = n.wrapping_sub(&U3072::ONE);
    let decode = |number: &U3072| {
        let mut bytes = Vec::new();
        encode([number], &mut bytes);
        KEY.public.decode_numbers(&bytes)
    };
    for number in [U3072::ZERO, U3072::ONE, minus_one, n, U3072::MAX] {
        assert_eq!(decode(&number).unwrap_err().kind(), ErrorKind::Peer);
    }
    let two = U3072::from_u64(2);
    assert_eq!(decode(&two).unwrap(), [two]);
}
