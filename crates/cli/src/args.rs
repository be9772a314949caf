//! What the command line can say.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{
    Args as ClapArgs, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use psijoin::{Protocol, registry};
use psijoin_channel::link::Link;
use psijoin_table::{ColumnRules, Error, KeySpec};
use psijoin_transport::{Fingerprint, endpoint::Address};

use crate::{
    dialect, exit, names,
    requested_output::RequestedOutput,
    sizes::{self, SetSizes},
};

const ENVIRONMENT: &str = "\
Environment:
  PSIJOIN_LOG  log on standard error, with time and level, instead of talking: error, warn, info
               (all that is usually said), debug (connections and phases too) or off";

/// Join two private tables: find the keys that two parties share, and nothing else.
///
/// Both parties run psijoin at the same time, one as `send` and one as `receive`. The receiver
/// gets those of its own rows whose key the sender has too; or instead, if both say so, how many
/// they are, whether they are at least a given number, or what columns add up to over them; or both
/// get shares. Beyond that, both learn only how many distinct keys the other has.
#[derive(Parser)]
#[command(name = "psijoin", version, after_help = format!("{}\n\n{ENVIRONMENT}", exit::TABLE), max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show a join: both parties in one process, on sample tables.
    Demo(Demo),
    /// Make this machine's identity, and print its fingerprint for the other party.
    Keygen(Keygen),
    /// Print the fingerprint of an identity again.
    Fingerprint(Fingerprinted),
    /// List a table's columns.
    Columns(Columns),
    /// Show a table's keys as they are compared: their kinds, the first keys, and what each rule of
    /// --normalize changed.
    Keys(Keys),
    /// Join, and receive the shared rows, or what was agreed on instead.
    #[command(after_help = exit::TABLE)]
    Receive(Receive),
    /// Join, and help the other party to its shared rows, or what was agreed on instead.
    #[command(after_help = exit::TABLE)]
    Send(Send),
    /// Measure protocols: both parties in one process, on random items.
    Bench(Bench),
    /// Say what a join will take with each protocol, before any data moves: time, bytes, memory, money.
    Plan(Plan),
    /// Make the comparisons of the papers again, on this machine.
    #[command(subcommand)]
    Lab(Lab),
    /// Measure this machine, so that `plan` knows it.
    Calibrate(Calibrate),
    /// List the protocols: whom they protect against, and what they cost.
    Protocols(Protocols),
    /// Show a file of shares, as CSV.
    Shares(Shares),
}

#[derive(ClapArgs)]
pub(crate) struct Demo {
    /// The protocol to show.
    #[arg(long, value_name = "NAME", default_value = "rr22", hide_possible_values = true, value_parser = protocol())]
    pub(crate) protocol: &'static Protocol,
}

#[derive(ClapArgs)]
pub(crate) struct Keygen {
    /// Where to write the identity. It holds the private key: keep it to yourself.
    #[arg(long, value_name = "FILE", default_value = "psijoin-identity.pem")]
    pub(crate) out: PathBuf,
}

#[derive(ClapArgs)]
pub(crate) struct Fingerprinted {
    /// The identity, as `psijoin keygen` wrote it.
    #[arg(value_name = "FILE", default_value = "psijoin-identity.pem")]
    pub(crate) file: PathBuf,
}

#[derive(ClapArgs)]
pub(crate) struct Columns {
    /// The table, as --input of `send` and `receive` takes it. In CSV and TSV, the first line is
    /// taken for the header, whatever it holds, unless --no-header is given.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) input: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) dialect: dialect::Said,
}

#[derive(ClapArgs)]
pub(crate) struct Keys {
    /// The table, as --input of `send` and `receive` takes it.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) input: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) dialect: dialect::Said,

    #[command(flatten)]
    pub(crate) key: Key,

