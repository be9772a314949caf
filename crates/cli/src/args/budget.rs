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
#[command(group(ArgGroup::new("limits").args(["epsilon", "answers", "least_change"]).required(true).multiple(true)))]
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

    /// The fewest of your keys by which a group of an answer differs from those of earlier answers
    /// to a receiver, unless it is one of them.
    ///
    /// Then no difference of two answers tells about fewer of your keys. A group has the keys with
    /// one value of your own columns of --group-by; without, all keys are one. Whether the receiver
    /// has changed its table, nobody else can see.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) least_change: Option<u32>,
}
