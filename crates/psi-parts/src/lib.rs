//! A large session as many small runs, its *parts*.
//!
//! A run of 2^20 items takes the least time per item: its tables stay in the caches of a core. So a
//! larger session is cut into parts of about that size ([`psijoin_params::parts`]), whatever its
//! protocol, and each part is a run of its own.
//!
//! 1. A further word of the salted hash that an item's digest is cut from says which part it is in.
//!    It is uniform, and unknown before both sets were fixed.
//! 2. Each party fills each part up to a *capacity* with random digests, which match nothing. The
//!    capacity follows from the sizes of the sets. So does all that is sent, in length and order.
//! 3. The parts run one after the other, or several at a time over streams of their own
//!    ([`Context::streams`](psijoin_psi::Context::streams)): part p on stream p mod s of s.
//! 4. Rows are found part by part. Of everything else the parts give *shares*, which each party adds
//!    up or keeps. What the receiver is to learn is opened once, in the end
//!    ([`opening`](psijoin_psi_functions::functions::opening)).
//!
//! | to be learned | each part gives | in the end |
//! |---|---|---|
//! | rows, payloads | rows, payloads | |
//! | rows, if enough items are shared | shares of bits, and of their number | compare; open the bits |
//! | count, sums, threshold | shares of totals | compare if need be; open the totals |
//! | shares | shares | |
//! | shares of totals | the same | |
//!
//! So no part's count is ever opened. A protocol that counts without shares, as `dh` does, cannot count
//! in parts.
//!
//! **Security.** The messages of semi-honest parties tell nothing that those of one run would not: each part is a run on
//! sets of public sizes, and which part an item is in says nothing about it. How long a receiver looks at a part's rows
//! may. Computational security is that of one run for each part, and log2 of their number less for all. With malicious parties each part
//! is an instance of the functionality. A party may fill parts up with items of its own, so its set may be
//! larger than it said by what capacities add up to, one percent or so; and it may choose the items of
//! a part when it has seen the results of earlier parts. `docs/scale.md` says more.
//!
//! **What parts share.** Channels, and the public codes of silent OT and vector OLE
//! ([`kept`](psijoin_ot::block_accumulate::kept)), which nobody writes to. Keys, seeds and base OTs are fresh for
//! each part: its randomness is a [child](psijoin_block::Prg::child) of the party's, by the part's number, whatever other parts run
//! and wherever.
//!
//! **Going on.** A session keeps what each part gave in a [`Ledger`](psijoin_psi::Ledger), if it is given one. A
//! later attempt runs the parts that [remain](Remaining), with fresh randomness, on items that were digested under the
//! seed of the first attempt: so items are in the parts that they were in.
//!
//! **Cost.** That of a part, times the number of parts; and that of the opening. A plan's cost is of a run over
//! one stream. With more streams the bytes are the same, and flights pass at the same time.

#![forbid(unsafe_code)]

mod lanes;
mod plan;
mod remaining;
mod session;
mod spilled;
pub mod synthetic;
mod table;

pub use lanes::streams;
pub use plan::{in_parts, plan};
pub use remaining::{Remaining, steps};
pub use session::run;
pub use spilled::{Found, Given, Spilled, given_range_rows};
pub use table::{InMemory, Part, Table};
