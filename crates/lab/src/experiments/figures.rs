//! Figures that a paper has only drawn: what is in them, without printed numbers.

use super::cells::later;
use crate::{
    published::{Metric, Paper},
    quantity::Quantity,
    sites::Places,
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
    pub(crate) places: fn() -> Places,
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
                        ..Quantity::new(protocol, *metric, 1 << log2, network)
                    }));
                }
            }
        }
        quantities
    }
}