    /// How many keys to show.
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) first: usize,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Receive {
    #[command(flatten)]
    pub(crate) join: Join,

    /// Where to write the shared rows: .csv, .tsv, .txt, .parquet or .arrow; a text also
    /// compressed, as .csv.gz or .csv.zst; or - for standard output, which is the default. The file
    /// appears when all is done. If anything fails, an existing file stays as it is. Other results
    /// go to standard output, except shares, whose file can have any name.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Refuse at the start if the output exists already. Without this, it is replaced when all is
    /// done.
    #[arg(long, requires = "output")]
    pub(crate) no_clobber: bool,

    /// Where Parquet or Arrow is written as CSV, write an empty text as "" and a null as nothing, as
    /// PostgreSQL reads them. Without this, both are nothing.
    #[arg(long)]
    pub(crate) quote_empty: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Send {
    #[command(flatten)]
    pub(crate) join: Join,

    /// Where to write this party's shares, with --output-kind shares. The file appears when all is
    /// done. If anything fails, an existing file stays as it is.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Refuse at the start if the output exists already. Without this, it is replaced when all is
    /// done.
    #[arg(long, requires = "output")]
    pub(crate) no_clobber: bool,

    /// Allow --output-kind sum of columns of the receiver. The receiver chooses their numbers: with
    /// 1, 2, 4, 8 and so on, each such sum tells it which of 62 keys of its choice you have. A
    /// minimum does not prevent that.
    #[arg(long)]
    pub(crate) allow_sums_that_reveal_keys: bool,
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
    /// lines). A file with another ending is read as CSV if --delimiter, --quote, --escapes or
    /// --no-header is given. Several files with the same columns are one table, in the order of
    /// their names: give them all, or a pattern in quotes, as 'export/*.csv', or a folder of
    /// Parquet or Arrow files.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) input: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) dialect: dialect::Said,

    #[command(flatten)]
    pub(crate) key: Key,

    /// What the receiver learns, the same on both sides: `rows`; `count`, how many keys are shared,
    /// and not which; `threshold:K`, whether at least K are; or `sum:COL[,COL…]`, what these columns
    /// of numbers add up to over the shared keys. A column is of the table that has it;
    /// `sender.COL` and `receiver.COL` say whose it is. Or `shares[:COL[,COL…]]`: each party gets a
    /// file with its shares of which keys are shared, and of their numbers, to compute with.
    #[arg(long, value_name = "KIND", default_value = "rows")]
    pub(crate) output_kind: RequestedOutput,

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
    /// this party has itself]
    #[arg(long, value_name = "N", value_parser = sizes::size)]
    pub(crate) max_peer_keys: Option<u64>,

    /// Refuse what would otherwise be a warning: key columns that differ in kind or in
    /// normalisation between the two sides (exit code 5), or keys of this side that are doubtful
    /// (3).
    #[arg(long)]
    pub(crate) strict: bool,

    /// Meet the other party, compare all settings and the kinds of the key columns, and stop before
    /// any data moves. A party without --check ends with exit code 5.
    #[arg(long)]
    pub(crate) check: bool,

    /// How long to try to meet the other party.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) wait: u32,

    /// How long the other party may be silent, once it is connected, before it counts as gone. A
    /// party that computes, or waits for the other, sends a sign of life once a second.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u32).range(3..))]
    pub(crate) timeout: u32,

    /// How long everything together may take, from the start to the end. [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) deadline: Option<u32>,

    /// Threads to compute with. [default: one per core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Write to this file how the run ended, what was run, what it cost and how much was learned,
    /// also if it fails. It never holds an item.
    #[arg(long, value_name = "FILE.json")]
    pub(crate) report: Option<PathBuf>,

    /// Print the report on standard output.
    #[arg(long)]
    pub(crate) json: bool,

    /// Say nothing on standard error unless something fails. Warnings are in the report.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Which columns are compared, and how they are written.
#[derive(ClapArgs)]
pub(crate) struct Key {
    /// The key columns, in the same order on both sides; their names may differ. Not needed if
    /// the table has one column only. A name that holds a comma is put in quotes, as in CSV:
    /// '"last, first",zip'.
    #[arg(long = "key", value_name = "COL[,COL…]", value_parser = names::parse)]
    columns: Vec<Vec<String>>,

    /// How a key column is normalised before it is compared: trim, lowercase, casefold, digits,
    /// nfc, nfkc, email (trim+lowercase), phone, or a rule that reads a value: number, bool, uuid,
    /// phone:COUNTRY (such as phone:DE), date, date:FORMAT (such as date:%d.%m.%Y), timestamp,
    /// timestamp:ZONE (such as timestamp:Europe/Berlin) or time. If the two sides differ, both get
    /// a warning. Can be repeated.
    #[arg(long, value_name = "COL=RULE[+RULE…]")]
    normalize: Vec<ColumnRules>,
}

impl Key {
    /// The key that was given.
    ///
    /// # Errors
    /// If a column is named twice, or rules are given for a column outside the key.
    pub(crate) fn spec(&self) -> Result<KeySpec, Error> {
        KeySpec::new(self.columns.concat(), self.normalize.clone())
    }

    /// Whether any column was given.
    pub(crate) fn is_named(&self) -> bool {
        !self.columns.is_empty()
    }
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
    /// This party's identity, made by `psijoin keygen`.
    #[arg(long, value_name = "FILE", requires = "peer")]
    pub(crate) identity: Option<PathBuf>,

    /// The other party's fingerprint, which its `psijoin keygen` printed.
    #[arg(long, value_name = "FINGERPRINT", requires = "identity")]
    pub(crate) peer: Option<Fingerprint>,

    /// INSECURE: no encryption, and anybody may be at the other end. For tests on one machine.
    #[arg(long, conflicts_with_all = ["identity", "peer"])]
    pub(crate) insecure_plaintext: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Bench {
    /// The protocols to measure, or `all`.
    #[arg(
        long,
        value_name = "NAME[,NAME…]",
        default_value = "all",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = selection()
    )]
    pub(crate) protocol: Vec<Selection>,

    /// How many items each party has, or sender:receiver. For example 65536, 2^20, 1e6, 2^10:2^20.
    /// Half of the smaller set is shared.
    #[arg(long, value_name = "N[:M]", default_value = "2^16", value_parser = sizes::parse)]
    pub(crate) items: SetSizes,

    /// What the receiver learns, as `send` and `receive` say it: `rows`, `count`, `threshold:K`,
    /// `sum:COL[,COL…]` or `shares[:COL[,COL…]]`. Columns hold random numbers, and can have any
    /// names; `receiver.COL` is the receiver's, any other the sender's.
    #[arg(long, value_name = "KIND", default_value = "rows")]
    pub(crate) output_kind: RequestedOutput,

    /// Learn rows, a count or a sum only if at least K items are shared.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) min_intersection: Option<u64>,

    /// Emulate a network: `lan` (10 Gbit/s, 0.2 ms) or `wan:RATE,RTT`, as in wan:100mbps,80ms.
    #[arg(long, value_name = "LINK")]
    pub(crate) network: Option<Link>,

    /// How the parties are joined.
    #[arg(long, value_enum, default_value_t = Transport::Memory)]
    pub(crate) transport: Transport,

    /// Threads of each party.
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) threads: NonZeroUsize,

    /// How often to run each protocol before the runs that count.
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) warm_up: usize,

    /// How often to run each protocol. There is a warning if the median is more than 20 % above the
    /// minimum.
    #[arg(long, value_name = "N", default_value = "3")]
    pub(crate) runs: NonZeroUsize,

    /// Print the measurements in this form, instead of tables for people.
    #[arg(long, value_enum, value_name = "FORM")]
    export: Option<Export>,

    /// The same as --export json.
    #[arg(long, conflicts_with = "export")]
    json: bool,
}

