//! What a table's keys look like, for its owner: offline, before the other party is met.

use crate::{
    Error, InspectedColumn, KeySpec, KeyTable, Progress, Source,
    table::{self, Wanted},
};

/// A table's keys, and how they came about. It holds values of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// What a protocol gets from the table.
    pub keys: KeyTable,
    /// The columns of the key, in its order.
    pub columns: Vec<InspectedColumn>,
    /// The canonical fields of the first distinct keys, in the order of their rows.
    pub first: Vec<Vec<String>>,
}

impl Inspection {
    /// Reads the keys of a table, and keeps the first `most` of them as they are compared.
    ///
    /// # Errors
    /// As [`KeyTable::read`].
    pub fn read(
        source: &Source,
        key: &KeySpec,
        most: usize,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let wanted = Wanted {
            inspected: Some(most),
            ..Wanted::in_memory(key, &[])
        };
        let (collected, findings) = table::read(source, &wanted, progress)?;
        Ok(Self {
            keys: collected.into_table()?,
            columns: findings.columns,
            first: findings.first,
        })
    }
}
