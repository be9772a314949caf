//! The bytes that a stranger sends to be recognised: any bytes, and well-sealed knocks of any
//! content.
#![no_main]

use libfuzzer_sys::fuzz_target;
use psijoin_transport::{
    Fingerprint, Signature,
    knock::{Knock, NONCE_BYTES},
};

fuzz_target!(|input: (Vec<u8>, u64, [u8; 32], [[u8; 32]; 2])| {
    let (said, time, key, halves) = input;
    let listener = Fingerprint::of_public_key(b"who listens");
    assert_eq!(Knock::open(&said, listener, listener), None);

    let signature = halves.concat().try_into().expect("two halves are as long");
    let knock = Knock {
        nonce: [7; NONCE_BYTES],
        time,
        key,
        signature: Signature::from_bytes(signature),
    };
    let sealed = knock.seal(listener);
    let opened = Knock::open(&sealed, knock.dialler(), listener);
    assert_eq!(opened.as_ref(), Some(&knock));
    let _ = knock.is_genuine(listener);
    assert_eq!(Knock::open(&said, knock.dialler(), listener), None);
});
