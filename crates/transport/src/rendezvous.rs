//! The bytes of a meeting at a relay, where two parties that both dial out are put together.
//!
//! A relay is a server that both can reach. It never speaks TLS, and has no key of either party:
//! it joins two connections by a [token](Token), and carries the unchanged bytes of their session.
//! All that is said to it and by it precedes them:
//!
//! | who | bytes | |
//! |---|---|---|
//! | party | 8 | `psirelay` |
//! | | 1 | the version, 1 |
//! | | 1 | the [side](Side): 0 will be the server of TLS, 1 its client |
//! | | 32 | the token |
//! | | 8 | a random number of this place in the queue |
//! | | 1 | 1 if it has an access key, else 0 |
//! | relay | | [states](State), of 1 byte for the kind, 1 for a length, and so many bytes |
//! | party | 8 | only after the state that challenges it: the [access key](AccessKey)'s number |
//! | | 32 | a MAC by that key, of the challenge and of the party's first words |
//! | relay | | states, until `go`; all that follows is the peer's |
//!
//! The same bytes go as binary messages of a [WebSocket](crate::websocket), where nothing else gets
//! through.
//!
//! # Why it is built this way
//!
//! - *A party says everything at once*, so a meeting costs one round trip to the relay where the
//!   peer waits already.
//! - *The relay speaks while a party waits*: silence is what people complain of, and what is on the
//!   way ends connections that are silent.
//! - *Nothing is sent ahead of `go`* by a party that waits. So the relay keeps nothing for anybody,
//!   and hands over the bare socket.
//! - *The place in the queue has a number*, so that a party whose line broke without the relay's
//!   knowledge takes its place back, and is not joined with its peer by a dead line. Nobody else
//!   knows the number.
//! - *An access key is proved by a MAC* over a challenge and the first words. Connections to a
//!   relay are not encrypted unless something stands before it. Whoever reads them gets no key, and
//!   no answer that works at another time or for another token.
//! - *The number of an access key is a hash of it*, so a key is one text of 64 digits, and no two
//!   things have to be told.

mod access;
mod hello;
mod state;
mod token;

pub use access::{ACCESS_BYTES, Access, AccessDecoder, AccessKey, Nonce};
pub use hello::{HELLO_BYTES, Hello, HelloDecoder, Side};
pub use state::{MAX_TEXT_BYTES, State, StateDecoder, Text};
pub use token::{TOKEN_BYTES, Token};

/// The reason that bytes are not those of a meeting at a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A party's first bytes are something else.
    #[error("the first bytes are not those of a party that comes to a relay")]
    NotAParty,
    /// A party speaks another version.
    #[error("version {0} of the relay's protocol is not known; this side knows version 1")]
    Version(u8),
    /// A field of a party's first words has a value that means nothing.
    #[error("the first words of a party have an invalid {0}")]
    Field(&'static str),
    /// The other end is no relay, or one that knows more.
    #[error("the bytes are not those of a relay")]
    NotARelay,
    /// A state has a length that its kind cannot have.
    #[error("the relay sent a state of a wrong length")]
    Length,
    /// A state's text could deceive whoever reads it.
    #[error("the relay sent a text that is not printable")]
    Text,
}

/// Bytes of a fixed number, as they come.
#[derive(Debug, Clone)]
struct Gathered<const N: usize> {
    bytes: [u8; N],
    filled: usize,
}

impl<const N: usize> Default for Gathered<N> {
    fn default() -> Self {
        Self {
            bytes: [0; N],
            filled: 0,
        }
    }
}

impl<const N: usize> Gathered<N> {
    /// Returns the number of bytes that are still to come.
    fn due(&self) -> usize {
        N - self.filled
    }

    /// Returns the bytes that have come.
    fn so_far(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// Takes no more bytes from the front of `input` than are due.
    fn take(&mut self, input: &mut &[u8]) {
        let (taken, rest) = input.split_at(self.due().min(input.len()));
        self.bytes[self.filled..][..taken.len()].copy_from_slice(taken);
        self.filled += taken.len();
        *input = rest;
    }

    /// Returns all bytes, once they have come.
    fn complete(&self) -> Option<&[u8; N]> {
        (self.due() == 0).then_some(&self.bytes)
    }
}
