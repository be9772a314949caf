//! Figures that papers printed.

use psijoin::OutputKind;

use crate::{
    published::{self, Metric, Row},
    quantity::{Figures, Kind, Quantity, Value},
};

/// The figures of some tables.
#[derive(Debug)]
pub struct Printed(Vec<(Quantity, f64)>);

impl Printed {
    /// Returns the tables of these names.
    ///
    /// # Panics
    /// If there is no such table.
    pub fn of(tables: &[&str]) -> Self {
        let tables = tables.iter().map(|name| {
            published::find(name).unwrap_or_else(|| panic!("there is no table {name}"))
        });
        let rows = tables.flat_map(|table| &table.rows);
        Self(rows.map(figure).collect())
    }

    fn find(&self, quantity: &Quantity) -> Option<f64> {
        let is = |(known, _): &&(Quantity, f64)| {
            let item_bits = quantity.item_bits.or(known.item_bits);
            known
                == &Quantity {
                    item_bits: known.item_bits.and(item_bits),
                    output: known.output.clone(),
                    ..quantity.clone()
                }
        };
        self.0.iter().find(is).map(|(_, value)| *value)
    }

    /// Returns what follows from other figures.
    fn derived(&self, quantity: &Quantity) -> Option<f64> {
        match quantity.metric {
            Metric::Bytes => {
                let items = quantity.larger() as f64;
                let bits = self.find(&quantity.of_metric(Metric::BitsPerItem))?;
                Some(bits * items / 8.0)
            }
            Metric::Speedup => {
                let many = quantity.of_metric(Metric::Seconds);
                let one = Quantity {
                    threads: 1,
                    ..many.clone()
                };
                Some(self.find(&one)? / self.find(&many)?)
            }
            _ => None,
        }
    }
}

fn figure(row: &Row) -> (Quantity, f64) {
    (Quantity::of(row, &OutputKind::Rows), row.value)
}

impl Figures for Printed {
    fn value(&self, quantity: &Quantity) -> Option<Value> {
        let value = self.find(quantity).or_else(|| self.derived(quantity))?;
        Some(Value::exact(value, Kind::Published))
    }
}
