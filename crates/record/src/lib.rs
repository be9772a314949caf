//! The record of a session: what two parties agreed on and did, in a document that both sign.
//!
//! Each party makes the [`Document`] from what both know, and [checks](Document::check) it;
//! [`exchange`] swaps the signatures, and gives the [`SignedRecord`] to both. Whoever reads one
//! later has verified it: [`SignedRecord::read`].
//!
//! Each derives the document from both hellos and the plan; what one party knows alone is told as a
//! fact. It holds no floating-point number, as logarithms differ between machines: bounds are in
//! whole bits. Any change of words needs another `FORMAT`, which is a setting. The names of
//! settings are words of the handshake, whose version the document holds.
//!
//! # The text of a record
//! One JSON object, with the document and both signatures, in the canonical form of RFC 8785
//! (sorted keys, no white space, whole numbers below 2^53 only), and a line feed. There is one such
//! text for each record, so a text in which a single byte was changed is refused.
//!
//! A party signs, by [`Identity::sign`](psijoin_transport::Identity::sign) with the purpose
//! [`PURPOSE`], the document's canonical text. The receiver signs first, as it is the one that has
//! its result by then; the sender signs only what the receiver has signed.

#![forbid(unsafe_code)]

mod as_text;
mod canonical;
mod difference;
mod document;
mod error;
mod exchange;
#[cfg(test)]
mod sample;
mod signed;
mod terms;

pub use difference::Difference;
pub use document::{Column, Document, FORMAT, Outcome, Party, PerParty, Protocol, failure_bits};
pub use error::Error;
pub use exchange::{SAID_BYTES, exchange};
pub use psijoin_params::Role;
pub use signed::{MAX_RECORD_BYTES, PURPOSE, SignedRecord};
pub use terms::{MAX_TERMS_BYTES, Terms};
