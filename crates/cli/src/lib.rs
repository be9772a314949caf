//! The program `psijoin`: two parties join their private tables. It is a library, so that it can be
//! in other programs, too: the Python package is one. Modules that the documentation does not show
//! are public for `psijoin-lab` only.
//!
//! | module | what lives there |
//! |---|---|
//! | `program` | how a program of these begins |
//! | `args` | what can be said on the command line |
//! | [`embedded`] | joins for other programs |
//! | `order` | what `send` and `receive` are told, checked, and what is wanted of the [session](psijoin_session) |
//! | `conduct` | what is wanted, carried out |
//! | `commands`, `moved` | one module per command; what has another name now |
//! | `dialect`, `meeting`, `terms` | how a table is written, who the parties are, what they agree to, as the command line says it |
//! | `home` | the user's own identity |
//! | `exit` | every failure, and the exit code that it ends with |
//! | `clashes` | files of a run that must not be the same |
//! | `deadline` | the time that a join has in another program |
//! | `guard`, `interrupt` | ends that are not in order: no memory, panics, deadlines, Ctrl-C |
//! | `teller`, `words` | what a session tells, in words |
//! | `ways_out` | the options that do something about an error or a warning |
//! | `record`, `report` | what is known about a run, and what scripts read about it |
//! | `closing_statement` | what was run and learned, for people |
//! | `console`, `log`, `progress`, `output` | what goes to standard error, and what to standard output |

#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod args;
mod calibration;
mod clashes;
mod closing_statement;
#[doc(hidden)]
pub mod commands;
mod conduct;
#[doc(hidden)]
pub mod console;
mod deadline;
mod dialect;
pub mod embedded;
#[doc(hidden)]
pub mod exit;
#[doc(hidden)]
pub mod grid;
#[doc(hidden)]
pub mod guard;
mod home;
mod interrupt;
mod log;
#[doc(hidden)]
pub mod loopback;
mod meeting;
mod moved;
mod order;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod processor;
#[doc(hidden)]
pub mod program;
#[doc(hidden)]
pub mod progress;
mod record;
mod report;
mod report_file;
#[doc(hidden)]
pub mod sizes;
mod teller;
mod terms;
mod ways_out;
mod words;

use std::ffi::OsString;

use psijoin_printable::humanize;

use crate::args::Args;

/// As the program has it: tests of the [`guard`] run out of memory.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: psijoin_block::memory::ReportingAllocator =
    psijoin_block::memory::ReportingAllocator;

/// Runs the program as the only thing in this process, with these arguments, and returns its exit
/// code. The first argument is the program's name.
///
/// It may end the process itself: where the arguments ask for help or are wrong, when no memory is
/// left, when something panics, and after Ctrl-C.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(code) = moved::refuse(&args) {
        return code as u8;
    }
    let args: Args = program::understand(args);
    let done = program::prepare()
        .map_err(|failure| {
            console::failure(&failure);
            failure.exit_code()
        })
        .and_then(|()| commands::run(args.command));
    match done {
        Ok(()) => 0,
        Err(code) => code as u8,
    }
}
