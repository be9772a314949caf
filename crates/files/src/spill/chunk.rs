use std::ops::Deref;

use psijoin_runtime::memory::{SLOT_BYTES, Slot, SlotPool};
use ring::aead::Tag;

use super::{
    Error,
    file::SpillFile,
    seal::{Binding, Key},
};

/// The most bytes of a chunk.
pub(super) const MOST_BYTES: usize = SLOT_BYTES;

/// Consecutive records of a partition.
pub(super) enum Chunk {
    InMemory(Records),
    OnDisk(Sealed),
}

/// Records in memory.
pub(super) enum Records {
    /// While they are few.
    Few(Vec<u8>),
    /// Once they may fill up a chunk: that many bytes of a slot. So the memory of a table that is
    /// not needed any more is there for a protocol's buffers.
    Many(Slot, usize),
}

impl Records {
    /// Returns how many bytes of memory they take.
    pub(super) fn capacity(&self) -> usize {
        match self {
            Self::Few(records) => records.capacity(),
            Self::Many(slot, _) => slot.len(),
        }
    }

    /// Makes room for this many bytes in all, with those that are there.
    pub(super) fn reserve(&mut self, bytes: usize, slots: &SlotPool) {
        match self {
            Self::Few(records) if bytes <= MOST_BYTES / 2 => {
                records.reserve_exact(bytes - records.len());
            }
            Self::Few(records) => {
                let mut slot = slots.take();
                slot[..records.len()].copy_from_slice(records);
                *self = Self::Many(slot, records.len());
            }
            Self::Many(..) => {}
        }
    }

    /// Appends records, for which there is room.
    ///
    /// # Panics
    /// If they are more than a chunk has.
    pub(super) fn append(&mut self, more: &[u8]) {
        match self {
            Self::Few(records) => records.extend_from_slice(more),
            Self::Many(slot, used) => {
                slot[*used..][..more.len()].copy_from_slice(more);
                *used += more.len();
            }
        }
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Few(records) => records,
            Self::Many(slot, used) => &mut slot[..*used],
        }
    }
}

impl Default for Records {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Deref for Records {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Few(records) => records,
            Self::Many(slot, used) => &slot[..*used],
        }
    }
}

/// The place of a chunk on disk, and its expected content.
pub(super) struct Sealed {
    place: u64,
    bytes: usize,
    binding: Binding,
    tag: Tag,
}

impl Sealed {
    /// Seals a chunk in place, for a place at the end of the file. It is yet to be written there.
    pub(super) fn new(chunk: &mut [u8], binding: Binding, key: &Key, file: &SpillFile) -> Self {
        Self {
            place: file.place(chunk.len()),
            bytes: chunk.len(),
            tag: key.seal(chunk, &binding),
            binding,
        }
    }

    pub(super) fn place(&self) -> u64 {
        self.place
    }

    /// Reads what the chunk holds into a buffer.
    pub(super) fn read<'a>(
        &self,
        buffer: &'a mut Vec<u8>,
        key: &Key,
        file: &SpillFile,
    ) -> Result<&'a [u8], Error> {
        buffer.resize(self.bytes, 0);
        file.read(buffer, self.place)?;
        let opened = key.open(buffer, &self.binding, self.tag);
        opened.map_err(|_| file.damaged())?;
        Ok(buffer)
    }
}
