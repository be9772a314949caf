//! The program as its users see it: real processes, real files, real sockets.

mod bad_input;
mod bad_peers;
mod cheats;
mod commands;
mod documents;
mod fake_peers;
mod functions;
mod joining;
mod line;
mod minimum;
mod shares;
mod sums;
mod support;
#[cfg(unix)]
mod tutorial;
mod usage;
