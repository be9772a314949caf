//! A folder that keeps what a session has computed, so that one that broke off can go on.
//!
//! | file | contents |
//! |---|---|
//! | `lock` | that the folder is a job's; whoever works in it holds its lock |
//! | `key` | the key that results, the seed and the command are sealed under |
//! | `job` | the parties' agreement, as JSON ([`Job`]); the seed of the items' digests, the columns and the command are sealed |
//! | `results` | the messages and the result of each step, sealed, one record after the other ([`results`]) |
//!
//! The folder and its files are their owner's alone (0700, 0600). A folder that others can read or
//! change, or that is another user's, is refused. When a job has [ended](Folder::end), nothing is
//! left but its lock and `job`, without what was sealed under `key`.
//!
//! **Answered once.** The messages of a step follow from a seed that `results` keeps. They are sent
//! again only if the same was received before them, so whoever comes back with another set, an old
//! copy of a folder or an edited one gets no other answer. An old copy of the own folder is refused
//! as far as a mark of the job's progress can be kept outside of it.
//!
//! **Durability.** `job` appears as a whole or not at all. A record is on the disk before anybody
//! relies on it: before the message that it allows is sent, and before
//! [`keep`](psijoin_psi::Ledger::keep) returns. A last record that is not whole was never relied
//! on, and is ignored; any other damage is an error. No decision depends on a clock.
//!
//! **Sealing.** AES-256-GCM, under a key of the folder's own. Each record is bound to its job and
//! its place in the file. Nonces are random: 2^-49 bounds a repetition among 2^24 records. The key
//! lies in the same folder: it protects what is copied or left behind without it, such as parts of
//! a disk, and the `results` of an ended job; not from whoever can read the folder. The settings
//! that must not change when the job is resumed are recognised by hashes under a key of the
//! owner's, which does not lie in the folder, and so is `job` as a whole.
//!
//! # How a session is resumed
//!
//! - *A ledger* (`psi::Ledger`) is asked for each step before it runs, and given its result. It
//!   comes with the `Context`, so `psijoin::run` resumes a session in parts, or a single run, in
//!   the same way. Protocols know nothing of it. Without one, nothing is kept.
//! - *Steps* are the parts, and then the opening. `psi_parts::Remaining` holds the rest of a plan,
//!   the number of its streams, and its cost to the byte: so the connection still says goodbye on
//!   its own after the last byte.
//! - *Answered once.* When a step begins, the ledger gives it a generator from the step's own seed,
//!   which it has drawn and kept before, and a *witness* (`channel::witness`). The witness
//!   decorates the channel for the time of the step. Before the first message after something was
//!   heard, it demands to have heard what it had heard in the first attempt, or keeps the hash if
//!   this is the first. Otherwise the channel fails with `PeerDiffers`, and tells the peer
//!   `OtherRun`. So a step's randomness serves one conversation (why that is enough
//!   (`docs/scale.md`)).
//! - *Noise* that a step adds to its answer is drawn before it begins, and kept with its seed: an
//!   attempt that goes on has the noise of the first. So nobody gets a second draw of it.
//! - *A fresh seed per step*, and none that others are derived from: who loses the record of a step
//!   loses its seed with it, so its randomness cannot meet another conversation. One seed
//!   (`Input::joint_seed`) is of both parties and of all attempts: that of the digests, hash
//!   functions and codes.
//! - *Failures that answer* (`ProtocolViolation`, `BadLuck`, `InternalFailure`) are kept before the
//!   peer is told. The job is then never resumed.
//! - *Shared progress.* A run of a step has a name, a hash of all its messages. After meeting
//!   again, both sides give an account of each step: whether it has begun, whether it ran more than
//!   once, and the name of the run that is done. A step is done where names are equal. Different
//!   names are errors, and so is a step that the other side has done with this side's messages and
//!   that this side does not know.
//! - *A folder* (`job`) is such a ledger on disk. `results` is only appended to, so a kill can
//!   spoil the last record only, which nobody has relied on yet. Records are few: per step a seed,
//!   a hash per flight, the result.
//! - *Settings and tables* are compared with hashes under a secret of the identity, which does not
//!   lie in the folder, all of them and both ways; so is `job` as a whole. They outlive the job's
//!   key, so that a job that is done can be told from one of another table.
//! - *A table is recognised* by a tag that is computed in the pass that counts its keys
//!   (`table::keys::identity`): an XOR MAC.
//! - *Another attempt* of the same process finds the items in the parts that they were poured into:
//!   its keys are not kept for that, and not read again.
//! - *A mark* of how long `results` is lies in `PSIJOIN_HOME`. It is written after the record, and
//!   not synced: it may fall behind, but is never ahead. A folder that is shorter is an old copy.
//! - *The receipt.* After its last step is on the disk, the receiver sends one byte more, and the
//!   session ends with that. A sender whose job ended with the last message would be gone when the
//!   receiver is killed before it has kept the last part.
//! - *Tests* run small sets in parts by the hidden option `--parts K`. It changes the plan, whose
//!   digest both sides compare.
//!
//! # What happens when it breaks
//!
//! | the break | the state of the folders | the consequence |
//! |---|---|---|
//! | before both have written the job | one has a job without steps, or none has | the job begins anew, with another seed |
//! | a side is killed in a part | that part is done on neither side, or on one | it runs again, with the messages of its first run, and its result stays on the side that has it |
//! | while a record is written | a last record that is not whole | it is cut off; the step is not done |
//! | an old copy of the own folder is put back | fewer records than were relied on | exit code 3: the job is lost, and both begin anew |
//! | the other side comes with another set, or a folder that was made to fit | the messages that this side has received | exit code 5 on both sides, and the true one can be resumed |
//! | a check fails in a step | that it has failed | exit code 5; the job is over, and both begin anew |
//! | in the opening, or after it on one side | all parts; the opening on one side at most | a receiver that has it finishes alone; otherwise it is opened again |
//! | the receiver, before its output is there | all steps | it writes its output alone |
//! | the sender, before it hears the receipt | all steps | it waits for the receiver; if nobody comes, it prints what that means (exit code 4) |
//! | one of two parties with shares, before it hears the receipt | all steps | it waits for the other. If the other's job has ended, this one cannot: both begin anew |
//! | while the job ends | `job` has the end | the rest of results and key is removed at the next look |
//! | the disk is full | the records kept before | exit code 3, and 7 on the other side; the same commands resume |
//! | the connection is lost, again and again | more steps each time, or not | the parties reconnect until `--wait` is over without a further step |

#![forbid(unsafe_code)]

pub mod account;
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
