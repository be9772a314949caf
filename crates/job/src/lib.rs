//! A folder that keeps what a session has computed, so that one that broke off can go on.
//!
//! | file | what is in it |
//! |---|---|
//! | `lock` | that the folder is a job's; whoever works in it holds its lock |
//! | `key` | the key that results, the seed and the command are sealed under |
//! | `job` | what was agreed on, as JSON ([`Job`]); the seed of the items' digests, the columns and the command are sealed |
//! | `results` | what each step said, heard and gave, sealed, one record after the other ([`results`]) |
//!
//! The folder and its files are their owner's alone (0700, 0600). A folder that others can read or change, or that
//! is another user's, is refused. When a job has [ended](Folder::end), nothing is left but its lock and `job`, without
//! what was sealed under `key`.
//!
//! **Answered once.** What a step says follows from a seed that `results` keeps. It is said again only if the same was heard
//! before it, so whoever comes back with another set, an old copy of a folder or an edited one gets no other answer. An old
//! copy of the own folder is refused as far as a mark of how far the job had come can be kept outside of it.
//!
//! **Durability.** `job` appears as a whole or not at all. A record is on the disk before anybody relies on it: before
//! the message that it allows is sent, and before [`keep`](psijoin_psi::Ledger::keep) returns. A last record that is not
//! whole was never relied on, and is ignored; any other damage is an error. No decision depends on a clock.
//!
//! **Sealing.** AES-256-GCM, under a key of the folder's own. Each record is bound to its job and its place
//! in the file. Nonces are random: 2^-49 bounds a repetition among 2^24 records. The key lies in the
//! same folder: it protects what is copied or left behind without it, such as parts of a disk, and the `results` of an
//! ended job; not from whoever can read the folder. What has to be the same whenever the job goes on is recognised by
//! hashes under a key of the owner's, which does not lie in the folder, and so is `job` as a whole.

#![forbid(unsafe_code)]

pub mod account;
mod codec;
mod error;
mod folder;
mod job;
mod log;
mod mark;
pub mod results;
mod seal;

pub use account::Account;
pub use error::{Error, Kind};
pub use folder::{Begun, Folder, Owner, Status};
pub use job::{Columns, Ended, Job, Term};
pub use results::Results;
