//! Payloads by ranges of rows, as a session that does not fit into memory keeps them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use psijoin_table::share::PayloadRanges;

/// Payloads of rows.
#[derive(Clone)]
pub(crate) struct InRanges {
    range_rows: u32,
    payloads: BTreeMap<u32, Vec<u8>>,
    /// The number of times that one was read.
    pub(crate) reads: Arc<AtomicUsize>,
}

impl InRanges {
    pub(crate) fn new(range_rows: u32, payloads: impl IntoIterator<Item = (u32, Vec<u8>)>) -> Self {
        Self {
            range_rows,
            payloads: payloads.into_iter().collect(),
            reads: Arc::default(),
        }
    }

    /// Returns the rows as bits.
    pub(crate) fn bits(&self, rows: u64) -> Vec<u64> {
        let mut words = vec![0; rows.div_ceil(64) as usize];
        for row in self.payloads.keys() {
            words[*row as usize / 64] |= 1 << (row % 64);
        }
        words
    }
}

impl PayloadRanges for InRanges {
    fn range_rows(&self) -> u32 {
        self.range_rows
    }

    fn read(&self, range: usize) -> Result<(Vec<u32>, Vec<u8>), psijoin_files::spill::Error> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let start = range as u32 * self.range_rows;
        let rows = self.payloads.range(start..start + self.range_rows);
        let (rows, payloads): (Vec<u32>, Vec<&[u8]>) =
            rows.map(|(row, bytes)| (*row, &bytes[..])).unzip();
        Ok((rows, payloads.concat()))
    }
}
