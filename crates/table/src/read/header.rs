//! The columns of a table, as far as its header names them.

use std::fmt;

use psijoin_printable::Quoted;

use psijoin_key::column_names::{first_alike, listed};

use crate::{
    Error, LINE_COLUMN, ReadError,
    source::dialect::{Delimited, Layout},
};

/// The names of a table's columns.
pub(crate) struct Header<'a> {
    pub(crate) file: &'a str,
    pub(crate) names: &'a [String],
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
    pub(crate) fn find(&self, column: &str) -> Result<usize, Error> {
        let mut found = self
            .names
            .iter()
            .enumerate()
            .filter(|(_, name)| *name == column);
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            (Some(_), Some(_)) => Err(Error::Read(ReadError::AmbiguousColumn {
                file: self.file.to_owned(),
                column: column.to_owned(),
            })),
            (None, _) => self.at(column).ok_or_else(|| {
                Error::Read(ReadError::MissingColumn {
                    file: self.file.to_owned(),
                    column: column.to_owned(),
                    columns: self.shown_without(column),
                })
            }),
        }
    }

    /// Returns the column at the position that this names, if it names one.
    fn at(&self, column: &str) -> Option<usize> {
        let position: usize = column.strip_prefix(POSITION)?.parse().ok()?;
        let is_there = self.has_positions && (1..=self.names.len()).contains(&position);
        is_there.then(|| position - 1)
    }

    /// Finds each of these columns.
    pub(crate) fn find_all(&self, columns: &[String]) -> Result<Vec<usize>, Error> {
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

/// The columns of a table in an error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Columns {
    /// Their names, where they are names for sure.
    Named(Vec<String>),
    /// Their number, where the first record may be no header but a row:
    /// [`Source::columns`](crate::Source::columns) tells them.
    Counted(usize),
    /// There is one, and a character in its name suggests that it is several: what this character
    /// is called.
    Undivided(&'static str),
    /// One differs from the one asked for in nothing that is easily noticed.
    Alike {
        /// The number of columns.
        count: usize,
        /// The position of that one, from 1.
        position: usize,
        /// Its name, if it is a name for sure.
        name: Option<String>,
        /// The difference.
        difference: String,
        /// `true` if it can be named by its position.
        has_positions: bool,
    },
    /// The only column of a file of lines.
    Lines,
}

impl Columns {
    /// Returns the number of columns.
    pub fn count(&self) -> usize {
        match self {
            Self::Named(names) => names.len(),
            Self::Counted(count) | Self::Alike { count, .. } => *count,
            Self::Undivided(_) | Self::Lines => 1,
        }
    }

    /// Returns the continuation of a sentence that gives their number.
    pub(crate) fn behind_their_number(&self) -> String {
        match self {
            Self::Named(names) if !names.is_empty() => format!("; {self}"),
            _ => String::new(),
        }
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines => write!(
                f,
                "it is read as lines, and their only column is `{LINE_COLUMN}`: if it has several columns, name its \
                 format"
            ),
            Self::Alike {
                position,
                name,
                difference,
                has_positions,
                ..
            } => {
                write!(f, "its column {position}")?;
                if let Some(name) = name {
                    write!(f, ", {},", Quoted(name))?;
                }
                write!(f, " differs from that in {difference} only")?;
                match has_positions {
                    true => write!(
                        f,
                        ": if it is meant, say column:{position}, or copy its name"
                    ),
                    false => Ok(()),
                }
            }
            Self::Named(names) => match &names[..] {
                [] => f.write_str("it has no columns"),
                [only] => write!(f, "its only column is {}", Quoted(only)),
                _ => write!(f, "its columns are {}", listed(names)),
            },
            Self::Undivided(delimiter) => write!(
                f,
                "it has 1 column, whose name holds a {delimiter}: if that divides columns, name \
                 it as the delimiter"
            ),
            Self::Counted(1) => f.write_str("it has 1 column"),
            Self::Counted(count) => write!(f, "it has {count} columns"),
        }
    }
}
