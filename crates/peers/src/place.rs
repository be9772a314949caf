//! The places where two parties meet.

use std::{fmt, path::Path, str::FromStr};

use psijoin_printable::{Quoted, Word};
use psijoin_transport::endpoint::Address;

/// The most bytes of a relay's address.
const MAX_RELAY_BYTES: usize = 255;

/// The place where this party meets a peer, if nothing else is said.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// This party listens at an address.
    Listen(Address),
    /// This party connects to an address.
    Connect(Address),
    /// Both connect to a relay.
    Relay(Relay),
    /// Both have a folder, whose path is a text.
    Folder(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(address) => write!(f, "here, at {}", Word(address.as_str())),
            Self::Connect(address) => write!(f, "at {}", Word(address.as_str())),
            Self::Relay(relay) => write!(f, "at the relay {}", Word(relay.as_str())),
            Self::Folder(folder) => {
                let folder = psijoin_printable::path(Path::new(folder));
                write!(f, "in the folder {folder}")
            }
        }
    }
}

/// The address of a relay: `HOST:PORT`, `ws://…` or `wss://…`. Whether anything is there shows when
/// it is dialled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relay(String);

impl Relay {
    /// Returns the address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The reason that a text is not the address of a relay.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} is not the address of a relay: write HOST:PORT, for example relay.example.org:7766, or \
     wss://relay.example.org/",
    Quoted(.0)
)]
pub struct PlaceError(pub String);

impl FromStr for Relay {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let of_web = ["wss://", "ws://"].iter();
        let rest = of_web.clone().find_map(|scheme| text.strip_prefix(scheme));
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_graphic());
        let is_relay = match rest {
            Some(rest) => {
                is_plain(rest) && rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[')
            }
            None => text.parse::<Address>().is_ok(),
        };
        match is_relay && text.len() <= MAX_RELAY_BYTES {
            true => Ok(Self(text.to_owned())),
            false => Err(PlaceError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relays_have_addresses_of_two_kinds() {
        for text in [
            "relay.example.org:7766",
            "[::1]:7766",
            "wss://relay.example.org/",
            "wss://relay.example.org:8443/psijoin?x=1",
            "ws://[::1]:80/",
        ] {
            assert_eq!(text.parse::<Relay>().unwrap().as_str(), text);
        }
        let long = format!("wss://{}", "x".repeat(250));
        for text in [
            "",
            "relay",
            "https://relay.example.org/",
            "wss://",
            "wss:// a",
            &long,
        ] {
            assert!(text.parse::<Relay>().is_err(), "{text}");
        }
    }
}
