//! A view of a table's keys for its owner: offline, before the other party is met.

use std::{cmp::Reverse, collections::HashMap};

use psijoin_key::KeySpec;

use crate::{
    Error, InspectedColumn, KeyTable, Progress, Source,
    table::{self, Kept, Wanted},
};

/// A table's keys, and how they came about. It holds values of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// The keys that a protocol gets from the table.
    pub keys: KeyTable,
    /// The columns of the key, in its order.
    pub columns: Vec<InspectedColumn>,
    /// The canonical fields of the first distinct keys, in the order of their rows.
    pub first: Vec<Vec<String>>,
    /// Those of the keys that most rows have, two at least, and how many rows have each; the most
    /// frequent is the first.
    pub frequent: Vec<(Vec<String>, u64)>,
}

impl Inspection {
    /// Reads the keys of a table, and keeps the first `most` of them as they are compared, and as
    /// many of the most frequent. For these it reads the table twice, if rows repeat keys.
    ///
    /// Cells that have no canonical text count as null, whatever the key's rule for them: see
    /// [`BadCellsOfKey::check`](crate::BadCellsOfKey::check).
    ///
    /// # Errors
    /// As [`KeyTable::read`].
    pub fn read(
        source: &Source,
        key: &KeySpec,
        most: usize,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let read = |kept| {
            let wanted = Wanted {
                inspected: Some(kept),
                ..Wanted::in_memory(key, &[])
            };
            table::read(source, &wanted, progress)
        };
        let (collected, findings) = read(Kept::First(most))?;
        let keys = collected.into_table()?;
        let counts = most_frequent(&keys, most);
        let mut frequent = Vec::new();
        if !counts.is_empty() {
            let (_, found) = read(Kept::Known(counts.keys().copied().collect()))?;
            let counted = found
                .kept
                .into_iter()
                .map(|(key, fields)| (fields, counts[&key]));
            frequent.extend(counted);
            // Of keys that as many rows have, the one whose first row comes first stays the first.
            frequent.sort_by_key(|(_, rows)| Reverse(*rows));
        }
        Ok(Self {
            keys,
            columns: findings.columns,
            first: findings
                .kept
                .into_iter()
                .map(|(_, fields)| fields)
                .collect(),
            frequent,
        })
    }
}

/// Returns the fingerprints of the keys that most rows have, two at least, and how many rows have
/// each.
fn most_frequent(keys: &KeyTable, most: usize) -> HashMap<[u8; 32], u64> {
    let repeated = keys.rows.repeated();
    let repeated = repeated.chunk_by(|(_, a), (_, b)| a == b);
    let mut counts: Vec<(u64, u32)> = repeated
        .map(|rows| (1 + rows.len() as u64, rows[0].1))
        .collect();
    let first_row = |item: u32| keys.rows.first_rows()[item as usize];
    counts.sort_by_key(|&(rows, item)| (Reverse(rows), first_row(item)));
    let fingerprint = |item: u32| keys.fingerprints[item as usize];
    (counts.into_iter().take(most))
        .map(|(rows, item)| (fingerprint(item), rows))
        .collect()
}
