//! The quantities that both our runs and a paper can be asked for.

use std::{collections::BTreeSet, fmt};

use psijoin::OutputKind;
use psijoin_channel::link::Link;
use psijoin_forecast::money::Setting;
use psijoin_params::letters;
use serde::Serialize;

use crate::published::{Metric, Row};

/// A quantity of a run: a cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// The name in our registry, or the paper's own.
    pub protocol: String,
    /// The metric of the run.
    pub metric: Metric,
    /// Items of the sender, and of the receiver.
    pub items: [u64; 2],
    /// The network of the run; none for bytes.
    pub network: Option<Link>,
    /// Threads per party.
    pub threads: usize,
    /// Bits per item, where a paper distinguishes them. Most of ours are digested first, so they
    /// make no difference; `pssz`, those of `psz` and circuits take short ones as they are.
    pub item_bits: Option<u32>,
    /// Bits of statistical security, where a paper varies them: those of KK20 are its hash
    /// functions.
    pub statistical_bits: Option<u32>,
    /// Bits of a letter of `psz-…`, if they are not the usual ones: 1 with 1-out-of-2 OTs.
    pub letter_bits: Option<u32>,
    /// The place of the rented machines, if it is about money.
    pub place: Option<Place>,
    /// The output that our protocols are to compute.
    pub output: OutputKind,
}

/// A place where machines are rented, and its prices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The name of prices that are [shipped](psijoin_forecast::money::Prices::shipped).
    pub prices: &'static str,
    /// The regions.
    pub setting: Setting,
}

/// A figure, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// In the unit of its metric: of a time, the median.
    pub value: f64,
    /// The ends of its scatter: quartiles, of a time. Twice the figure, if it has none.
    pub range: [f64; 2],
    /// The origin of the figure.
    pub kind: Kind,
}

impl Value {
    /// Returns a figure without scatter.
    pub(crate) fn exact(value: f64, kind: Kind) -> Self {
        Self {
            value,
            range: [value; 2],
            kind,
        }
    }

    /// Returns what rises with it.
    pub(crate) fn map(self, rising: impl Fn(f64) -> f64) -> Self {
        Self {
            value: rising(self.value),
            range: self.range.map(rising),
            ..self
        }
    }

    /// Returns what follows from two figures, and rises or falls with each: its range has all that
    /// is possible within theirs.
    pub(crate) fn with(self, other: Self, follows: impl Fn(f64, f64) -> f64) -> Self {
        let corners = self.range.map(|a| other.range.map(|b| follows(a, b)));
        let corners = corners.as_flattened().iter().copied();
        Self {
            value: follows(self.value, other.value),
            range: [
                corners.clone().fold(f64::INFINITY, f64::min),
                corners.fold(f64::NEG_INFINITY, f64::max),
            ],
            kind: self.kind.max(other.kind),
        }
    }
}

/// The origin of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A paper printed it.
    Published,
    /// It follows from a plan.
    Exact,
    /// It was predicted from runs as large as this, or larger; of a set in parts, as a part.
    Measured,
    /// Only smaller runs were measured, but a step of sizes smaller at most.
    Extrapolated,
    /// Only much smaller runs were measured, or runs with fewer threads. It decides nothing.
    Far,
}

impl Kind {
    /// As tables write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Exact => "exact",
            Self::Measured => "measured",
            Self::Extrapolated => "extrapolated",
            Self::Far => "extrapolated far",
        }
    }
}

/// A source of quantities.
pub trait Figures {
    /// Returns the figure, if it is known.
    fn value(&self, quantity: &Quantity) -> Option<Value>;
}

impl Quantity {
    /// Returns a time, or what depends on a network, of a run with one thread.
    pub fn new(protocol: &str, metric: Metric, items: u64, network: Option<Link>) -> Self {
        Self {
            protocol: protocol.into(),
            metric,
            items: [items; 2],
            network,
            threads: 1,
            item_bits: None,
            statistical_bits: None,
            letter_bits: None,
            place: None,
            output: OutputKind::Rows,
        }
    }

