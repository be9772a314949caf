//! A view of a table's keys for its owner: offline, before the other party is met.

use std::{cmp::Reverse, collections::HashMap};

use psijoin_key::KeySpec;
use psijoin_source::{Progress, Source};

use crate::{Error, InspectedColumn, TableKeys, keys::Kept};

/// A table's keys, and how they came about. It holds values of the table.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inspection {
    /// The keys that a protocol gets from the table.
    pub keys: TableKeys,
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
    /// As [`TableKeys::read`].
    pub fn read(
        source: &Source,
        key: &KeySpec,
        most: usize,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let (keys, findings) = TableKeys::inspect(source, key, Kept::First(most), progress)?;
        let counts = keys.most_frequent(most)?;
        let mut frequent = Vec::new();
        if !counts.is_empty() {
            let counts: HashMap<[u8; 32], u64> = counts.into_iter().collect();
            let known = Kept::Known(counts.keys().copied().collect());
            let (_, found) = TableKeys::inspect(source, key, known, progress)?;
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
