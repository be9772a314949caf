//! What `send` and `receive` are told.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::Args as ClapArgs;
use psijoin::Protocol;
use psijoin_params::parts;
use psijoin_session::{Learners, RequestedOutput};
use psijoin_table::WhichRows;
use psijoin_transport::{Fingerprint, endpoint::Address};

use super::{Key, columns::Trade, protocol};
use crate::{dialect, sizes};

#[derive(ClapArgs)]
pub(crate) struct Receive {
    #[command(flatten)]
    pub(crate) join: Join,
}

#[derive(ClapArgs)]
pub(crate) struct Send {
    #[command(flatten)]
    pub(crate) join: Join,

    /// Allow --output-kind sum of columns of the receiver. The receiver chooses their numbers: with
    /// 1, 2, 4, 8 and so on, each such sum tells it which of 62 keys of its choice you have. A
    /// minimum does not prevent that.
    #[arg(long)]
    pub(crate) allow_sums_that_reveal_keys: bool,
}

/// What becomes of what a party gets.
#[derive(ClapArgs)]
pub(crate) struct Written {
    /// Where to write the rows, of the receiver or, with --learn both, of either party: .csv, .tsv,
    /// .txt, .parquet or .arrow; a text also compressed, as .csv.gz or .csv.zst; or - for standard
    /// output, which is the default. The file appears when all is done. If anything fails, an
    /// existing file stays as it is. Shares go to a file of any name. Other results go to standard
    /// output.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Refuse at the start if the output exists already. Without this, it is replaced when all is
    /// done.
    #[arg(long, requires = "output")]
    pub(crate) no_clobber: bool,

    /// Which rows of this party's table to write: `shared`; `unshared`, all others, also those
    /// without a key; or `all`, with a column `shared` that says which are. The other party does
    /// not learn this, and this party learns which of its keys are shared in any case. [default:
    /// shared]
    #[arg(long, value_name = "WHICH")]
    pub(crate) rows: Option<WhichRows>,

    /// Write rows in the same random order on both sides, one per shared key, so that line n here
    /// matches line n there. Both sides must say it, with --learn both.
    #[arg(long)]
    pub(crate) align: bool,

    /// Where Parquet or Arrow is written as CSV, write an empty text as "" and a null as nothing,
    /// as PostgreSQL reads them. Without this, both are nothing.
    #[arg(long)]
    pub(crate) quote_empty: bool,

    /// In .csv and .tsv, write a single quote before each text that a spreadsheet would take for a
    /// formula, as =1+1, whichever side it comes from, and also before such names of columns.
    /// Numbers, as -5, stay as they are.
    #[arg(long)]
    pub(crate) quote_formulas: bool,
}

/// What both parties say.
#[derive(ClapArgs)]
pub(crate) struct Join {
    #[command(flatten)]
    pub(crate) meeting: Meeting,

    #[command(flatten)]
    pub(crate) trust: Trust,

    /// This party's table: .csv, .tsv, .parquet, .arrow, .txt (one value per line), a text also
    /// compressed, as .csv.gz or .csv.zst; or - for standard input (CSV if --key is given, else
    /// lines). A file with another ending is read as CSV if --delimiter, --quote, --escapes,
    /// --no-header, --skip-lines or --comment is given. Several files with the same columns are one
    /// table, in the order of
    /// their names: give them all, or a pattern in quotes, as 'export/*.csv', or a folder of
    /// Parquet or Arrow files.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) input: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) dialect: dialect::Said,

    #[command(flatten)]
    pub(crate) key: Key,

    /// What the receiver learns; both sides pass the same: `rows`; `count`, the number of shared
    /// keys; `threshold:K`, whether at least K are shared; or `sum:COL[,COL…]`, the totals of these
    /// columns over the shared keys. A column is of the table that has it; `sender.COL` and
    /// `receiver.COL` name its owner. Or `shares[:COL[,COL…]]`: each party gets a file with its
    /// shares of which keys are shared, and of their numbers, to compute with.
    #[arg(long, value_name = "KIND", default_value = "rows")]
    pub(crate) output_kind: RequestedOutput,

    /// Who learns which of its rows are shared, the same on both sides: the `receiver`, or `both`.
    /// If both do, the sender writes its rows, too.
    #[arg(long, value_name = "WHO", default_value = "receiver")]
    pub(crate) learn: Learners,

    #[command(flatten)]
    pub(crate) trade: Trade,

    #[command(flatten)]
    pub(crate) written: Written,

    /// Learn rows, a count or a sum only if at least K keys are shared, and otherwise only that
    /// they are fewer. Must be the same on both sides.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) min_intersection: Option<u64>,

    /// The protocol, the same on both sides; see `psijoin protocols`. `auto` takes the one that
    /// suits the output, the sizes of the sets and the network.
    #[arg(long, value_name = "NAME", default_value = "auto", hide_possible_values = true, value_parser = protocol())]
    pub(crate) protocol: &'static Protocol,

