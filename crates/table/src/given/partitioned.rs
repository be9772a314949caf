use psijoin_spill::{Budget, Folder, Store};

use super::{GivenRows, PayloadLayout, appended::Appended};
use crate::{Error, KeyPartitions, Progress, Source};

/// Bytes of an item's number.
const ITEM: usize = size_of::<u32>();

/// The payloads of the items of [`KeyPartitions`], by the same partitions. They spill as the keys do.
pub struct PartitionedPayloads {
    layout: PayloadLayout,
    /// A record is a row: which item of the partition it belongs to, and its slot.
    rows: Store,
    /// How many items are in the partitions before each, and in all of them.
    starts: Vec<u32>,
}

impl GivenRows<'_> {
    /// As [`payloads`](Self::payloads), by the partitions of `keys`, whose rows these are. What is beyond the budget goes
    /// to a temporary file in the folder.
    ///
    /// # Errors
    /// As that, and if what is beyond the budget cannot be written.
    ///
    /// # Panics
    /// If more rows of a key may be given than the layout has room for.
    pub fn partitioned(
        &self,
        source: &Source,
        layout: &PayloadLayout,
        keys: &KeyPartitions,
        (budget, folder): (&Budget, &Folder),
        progress: &Progress,
    ) -> Result<PartitionedPayloads, Error> {
        self.check_room(layout);
        let record_bytes = ITEM + layout.row_bytes();
        let rows = Store::new(keys.partitions(), record_bytes, budget, folder);
        let starts = starts(keys);
        let mut appended = Appended::to(&rows);
        let columns = layout.columns();
        self.each_row(
            source,
            columns,
            layout.row_bytes(),
            progress,
            &mut |item, row| {
                let partition = starts.partition_point(|start| *start <= item) - 1;
                let item = item - starts[partition];
                Ok(appended.record(partition, &[&item.to_le_bytes(), row])?)
            },
        )?;
        appended.finish()?;
        Ok(PartitionedPayloads {
            layout: layout.clone(),
            rows,
            starts,
        })
    }
}

impl PartitionedPayloads {
    /// The payloads of a partition's items, one after the other.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn payloads(&self, partition: usize) -> Result<Vec<u8>, Error> {
        Ok(self.payloads_of(partition, &self.rows.read(partition)?))
    }

    /// As [`payloads`](Self::payloads). The partition takes no memory from then on, and its rows are gone.
    ///
    /// # Errors
    /// As that.
    ///
    /// # Panics
    /// As that.
    pub fn take_payloads(&self, partition: usize) -> Result<Vec<u8>, Error> {
        Ok(self.payloads_of(partition, &self.rows.take(partition)?))
    }

    fn payloads_of(&self, partition: usize, rows: &[u8]) -> Vec<u8> {
        let items = (self.starts[partition + 1] - self.starts[partition]) as usize;
        let length = self.layout.payload_bytes();
        let mut payloads = vec![0; items * length];
        // Rows of one item are in the table's order, as all rows of a partition are.
        for record in rows.chunks_exact(self.rows.record_bytes()) {
            let (item, slot) = record.split_first_chunk().expect("a record");
            let item = u32::from_le_bytes(*item) as usize;
            self.layout
                .put(&mut payloads[item * length..][..length], slot);
        }
        payloads
    }

    /// How many bytes lie on disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.rows.spilled_bytes()
    }
}

fn starts(keys: &KeyPartitions) -> Vec<u32> {
    let mut starts = vec![0];
    for partition in 0..keys.partitions() {
        starts.push(starts[partition] + keys.items_in(partition) as u32);
    }
    starts
}
