//! The quantities that both our runs and a paper can be asked for.

use std::{collections::BTreeSet, fmt};

use psijoin::OutputKind;
use psijoin_channel::link::Link;
use psijoin_forecast::money::Setting;
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
    /// Bits per item, where a paper distinguishes them. Ours are digested first, so they make no
    /// difference.
    pub item_bits: Option<u32>,
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
    /// In the unit of its metric.
    pub value: f64,
    /// The origin of the figure.
    pub kind: Kind,
}

/// The origin of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A paper printed it.
    Published,
    /// It follows from a plan.
    Exact,
    /// It was predicted from runs as large as this, or larger.
    Measured,
    /// Only smaller runs were measured, or runs with fewer threads.
    Extrapolated,
}

impl Kind {
    /// As tables write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Exact => "exact",
            Self::Measured => "measured",
            Self::Extrapolated => "extrapolated",
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
            place: None,
            output: OutputKind::Rows,
        }
    }

    /// Returns what a row of a table is about: by our name of the protocol, if it has one.
    pub fn of(row: &Row, output: &OutputKind) -> Self {
        Self {
            protocol: row.ours.clone().unwrap_or_else(|| row.protocol.clone()),
            metric: row.metric,
            items: [row.sender_items, row.receiver_items],
            network: row.network,
            threads: row.threads.unwrap_or(1),
            item_bits: row.more.get("item_bits").and_then(|bits| bits.parse().ok()),
            place: Place::of(row),
            output: output.clone(),
        }
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
