//! The places of something in a table: how many, and the first of them.

use std::fmt;

/// As many places are kept of what is found in many.
const KEPT: usize = 10;

/// The number of times that something is found in a table, and the first ten places, in the order
/// of rows.
///
/// The text names these: `t.csv, lines 3, 4 and 9`. Nothing is kept, nor allocated, until something
/// is found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// The number of times that it is found.
    pub count: u64,
    /// The first places.
    pub first: Vec<Located>,
}

/// A row of a table that may have several files.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Located {
    /// The file as the user named it.
    pub file: String,
    /// The place in the file.
    pub place: Place,
}

impl Places {
    /// Notes one more place, behind all others.
    pub fn see(&mut self, file: &str, place: Place) {
        self.count += 1;
        if self.first.len() < KEPT {
            self.first.push(Located {
                file: file.to_owned(),
                place,
            });
        }
    }

    /// Returns as many places, of which nobody knows where they are.
    pub fn unnamed(count: u64) -> Self {
        Self {
            count,
            first: Vec::new(),
        }
    }

    /// Returns the first of all, if there is any.
    pub fn first_place(&self) -> Option<Place> {
        self.first.first().map(|located| located.place)
    }

    /// Adds the places that follow, which count from a line, or row, that has this many before it.
    pub fn extend(&mut self, mut next: Self, by: u64) {
        next.move_on(by);
        self.count += next.count;
        let room = KEPT - self.first.len();
        self.first.extend(next.first.into_iter().take(room));
    }

    /// Says that the places count from a line, or row, that has this many before it.
    pub fn move_on(&mut self, by: u64) {
        for located in &mut self.first {
            located.place = located.place.later(by);
        }
    }

    /// Returns the number of places that are not named.
    fn others(&self) -> u64 {
        self.count - self.first.len() as u64
    }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_files = self.first.chunk_by(|a, b| a.file == b.file);
        for (index, places) in of_files.enumerate() {
            let before = if index == 0 { "" } else { "; " };
            write!(f, "{before}{}, {}", places[0].file, listed(places))?;
        }
        match self.others() {
            0 => Ok(()),
            others => write!(f, " and {others} more"),
        }
    }
}

/// As `line 3`, or `lines 3, 4 and 9`.
fn listed(places: &[Located]) -> String {
    let [front @ .., last] = places else {
        return String::new();
    };
    if front.is_empty() {
        return last.place.to_string();
    }
    let numbers: Vec<_> = front
        .iter()
        .map(|at| at.place.number().to_string())
        .collect();
    let unit = last.place.unit();
    format!("{unit}s {} and {}", numbers.join(", "), last.place.number())
}

/// The place of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Place {
    /// On this line of a text, from 1.
    Line(u64),
    /// The row of this number, from 1, in a format without lines.
    Row(u64),
}

impl Place {
    /// Returns the place this many lines, or rows, further on.
    pub fn later(self, by: u64) -> Self {
        match self {
            Self::Line(line) => Self::Line(line + by),
            Self::Row(row) => Self::Row(row + by),
        }
    }

    /// Returns the number of the line, or row.
    pub fn number(self) -> u64 {
        match self {
            Self::Line(number) | Self::Row(number) => number,
        }
    }

    /// Returns the unit that is counted: `line`, or `row`.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Line(_) => "line",
            Self::Row(_) => "row",
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.unit(), self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ten_are_named() {
        let mut places = Places::default();
        places.see("a.csv", Place::Line(3));
        assert_eq!(places.to_string(), "a.csv, line 3");
        places.see("a.csv", Place::Line(5));
        let mut next = Places::default();
        (0..10).for_each(|line| next.see("b.csv", Place::Line(line)));
        places.extend(next, 2);
        assert_eq!(
            places.to_string(),
            "a.csv, lines 3 and 5; b.csv, lines 2, 3, 4, 5, 6, 7, 8 and 9 and 2 more"
        );
        let mut rows = Places::default();
        (7..10).for_each(|row| rows.see("t.parquet", Place::Row(row)));
        assert_eq!(rows.to_string(), "t.parquet, rows 7, 8 and 9");
    }
}
