//! `--memory` and `--spill-dir`: how the memory of a party is shared out.
//!
//! A party's memory goes to three things:
//!
//! - *what is there anyway*: the program, connections, what threads read and write with ([`FIXED`]);
//! - *the parts that run*, one per stream ([`PER_STREAM`]). The number of streams follows from both parties' threads
//!   ([`streams`]), so a party with little memory tells the other one that it has fewer threads;
//! - *the budget*: what is left, for the table. What is beyond it is spilled.
//!
//! The number of threads is told, and the table is read, before it is known what will run. So a party goes by what the parts
//! of any protocol need.

use std::path::PathBuf;

use psijoin::{
    parts,
    spill::{Budget, Folder},
};

use crate::{exit::Failure, humanize, memory};

/// Bytes that a party takes whatever runs.
const FIXED: u64 = 50_000_000;

/// The most bytes that a part takes while it runs (docs/scale.md).
const PER_STREAM: u64 = 250_000_000;

/// The least budget: each partition of a table has some tens of kilobytes then, so that the disk is written in pieces that
/// are not too small.
const LEAST_BUDGET: u64 = 20_000_000;

/// What a party may use.
pub(crate) struct Allowance {
    /// For its table.
    pub(crate) budget: Budget,
    /// Where the rest of the table goes.
    pub(crate) folder: Folder,
    /// How many threads the other party is told of.
    pub(crate) threads: usize,
}

/// What the command line says of it.
#[derive(Clone, Copy)]
pub(crate) enum Said {
    /// This much memory for everything.
    Memory(u64),
    /// This much for the table, and threads as they are: for tests.
    Budget(u64),
    /// Nothing: half of what the machine has left.
    Nothing,
}

impl Allowance {
    /// That of a party with this number of threads.
    ///
    /// # Errors
    /// [`Failure::Usage`] if too little memory is allowed.
    pub(crate) fn new(
        said: Said,
        folder: Option<PathBuf>,
        threads: usize,
    ) -> Result<Self, Failure> {
        let (bytes, threads) = match said {
            Said::Memory(bytes) => share_out(bytes, threads).ok_or_else(|| too_little(bytes))?,
            Said::Budget(bytes) => (bytes, threads),
            Said::Nothing => match memory::available_bytes() {
                Some(bytes) => {
                    share_out(bytes / 2, threads).unwrap_or((LEAST_BUDGET, threads.min(1)))
                }
                None => (u64::MAX, threads),
            },
        };
        Ok(Self {
            budget: Budget::new(bytes),
            folder: folder.map_or_else(Folder::temporary, Folder::new),
            threads,
        })
    }
}

fn too_little(bytes: u64) -> Failure {
    Failure::Usage(format!(
        "--memory {} is too little: {} is the least that a large join works with",
        humanize::bytes(bytes),
        humanize::bytes(least()),
    ))
}

/// The least memory that can be allowed.
fn least() -> u64 {
    FIXED + PER_STREAM + LEAST_BUDGET
}

/// The budget, and how many threads the other party is told of: as many as there are, unless their streams would take
/// too much. `None` if it is too little for one stream.
fn share_out(bytes: u64, threads: usize) -> Option<(u64, usize)> {
    let room = bytes.checked_sub(FIXED)?;
    let told = (1..=threads.max(1)).rev();
    let shares = told.filter_map(|told| {
        let budget = room.checked_sub(parts::streams(usize::MAX, [told; 2]) as u64 * PER_STREAM)?;
        (budget >= LEAST_BUDGET).then_some((budget, told))
    });
    shares.take(1).next()
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
            (320 * MB, 1, Some((20 * MB, 1))),
            (400 * MB, 2, Some((100 * MB, 1))),
            // Three streams for two threads.
            (819 * MB, 2, Some((519 * MB, 1))),
            (820 * MB, 2, Some((20 * MB, 2))),
            (1000 * MB, 8, Some((200 * MB, 2))),
            (4000 * MB, 8, Some((1700 * MB, 8))),
            // More streams than this do not run.
            (4070 * MB, 64, Some((20 * MB, 64))),
        ] {
            assert_eq!(share_out(bytes, threads), shares, "{bytes} {threads}");
        }
    }

    #[test]
    fn too_little_is_refused_with_the_least_that_works() {
        let refused = Allowance::new(Said::Memory(300_000_000), None, 2);
        let said = refused.err().map(|failure| failure.to_string());
        assert_eq!(
            said.as_deref(),
            Some("--memory 300 MB is too little: 320 MB is the least that a large join works with")
        );
        assert!(Allowance::new(Said::Nothing, None, 2).is_ok());
    }
}
