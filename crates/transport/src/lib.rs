//! The connection of two parties: TCP, and TLS 1.3 with pinned peers.
//!
//! A [`Connection`] is made by [`Connection::open`], [`connect`](Connection::connect) or
//! [`accept`](Connection::accept), and gives a [`Channel`](psijoin_channel::Channel) for a protocol
//! to run over. Either the sender or the receiver may listen. An [`Identity`] is the key that a
//! party is known by, and can [sign](Identity::sign) with; an [`Interrupt`] stops a session from
//! another thread. A session can have several streams, each a TCP connection of its own:
//! [`Connection::open_streams`].
//!
//! | module | contents |
//! |---|---|
//! | [`fingerprint`] | the short name of the key that a party is known by |
//! | [`endpoint`] | addresses, listening, connecting, relays, folders, time-outs |
//! | [`dial`] | one outgoing connection, and proxies |
//! | [`mailbox`] | files in a folder instead of a connection |
//! | [`knock`] | the recognition of a party by its first bytes |
//! | [`invitation`] | how two parties get to know each other's keys |
//! | [`succession`] | the replacement of a key by another one |
//! | [`frame`] | the layout of messages on the wire |
//! | [`rendezvous`] | the words of a party and a relay, before a session that both dial out for |
//! | [`websocket`] | the framing in which these words and a session pass HTTPS front ends |
//! | [`room`] | the choice among strangers where there is no room for all |
//!
//! # Layers on the wire
//! 1. TCP, and TLS 1.3 over it unless [`Security::InsecurePlaintext`] was asked for; its first
//!    flight holds a [knock];
//! 2. an 8-byte preamble each way, which shows a party that its peer speaks psijoin and (under TLS)
//!    has accepted its identity. Under TLS, 8 KiB of padding follow: their speed shows the rate of
//!    the network ([`Connection::measured`]). On further streams of a session, the preamble is
//!    another one; the side that connects adds the stream's number (1 byte) and a hash of that and
//!    of a key from the joint seed (32 bytes), and the other side then sends its preamble and such
//!    a hash of its own;
//! 3. [frames](frame);
//! 4. the session handshake (the crate `psijoin-handshake`), which runs over any channel, then the
//!    protocol.
//!
//! # When things go wrong
//! Every wait is bounded and can be [interrupted](Interrupt). A party that works, as far as its
//! [`Pulse`] shows, sends keep-alives, however long it computes. So silence for [`Timeouts::idle`]
//! means that it is dead, stuck or cut off. An error that ends one stream of a session ends all, on
//! both sides. [`Error::kind`] sorts errors by who has to act.
//!
//! Anyone who has not proved to be the peer is a stranger, and decides nothing. A stranger cannot
//! end the wait for the peer, and many cannot keep out a peer that [knocks](knock).

#![forbid(unsafe_code)]

mod bridge;
mod connection;
pub mod dial;
pub mod endpoint;
pub mod fingerprint;
pub mod frame;
mod identity;
mod interrupt;
pub mod invitation;
mod key_exchange;
pub mod knock;
mod lanes;
pub mod rendezvous;
pub mod room;
pub mod websocket;

mod error;
mod establish;
mod line;
mod link;
pub mod mailbox;
mod passphrase;
mod patience;
mod pin;
mod preamble;
mod signature;
mod stranger;
pub mod succession;
mod ticket;
mod tls;
mod watch;
mod wire;

pub use connection::Connection;
pub use dial::{Proxies, Proxy, ProxyFault};
pub use endpoint::{
    Appointment, AtRelay, Endpoint, InFolder, Listener, Options, Pulse, RelayAddress, Security,
    Sight, Timeouts,
};
pub use error::{Attempt, Error, Kind, RelayFault, Strangers};
pub use fingerprint::Fingerprint;
pub use identity::Identity;
pub use interrupt::Interrupt;
pub use invitation::{InvitationFault, InvitationKey, PairSecret};
pub use key_exchange::KeyExchange;
pub use lanes::{LaneKeys, Lanes, LanesAt};
pub use passphrase::Passphrase;
pub use pin::Pin;
pub use signature::{NotAKey, NotHexadecimal, PublicKey, SIGNATURE_BYTES, Signature};
pub use succession::{Succeeded, Succession};
pub use watch::Watch;
