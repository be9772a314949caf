//! One module a command.

use crate::{args::Command, exit::Failure};

mod bench;
mod demo;
mod join;
mod keygen;
mod protocols;
mod shares;

/// Does what was asked.
pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::run(&args),
        Command::Keygen(args) => keygen::run(&args),
        Command::Receive(args) => join::receive(&args),
        Command::Send(args) => join::send(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Protocols(args) => protocols::run(&args),
        Command::Shares(args) => shares::run(&args),
    }
}
