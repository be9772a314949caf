//! The division of a party's memory.
//!
//! A party's memory goes to three things:
//!
//! - *what is there anyway*: the program, connections, what threads read and write with
//!   (60 MB);
//! - *the parts that run*, one per stream (250 MB). The number of streams follows from both
//!   parties' threads ([`parts::streams`]), so a party with little memory tells the other one that
//!   it has fewer threads;
//! - *the table*: what is left. Its stores get a budget, seven tenths, of that, and what is beyond
//!   it is spilled.
//!
//! The number of threads is told, and the table is read, before it is known what will run. So a
//! party goes by what the parts of any protocol need.

use std::path::PathBuf;

use psijoin::{
    parts,
    planner::Memory,
    spill::{Budget, Folder, Spill},
};

use crate::{Error, memory};

/// Bytes that a party takes whatever runs.
const FIXED: u64 = 60_000_000;

/// The most bytes that a part takes while it runs (docs/scale.md).
pub(crate) const PER_STREAM: u64 = 250_000_000;

/// Of ten bytes for the table, the budget of its stores. With 70 MB more of it, a process took 97
/// MB more at its peak (one pair of runs of `rr22` at 10^7 rows): likely what the allocator does
/// not give back at once.
const OF_TEN: u64 = 7;

/// The least for a table. Each of its 256 partitions then has some tens of kilobytes, so that the
/// disk is written in pieces that are not too small.
const LEAST_TABLE: u64 = 20_000_000;

/// The resources that a party may use.
pub struct Allowance {
    /// For its table.
    pub spill: Spill,
    /// The number of threads that the other party is told.
    pub threads: usize,
    /// Bytes for what runs in one run, if the user has said how many there are in all.
    pub of_one_run: Option<u64>,
}

/// The origin of the memory's size.
#[derive(Debug, Clone, Copy, Default)]
pub enum Said {
    /// This much memory for everything.
    Memory(u64),
    /// This much for the table, and threads as they are: for tests.
    Budget(u64),
    /// Nothing: half of what the machine has left.
    #[default]
    Nothing,
}

impl Allowance {
    /// Returns the allowance of a party with this number of threads.
    ///
    /// # Errors
    /// [`Error::TooLittleMemory`] if too little memory is allowed.
    pub fn new(said: Said, folder: Option<PathBuf>, threads: usize) -> Result<Self, Error> {
        let (bytes, threads) = match said {
            Said::Memory(bytes) => share_out(bytes, threads).ok_or_else(|| too_little(bytes))?,
            Said::Budget(bytes) => (bytes, threads),
            Said::Nothing => match memory::available_bytes() {
                Some(bytes) => share_out(bytes / 2, threads).unwrap_or((budget(LEAST_TABLE), 1)),
                None => (u64::MAX, threads),
            },
        };
        Ok(Self {
            of_one_run: match said {
                Said::Memory(bytes) => Some(bytes - FIXED),
                Said::Budget(_) | Said::Nothing => None,
            },
            spill: Spill::new(
                Budget::new(bytes),
                folder.map_or_else(Folder::temporary, Folder::new),
            ),
            threads,
        })
    }
}

fn too_little(allowed: u64) -> Error {
    let least = least();
    Error::TooLittleMemory { allowed, least }
}

/// Returns the least memory that can be allowed.
fn least() -> u64 {
    FIXED + PER_STREAM + LEAST_TABLE
}

/// Returns the budget, and how many threads the other party is told of: as many as there are,
/// unless their streams would take too much. `None` if it is too little for one stream.
fn share_out(bytes: u64, threads: usize) -> Option<(u64, usize)> {
    let room = bytes.checked_sub(FIXED)?;
    let mut told = (1..=threads.max(1)).rev();
    told.find_map(|told| {
        let table = room.checked_sub(of_streams(told))?;
        (table >= LEAST_TABLE).then_some((budget(table), told))
    })
}

/// Returns what the parts take that run at the same time, if each party tells the other this number
/// of threads.
fn of_streams(told: usize) -> u64 {
    parts::streams(usize::MAX, [told; 2]) as u64 * PER_STREAM
}

/// Returns the part of this memory that protocols have, where the whole table of either party takes
/// these bytes. `told` is the [number of threads](Allowance::threads) that each party tells the
/// other.
pub fn of_protocols(bytes: u64, tables: [u64; 2], told: usize) -> Memory {
    Memory {
        at_once_bytes: tables.map(|table| bytes.saturating_sub(FIXED + table)),
        in_parts_bytes: of_streams(told),
        told_threads: told,
    }
}

/// Returns the budget of the stores of a table that may take this many bytes.
fn budget(table: u64) -> u64 {
    table / 10 * OF_TEN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_first_and_the_table_gets_the_rest() {
        const MB: u64 = 1_000_000;
        for (bytes, threads, shares) in [
            (least() - 1, 2, None),
            (0, 1, None),
            (330 * MB, 1, Some((14 * MB, 1))),
            (400 * MB, 2, Some((63 * MB, 1))),
            // Three streams for two threads.
            (820 * MB, 2, Some((357 * MB, 1))),
            (830 * MB, 2, Some((14 * MB, 2))),
            (1000 * MB, 8, Some((133 * MB, 2))),
            (4000 * MB, 8, Some((1183 * MB, 8))),
            (4080 * MB, 64, Some((14 * MB, 15))),
            // More streams than this do not run.
            (8080 * MB, 64, Some((14 * MB, 64))),
        ] {
            assert_eq!(share_out(bytes, threads), shares, "{bytes} {threads}");
        }
    }

    #[test]
    fn too_little_is_refused_with_the_least_that_works() {
        let refused = Allowance::new(Said::Memory(300_000_000), None, 2);
        let said = refused.err().map(|error| error.to_string());
        assert_eq!(
            said.as_deref(),
            Some(
                "300 MB of memory is too little: 330 MB is the least that a large join works with"
            )
        );
        assert!(Allowance::new(Said::Nothing, None, 2).is_ok());
    }
}
