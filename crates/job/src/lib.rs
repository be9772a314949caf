//! A folder that keeps what a session has computed, so that one that broke off can go on.
//!
//! | file | what is in it |
//! |---|---|
//! | `lock` | that the folder is a job's; whoever works in it holds its lock |
//! | `key` | the key that the rest is sealed under |
//! | `job` | what was agreed on, as JSON ([`Job`]); the seed of the items' digests and the command are sealed |
//! | `results` | what each finished step gave, sealed, one record after the other ([`results`]) |
//!
//! The folder and its files are their owner's alone (0700, 0600). A folder that others can read or change, or that
//! is another user's, is refused. When a job has [ended](Folder::end), nothing is left but its lock and `job`, without
//! what was sealed.
//!
//! **Durability.** `job` appears as a whole or not at all. A record is on the disk before
//! [`keep`](psijoin_psi::Ledger::keep) returns. A last record that is not whole was never relied on, and is ignored; any
//! other damage is an error. No decision depends on a clock.
//!
//! **Sealing.** AES-256-GCM, under a key of the folder's own. Each record is bound to its job and its place
//! in the file. Nonces are random: 2^-49 bounds a repetition among 2^24 records. The key lies in the
//! same folder: it protects what is copied or left behind without it, such as parts of a disk, and the `results` of an
//! ended job; not from whoever can read the folder.

#![forbid(unsafe_code)]

mod codec;
mod error;
mod folder;
mod job;
pub mod results;
mod seal;

pub use error::{Error, Kind};
pub use folder::{Begun, Folder, Status};
pub use job::{Ended, Job, Term};
pub use results::Results;
