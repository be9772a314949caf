//! A stretch of a table: some rows that follow each other, as one thread reads them.

use std::borrow::Cow;

use psijoin_files::spill::Spill;

use super::inspector::{Inspector, Kept};
use psijoin_key::{
    BadCells, BadCellsOfKey, BadKeys, Fingerprinter, KeyColumns, KeyFault, Observed, Place,
    Suspects, Suspicion, bad_keys,
};
use psijoin_source::{LabelFault, MAX_LABEL_BYTES, Number, NumberFault, RaggedRows, ReadError};

use super::Beside;
use crate::{Error, OTHER, labels::LabelCells};

/// Keys are parted by the first byte of their fingerprints, which are uniform.
pub(super) const PARTITIONS: usize = 256;

/// Room for more rows of a stretch is made as they come.
const MOST_EXPECTED: u64 = 1 << 18;

/// The parts of each row that are read, by all threads.
pub(crate) struct Sought<'a> {
    /// The table's name in errors.
    pub(crate) table: &'a str,
    /// The number of its columns.
    pub(crate) columns: usize,
    pub(crate) key: KeyColumns<'a>,
    pub(crate) bad_keys: BadKeys,
    pub(crate) beside: Beside<'a>,
    /// The keys that are kept as they are compared, if the key is inspected.
    pub(crate) inspected: Option<&'a Kept>,
    /// The memory that the keys may take, and the place of the others.
    pub(crate) spill: &'a Spill,
}

/// The content of some rows that follow each other.
///
/// Nothing in it depends on the rows before: rows and places count from the first one. So
/// stretches can be read in parallel, and in vain.
pub(crate) struct Stretch<'a> {
    pub(super) rows: u32,
    pub(super) left_out: u32,
    pub(super) keys: Keys,
    pub(super) numbers: Cells,
    /// Of each column of labels.
    pub(super) labels: Vec<LabelCells>,
    /// For each position of the key.
    pub(super) observed: Vec<Observed>,
    /// Their places count from the stretch's beginning.
    pub(super) bad_cells: BadCellsOfKey,
    pub(super) bad_numbers: Vec<BadCells<NumberFault>>,
    pub(super) ragged: RaggedRows,
    pub(super) suspects: Suspects,
    pub(super) strays: Strays,
    pub(super) inspector: Option<Inspector<'a>>,
    /// The reason that the next row cannot be read. Its place counts from the stretch's beginning.
    pub(super) error: Option<Error>,
}

/// The fingerprints of the rows with a key, partition by partition, and in the order of rows within
/// each.
pub(super) struct Keys {
    pub(super) fingerprints: Vec<[u8; 32]>,
    /// The row of each, from 0.
    pub(super) rows: Vec<u32>,
    /// The number of each among the rows with a key, from 0.
    pub(super) order: Vec<u32>,
    /// The end of each partition.
    pub(super) ends: Vec<u32>,
}

/// The cells of rows with a key in the columns of numbers.
pub(super) struct Cells {
    /// Each column in the order of rows. A faulty cell has none. The last row may have a cell in
    /// the first columns only, if the next one is too much for any sum.
    pub(super) columns: Vec<Vec<Option<Number>>>,
    /// The places of the rows, from the stretch's beginning; nothing if there are no columns.
    pub(super) places: Vec<Place>,
}

/// The number of the key's fields that suggest another form of the text than it is read in.
#[derive(Default)]
pub(super) struct Strays {
    pub(super) quotes: u64,
    pub(super) nulls: u64,
}

