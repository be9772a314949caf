//! WebSocket (RFC 6455), as far as a relay and those who come to it need it.
//!
//! Where only HTTPS gets through, `wss://` does: proxies, load balancers and front ends know the
//! standard upgrade, and pass on what follows. A psijoin session then travels as a stream of bytes,
//! cut into binary messages at any places. Who reads them does not see where.
//!
//! Both sides are here, for no particular way of input and output:
//!
//! | | client | server |
//! |---|---|---|
//! | the upgrade (§4) | [`Request`], [`AnswerDecoder`] | [`RequestDecoder`], [`Upgrade`] |
//! | frames (§5) | [`Encoder::client`], [`Decoder`] | [`Encoder::server`], [`Decoder`] |
//!
//! # Deviations
//! - *Text is refused*, by 1003 of §7.4.1: nobody who comes to a relay sends any.
//! - *No extensions and no subprotocols* are offered, and none is accepted, so a reserved bit is a
//!   fault (§5.2).
//! - *A close frame ends one direction*, as the end of a TCP stream does. §5.5.1 asks for an answer
//!   "as soon as practical" after the message under way. A session that still has something to say
//!   is a message under way.
//! - *Lengths have to be minimal*, as §5.2 demands of whoever sends them.

mod frame;
mod head;
mod upgrade;

pub use frame::{Control, Decoder, Encoder, Event, Header, MAX_CONTROL_BYTES, MAX_HEADER_BYTES};
pub use head::MAX_HEAD_BYTES;
pub use upgrade::{AnswerDecoder, Request, RequestDecoder, Upgrade, accept_key};

/// The part of whoever sends: a client masks its frames, and a server does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It has asked for the upgrade.
    Client,
    /// It has granted it.
    Server,
}

/// The reason that bytes are no WebSocket, or not one of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The head of a request or an answer is longer than [`MAX_HEAD_BYTES`].
    #[error("the head of an HTTP message is too long")]
    LongHead,
    /// A head is not that of an HTTP/1.1 message.
    #[error("the bytes are not those of an HTTP/1.1 message")]
    NotHttp,
    /// A request asks for something else than a WebSocket.
    #[error("the request does not ask for a WebSocket")]
    NoUpgrade,
    /// A request asks for another version of WebSocket.
    #[error("the request asks for another version of WebSocket than 13")]
    Version,
    /// A request's key is missing, or not 16 bytes in base 64.
    #[error("the request's Sec-WebSocket-Key is not one")]
    Key,
    /// A server's answer has another status than 101.
    #[error("the server answered with the HTTP status {0}, and not with a WebSocket")]
    Status(u16),
    /// A server's answer does not grant what was asked for.
    #[error("the server's answer does not grant the WebSocket that was asked for")]
    NotGranted,
    /// A frame has a reserved bit.
    #[error("a frame has a reserved bit, though no extension was agreed on")]
    Reserved,
    /// A frame's opcode is unknown.
    #[error("a frame has an unknown opcode")]
    Opcode,
    /// A message is text.
    #[error("a message is text, where only bytes are due")]
    Text,
    /// A client's frame is not masked, or a server's is.
    #[error("a frame of a client is not masked, or one of a server is")]
    Mask,
    /// A control frame is longer than [`MAX_CONTROL_BYTES`], or one of several.
    #[error("a control frame is too long, or fragmented")]
    Control,
    /// A frame continues nothing, or begins a message within another.
    #[error("a frame continues a message that has not begun, or begins one within another")]
    Fragment,
    /// A frame's length could be written shorter, or has the highest bit.
    #[error("a frame's length is not written as it has to be")]
    Length,
    /// A close frame's reason is not one.
    #[error("a close frame has an invalid content")]
    Close,
}

impl Fault {
    /// Returns the code with which whoever notices it closes (§7.4.1).
    pub fn close_code(self) -> u16 {
        match self {
            Self::Text => 1003,
            _ => 1002,
        }
    }
}
