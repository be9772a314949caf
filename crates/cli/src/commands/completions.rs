//! `completions`: what a shell needs to complete commands and options.

use clap::{Arg, Command};

use crate::{args, exit::Failure, output};

/// Prints what lets a shell complete a program.
///
/// # Errors
/// If it cannot be printed.
pub fn run(args: &args::Completions, program: Command) -> Result<(), Failure> {
    let mut text = Vec::new();
    let name = program.get_name().to_owned();
    clap_complete::generate(args.shell, &mut brief(program), name, &mut text);
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
