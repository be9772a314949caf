//! The program `psijoin`: two parties join their private tables.
//!
//! | module | what lives there |
//! |---|---|
//! | [`args`] | what can be said on the command line |
//! | [`commands`] | one module a command |
//! | [`asked`], [`question`] | what the receiver is to learn |
//! | [`columns`] | which party has which column of numbers |
//! | [`session`] | one party of a join, from its table to its result |
//! | [`exit`] | every failure, and the exit code that it ends with |
//! | [`statement`], [`report`] | what was run and learned, for people and for scripts |
//! | [`talk`], [`progress`], [`output`] | what goes to standard error, and what to standard output |

mod args;
mod asked;
mod columns;
mod commands;
mod exit;
mod figures;
mod grid;
mod interrupt;
mod loopback;
mod memory;
mod output;
mod phases;
mod progress;
mod question;
mod report;
mod session;
mod sizes;
mod statement;
mod talk;
mod whole_file;

use std::{env, io, process::ExitCode};

use clap::Parser;
use tracing_subscriber::filter::LevelFilter;

use crate::args::Args;

fn main() -> ExitCode {
    let args = Args::parse();
    log_to_stderr();
    match commands::run(args.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            talk::failure(&failure);
            failure.exit_code().into()
        }
    }
}

/// Warnings, or what the environment variable `PSIJOIN_LOG` asks for, such as `debug`.
fn log_to_stderr() {
    let level = env::var("PSIJOIN_LOG").ok();
    let level = level.and_then(|level| level.parse().ok());
    tracing_subscriber::fmt()
        .with_max_level(level.unwrap_or(LevelFilter::WARN))
        .with_writer(io::stderr)
        .without_time()
        .with_target(false)
        .init();
}
