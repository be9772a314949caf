//! Tables of parameters: what a paper derives, and what our plan has.

use std::collections::BTreeMap;

use psijoin::{Plan, registry};
use psijoin_params::simple;

use super::Cell;
use crate::{
    ours::{ot_bits, parameter},
    published::{self, Cells},
    quantity::Kind,
    variants::{cm20_with_rows, psz_with_letter_bits, request},
};

/// The columns of a table that are parameters of a plan.
#[derive(Debug)]
pub struct Parameters {
    pub(super) table: &'static str,
    pub(super) protocol: &'static str,
    /// The number of items of a row.
    pub(super) items: Items,
    /// A column that tells rows of the same size apart.
    pub(super) detail: Option<&'static str>,
    pub(super) columns: &'static [Column],
    /// Returns our plan for a row: of this protocol, for sets of this size.
    pub(super) plan: fn(&str, u64, &Cells) -> Option<Plan>,
}

/// The number of items of a row.
#[derive(Debug)]
pub(super) enum Items {
    /// In this column.
    In(&'static str),
    /// The same in all rows.
    All(u64),
}

/// A column, and what it is with us.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) ours: Ours,
}

/// The origin of our figure.
#[derive(Debug)]
pub(super) enum Ours {
    /// A product of parameters of the plan.
    Product(&'static [&'static str]),
    /// It follows from the plan.
    OfPlan(fn(&Plan) -> Option<f64>),
    /// It follows from the row.
    OfRow(fn(&Cells) -> Option<f64>),
}

impl Parameters {
    pub(super) fn cells(&self) -> Vec<Cell> {
        let mut tables = published::parameters().iter();
        let table = tables.find(|table| table.name == self.table);
        let rows = table.map_or(&[][..], |table| &table.rows).iter();
        let cell = |row| {
            let columns = self.columns.iter();
            columns.filter_map(move |column| self.cell(row, column))
        };
        rows.flat_map(cell).collect()
    }

    fn cell(&self, row: &Cells, column: &Column) -> Option<Cell> {
        let items = match self.items {
            Items::In(column) => row.get(column)?.parse().ok()?,
            Items::All(items) => items,
        };
        let printed = row.get(column.name)?;
        let plan = || (self.plan)(self.protocol, items, row);
        let value = match column.ours {
            Ours::Product(names) => plan().and_then(|plan| product(&plan, names)),
            Ours::OfPlan(of) => plan().and_then(|plan| of(&plan)),
            Ours::OfRow(of) => of(row),
        };
        let details = self
            .detail
            .map(|name| (name, row.get(name).unwrap_or_default()));
        let details = details.map(|(name, text)| (name.to_owned(), text.to_owned()));
        Some(Cell {
            protocol: self.protocol.to_owned(),
            paper_name: Some(self.protocol.to_owned()),
            sender_items: items,
            receiver_items: items,
            network: None,
            threads: None,
            metric: column.name.to_owned(),
            details: BTreeMap::from_iter(details),
            printed: Some(printed.to_owned()),
            published: printed.parse().ok(),
            ours: value,
            range: None,
            runs: None,
            kind: value.map(|_| Kind::Exact),
        })
    }
}

/// Returns the product of some parameters of a plan.
fn product(plan: &Plan, names: &[&str]) -> Option<f64> {
    let factors = names.iter().map(|name| parameter(plan, name));
    Some(factors.product::<Option<u64>>()? as f64)
}

/// Returns the plan that the protocol derives for any row of this size.
pub(super) fn as_derived(protocol: &str, items: u64, _: &Cells) -> Option<Plan> {
    let request = request([items; 2], None).ok()?;
    registry::find(protocol)?.plan(&request).ok()
}

/// Returns the plan at the row's bound on a polynomial that tells items: 2^-σ.
pub(super) fn at_its_bound(protocol: &str, items: u64, row: &Cells) -> Option<Plan> {
    let bits = row.get("bad_poly")?.strip_prefix("2^-")?.parse().ok()?;
    let request = request([items; 2], Some(bits)).ok()?;
    registry::find(protocol)?.plan(&request).ok()
}

/// Returns the plan of CM20 with as many rows of its matrix as a row of the table has: `0.9n`.
pub(super) fn with_its_rows(_: &str, items: u64, row: &Cells) -> Option<Plan> {
    let times = row.get("m_as_printed")?.strip_suffix('n')?;
    let times: f64 = if times.is_empty() {
        1.0
    } else {
        times.parse().ok()?
    };
    cm20_with_rows(items, (times * items as f64) as u64)
}

/// Returns the plan of `psz` with letters as long as a row of PSZ14's Table 9 has them; `None` if
/// our code has no room for so many letters.
pub(super) fn with_its_letters(protocol: &str, items: u64, row: &Cells) -> Option<Plan> {
    let request = request([items; 2], None).ok()?.numbers(SHORT_BITS).ok()?;
    psz_with_letter_bits(protocol, &request, row.get("eta")?.parse().ok()?)
}

/// Items of PSZ14.
const SHORT_BITS: u32 = 32;

/// Returns the bits of OT extension in a bin, over the security parameter and the bits of an item.
pub(super) fn ot_bits_by_item_bits(plan: &Plan) -> Option<f64> {
    let bits = f64::from(psijoin::Security::COMPUTATIONAL_BITS) * f64::from(SHORT_BITS);
    Some(ot_bits(plan)? as f64 / bits)
}

/// Returns the bins of a row of PSZ14's Table 10, and the places in each: n = c·b·ln(b) items are
/// in b bins, and bins have dc·ln(b) places, where dc is as printed.
fn of_table_10(row: &Cells) -> Option<simple::Shape> {
    let [c, dc] = ["c", "dc"].map(|column| row.get(column)?.parse::<f64>().ok());
    let (c, dc) = (c?, dc?);
    let fits = |bins: &u32| c * f64::from(*bins) * f64::from(*bins).ln() >= TABLE_10_ITEMS as f64;
    let bins = least(2, 1 << 20, fits)?;
    Some(simple::Shape {
        bins,
        capacity: (dc * f64::from(bins).ln()) as u32,
    })
}

/// Items of PSZ14's Table 10.
pub(super) const TABLE_10_ITEMS: u64 = 1 << 18;

/// Returns the OTs of a row of Table 10, over those that n items take without hashing.
pub(super) fn places_by_items(row: &Cells) -> Option<f64> {
    let shape = of_table_10(row)?;
    Some(f64::from(shape.bins) * f64::from(shape.capacity) / TABLE_10_ITEMS as f64)
}

/// Returns the proved bound on the failure of a row of Table 10.
pub(super) fn proved_failure(row: &Cells) -> Option<f64> {
    let bound = simple::failure(TABLE_10_ITEMS, of_table_10(row)?);
    Some(bound.log2().exp2().min(1.0))
}

/// Returns the least number for which something holds that holds for all above it.
fn least(mut low: u32, mut high: u32, holds: impl Fn(&u32) -> bool) -> Option<u32> {
    while low < high {
        let middle = low + (high - low) / 2;
        match holds(&middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    holds(&low).then_some(low)
}
