//! Collects the stretches of a table in the order of its rows.

use super::{
    BlockStart, Findings,
    collected::{Collected, Position},
    inspector::Inspector,
    partitions::{BesideKeys, Partitions},
    stretch::{Sought, Strays, Stretch, overflow},
};
use psijoin_key::{
    BadCells, BadCellsOfKey, BadKeys, Kind, Meaning, Observed, Place, Suspects, Suspicion, bad_keys,
};
use psijoin_source::{Doubt, NumberFault, RaggedRows, ReadError};

use crate::{Error, MAX_ROWS, labels::Dictionaries, numbers::Totals};

/// The part of a table that was read so far.
///
/// Takes 36 bytes per row with a key, and 8 more for each column of numbers; what is beyond the
/// budget lies on disk.
pub(crate) struct Collector<'a> {
    sought: &'a Sought<'a>,
    rows: u64,
    left_out: u64,
    partitions: Partitions,
    totals: Vec<Totals>,
    labels: Dictionaries,
    observed: Vec<Observed>,
    bad_cells: BadCellsOfKey,
    bad_numbers: Vec<BadCells<NumberFault>>,
    ragged: RaggedRows,
    refused: Option<Refused>,
    suspects: Suspects,
    strays: Strays,
    inspector: Option<Inspector<'a>>,
    starts: Vec<BlockStart>,
}

/// The refused rows, the first of which is behind no other.
#[derive(Debug, Clone, Copy)]
enum Refused {
    Rows,
    Keys,
    Numbers,
}

