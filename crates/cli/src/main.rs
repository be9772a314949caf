//! The program `psijoin`.

#![forbid(unsafe_code)]

use std::{env, process::ExitCode};

use psijoin_runtime::memory::ReportingAllocator;

/// It tells when no memory is left.
#[global_allocator]
static ALLOCATOR: ReportingAllocator = ReportingAllocator;

fn main() -> ExitCode {
    psijoin_cli::run(env::args_os()).into()
}
