use psijoin_files::spill::{Error, Store};

/// The number of bytes that wait in all partitions together, about: 16 KiB in each of 256.
const WAITING: usize = 4 << 20;

/// Records on their way to the partitions of a store, which gets many at a time.
pub(super) struct Appended<'a> {
    store: &'a Store,
    waiting: Vec<Vec<u8>>,
    /// The number of bytes of a partition that are appended at once, about.
    at_once: usize,
}

impl<'a> Appended<'a> {
    pub(super) fn to(store: &'a Store) -> Self {
        Self {
            store,
            waiting: vec![Vec::new(); store.partitions()],
            at_once: WAITING / store.partitions().max(1),
        }
    }

    /// Adds a record that is made of these fields, and of zeros for the rest.
    pub(super) fn record(&mut self, partition: usize, fields: &[&[u8]]) -> Result<(), Error> {
        let records = &mut self.waiting[partition];
        let end = records.len() + self.store.record_bytes();
        fields
            .iter()
            .for_each(|field| records.extend_from_slice(field));
        records.resize(end, 0);
        if records.len() >= self.at_once {
            self.store.append(partition, records)?;
            records.clear();
        }
        Ok(())
    }

    /// Appends what is left.
    pub(super) fn finish(self) -> Result<(), Error> {
        let mut waiting = self.waiting.iter().enumerate();
        waiting.try_for_each(|(partition, records)| self.store.append(partition, records).map(drop))
    }
}
