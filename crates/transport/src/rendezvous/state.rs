//! The states that a relay tells a party.

use std::fmt;

use psijoin_printable::is_printable;

use super::{Fault, Gathered, Nonce};

/// The length of the longest text of a state.
pub const MAX_TEXT_BYTES: usize = u8::MAX as usize;

const WAITING: u8 = 1;
const HERE: u8 = 2;
const GO: u8 = 3;
const REFUSED: u8 = 4;
const DRAINING: u8 = 5;
const CHALLENGE: u8 = 6;
const FORBIDDEN: u8 = 7;

const HEADER_BYTES: usize = 2;

/// A text for people: one line, at most [`MAX_TEXT_BYTES`] long.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text(String);

impl Text {
    /// Returns the beginning of a text, as much as a state holds, without what is not printable.
    pub fn new(text: &str) -> Self {
        let mut kept = String::new();
        for character in text.chars().filter(|character| is_printable(*character)) {
            if kept.len() + character.len_utf8() > MAX_TEXT_BYTES {
                break;
            }
            kept.push(character);
        }
        Self(kept)
    }

    /// Returns it, with nothing in it that is not printable.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn decode(bytes: &[u8]) -> Result<Self, Fault> {
        let text = str::from_utf8(bytes).map_err(|_| Fault::Text)?;
        match text.chars().all(is_printable) {
            true => Ok(Self(text.to_owned())),
            false => Err(Fault::Text),
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a relay tells a party.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The party waits for its peer. It is told from time to time.
    Waiting(Text),
    /// The peer is here.
    Here(Text),
    /// Whatever follows is the peer's.
    Go,
    /// The relay does not join this party with anybody now, for this reason. It may later.
    Refused(Text),
    /// The relay is about to stop.
    Draining(Text),
    /// The party has to prove that it has an access key.
    Challenge(Nonce),
    /// The relay does not join this party with anybody, however often it comes, for this reason.
    Forbidden(Text),
}

impl State {
    /// Appends it, as it travels.
    pub fn encode(&self, to: &mut Vec<u8>) {
        let (kind, rest) = match self {
            Self::Waiting(text) => (WAITING, text.0.as_bytes()),
            Self::Here(text) => (HERE, text.0.as_bytes()),
            Self::Go => (GO, &[][..]),
            Self::Refused(text) => (REFUSED, text.0.as_bytes()),
            Self::Draining(text) => (DRAINING, text.0.as_bytes()),
            Self::Challenge(nonce) => (CHALLENGE, &nonce[..]),
            Self::Forbidden(text) => (FORBIDDEN, text.0.as_bytes()),
        };
        to.extend([kind, rest.len() as u8]);
        to.extend(rest);
    }

    fn decode(kind: u8, rest: &[u8]) -> Result<Self, Fault> {
        Ok(match kind {
            WAITING => Self::Waiting(Text::decode(rest)?),
            HERE => Self::Here(Text::decode(rest)?),
            REFUSED => Self::Refused(Text::decode(rest)?),
            DRAINING => Self::Draining(Text::decode(rest)?),
            CHALLENGE => Self::Challenge(rest.try_into().map_err(|_| Fault::Length)?),
            FORBIDDEN => Self::Forbidden(Text::decode(rest)?),
            _ => Self::Go,
        })
    }
}

/// Cuts a relay's bytes into states, however they arrive. After [`State::Go`] and after an error,
/// it must not be used further.
#[derive(Debug, Default)]
pub struct StateDecoder {
    header: Gathered<HEADER_BYTES>,
    text: Vec<u8>,
}

impl StateDecoder {
    /// Returns a decoder at the start of what a relay says.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of bytes of the next state that are known to come. Whoever reads no more
    /// from a connection leaves the peer's bytes in it.
    pub fn due(&self) -> usize {
        match self.header.complete() {
            None => self.header.due(),
            Some([_, length]) => usize::from(*length) - self.text.len(),
        }
    }

    /// Takes bytes from the front of `input`, until a state is complete or `input` is empty.
    ///
    /// # Errors
    /// If the bytes are not a state.
    pub fn next_state(&mut self, input: &mut &[u8]) -> Result<Option<State>, Fault> {
        self.header.take(input);
        let Some(&[kind, length]) = self.header.complete() else {
            return match self.header.so_far() {
                [kind] => check_kind(*kind).map(|()| None),
                _ => Ok(None),
            };
        };
        check_kind(kind)?;
        check_length(kind, length)?;
        let (taken, rest) = input.split_at(self.due().min(input.len()));
        self.text.extend_from_slice(taken);
        *input = rest;
        if self.due() > 0 {
            return Ok(None);
        }
        let state = State::decode(kind, &self.text)?;
        *self = Self::default();
        Ok(Some(state))
    }
}

fn check_kind(kind: u8) -> Result<(), Fault> {
    match kind {
        WAITING..=FORBIDDEN => Ok(()),
        _ => Err(Fault::NotARelay),
    }
}

fn check_length(kind: u8, length: u8) -> Result<(), Fault> {
    let is_right = match kind {
        GO => length == 0,
        CHALLENGE => usize::from(length) == size_of::<Nonce>(),
        _ => true,
    };
    is_right.then_some(()).ok_or(Fault::Length)
}

#[cfg(test)]
mod tests {
    use proptest::{array::uniform16, collection::vec, prelude::*};