/// Reads a stretch row by row.
///
/// Places count from the stretch's beginning: the first line, or row, is 0.
pub(crate) struct Builder<'a> {
    sought: &'a Sought<'a>,
    /// The file that has the rows.
    file: &'a str,
    fingerprinter: Fingerprinter<'a>,
    rows: u32,
    /// The rows with a key.
    with_key: Vec<u32>,
    numbers: Cells,
    labels: Vec<LabelCells>,
    bad_cells: BadCellsOfKey,
    /// The last row that has one.
    bad_row: Option<u32>,
    bad_numbers: Vec<BadCells<NumberFault>>,
    ragged: RaggedRows,
    suspects: Suspects,
    strays: Strays,
    inspector: Option<Inspector<'a>>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(sought: &'a Sought<'a>, file: &'a str) -> Self {
        Self {
            sought,
            file,
            fingerprinter: Fingerprinter::new(&sought.key),
            rows: 0,
            with_key: Vec::new(),
            numbers: Cells {
                columns: vec![Vec::new(); sought.beside.numbers.len()],
                places: Vec::new(),
            },
            labels: (sought.beside.labels.iter())
                .map(|_| LabelCells::default())
                .collect(),
            bad_cells: BadCellsOfKey::default(),
            bad_row: None,
            bad_numbers: Vec::new(),
            ragged: RaggedRows::default(),
            suspects: Suspects::default(),
            strays: Strays::default(),
            inspector: (sought.inspected).map(|kept| Inspector::new(&sought.key, kept)),
        }
    }

    /// Makes room for so many rows, which may be said by a file that lies.
    pub(crate) fn expect(&mut self, rows: u64) {
        let rows = rows.min(MOST_EXPECTED) as usize;
        self.fingerprinter.reserve(rows);
        self.with_key.reserve(rows);
    }

    /// Takes the field at this position of the key, of the row that [`Builder::finish_row`] ends. A
    /// null is the empty text, and so is a field with a fault, which is noted; and the `country`
    /// that goes with the field, if the key has no column for it.
    pub(crate) fn key_field(
        &mut self,
        position: usize,
        field: Result<Cow<'_, str>, KeyFault>,
        country: &str,
        place: Place,
    ) {
        if let Ok(text) = &field {
            match &mut self.inspector {
                Some(inspector) => inspector.field(position, text, country),
                None if self.fingerprinter.passing_field(position, text) => return,
                None => {}
            }
        }
        let taken = field.and_then(|text| self.fingerprinter.field(position, text, country));
        match taken {
            Ok(None) => {}
            Ok(Some(suspicion)) => self.suspect(position, suspicion, place),
            Err(fault) => self.bad_cell(position, fault, place),
        }
    }

    /// Notes that a field of the key is suspicious.
    #[cold]
    pub(super) fn suspect(&mut self, position: usize, suspicion: Suspicion, place: Place) {
        self.suspects.see(position, suspicion, self.file, place);
    }

    #[cold]
    fn bad_cell(&mut self, position: usize, fault: KeyFault, place: Place) {
        self.fingerprinter.bad_field();
        let column = &self.sought.key.columns()[position].name;
        self.bad_cells.see(column, fault, self.file, place);
        if self.bad_row.replace(self.rows) != Some(self.rows) {
            self.bad_cells.rows += 1;
        }
    }

    /// Notes what a field of the key suggests about how the text is written.
    pub(super) fn stray(&mut self, has_quotes: bool, is_null: bool) {
        self.strays.quotes += u64::from(has_quotes);
        self.strays.nulls += u64::from(is_null);
    }

    /// Ends a row; returns whether it has a key, and so a cell for each column of numbers.
    pub(crate) fn finish_row(&mut self, place: Place) -> bool {
        let has_key = self.fingerprinter.finish_row();
        self.count_row(has_key, place);
        has_key
    }

    /// Takes a row whose key is known from another one: its fingerprint, or that it has no key.
    /// Says whether it has one.
    pub(super) fn known_row(&mut self, fingerprint: Option<[u8; 32]>, place: Place) -> bool {
        if let Some(fingerprint) = fingerprint {
            self.fingerprinter.finish_known_row(fingerprint);
        }
        self.count_row(fingerprint.is_some(), place);
        fingerprint.is_some()
    }

    /// Notes what was seen of the fields of known rows, at each position of the key.
    pub(super) fn observe(&mut self, seen: Vec<Observed>) {
        self.fingerprinter.observe(seen);
    }

    fn count_row(&mut self, has_key: bool, place: Place) {
        if has_key {
            self.with_key.push(self.rows);
            if !self.numbers.columns.is_empty() {
                self.numbers.places.push(place);
            }
            if let Some(inspector) = &mut self.inspector {
                inspector.finish_row();
            }
        }
        self.rows += 1;
    }

    /// Notes a row that has this many fields, which is not the number of columns.
    #[cold]
    pub(super) fn ragged(&mut self, found: usize, place: Place) {
        self.ragged.see(found, self.file, place);
    }

    /// Takes the number in a cell of a column of numbers, of the row that was ended last. One with
    /// a fault is noted.
    ///
    /// # Errors
    /// If it is too much for any sum.
    pub(crate) fn number(
        &mut self,
        column: usize,
        number: Result<Option<Number>, NumberFault>,
        place: Place,
    ) -> Result<(), Error> {
        let number = match number {
            Ok(number) => number,
            Err(fault) => self.bad_number(column, fault, place)?,
        };
        self.numbers.columns[column].push(number);
        Ok(())
    }

    #[cold]
    fn bad_number(
        &mut self,
        column: usize,
        fault: NumberFault,
        place: Place,
    ) -> Result<Option<Number>, Error> {
        let name = &self.sought.beside.numbers[column];
        if let NumberFault::Overflow(_) = fault {
            return Err(overflow(name, fault, self.file, place));
        }
        bad_keys::places_of(&mut self.bad_numbers, name.clone(), fault).see(self.file, place);
        Ok(None)
    }

    /// Takes the label in a cell of a column of labels, of the row that was ended last.
    ///
    /// # Errors
    /// If it has no text, or a longer one than labels have, and is not on a list that is given.
    pub(crate) fn label(
        &mut self,
        column: usize,
        label: Result<&str, KeyFault>,
        place: Place,
    ) -> Result<(), Error> {
        let sought = &self.sought.beside.labels[column];
        let label = match label.map_err(LabelFault::NoText) {
            Ok(text) if text.len() > MAX_LABEL_BYTES => match sought.listed {
                Some(_) => Ok(OTHER),
                None => Err(LabelFault::TooLong),
            },
            label => label,
        };
        match label {
            Ok(text) => {
                self.labels[column].add(text);
                Ok(())
            }
            Err(fault) => {
                let name = sought.name.clone();
                let mut cells = Vec::new();
                bad_keys::places_of(&mut cells, name, fault).see(self.file, place);
                let cells = cells.pop().expect("one sort of cells");
                Err(Error::Read(ReadError::Label(cells)))
            }
        }
    }

    /// Returns the stretch, which ends before a row that cannot be read if there is an error.
    pub(crate) fn finish(self, error: Option<Error>) -> Stretch<'a> {
        let (fingerprints, observed) = self.fingerprinter.finish();
        Stretch {
            rows: self.rows,
            left_out: self.rows - self.with_key.len() as u32,
            keys: Keys::parted(&fingerprints, &self.with_key),
            numbers: self.numbers,
            labels: self.labels,
            observed,
            bad_cells: self.bad_cells,
            bad_numbers: self.bad_numbers,
            ragged: self.ragged,
            suspects: self.suspects,
            strays: self.strays,
            inspector: self.inspector,
            error,
        }
    }
}