impl Bench {
    /// The form that was asked for.
    pub(crate) fn export(&self) -> Option<Export> {
        self.export.or(self.json.then_some(Export::Json))
    }
}

#[derive(ClapArgs)]
pub(crate) struct Plan {
    /// How many items each party has, or sender:receiver. For example 65536, 2^20, 1e6, 2^10:2^20.
    #[arg(long, value_name = "N[:M]", value_parser = sizes::parse)]
    pub(crate) items: SetSizes,

    /// This party's table, as `send` and `receive` take it: its distinct keys are counted, and --items
    /// is for the other party.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) input: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) dialect: dialect::Said,

    #[command(flatten)]
    pub(crate) key: Key,

    /// Which party has the table of --input.
    #[arg(long, value_enum, default_value_t = Part::Receiver)]
    pub(crate) role: Part,

    /// What the receiver learns, as `send` and `receive` say it.
    #[arg(long, value_name = "KIND", default_value = "rows")]
    pub(crate) output_kind: RequestedOutput,

    /// Learn rows, a count or a sum only if at least K items are shared.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) min_intersection: Option<u64>,

    /// What is between the parties: `lan` (10 Gbit/s, 0.2 ms), or rate and round trip, as 100mbps,80ms.
    #[arg(long, value_name = "LINK", default_value = "100mbps,40ms")]
    pub(crate) network: Link,

