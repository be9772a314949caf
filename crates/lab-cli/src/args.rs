//! The arguments of the command line.

use clap::{Parser, Subcommand};
use psijoin_cli::args::{Completions, Manual};

use crate::exit;

mod bench;
mod lab;

pub(crate) use bench::{Bench, Export, Transport};
pub(crate) use lab::{Compare, Duplex, Form, Report, Run};

const ENVIRONMENT: &str = "\
Environment:
  PSIJOIN_LOG  log on standard error, with time and level, instead of talking: error, warn, info
              (all that is usually said), debug or off";

/// Measure the protocols of psijoin, and make the comparisons of the papers again.
///
/// All is measured on this machine. Only `psijoin` itself joins tables.
#[derive(Parser)]
#[command(name = "psijoin-lab", version, after_help = format!("{}\n\n{ENVIRONMENT}", exit::TABLE), max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Measure protocols: both parties in one process, on random items.
    Bench(Bench),
    /// List the experiments: tables and figures of the papers.
    List,
    /// Measure what experiments need. What was measured before is not measured again.
    Run(Run),
    /// Report what came out.
    Report(Report),
    /// Compare what two machines, two versions or two campaigns measured, and their verdicts.
    Compare(Compare),
    /// Print a shell completion script.
    Completions(Completions),
    /// Write the manual, a page per command, to a folder.
    Manual(Manual),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
