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
//! [`run`] does 2 and 3, overlapping where a protocol can; so does [`run_batches`], for a plan that takes items some at a time. A protocol implements a [`Party`] for
//! each role. A caller goes through [`prepare`] and [`run`], which check what they are given and
//! tell the peer if this party gives up.
//!
//! The interface is at the root. Beside it:
//!
//! | module | what lives there |
//! |---|---|
//! | [`output`] | what can be learned |
//! | [`items`] | fixed-size digests of items, under a salt of both parties |
//! | [`ots`] | the part of OTs in a [`Conversation`] |
//! | [`masks`], [`sorted_masks`], [`output_hash`], [`mask_params`] | what stands for items at the end of a protocol |
//! | [`payloads`] | what travels with shared items |
//! | [`pair`] | both parties in one process, for tests, benches and demonstrations |
//!
//! The protocols themselves live in crates of their own, family by family; the crate `psijoin` lists
//! them all, and is what to depend on.

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
pub mod output_hash;
pub mod pair;
pub mod payloads;
mod plan;
mod positions;
mod protocol;
mod request;
pub mod sorted_masks;

mod cost;
mod decided;
mod error;
pub mod ledger;
mod shares;

pub use base_params::BaseParams;
pub use batches::{BatchInput, Batches};
pub use context::{Context, Input, Observer, Phases};
pub use conversation::Conversation;
pub use cost::{Cost, Dialogue, Traffic};
pub use error::{Error, ErrorKind, Result};
pub use items::{Fingerprint, Items};
pub use ledger::Ledger;
pub use output::{Columns, Matched, Output, OutputKind, Payloads, Totals};
pub use plan::{
    ColumnSum, Derived, Parameter, Parts, Party, Plan, Prepared, parameters, prepare, run,
    run_batches,
};
pub use protocol::{Adversary, Info, Protocol};
pub use request::{Request, Role};
pub use shares::{Shares, TotalShares};
