//! One module per command.

use clap::CommandFactory;
use psijoin_frontend::AppliedProfile;
use psijoin_session::Mode;

use crate::{
    args::{Args, Command},
    console,
    exit::{Code, Failure},
    invocation::Invocation,
};

mod accept;
mod budget;
mod calibrate;
mod columns;
pub mod completions;
mod demo;
mod fingerprint;
mod invite;
mod jobs;
mod join;
mod keygen;
mod keys;
pub mod manual;
mod peers;
mod plan;
mod protocols;
mod relay;
mod shares;
mod verify;

/// Does what was asked. If that fails, the user has read why.
pub(crate) fn run(command: Command, profile: Option<AppliedProfile>) -> Result<(), Code> {
    let follow = |invocation: Invocation<'_>| join::follow(&invocation.with_profile(profile));
    let done = match command {
        Command::Receive(args) => return follow(Invocation::to_receive(&args, Mode::Join)),
        Command::Send(args) => return follow(Invocation::to_send(&args, Mode::Join)),
        Command::Check(args) => return follow(Invocation::to_check(&args)),
        Command::Demo(args) => demo::run(&args),
        Command::Keygen(args) => keygen::run(&args),
        Command::Fingerprint(args) => fingerprint::run(&args),
        Command::Invite(args) => invite::run(&args),
        Command::Accept(args) => accept::run(&args),
        Command::Peers(args) => peers::run(&args),
        Command::Columns(args) => columns::run(&args),
        Command::Keys(args) => keys::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Protocols(args) => protocols::run(&args),
        Command::Jobs(args) => jobs::run(&args),
        Command::Budget(args) => budget::run(&args),
        Command::Shares(args) => shares::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Relay(args) => relay::run(&args),
        Command::Completions(args) => completions::run(&args, Args::command()),
        Command::Manual(args) => manual::run(&args, Args::command()),
    };
    done.map_err(|failure: Failure| {
        console::failure(&failure);
        failure.exit_code()
    })
}