    /// Refuse a set of the other party with more keys than this. It bounds the memory and the time
    /// that a large set can cost you. It is also a sender's only defence against a receiver that
    /// puts in every key it can think of. [default: as many as this machine has memory for, or as
    /// this party has itself; no limit for a join in parts or a count by dh, whose memory does not
    /// depend on it]
    #[arg(long, value_name = "N", value_parser = sizes::size)]
    pub(crate) max_peer_keys: Option<u64>,

    /// Treat warnings as errors: key columns that differ in kind or in normalisation between the
    /// two sides (exit code 5), or keys of this side that are doubtful (3).
    #[arg(long)]
    pub(crate) strict: bool,

    /// Meet the other party, compare all settings and the kinds of the key columns, and stop before
    /// any data moves. A party without --check ends with exit code 5.
    #[arg(long)]
    pub(crate) check: bool,

    /// Keep the progress in this folder, so that the same command resumes after any failure. Each
    /// side has a folder of its own, which is created if it does not exist. A lost connection is
    /// re-established within --wait. What was answered once is answered again only to the same
    /// question. A job is of one table: take a new folder for another. `psijoin jobs FOLDER` shows
    /// its progress.
    #[arg(long, value_name = "FOLDER", conflicts_with = "check")]
    pub(crate) job: Option<PathBuf>,

    /// The memory that this party may use, as 400MB or 2GB. The rest of a larger table goes,
    /// encrypted, to a temporary file in --spill-dir. At least 330MB. [default: half of what the
    /// machine has left]
    #[arg(long, value_name = "SIZE", value_parser = sizes::bytes)]
    pub(crate) memory: Option<u64>,

    /// The folder of that file, on a disk with room for about 60 bytes per row. [default: the
    /// system's folder for temporary files, which some systems hold in memory]
    #[arg(long, value_name = "DIR")]
    pub(crate) spill_dir: Option<PathBuf>,

    /// Use this much memory for the table, however little it is: for tests.
    #[arg(long, value_name = "SIZE", hide = true, conflicts_with = "memory", value_parser = sizes::bytes)]
    pub(crate) table_memory: Option<u64>,

    /// Run in this many parts, however few the keys: for tests. The same on both sides.
    #[arg(long, value_name = "K", hide = true, value_parser = clap::value_parser!(u32).range(2..=i64::from(parts::MAX_PARTS)))]
    pub(crate) parts: Option<u32>,

    /// The longest wait for the other party.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) wait: u32,

    /// How long the other party may be silent, once it is connected, before it counts as gone. A
    /// party that computes, or waits for the other, sends a sign of life once a second.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u32).range(3..))]
    pub(crate) timeout: u32,

    /// The longest that the whole run may take. [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) deadline: Option<u32>,

    /// Threads to compute with. [default: one per core]
    #[arg(long, value_name = "N", value_parser = sizes::threads)]
    pub(crate) threads: Option<NonZeroUsize>,

    /// A text (a contract, say) that both sides must supply, identical to the byte: any difference
    /// ends the session before data moves. The other party learns only a hash of it.
    #[arg(long, value_name = "FILE")]
    pub(crate) terms: Option<PathBuf>,

    /// Write a record of what was agreed on and done to this new file. Both sides must ask for it,
    /// and both sign it. It is written before the result; without the other side's signature,
    /// there is no result. It never holds an item, a result or a file's name. `psijoin verify`
    /// checks it.
    #[arg(long, value_name = "FILE.json")]
    pub(crate) record: Option<PathBuf>,

    /// Write to this file how the run ended, what was run, what it cost and how much was learned,
    /// also if it fails. It never holds an item.
    #[arg(long, value_name = "FILE.json")]
    pub(crate) report: Option<PathBuf>,

    /// Print the report on standard output.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print nothing on standard error unless something fails, or the --job was already done.
    /// Warnings are in the report.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Where the parties meet.
#[derive(ClapArgs)]
#[group(required = true, multiple = false)]
pub(crate) struct Meeting {
    /// Wait for the other party at HOST:PORT, for example 0.0.0.0:7000. One side listens, the
    /// other connects; which one does not matter.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<Address>,

    /// Connect to the other party at HOST:PORT.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) connect: Option<Address>,
}

/// Who may be at the other end.
#[derive(ClapArgs)]
pub(crate) struct Trust {
    /// This party's identity, made by `psijoin keygen --out FILE`. [default: your own, as
    /// `psijoin fingerprint` shows it]
    #[arg(long, value_name = "FILE", requires = "peer")]
    pub(crate) identity: Option<PathBuf>,

    /// The other party's fingerprint, which its `psijoin fingerprint` prints.
    #[arg(long, value_name = "FINGERPRINT")]
    pub(crate) peer: Option<Fingerprint>,

    /// INSECURE: no encryption, and anybody may be at the other end. For tests on one machine.
    #[arg(long, conflicts_with_all = ["identity", "peer"])]
    pub(crate) insecure_plaintext: bool,
}
