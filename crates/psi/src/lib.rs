//! The interface of the private set intersection protocols, and what they share.
//!
//! Two parties hold a set each. The *sender* helps; the *receiver* learns which of its items
//! the sender has too, or a function of that. Both learn the sizes of the sets, and nothing else.
//!
//! 1. A [`Protocol`] makes a [`Plan`] from a [`Request`]: every parameter derived, the cost
//!    known to the byte. Both parties make the same plan, and compare its
//!    [digest](Plan::digest) before data moves.
//! 2. [`prepare`] runs the offline phase, which needs no input. A [`Prepared`] may be kept, and
//!    used over a later channel.
//! 3. [`Prepared::run`] runs the online phase on an [`Input`] and returns an [`Output`].
//!
//! [`run`] does 2 and 3, overlapping where a protocol can; so does [`run_batches`], for a plan that
//! takes items some at a time. A protocol implements a [`Party`] for each role. A caller goes
//! through [`prepare`] and [`run`], which check what they are given and tell the peer if this party
//! gives up.
//!
//! The interface is at the root. The modules:
//!
//! | module | contents |
//! |---|---|
//! | [`output`] | the outputs of a protocol |
//! | [`items`] | fixed-size digests of items, under a salt of both parties |
//! | [`ots`] | the part of OTs in a [`Conversation`] |
//! | [`masks`], [`sorted_masks`], [`output_hash`], [`mask_params`] | the values that represent items at the end of a protocol |
//! | [`payloads`] | the columns that are sent with shared items |
//! | [`pair`] | both parties in one process, for tests, benches and demonstrations |
//!
//! The protocols themselves live in crates of their own, family by family; the crate `psijoin`
//! lists them all, and is what to depend on.
//!
//! # Deterministic given its seeds
//!
//! Given its own seed, the joint seed, its items in their order, and the peer's messages, a party
//! always sends the same bytes in the same messages and learns the same, whatever the number of
//! threads and whichever instructions the kernels use. In parts this holds for each part, whatever
//! the number of streams, the budget for memory and what was spilled, and for a count by `dh` as
//! well. So a part that runs again answers what it answered before, or hears something else.
//!
//! - *One source.* A party's randomness is a `Prg`, and a protocol draws all of it from
//!   `Context::rng`. No protocol asks the operating system.
//! - *Drawn before threads begin.* Parallel work gets forks of the generator, or blocks of its
//!   stream that are known by their place (`Prg::fill_at`), and none draws from what others draw
//!   from. Results are collected in the order of tasks (`parallel::map`). Where work is cut by the
//!   number of threads, the cut does not show: sorting into bins is stable, sums are exact, and the
//!   length of a message never follows from it.
//! - *Known by its number.* A part's randomness is a child of the session's (`Prg::child`): it
//!   depends neither on the stream that the part runs on, nor on which other parts run. The joint
//!   seed of a part is derived likewise.
//! - *Items have one order.* A table is read by many threads, and taken in the order of its rows.
//!   Partitions are poured into parts as chance will have it; a part notes what came at a time, and
//!   puts it in order as it is read (`Spilled`): a copy to another place, and no sort.
//! - *What is free.* The interleaving of the two directions of an exchange, and of streams: no
//!   message depends on it.
//! - *Tests.* The harness runs every protocol and every output with 1, 2 and 7 threads, unequal on
//!   the two sides, and in parts over one stream and over three, and compares all messages; of a
//!   million items, nightly. The hashes of what is said about a few items are snapshots: the
//!   nightly runs on narrower instructions compare with them, and a change of the wire that nobody
//!   meant is noticed.

#![forbid(unsafe_code)]

mod base_params;
mod batches;
mod context;
mod conversation;
pub mod items;
pub mod mask_params;
pub mod masks;
pub mod ots;
pub mod output;
pub mod output_bytes;
pub mod output_hash;
pub mod pair;
pub mod payloads;
mod plan;
mod positions;
mod protocol;
mod request;
mod router;
pub mod sorted_masks;

mod cost;
mod decided;
mod error;
mod groups;
pub mod ledger;
mod shares;

pub use base_params::BaseParams;
pub use batches::{BatchInput, Batches};
pub use context::{Context, Input, Observer, Phases};
pub use conversation::Conversation;
pub use cost::{Cost, Dialogue, Traffic};
pub use error::{Error, ErrorKind, Result};
pub use groups::{Group, Groups};
pub use items::{Fingerprint, Items};
pub use ledger::Ledger;
pub use output::{Columns, Matched, Output, OutputKind, Payloads, Totals};
pub use plan::{
    ColumnSum, Derived, Parameter, Parts, Party, Plan, Prepared, parameters, prepare, run,
    run_batches,
};
pub use protocol::{Adversary, Info, Protocol};
pub use psijoin_ot::BaseOts;
pub use psijoin_params::Role;
pub use request::Request;
pub use router::Router;
pub use shares::{Shares, TotalShares};
