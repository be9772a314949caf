//! Facts as bytes, and back.

/// Bytes that are read from their beginning.
pub(super) struct Unread<'a>(pub(super) &'a [u8]);

impl<'a> Unread<'a> {
    pub(super) fn chunk<const BYTES: usize>(&mut self) -> Option<[u8; BYTES]> {
        let (chunk, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*chunk)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.chunk().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.chunk().map(u64::from_le_bytes)
    }

    /// Returns what stands behind its length.
    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    /// Returns as many as a number before them tells.
    pub(super) fn several<T>(&mut self, one: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.u32()?;
        (0..count).map(|_| one(self)).collect()
    }

    /// Reads by a function that returns the rest, too.
    pub(super) fn by<T>(
        &mut self,
        read: impl FnOnce(&'a [u8]) -> Option<(T, &'a [u8])>,
    ) -> Option<T> {
        let (value, rest) = read(self.0)?;
        self.0 = rest;
        Some(value)
    }
}

/// Writes a text, after its length.
pub(super) fn write_text(bytes: &mut Vec<u8>, text: &str) {
    write_bytes(bytes, text.as_bytes());
}

/// Writes bytes, after their length.
pub(super) fn write_bytes(bytes: &mut Vec<u8>, more: &[u8]) {
    bytes.extend((more.len() as u32).to_le_bytes());
    bytes.extend(more);
}
