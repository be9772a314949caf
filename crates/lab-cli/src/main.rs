//! The program `psijoin-lab`: it measures protocols, and reproduces the comparisons of the papers.
//! Its messages, numbers and exit codes are those of `psijoin`.
//!
//! | module | contents |
//! |---|---|
//! | `args` | the arguments of the command line |
//! | `bench` | both parties in one process, measured on random items |
//! | `lab` | the comparisons of the papers, reproduced |
//! | `exit` | every failure, and the exit code that it ends with |

#![forbid(unsafe_code)]

mod args;
mod bench;
mod exit;
mod lab;

use std::{env, process::ExitCode};

use clap::CommandFactory;
use psijoin_cli::{
    commands::{completions, manual},
    console, program,
};
use psijoin_runtime::memory::ReportingAllocator;

use crate::{
    args::{Args, Command},
    exit::Failure,
};

/// It tells when no memory is left.
#[global_allocator]
static ALLOCATOR: ReportingAllocator = ReportingAllocator;

fn main() -> ExitCode {
    let args: Args = program::understand(env::args_os());
    match program::prepare()
        .map_err(Failure::from)
        .and_then(|()| run(args.command))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console::failed(&failure.to_string(), failure.hint().as_deref());
            failure.exit_code().into()
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Bench(args) => bench::run(&args),
        Command::List => lab::list(),
        Command::Run(args) => lab::run(&args),
        Command::Report(args) => lab::report(&args),
        Command::Compare(args) => lab::compare(&args),
        Command::Completions(args) => Ok(completions::run(&args, Args::command())?),
        Command::Manual(args) => Ok(manual::run(&args, Args::command())?),
    }
}
