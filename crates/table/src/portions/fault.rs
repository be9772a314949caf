//! Faults of portions that do not make a table together.

use psijoin_key::Kind;
use psijoin_printable::{Quoted, humanize};
use psijoin_source::{ErrorKind, NumberFault};

/// The reason that portions do not make a table, or keys are not those of portions.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PortionFault {
    /// Other bytes than those of facts.
    #[error("these are no facts of a portion of a table, or those of another release of psijoin")]
    Facts,
    /// There is no portion.
    #[error("there are no facts of any portion of the table")]
    None,
    /// The key was read in two ways.
    #[error(
        "the key of a portion was read as `{there}`, and is `{here}` here: give all of them one key, \
         with the same rules"
    )]
    OtherKey {
        /// The way here.
        here: String,
        /// The way there.
        there: String,
    },
    /// A column of the key has two types.
    #[error(
        "the key column {} is of kind {one} in one portion, and of kind {other} in another",
        Quoted(column)
    )]
    OtherKind {
        /// The column.
        column: String,
        /// Its kind in one portion.
        one: Kind,
        /// Its kind in another.
        other: Kind,
    },
    /// The columns of numbers differ.
    #[error("the portions were not read with the same columns of numbers")]
    OtherNumbers,
    /// The columns of labels differ, or their lists.
    #[error(
        "the portions were not read with the same columns of labels, or with other lists of these"
    )]
    OtherLabels,
    /// Rows with one key have several labels, in several portions.
    #[error(
        "rows with the same key have different values in a column of labels, for {}, and a key is in \
         one group: make the values of each key equal, or group by another column",
        humanize::counted(*keys, "key")
    )]
    UnlikeLabels {
        /// The number of such keys.
        keys: u64,
    },
    /// The columns to give differ.
    #[error(
        "the portions were not read with the same columns to give, or with another treatment of \
         repeated keys: tell all of them, and the driver, the same"
    )]
    OtherGiven,
    /// A column of numbers has too large a sum.
    #[error("the column {}: {fault}", Quoted(column))]
    Overflow {
        /// The column.
        column: String,
        /// The fault.
        fault: NumberFault,
    },
    /// Too many rows have cells of the key that cannot be read.
    #[error(
        "{bad} of {} have a cell of the key that cannot be read, and at most {at_most_percent} percent may",
        humanize::counted(*rows, "row")
    )]
    TooManyBadKeys {
        /// Rows that have one.
        bad: u64,
        /// All rows.
        rows: u64,
        /// The most that may, in percent.
        at_most_percent: f64,
    },
    /// The number of distinct keys cannot be.
    #[error(
        "{} cannot be in {} with a key",
        humanize::counted(*distinct, "distinct key"),
        humanize::counted(*with_key, "row")
    )]
    Distinct {
        /// The number of distinct keys, as it was told.
        distinct: u64,
        /// The rows with a key.
        with_key: u64,
    },
    /// There is no column of keys.
    #[error(
        "keys come in a column `key`, of 32 bytes each and none of them null, as portions give them"
    )]
    Keys,
    /// There is no column of this name, or not one of numbers.
    #[error(
        "the numbers of keys come in a column {}, of decimals or whole numbers and none of them null, as portions give \
         them",
        Quoted(.0)
    )]
    Numbers(String),
    /// There are no labels, or others.
    #[error(
        "the labels of keys come in a column `labels_of_key`, of 16 bytes each and none of them null, as \
         portions give them, and are those that the facts about the portions tell"
    )]
    Labels,
    /// There are no rows to give.
    #[error(
        "the rows that are given for keys come in a column `given`, of bytes and none of them null, as \
         portions give them"
    )]
    Given,
    /// Rows do not fit into what was agreed on.
    #[error("a key has more rows to give, or longer ones, than the facts about the portions tell")]
    Room,
    /// There is nothing of the other party.
    #[error(
        "what the other party gave for keys comes in a column `taken`, of bytes and none of them null, as lanes \
         of this session give it"
    )]
    Taken,
    /// A number has more decimals than all portions together have.
    #[error("a number of the column {} has other decimals, or is larger, than the facts about the portions tell", Quoted(.0))]
    Scale(String),
}

impl PortionFault {
    /// Returns who has to do something about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Overflow { .. } | Self::TooManyBadKeys { .. } | Self::UnlikeLabels { .. } => {
                ErrorKind::Input
            }
            _ => ErrorKind::Usage,
        }
    }
}
