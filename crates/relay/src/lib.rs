//! A relay: the server at which two parties meet that both dial out.
//!
//! Two parties behind firewalls reach no address of each other, but both reach a relay. Each says
//! its side and a token ([`psijoin_transport::rendezvous`]). The relay joins a connection of either
//! side of a token, says `go`, and carries bytes from then on until both directions have ended. The
//! bytes are those of the parties' pinned TLS session. So a relay can delay and end a session. It
//! can neither read nor change one, and it takes nobody's place.
//!
//! ```no_run
//! use psijoin_relay::{Options, Relay};
//!
//! let relay = Relay::bind(Options::new("0.0.0.0:7767".parse()?))?;
//! println!("listening at {}", relay.address());
//! relay.run()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `relay` | binding, running, draining |
//! | `lobby` | one thread for all who are not joined yet |
//! | `visitor`, `reception` | one of them: its socket; its words, without input and output |
//! | `pairing` | who is joined with whom, and who has no place: a data structure |
//! | `pair` | two threads for two joined connections |
//! | `access_keys`, `limits`, `refusal` | who may come; how much of everything; the reasons |
//! | `metrics`, `tag` | counters for Prometheus; names of tokens in logs |
//!
//! # Why it is built this way
//!
//! - *Threads and `splice(2)`, no async runtime.* Those who wait are many and do nothing, so one
//!   thread polls all of them, as a party that listens does. Those who are joined move bytes. Two
//!   threads with small stacks let the kernel move them from socket to socket, so that none comes
//!   into this process. A runtime would add crates and a copy.
//! - *WebSocket is framed in user space.* Only what passes an HTTPS front end needs it, and that
//!   copies more.
//! - *Nothing is kept of anybody*: no disk, no account, and of a token 32 bytes while somebody
//!   waits under it. Logs hold a keyed hash of 4 bytes, by a key that ends with the process.
//!
//! # Squatters
//! Whoever learns a token can stand in its queue, and TLS alone shows that it is not the peer. Then
//! the honest party has lost an attempt, and comes again. So a squatter must not be able to win
//! every time, nor to keep an honest party out:
//!
//! - a queue is first come, first served, but for one rule: addresses take turns. The one that was
//!   served last waits longest, so a squatter at one address gets every other turn at most;
//! - where a queue is full, whoever comes from an address with fewer places pushes out the newest
//!   of the address with most. So many of one address never keep out another address. From one
//!   address with a squatter, an honest party gets in as soon as a place is free: nobody is pushed
//!   out by a newcomer of its own address, and the queue moves as fast as the other side comes
//!   back;
//! - a TLS client that says nothing after `go` is hung up on after 3 s, so silent squatters hold
//!   nothing;
//! - running pairs count for the address of the TLS client, the side that goes to somebody. So
//!   nobody can use up the quota of a party that waits for its peer.
//!
//! Nothing that a squatter does ends a pair that runs.

#![forbid(unsafe_code)]

mod access_keys;
mod bucket;
mod descriptors;
mod error;
mod limits;
mod lobby;
mod metrics;
mod pair;
mod pairing;
mod reception;
mod refusal;
mod relay;
mod tag;
mod visitor;

pub use access_keys::AccessKeys;
pub use error::Error;
pub use limits::Limits;
pub use relay::{Drain, Options, Relay};
