//! The keys of a table's rows, parted by what their fingerprints begin with. Beyond a budget they
//! lie on disk.

use psijoin_files::spill::{Spill, Store};

use super::stretch::{Cells, Keys, PARTITIONS};
use crate::{Error, labels::Ranks, numbers::Totals};

/// Bytes of a fingerprint.
const FINGERPRINT: usize = 32;

/// Bytes of a fingerprint and its row.
const KEY: usize = FINGERPRINT + size_of::<u32>();

/// Bytes of a number.
const NUMBER: usize = size_of::<i64>();

/// See the [module](self). Each partition is in the order of rows.
pub(super) struct Partitions {
    /// A record is a fingerprint, its row, its number in each column, and its labels, if there are
    /// columns of those.
    store: Store,
    columns: Vec<Scales>,
    /// `None` if there are no labels.
    ranks: Option<Ranks>,
}

/// The cells beside the keys of a stretch.
pub(super) struct BesideKeys<'a> {
    /// The numbers, which are written at the scales of the totals.
    pub(super) numbers: &'a Cells,
    pub(super) totals: &'a [Totals],
    /// The labels of each row in all columns; nothing if there are none.
    pub(super) labels: &'a [u32],
}

/// The scales at which a column's numbers were written, each with the row from which on it is that.
/// They only grow, and what was written stays as it is.
struct Scales(Vec<(u32, u32)>);

impl Partitions {
    /// Returns the number of bytes of a record with this many numbers; labels are one.
    pub(super) fn record_bytes(columns: usize) -> usize {
        KEY + columns * NUMBER
    }

    /// Makes them for this many columns of numbers, and for labels if there are some.
    pub(super) fn new(columns: usize, has_labels: bool, spill: &Spill) -> Self {
        let scales = || Scales(vec![(0, 0)]);
        let record_bytes = Self::record_bytes(columns + usize::from(has_labels));
        Self {
            store: Store::new(PARTITIONS, record_bytes, spill),
            columns: (0..columns).map(|_| scales()).collect(),
            ranks: None,
        }
    }

    /// Returns them with what finds the places of labels, once all are known.
    pub(super) fn with_ranks(self, ranks: Option<Ranks>) -> Self {
        Self { ranks, ..self }
    }

    /// Adds the keys of a stretch whose first row is this one, and the cells beside them.
    ///
    /// # Errors
    /// If what is beyond the budget cannot be written.
    pub(super) fn extend(
        &mut self,
        keys: &Keys,
        BesideKeys {
            numbers,
            totals,
            labels,
        }: &BesideKeys<'_>,
        first_row: u32,
    ) -> Result<(), Error> {
        for (scales, totals) in self.columns.iter_mut().zip(*totals) {
            scales.note(first_row, totals.scale);
        }
        let mut records = Vec::new();
        let mut start = 0;
        for (partition, &end) in keys.ends.iter().enumerate() {
            records.clear();
            for place in start..end as usize {
                records.extend_from_slice(&keys.fingerprints[place]);
                records.extend_from_slice(&(first_row + keys.rows[place]).to_le_bytes());
                let order = keys.order[place] as usize;
                for (totals, numbers) in totals.iter().zip(&numbers.columns) {
                    let number = totals.value(numbers[order]);
                    records.extend_from_slice(&number.to_le_bytes());
                }
                if let Some(label) = labels.get(order) {
                    records.extend_from_slice(&i64::from(*label).to_le_bytes());
                }
            }
            self.store.append(partition, &records)?;
            start = end as usize;
        }
        Ok(())
    }

    /// Returns the number of partitions.
    pub(super) fn len(&self) -> usize {
        self.store.partitions()
    }

    /// Returns how many records a partition has.
    pub(super) fn records_in(&self, partition: usize) -> u64 {
        self.store.records(partition)
    }

    /// Returns the records of a partition, which stays as it is.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn read(&self, partition: usize) -> Result<Records<'_>, Error> {
        Ok(self.records(self.store.read(partition)?))
    }

    /// Returns the records of a partition, which is empty then.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn take(&self, partition: usize) -> Result<Records<'_>, Error> {
        Ok(self.records(self.store.take(partition)?))
    }

    /// Returns how many bytes lie on disk.
    pub(super) fn spilled_bytes(&self) -> u64 {
        self.store.spilled_bytes()
    }

    fn records(&self, bytes: Vec<u8>) -> Records<'_> {
        Records {
            bytes,
            columns: &self.columns,
            ranks: self.ranks.as_ref(),
        }
    }
}

impl Scales {
    fn note(&mut self, row: u32, scale: u32) {
        if self.last() < scale {
            self.0.push((row, scale));
        }
    }

    /// Returns what brings the number of a row to the last scale.
    fn factor(&self, row: u32) -> i64 {
        let since = self.0.partition_point(|(first, _)| *first <= row) - 1;
        10_i64.pow(self.last() - self.0[since].1)
    }

    fn last(&self) -> u32 {
        self.0.last().map_or(0, |(_, scale)| *scale)
    }
}

/// The records of a partition, in the order of rows.
pub(super) struct Records<'a> {
    bytes: Vec<u8>,
    columns: &'a [Scales],
    ranks: Option<&'a Ranks>,
}

impl Records<'_> {
    /// Returns the number.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / self.record_bytes()
    }

    /// Returns how many numbers each has, the place of its labels among them.
    pub(super) fn columns(&self) -> usize {
        self.columns.len() + usize::from(self.ranks.is_some())
    }

    /// Returns whether this column, the last one, is that of the places of labels.
    pub(super) fn is_of_labels(&self, column: usize) -> bool {
        column == self.columns.len()
    }

    /// Returns the first column of labels in which two rows differ.
    pub(super) fn first_different_label(&self, one: u32, other: u32) -> Option<usize> {
        let ranks = self.ranks?;
        let [one, other] = [one, other].map(|record| self.cell(record, self.columns.len()) as u32);
        ranks.first_difference(one, other)
    }

    pub(super) fn fingerprint(&self, record: u32) -> &[u8; FINGERPRINT] {
        self.record(record)
            .first_chunk()
            .expect("it begins with it")
    }

    pub(super) fn row(&self, record: u32) -> u32 {
        let row = self.record(record)[FINGERPRINT..].first_chunk();
        u32::from_le_bytes(*row.expect("it has a row"))
    }

    /// Returns the number in a column, at the column's last scale; in that of labels, their place.
    pub(super) fn number(&self, record: u32, column: usize) -> i64 {
        let cell = self.cell(record, column);
        match (self.columns.get(column), self.ranks) {
            (Some(scales), _) => cell * scales.factor(self.row(record)),
            (None, ranks) => ranks.expect("there are labels").of(cell as u32),
        }
    }

    fn cell(&self, record: u32, column: usize) -> i64 {
        let cell = self.record(record)[KEY + column * NUMBER..].first_chunk();
        i64::from_le_bytes(*cell.expect("it has a number per column"))
    }

    fn record(&self, record: u32) -> &[u8] {
        let start = record as usize * self.record_bytes();
        &self.bytes[start..start + self.record_bytes()]
    }

    fn record_bytes(&self) -> usize {
        Partitions::record_bytes(self.columns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_to_the_last_scale() {
        let mut scales = Scales(vec![(0, 0)]);
        for (row, scale) in [(0, 0), (10, 2), (20, 2), (30, 3)] {
            scales.note(row, scale);
        }
        let factors = [0, 9, 10, 29, 30, 90].map(|row| scales.factor(row));
        assert_eq!(factors, [1000, 1000, 10, 10, 1, 1]);
    }
}
