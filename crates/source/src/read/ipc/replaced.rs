//! A section some of whose bytes are read as others.

use std::io::{self, Read, Seek, SeekFrom};

use crate::source::section::Section;

/// See the [module](self).
pub(super) struct Replaced {
    pub(super) section: Section,
    /// The places of other bytes, and their values.
    pub(super) bytes: Vec<(u64, u8)>,
}

impl Read for Replaced {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let start = self.section.position();
        let read = self.section.read(buffer)?;
        for &(place, byte) in &self.bytes {
            let place = place.checked_sub(start).map(|place| place as usize);
            if let Some(read) = place.and_then(|place| buffer[..read].get_mut(place)) {
                *read = byte;
            }
        }
        Ok(read)
    }
}

impl Seek for Replaced {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.section.seek(to)
    }
}
