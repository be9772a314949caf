//! The places where two parties meet.

use std::{fmt, path::Path};

use psijoin_printable::Word;
use psijoin_transport::{RelayAddress, endpoint::Address};

/// The place where this party meets a peer, if nothing else is said.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// This party listens at an address.
    Listen(Address),
    /// This party connects to an address.
    Connect(Address),
    /// Both connect to a relay.
    Relay(RelayAddress),
    /// Both have a folder, whose path is a text.
    Folder(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(address) => write!(f, "here, at {}", Word(address.as_str())),
            Self::Connect(address) => write!(f, "at {}", Word(address.as_str())),
            Self::Relay(relay) => write!(f, "at the relay {}", Word(&relay.to_string())),
            Self::Folder(folder) => {
                let folder = psijoin_printable::path(Path::new(folder));
                write!(f, "in the folder {folder}")
            }
        }
    }
}
