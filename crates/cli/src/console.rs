//! The program's messages for people, on standard error: no data, so everything unprintable is
//! escaped, wherever it goes.

use std::{
    fmt::Display,
    io::{self, Write},
    sync::OnceLock,
};

use psijoin_frontend::{
    Failure, Position,
    sentences::{harmless, warning, with_hint},
};
use psijoin_printable::Escaped;

use crate::{hints, log, progress};

/// Tells, or keeps silent.
#[derive(Clone, Copy)]
pub enum Console {
    /// To a person.
    Aloud,
    /// To a log, with time and level.
    Logged,
    Silent,
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
            Self::Silent => {}
        }
    }

    /// Says what the user should think about.
    pub fn warn(&self, text: impl Display) {
        match self {
            Self::Aloud => line_to_stderr(warning(text)),
            Self::Logged => each_line(text, |line| tracing::warn!("{line}")),
            Self::Silent => {}
        }
    }

    /// Says what the user should think about, and what to do about it.
    pub(crate) fn advise(&self, text: &str, hint: Option<&str>) {
        self.warn(with_hint(text, hint));
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
            Self::Silent => work(),
        }
    }
}

static NAME: OnceLock<String> = OnceLock::new();

/// Sets the name of the program, with which messages about failures begin. The first one stays.
pub(crate) fn speak_as(program: &str) {
    NAME.get_or_init(|| program.to_owned());
}

fn name() -> &'static str {
    NAME.get().map_or("psijoin", String::as_str)
}

/// Says why the program failed, and what can be done.
pub(crate) fn failure(failure: &Failure) {
    failed(&failure.to_string(), hints::of_failure(failure).as_deref());
}

/// Says why a program failed, and what can be done, if that is known.
pub fn failed(failure: &str, hint: Option<&str>) {
    if log::is_wanted() && tracing::enabled!(tracing::Level::ERROR) {
        let told = hint.map(|hint| format!("hint: {hint}"));
        each_line(failure, |line| tracing::error!("{line}"));
        each_line(told.unwrap_or_default(), |line| tracing::error!("{line}"));
        return;
    }
    line_to_stderr(format_args!("{}: {failure}", name()));
    if let Some(hint) = hint {
        line_to_stderr(format_args!("  hint: {hint}"));
    }
}

fn each_line(text: impl Display, tell: impl FnMut(&str)) {
    harmless(text).lines().for_each(tell);
}

pub(crate) fn line_to_stderr(line: impl Display) {
    let line = harmless(line) + "\n";
    // If nobody reads this, nobody can be told so.
    let _ = io::stderr().write_all(line.as_bytes());
}
