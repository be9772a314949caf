//! What the program tells people, on standard error.

use std::{
    fmt::Display,
    io::{self, Write},
};

use crate::exit::Failure;

/// Tells, or keeps silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Talk {
    Aloud,
    Silent,
}

impl Talk {
    /// Says one line.
    pub(crate) fn say(self, line: impl Display) {
        if self == Self::Aloud {
            line_to_stderr(line);
        }
    }

    /// Runs `work`, and shows how far it is if that takes a while. `position` gives how many
    /// bytes are done, and how many there are: 0 if that is not known.
    pub(crate) fn during<T>(
        self,
        what: &str,
        position: impl Fn() -> (u64, u64) + Sync,
        work: impl FnOnce() -> T,
    ) -> T {
        match self {
            Self::Aloud => crate::progress::shown(what, position, work),
            Self::Silent => work(),
        }
    }
}

/// Says why the program failed, and what can be done.
pub(crate) fn failure(failure: &Failure) {
    line_to_stderr(format_args!("psijoin: {failure}"));
    if let Some(hint) = failure.hint() {
        line_to_stderr(format_args!("  hint: {hint}"));
    }
}

fn line_to_stderr(line: impl Display) {
    // When nobody listens, there is nobody to tell that either.
    let _ = writeln!(io::stderr(), "{line}");
}
