//! Faults of a request that cannot be met.

use std::fmt;

use psijoin_printable::{Quoted, humanize};

use psijoin::Groups;
use psijoin_table::Labels;

use crate::{
    public_labels::PublicLabels, requested_groups::GroupColumn, requested_output::RequestedOutput,
};

/// An ability that a protocol lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{protocol} cannot {what}: take {}", one_of(others))]
pub struct Unable {
    /// The protocol.
    pub protocol: &'static str,
    /// The requested ability.
    pub what: Ability,
    /// The protocols that can.
    pub others: Vec<&'static str>,
}

/// The abilities that some protocols have, and others lack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ability {
    /// Compute this output.
    Compute(Box<RequestedOutput>),
    /// Withhold an output if too few keys are shared.
    Withhold,
    /// Rest on nothing that a quantum computer is known to break.
    PostQuantum,
    /// Say more of each shared row.
    Carry(Further),
}

impl fmt::Display for Ability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compute(output) => write!(f, "compute the output {output}"),
            Self::Withhold => {
                f.write_str("withhold what it finds, as a least number of shared keys demands")
            }
            Self::PostQuantum => f.write_str(
                "be post-quantum, as it rests on discrete logarithms or on factoring, or protects nothing",
            ),
            Self::Carry(further) => write!(f, "provide {further}"),
        }
    }
}

/// Returns one of these names, in words.
fn one_of(names: &[&str]) -> String {
    match names {
        [only] => (*only).to_owned(),
        _ => format!("one of {}", names.join(", ")),
    }
}

/// Parts of what a party wants that do not go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SpecFault {
    /// A record is to be signed, and nobody has an identity.
    #[error("a record is signed by both identities: meet over TLS")]
    RecordWithoutIdentities,
    /// Shares have to be kept.
    #[error("no file is named for this party's shares")]
    NoFileForShares,
    /// A file is named for rows or shares, and the party gets none.
    #[error("a file is named for a result, and this party gets none that goes to a file")]
    NothingToWrite,
    /// The receiver gives columns, and the sender does not learn.
    #[error("the receiver gives columns only if both parties learn")]
    ReceiverGives,
    /// The sender takes columns, and does not learn.
    #[error("the sender takes columns only if both parties learn")]
    SenderTakes,
    /// Columns are taken for rows that have no partner.
    #[error("rows that are not shared have no partner to take columns from")]
    TakesForUnshared,
    /// Rows are to be lined up with those of a party that writes none.
    #[error("rows are lined up only if both parties learn")]
    AlignedForOne,
    /// A budget is of partners, and nobody knows who this one is.
    #[error("a budget is of partners that are known by their keys: meet over TLS")]
    BudgetWithoutIdentities,
    /// The receiver gets the answers.
    #[error("a budget is the sender's")]
    BudgetOfReceiver,
}

/// A part of a join that a table that lies elsewhere cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElsewhereFault {
    /// A job, or a common order of rows.
    #[error("a table that lies elsewhere keeps no job, and its rows are not lined up")]
    JobOrOrder,
    /// Shares, which would have to be kept with the rows.
    #[error(
        "shares of a table that lies elsewhere cannot be kept: ask for rows, count, sum or counts"
    )]
    Shares,
    /// A budget.
    #[error("a table that lies elsewhere has no budget")]
    Budget,
    /// The other side's release is too old.
    #[error(
        "the other side's release knows no lanes, over which a table that lies elsewhere is joined; \
         update psijoin there"
    )]
    OlderPeer,
    /// The other side comes to this one.
    #[error(
        "processes elsewhere cannot be reached where this side listens, or by a folder; let the \
         other side listen, or meet at a relay"
    )]
    NoWay,
    /// A ticket that cannot be read.
    #[error("this is no ticket of a lane, or one of another release of psijoin")]
    Ticket,
    /// Keys in another order.
    #[error(
        "these keys do not come in the order of their parts, or are those of another lane: sort \
         them by part, and give each lane those whose part leaves its number when divided by the \
         number of lanes"
    )]
    Order,
    /// A report that cannot be read.
    #[error("this is no report of a lane of this session that has not come yet")]
    Report,
    /// Not all lanes have reported.
    #[error("{missing} of {lanes} lanes have not reported")]
    Lanes {
        /// The number that has not.
        missing: u32,
        /// The number of all.
        lanes: u32,
    },
    /// Whoever runs the lanes has given up.
    #[error("this side has given up before all lanes had reported")]
    GivenUp,
    /// An unknown column of numbers.
    #[error("nothing is known of the column of numbers {}", Quoted(.0))]
    Numbers(String),
    /// An unknown column of labels, or another list of them.
    #[error(
        "nothing is known of the column of labels {}, or its list is another one here: read all of the \
         table with this column, and with the same list",
        Quoted(.0)
    )]
    Labels(String),
    /// Labels that have one hash.
    #[error("two labels of the column {} cannot be told apart: rename one of them", Quoted(.0))]
    EqualHashes(String),
}

/// Parts of a question that do not go together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuestionFault {
    /// More is to be said of rows, and this output has none.
    #[error("the output {asked} finds no rows: ask for rows, or do without {further}")]
    NoRows {
        /// The output.
        asked: RequestedOutput,
        /// The further facts about rows.
        further: Further,
    },
    /// No protocol withholds rows with further facts.
    #[error("no protocol can do both a least number of shared keys and {0}: leave one of them out")]
    MinimumWith(Further),
    /// Counts of groups, and no column that names them.
    #[error(
        "counts are of groups: name the columns to group by, one or two; for one number ask for count"
    )]
    NoGroups,
    /// A column is added up with noise, and nothing tells how much one key can change the sum.
    #[error(
        "with noise, the column {} needs bounds, between which the number of each key is brought",
        Quoted(.0)
    )]
    NoBound(String),
    /// A column has bounds, and is not added up.
    #[error(
        "the column {} has bounds for noise, and is not added up; it is named as in the output",
        Quoted(.0)
    )]
    BoundOfOther(String),
    /// A column has a mean, and is not added up.
    #[error("the mean of the column {} is asked for, and not its sum", Quoted(.0))]
    MeanOfOther(String),
    /// An output that tells nothing that could be withheld.
    #[error(
        "a least number of shared keys is for rows, count and sum; {}: leave it out", .0.why_not_withheld()
    )]
    MinimumOf(RequestedOutput),
}

