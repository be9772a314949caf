//! The columns of a table, in errors.

use std::fmt;

use psijoin_key::column_names::listed;
use psijoin_printable::Quoted;

use crate::LINE_COLUMN;

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
