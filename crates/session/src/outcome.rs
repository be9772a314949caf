//! The result of a run.

use std::{collections::BTreeMap, time::Duration};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use psijoin::{Plan, Role};
use psijoin_channel::count::Snapshot;
use psijoin_table::{BadCellsOfKey, Counts, Look, WhichRows};

use crate::{
    columns::{AgreedColumns, Sum},
    giving::Given,
    phases::Phase,
    question::Question,
};

/// What a party knows at the end.
pub struct Outcome {
    /// Its role.
    pub role: Role,
    /// What ran.
    pub plan: Plan,
    /// The rows of its table.
    pub counts: Counts,
    /// The cells of the key that counted as null, as they cannot be read.
    pub bad_cells: BadCellsOfKey,
    /// What this party's key columns look like of which that is known.
    pub looks: Vec<Look>,
    /// What of the table lay on disk, as it did not fit into memory.
    pub spilled_bytes: u64,
    /// How many steps of the protocol ran more than once, as a job that had broken off went on.
    pub steps_run_again: u32,
    /// What passed over the wire for the protocol, the handshake not included.
    pub traffic: Snapshot,
    /// From the tables to the end, without waiting for the other party to turn up.
    pub time: Duration,
    /// What the time went to.
    pub phases: Vec<Phase>,
    /// What was asked for.
    pub question: Question,
    /// The columns of numbers in that.
    pub columns: AgreedColumns,
    /// The columns that were given.
    pub given: Given,
    /// How many rows with a key have no number, for each of this party's columns of numbers.
    pub rows_without_number: BTreeMap<String, u64>,
    /// What this party got, unless it only helped.
    pub received: Option<Received>,
}

/// Rows in memory, and their columns.
pub type Batches = (SchemaRef, Vec<RecordBatch>);

/// What a party received.
#[derive(Debug, Clone, PartialEq)]
pub enum Received {
    /// Which keys are shared.
    Rows {
        /// How many keys are shared.
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
    Threshold {
        /// The threshold.
        least: u64,
        /// Whether it is reached.
        reached: bool,
    },
    /// What columns add up to over them.
    Sums(Vec<Sum>),
    /// Shares of both, at this many places.
    Shares {
        /// How many there are.
        places: u64,
    },
}
