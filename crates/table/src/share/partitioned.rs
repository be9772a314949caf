use std::ops::Range;

use psijoin_files::spill::{Spill, Store};

use super::{GivenRows, PayloadLayout, appended::Appended};
use psijoin_source::{Progress, Source};

use crate::{Error, TableKeys};

/// Bytes of an item's number.
const ITEM: usize = size_of::<u32>();

/// The payloads of a stretch take about this much memory at most...
const STRETCH_BYTES: usize = 1 << 22;
/// ...but there are no more stretches than this, and one for each partition.
const MOST_STRETCHES: usize = 1 << 12;

/// The payloads of the items of [`TableKeys`], by *stretches*: items of one partition that
/// follow each other, few enough that their payloads fit into memory however long these are. They
/// spill as the keys do.
pub struct PartitionedPayloads {
    layout: PayloadLayout,
    /// By stretches. A record is a row: which item of the stretch it belongs to, and its slot.
    rows: Store,
    /// The number of items in the stretches before each, and in all of them.
    starts: Vec<u32>,
    /// The number of stretches in the partitions before each, and in all of them.
    partitions: Vec<usize>,
}

impl GivenRows<'_> {
    /// As [`payloads`](Self::payloads), by stretches of the partitions of `keys`, whose rows these
    /// are. The excess over the budget goes to a temporary file in the folder.
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
        keys: &TableKeys,
        spill: &Spill,
        progress: &Progress,
    ) -> Result<PartitionedPayloads, Error> {
        self.check_room(layout);
        let record_bytes = ITEM + layout.row_bytes();
        let (starts, partitions) = stretches(keys, layout.payload_bytes());
        let rows = Store::new(starts.len() - 1, record_bytes, spill);
        let mut appended = Appended::to(&rows);
        let columns = layout.columns();
        self.each_row(
            source,
            columns,
            layout.row_bytes(),
            progress,
            &mut |item, row| {
                let stretch = starts.partition_point(|start| *start <= item) - 1;
                let item = item - starts[stretch];
                Ok(appended.record(stretch, &[&item.to_le_bytes(), row])?)
            },
        )?;
        appended.finish()?;
        Ok(PartitionedPayloads {
            layout: layout.clone(),
            rows,
            starts,
            partitions,
        })
    }
}

impl PartitionedPayloads {
    /// Returns the stretches of a partition.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn stretches(&self, partition: usize) -> Range<usize> {
        self.partitions[partition]..self.partitions[partition + 1]
    }

    /// Returns the numbers of a stretch's items among those of its partition.
    ///
    /// # Panics
    /// If the partition has no such stretch.
    pub fn items(&self, partition: usize, stretch: usize) -> Range<usize> {
        let before = self.starts[self.partitions[partition]];
        let item = |start: u32| (start - before) as usize;
        item(self.starts[stretch])..item(self.starts[stretch + 1])
    }

    /// Returns the payloads of a stretch's items, one after the other.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// If there is no such stretch.
    pub fn payloads(&self, stretch: usize) -> Result<Vec<u8>, Error> {
        Ok(self.payloads_of(stretch, &self.rows.read(stretch)?))
    }

    /// As [`payloads`](Self::payloads). The stretch takes no memory from then on, and its rows are
    /// gone.
    ///
    /// # Errors
    /// As that.
    ///
    /// # Panics
    /// As that.
    pub fn take_payloads(&self, stretch: usize) -> Result<Vec<u8>, Error> {
        Ok(self.payloads_of(stretch, &self.rows.take(stretch)?))
    }

    fn payloads_of(&self, stretch: usize, rows: &[u8]) -> Vec<u8> {
        let items = (self.starts[stretch + 1] - self.starts[stretch]) as usize;
        let length = self.layout.payload_bytes();
        let mut payloads = vec![0; items * length];
        // Rows of one item are in the table's order, as all rows of a stretch are.
        for record in rows.chunks_exact(self.rows.record_bytes()) {
            let (item, slot) = record.split_first_chunk().expect("a record");
            let item = u32::from_le_bytes(*item) as usize;
            self.layout
                .put(&mut payloads[item * length..][..length], slot);
        }
        payloads
    }

    /// Returns how many bytes lie on disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.rows.spilled_bytes()
    }
}

/// Returns where stretches begin, by items, and where partitions do, by stretches; and where the
/// last one ends.
fn stretches(keys: &TableKeys, payload_bytes: usize) -> (Vec<u32>, Vec<usize>) {
    let all: usize = (0..keys.partitions())
        .map(|partition| keys.items_in(partition))
        .sum();
    let most = (STRETCH_BYTES / payload_bytes)
        .max(all.div_ceil(MOST_STRETCHES))
        .max(1);
    let (mut starts, mut partitions) = (vec![0], vec![0]);
    for partition in 0..keys.partitions() {
        let mut left = keys.items_in(partition);
        // One without items has a stretch, too.
        loop {
            let items = left.min(most);
            starts.push(starts[starts.len() - 1] + items as u32);
            left -= items;
            if left == 0 {
                break;
            }
        }
        partitions.push(starts.len() - 1);
    }
    (starts, partitions)
}