    use super::*;

    fn any_state() -> impl Strategy<Value = State> {
        let text = || "\\PC{0,80}".prop_map(|text| Text::new(&text));
        prop_oneof![
            text().prop_map(State::Waiting),
            text().prop_map(State::Here),
            text().prop_map(State::Refused),
            text().prop_map(State::Draining),
            text().prop_map(State::Forbidden),
            uniform16(any::<u8>()).prop_map(State::Challenge),
            Just(State::Go),
        ]
    }

    fn encode(state: &State) -> Vec<u8> {
        let mut bytes = Vec::new();
        state.encode(&mut bytes);
        bytes
    }

    fn decode_all(decoder: &mut StateDecoder, mut input: &[u8]) -> Result<Vec<State>, Fault> {
        let mut states = Vec::new();
        while let Some(state) = decoder.next_state(&mut input)? {
            states.push(state);
        }
        assert!(input.is_empty());
        Ok(states)
    }

    /// The layout is a promise: relays and parties are of different releases.
    #[test]
    fn has_a_fixed_form() {
        for (state, bytes) in [
            (State::Waiting(Text::default()), &[1, 0][..]),
            (State::Here(Text::new("bob")), b"\x02\x03bob"),
            (State::Go, &[3, 0]),
            (State::Refused(Text::new("no")), b"\x04\x02no"),
            (State::Draining(Text::default()), &[5, 0]),
            (State::Forbidden(Text::new("no")), b"\x07\x02no"),
        ] {
            assert_eq!(encode(&state), bytes);
        }
        assert_eq!(encode(&State::Challenge([7; 16]))[..3], [6, 16, 7]);
    }

    #[test]
    fn a_text_is_one_printable_line_that_fits() {
        assert_eq!(Text::new("a\nb\u{202e}c\x1b[2J").as_str(), "abc[2J");
        let long = Text::new(&"ü".repeat(200));
        assert_eq!(long.as_str().len(), 254);
        let state = State::Refused(long);
        let decoded = decode_all(&mut StateDecoder::new(), &encode(&state));
        assert_eq!(decoded, Ok(vec![state]));
    }

    #[test]
    fn what_is_no_state_is_refused_as_soon_as_it_shows() {
        for (bytes, fault) in [
            (&b"HTTP/1.1"[..], Fault::NotARelay),
            (&[0x16], Fault::NotARelay),
            (&[0], Fault::NotARelay),
            (&[8], Fault::NotARelay),
            (&[GO, 1], Fault::Length),
            (&[CHALLENGE, 15], Fault::Length),
            (&[WAITING, 1, b'\n'], Fault::Text),
            (&[REFUSED, 2, 0xc3, 0x28], Fault::Text),
        ] {
            let decoded = decode_all(&mut StateDecoder::new(), bytes);
            assert_eq!(decoded, Err(fault), "{bytes:?}");
        }
    }

    #[test]
    fn what_is_due_never_reaches_behind_go() {
        let mut bytes = encode(&State::Waiting(Text::new("not yet")));
        bytes.extend(encode(&State::Go));
        bytes.extend(b"\x16\x03\x01 the peer's");
        let mut decoder = StateDecoder::new();
        let mut input = &bytes[..];
        loop {
            let (mut piece, rest) = input.split_at(decoder.due());
            let state = decoder.next_state(&mut piece).unwrap();
            assert!(piece.is_empty());
            input = rest;
            if state == Some(State::Go) {
                break;
            }
        }
        assert_eq!(input, b"\x16\x03\x01 the peer's");
    }

    proptest! {
        #[test]
        fn states_survive_being_cut_anywhere(
            states in vec(any_state(), 0..6),
            piece_bytes in 1..40_usize,
        ) {
            let bytes: Vec<u8> = states.iter().flat_map(encode).collect();
            let mut decoder = StateDecoder::new();
            let mut decoded = Vec::new();
            for piece in bytes.chunks(piece_bytes) {
                decoded.extend(decode_all(&mut decoder, piece).unwrap());
            }
            prop_assert_eq!(decoded, states);
        }

        #[test]
        fn anything_can_be_said(pieces in vec(vec(0..10_u8, 0..32), 0..16)) {
            let mut decoder = StateDecoder::new();
            for piece in pieces {
                if decode_all(&mut decoder, &piece).is_err() {
                    break;
                }
            }
        }
    }
}
