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

    /// Another one.
    #[arg(value_name = "SECOND")]
    pub(crate) second: PathBuf,
}

/// A form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// One page that needs nothing else.
    Html,
    /// Tables and verdicts in Markdown.
    Md,
    /// A line per figure.
    Csv,
    /// All of it, for scripts.
    Json,
    /// Each chart as a picture in a file of its own.
    Svg,
}
