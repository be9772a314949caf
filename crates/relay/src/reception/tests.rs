//! Words in both languages, in any pieces.

use std::fs;

use proptest::{collection::vec, prelude::*};
use psijoin_transport::{
    rendezvous::{AccessKey, Side, StateDecoder, Token},
    websocket::{self, AnswerDecoder, Request},
};

use super::*;

fn hello(has_key: bool) -> Hello {
    Hello {
        side: Side::Client,
        token: Token::from_bytes([1; 32]),
        client: [2; 8],
        has_key,
    }
}

fn key() -> AccessKey {
    AccessKey::from_bytes([9; 32])
}

fn keys() -> Option<Arc<AccessKeys>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access");
    fs::write(&path, format!("ann {}\n", key().to_text())).unwrap();
    Some(Arc::new(AccessKeys::read(&path).unwrap()))
}

/// Says words in pieces of that length, and gives what was heard and answered.
fn say(
    reception: &mut Reception,
    words: &[u8],
    piece_bytes: usize,
) -> Result<(Heard, Vec<u8>), Refusal> {
    let (mut heard, mut answer) = (Heard::Part, Vec::new());
    for piece in words.chunks(piece_bytes) {
        match reception.take_in(&mut piece.to_vec(), &mut answer)? {
            Heard::Part => {}
            more => heard = more,
        }
    }
    Ok((heard, answer))
}

fn guest(by: Option<&str>) -> Heard {
    Heard::Guest {
        hello: hello(by.is_some()),
        by: by.map(str::to_owned),
    }
}

fn states(mut words: &[u8]) -> Vec<State> {
    let mut decoder = StateDecoder::new();
    let mut states = Vec::new();
    while let Some(state) = decoder.next_state(&mut words).unwrap() {
        states.push(state);
    }
    states
}

/// Returns the states within a server's frames.
fn unframe(frames: &[u8]) -> Vec<State> {
    let mut frames = frames.to_vec();
    let mut decoder = Decoder::new(Role::Server);
    let (mut input, mut words) = (&mut frames[..], Vec::new());
    while let Some(event) = decoder.next_event(&mut input).unwrap() {
        if let Event::Data(bytes) = event {
            words.extend_from_slice(bytes);
        }
    }
    states(&words)
}

fn frame(words: &[u8]) -> Vec<u8> {
    let mut frames = Vec::new();
    Encoder::client().unwrap().data(words, &mut frames);
    frames
}

#[test]
fn a_bare_party_is_a_guest_in_any_pieces() {
    for piece_bytes in [1, 7, 51] {
        let mut reception = Reception::new(None);
        let heard = say(&mut reception, &hello(false).encode(), piece_bytes);
        assert_eq!(heard, Ok((guest(None), Vec::new())));
        assert_eq!(reception.room(), 1);
        let mut said = Vec::new();
        reception.say(&State::Go, &mut said);
        assert_eq!(states(&said), [State::Go]);
        assert!(reception.into_framing().is_none());
    }
}

#[test]
fn a_party_of_websocket_is_a_guest_in_any_pieces() {
    let request = Request::new("relay.example.org", "/").unwrap();
    let words = [request.encode(), frame(&hello(false).encode())].concat();
    for piece_bytes in [1, 7, 4096] {
        let mut reception = Reception::new(None);
        let (heard, answer) = say(&mut reception, &words, piece_bytes).unwrap();
        assert_eq!(heard, guest(None));
        let mut input = &answer[..];
        assert_eq!(AnswerDecoder::new(&request).take(&mut input), Ok(true));
        assert!(input.is_empty());
        let mut said = Vec::new();
        reception.say(&State::Go, &mut said);
        assert_eq!(unframe(&said), [State::Go]);
        assert!(reception.into_framing().is_some());
    }
}

#[test]
fn a_relay_with_keys_challenges() {
    for piece_bytes in [1, 51] {
        let mut reception = Reception::new(keys());
        let (heard, answer) = say(&mut reception, &hello(true).encode(), piece_bytes).unwrap();
        assert_eq!(heard, Heard::Part);
        let [State::Challenge(nonce)] = states(&answer)[..] else {
            panic!("a challenge was due");
        };
        let access = key().answer(&nonce, &hello(true)).encode();
        let heard = say(&mut reception, &access, piece_bytes);
        assert_eq!(heard, Ok((guest(Some("ann")), Vec::new())));
    }
}

