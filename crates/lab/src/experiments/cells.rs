//! Cells of tables: what was printed, and what is ours.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Content, Experiment};
use crate::{
    ours::{Ours, Wired},
    published::{self, Metric, Paper, Row},
    quantity::{Figures, Kind, Quantity, distinct, link},
};

/// A cell of a table: a quantity, as a paper printed it and as it is with us.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Cell {
    /// Our name of the protocol; the paper's own if we do not have it.
    pub protocol: String,
    /// The paper's name, if the paper has the protocol.
    pub paper_name: Option<String>,
    /// Items of the sender.
    pub sender_items: u64,
    /// Items of the receiver.
    pub receiver_items: u64,
    /// Rate and round trip; none for bytes.
    pub network: Option<String>,
    /// Threads per party; none for bytes.
    pub threads: Option<usize>,
    /// Its metric, with its unit.
    pub metric: String,
    /// The further distinctions of the table: sites, bits per item.
    pub details: BTreeMap<String, String>,
    /// The paper's figure, with its unit.
    pub printed: Option<String>,
    /// The printed figure as a number, in the unit of the metric.
    pub published: Option<f64>,
    /// Ours; of a time, the median.
    pub ours: Option<f64>,
    /// The ends of its scatter, if it has any.
    pub range: Option<[f64; 2]>,
    /// The number of runs that it rests on, if it was measured.
    pub runs: Option<usize>,
    /// The origin of ours.
    pub kind: Option<Kind>,
}

impl Cell {
    /// Ours over what was published.
    pub fn ratio(&self) -> Option<f64> {
        let published = self.published.filter(|value| *value > 0.0)?;
        Some(self.ours? / published)
    }

    fn of(quantity: &Quantity, ours: Wired<'_>) -> Self {
        let value = ours.value(quantity);
        let place = quantity.place.as_ref();
        let details = place.map(|place| ("place".to_owned(), place.to_string()));
        let range = value.map(|value| value.range);
        let range = range.filter(|[low, high]| low < high);
        Self {
            protocol: quantity.protocol.clone(),
            paper_name: None,
            sender_items: quantity.items[0],
            receiver_items: quantity.items[1],
            network: quantity.network.map(link),
            threads: quantity.network.map(|_| quantity.threads),
            metric: quantity.metric.name().to_owned(),
            details: details.into_iter().collect(),
            printed: None,
            published: None,
            ours: value.map(|value| value.value),
            range,
            runs: range.and_then(|_| ours.runs(quantity)),
            kind: value.map(|value| value.kind),
        }
    }

    fn of_row(row: &Row, experiment: &Experiment, ours: Wired<'_>) -> Self {
        let details = row.more.iter().filter(|(name, _)| is_detail(name));
        let details = details.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let mut cell = Self::of(&Quantity::of(row, &experiment.output()), ours);
        cell.details.extend(details);
        if row.ours.is_none() {
            (cell.ours, cell.range, cell.runs, cell.kind) = (None, None, None, None);
        }
        Self {
            paper_name: Some(row.protocol.clone()),
            printed: Some(row.printed.clone()),
            published: Some(row.value),
            ..cell
        }
    }
}

/// Returns whether a column tells cells apart.
fn is_detail(column: &str) -> bool {
    matches!(
        column,
        "item_bits" | "bloom_hash_functions" | "ot" | "l_star" | "site"
    )
}

impl Experiment {
    /// Returns its cells, in the order of the paper; protocols that came later are at the end.
    pub fn cells(&self, ours: &Ours) -> Vec<Cell> {
        let wired = self.figures(ours);
        match &self.content {
            Content::Parameters(parameters) => parameters.cells(),
            Content::Sweep(sweep) => {
                let quantities = sweep.quantities(self.paper);
                quantities.iter().map(|one| Cell::of(one, wired)).collect()
            }
            Content::Tables(tables) => {
                let printed = rows(tables).map(|row| Cell::of_row(row, self, wired));
                let later = later_quantities(self, tables);
                let later = later.iter().map(|one| Cell::of(one, wired));
                printed.chain(later).collect()
            }
        }
    }
}

/// Returns what tables are about, ours only, and the same of later protocols.
pub(super) fn quantities(experiment: &Experiment, tables: &[&str]) -> Vec<Quantity> {
    let rows = rows(tables).filter(|row| row.ours.is_some());
    let printed = rows.map(|row| Quantity::of(row, &experiment.output()));
    printed
        .chain(later_quantities(experiment, tables))
        .collect()
}

fn rows(tables: &[&str]) -> impl Iterator<Item = &'static Row> {
    let tables = tables.iter().filter_map(|name| published::find(name));
    tables.flat_map(|table| &table.rows)
}

/// Returns the quantities of tables, of each protocol that the paper does not have yet.
fn later_quantities(experiment: &Experiment, tables: &[&str]) -> Vec<Quantity> {
    let rows = rows(tables).filter(|row| row.metric != Metric::OtBits);
    let all = rows.map(|row| Quantity {
        item_bits: None,
        letter_bits: None,
        ..Quantity::of(row, &experiment.output())
    });
    let settings = distinct(all, |one| (one.metric.name(), one.setting()));
    let protocols = later(experiment.paper).iter();
    protocols
        .flat_map(|protocol| settings.iter().map(|one| one.of_protocol(protocol)))
        .collect()
}

/// Protocols that came after a paper, and compete with its own.
pub(crate) fn later(paper: Paper) -> &'static [&'static str] {
    match paper {
        Paper::Psz14 => &[
            "kkrt",
            "spot-fast",
            "cm20",
            "rr22",
            "circuit-gmw-vector-silent",
        ],
        Paper::Kkrt16 => &["spot-fast", "spot-low", "cm20", "rr22"],
        Paper::Spot19 => &["cm20", "rr22", "rr22-malicious"],
        Paper::Cm20 => &["cm20-malicious-sender", "rr22", "rr22-malicious"],
        Paper::Kk20 => &["kk20-silent", "rr22-circuit"],
    }
}
