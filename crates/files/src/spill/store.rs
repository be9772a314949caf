use std::{
    fmt,
    mem::take,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use psijoin_runtime::memory::SlotPool;

use super::{
    Budget, Error, Spill,
    chunk::{Chunk, MOST_BYTES, Records, Sealed},
    file::SpillFile,
    seal::{Binding, Key},
};

/// Partitions of records of one length. Any thread may append to any partition and read any, at any
/// time.
pub struct Store(Arc<Partitions>);

impl Store {
    /// Returns an empty store of this many partitions. Records beyond the budget go to a temporary
    /// file in the folder.
    ///
    /// # Panics
    /// If records have no bytes or more than 256 KiB, or the operating system gives no randomness.
    pub fn new(partitions: usize, record_bytes: usize, spill: &Spill) -> Self {
        let file = SpillFile::new(&spill.folder);
        Self::over(partitions, record_bytes, &spill.budget, file)
    }

    fn over(partitions: usize, record_bytes: usize, budget: &Budget, file: SpillFile) -> Self {
        assert!(
            (1..=MOST_BYTES).contains(&record_bytes),
            "records have bytes, and fit into a chunk"
        );
        let mut all = Vec::new();
        all.resize_with(partitions, Partition::default);
        let partitions = Arc::new(Partitions {
            partitions: all,
            record_bytes,
            key: Key::draw(),
            chunks: AtomicU64::new(0),
            file,
            budget: budget.clone(),
        });
        budget.share_with(&partitions);
        Self(partitions)
    }

    /// Returns how many bytes lie on disk at most, once this many were appended to a store that has
    /// a budget of `limit` bytes to itself, if its partitions fill up alike.
    ///
    /// When the budget is exceeded, the largest of n partitions is spilled. After a while they hold
    /// from nothing to 2/(n+1) of the budget, so (n-1)/(n+1) of it stays at least. Of that, what is
    /// reserved for records to come is half at most, and half a chunk per partition.
    pub fn most_spilled(partitions: usize, bytes: u64, limit: u64) -> u64 {
        let n = partitions as u64;
        let stays =
            (u128::from(limit) * u128::from(n.saturating_sub(1)) / u128::from(n + 1)) as u64;
        let reserved = (stays / 2).min(n * MOST_BYTES as u64 / 2);
        bytes.saturating_sub(stays - reserved)
    }

    /// Returns the number of partitions.
    pub fn partitions(&self) -> usize {
        self.0.partitions.len()
    }

    /// Returns the number of bytes of a record.
    pub fn record_bytes(&self) -> usize {
        self.0.record_bytes
    }

    /// Returns how many records a partition has.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn records(&self, partition: usize) -> u64 {
        let content = self.0.partitions[partition].content.lock();
        content.expect("no panic").bytes / self.0.record_bytes as u64
    }

    /// Appends records, one after the other, to a partition. They stay together, whatever other
    /// threads append. Returns how many records were there before them.
    ///
    /// # Errors
    /// If records beyond the budget cannot be written. They are lost: reading their partition is an
    /// error from then on.
    ///
    /// # Panics
    /// If there is no such partition, or `records` ends within a record.
    pub fn append(&self, partition: usize, records: &[u8]) -> Result<u64, Error> {
        assert!(
            records.len().is_multiple_of(self.0.record_bytes),
            "whole records"
        );
        let bytes_before = self.0.append(partition, records);
        self.0.budget.keep()?;
        Ok(bytes_before / self.0.record_bytes as u64)
    }

    /// Calls `work` with all records of a partition in the order in which they were appended: some
    /// of them at a time, 256 KiB at most.
    ///
    /// # Errors
    /// If they cannot be read, or the disk does not hold what was written. `work` has seen those
    /// before then.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn visit(&self, partition: usize, work: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
        self.0.visit(partition, work)
    }

    /// Returns all records of a partition in the order in which they were appended. They are the
    /// caller's, and not part of the budget.
    ///
    /// # Errors
    /// If they cannot be read, or the disk does not hold what was written.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn read(&self, partition: usize) -> Result<Vec<u8>, Error> {
        let bytes = self.records(partition) as usize * self.record_bytes();
        let mut records = Vec::with_capacity(bytes);
        self.visit(partition, &mut |some| records.extend_from_slice(some))?;
        Ok(records)
    }

    /// As [`read`](Self::read). The partition is empty then, and takes no memory any more; what it
    /// takes on disk is not used again.
    ///
    /// # Errors
    /// As [`read`](Self::read). The partition stays then.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn take(&self, partition: usize) -> Result<Vec<u8>, Error> {
        let records = self.read(partition)?;
        self.0.clear(partition);
        Ok(records)
    }

    /// Returns how many bytes lie on disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.0.file.bytes()
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (partitions, spilled) = (self.partitions(), self.spilled_bytes());
        write!(f, "Store({partitions} partitions, {spilled} bytes on disk)")
    }
}

