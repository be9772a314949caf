//! Rows that are records of a text.

use std::iter;

use super::{Buckets, Order, Parted};
use psijoin_source::Progress;

use crate::{
    Error,
    write::{fields::Records, output::Output},
};

/// Records are parted when there are about this many bytes of them.
const PART_BYTES: usize = 1 << 20;

/// Records that follow each other in the table.
#[derive(Default)]
pub(in crate::write) struct InTable {
    pub(in crate::write) bytes: Vec<u8>,
    /// The end of each.
    pub(in crate::write) ends: Vec<usize>,
}

impl InTable {
    /// Adds a record, given in pieces.
    pub(in crate::write) fn push(&mut self, record: &[&[u8]]) {
        for piece in record {
            self.bytes.extend_from_slice(piece);
        }
        self.ends.push(self.bytes.len());
    }

    /// Adds bytes to the last record.
    pub(in crate::write) fn extend_last(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if let Some(end) = self.ends.last_mut() {
            *end = self.bytes.len();
        }
    }

    fn record(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[number]]
    }
}

impl Buckets<'_> {
    /// Parts the records of the rows from this one on.
    pub(in crate::write) fn part_records(
        &self,
        first: usize,
        records: &InTable,
    ) -> Result<Parted, Error> {
        let positions = self.positions(first..first + records.ends.len())?;
        self.part(positions, |rows, bytes| {
            for &(position, number) in rows {
                let record = records.record(number);
                bytes.extend_from_slice(&position.to_le_bytes());
                bytes.extend_from_slice(&(record.len() as u64).to_le_bytes());
                bytes.extend_from_slice(record);
            }
            Ok(())
        })
    }

    /// Writes all records.
    pub(in crate::write) fn write_records(
        &self,
        output: &mut Output<'_>,
        progress: &Progress,
    ) -> Result<(), Error> {
        for bytes in self.take_each(progress) {
            let bytes = bytes?;
            let mut records: Vec<(u32, &[u8])> = parse(&bytes).collect();
            records.sort_unstable_by_key(|(position, _)| *position);
            for (_, record) in records {
                output.put(record)?;
            }
        }
        Ok(())
    }
}

/// Records as they are in a bucket, each with its position.
fn parse(mut bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    iter::from_fn(move || {
        let (position, rest) = bytes.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (record, rest) = rest.split_at(u64::from_le_bytes(*length) as usize);
        bytes = rest;
        Some((u32::from_le_bytes(*position), record))
    })
}

/// Records that come one after the other, as they are in the table.
pub(in crate::write) struct AlignedRecords<'a, 'b> {
    buckets: Buckets<'a>,
    /// Those that are in no bucket yet, and how many are.
    waiting: InTable,
    parted: usize,
    output: &'a mut Output<'b>,
    progress: &'a Progress,
}

impl<'a, 'b> AlignedRecords<'a, 'b> {
    pub(in crate::write) fn new(
        order: &Order<'a>,
        output: &'a mut Output<'b>,
        progress: &'a Progress,
    ) -> Self {
        Self {
            buckets: Buckets::new(order),
            waiting: InTable::default(),
            parted: 0,
            output,
            progress,
        }
    }

    fn part(&mut self) -> Result<(), Error> {
        let parted = self.buckets.part_records(self.parted, &self.waiting)?;
        self.parted += self.waiting.ends.len();
        self.waiting = InTable::default();
        self.buckets.append(&parted)
    }
}

impl Records for AlignedRecords<'_, '_> {
    fn output(&self) -> &str {
        self.output.name
    }

    fn header(&mut self, header: &[u8]) -> Result<(), Error> {
        self.output.put(header)
    }

    fn record(&mut self, record: &[u8]) -> Result<(), Error> {
        self.waiting.push(&[record]);
        match self.waiting.bytes.len() < PART_BYTES {
            true => Ok(()),
            false => self.part(),
        }
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.part()?;
        self.buckets.write_records(self.output, self.progress)
    }
}
