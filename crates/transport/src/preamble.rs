//! The first bytes each way: the protocol, and the version of its framing.
//!
//! At a meeting inside of TLS, padding follows. It has no content: from its speed the other side
//! learns the rate of the network.

use crate::{
    Error, InvitationFault,
    stranger::{self, Guess},
};

const MAGIC_BYTES: usize = 7;

/// The use of a connection, told at its beginning.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// A session.
    Meeting,
    /// One more stream of a session.
    Stream,
}

impl Occasion {
    /// Returns a stream that comes to a wrong place must not pass for a party to meet, nor the
    /// other way round.
    fn magic(self) -> &'static [u8; MAGIC_BYTES] {
        match self {
            Self::Meeting => b"psijoin",
            Self::Stream => b"psimore",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Meeting => Self::Stream,
            Self::Stream => Self::Meeting,
        }
    }

    /// Returns whether bytes begin as its preamble does, as far as they go.
    fn is_magic(self, received: &[u8]) -> bool {
        let pairs = received.iter().zip(self.magic());
        pairs.into_iter().all(|(received, magic)| received == magic)
    }
}

/// The version of everything below the session handshake.
const FRAMING_VERSION: u8 = 3;

pub(crate) const PREAMBLE_BYTES: usize = 8;

/// Sent in place of a preamble to a party that comes without the invitation that this side waits
/// for. To releases that do not know it, it is something else than psijoin.
pub(crate) const NOT_INVITED: &[u8; PREAMBLE_BYTES] = b"psideny\n";

/// Bytes after the preamble of a meeting inside of TLS, of any value. With the rest of the greeting
/// they are fewer than TCP sends at once on a fresh connection (ten segments, RFC 6928), so they
/// wait for no round trip.
pub(crate) const PADDING_BYTES: usize = 8192;

/// Returns what this side sends.
pub(crate) fn ours(occasion: Occasion) -> [u8; PREAMBLE_BYTES] {
    let mut preamble = [FRAMING_VERSION; PREAMBLE_BYTES];
    preamble[..MAGIC_BYTES].copy_from_slice(occasion.magic());
    preamble
}

/// Checks the first bytes that the peer sent inside of whatever protects the connection,
/// perhaps not all of them yet.
pub(crate) fn check(occasion: Occasion, received: &[u8]) -> Result<(), Error> {
    if looks_like_tls(received) {
        return Err(encryption_mismatch("none (plaintext)", "TLS 1.3"));
    }
    if !occasion.is_magic(received) {
        if NOT_INVITED.starts_with(received) {
            return match received.len() == PREAMBLE_BYTES {
                true => Err(InvitationFault::NotInvited.into()),
                false => Ok(()),
            };
        }
        if occasion.other().is_magic(received) {
            return Err(Error::OtherSession);
        }
        return match stranger::guess(received) {
            Guess::Undecided => Ok(()),
            Guess::Known(what) => Err(Error::NotPsijoin(what)),
            Guess::Unknown => Err(Error::NotPsijoin("its first bytes are something else")),
        };
    }
    match received.get(MAGIC_BYTES) {
        Some(&theirs) if theirs != FRAMING_VERSION => Err(Error::Version {
            layer: "connection",
            ours: FRAMING_VERSION.into(),
            theirs: theirs.into(),
        }),
        _ => Ok(()),
    }
}

/// Returns whether the peer's first bytes, where TLS is due, are those of a bare preamble, or
/// nothing if they are too few to tell: a single byte may be anybody's.
pub(crate) fn is_bare(received: &[u8]) -> Option<bool> {
    if !Occasion::Meeting.is_magic(received) {
        return Some(false);
    }
    (received.len() >= MAGIC_BYTES).then_some(true)
}

/// Returns what a bare preamble means where TLS is due.
pub(crate) fn tls_was_due() -> Error {
    encryption_mismatch("TLS 1.3", "none (plaintext)")
}

fn encryption_mismatch(ours: &'static str, theirs: &'static str) -> Error {
    Error::Encryption { ours, theirs }
}

/// Returns whether bytes begin as a TLS record that holds an alert or a handshake message does.
fn looks_like_tls(received: &[u8]) -> bool {
    matches!(received, [0x15 | 0x16, 0x03, ..])
}

#[cfg(test)]
mod tests {
    use super::{Occasion::*, *};

    #[test]
    fn ours_is_accepted_in_any_pieces() {
        for occasion in [Meeting, Stream] {
            for length in 0..=PREAMBLE_BYTES {
                check(occasion, &ours(occasion)[..length]).unwrap();
            }
        }
    }

    #[test]
    fn a_stream_is_not_a_meeting() {
        for occasion in [Meeting, Stream] {
            let error = check(occasion.other(), &ours(occasion)).unwrap_err();
            assert!(matches!(error, Error::OtherSession), "{error}");
        }
    }

    #[test]
    fn who_is_not_invited_hears_it_in_any_pieces() {
        for length in 0..PREAMBLE_BYTES {
            check(Meeting, &NOT_INVITED[..length]).unwrap();
        }
        let error = check(Meeting, NOT_INVITED).unwrap_err();
        assert!(matches!(
            error,
            Error::Invitation(InvitationFault::NotInvited)
        ));
    }

    #[test]
    fn another_version_is_named() {
        let error = check(Meeting, b"psijoin\x07").unwrap_err();
        assert!(
            matches!(
                error,
                Error::Version {
                    ours: 3,
                    theirs: 7,
                    ..
                }
            ),
            "{error}"
        );
    }

    #[test]
    fn tls_and_plaintext_are_told_apart() {
        let error = check(Meeting, &[0x16, 3, 1, 2]).unwrap_err().to_string();
        assert!(error.contains("the other side has `TLS 1.3`"), "{error}");
        let error = tls_was_due().to_string();
        assert!(error.contains("this side has `TLS 1.3`"), "{error}");
    }

    #[test]
    fn only_the_whole_magic_is_a_bare_preamble() {
        for length in 0..MAGIC_BYTES {
            assert_eq!(is_bare(&ours(Meeting)[..length]), None);
        }
        assert_eq!(is_bare(Meeting.magic()), Some(true));
        assert_eq!(is_bare(b"psijoin\x07 and more"), Some(true));
        for other in [b"psijoiN".as_slice(), b"q", &[0x16, 3, 1, 2]] {
            assert_eq!(is_bare(other), Some(false));
        }
    }

    #[test]
    fn anything_else_is_not_psijoin() {
        for (received, said) in [
            (&b"GET /"[..], "it asks in HTTP"),
            (b"PROXY TCP4", "PROXY protocol"),
            (b"hello", "something else"),
        ] {
            let error = check(Meeting, received).unwrap_err();
            assert!(matches!(error, Error::NotPsijoin(what) if what.contains(said)));
        }
        check(Meeting, b"PRO").unwrap();
    }
}