/// Returns the error of a number that is too much for the sum of its column.
pub(super) fn overflow(column: &str, fault: NumberFault, file: &str, place: Place) -> Error {
    let mut sorts = Vec::new();
    bad_keys::places_of(&mut sorts, column.to_owned(), fault).see(file, place);
    Error::Read(ReadError::Number(sorts))
}

impl Keys {
    /// Brings together what is of one partition.
    pub(super) fn parted(fingerprints: &[[u8; 32]], rows: &[u32]) -> Self {
        let mut ends = vec![0; PARTITIONS];
        for fingerprint in fingerprints {
            ends[partition(fingerprint)] += 1;
        }
        let mut end = 0;
        let mut next: Vec<u32> = Vec::with_capacity(PARTITIONS);
        for count in &mut ends {
            next.push(end);
            end += *count;
            *count = end;
        }
        let mut order = vec![0; fingerprints.len()];
        for (index, fingerprint) in (0..).zip(fingerprints) {
            let next = &mut next[partition(fingerprint)];
            order[*next as usize] = index;
            *next += 1;
        }
        let indices = || order.iter().map(|&index| index as usize);
        Self {
            fingerprints: indices().map(|index| fingerprints[index]).collect(),
            rows: indices().map(|index| rows[index]).collect(),
            order,
            ends,
        }
    }
}

fn partition(fingerprint: &[u8; 32]) -> usize {
    fingerprint[0].into()
}
