use ring::aead::Tag;

use super::{
    Error,
    file::SpillFile,
    seal::{Binding, Key},
};

/// The most bytes of a chunk.
pub(super) const MOST_BYTES: usize = 256 << 10;

/// Consecutive records of a partition.
pub(super) enum Chunk {
    InMemory(Vec<u8>),
    OnDisk(Sealed),
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
