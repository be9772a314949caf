//! The result of a run.

use std::{collections::BTreeMap, time::Duration};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use psijoin::{Plan, Role};
use psijoin_channel::count::Snapshot;
use psijoin_table::{BadCellsOfKey, Counts, Look, WhichRows};

use crate::{
    columns::{AgreedColumns, Sum},
    phases::Phase,
    question::Question,
    session::Given,
};

/// What a party knows at the end.
pub(crate) struct Summary {
    pub(crate) role: Role,
    pub(crate) plan: Plan,
    pub(crate) counts: Counts,
    /// The cells of the key that counted as null, as they cannot be read.
    pub(crate) bad_cells: BadCellsOfKey,
    /// What this party's key columns look like of which that is known.
    pub(crate) looks: Vec<Look>,
    /// What of the table lay on disk, as it did not fit into memory.
    pub(crate) spilled_bytes: u64,
    /// How many steps of the protocol ran more than once, as a job that had broken off went on.
    pub(crate) steps_run_again: u32,
    /// What passed over the wire for the protocol, the handshake not included.
    pub(crate) traffic: Snapshot,
    /// From the tables to the end, without waiting for the other party to turn up.
    pub(crate) time: Duration,
    pub(crate) phases: Vec<Phase>,
    /// What was asked for.
    pub(crate) question: Question,
    /// The columns of numbers in that.
    pub(crate) columns: AgreedColumns,
    /// The columns that were given.
    pub(crate) given: Given,
    /// How many rows with a key have no number, for each of this party's columns of numbers.
    pub(crate) rows_without_number: BTreeMap<String, u64>,
    /// What this party got, unless it only helped.
    pub(crate) received: Option<Received>,
}

/// Rows in memory, and their columns.
pub(crate) type Batches = (SchemaRef, Vec<RecordBatch>);

/// What a party received.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Received {
    /// Which keys are shared.
    Rows {
        shared_keys: u64,
        /// Which rows were to be written.
        which: WhichRows,
        /// Whether they are in the order that the other party has, too.
        aligned: bool,
        /// `None` if the reader of the output went away before all was written.
        rows: Option<u64>,
        /// The rows themselves, and their columns, if they were to stay in memory.
        in_memory: Option<Batches>,
    },
    /// How many are.
    Count(u64),
    /// Whether at least `least` are.
    Threshold { least: u64, reached: bool },
    /// What columns add up to over them.
    Sums(Vec<Sum>),
    /// Shares of both, at this many places.
    Shares { places: u64 },
}

impl Received {
    /// What goes to standard output; `None` for rows and shares, which are written as they are
    /// found, and to files.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Self::Rows { .. } | Self::Shares { .. } => None,
            Self::Count(count) => Some(count.to_string()),
            Self::Threshold { reached: true, .. } => Some("reached".to_owned()),
            Self::Threshold { reached: false, .. } => Some("not reached".to_owned()),
            Self::Sums(sums) => Some(match &sums[..] {
                [only] => only.value.to_string(),
                _ => {
                    let line = |sum: &Sum| format!("{}\t{}", sum.column.name, sum.value);
                    sums.iter().map(line).collect::<Vec<_>>().join("\n")
                }
            }),
        }
    }
}
