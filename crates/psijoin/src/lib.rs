//! Private set intersection: two parties hold a set each, and one of them learns which items are in
//! both, or a function of that. Neither learns anything else, except the sizes of the sets.
//!
//! ```
//! use psijoin::channel::memory;
//!
//! // Two ends of a channel: here in one process, otherwise `psijoin::transport` over TCP and TLS.
//! let (mut alice, mut bob) = memory::pair();
//! let shared = std::thread::scope(|scope| {
//!     scope.spawn(|| psijoin::send(&mut alice, &["ann", "bob", "eve"]));
//!     psijoin::receive(&mut bob, &["bob", "joe", "ann"])
//! })?;
//! assert_eq!(shared, [0, 2]);
//! # Ok::<(), psijoin::JoinError>(())
//! ```
//!
//! [`Join`] names one of 31 protocols, and the output: rows, a count, whether a threshold is
//! reached, sums over columns, totals by [`Groups`], or [shares](circuits) of the intersection for
//! any circuit. The other party can be the program `psijoin`, too, for all but groups.
//!
//! # One level below
//! A [`Join`] hashes items, compares how both sides were set up, draws a seed, plans and runs. To
//! do some of that in another way, take the parts:
//!
//! 1. [`plan`](fn@plan) makes a [`Plan`] for a [`Protocol`] of the [`registry`] from a [`Request`],
//!    with every parameter derived and the [`Cost`] known to the byte. Large sets are planned in
//!    [`parts`];
//! 2. once both parties have fixed their sets, they draw a [`JointSeed`] over their channel, and
//!    each digests its items under it ([`Plan::items`]);
//! 3. [`run`] does the rest. Or [`prepare`] does what needs no input, and [`Prepared::run`] what
//!    does.
//!
//! | module | contents |
//! |---|---|
//! | [`settings`] | the names of what two parties compare before data moves |
//! | [`registry`], [`mod@auto`] | all protocols by name, and the choice of one by the sizes and the network |
//! | [`channel`] | the connections of parties: in memory, emulated links, counters |
//! | [`transport`] | TCP and TLS 1.3 with pinned peers (feature `transport`, on by default) |
//! | [`record`] | a run of two parties, as a document that both sign (feature `transport`) |
//! | [`parts`] | large sessions as many small runs, over tables that need not fit into memory |
//! | [`spill`] | the place of a table that does not fit into memory |
//! | [`circuits`] | computing with shares of the intersection |
//! | [`blocks`] | oblivious PRFs, a key-value store, oblivious transfer and vector OLE for themselves |
//! | [`share_file`] | shares in a file |
//! | [`ledger`] | the state that a party keeps of a session, so that one that broke off can be resumed |
//! | [`pair`] | both parties in one process, for tests and benches |

#![forbid(unsafe_code)]

pub mod auto;
pub mod blocks;
pub mod planner;
pub mod registry;
pub mod settings;
pub mod share_file;

mod join;
mod key;

pub use join::{Join, JoinError, NumberJoin, receive, send};
pub use psijoin_channel::{self as channel, Channel, joint_seed::JointSeed};
pub use psijoin_files::spill;
pub use psijoin_params::{Error as ParametersError, FailureBudget, Log2Prob, Security, Sizes};
pub use psijoin_psi::{
    Adversary, BaseOts, BatchInput, Batches, Columns, Context, Cost, Error, ErrorKind, Fingerprint,
    Group, Groups, Info, Input, Items, Ledger, Matched, Observer, Output, OutputKind, Parameter,
    Payloads, Phases, Plan, Prepared, Protocol, Request, Role, Router, Shares, TotalShares, Totals,
    Traffic, items, ledger, pair, prepare, run, run_batches,
};
pub use psijoin_psi_parts::{self as parts, plan};
#[cfg(feature = "transport")]
pub use psijoin_record as record;
pub use psijoin_runtime::parallel::Pool;
#[cfg(feature = "transport")]
pub use psijoin_transport as transport;

/// Computing with shares of the intersection: any [`Circuit`](circuits::Circuit), whose outputs are
/// all that anybody learns.
pub mod circuits {
    pub use psijoin_circuit::{Backend, Bits, Lanes, arithmetic, compare, select};
    pub use psijoin_psi_functions::shares::{Circuit, Places, evaluate};
}

/// Its example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Its examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/blocks.md")]
struct Blocks;
