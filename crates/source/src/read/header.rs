//! The columns of a table, as far as its header names them.

use psijoin_key::column_names::first_alike;

use crate::{
    Columns, ReadError,
    source::dialect::{Delimited, Layout},
};

/// The names of a table's columns.
pub struct Header<'a> {
    pub(crate) file: &'a str,
    /// The names, in order.
    pub names: &'a [String],
    /// The layout of the table if it is a text. Its header may be missing: then these are the first
    /// row's values, which belong in no error.
    pub(crate) layout: Option<Layout>,
    /// `true` if columns can be named by their positions: in files, and not in data frames, as a
    /// join may see only some of their columns.
    pub(crate) has_positions: bool,
}

/// The prefix of a column's position, where that takes the place of its name.
const POSITION: &str = "column:";

impl Header<'_> {
    /// Finds the only column of this name. If there is none, `column:2` is the second one.
    pub(crate) fn find(&self, column: &str) -> Result<usize, ReadError> {
        let mut found = self
            .names
            .iter()
            .enumerate()
            .filter(|(_, name)| *name == column);
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            (Some(_), Some(_)) => Err(ReadError::AmbiguousColumn {
                file: self.file.to_owned(),
                column: column.to_owned(),
            }),
            (None, _) => self.at(column).ok_or_else(|| ReadError::MissingColumn {
                file: self.file.to_owned(),
                column: column.to_owned(),
                columns: self.shown_without(column),
            }),
        }
    }

    /// Returns the column at the position that this names, if it names one.
    fn at(&self, column: &str) -> Option<usize> {
        let position: usize = column.strip_prefix(POSITION)?.parse().ok()?;
        let is_there = self.has_positions && (1..=self.names.len()).contains(&position);
        is_there.then(|| position - 1)
    }

    /// Finds each of these columns, as their positions from 0. If there is none of a name,
    /// `column:2` is the second one.
    ///
    /// # Errors
    /// If one is missing, or not unique.
    pub fn find_all(&self, columns: &[String]) -> Result<Vec<usize>, ReadError> {
        columns.iter().map(|column| self.find(column)).collect()
    }

    /// Returns what an error may show of the columns, none of which has this name.
    fn shown_without(&self, column: &str) -> Columns {
        if let Some(Layout::Lines) = self.layout {
            return Columns::Lines;
        }
        match first_alike(self.names.iter().map(String::as_str), column) {
            None => self.shown(),
            Some((index, difference)) => Columns::Alike {
                count: self.names.len(),
                position: index + 1,
                name: self.layout.is_none().then(|| self.names[index].clone()),
                difference,
                has_positions: self.has_positions,
            },
        }
    }

    /// Returns what an error may show of the columns.
    pub(crate) fn shown(&self) -> Columns {
        let Some(Layout::Delimited(dialect @ Delimited { header: true, .. })) = self.layout else {
            return Columns::Named(self.names.to_vec());
        };
        match self.names {
            [only] => match dialect.likelier_delimiter(only) {
                Some(delimiter) => Columns::Undivided(delimiter),
                None => Columns::Counted(1),
            },
            names => Columns::Counted(names.len()),
        }
    }
}
