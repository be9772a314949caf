//! The program `psijoin`: two parties join their private tables. It is a library, so that the
//! Python package can bring the program along. Modules that the documentation does not show are
//! public for `psijoin-lab` only.
//!
//! | module | contents |
//! |---|---|
//! | `program` | the start of each program |
//! | `args` | the arguments of the command line |
//! | `invocation` | the arguments of `send` and `receive`, checked, as a request to the [session](psijoin_session) |
//! | `commands`, `old_names` | one module per command; the options that were renamed |
//! | `dialect`, `parties` | the options for the form of a table, and for the parties |
//! | `passphrase` | the passphrase of an identity, from a file or the terminal |
//! | `profile`, `asking` | options from a file, and from answers at a terminal |
//! | `exit` | the failures that only a program can have, and the exit codes |
//! | `guard`, `interrupt` | ends that are not in order: no memory, panics, deadlines, Ctrl-C |
//! | `hints` | [remedies](psijoin_frontend::Remedy) as options and commands |
//! | `console`, `listener`, `log`, `progress`, `output` | standard error, and standard output |
//!
//! The texts for people are in [`psijoin_frontend`].

#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod args;
mod asking;
#[doc(hidden)]
pub mod commands;
#[doc(hidden)]
pub mod console;
mod dialect;
#[doc(hidden)]
pub mod exit;
#[doc(hidden)]
pub mod guard;
#[doc(hidden)]
pub mod hints;
mod interrupt;
mod invocation;
mod listener;
mod log;
#[doc(hidden)]
pub mod loopback;
mod old_names;
#[doc(hidden)]
pub mod output;
mod parties;
mod passphrase;
#[doc(hidden)]
pub mod processor;
mod profile;
#[doc(hidden)]
pub mod program;
mod progress;

use std::ffi::OsString;

use psijoin_printable::humanize;

use crate::{args::Args, exit::Failure};

/// As the program has it: tests of the [`guard`] run out of memory.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: psijoin_runtime::memory::ReportingAllocator =
    psijoin_runtime::memory::ReportingAllocator;

/// Runs the program as the only thing in this process, with these arguments, and returns its exit
/// code. The first argument is the program's name.
///
/// It may end the process itself: where the arguments ask for help or are wrong, when no memory is
/// left, when something panics, and after Ctrl-C.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if let Some(code) = old_names::refuse(&args) {
        return code as u8;
    }
    let failed = |failure: Failure| {
        console::failure(&failure);
        failure.exit_code()
    };
    let profile = match profile::apply(&mut args) {
        Ok(profile) => profile,
        Err(failure) => return failed(failure) as u8,
    };
    if let Err(failure) = asking::complete(&mut args) {
        return failed(failure) as u8;
    }
    let args: Args = program::understand(args);
    let done = program::prepare()
        .map_err(failed)
        .and_then(|()| commands::run(args.command, profile));
    match done {
        Ok(()) => 0,
        Err(code) => code as u8,
    }
}
