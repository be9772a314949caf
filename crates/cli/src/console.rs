//! What the program tells people, on standard error.

use std::{
    fmt::Display,
    io::{self, Write},
};

use crate::{
    exit::Failure,
    log,
    progress::{self, Position},
};

/// Tells, or keeps silent.
#[derive(Debug, Clone)]
pub(crate) enum Console {
    /// To a person.
    Aloud,
    /// To a log, with time and level.
    Logged,
    Silent,
}

impl Console {
    /// How a command talks: to a log if the user asked for one, and otherwise to a person, unless it
    /// shall be `quiet`.
    pub(crate) fn wanted(quiet: bool) -> Self {
        match (log::is_wanted(), quiet) {
            (true, _) => Self::Logged,
            (false, true) => Self::Silent,
            (false, false) => Self::Aloud,
        }
    }

    /// Says one line, or several.
    pub(crate) fn say(&self, text: impl Display) {
        match self {
            Self::Aloud => line_to_stderr(text),
            Self::Logged => tracing::info!("{text}"),
            Self::Silent => {}
        }
    }

    /// Says what the user should think about.
    pub(crate) fn warn(&self, text: impl Display) {
        match self {
            Self::Logged => tracing::warn!("{text}"),
            other => other.say(text),
        }
    }

    /// Runs `work`, and shows how far it is if that takes a while. `position` is asked from time to
    /// time; it may be bytes done and bytes in all.
    pub(crate) fn during<T, P: Into<Position>>(
        &self,
        what: &str,
        mut position: impl FnMut() -> P + Send,
        work: impl FnOnce() -> T,
    ) -> T {
        let position = || position().into();
        match self {
            Self::Aloud => progress::shown(what, position, work),
            Self::Logged => {
                tracing::debug!("{what}");
                progress::logged(what, position, work)
            }
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
    // If nobody reads this, nobody can be told so.
    let _ = writeln!(io::stderr(), "{line}");
}
