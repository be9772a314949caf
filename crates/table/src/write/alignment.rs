//! Both parties can write the rows of their shared keys in one order: line i of one file belongs to
//! line i of the other. `table::aligned` finds the order, and `table::write::aligned` writes rows
//! in it.
//!
//! - *The order* is that of ranks: 128 bits of BLAKE3 of each shared key's fingerprint, under a key
//!   that both parties have. No message is needed for it. If the key is random, it tells nothing
//!   about either table. Each key has one row, its first one.
//! - *The table is read once, in its own order.* It may be compressed, or larger than memory. The
//!   output of a row goes to one of 256 buckets, by its position: the bytes of its record, with the
//!   partner's columns, or a row of typed columns as the output has them. The buckets are
//!   partitions of a store within the budget. Once all rows are there, bucket after bucket is
//!   taken, sorted and written.
//! - *The same readers and writers as for rows in the table's order.* Records of a text go to a
//!   `fields::Records`, which is the output or the buckets; records in the table's own format are
//!   copied and parted by block, in parallel. Typed rows are collected in groups. Here an encoder
//!   parts a group by buckets, and whoever writes groups appends the parts to them. In the end
//!   further groups are made of the buckets, for the encoder of the file.
//! - *Typed rows wait as batches of Arrow's own format*, with their positions in the first column.
//!   A batch has few rows, so it must not hold what they share with others: texts behind views are
//!   copied, and dictionaries become their values (`write::owned`). Rows of many dictionaries need
//!   not fit into one. The columns of the file keep their types.
//! - *The same file for any number of threads and any budget.* Rows come to their buckets in the
//!   order of the table, and where groups end depends on rows only.
//!
//! | fault | consequence |
//! |---|---|
//! | rows that repeat a key, if that is refused | an error with how many, and the number of the first one, before data move |
//! | other rows than shared ones, or lists of rows with one key | an error before data move |
//! | a sender that gives lists of rows | an error of the kind `Peer` |
//! | the table has changed, or the disk is full | as for rows in the table's order; buckets and file are gone |

use psijoin_block::blake3_rows;
use psijoin_runtime::parallel;

use crate::{
    Error, WriteError,
    share::{PartnerRows, RepeatedKeys},
};

/// The number of ranks that a thread computes at once.
const TASK_ITEMS: usize = 1 << 12;

/// A row for each shared key, in an order that both parties have in common: the first row that has
/// the key, and the position at which it is written.
///
/// The order is that of the keys' *ranks*. A rank is 128 bits of BLAKE3 of the key's fingerprint,
/// under a key that both parties know. So both have the same order, and if that key is random, the
/// order tells nothing about either table. Two of n ranks are equal with a probability below n^2
/// 2^-129. Only then can two rows be swapped in the table of one party.
///
/// ```no_run
/// # use psijoin_files::spill::{Budget, Folder, Spill};
/// # use psijoin_table::{
/// #     Destination, Error, Progress, SharedKeys, Source, TableKeys, share::RepeatedKeys,
/// # };
/// # fn write(
/// #     source: &Source,
/// #     keys: &TableKeys,
/// #     destination: Destination,
/// #     (shared, key): (SharedKeys, &[u8; 32]),
/// # ) -> Result<(), Error> {
/// # let spill = Spill::new(Budget::new(1 << 30), Folder::temporary());
/// # let progress = Progress::default();
/// // Before the other party is met.
/// keys.check_alignable(RepeatedKeys::First)?;
/// let destination = destination.aligning()?;
///
/// // When it is known which keys are shared.
/// let (rows, _) = keys.aligned(shared, None, key, &spill)?;
/// destination.stage_aligned(source, &rows, None, &spill, &progress)?.commit()?;
/// # Ok(())
/// # }
/// ```
///
/// Takes 4 bytes and a bit per row of the table, and 4 bytes per shared key. While it is made, it
/// takes 32 more per shared key.
#[derive(Debug, Clone)]
pub struct AlignedRows<'a> {
    pub(crate) rows: PartnerRows<'a>,
    /// The position of each of these rows, which are in the order of the table.
    pub(crate) positions: Vec<u32>,
}

impl<'a> AlignedRows<'a> {
    /// Returns the first rows of shared keys, and their ranks.
    pub(crate) fn new(rows: PartnerRows<'a>, ranked: Vec<Ranked>) -> Self {
        Self {
            rows,
            positions: positions(ranked),
        }
    }

