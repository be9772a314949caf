//! Tables of parameters: what a paper derives, and what our plan has.

use std::collections::BTreeMap;

use psijoin::{Plan, registry};

use super::Cell;
use crate::{
    ours::parameter,
    published::{self, Cells},
    quantity::Kind,
    variants::{cm20_with_rows, request},
};

/// The columns of a table that are parameters of a plan.
#[derive(Debug)]
pub struct Parameters {
    pub(super) table: &'static str,
    pub(super) protocol: &'static str,
    /// The column with the number of items.
    pub(super) items: &'static str,
    /// A column that tells rows of the same size apart.
    pub(super) detail: Option<&'static str>,
    pub(super) columns: &'static [Column],
    /// Returns our plan for a row: of this protocol, for sets of this size.
    pub(super) plan: fn(&str, u64, &Cells) -> Option<Plan>,
}

/// A column, and what it is in our plan: a product of parameters.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) ours: &'static [&'static str],
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
        let items: u64 = row.get(self.items)?.parse().ok()?;
        let printed = row.get(column.name)?;
        let plan = (self.plan)(self.protocol, items, row)?;
        let factor = |name: &&str| parameter(&plan, name);
        let factors = column.ours.iter().map(factor);
        let value = factors.collect::<Option<Vec<_>>>()?;
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
            ours: Some(value.iter().product::<u64>() as f64),
            range: None,
            runs: None,
            kind: Some(Kind::Exact),
        })
    }
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
