//! A section of a file, to be read as if it were a file of its own.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    sync::Arc,
};

use parquet::{
    errors::{ParquetError, Result},
    file::reader::{ChunkReader, Length},
};
use psijoin_files::positioned;

/// See the [module](self). It keeps its own position, so that several may read one file at once.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    bytes: Bytes,
    start: u64,
    length: u64,
    position: u64,
}

/// The place of the bytes. Clones are of the same.
#[derive(Debug, Clone)]
enum Bytes {
    File(Arc<File>),
    Memory(Arc<[u8]>),
}

impl Section {
    /// Returns the `length` bytes of a file from `start` on.
    pub(crate) fn new(file: Arc<File>, start: u64, length: u64) -> Self {
        Self {
            bytes: Bytes::File(file),
            start,
            length,
            position: 0,
        }
    }

    /// Returns what is in memory, as if it were a file.
    pub(crate) fn of_memory(bytes: Arc<[u8]>) -> Self {
        Self {
            start: 0,
            length: bytes.len() as u64,
            bytes: Bytes::Memory(bytes),
            position: 0,
        }
    }

    /// Returns how many bytes lie before what is read next.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Returns the section, to be read from this position on.
    pub(crate) fn at(&self, position: u64) -> Self {
        Self {
            position,
            ..self.clone()
        }
    }
}

impl Bytes {
    fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => positioned::read_at(file, buffer, place),
            Self::Memory(bytes) => {
                let place = usize::try_from(place).unwrap_or(usize::MAX);
                bytes.get(place..).unwrap_or_default().read(buffer)
            }
        }
    }
}

impl Read for Section {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.length.saturating_sub(self.position);
        let length = buffer.len().min(left.try_into().unwrap_or(usize::MAX));
        if length == 0 {
            return Ok(0);
        }
        let place = self.start.saturating_add(self.position);
        let read = self.bytes.read_at(&mut buffer[..length], place)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for Section {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(from) => self.length.checked_add_signed(from),
            SeekFrom::Current(from) => self.position.checked_add_signed(from),
        };
        self.position = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl Length for Section {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Section {
    type T = BufReader<Self>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(self.at(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes> {
        let is_within = start.saturating_add(length as u64) <= self.length;
        let mut buffer = Vec::new();
        if is_within {
            buffer.reserve_exact(length);
            let section = self.at(start);
            section.take(length as u64).read_to_end(&mut buffer)?;
        }
        match is_within && buffer.len() == length {
            true => Ok(buffer.into()),
            false => Err(ParquetError::EOF("behind the end of the file".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn section() -> Section {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"before-within-behind").unwrap();
        Section::new(Arc::new(file), 7, 6)
    }

    fn rest(section: &mut impl Read) -> String {
        let mut text = String::new();
        section.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn nothing_outside_is_read() {
        let mut section = section();
        assert_eq!(rest(&mut section), "within");
        assert_eq!(section.position(), 6);
        assert_eq!(section.seek(SeekFrom::End(-2)).unwrap(), 4);
        assert_eq!(rest(&mut section), "in");
        for behind in [9, u64::MAX] {
            assert_eq!(section.seek(SeekFrom::Start(behind)).unwrap(), behind);
            assert_eq!(rest(&mut section), "");
        }
        section.rewind().unwrap();
        assert!(section.seek(SeekFrom::Current(-10)).is_err());
    }

    #[test]
    fn memory_is_read_as_a_file_is() {
        let mut section = Section::of_memory((*b"within").into());
        assert_eq!(section.seek(SeekFrom::End(-2)).unwrap(), 4);
        assert_eq!(rest(&mut section), "in");
        assert_eq!(rest(&mut section.at(1)), "ithin");
        assert_eq!(rest(&mut section.at(9)), "");
    }

    #[test]
    fn chunks_do_not_move_it() {
        let mut section = section();
        assert_eq!(&*section.get_bytes(1, 3).unwrap(), b"ith");
        assert_eq!(rest(&mut section.get_read(2).unwrap()), "thin");
        assert!(section.get_bytes(4, 3).is_err());
        assert!(section.get_bytes(u64::MAX, 3).is_err());
        assert_eq!(Length::len(&section), 6);
        assert_eq!(rest(&mut section), "within");
    }
}
