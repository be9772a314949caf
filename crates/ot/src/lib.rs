//! Oblivious transfer: the sender has two messages, and the receiver learns the one that it chose.
//! The sender does not learn which one. The receiver learns nothing about the other.
//!
//! | module | contents | security |
//! |---|---|---|
//! | [`base`] | random OT from Diffie-Hellman or ML-KEM, for the first few | malicious |
//! | [`iknp`] | OT extension: from 128 base OTs to any number of random or correlated OTs | semi-honest or malicious, by type |
//! | [`kk13`] | OT extension with 256 strings per OT: the receiver chooses one of them, or none | semi-honest |
//! | [`block_accumulate`] | the linear code of silent OT and VOLE | |
//! | [`extension`] | IKNP and silent OT behind one interface: a protocol takes either | semi-honest |
//! | [`matrix`] | matrices of any width, from the seeds of their columns | that of the OTs of the seeds |
//! | [`chosen`] | OT of chosen messages, on top of either | that of the OT under it |
//! | [`oprg`] | oblivious PRG: a random string per place for the sender, and for the receiver where its choice is one; on either extension | semi-honest |
//! | [`silent`] | silent OT: as many random or correlated OTs for a few hundred KB | semi-honest or malicious, by type |
//! | [`lookup`] | silent 1-out-of-16 OT of random bits | semi-honest |
//! | [`vole`] | silent vector OLE, also over a subfield | semi-honest or malicious, by type |
//!
//! All are blocking drivers over a [`Channel`](psijoin_channel::Channel). Big messages are
//! streamed: a chunk is sent while the next one is computed. Kernels run on the threads of the
//! caller's [`Pool`](psijoin_runtime::parallel::Pool).
//!
//! Two OTs of chosen messages, over a channel between two threads:
//!
//! ```
//! use std::thread;
//!
//! use psijoin_block::{Block, Prg};
//! use psijoin_channel::memory;
//! use psijoin_ot::{
//!     BaseOts, chosen,
//!     iknp::{Malicious, Receiver, Sender},
//! };
//!
//! let (mut a, mut b) = memory::pair();
//! let sender = thread::spawn(move || {
//!     let messages = [[Block(10), Block(11)], [Block(20), Block(21)]];
//!     let base = BaseOts::DiffieHellman;
//!     let mut ots = Sender::<Malicious>::setup(base, &mut a, &mut Prg::from_os())?;
//!     chosen::send(&messages, &mut ots, &mut a)
//! });
//!
//! // The second message of the first pair, and the first of the second.
//! let choices = [Block(0b01)];
//! let mut received = [Block::ZERO; 2];
//! let base = BaseOts::DiffieHellman;
//! let mut ots = Receiver::<Malicious>::setup(base, &mut b, &mut Prg::from_os())?;
//! chosen::receive(&choices, &mut received, &mut ots, &mut b)?;
//! sender.join().expect("no panic")?;
//! assert!(received == [Block(11), Block(20)]);
//! # Ok::<(), psijoin_ot::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod base;
pub mod block_accumulate;
pub mod chosen;
pub mod extension;
pub mod iknp;
pub mod kk13;
pub mod lookup;
pub mod matrix;
pub mod oprg;
pub mod silent;
pub mod vole;

mod columns;
mod consistency;
mod error;
mod pprf;
mod small_field;

pub use base::BaseOts;
pub use error::Error;
