//! A large session as many small runs, its *parts*.
//!
//! A run of 2^20 items takes the least time per item: its tables stay in the caches of a core. So a
//! larger session is cut into parts of about that size ([`psijoin_params::parts`]), whatever its
//! protocol, and each part is a run of its own.
//!
//! 1. A further word of the salted hash that an item's digest is cut from chooses its part. It is
//!    uniform, and unknown before both sets were fixed.
//! 2. Each party fills each part up to a *capacity* with random digests, which match nothing. The
//!    capacity follows from the sizes of the sets. So does all that is sent, in length and order.
//! 3. The parts run one after the other, or several at a time over streams of their own
//!    ([`Context::streams`](psijoin_psi::Context::streams)): part p on stream p mod s of s. The
//!    channel of the session then carries only what follows the parts.
//! 4. Rows are found part by part. Of everything else the parts give *shares*, which each party
//!    adds up or keeps. The receiver's output is opened once, in the end
//!    ([`opening`](psijoin_psi_functions::functions::opening)).
//!
//! | to be learned | each part gives | in the end |
//! |---|---|---|
//! | rows, payloads | rows, payloads | |
//! | rows, if enough items are shared | shares of bits, and of their number | compare; open the bits |
//! | count, sums, threshold | shares of totals | compare if need be; open the totals |
//! | totals of groups | shares of totals | compare if need be; open the totals |
//! | shares | shares | |
//! | shares of totals | the same | |
//!
//! So no part's count is ever opened. A protocol that counts without shares, as `dh` does, cannot
//! count in parts.
//!
//! **Security.** The messages of semi-honest parties tell nothing that those of one run would not:
//! each part is a run on sets of public sizes, and the part of an item tells nothing about the
//! item. The time that a receiver spends on a part's rows may tell something. Computational
//! security is that of one run for each part, and log2 of their number less for all. With malicious
//! parties each part is an instance of the functionality. A party may fill parts up with items of
//! its own, so its set may be larger than announced, up to the sum of the capacities, one percent
//! or so; and it may choose the items of a part when it has seen the results of earlier parts.
//! `docs/scale.md` says more.
//!
//! **What parts share.** Channels, and the public codes of silent OT and vector OLE
//! ([`kept`](psijoin_ot::block_accumulate::kept)), which nobody writes to. Keys, seeds and base OTs
//! are fresh for each part: its randomness is a [child](psijoin_block::Prg::child) of the party's,
//! by the part's number, whatever other parts run and wherever.
//!
//! **Going on.** A session keeps what each part gave in a [`Ledger`](psijoin_psi::Ledger), if it is
//! given one. A later attempt runs the parts that [remain](Remaining), with fresh randomness, on
//! items that were digested under the seed of the first attempt: so items are in the parts that
//! they were in.
//!
//! **Cost.** That of a part, times the number of parts; and that of the opening. A plan's cost is
//! of a run over one stream. With more streams the bytes are the same, and flights pass at the same
//! time.
//!
//! # How it is built
//!
//! - *One mechanism for all protocols* (`psi-parts`). A part is the plan of any protocol, for sets
//!   of the capacities, at the σ of a part. A plan in parts is a `Plan` like any other: the
//!   registry, the handshake, costs and reports do not tell them apart, and the harness runs every
//!   protocol through parts as it runs it alone (`kkrt::parts::…`).
//! - *Items fill up, not messages.* A part is filled up with random digests before the protocol
//!   sees it. So whatever a protocol sends has the length of full parts, and no protocol knows that
//!   there are parts. That costs 0.7 % of everything.
//! - *The part is not in the digest.* It comes from a further word of the same hash. So within a
//!   part digests are uniform, as all bounds of hashing to bins assume.
//! - *Totals* are a kind of output that no user asks for: shares of sums over the shared items.
//!   Parts give them instead of a count or sums, and `functions::opening` opens their totals. A
//!   single run is a session of one part.
//! - *A level to the hundredth of a bit.* σ of a part is σ + log2(k) and a little. Rounded up to a
//!   whole bit, `rr22` takes 168.7 bits per item at 10^9 items, and not 168.0.
//! - *Tables may spill* (`psi_parts::Spilled`, over a `spill::Store`). Parts are partitions of a
//!   store anyway, so a part is read back as one run of chunks. The store knows bytes and no items.
//!   Its stores share a budget, and the largest partition of all goes to disk first: so chunks are
//!   large, and a store that holds much makes room for one that is being filled.
//! - *Items of a plan in parts are known by rows* (`session::table`). The program reads every table
//!   into partitions (`table::TableKeys`), since it is read before the plan is known. Then a plan
//!   in parts pours them into a `Spilled`, partition by partition, and an item's position is its
//!   first row: no list of all items is needed. One that takes batches reads partition by
//!   partition. For any other plan all items are gathered, and the position is the item's number. A
//!   job has one plan, so it never mixes the two, and its identity of a table covers keys, first
//!   rows and numbers.
//! - *A count by `dh` is no session in parts*, since its parts would each tell a count. It is one
//!   run that takes its items batch by batch (`Plan::takes_batches`, `run_batches`), in external
//!   memory: a shuffle over random buckets (`psi_pk::dh::shuffle`) at the sender, a comparison by
//!   partitions of masks (`mask_partitions`) at the receiver, over stores with the table's budget.
//!   There is one implementation: a run in memory has an unlimited budget. So what is said cannot
//!   depend on memory, and the other side need not know.
//! - *Numbers of items are checked first.* A table that knows how many items its parts have
//!   (`Table::items`) announces it before anything is sent. An overflow found later would tell the
//!   other side which part it was.
//! - *Stages.* Whoever has the parts' items in several places, as a cluster has, runs each part
//!   where its items are ([`Session::run_part`]), gathers what they gave, and
//!   [concludes](Session::conclude) once. The other side cannot tell.
//! - *Turns.* There is one stream more than threads compute, and a thread gives its turn away while
//!   it waits (`channel::turns`): in the queues of the memory channel, the links of `transport`,
//!   the end of an exchange. Nobody waits for another thread while it holds a turn, or all could
//!   wait for each other. The earlier part goes first, also on the line: if all streams sent at
//!   once, all parts would be through at the same time, and the line idle until the next ones
//!   begin.

#![forbid(unsafe_code)]

mod done;
mod gathered;
mod lanes;
mod output;
mod plan;
mod remaining;
mod session;
mod shared_places;
mod spilled;
pub mod synthetic;
mod table;

pub use done::Done;
pub use gathered::Gathered;
pub use lanes::{channels, streams};
pub use plan::{in_parts, plan};
pub use remaining::{Remaining, steps};
pub use session::{Learned, Session, run};
pub use shared_places::SharedPlaces;
pub use spilled::{Found, Given, Spilled, given_range_rows};
pub use table::{InMemory, Part, Table};
