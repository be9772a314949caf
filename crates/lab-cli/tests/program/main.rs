//! The program as its users see it: real processes and real files.

/// The program under test, for [`support`].
const PROGRAM: &str = env!("CARGO_BIN_EXE_psijoin-lab");

mod bench;
mod lab;
#[path = "../../../cli/tests/program/support.rs"]
#[allow(dead_code, unused_macros, reason = "joins are `psijoin`'s only")]
mod support;
mod usage;
