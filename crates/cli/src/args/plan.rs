//! The arguments of `plan` and `calibrate`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args as ClapArgs, ValueEnum};
use psijoin::Columns;
use psijoin_channel::link::Link;
use psijoin_frontend::sizes::{self, SetSizes};
use psijoin_session::{Learners, RequestedNoise, RequestedOutput};
use psijoin_transport::endpoint::Address;

use super::{Key, Measured, Trust};
use crate::dialect;

#[derive(ClapArgs)]
pub(crate) struct Plan {
    /// How many items each party has, or sender:receiver.
    ///
    /// For example 65536, 2^20, 1e6, 2^10:2^20.
    #[arg(long, value_name = "N[:M]", value_parser = sizes::parse)]
    pub(crate) items: SetSizes,

    /// What is between the parties: `lan` (10 Gbit/s, 0.2 ms), or rate and round trip.
    ///
    /// A rate and a round trip are written as 100mbps,80ms.
    #[arg(long, value_name = "LINK", default_value = "100mbps,40ms")]
    pub(crate) network: Link,

    /// What the best protocol has least of.
    #[arg(long, value_enum, default_value_t = Goal::Time)]
    pub(crate) optimise: Goal,

    /// Compare all protocols: also the baselines, and what papers compare with.
    ///
    /// Otherwise these are the protocols that `auto` may take, and those that hold against a party
    /// that cheats; and all, if none of these can do it.
    #[arg(long)]
    pub(crate) all: bool,

    /// Print one JSON object per protocol.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten, next_help_heading = "Connection")]
    pub(crate) meeting: PlanMeeting,

    #[command(flatten)]
    pub(crate) trust: Trust,

    /// This party's table, as `send` and `receive` take it.
    ///
    /// Its distinct keys are counted, and --items is for the other party.
    #[arg(long, help_heading = "Input", value_name = "FILE", num_args = 1..)]
    pub(crate) input: Vec<PathBuf>,

    #[command(flatten, next_help_heading = "Input")]
    pub(crate) key: Key,

    #[command(flatten)]
    pub(crate) dialect: dialect::Said,

    /// Which party has the table of --input.
    #[arg(long, value_enum, default_value_t = Part::Receiver)]
    pub(crate) role: Part,

    #[command(flatten, next_help_heading = "Result")]
    pub(crate) result: PlannedResult,

    /// Threads of each party.
    ///
    /// [default: one per core of this machine]
    #[arg(long, help_heading = RESOURCES, value_name = "N", value_parser = sizes::threads)]
    pub(crate) threads: Option<NonZeroUsize>,

    /// The memory of each party, as `send` and `receive` take it with --memory.
    ///
    /// For example 500MB or 4GB. What needs more is left out; what each table then spills to disk
    /// is said.
    #[arg(long, help_heading = RESOURCES, value_name = "SIZE", value_parser = sizes::bytes)]
    pub(crate) memory: Option<u64>,

    /// What `calibrate` wrote, perhaps on another machine, to plan for that one.
    ///
    /// [default: what it wrote last on this machine; if there is nothing, what psijoin's authors
    /// measured, scaled by a measurement of a second]
    #[arg(long, help_heading = RESOURCES, value_name = "FILE")]
    pub(crate) calibration: Option<PathBuf>,

    /// What machines and traffic cost: a file, the prices of a paper (`spot19`, `cm20`), or those
    /// of a machine of today (`m7i`).
    ///
    /// The form of a file is described in crates/forecast/prices.
    #[arg(long, help_heading = RESOURCES, value_name = "FILE", requires = "regions")]
    pub(crate) prices: Option<PathBuf>,

    /// Where the parties are, by names of the prices: the sender's region, and the receiver's.
    ///
    /// With one region, only the sender's costs count.
    #[arg(long, help_heading = RESOURCES, value_name = "SENDER[,RECEIVER]", value_delimiter = ',', num_args = 1..=2, requires = "prices")]
    pub(crate) regions: Vec<String>,
}

const RESOURCES: &str = "Resources";

/// The output that is planned.
#[derive(ClapArgs)]
pub(crate) struct PlannedResult {
    /// What the receiver learns, as `send` and `receive` say it.
    #[arg(long, value_name = "KIND", default_value = "rows")]
    pub(crate) output_kind: RequestedOutput,

    /// Who learns which of its rows are shared: receiver or both.
    #[arg(long, value_name = "WHO", default_value = "receiver")]
    pub(crate) learn: Learners,

    /// Learn rows, a count or a sum only if at least K items are shared.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) min_intersection: Option<u64>,

    /// How many labels the keys of each party have, of counts of groups: the sender's and the
    /// receiver's.
    ///
    /// There are as many groups as pairs of labels: 3:2 are 6. With 0 a party has none.
    #[arg(long, value_name = "N:M", default_value = "0:16", value_parser = labels)]
    pub(crate) labels: Columns,

    /// Withhold each group of fewer than K shared keys, as `send` and `receive` say it.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) min_group: Option<u64>,

    /// Add noise to the totals of groups, as `send` and `receive` say it.
    #[arg(long, value_name = "NOISE")]
    pub(crate) noise: Option<RequestedNoise>,

    /// Rest on nothing that a quantum computer is known to break, as `send` and `receive` say it.
    #[arg(long)]
    pub(crate) post_quantum: bool,

    /// How many bytes per key the sender's columns take that go with the rows (`send --give`).
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) sender_gives: Option<u16>,

    /// How many bytes per key the receiver's columns take (`receive --give`, with --learn both).
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) receiver_gives: Option<u16>,
}

/// Reads the numbers of labels of the sender's keys and of the receiver's.
fn labels(text: &str) -> Result<Columns, String> {
    let numbers = text.split_once(':').and_then(|(sender, receiver)| {
        Some(Columns {
            sender: sender.parse().ok()?,
            receiver: receiver.parse().ok()?,
        })
    });
    numbers.ok_or_else(|| "say two whole numbers, as in 3:2".to_owned())
}

/// The place where a party waits for the other to measure the network between them.
#[derive(ClapArgs)]
#[group(multiple = false)]
pub(crate) struct PlanMeeting {
    /// Measure the network with the other party, which runs `plan` too, and connects to HOST:PORT.
    ///
    /// No data moves, and the number of items is not told.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "network")]
    pub(crate) listen: Option<Address>,

    /// Measure the network with the other party, which runs `plan` too, and listens at HOST:PORT.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "network")]
    pub(crate) connect: Option<Address>,
}

impl PlanMeeting {
    /// Returns whether the parties are to meet.
    pub(crate) fn is_wanted(&self) -> bool {
        self.listen.is_some() || self.connect.is_some()
    }
}

/// The role of a party.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The sender of the result.
    Sender,
    /// The receiver of the result.
    Receiver,
}

/// The quantity that the best protocol has least of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Goal {
    /// Time.
    Time,
    /// Bytes on the wire, both ways.
    Bytes,
    /// Money: --prices says what things cost.
    Money,
}

#[derive(ClapArgs)]
pub(crate) struct Calibrate {
    #[command(flatten)]
    pub(crate) measured: Measured,

    /// How many seconds a protocol may take, for each kind of output.
    #[arg(long, value_name = "N", default_value = "8", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seconds: u32,

    /// Where to write what was measured.
    ///
    /// [default: the user's cache folder, where `plan` finds it]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