    /// Returns the number of rows: as many as shared keys.
    pub fn count(&self) -> u64 {
        self.positions.len() as u64
    }
}

/// A shared key by its rank, and the first row that has it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ranked {
    rank: [u64; 2],
    row: u32,
}

/// Returns the ranks of `count` shared keys, given the fingerprint and the first row of each.
pub(crate) fn ranked(
    key: &[u8; 32],
    count: usize,
    shared: &(dyn Fn(usize) -> ([u8; 32], u32) + Sync),
) -> Vec<Ranked> {
    let mut all = vec![Ranked::default(); count];
    parallel::chunks_mut(&mut all, TASK_ITEMS, &|range, ranked| {
        let shared: Vec<([u8; 32], u32)> = range.map(shared).collect();
        rank(key, &shared, ranked);
    });
    all
}

/// Ranks shared keys, given the fingerprint and the first row of each.
pub(crate) fn rank(key: &[u8; 32], shared: &[([u8; 32], u32)], ranked: &mut [Ranked]) {
    let fingerprints = shared.iter().map(|(fingerprint, _)| words(fingerprint));
    let fingerprints: Vec<[u64; 4]> = fingerprints.collect();
    let mut ranks = vec![[0; 2]; shared.len()];
    blake3_rows::keyed_hash(key, &fingerprints, &mut ranks);
    for ((ranked, rank), (_, row)) in ranked.iter_mut().zip(ranks).zip(shared) {
        *ranked = Ranked { rank, row: *row };
    }
}

fn words(fingerprint: &[u8; 32]) -> [u64; 4] {
    let (words, _) = fingerprint.as_chunks();
    std::array::from_fn(|word| u64::from_le_bytes(words[word]))
}

/// Returns the position of each row among the ranks, in the order of rows.
fn positions(mut ranked: Vec<Ranked>) -> Vec<u32> {
    parallel::sort_unstable(&mut ranked);
    let mut placed: Vec<(u32, u32)> = ranked.iter().map(|shared| shared.row).zip(0..).collect();
    drop(ranked);
    parallel::sort_unstable(&mut placed);
    placed.into_iter().map(|(_, position)| position).collect()
}

/// Checks that rows can be written one per key, given how many repeat one, and the first of these.
pub(crate) fn check_repeated(
    repeated: RepeatedKeys,
    rows: u64,
    first: impl FnOnce() -> Result<u32, Error>,
) -> Result<(), Error> {
    match repeated {
        RepeatedKeys::List(_) => Err(Error::Write(WriteError::AlignedList)),
        RepeatedKeys::Refuse if rows > 0 => Err(Error::Write(WriteError::RepeatedAligned {
            rows,
            first: u64::from(first()?) + 1,
        })),
        RepeatedKeys::Refuse | RepeatedKeys::First => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::share::PayloadOfRow;

    proptest! {
        /// Ranks are those of the library, and rows are where their ranks put them.
        #[test]
        fn rows_are_in_the_order_of_keyed_hashes(
            key: [u8; 32],
            fingerprints in prop::collection::btree_map(0..100_u32, any::<[u8; 32]>(), 0..40),
        ) {
            let shared: Vec<(u32, [u8; 32])> = fingerprints.into_iter().rev().collect();
            let of = |at: usize| (shared[at].1, shared[at].0);
            let rows: Vec<u32> = shared.iter().map(|(row, _)| *row).collect();
            let payload_of = PayloadOfRow::of(100, rows);
            let rows = PartnerRows::new(payload_of, shared.len(), &[]);
            let rows = AlignedRows::new(rows, ranked(&key, shared.len(), &of));
            let rank = |fingerprint: &[u8; 32]| {
                let hash = blake3::keyed_hash(&key, fingerprint);
                let (words, _) = hash.as_bytes().as_chunks();
                [words[0], words[1]].map(u64::from_le_bytes)
            };
            let mut expected: Vec<_> = shared.iter().map(|(row, key)| (rank(key), *row)).collect();
            expected.sort_unstable();
            let mut in_table: Vec<u32> = shared.iter().map(|(row, _)| *row).collect();
            in_table.sort_unstable();
            let mut written = vec![0; shared.len()];
            for (row, position) in in_table.into_iter().zip(&rows.positions) {
                written[*position as usize] = row;
            }
            let expected: Vec<u32> = expected.into_iter().map(|(_, row)| row).collect();
            prop_assert_eq!(written, expected);
            prop_assert_eq!(rows.count(), rows.rows.count());
        }
    }
}
