//! A stretch of a file, to be read as if it were a file of its own.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
};

use parquet::{
    errors::{ParquetError, Result},
    file::reader::{ChunkReader, Length},
};

/// See the [module](self). It keeps its own position, so that several may read one file in turn.
#[derive(Debug)]
pub(crate) struct Section {
    file: File,
    start: u64,
    bytes: u64,
    position: u64,
}

impl Section {
    /// The `bytes` of a file from `start` on.
    pub(crate) fn new(file: File, start: u64, bytes: u64) -> Self {
        Self {
            file,
            start,
            bytes,
            position: 0,
        }
    }

    /// How many bytes lie before what is read next.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    fn at(&self, position: u64) -> io::Result<Self> {
        Ok(Self {
            file: self.file.try_clone()?,
            position,
            ..*self
        })
    }
}

impl Read for Section {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.bytes.saturating_sub(self.position);
        let length = buffer.len().min(left.try_into().unwrap_or(usize::MAX));
        if length == 0 {
            return Ok(0);
        }
        let place = self.start.saturating_add(self.position);
        self.file.seek(SeekFrom::Start(place))?;
        let read = self.file.read(&mut buffer[..length])?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for Section {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(from) => self.bytes.checked_add_signed(from),
            SeekFrom::Current(from) => self.position.checked_add_signed(from),
        };
        self.position = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl Length for Section {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Section {
    type T = BufReader<Self>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(self.at(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes> {
        let is_within = start.saturating_add(length as u64) <= self.bytes;
        let mut buffer = Vec::new();
        if is_within {
            buffer.reserve_exact(length);
            let section = self.at(start)?;
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
        Section::new(file, 7, 6)
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
