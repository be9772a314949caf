//! The arguments of `run`, `report` and `compare`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

#[derive(ClapArgs)]
pub(crate) struct Run {
    /// The experiments; all, if none is named.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    #[command(flatten)]
    pub(crate) results: Results,

    /// What fits in ten minutes. This is the default. What earlier runs took counts, so the same
    /// command goes on where it was interrupted.
    #[arg(long)]
    pub(crate) quick: bool,

    /// What fits in a night: eight hours.
    #[arg(long, conflicts_with = "quick")]
    pub(crate) full: bool,

    /// What fits in so many seconds. The smallest sizes are measured in any case.
    #[arg(long, value_name = "N", conflicts_with_all = ["quick", "full"])]
    pub(crate) seconds: Option<u32>,

    /// How many campaigns share the time: each makes the same runs, after all runs of the one
    /// before. What two campaigns decide differently is too close to call.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) campaigns: u32,
}

#[derive(ClapArgs)]
pub(crate) struct Report {
    /// The experiments; all, if none is named.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    #[command(flatten)]
    pub(crate) results: Results,

    /// The form of the report; if it is not given, the ending of --out says it, or it is HTML.
    #[arg(long, value_enum)]
    pub(crate) form: Option<Form>,

    /// Where to write it, instead of standard output. Of pictures, this is the folder.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Whether networks carry both directions at the same time; as the authors of each paper had
    /// it, if it is not given.
    #[arg(long, value_enum)]
    pub(crate) duplex: Option<Duplex>,

    /// Let connections start slowly, as TCP does.
    #[arg(long)]
    pub(crate) slow_start: bool,

    /// What machines and traffic cost: a file, or `m7i` for a machine of today; the prices of each
    /// paper, if it is not given.
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) prices: Option<PathBuf>,
}

/// The directions at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Duplex {
    /// Both, as between two machines.
    Full,
    /// One or the other, as between two parties on one machine, whose network is limited by `tc`.
    Half,
}

#[derive(ClapArgs)]
pub(crate) struct Results {
    /// The file of measured runs, a line per run.
    #[arg(long, value_name = "FILE", default_value = "psijoin-lab.jsonl")]
    pub(crate) results: PathBuf,
}

#[derive(ClapArgs)]
pub(crate) struct Compare {
    /// A file of measured runs.
    #[arg(value_name = "FIRST")]
    pub(crate) first: PathBuf,

    /// Another one. Without it, the first and the last campaign of FIRST are compared.
    #[arg(value_name = "SECOND")]
    pub(crate) second: Option<PathBuf>,
}

/// A form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// One page that needs nothing else.
    Html,
    /// Tables and verdicts in Markdown.
    Md,
    /// The verdicts alone, in Markdown: a row per conclusion.
    Verdicts,
    /// A line per figure.
    Csv,
    /// All of it, for scripts.
    Json,
    /// Each chart as a picture in a file of its own.
    Svg,
}
