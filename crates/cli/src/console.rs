//! The program's messages for people, on standard error: no data, so everything unprintable is
//! escaped, wherever it goes.

use std::{
    fmt::Display,
    io::{self, Write},
    sync::Arc,
};

use psijoin_printable::{Escaped, Lines};
use psijoin_session::{Error, Warning};

use crate::{
    exit::Failure,
    log, program,
    progress::{self, Position},
    ways_out::{self, Hint},
    words::with_hint,
};

/// Tells, or keeps silent.
#[derive(Clone)]
pub enum Console {
    /// To a person.
    Aloud,
    /// To a log, with time and level.
    Logged,
    /// To whoever has the program as a library.
    Heard(Arc<dyn Listener>),
    Silent,
}

/// Hears what would be said to a person.
pub trait Listener: Send + Sync {
    /// Takes a message that a person might want to read.
    fn say(&self, text: &str);

    /// Takes a warning, and advice about it.
    fn warn(&self, text: &str, hint: Option<&str>);

    /// Returns advice about an error, if there is any. It comes with the error.
    fn about_error(&self, _error: &Error) -> Option<Hint> {
        None
    }

    /// Returns advice about a warning, if there is any. It comes with the warning.
    fn about_warning(&self, _warning: &Warning<'_>) -> Option<Hint> {
        None
    }

    /// Takes the position of a piece of work: bytes done, and bytes in all, 0 if unknown. Called
    /// some ten times a second.
    fn at(&self, what: &str, bytes: u64, total_bytes: u64);
}

impl Console {
    /// Returns the console of a command: a log if the user asked for one, and otherwise for a
    /// person.
    pub fn wanted() -> Self {
        match log::is_wanted() {
            true => Self::Logged,
            false => Self::Aloud,
        }
    }

    /// Says one line, or several. In a log each is a line of its own, with time and level.
    pub fn say(&self, text: impl Display) {
        match self {
            Self::Aloud => line_to_stderr(text),
            Self::Logged => each_line(text, |line| tracing::info!("{line}")),
            Self::Heard(listener) => each_line(text, |line| listener.say(line)),
            Self::Silent => {}
        }
    }

    /// Says what the user should think about.
    pub fn warn(&self, text: impl Display) {
        match self {
            Self::Aloud => line_to_stderr(warning(text)),
            Self::Logged => each_line(text, |line| tracing::warn!("{line}")),
            Self::Heard(listener) => each_line(text, |line| listener.warn(line, None)),
            Self::Silent => {}
        }
    }

    /// Says what the user should think about, and what to do about it.
    pub(crate) fn advise(&self, text: &str, hint: Option<&str>) {
        match self {
            Self::Heard(listener) => listener.warn(&harmless(text), hint.map(harmless).as_deref()),
            _ => self.warn(with_hint(text, hint)),
        }
    }

    /// Says what must not be overlooked, though nothing failed: also if the log leaves such things
    /// out.
    pub(crate) fn insist(&self, text: impl Display) {
        match self {
            Self::Logged if !tracing::enabled!(tracing::Level::INFO) => line_to_stderr(text),
            _ => self.say(text),
        }
    }

    /// Runs `work`, and shows how far it is if that takes a while. `position` is asked from time to
    /// time; it may be bytes done and bytes in all.
    pub fn during<T, P: Into<Position>>(
        &self,
        what: &str,
        mut position: impl FnMut() -> P + Send,
        work: impl FnOnce() -> T,
    ) -> T {
        let position = || position().into();
        let what = &Escaped(what).to_string();
        match self {
            Self::Aloud => progress::shown(what, position, work),
            Self::Logged => {
                tracing::debug!("{what}");
                progress::logged(what, position, work)
            }
            Self::Heard(listener) => progress::heard(what, &**listener, position, work),
            Self::Silent => work(),
        }
    }
}

/// The advice to people depends on how they have this program.
impl Console {
    /// Returns what users do about a failure.
    pub(crate) fn hint(&self, failure: &Failure) -> Option<Hint> {
        match failure {
            Failure::Session(error) => self.hint_of_error(error),
            _ => None,
        }
    }

    /// Returns what users do about an error.
    pub(crate) fn hint_of_error(&self, error: &Error) -> Option<Hint> {
        match self {
            Self::Heard(listener) => listener.about_error(error),
            _ => ways_out::of_error(error),
        }
    }

    /// Returns what users do about a warning.
    pub(crate) fn hint_of_warning(&self, warning: &Warning<'_>) -> Option<Hint> {
        match self {
            Self::Heard(listener) => listener.about_warning(warning),
            _ => ways_out::of_warning(warning),
        }
    }

    /// Returns what users do who find next to nothing.
    pub(crate) fn hint_of_few_shared(&self) -> Option<Hint> {
        match self {
            Self::Heard(_) => None,
            _ => Some(Hint::Borrowed(ways_out::OF_FEW_SHARED)),
        }
    }
}

impl Console {
    /// Says at once why the program fails, where a person is to read it.
    pub(crate) fn fail(&self, why: &str, hint: Option<&str>) {
        match self {
            // Whoever called gets it.
            Self::Heard(_) => {}
            _ => failed(why, hint),
        }
    }
}

/// Says why the program failed, and what can be done.
pub(crate) fn failure(failure: &Failure) {
    failed(&failure.to_string(), failure.hint().as_deref());
}

/// Says why a program failed, and what can be done, if that is known.
pub fn failed(failure: &str, hint: Option<&str>) {
    if log::is_wanted() && tracing::enabled!(tracing::Level::ERROR) {
        let told = hint.map(|hint| format!("hint: {hint}"));
        each_line(failure, |line| tracing::error!("{line}"));
        each_line(told.unwrap_or_default(), |line| tracing::error!("{line}"));
        return;
    }
    line_to_stderr(format_args!("{}: {failure}", program::name()));
    if let Some(hint) = hint {
        line_to_stderr(format_args!("  hint: {hint}"));
    }
}

/// Returns a warning where nothing else tells that it is one.
pub fn warning(text: impl Display) -> String {
    format!("WARNING: {text}")
}

/// Returns the text so that no terminal obeys what is in it.
pub(crate) fn harmless(text: impl Display) -> String {
    Lines(&text.to_string()).to_string()
}

fn each_line(text: impl Display, tell: impl FnMut(&str)) {
    harmless(text).lines().for_each(tell);
}

pub(crate) fn line_to_stderr(line: impl Display) {
    let line = harmless(line) + "\n";
    // If nobody reads this, nobody can be told so.
    let _ = io::stderr().write_all(line.as_bytes());
}