/// The place of a stretch.
pub(crate) struct Origin<'a> {
    /// The file that has it.
    pub(crate) file: &'a str,
    /// The place of its first line, or row.
    pub(crate) first: u64,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(sought: &'a Sought<'a>) -> Self {
        let beside = sought.beside;
        Self {
            sought,
            rows: 0,
            left_out: 0,
            partitions: Partitions::new(beside.numbers.len(), beside.brings_label(), sought.spill),
            totals: beside.numbers.iter().map(|_| Totals::default()).collect(),
            labels: Dictionaries::new(beside.labels),
            observed: sought.key.observed(),
            bad_cells: BadCellsOfKey::default(),
            bad_numbers: Vec::new(),
            ragged: RaggedRows::default(),
            refused: None,
            suspects: Suspects::default(),
            strays: Strays::default(),
            inspector: (sought.inspected).map(|kept| Inspector::new(&sought.key, kept)),
            starts: Vec::new(),
        }
    }

    /// Returns the number of rows so far.
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
    /// The stretch's own; if a sum of numbers may be too large, there are too many rows, or what is
    /// beyond the budget cannot be written. Cells and rows that are refused before that are the
    /// error instead.
    pub(crate) fn take(&mut self, stretch: Stretch<'a>, origin: &Origin<'_>) -> Result<(), Error> {
        if self.refused.is_none() {
            let refused = self.first_refused(&stretch);
            let before = refused.map(|(place, _)| place);
            self.add_numbers(&stretch, before, origin)?;
            self.refused = refused.map(|(_, what)| what);
        }
        self.bad_cells.extend(stretch.bad_cells, origin.first);
        bad_keys::extend(&mut self.bad_numbers, stretch.bad_numbers, origin.first);
        self.ragged.extend(stretch.ragged, origin.first);
        if let Some(error) = stretch.error {
            return match self.refused {
                Some(_) => self.check(),
                None => Err(error.later(origin.first)),
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
        if self.refused.is_some() {
            // All that is still sought are other cells and rows of the sort.
            return Ok(());
        }
        let beside = BesideKeys {
            labels: &self.labels.learn(&stretch.labels),
            numbers: &stretch.numbers,
            totals: &self.totals,
        };
        (self.partitions).extend(&stretch.keys, &beside, first_row as u32)?;
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

    /// Returns the first of a stretch that is refused, and what it is.
    fn first_refused(&self, stretch: &Stretch<'_>) -> Option<(Place, Refused)> {
        let keys = match self.sought.bad_keys {
            BadKeys::Refuse => bad_keys::first(&stretch.bad_cells.sorts),
            _ => None,
        };
        let numbers = bad_keys::first(&stretch.bad_numbers);
        let rows = stretch.ragged.places.first_place();
        let sorts = [
            (rows, Refused::Rows),
            (keys, Refused::Keys),
            (numbers, Refused::Numbers),
        ];
        let found = sorts
            .into_iter()
            .filter_map(|(place, what)| Some((place?, what)));
        found.min_by_key(|(place, _)| *place)
    }

    /// Adds up the numbers row by row: whether they fit is a matter of all before. Behind what is
    /// refused it does not matter.
    fn add_numbers(
        &mut self,
        stretch: &Stretch<'_>,
        refused: Option<Place>,
        origin: &Origin<'_>,
    ) -> Result<(), Error> {
        let cells = &stretch.numbers;
        for (row, place) in cells.places.iter().enumerate() {
            if refused.is_some_and(|refused| refused < *place) {
                return Ok(());
            }
            for (column, numbers) in cells.columns.iter().enumerate() {
                let Some(&number) = numbers.get(row) else {
                    continue;
                };
                self.totals[column].add(number).map_err(|fault| {
                    let name = &self.sought.beside.numbers[column];
                    overflow(name, fault, origin.file, place.later(origin.first))
                })?;
            }
        }
        Ok(())
    }

    /// Checks that nothing is refused, and that not too many cells of the key count as null.
    fn check(&self) -> Result<(), Error> {
        match self.refused {
            None | Some(Refused::Keys) => {
                Ok(self.bad_cells.check(self.sought.bad_keys, self.rows)?)
            }
            Some(Refused::Numbers) => Err(Error::Read(ReadError::Number(self.bad_numbers.clone()))),
            Some(Refused::Rows) => Err(Error::Read(ReadError::Ragged {
                rows: self.ragged.clone(),
                expected: self.sought.columns,
                has_header: self.sought.key.has_header(),
            })),
        }
    }

    /// Returns all that was read, and what was found of the key.
    ///
    /// # Errors
    /// If rows or cells are refused: rows of more or fewer fields than there are columns, cells of
    /// the key without a canonical text that may not count as null, and cells that are no numbers.
    pub(crate) fn finish(self) -> Result<(Collected, Findings), Error> {
        self.check()?;
        let columns = self.sought.key.columns();
        let positions = columns.iter().zip(&self.observed).enumerate();
        let positions = positions.map(|(at, (column, observed))| Position {
            name: column.name.clone(),
            kind: column.kind(),
            seen: observed.seen(),
            suspected: self.suspects.counts(at),
        });
        let positions = positions.collect();
        let looks = self.observed.iter().filter_map(Observed::look).collect();
        let filled_up: Vec<bool> = (self.observed.iter())
            .map(Observed::are_filled_up_in_part)
            .collect();
        let meanings: Vec<Meaning> = self.observed.into_iter().map(Observed::finish).collect();
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
        let (labels, ranks) = self.labels.finish();
        let collected = Collected {
            table: self.sought.table.to_owned(),
            rows: self.rows,
            left_out: self.left_out,
            partitions: self.partitions.with_ranks(ranks),
            totals: self.totals,
            labels,
            doubts: doubts(&self.strays, &meanings, has_no_keys)
                .into_iter()
                .chain(suspicious)
                .collect(),
            meanings,
            looks,
            bad_cells: self.bad_cells,
            positions,
            starts: self.starts,
        };
        let findings = self.inspector.map(Inspector::finish).unwrap_or_default();
        Ok((collected, findings))
    }
}

/// Returns the doubts about the keys that the user should know.
fn doubts(strays: &Strays, meanings: &[Meaning], no_keys: bool) -> Vec<Doubt> {
    let quotes = (strays.quotes > 0).then_some(Doubt::QuotedKeys(strays.quotes));
    let nulls = (strays.nulls > 0).then_some(Doubt::NullMarks(strays.nulls));
    let strays = quotes.into_iter().chain(nulls);
    strays.chain(doubts_about_keys(meanings, no_keys)).collect()
}

/// Returns the doubts about keys of these meanings, or about a table that has none.
pub(crate) fn doubts_about_keys(
    meanings: &[Meaning],
    no_keys: bool,
) -> impl Iterator<Item = Doubt> + use<> {
    let mixed = (1..)
        .zip(meanings)
        .filter_map(|(position, meaning)| match meaning.kind() {
            Kind::MixedTimestamp => Some(Doubt::MixedTimestamps(position)),
            Kind::MixedPhone => Some(Doubt::MixedPhones(position)),
            _ => None,
        });
    let mixed: Vec<Doubt> = mixed.collect();
    let no_keys = no_keys.then_some(Doubt::NoKeys);
    mixed.into_iter().chain(no_keys)
}

#[cfg(test)]
mod tests {
    use psijoin_files::spill::Spill;

    use super::*;
    use crate::keys::{Beside, stretch::Builder};
    use psijoin_key::{KeyColumns, KeySpec};

    #[test]
    fn more_rows_than_can_be_numbered_are_refused() {
        let key = KeySpec::default();
        let sought = Sought {
            table: "t",
            columns: 1,
            key: KeyColumns::new(&key, [("id".to_owned(), Kind::Text)]),
            bad_keys: BadKeys::Refuse,
            beside: Beside::default(),
            inspected: None,
            spill: &Spill::in_memory(),
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
