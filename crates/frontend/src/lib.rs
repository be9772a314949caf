//! The common ground of psijoin's program and its Python package: the messages about a join for
//! people, and the remedies for errors.
//!
//! Both make a [`JoinSpec`](psijoin_session::JoinSpec) from their users' input, have it
//! [run](run::join), and are a [`Listener`] meanwhile. Nothing here reads a command line, prints, or
//! ends the process.
//!
//! | module | contents |
//! |---|---|
//! | `listener` | the listener to the events of a join |
//! | [`run`] | a join, carried out while somebody listens |
//! | `narrator`, [`sentences`] | the events of a session, in words |
//! | `remedy` | remedies for errors and warnings, in terms of the library |
//! | `exit` | failures, and their exit codes |
//! | `notes`, [`report`] | the facts about a run, and the report for scripts |
//! | [`statement`] | the run and its result, for people |
//! | [`partner`] | the other party, by fingerprints or by its name |
//! | [`planning`] | the predicted cost of a join, for people and for scripts |
//! | `progress` | the progress of a piece of work |
//! | [`home`], [`calibration`] | the files of a user: an identity, the progress of jobs, the speed of the machine |
//! | [`files`] | files that users name |
//! | [`meeting`] | the place where the parties meet |
//! | [`sizes`], [`grid`] | sizes as people write them; tables of text |

#![forbid(unsafe_code)]

pub mod calibration;
mod exit;
pub mod files;
pub mod grid;
pub mod home;
mod listener;
pub mod meeting;
mod narrator;
mod notes;
pub mod partner;
pub mod planning;
mod progress;
mod remedy;
pub mod report;
pub mod run;
pub mod sentences;
pub mod sizes;
pub mod statement;

pub use exit::{Code, Failure, IntoSession};
pub use listener::{Hint, Listener};
pub use narrator::{Narrator, tell_doubt, tell_layout};
pub use notes::{AppliedProfile, Known, NamedFiles, Notes, Wanted};
pub use progress::{Model, Position, beside, goes_on};
pub use remedy::{FileRemedy, Remedy, TableRemedy};
