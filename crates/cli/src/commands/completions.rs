//! `psijoin completions`: what a shell needs to complete commands and options.

use clap::{Arg, Command, CommandFactory};

use crate::{
    args::{self, Args},
    exit::Failure,
    output,
};

pub(super) fn run(args: &args::Completions) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut brief(Args::command()),
        "psijoin",
        &mut text,
    );
    output::text(&String::from_utf8(text).expect("a script is a text"))
}

/// Cuts the help of each option to one sentence: shells show it on one line.
fn brief(command: Command) -> Command {
    command.mut_args(brief_option).mut_subcommands(brief)
}

fn brief_option(option: Arg) -> Arg {
    let help = option.get_help().map(ToString::to_string);
    match help.as_deref().and_then(|help| help.split_once(". ")) {
        Some((sentence, _)) => option.help(sentence.to_owned()),
        None => option,
    }
}