/// A fault in the requested columns of numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnsFault {
    /// One was named in two ways.
    #[error("the {holder}'s column {} is asked for twice", Quoted(name))]
    Twice {
        /// The party that has the column.
        holder: psijoin::Role,
        /// Its name.
        name: String,
    },
    /// Both tables have a column of this name.
    #[error(
        "both tables have a column {}: say sender.COLUMN or receiver.COLUMN for it on both sides",
        Quoted(.0)
    )]
    OfBoth(String),
    /// Neither table has one.
    #[error("neither table has a column {}", Quoted(.0))]
    OfNeither(String),
}

/// A fault in noise, as both parties find it once they know each column's decimals.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoiseFault {
    /// ε is too large to be added up, or so small that counts have no room.
    #[error("no noise can be drawn for this epsilon: take another")]
    Epsilon,
    /// No number of a column lies between its bounds.
    #[error(
        "no number with the decimals of the column {} lies between the bounds that were given",
        Quoted(.0)
    )]
    NoNumber(String),
    /// The sums of a column could exceed 64 bits with their noise.
    #[error(
        "the sums of the column {} could exceed 64 bits with this noise: give it narrower bounds, or \
         a larger epsilon",
        Quoted(.0)
    )]
    NoRoom(String),
}

/// A fault of a list of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LabelListFault {
    /// It is empty.
    #[error("it has no labels")]
    Empty,
    /// It has more labels than there can be.
    #[error(
        "it has {} labels, and there can be {} beside `other` and null",
        humanize::count(*.0), PublicLabels::MAX
    )]
    TooMany(u64),
    /// It has the label of what is on no list.
    #[error("it has the label `other`, which stands for all that is not on the list: leave it out")]
    Other,
    /// One of its labels is too long.
    #[error(
        "it has a label of more than {} bytes",
        psijoin_source::MAX_LABEL_BYTES
    )]
    TooLong,
    /// Its file is no list.
    #[error("it has {0} columns, and labels are in a file of one")]
    Columns(usize),
}

/// More groups than there can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooManyGroups {
    /// The columns whose values name them, and how many labels each has. From [`Labels::MORE`] on
    /// they are not counted.
    pub columns: Vec<(GroupColumn, u64)>,
}

impl std::error::Error for TooManyGroups {}

impl fmt::Display for TooManyGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |count: u64, is_more: bool| match is_more {
            false => humanize::count(count),
            true => format!("more than {}", humanize::count(count - 1)),
        };
        let is_more = self.columns.iter().any(|(_, count)| *count == Labels::MORE);
        let groups = self.columns.iter().map(|(_, count)| count).product();
        let columns = self.columns.iter().map(|(column, count)| {
            let count = shown(*count, *count == Labels::MORE);
            let what = match column.public {
                None => "different values",
                Some(_) => "labels with `other` and null",
            };
            format!("{} has {count} {what}", Quoted(&column.to_string()))
        });
        let columns: Vec<_> = columns.collect();
        write!(
            f,
            "there would be {} groups, as {}, and there can be {} at most: group by columns with \
             fewer values",
            shown(groups, is_more),
            columns.join(" and "),
            Groups::MAX
        )
    }
}

/// The excess in the other party's values for a key, over this party's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooMuchGiven {
    /// Rows for each key.
    Rows {
        /// The number that it gives.
        given: u16,
        /// The most that this party takes.
        most: u16,
    },
    /// Bytes for each row.
    RowBytes {
        /// The number that it gives.
        given: usize,
        /// The most that this party takes.
        most: usize,
    },
    /// More than there is memory for.
    Memory {
        /// Rows for each key.
        rows: u16,
        /// Bytes for each row.
        row_bytes: usize,
        /// Bytes for each key.
        payload_bytes: usize,
        /// Bytes in memory at once.
        needed: u64,
        /// Bytes that there is room for.
        room: u64,
    },
}

impl fmt::Display for TooMuchGiven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Rows { given, most } => write!(
                f,
                "up to {} for each key, and at most {} are taken here",
                humanize::counted(given.into(), "row"),
                humanize::count(most.into())
            ),
            Self::RowBytes { given, most } => write!(
                f,
                "{} for each row, and at most {} are taken here",
                humanize::counted(given as u64, "byte"),
                humanize::count(most as u64)
            ),
            Self::Memory {
                rows,
                row_bytes,
                payload_bytes,
                needed,
                room,
            } => write!(
                f,
                "{} for each key ({} of {}), which is {} in memory at once here, and there is room for {}",
                humanize::bytes(payload_bytes as u64),
                humanize::counted(rows.into(), "row"),
                humanize::counted(row_bytes as u64, "byte"),
                humanize::bytes(needed),
                humanize::bytes(room),
            ),
        }
    }
}

/// The further facts about shared rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Further {
    /// That both parties learn it.
    Both,
    /// Columns that one party gives to the other.
    Columns,
}

impl fmt::Display for Further {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Both => "a result for both parties",
            Self::Columns => "columns for the other party",
        })
    }
}
