//! The words of a party and a relay, in pieces as sockets give them: any bytes, and well-formed
//! ones.
#![no_main]

use libfuzzer_sys::fuzz_target;
use psijoin_transport::rendezvous::{
    AccessDecoder, AccessKey, Hello, HelloDecoder, Side, State, StateDecoder, Text, Token,
};

fuzz_target!(|input: (Vec<Vec<u8>>, [u8; 32], [u8; 8], bool, String)| {
    let (pieces, token, client, is_client, text) = input;
    let mut decoders = (
        HelloDecoder::new(),
        StateDecoder::new(),
        AccessDecoder::new(),
    );
    let (mut is_hello, mut is_state) = (true, true);
    for piece in &pieces {
        is_hello = is_hello && matches!(decoders.0.take(&mut &piece[..]), Ok(None));
        let mut input = &piece[..];
        while is_state {
            assert!(decoders.1.due() > 0);
            match decoders.1.next_state(&mut input) {
                Ok(Some(state)) => is_state = state != State::Go,
                Ok(None) => break,
                Err(_) => is_state = false,
            }
        }
        let _ = decoders.2.take(&mut &piece[..]);
    }

    let hello = Hello {
        side: if is_client {
            Side::Client
        } else {
            Side::Server
        },
        token: Token::from_bytes(token),
        client,
        has_key: is_client,
    };
    let decoded = HelloDecoder::new().take(&mut &hello.encode()[..]);
    assert_eq!(decoded, Ok(Some(hello.clone())));

    let state = State::Refused(Text::new(&text));
    let mut bytes = Vec::new();
    state.encode(&mut bytes);
    let decoded = StateDecoder::new().next_state(&mut &bytes[..]);
    assert_eq!(decoded, Ok(Some(state)));

    let key = AccessKey::from_bytes(token);
    let access = key.answer(&[7; 16], &hello);
    let decoded = AccessDecoder::new().take(&mut &access.encode()[..]);
    assert_eq!(decoded.as_ref(), Some(&access));
    assert!(key.verify(&access, &[7; 16], &hello));
});
