//! Standard output: results only, never console. A terminal obeys nothing that is among them.

use std::io::{self, ErrorKind, Write};

use psijoin_printable::{Json, Screen};
use serde::Serialize;

use crate::exit::Failure;

/// Writes text to standard output. A reader that has gone away, as `head` does, has read all
/// that it wanted.
pub fn text(text: &str) -> Result<(), Failure> {
    let written = stream().write_all(text.as_bytes());
    match written.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Stdout(error)),
        _ => Ok(()),
    }
}

/// Returns standard output, which escapes if it is a terminal.
pub fn stream() -> impl Write {
    Screen::if_terminal(io::stdout())
}

/// Writes one JSON object on a line of its own.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    text(&(line(value) + "\n"))
}

/// Returns a JSON object as it stands on a line.
pub fn line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("reports are plain data");
    Json(&text).to_string()
}