    #[command(flatten)]
    pub(crate) meeting: PlanMeeting,

    #[command(flatten)]
    pub(crate) trust: Trust,

    /// Threads of each party. [default: one per core of this machine]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,

    /// The memory that each party has beyond its table, as 500MB or 4GB. What needs more is left out.
    #[arg(long, value_name = "BYTES", value_parser = sizes::bytes)]
    pub(crate) memory: Option<u64>,

    /// What machines and traffic cost: a file (its form is described in crates/forecast/prices), or the
    /// prices of a paper, `spot19` or `cm20`.
    #[arg(long, value_name = "FILE", requires = "regions")]
    pub(crate) prices: Option<PathBuf>,

    /// Where the parties are, by names of the prices: the sender's region, and the receiver's. With one
    /// region, only the sender's costs count.
    #[arg(long, value_name = "SENDER[,RECEIVER]", value_delimiter = ',', num_args = 1..=2, requires = "prices")]
    pub(crate) regions: Vec<String>,

    /// What `calibrate` wrote, perhaps on another machine, to plan for that one. [default: what it wrote
    /// last on this machine; if there is nothing, what psijoin's authors measured, scaled by a
    /// measurement of a second]
    #[arg(long, value_name = "FILE")]
    pub(crate) calibration: Option<PathBuf>,

    /// What the best protocol has least of.
    #[arg(long, value_enum, default_value_t = Goal::Time)]
    pub(crate) optimise: Goal,

    /// Print one JSON object per protocol.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where a party waits for the other to measure the network between them.
#[derive(ClapArgs)]
#[group(multiple = false)]
pub(crate) struct PlanMeeting {
    /// Measure the network instead, with the other party, which runs `plan` too, and connects to
    /// HOST:PORT. No data moves, and the number of items is not told.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "network")]
    pub(crate) listen: Option<Address>,

    /// The same, with the other party that listens at HOST:PORT.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "network")]
    pub(crate) connect: Option<Address>,
}

/// Which part a party plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The one that helps.
    Sender,
    /// The one that learns.
    Receiver,
}

/// What the best protocol has least of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Goal {
    /// Time.
    Time,
    /// Bytes on the wire, both ways.
    Bytes,
    /// Money: --prices says what things cost.
    Money,
}

#[derive(Subcommand)]
pub(crate) enum Lab {
    /// List the experiments: tables and figures of the papers.
    List,
    /// Measure what experiments need. What was measured before is not measured again.
    Run(LabRun),
    /// Report what came out.
    Report(LabReport),
    /// Compare what two machines, or two versions, measured.
    Compare(LabCompare),
}

#[derive(ClapArgs)]
pub(crate) struct LabRun {
    /// The experiments; all, if none is named.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    #[command(flatten)]
    pub(crate) results: LabResults,

