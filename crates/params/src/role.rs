//! The two parties.

use std::fmt;

use crate::Sizes;

/// The side of a protocol that a party plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Helps the receiver to its result.
    Sender,
    /// Learns the result.
    Receiver,
}

impl Role {
    /// Both parties.
    pub const BOTH: [Self; 2] = [Self::Receiver, Self::Sender];

    /// Returns the role of the other party.
    pub fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }

    /// Returns this party's part of the sizes.
    pub fn items(self, sizes: Sizes) -> u64 {
        match self {
            Self::Sender => sizes.sender(),
            Self::Receiver => sizes.receiver(),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        })
    }
}
