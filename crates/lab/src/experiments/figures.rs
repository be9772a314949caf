//! Figures that a paper has only drawn: what is in them, without printed numbers.

use psijoin_channel::link::Link;

use super::cells::later;
use crate::{
    published::{self, Metric, Paper},
    quantity::{Place, Quantity, setting},
};

/// Protocols of the maps of who wins where.
pub(crate) const MAPPED: &[&str] = &["dh", "kkrt", "spot-low", "spot-fast", "cm20", "rr22"];

/// Quantities of a figure: all protocols at all sizes in all places.
#[derive(Debug)]
pub(crate) struct Sweep {
    /// The tables that tell where parties are.
    pub(crate) tables: &'static [&'static str],
    pub(crate) protocols: &'static [&'static str],
    /// Logarithms of the numbers of items.
    pub(crate) log2_items: &'static [u32],
    pub(crate) places: fn() -> Vec<(Link, Option<Place>)>,
    pub(crate) metrics: &'static [Metric],
}

impl Sweep {
    pub(super) fn quantities(&self, paper: Paper) -> Vec<Quantity> {
        let mut quantities = Vec::new();
        for protocol in self.protocols.iter().chain(later(paper)) {
            for log2 in self.log2_items {
                for (network, place) in (self.places)() {
                    quantities.extend(self.metrics.iter().map(|metric| Quantity {
                        place: place.clone(),
                        ..Quantity::new(protocol, *metric, 1 << log2, Some(network))
                    }));
                }
            }
        }
        quantities
    }
}

/// Returns a rate in Gbit/s between two sites, where the paper gives no round trip.
fn between(gbps: f64, same: bool) -> Link {
    let round_trip_ms = if same { 0.2 } else { 80.0 };
    let text = format!("wan:{}mbps,{round_trip_ms}ms", gbps * 1000.0);
    text.parse()
        .expect("rates between sites are those of links")
}

/// Returns SpOT19's Figure 9: pairs of sites.
fn sites(kind: &str) -> Vec<(Link, Option<Place>)> {
    let rows = parameters("spot19-fig-9").iter().map(|row| {
        let [sender, receiver, gbps] = ["site_a", "site_b", "gbps"].map(|name| row.get(name));
        let (sender, receiver) = (sender.unwrap_or_default(), receiver.unwrap_or_default());
        let gbps = gbps.and_then(|text| text.parse().ok()).expect("a rate");
        let place = Place {
            prices: "spot19",
            setting: setting(kind, sender, receiver),
        };
        (between(gbps, sender == receiver), Some(place))
    });
    rows.collect()
}

fn parameters(name: &str) -> &'static [published::Cells] {
    let mut tables = published::parameters().iter();
    let table = tables.find(|table| table.name == name);
    &table.expect("the table is there").rows
}

pub(crate) fn business() -> Vec<(Link, Option<Place>)> {
    sites("b2b")
}

pub(crate) fn internet() -> Vec<(Link, Option<Place>)> {
    sites("internet")
}

/// Returns SpOT19's Figure 12: five networks.
pub(super) fn five_networks() -> Vec<(Link, Option<Place>)> {
    let rows = parameters("spot19-fig-12-setup").iter().map(|row| {
        let gbps = row.get("gbps").and_then(|text| text.parse().ok());
        let same = row.get("site_a") == row.get("site_b");
        (between(gbps.expect("a rate"), same), None)
    });
    rows.collect()
}

/// Returns three networks for SpOT19's Figure 1, which does not name its own, within Virginia.
pub(super) fn three_networks() -> Vec<(Link, Option<Place>)> {
    let place = Place {
        prices: "spot19",
        setting: setting("b2b", "virginia", "oregon"),
    };
    let networks = ["wan:10gbps,0.2ms", "wan:100mbps,80ms", "wan:10mbps,80ms"];
    let parsed = networks.map(|text| text.parse().expect("a link"));
    parsed.map(|link| (link, Some(place.clone()))).into()
}
