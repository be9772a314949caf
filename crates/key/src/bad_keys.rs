//! Cells of the key that have no canonical text, and what becomes of them.

use std::{fmt, str::FromStr};

use crate::{BadCells, Error, KeyFault, Place, Places};

/// The treatment of cells of the key that have no canonical text, such as those that a rule cannot
/// read.
///
/// Written as `refuse`, `null`, or `null:5%`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub enum BadKeys {
    /// They are an error.
    #[default]
    Refuse,
    /// They count as null, so that their rows have no key: an error only if more rows than this
    /// have some, in percent of all rows.
    Null {
        /// From 0 to 100.
        at_most_percent: f64,
    },
}

impl FromStr for BadKeys {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let null = |percent: &str| {
            let at_most_percent = percent.strip_suffix('%')?.parse().ok()?;
            let is_share = (0.0..=100.0).contains(&at_most_percent);
            is_share.then_some(Self::Null { at_most_percent })
        };
        let known = match text {
            "refuse" => Some(Self::Refuse),
            "null" => null("100%"),
            _ => text.strip_prefix("null:").and_then(null),
        };
        known.ok_or_else(|| Error::UnknownBadKeys(text.to_owned()))
    }
}

impl fmt::Display for BadKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refuse => f.write_str("refuse"),
            Self::Null {
                at_most_percent: 100.0,
            } => f.write_str("null"),
            Self::Null { at_most_percent } => write!(f, "null:{at_most_percent}%"),
        }
    }
}

/// All cells of a key that have faults, by what these are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadCellsOfKey {
    /// The number of rows with such cells.
    pub rows: u64,
    /// The cells, in the order in which the first of each sort was found.
    pub sorts: Vec<BadCells>,
}

impl BadCellsOfKey {
    /// Checks that this many may count as null, in a table of `rows` rows.
    ///
    /// # Errors
    /// If they may not.
    pub fn check(&self, bad_keys: BadKeys, rows: u64) -> Result<(), Error> {
        let at_most_percent = match bad_keys {
            _ if self.sorts.is_empty() => return Ok(()),
            BadKeys::Refuse => return Err(Error::BadKeys(self.sorts.clone())),
            BadKeys::Null { at_most_percent } => at_most_percent,
        };
        match self.rows as f64 * 100.0 > at_most_percent * rows as f64 {
            false => Ok(()),
            true => Err(Error::TooManyBadKeys {
                bad: self.rows,
                rows,
                at_most_percent,
                cells: self.sorts.clone(),
            }),
        }
    }

    /// Notes a cell, behind all others.
    pub fn see(&mut self, column: &str, fault: KeyFault, file: &str, place: Place) {
        places_of(&mut self.sorts, column.to_owned(), fault).see(file, place);
    }

    /// Adds those of the rows that follow: see [`Places::extend`].
    pub fn extend(&mut self, next: Self, by: u64) {
        self.rows += next.rows;
        extend(&mut self.sorts, next.sorts, by);
    }
}

/// Returns the places of the cells of this sort.
pub fn places_of<Fault: PartialEq>(
    sorts: &mut Vec<BadCells<Fault>>,
    column: String,
    fault: Fault,
) -> &mut Places {
    let is_same = |cells: &BadCells<Fault>| cells.fault == fault && cells.column == column;
    let index = sorts.iter().position(is_same).unwrap_or_else(|| {
        sorts.push(BadCells {
            column,
            fault,
            places: Places::default(),
        });
        sorts.len() - 1
    });
    &mut sorts[index].places
}

/// Adds cells of the rows that follow: see [`Places::extend`].
pub fn extend<Fault: PartialEq>(
    sorts: &mut Vec<BadCells<Fault>>,
    next: Vec<BadCells<Fault>>,
    by: u64,
) {
    for cells in next {
        places_of(sorts, cells.column, cells.fault).extend(cells.places, by);
    }
}

/// Returns the first row that has some, if all are of one file.
pub fn first<Fault>(sorts: &[BadCells<Fault>]) -> Option<Place> {
    let first = sorts.iter().filter_map(|cells| cells.places.first_place());
    first.min()
}
