//! Standard output: results only, never console. A terminal obeys nothing that is among them.

use std::io::{self, ErrorKind, Write};

use psijoin_frontend::{Failure, report::json_line};
use psijoin_printable::Screen;
use serde::Serialize;

use crate::exit::ProgramFault;

/// Writes text to standard output. A reader that has gone away, as `head` does, has read all
/// that it wanted.
pub fn text(text: &str) -> Result<(), Failure> {
    let written = stream().write_all(text.as_bytes());
    match written.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(ProgramFault::Stdout(error).into())
        }
        _ => Ok(()),
    }
}

/// Returns standard output, which escapes if it is a terminal.
pub fn stream() -> impl Write {
    Screen::if_terminal(io::stdout())
}

/// Writes one JSON object on a line of its own.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    line(&json_line(value))
}

/// Writes a text on a line of its own.
pub fn line(line: &String) -> Result<(), Failure> {
    text(&format!("{line}\n"))
}
