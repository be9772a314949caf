//! The tables and figures of the papers that compare something, as experiments to run again.
//!
//! An experiment is data: which quantities, of which protocols. Its [cells](Experiment::cells) hold
//! a paper's figures and ours; figures that were never measured are left out.

mod cells;
mod figures;
mod list;
mod parameters;

use psijoin::{OutputKind, registry};
use psijoin_forecast::{Duplex, Wire};

use crate::{
    measurements::Need,
    ours::{Ours, Wired},
    published::{Metric, Paper},
    quantity::{Quantity, distinct},
    variants::Variant,
    verdicts,
};

pub use cells::Cell;
pub(crate) use cells::later;
pub use list::{EXPERIMENTS, NOT_COMPARED};
pub use parameters::Parameters;

pub(crate) use figures::{MAPPED, Sweep};

/// A table or figure of a paper, to be reproduced.
#[derive(Debug)]
#[non_exhaustive]
pub struct Experiment {
    /// Its name: `cm20-table-2`.
    pub name: &'static str,
    /// Its subject.
    pub title: &'static str,
    /// The paper.
    pub paper: Paper,
    /// Its content.
    pub(crate) content: Content,
    /// Its charts.
    pub(crate) shows: &'static [Show],
}

/// The content of an experiment.
#[derive(Debug)]
pub(crate) enum Content {
    /// All rows of published tables, and the same of protocols that came later.
    Tables(&'static [&'static str]),
    /// Parameters of a protocol.
    Parameters(Parameters),
    /// A figure that a paper has only drawn.
    Sweep(Sweep),
}

/// The subject of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// Ratios of ours to what was published, per protocol.
    Ratios,
    /// A quantity over the number of items.
    OverItems(Metric),
    /// Seconds over the rate, for sets of this size: its logarithm.
    OverBandwidth(u32),
    /// Money per place.
    Money,
    /// Seconds over bytes, with lines of equal money.
    SecondsOverBytes,
    /// The cheapest over bandwidth and price.
    CheapestByPrice,
    /// The fastest over bandwidth and number of items.
    FastestByItems,
    /// The cost over the price of traffic, on some networks, for sets of this size: its logarithm.
    CostByPrice(u32),
}

/// Returns the experiment of this name.
pub fn find(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS
        .iter()
        .find(|experiment| experiment.name == name)
}

impl Experiment {
    /// Returns what it is about, in the order of the paper.
    pub(crate) fn quantities(&self) -> Vec<Quantity> {
        match &self.content {
            Content::Tables(tables) => cells::quantities(self, tables),
            Content::Parameters(_) => Vec::new(),
            Content::Sweep(sweep) => sweep.quantities(self.paper),
        }
    }

