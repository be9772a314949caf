//! The result of a run.

use std::{collections::BTreeMap, time::Duration};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use psijoin::{Plan, Role, parts::SharedPlaces};
use psijoin_channel::count::Snapshot;
use psijoin_table::{BadCellsOfKey, Counts, Look, WhichRows};

use crate::{
    budget::Balance,
    columns::{AgreedColumns, Sum},
    grouped::Grouped,
    labels::AgreedGroups,
    noise::AgreedNoise,
    phases::Phase,
    question::Question,
    trade::Given,
};

/// The facts that a party knows at the end.
pub struct Outcome {
    /// Its role.
    pub role: Role,
    /// The plan that ran.
    pub plan: Plan,
    /// The rows of its table.
    pub counts: Counts,
    /// The cells of the key that counted as null, as they cannot be read.
    pub bad_cells: BadCellsOfKey,
    /// The looks of this party's key columns, of those that are known.
    pub looks: Vec<Look>,
    /// The bytes of the table that lay on disk, as they did not fit into memory.
    pub spilled_bytes: u64,
    /// The number of the protocol's steps that ran more than once, as a job that had broken off was
    /// resumed.
    pub steps_run_again: u32,
    /// The number of this attempt, from 1 on: more were made if lanes were lost. Each had keys and
    /// seeds of its own.
    pub attempt: u32,
    /// The traffic of the protocol, without the handshake.
    pub traffic: Snapshot,
    /// From the tables to the end, without waiting for the other party to turn up.
    pub time: Duration,
    /// The use of time.
    pub phases: Vec<Phase>,
    /// The question that was asked.
    pub question: Question,
    /// The columns of numbers in that.
    pub columns: AgreedColumns,
    /// The columns whose values name groups, and their labels.
    pub groups: AgreedGroups,
    /// The noise in their totals, if there is some.
    pub noise: Option<AgreedNoise>,
    /// The other party's balance, if the answer was taken from a budget.
    pub balance: Option<Balance>,
    /// The columns that were given.
    pub given: Given,
    /// The number of rows with a key but no number, for each of this party's columns of numbers.
    pub rows_without_number: BTreeMap<String, u64>,
    /// This party's result, unless it only helped.
    pub received: Option<Received>,
}

/// Rows in memory, and their columns.
pub type Batches = (SchemaRef, Vec<RecordBatch>);

/// The result of a party.
#[derive(Debug, Clone, PartialEq)]
pub enum Received {
    /// The shared keys.
    Rows {
        /// The number of shared keys.
        shared_keys: u64,
        /// The rows that were to be written.
        which: WhichRows,
        /// `true` if they are in the order that the other party has, too.
        aligned: bool,
        /// `None` if the reader of the output went away before all was written.
        rows: Option<u64>,
        /// The rows themselves, and their columns, if they were to stay in memory.
        in_memory: Option<Batches>,
    },
    /// The shared keys of a table that lies elsewhere, where its rows are, too.
    Elsewhere {
        /// The number of shared keys.
        shared_keys: u64,
    },
    /// The shared places of each part, of rows that stay where their parts ran, and that a minimum
    /// withheld until the end.
    Places(Vec<SharedPlaces>),
    /// The number of shared keys.
    Count(u64),
    /// The comparison of their number with `least`.
    Threshold {
        /// The threshold.
        least: u64,
        /// `true` if it is reached.
        reached: bool,
    },
    /// The sums of columns over them.
    Sums(Vec<Sum>),
    /// The totals of groups of them.
    Groups(Grouped),
    /// Shares of both, at this many places.
    Shares {
        /// The number of places.
        places: u64,
    },
}

impl Received {
    /// Returns the number of shared keys, if it was learned.
    pub fn shared_keys(&self) -> Option<u64> {
        match self {
            Self::Rows { shared_keys, .. }
            | Self::Elsewhere { shared_keys }
            | Self::Count(shared_keys) => Some(*shared_keys),
            Self::Places(parts) => Some(parts.iter().map(SharedPlaces::count).sum()),
            Self::Threshold { .. } | Self::Sums(_) | Self::Groups(_) | Self::Shares { .. } => None,
        }
    }
}
