//! The first bytes of other programs, and of whatever stands on the way and speaks before the peer
//! does.

/// A guess at the first bytes of a connection, if they are not psijoin's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guess {
    /// They are known; the text names them, and what to do.
    Known(&'static str),
    /// They are too few to tell.
    Undecided,
    Unknown,
}

/// First bytes, no more than a preamble has, and what they show. No record of TLS begins so.
const KNOWN: &[(&[u8], &str)] = &[
    (b"PROXY ", PROXY),
    (b"\r\n\r\n\0\r\nQ", PROXY),
    (b"HTTP/", HTTP_ANSWER),
    (b"GET ", HTTP_REQUEST),
    (b"HEAD ", HTTP_REQUEST),
    (b"POST ", HTTP_REQUEST),
    (b"PUT ", HTTP_REQUEST),
    (b"OPTIONS ", HTTP_REQUEST),
    (b"CONNECT ", HTTP_REQUEST),
    (b"PRI * HT", HTTP_REQUEST),
    (b"SSH-", SSH),
    (b"220 ", MAIL),
    (b"220-", MAIL),
];

const PROXY: &str = "its first bytes are those of the PROXY protocol, by which a load balancer or forwarder tells who \
     connects: turn that off for this port, so that it passes bytes as they are";

const HTTP_ANSWER: &str = "it answers in HTTP, as a web server or a web proxy does: check address and port, and let what \
     is on the way pass TCP as it is";

const HTTP_REQUEST: &str = "it asks in HTTP, as a browser, a health check or a web proxy does: let what is on the way \
     pass TCP as it is, and check its health by connecting only";

const SSH: &str = "its first bytes are those of SSH: check the port; through a tunnel, connect to the port that ssh \
     forwards";

const MAIL: &str = "its first bytes are those of a mail or FTP server: check address and port";

/// Returns who begins so.
pub(crate) fn guess(received: &[u8]) -> Guess {
    let known = KNOWN.iter().find(|(bytes, _)| received.starts_with(bytes));
    let is_partly = || KNOWN.iter().any(|(bytes, _)| bytes.starts_with(received));
    match known {
        Some((_, what)) => Guess::Known(what),
        None if is_partly() => Guess::Undecided,
        None => Guess::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preamble::PREAMBLE_BYTES;

    #[test]
    fn strangers_are_known_once_enough_has_come() {
        for (bytes, what) in KNOWN {
            assert!(bytes.len() <= PREAMBLE_BYTES);
            assert_eq!(guess(bytes), Guess::Known(what));
            for length in 0..bytes.len() {
                assert_eq!(guess(&bytes[..length]), Guess::Undecided);
            }
        }
    }

    #[test]
    fn tls_and_preambles_are_no_strangers() {
        for bytes in [&[0x16, 3, 1][..], &[0x15, 3, 3], b"psi", b"G\0", b"p"] {
            assert_eq!(guess(bytes), Guess::Unknown);
        }
    }
}
