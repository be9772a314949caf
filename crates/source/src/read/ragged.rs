//! Rows that have more or fewer fields than the table has columns.

use std::fmt;

use psijoin_key::{Place, Places};

/// The places of such rows.
///
/// The text names the places, and how many fields are there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaggedRows {
    /// The rows.
    pub places: Places,
    /// The number of fields of each of them, if all have as many.
    pub found: Option<usize>,
}

impl RaggedRows {
    /// Notes a row of this many fields, behind all others.
    pub fn see(&mut self, found: usize, file: &str, place: Place) {
        self.agree(Some(found));
        self.places.see(file, place);
    }

    /// Adds those of the rows that follow: see [`Places::extend`].
    pub fn extend(&mut self, next: Self, by: u64) {
        if next.places.count > 0 {
            self.agree(next.found);
            self.places.extend(next.places, by);
        }
    }

    /// Returns one row.
    pub(crate) fn of_one(found: usize, file: &str, place: Place) -> Self {
        let mut rows = Self::default();
        rows.see(found, file, place);
        rows
    }

    fn agree(&mut self, found: Option<usize>) {
        self.found = match self.places.count {
            0 => found,
            _ => self.found.filter(|own| Some(*own) == found),
        };
    }
}

impl fmt::Display for RaggedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = match self.found {
            Some(1) => "1 field".to_owned(),
            Some(found) => format!("{found} fields"),
            None => "more or fewer fields".to_owned(),
        };
        write!(f, "{}: {fields}", self.places)
    }
}
