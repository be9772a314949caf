//! Tables of parameters: what a paper derives, and what our plan has.

use std::collections::BTreeMap;

use super::Cell;
use crate::{
    ours::Ours,
    published::{self, Cells},
    quantity::Kind,
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
}

/// A column, and what it is in our plan: a product of parameters.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) ours: &'static [&'static str],
}

impl Parameters {
    pub(super) fn cells(&self, ours: &Ours) -> Vec<Cell> {
        let mut tables = published::parameters().iter();
        let table = tables.find(|table| table.name == self.table);
        let rows = table.map_or(&[][..], |table| &table.rows).iter();
        let cell = |row| {
            let columns = self.columns.iter();
            columns.filter_map(move |column| self.cell(row, column, ours))
        };
        rows.flat_map(cell).collect()
    }

    fn cell(&self, row: &Cells, column: &Column, ours: &Ours) -> Option<Cell> {
        let items: u64 = row.get(self.items)?.parse().ok()?;
        let printed = row.get(column.name)?;
        let factor = |name: &&str| ours.parameter(self.protocol, [items; 2], name);
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
            kind: Some(Kind::Exact),
        })
    }
}
