use ring::aead::Tag;

use crate::{
    Error,
    file::SpillFile,
    seal::{Binding, Key},
};

/// The most bytes of a chunk.
pub(crate) const MOST_BYTES: usize = 256 << 10;

/// Consecutive bytes of a partition.
pub(crate) enum Chunk {
    InMemory(Vec<u8>),
    OnDisk(Sealed),
}

/// Where a chunk lies on disk, and what it must be.
pub(crate) struct Sealed {
    place: u64,
    bytes: usize,
    binding: Binding,
    tag: Tag,
}

impl Sealed {
    /// Seals a chunk in place, for a place at the end of the file. It is yet to be written there.
    pub(crate) fn new(chunk: &mut [u8], binding: Binding, key: &Key, file: &SpillFile) -> Self {
        Self {
            place: file.place(chunk.len()),
            bytes: chunk.len(),
            tag: key.seal(chunk, &binding),
            binding,
        }
    }

    pub(crate) fn place(&self) -> u64 {
        self.place
    }

    /// Appends what the chunk holds.
    pub(crate) fn read_to(
        &self,
        bytes: &mut Vec<u8>,
        key: &Key,
        file: &SpillFile,
    ) -> Result<(), Error> {
        let start = bytes.len();
        bytes.resize(start + self.bytes, 0);
        let chunk = &mut bytes[start..];
        file.read(chunk, self.place)?;
        let opened = key.open(chunk, &self.binding, self.tag);
        opened.map_err(|_| file.damaged())
    }
}
