//! Standard output: results only, never console.

use std::io::{self, ErrorKind, Write};

use serde::Serialize;

use crate::exit::Failure;

/// Writes text to standard output. A reader that has gone away, as `head` does, has read all
/// that it wanted.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Stdout(error)),
        _ => Ok(()),
    }
}

/// Writes one JSON object on a line of its own.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    text(&(line(value) + "\n"))
}

/// A JSON object as it stands on a line.
pub(crate) fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("reports are plain data")
}