/// The contents of a store, as its budget knows it.
pub(super) struct Partitions {
    partitions: Vec<Partition>,
    record_bytes: usize,
    key: Key,
    /// The number of sealed chunks.
    chunks: AtomicU64,
    file: SpillFile,
    budget: Budget,
}

#[derive(Default)]
struct Partition {
    content: Mutex<Content>,
    /// The bytes of memory that it holds; nothing while a thread is about to spill them.
    held: AtomicUsize,
}

#[derive(Default)]
struct Content {
    /// All but the last chunk.
    chunks: Vec<Chunk>,
    /// The last chunk, which is being filled.
    open: Records,
    /// Of all chunks.
    bytes: u64,
}

impl Partitions {
    /// Appends records, and returns how many bytes were there before them.
    fn append(&self, partition: usize, records: &[u8]) -> u64 {
        let Partition { content, held } = &self.partitions[partition];
        let mut content = content.lock().expect("no panic");
        // Memory that is not needed yet must not be what exceeds the budget.
        let wanted = self.budget.used() + (records.len() + MOST_BYTES) as u64;
        let has_room = wanted < self.budget.limit() / 2;
        let before = content.bytes;
        let memory = Memory {
            chunk_bytes: MOST_BYTES - MOST_BYTES % self.record_bytes,
            has_room,
            slots: self.budget.slots(),
        };
        let grown = content.append(records, &memory);
        held.fetch_add(grown, Ordering::Relaxed);
        self.budget.take(grown);
        before
    }

    fn visit(&self, partition: usize, work: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
        let content = self.partitions[partition].content.lock();
        let content = content.expect("no panic");
        let mut opened = Vec::new();
        for chunk in &content.chunks {
            match chunk {
                Chunk::InMemory(chunk) => work(chunk),
                Chunk::OnDisk(chunk) => work(chunk.read(&mut opened, &self.key, &self.file)?),
            }
        }
        work(&content.open);
        Ok(())
    }

    fn clear(&self, partition: usize) {
        let Partition { content, held } = &self.partitions[partition];
        let content = take(&mut *content.lock().expect("no panic"));
        held.store(0, Ordering::Relaxed);
        self.budget.give_back(content.held());
    }

    /// Returns the partition that holds most, and how much that is; `None` if none holds anything,
    /// or all are claimed.
    pub(super) fn largest(&self) -> Option<(usize, usize)> {
        let held = |partition: &Partition| partition.held.load(Ordering::Relaxed);
        let (held, partition) = self.partitions.iter().map(held).zip(0..).max()?;
        (held > 0).then_some((held, partition))
    }

    /// Keeps other threads from spilling a partition that the caller is about to spill.
    pub(super) fn claim(&self, partition: usize) {
        self.partitions[partition].held.store(0, Ordering::Relaxed);
    }

    /// Writes the full chunks of a partition to disk, or the one that is being filled if none is
    /// full.
    pub(super) fn spill(&self, partition: usize) -> Result<(), Error> {
        let Partition { content, held } = &self.partitions[partition];
        let mut content = content.lock().expect("no panic");
        let spilled = self.spill_content(partition, &mut content);
        held.store(content.held(), Ordering::Relaxed);
        spilled
    }

