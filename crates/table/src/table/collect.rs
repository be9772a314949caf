//! Collects the stretches of a table in the order of its rows.

use super::{
    Findings,
    collected::Collected,
    inspector::Inspector,
    partitions::Partitions,
    row_items::BlockStart,
    stretch::{Sought, Strays, Stretch},
};
use crate::{
    BadCellsOfKey, BadKeys, Doubt, Error, MAX_ROWS,
    meaning::{Kind, Meaning, Observed},
    numbers::Totals,
    suspicion::{Suspects, Suspicion},
};

/// What was read of a table so far.
///
/// Takes 36 bytes per row with a key, and 8 more for each column of numbers; what is beyond the budget lies on disk.
pub(crate) struct Collector<'a> {
    sought: &'a Sought<'a>,
    rows: u64,
    left_out: u64,
    partitions: Partitions,
    totals: Vec<Totals>,
    observed: Vec<Observed>,
    bad_cells: BadCellsOfKey,
    suspects: Suspects,
    strays: Strays,
    inspector: Option<Inspector<'a>>,
    starts: Vec<BlockStart>,
}

/// Where a stretch is.
pub(crate) struct Origin<'a> {
    /// The file that has it.
    pub(crate) file: &'a str,
    /// The place of its first line, or row.
    pub(crate) first: u64,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(sought: &'a Sought<'a>) -> Self {
        let columns = sought.numbers.len();
        Self {
            sought,
            rows: 0,
            left_out: 0,
            partitions: Partitions::new(columns, sought.budget, sought.folder),
            totals: sought.numbers.iter().map(|_| Totals::default()).collect(),
            observed: sought.key.observed(),
            bad_cells: BadCellsOfKey::default(),
            suspects: Suspects::default(),
            strays: Strays::default(),
            inspector: (sought.inspected).map(|kept| Inspector::new(&sought.key, kept)),
            starts: Vec::new(),
        }
    }

    /// How many rows there are so far.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Notes where the rows that follow begin in a text.
    pub(super) fn block_starts(&mut self, start: BlockStart) {
        self.starts.push(start);
    }

    /// Takes the next stretch.
    ///
    /// # Errors
    /// The stretch's own; if a sum of numbers may be too large, there are too many rows, or what is beyond the budget
    /// cannot be written. Cells of the key that are refused before that are the error instead.
    pub(crate) fn take(&mut self, stretch: Stretch<'a>, origin: &Origin<'_>) -> Result<(), Error> {
        self.add_numbers(&stretch, origin)?;
        self.bad_cells.extend(stretch.bad_cells, origin.first);
        if let Some(error) = stretch.error {
            return match self.is_refused() {
                true => self.bad_cells.check(self.sought.bad_keys, self.rows),
                false => Err(error.later(origin.first)),
            };
        }
        let first_row = self.rows;
        self.rows += u64::from(stretch.rows);
        if self.rows > MAX_ROWS {
            return Err(Error::TooManyRows {
                file: self.sought.table.to_owned(),
            });
        }
        self.left_out += u64::from(stretch.left_out);
        if self.is_refused() {
            // All that is still sought are other cells of the sort.
            return Ok(());
        }
        let (keys, numbers) = (&stretch.keys, &stretch.numbers);
        (self.partitions).extend(keys, numbers, &self.totals, first_row as u32)?;
        for (observed, more) in self.observed.iter_mut().zip(stretch.observed) {
            observed.merge(more);
        }
        self.suspects.extend(stretch.suspects, origin.first);
        self.strays.quotes += stretch.strays.quotes;
        self.strays.nulls += stretch.strays.nulls;
        if let (Some(inspector), Some(more)) = (&mut self.inspector, stretch.inspector) {
            inspector.merge(more);
        }
        Ok(())
    }

    /// Whether there are cells of the key that are refused.
    fn is_refused(&self) -> bool {
        self.sought.bad_keys == BadKeys::Refuse && !self.bad_cells.sorts.is_empty()
    }

    /// Adds up the numbers row by row: whether they fit is a matter of all before. Behind a cell that is refused it does
    /// not matter.
    fn add_numbers(&mut self, stretch: &Stretch<'_>, origin: &Origin<'_>) -> Result<(), Error> {
        let refused = match self.sought.bad_keys {
            _ if self.is_refused() => return Ok(()),
            BadKeys::Refuse => stretch.bad_cells.first(),
            BadKeys::Null { .. } => None,
        };
        let cells = &stretch.numbers;
        for (row, place) in cells.places.iter().enumerate() {
            if refused.is_some_and(|refused| refused < *place) {
                return Ok(());
            }
            for (column, numbers) in cells.columns.iter().enumerate() {
                let Some(&number) = numbers.get(row) else {
                    continue;
                };
                self.totals[column]
                    .add(number)
                    .map_err(|fault| Error::Number {
                        file: origin.file.to_owned(),
                        place: place.later(origin.first),
                        column: self.sought.numbers[column].clone(),
                        fault,
                    })?;
            }
        }
        Ok(())
    }

    /// All that was read, and what was found of the key.
    ///
    /// # Errors
    /// If cells of the key have no canonical text, and may not count as null.
    pub(crate) fn finish(self) -> Result<(Collected, Findings), Error> {
        self.bad_cells.check(self.sought.bad_keys, self.rows)?;
        let looks = self.observed.iter().filter_map(Observed::look).collect();
        let filled_up: Vec<bool> = (self.observed.iter())
            .map(Observed::are_filled_up_in_part)
            .collect();
        let meanings: Vec<Meaning> = self.observed.into_iter().map(Observed::finish).collect();
        let columns = self.sought.key.columns();
        let suspicious = self.suspects.into_sorts();
        let suspicious = suspicious.filter(|(position, suspicion, _)| {
            *suspicion != Suspicion::ZeroLed || filled_up[*position]
        });
        let suspicious = suspicious.map(|(position, suspicion, places)| Doubt::Fields {
            column: columns[position].name.clone(),
            suspicion,
            places,
        });
        let has_no_keys = self.rows > 0 && self.left_out == self.rows;
        let collected = Collected {
            table: self.sought.table.to_owned(),
            rows: self.rows,
            left_out: self.left_out,
            partitions: self.partitions,
            totals: self.totals,
            doubts: doubts(&self.strays, &meanings, has_no_keys)
                .into_iter()
                .chain(suspicious)
                .collect(),
            meanings,
            looks,
            bad_cells: self.bad_cells,
            starts: self.starts,
        };
        let findings = self.inspector.map(Inspector::finish).unwrap_or_default();
        Ok((collected, findings))
    }
}

