//! The arguments of `psijoin budget`.

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs, Subcommand};
use psijoin_session::Epsilon;

#[derive(ClapArgs)]
pub(crate) struct Budget {
    #[command(subcommand)]
    pub(crate) action: BudgetAction,
}

#[derive(Subcommand)]
pub(crate) enum BudgetAction {
    /// Make the file of a budget, for one table.
    ///
    /// Give it to each `psijoin send` with that table (--budget). The limits are for each receiver.
    /// They stay: to change them, make another file.
    Create(Limits),
    /// Show what each receiver has had, and what is left.
    Show {
        /// The file.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

#[derive(ClapArgs)]
#[group(skip)]
#[command(group(ArgGroup::new("limits").args(["epsilon", "answers"]).required(true).multiple(true)))]
pub(crate) struct Limits {
    /// The new file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The privacy loss that all answers to a receiver may have together.
    ///
    /// Answers without noise are refused then.
    #[arg(long, value_name = "E")]
    pub(crate) epsilon: Option<Epsilon>,

    /// The number of answers that a receiver may have.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) answers: Option<u64>,
}