    /// Returns what a row of a table is about: by our name of the protocol, if it has one.
    pub fn of(row: &Row, output: &OutputKind) -> Self {
        let bits = |column| row.more.get(column).and_then(|bits| bits.parse().ok());
        Self {
            protocol: row.ours.clone().unwrap_or_else(|| row.protocol.clone()),
            metric: row.metric,
            items: [row.sender_items, row.receiver_items],
            network: row.network,
            threads: row.threads.unwrap_or(1),
            item_bits: bits("item_bits"),
            statistical_bits: bits("bloom_hash_functions"),
            letter_bits: letter_bits(row),
            place: Place::of(row),
            output: output.clone(),
        }
    }

    /// Returns the items of the larger set.
    pub(crate) fn larger(&self) -> u64 {
        self.items[0].max(self.items[1])
    }

    /// Returns this quantity of another protocol.
    pub fn of_protocol(&self, protocol: &str) -> Self {
        Self {
            protocol: protocol.into(),
            ..self.clone()
        }
    }

    /// Returns another quantity of the same run.
    pub fn of_metric(&self, metric: Metric) -> Self {
        Self {
            metric,
            ..self.clone()
        }
    }

    /// Returns everything but protocol and metric, in words.
    pub fn setting(&self) -> String {
        let mut parts = vec![items(self.items)];
        if let Some(network) = self.network {
            parts.push(link(network));
        }
        if self.threads > 1 {
            parts.push(format!("{} threads", self.threads));
        }
        if let Some(place) = &self.place {
            parts.push(place.to_string());
        }
        parts.join(", ")
    }
}

impl Place {
    /// Returns where a row of a table is about money.
    fn of(row: &Row) -> Option<Self> {
        let (sender, receiver) = row.more.get("site")?.split_once('-')?;
        let setting = setting(row.more.get("setting")?, sender, receiver);
        Some(Self {
            prices: "cm20",
            setting,
        })
    }
}

/// Returns the bits of a letter by 1-out-of-N OTs, unless they are the usual ones.
fn letter_bits(row: &Row) -> Option<u32> {
    let messages: u32 = row
        .more
        .get("ot")?
        .strip_prefix("1-out-of-")?
        .parse()
        .ok()?;
    Some(messages.ilog2()).filter(|bits| *bits != letters::BITS)
}

/// Returns `b2b` or `internet`, between two sites.
pub(crate) fn setting(kind: &str, sender: &str, receiver: &str) -> Setting {
    let [sender, receiver] = [sender, receiver].map(region);
    match kind {
        "b2b" => Setting::BusinessToBusiness { sender, receiver },
        _ => Setting::Internet { sender },
    }
}

/// Returns a paper's site, as files of prices spell it.
fn region(site: &str) -> String {
    site.to_ascii_lowercase().replace("sidney", "sydney")
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.setting {
            Setting::BusinessToBusiness { sender, receiver } => {
                write!(f, "business to business, {sender} to {receiver}")
            }
            Setting::Internet { sender } => write!(f, "Internet, sender in {sender}"),
        }
    }
}

/// Sizes in words: `2^20 items`.
pub(crate) fn items(items: [u64; 2]) -> String {
    let one = |items: u64| match items.is_power_of_two() && items > 1 {
        true => format!("2^{}", items.ilog2()),
        false => items.to_string(),
    };
    match items {
        [sender, receiver] if sender == receiver => format!("{} items", one(sender)),
        [sender, receiver] => format!("{} and {} items", one(sender), one(receiver)),
    }
}

/// Returns a network, as the papers' files write it: `100mbps,80ms`. Behind `wan:` it is what
/// `--network` takes.
pub(crate) fn link(link: Link) -> String {
    let bits = link.bits_per_second();
    let (rate, unit) = match bits >= 1e9 {
        true => (bits / 1e9, "gbps"),
        false => (bits / 1e6, "mbps"),
    };
    let round_trip_ms = link.round_trip().as_secs_f64() * 1e3;
    format!("{rate}{unit},{round_trip_ms}ms")
}

/// Returns the distinct ones of some, in the order in which they came first.
pub(crate) fn distinct<T: Clone, K: Ord>(
    all: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut seen = BTreeSet::new();
    let new = |one: &T| seen.insert(key(one));
    all.into_iter().filter(new).collect()
}