/// What the user should know about the keys.
fn doubts(strays: &Strays, meanings: &[Meaning], no_keys: bool) -> Vec<Doubt> {
    let mixed = (1..)
        .zip(meanings)
        .filter_map(|(position, meaning)| match meaning.kind() {
            Kind::MixedTimestamp => Some(Doubt::MixedTimestamps(position)),
            Kind::MixedPhone => Some(Doubt::MixedPhones(position)),
            _ => None,
        });
    let quotes = (strays.quotes > 0).then_some(Doubt::QuotedKeys(strays.quotes));
    let nulls = (strays.nulls > 0).then_some(Doubt::NullMarks(strays.nulls));
    let strays = quotes.into_iter().chain(nulls);
    let no_keys = no_keys.then_some(Doubt::NoKeys);
    strays.chain(mixed).chain(no_keys).collect()
}

#[cfg(test)]
mod tests {
    use psijoin_spill::{Budget, Folder};

    use super::*;
    use crate::{KeySpec, key::KeyColumns, table::stretch::Builder};

    #[test]
    fn more_rows_than_can_be_numbered_are_refused() {
        let key = KeySpec::default();
        let sought = Sought {
            table: "t",
            key: KeyColumns::new(&key, [("id".to_owned(), Kind::Text)]),
            bad_keys: BadKeys::Refuse,
            numbers: &[],
            inspected: None,
            budget: &Budget::unlimited(),
            folder: &Folder::temporary(),
        };
        let origin = Origin {
            file: "t",
            first: 1,
        };
        // Rows without keys, which take no memory.
        let stretch = |rows: u64| Stretch {
            rows: rows as u32,
            left_out: rows as u32,
            ..Builder::new(&sought, "t").finish(None)
        };
        let mut collector = Collector::new(&sought);
        collector.take(stretch(MAX_ROWS - 5), &origin).unwrap();
        collector.take(stretch(5), &origin).unwrap();
        assert_eq!(
            collector.take(stretch(1), &origin).unwrap_err().to_string(),
            "t has more than 4294967294 rows, the most that one table can have: divide it and run \
             once for each part"
        );
    }
}
