//! The start of a program: `psijoin`, and `psijoin-lab` beside it.

use std::{ffi::OsString, process};

use clap::Parser;
use psijoin_printable::is_all_printable;

use crate::{console, exit::Failure, guard, log};

/// Reads the arguments, the first of which is the program's name. Ends the process if they ask for
/// help or are wrong.
pub fn understand<Args: Parser>(args: impl IntoIterator<Item = OsString>) -> Args {
    console::speak_as(Args::command().get_name());
    let args: Vec<OsString> = args.into_iter().collect();
    Args::try_parse_from(&args).unwrap_or_else(|error| misunderstood(&args, &error))
}

/// Says what is wrong with these arguments, or helps, and ends the process.
fn misunderstood(args: &[OsString], error: &clap::Error) -> ! {
    let is_printable = |arg: &OsString| is_all_printable(&arg.to_string_lossy());
    if args.iter().skip(1).all(is_printable) {
        error.exit();
    }
    // It may repeat them as they are. Somebody else may have written them: a fingerprint, an
    // address.
    console::line_to_stderr(error.render().to_string().trim_end());
    process::exit(error.exit_code())
}

/// Makes the program log what the user asked for, and end with a line and an exit code whatever
/// happens.
///
/// # Errors
/// If the level of the log is unknown, or there is no memory.
pub fn prepare() -> Result<(), Failure> {
    log::to_stderr()?;
    guard::install()
}
