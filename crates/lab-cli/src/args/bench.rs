//! The arguments of `bench`.

use std::num::NonZeroUsize;

use clap::{Args as ClapArgs, ValueEnum};
use psijoin_channel::link::Link;
use psijoin_cli::args::Measured;
use psijoin_frontend::sizes::{self, SetSizes};
use psijoin_session::RequestedOutput;

#[derive(ClapArgs)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) measured: Measured,

    /// How many items each party has, or sender:receiver. For example 65536, 2^20, 1e6, 2^10:2^20.
    /// Half of the smaller set is shared.
    #[arg(long, value_name = "N[:M]", default_value = "2^16", value_parser = sizes::parse)]
    pub(crate) items: SetSizes,

    /// Make items random numbers of B bits, and tell the protocols: some send less for short items.
    /// Without it, items can be anything.
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) item_bits: Option<u32>,

    /// What the receiver learns, as `psijoin send` and `psijoin receive` say it: `rows`, `count`,
    /// `threshold:K`, `sum:COL[,COL…]` or `shares[:COL[,COL…]]`. Columns hold random numbers, and
    /// can have any names; `receiver.COL` is the receiver's, any other the sender's.
    #[arg(long, value_name = "KIND", default_value = "rows")]
    pub(crate) output_kind: RequestedOutput,

    /// Learn rows, a count or a sum only if at least K items are shared.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) min_intersection: Option<u64>,

    /// Rest on nothing that a quantum computer is known to break: base OTs are by ML-KEM.
    #[arg(long)]
    pub(crate) post_quantum: bool,

    /// Emulate a network: `lan` (10 Gbit/s, 0.2 ms) or `wan:RATE,RTT`, as in wan:100mbps,80ms.
    #[arg(long, value_name = "LINK")]
    pub(crate) network: Option<Link>,

    /// How the parties are joined.
    #[arg(long, value_enum, default_value_t = Transport::Memory)]
    pub(crate) transport: Transport,

    /// Threads of each party.
    #[arg(long, value_name = "N", default_value = "1", value_parser = sizes::threads)]
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

    /// Short for --export json.
    #[arg(long, conflicts_with = "export")]
    json: bool,
}

impl Bench {
    /// Returns the form that was asked for.
    pub(crate) fn export(&self) -> Option<Export> {
        self.export.or(self.json.then_some(Export::Json))
    }
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

/// The way the two parties of a bench are joined.
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
    /// Returns its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
        }
    }
}
