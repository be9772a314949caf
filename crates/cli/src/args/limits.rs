//! A party's demands on a join, the files that it keeps of it, and the resources that it may use.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use clap::Args as ClapArgs;
use psijoin_params::parts;
use psijoin_session::{AtMost, RequestedNoise};

use psijoin_frontend::sizes;

/// The limits beyond which a party refuses.
#[derive(ClapArgs)]
#[command(next_help_heading = "Safety")]
pub(crate) struct Safety {
    /// Learn a result only if at least K keys are shared.
    ///
    /// If fewer are, both sides learn only that. For rows, counts and sums. Must be the same on
    /// both sides.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) min_intersection: Option<u64>,

    /// Withhold each group of fewer than K shared keys: its count, and its sums.
    ///
    /// With --group-by. The receiver learns only that it has fewer. Must be the same on both sides.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) min_group: Option<u64>,

    /// Have the sender add noise to the counts and sums of groups, so that no single key shows.
    ///
    /// With --group-by, as `laplace:epsilon=E`, and for each column that is added up
    /// `,bound=COL:LOW..HIGH`: the number of each key is brought between these bounds. E is the
    /// privacy loss of the counts, and again of the sums of each column, as differential privacy
    /// has it: 0.5, say. A group of fewer than --min-group keys is then one whose count with noise
    /// is less. Must be the same on both sides.
    #[arg(long, value_name = "NOISE")]
    pub(crate) noise: Option<RequestedNoise>,

    /// Rest on nothing that a quantum computer is known to break.
    ///
    /// Whoever records the join now will then not read it later. Base OTs are by ML-KEM-768, `auto`
    /// takes no protocol on discrete logarithms, and a connection to a release of psijoin whose TLS
    /// has no X25519MLKEM768 is refused. It costs 0.43 MB or more, and 40 ms or so. Must be
    /// the same on both sides.
    #[arg(long)]
    pub(crate) post_quantum: bool,

    /// Refuse a set of the other party with more keys than this.
    ///
    /// It bounds the memory and the time that a large set can cost you. It is also a sender's only
    /// defence against a receiver that puts in every key it can think of. [default: as many as this
    /// machine has memory for, or as this party has itself; no limit for a join in parts or a count
    /// by dh, whose memory does not depend on it]
    #[arg(long, value_name = "N", value_parser = sizes::size)]
    pub(crate) max_peer_keys: Option<u64>,

    /// The most rows for each key to take.
    ///
    /// Where the other party gives more (`--repeated list:K` there), both sides end before data
    /// moves. [default: as many as there is memory for]
    #[arg(long, value_name = "K", requires = "take", value_parser = clap::value_parser!(u16).range(1..))]
    take_rows: Option<u16>,

    /// The most bytes for each row to take, as --give-bytes counts them.
    ///
    /// [default: as many as there is memory for]
    #[arg(long, value_name = "N", requires = "take", value_parser = clap::value_parser!(u16).range(1..))]
    take_bytes: Option<u16>,

    /// Treat warnings as errors.
    ///
    /// They are about key columns that differ in kind or in normalisation between the two sides
    /// (exit code 5), or keys of this side that are doubtful (3).
    #[arg(long)]
    pub(crate) strict: bool,
}

impl Safety {
    /// Returns how much is taken of the other party's columns at most.
    pub(crate) fn at_most(&self) -> AtMost {
        AtMost {
            rows: self.take_rows,
            row_bytes: self.take_bytes.map(usize::from),
        }
    }
}

/// The evidence of a run.
#[derive(ClapArgs)]
#[command(next_help_heading = "Evidence")]
pub(crate) struct Evidence {
    /// A text (a contract, say) that both sides must supply, identical to the byte.
    ///
    /// Any difference ends the session before data moves. The other party learns only a hash of it.
    #[arg(long, value_name = "FILE")]
    pub(crate) terms: Option<PathBuf>,

    /// Write a record of what was done, signed by both sides, to this new file.
    ///
    /// Both sides must ask for it. It is written before the result; without the other side's
    /// signature, there is no result. It never holds an item, a result or a file's name.
    /// `psijoin verify` checks it.
    #[arg(long, value_name = "FILE.json")]
    pub(crate) record: Option<PathBuf>,

    /// Write how the run ended and what it cost; - is standard output.
    ///
    /// Also what was run, and how much was learned, and also if the run fails. It never holds an
    /// item. On standard output it takes one line, in place of a result that would go there.
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
}

impl Evidence {
    /// Returns the file that the report goes to, if it is one.
    pub(crate) fn report_file(&self) -> Option<&Path> {
        self.report
            .as_deref()
            .filter(|path| *path != Path::new("-"))
    }

    /// Returns whether the report goes to standard output.
    pub(crate) fn prints_report(&self) -> bool {
        self.report.is_some() && self.report_file().is_none()
    }
}

/// The resources that a run may use.
#[derive(ClapArgs)]
#[command(next_help_heading = "Resources")]
pub(crate) struct Resources {
    /// Keep the progress in this folder: after a failure, the same command resumes.
    ///
    /// Each side has a folder of its own, which is created if it does not exist. A lost connection
    /// is re-established within --wait. What was answered once is answered again only to the same
    /// question. A job is of one table: take a new folder for another. `psijoin jobs FOLDER` shows
    /// its progress.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) job: Option<PathBuf>,

    /// The memory that this party may use, as 400MB or 2GB.
    ///
    /// The rest of a larger table goes, encrypted, to a temporary file in --spill-dir. At least
    /// 330MB. [default: half of what the machine has left]
    #[arg(long, value_name = "SIZE", value_parser = sizes::bytes)]
    pub(crate) memory: Option<u64>,

    /// The folder for what is spilled, on a disk with room for about 60 bytes per row.
    ///
    /// [default: the system's folder for temporary files, which some systems hold in memory]
    #[arg(long, value_name = "DIR")]
    pub(crate) spill_dir: Option<PathBuf>,

    /// Threads to compute with.
    ///
    /// [default: one per core]
    #[arg(long, value_name = "N", value_parser = sizes::threads)]
    pub(crate) threads: Option<NonZeroUsize>,

    /// The longest that the whole run may take.
    ///
    /// [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) deadline: Option<u32>,

    /// Use this much memory for the table, however little it is: for tests.
    #[arg(long, value_name = "SIZE", hide = true, conflicts_with = "memory", value_parser = sizes::bytes)]
    pub(crate) table_memory: Option<u64>,

    /// Run in this many parts, however few the keys: for tests. The same on both sides.
    #[arg(long, value_name = "K", hide = true, value_parser = clap::value_parser!(u32).range(2..=i64::from(parts::MAX_PARTS)))]
    pub(crate) parts: Option<u32>,
}
