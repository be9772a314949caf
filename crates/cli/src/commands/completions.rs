//! `psijoin completions`: what a shell needs to complete commands and options.

use clap::CommandFactory;

use crate::{
    args::{self, Args},
    exit::Failure,
    output,
};

pub(super) fn run(args: &args::Completions) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "psijoin", &mut text);
    output::text(&String::from_utf8(text).expect("a script is a text"))
}
