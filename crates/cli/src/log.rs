//! The log on standard error. As all messages there, it is escaped.

use std::{env, io};

use psijoin_printable::Screen;
use tracing_subscriber::{filter::LevelFilter, fmt};

use crate::exit::{Failure, ProgramFault};

/// The environment variable that asks for a log.
const VARIABLE: &str = "PSIJOIN_LOG";

/// Returns whether the user asked for a log.
pub(crate) fn is_wanted() -> bool {
    asked().is_some()
}

/// Returns the level that the user asked for.
fn asked() -> Option<String> {
    let asked = env::var_os(VARIABLE)?.to_string_lossy().into_owned();
    Some(asked).filter(|asked| !asked.is_empty())
}

/// Returns standard error, for one event.
fn escaping() -> Screen<io::Stderr> {
    Screen::new(io::stderr())
}

/// Logs what the user asked for, with the time; otherwise warnings.
///
/// # Errors
/// If there is no such level.
pub(crate) fn to_stderr() -> Result<(), Failure> {
    let Some(asked) = asked() else {
        let plain = fmt()
            .with_max_level(LevelFilter::WARN)
            .with_writer(escaping);
        plain.without_time().with_target(false).init();
        return Ok(());
    };
    let level = match &*asked {
        "off" => LevelFilter::OFF,
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "info" => LevelFilter::INFO,
        "debug" => LevelFilter::DEBUG,
        _ => return Err(ProgramFault::LogLevel(asked).into()),
    };
    let timed = fmt().with_max_level(level).with_writer(escaping);
    timed.with_target(false).with_ansi(false).init();
    Ok(())
}