    fn spill_content(&self, partition: usize, content: &mut Content) -> Result<(), Error> {
        if content.full().next().is_none() && !content.open.is_empty() {
            let open = take(&mut content.open);
            content.chunks.push(Chunk::InMemory(open));
        }
        content.full().try_for_each(|(place, chunk)| {
            let number = self.chunks.fetch_add(1, Ordering::Relaxed);
            let binding = Binding {
                number,
                partition,
                place,
            };
            self.spill_chunk(chunk, binding)
        })
    }

    /// Writes a chunk, which is on record as sealed before. So if that fails, it can never be taken
    /// for complete.
    fn spill_chunk(&self, chunk: &mut Chunk, binding: Binding) -> Result<(), Error> {
        let Chunk::InMemory(bytes) = chunk else {
            return Ok(());
        };
        let mut bytes = take(bytes);
        let sealed = Sealed::new(bytes.bytes_mut(), binding, &self.key, &self.file);
        let place = sealed.place();
        *chunk = Chunk::OnDisk(sealed);
        let written = self.file.write(&bytes, place);
        self.budget.note_spilled(bytes.len());
        self.budget.give_back(bytes.capacity());
        written
    }
}

/// Returns what it held to the budget.
impl Drop for Partitions {
    fn drop(&mut self) {
        for partition in &mut self.partitions {
            if let Ok(content) = partition.content.get_mut() {
                self.budget.give_back(content.held());
            }
        }
    }
}

/// The memory of chunks.
struct Memory<'a> {
    /// The bytes of each chunk but the last one.
    chunk_bytes: usize,
    /// `true` if memory may be reserved that is not needed yet.
    has_room: bool,
    slots: &'a SlotPool,
}

impl Content {
    /// Appends records, and returns how many bytes of memory that takes.
    fn append(&mut self, mut records: &[u8], memory: &Memory<'_>) -> usize {
        self.bytes += records.len() as u64;
        let mut grown = 0;
        while !records.is_empty() {
            let left = memory.chunk_bytes - self.open.len();
            let (next, later) = records.split_at(records.len().min(left));
            let before = self.open.capacity();
            self.reserve(next.len(), memory);
            grown += self.open.capacity() - before;
            self.open.append(next);
            if self.open.len() == memory.chunk_bytes {
                self.chunks.push(Chunk::InMemory(take(&mut self.open)));
            }
            records = later;
        }
        grown
    }

    /// Makes room for further bytes of the last chunk: twice what there was, and never more than a
    /// chunk has. Behind a full chunk in memory, and if there is room, that is a whole chunk: it
    /// will probably fill up, too, and is not copied as it grows.
    fn reserve(&mut self, further: usize, memory: &Memory<'_>) {
        let (len, capacity) = (self.open.len(), self.open.capacity());
        if capacity - len >= further {
            return;
        }
        let wanted = match self.chunks.last() {
            Some(Chunk::InMemory(_)) if memory.has_room => memory.chunk_bytes,
            _ => (2 * capacity).clamp(len + further, memory.chunk_bytes),
        };
        self.open.reserve(wanted, memory.slots);
    }

    /// Returns the chunks that are in memory, but for the one that is being filled, and their
    /// places.
    fn full(&mut self) -> impl Iterator<Item = (usize, &mut Chunk)> {
        let chunks = self.chunks.iter_mut().enumerate();
        chunks.filter(|(_, chunk)| matches!(chunk, Chunk::InMemory(_)))
    }

    /// Returns how many bytes of memory it holds.
    fn held(&self) -> usize {
        let of_chunk = |chunk: &Chunk| match chunk {
            Chunk::InMemory(bytes) => bytes.capacity(),
            Chunk::OnDisk(_) => 0,
        };
        self.chunks.iter().map(of_chunk).sum::<usize>() + self.open.capacity()
    }
}

#[cfg(test)]
mod tests;
