//! The columns of a table, as far as its header names them.

use crate::{
    Error,
    dialect::{Delimited, Layout},
    error::Columns,
};

/// The names of a table's columns.
pub(crate) struct Header<'a> {
    pub(crate) file: &'a str,
    pub(crate) names: &'a [String],
    /// How the table is written if it is a text. Its header may be missing: then these are the
    /// first row's values, which belong in no error.
    pub(crate) layout: Option<Layout>,
}

impl Header<'_> {
    /// Finds the only column of this name.
    pub(crate) fn find(&self, column: &str) -> Result<usize, Error> {
        let mut found = self
            .names
            .iter()
            .enumerate()
            .filter(|(_, name)| *name == column);
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            (Some(_), Some(_)) => Err(Error::AmbiguousColumn {
                file: self.file.to_owned(),
                column: column.to_owned(),
            }),
            (None, _) => Err(Error::MissingColumn {
                file: self.file.to_owned(),
                column: column.to_owned(),
                columns: self.shown_without(column),
            }),
        }
    }

    /// Finds each of these columns.
    pub(crate) fn find_all(&self, columns: &[String]) -> Result<Vec<usize>, Error> {
        columns.iter().map(|column| self.find(column)).collect()
    }

    /// The names of these columns, which [`Header::find`] has found, and the user so knows, or
    /// which are names for sure.
    pub(crate) fn names_of(&self, columns: &[usize]) -> Vec<String> {
        let name = |&column: &usize| self.names[column].clone();
        columns.iter().map(name).collect()
    }

    /// What an error may show of the columns, none of which has this name.
    fn shown_without(&self, column: &str) -> Columns {
        let alike = |name: &String| name.trim().to_lowercase() == column.trim().to_lowercase();
        match self.layout {
            Some(Layout::Lines) => Columns::Lines,
            Some(_) if self.names.iter().any(alike) => Columns::Alike(self.names.len()),
            _ => self.shown(),
        }
    }

    /// What an error may show of the columns.
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
