//! The common ground of psijoin's program and its Python package: what people are told of a join,
//! and what they can do about it.
//!
//! Both make a [`JoinSpec`](psijoin_session::JoinSpec) of what their users say, have it
//! [run](run::join), and are a [`Listener`] meanwhile. Nothing here reads a command line, prints, or
//! ends the process.
//!
//! | module | what lives there |
//! |---|---|
//! | `listener` | who is told what happens |
//! | [`run`] | a join, carried out while somebody listens |
//! | `narrator`, [`sentences`] | what happens in a session, in words |
//! | `remedy` | what users can do about an error or a warning, in terms of the library |
//! | `exit` | failures, and the exit codes that stand for them |
//! | `notes`, [`report`] | what becomes known of a run, and what scripts read of it |
//! | [`statement`] | what was run and learned, for people |
//! | [`planning`] | what a join will take, for people and for scripts |
//! | `progress` | how far a piece of work is |
//! | [`home`], [`calibration`] | what is kept for a user: an identity, how far jobs are, how fast the machine is |
//! | [`files`] | files that users name |
//! | [`sizes`], [`grid`] | sizes as people write them; tables of text |

#![forbid(unsafe_code)]

pub mod calibration;
mod exit;
pub mod files;
pub mod grid;
pub mod home;
mod listener;
mod narrator;
mod notes;
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
pub use notes::{Known, NamedFiles, Notes, Wanted};
pub use progress::{Model, Position, beside, goes_on};
pub use remedy::{FileRemedy, Remedy, TableRemedy};