    /// What fits in ten minutes. This is the default. What earlier runs took counts, so the same command
    /// goes on where it was interrupted.
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
pub(crate) struct LabReport {
    /// The experiments; all, if none is named.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    #[command(flatten)]
    pub(crate) results: LabResults,

    /// The form of the report; if it is not given, the ending of --out says it, or it is HTML.
    #[arg(long, value_enum)]
    pub(crate) form: Option<LabForm>,

    /// Where to write it, instead of standard output. Of pictures, this is the folder.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct LabResults {
    /// The file of measured runs, a line per run.
    #[arg(long, value_name = "FILE", default_value = "psijoin-lab.jsonl")]
    pub(crate) results: PathBuf,
}

#[derive(ClapArgs)]
pub(crate) struct LabCompare {
    /// A file of measured runs.
    #[arg(value_name = "FIRST")]
    pub(crate) first: PathBuf,

    /// Another one.
    #[arg(value_name = "SECOND")]
    pub(crate) second: PathBuf,
}

/// A form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabForm {
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

#[derive(ClapArgs)]
pub(crate) struct Calibrate {
    /// The protocols to measure, or `all`.
    #[arg(
        long,
        value_name = "NAME[,NAME…]",
        default_value = "all",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = selection()
    )]
    pub(crate) protocol: Vec<Selection>,

    /// How many seconds a protocol may take, for each kind of output.
    #[arg(long, value_name = "N", default_value = "8", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seconds: u32,

    /// Where to write what was measured, instead of the user's cache folder, where `plan` finds it.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// A form of measurements that is not for people at a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Export {
    /// One object per protocol, each on a line of its own.
    Json,
    /// A line with the names of the columns, and a line per protocol.
    Csv,
    /// A table in Markdown, to paste into a document, with the command and the machine above it.
    Md,
}

#[derive(ClapArgs)]
pub(crate) struct Protocols {
    /// The set sizes to give the costs for: N for both parties, or SENDER:RECEIVER.
    #[arg(long, value_name = "N[:M]", default_value = "2^20", value_parser = sizes::parse)]
    pub(crate) items: SetSizes,

    /// Print one JSON object per protocol.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Shares {
    /// What send or receive wrote with --output-kind shares.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// How the two parties of a bench are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// Within the process.
    Memory,
    /// Plain TCP over loopback.
    Tcp,
    /// TLS 1.3 over loopback.
    Tls,
}

impl Transport {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
        }
    }
}

/// An element of a list of protocols.
#[derive(Clone)]
pub(crate) enum Selection {
    All,
    One(&'static Protocol),
}

impl Selection {
    /// The protocols that a list of selections names, in the order of the list.
    pub(crate) fn resolve(selections: &[Self]) -> Vec<&'static Protocol> {
        selections
            .iter()
            .flat_map(|selection| match selection {
                Self::All => registry::PROTOCOLS.to_vec(),
                Self::One(protocol) => vec![*protocol],
            })
            .collect()
    }
}

/// Reads a selection.
fn selection() -> impl TypedValueParser<Value = Selection> {
    named(|name| match name {
        "all" => Some(Selection::All),
        name => registry::find(name).map(Selection::One),
    })
}

/// Reads the name of a protocol, [`registry::AUTO`]'s included.
fn protocol() -> impl TypedValueParser<Value = &'static Protocol> {
    named(registry::find)
}

/// Reads one of the names that stand for something. For a mistyped one, clap suggests which was
/// meant.
fn named<T: Clone + std::marker::Send + Sync + 'static>(
    meaning: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    let names = registry::PROTOCOLS.iter().map(|one| one.info().name);
    let names = names.chain([registry::AUTO.info().name, "all"]);
    let names = names.filter(|name| meaning(name).is_some());
    PossibleValuesParser::new(names)
        .map(move |name| meaning(&name).expect("only names with a meaning pass"))
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