    /// Returns the published tables that it compares with.
    pub fn tables(&self) -> impl Iterator<Item = &'static str> {
        let tables = match &self.content {
            Content::Tables(tables) => tables,
            Content::Parameters(parameters) => std::slice::from_ref(&parameters.table),
            Content::Sweep(sweep) => sweep.tables,
        };
        tables.iter().copied()
    }

    /// Returns what our protocols compute in it.
    pub(crate) fn output(&self) -> OutputKind {
        match self.paper {
            // Its output is a function of the intersection.
            Paper::Kk20 => OutputKind::Count,
            _ => OutputKind::Rows,
        }
    }

    /// Returns the wire of its authors. Both parties of KKRT16 ran on one machine, and so did those
    /// of SpOT19's tables: `tc` then limits the loopback interface, which carries both directions.
    /// PSZ14 and CM20 had two machines, as SpOT19's other figures. KK20 does not say how its
    /// network was made.
    pub(crate) fn wire(&self) -> Wire {
        let is_local = match self.paper {
            Paper::Kkrt16 => true,
            Paper::Spot19 => matches!(self.name, "spot19-table-2" | "spot19-figure-1"),
            _ => false,
        };
        Wire {
            duplex: if is_local { Duplex::Half } else { Duplex::Full },
            slow_start: false,
        }
    }

    /// Returns the length of its items, if a figure does not say it: all of PSZ14's have 32 bits.
    pub(crate) fn item_bits(&self) -> Option<u32> {
        (self.paper == Paper::Psz14).then_some(32)
    }

    /// Returns our figures under its circumstances, unless others were asked for.
    pub(crate) fn figures<'a>(&self, ours: &'a Ours) -> Wired<'a> {
        ours.over(self.wire(), self.item_bits())
    }

    /// Returns whether a network takes part in it.
    pub(crate) fn has_networks(&self) -> bool {
        let maps = |show: &Show| {
            matches!(
                show,
                Show::CheapestByPrice | Show::FastestByItems | Show::CostByPrice(_)
            )
        };
        let on_one = |one: &Quantity| one.network.is_some();
        self.quantities().iter().any(on_one) || self.shows.iter().any(maps)
    }

    /// Returns the measurements that it needs, on a machine with this many cores.
    pub fn needs(&self, cores: usize) -> Vec<Need> {
        let claims = verdicts::of(self.name).flat_map(verdicts::Claim::quantities);
        let maps = self.shows.iter().flat_map(|show| mapped(*show));
        let all = self.quantities().into_iter().chain(claims).chain(maps);
        needs(all, self.item_bits(), cores)
    }
}

/// Returns the measurements that some experiments need, on a machine with this many cores.
///
/// More threads than cores would only wait for each other; figures for more are extrapolated.
pub fn all_needs<'a>(
    experiments: impl IntoIterator<Item = &'a Experiment>,
    cores: usize,
) -> Vec<Need> {
    let needs = experiments.into_iter();
    joined(needs.flat_map(|experiment| experiment.needs(cores)))
}

/// Protocols of maps, at the largest size of their axis.
fn mapped(show: Show) -> Vec<Quantity> {
    let protocols = match show {
        Show::CheapestByPrice | Show::FastestByItems => MAPPED,
        _ => return Vec::new(),
    };
    let quantity = |protocol: &&str| Quantity::new(protocol, Metric::Seconds, 1 << 20, None);
    protocols.iter().map(quantity).collect()
}

fn needs(
    quantities: impl IntoIterator<Item = Quantity>,
    usual_bits: Option<u32>,
    cores: usize,
) -> Vec<Need> {
    let timed = quantities.into_iter().filter(|quantity| {
        matches!(
            quantity.metric,
            Metric::Seconds
                | Metric::OfflineSeconds
                | Metric::OnlineSeconds
                | Metric::SenderMemoryBytes
                | Metric::ReceiverMemoryBytes
                | Metric::UsdPer1000Runs
                | Metric::Speedup
        ) && registry::find(&quantity.protocol).is_some()
    });
    let needs = timed.flat_map(|quantity| {
        let quantity = Quantity {
            item_bits: quantity.item_bits.or(usual_bits),
            ..quantity
        };
        let threads = match quantity.metric {
            Metric::Speedup => vec![1, quantity.threads],
            _ => vec![quantity.threads],
        };
        threads.into_iter().map(move |threads| Need {
            protocol: quantity.protocol.clone(),
            output: quantity.output.clone(),
            variant: Variant::of(&quantity),
            threads: threads.min(cores.max(1)),
            most_items: quantity.larger(),
        })
    });
    joined(needs)
}

/// Returns one need per profile, of the largest size.
fn joined(needs: impl IntoIterator<Item = Need>) -> Vec<Need> {
    let all = Vec::from_iter(needs);
    let key = |need: &Need| (need.protocol.clone(), need.described(), need.threads);
    let largest = |need: Need| {
        let alike = all.iter().filter(|other| key(other) == key(&need));
        let most_items = alike.map(|other| other.most_items).max();
        Need {
            most_items: most_items.unwrap_or(need.most_items),
            ..need
        }
    };
    let first = distinct(all.iter().cloned(), key);
    first.into_iter().map(largest).collect()
}