#[test]
fn who_has_no_key_is_told_so() {
    let mut reception = Reception::new(keys());
    let refused = say(&mut reception, &hello(false).encode(), 51);
    assert_eq!(refused, Err(Refusal::NoKey));
    let mut said = Vec::new();
    reception.refuse(&Refusal::NoKey, &mut said);
    let [State::Forbidden(text)] = &states(&said)[..] else {
        panic!("a refusal was due");
    };
    assert!(text.as_str().contains("access key"));

    let mut reception = Reception::new(keys());
    let (_, answer) = say(&mut reception, &hello(true).encode(), 51).unwrap();
    assert!(matches!(states(&answer)[..], [State::Challenge(_)]));
    // That of another challenge.
    let access = key().answer(&[0; 16], &hello(true)).encode();
    let refused = say(&mut reception, &access, 51);
    assert_eq!(refused, Err(Refusal::WrongKey));
}

#[test]
fn nothing_may_be_said_while_it_waits() {
    let words = [&hello(false).encode()[..], &[0x16]].concat();
    let refused = say(&mut Reception::new(None), &words, 1);
    assert_eq!(refused, Err(Refusal::TooEarly));

    let request = Request::new("relay.example.org", "/").unwrap();
    for piece_bytes in [1, 4096] {
        let words = [request.encode(), frame(&words)].concat();
        let refused = say(&mut Reception::new(None), &words, piece_bytes);
        assert_eq!(refused, Err(Refusal::TooEarly));
    }
}

#[test]
fn pings_are_answered_and_a_close_is_a_farewell() {
    let request = Request::new("relay.example.org", "/").unwrap();
    let mut reception = Reception::new(None);
    say(&mut reception, &request.encode(), 4096).unwrap();
    let mut client = Encoder::client().unwrap();
    let mut words = Vec::new();
    client.ping(&websocket::Control::new(b"x").unwrap(), &mut words);
    client.data(&hello(false).encode(), &mut words);
    let (heard, answer) = say(&mut reception, &words, 4096).unwrap();
    assert_eq!(heard, guest(None));
    assert_eq!(answer, b"\x8a\x01x");
    words.clear();
    client.close(1001, &mut words);
    let (heard, _) = say(&mut reception, &words, 4096).unwrap();
    assert_eq!(heard, Heard::Leaves);
}

#[test]
fn others_are_answered_in_their_language_or_not_at_all() {
    for (words, begins) in [
        (
            &b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"[..],
            &b"HTTP/1.1 426 "[..],
        ),
        (b"POST / HTTP/2\r\n\r\n", b"HTTP/1.1 400 "),
        (b"psirelay\x02", b"\x07"),
        (&[0x16, 3, 1, 2], b""),
        (b"\x00", b""),
        (b"psijoin\x03", b""),
    ] {
        let mut reception = Reception::new(None);
        let refusal = say(&mut reception, words, 4096).unwrap_err();
        let mut said = Vec::new();
        reception.refuse(&refusal, &mut said);
        assert!(said.starts_with(begins), "{refusal}");
        assert_eq!(said.is_empty(), begins.is_empty(), "{refusal}");
    }
}

proptest! {
    #[test]
    fn anything_can_be_said(
        begins_as in 0..4,
        pieces in vec(vec(any::<u8>(), 1..100), 0..6),
    ) {
        let mut reception = Reception::new(None);
        let request = Request::new("a", "/").unwrap().encode();
        let first = match begins_as {
            0 => hello(false).encode().to_vec(),
            1 => request,
            2 => [request, frame(&hello(false).encode())].concat(),
            _ => Vec::new(),
        };
        for mut piece in [first].into_iter().chain(pieces) {
            let mut answer = Vec::new();
            if let Err(refusal) = reception.take_in(&mut piece, &mut answer) {
                reception.refuse(&refusal, &mut answer);
                break;
            }
        }
    }
}
