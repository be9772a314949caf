//! A file of sealed records that only grows.
//!
//! A record is
//!
//! ```text
//! 4 bytes     the length of what is sealed, little endian
//! 4 bytes     of a keyed hash of the length and of where the record stands
//! …           what is sealed, for this job and this place in the file
//! ```
//!
//! Each record is on the disk before anybody relies on it. So one that is not whole can only be the
//! last, and nobody relied on it: the file is cut off before it. Where lengths can be told, a
//! record that cannot be opened and is not the last is damage, and so is a length that is wrong and
//! not in the last record.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
};

use zeroize::Zeroizing;

use crate::{mark::Mark, seal::Key};

const HEADER_BYTES: usize = 8;

/// See the [module](self).
pub(crate) struct Log {
    file: File,
    key: Key,
    /// The job's name, which records are bound to.
    job: String,
    /// The place of the next record.
    end: u64,
    mark: Option<Mark>,
}

/// The content of a record.
type Text = Zeroizing<Vec<u8>>;

/// The place of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(u64);

/// Records are gone.
#[derive(Debug)]
pub(crate) struct Shorter;

/// The file is not what was written.
#[derive(Debug)]
pub(crate) struct Damaged(pub(crate) &'static str);

#[derive(Debug)]
pub(crate) enum OpenError {
    Io(io::Error),
    Damaged(Damaged),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Damaged> for OpenError {
    fn from(damaged: Damaged) -> Self {
        Self::Damaged(damaged)
    }
}

impl Log {
    /// Gives each record to `each`, and cuts off a last one that is not whole if `file` can be
    /// written.
    pub(crate) fn open(
        file: File,
        key: Key,
        job: String,
        is_writable: bool,
        mut each: impl FnMut(Place, &[u8]) -> Result<(), Damaged>,
    ) -> Result<Self, OpenError> {
        let len = file.metadata()?.len();
        let mut log = Self {
            file,
            key,
            job,
            end: 0,
            mark: None,
        };
        while let Some((text, next)) = log.next(len)? {
            each(Place(log.end), &text)?;
            log.end = next;
        }
        if is_writable && log.end < len {
            log.file.set_len(log.end)?;
            log.file.sync_all()?;
        }
        Ok(log)
    }

    /// Returns the next record of a file of `len` bytes, and where it ends; nothing if it is not
    /// whole.
    fn next(&mut self, len: u64) -> Result<Option<(Text, u64)>, OpenError> {
        let mut header = [0; HEADER_BYTES];
        if len - self.end < HEADER_BYTES as u64 {
            return Ok(None);
        }
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.read_exact(&mut header)?;
        let Some(sealed) = self.sealed_bytes(self.end, header) else {
            // After a power cut, a file may have got its length before what is in it.
            return match is_zero_to_the_end(&mut self.file, header)? {
                true => Ok(None),
                false => Err(Damaged("a record of its results has no valid length").into()),
            };
        };
        let next = self.end + HEADER_BYTES as u64 + u64::from(sealed);
        if next > len {
            return Ok(None);
        }
        match self.text(self.end, sealed)? {
            Some(text) => Ok(Some((text, next))),
            None if next == len => Ok(None),
            None => Err(Damaged("a record of its results cannot be opened").into()),
        }
    }

    /// Returns what is sealed behind the header of a record, at which the file stands.
    fn text(&mut self, at: u64, sealed: u32) -> io::Result<Option<Text>> {
        let mut bytes = vec![0; sealed as usize];
        self.file.read_exact(&mut bytes)?;
        Ok(self.key.open(&self.place(at), bytes).ok())
    }

    /// Returns the content of a record.
    pub(crate) fn read(&mut self, Place(at): Place) -> io::Result<Text> {
        let mut header = [0; HEADER_BYTES];
        self.file.seek(SeekFrom::Start(at))?;
        self.file.read_exact(&mut header)?;
        let sealed = self.sealed_bytes(at, header).unwrap_or_default();
        let text = self.text(at, sealed)?;
        text.ok_or_else(|| io::Error::other("a result that was kept cannot be read"))
    }

    /// Appends a record. When this returns, it is on the disk. If it fails, the file is as long as
    /// before.
    pub(crate) fn append(&mut self, text: &[u8]) -> io::Result<Place> {
        let sealed = self.key.seal(&self.place(self.end), text)?;
        let len = u32::try_from(sealed.len())
            .map_err(|_| io::Error::other("what a part gave is too long to be kept"))?;
        let record = [&self.header(self.end, len)[..], &sealed].concat();
        self.file.seek(SeekFrom::Start(self.end))?;
        let written = self
            .file
            .write_all(&record)
            .and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // An incomplete record would be ignored anyway.
            let _ = self.file.set_len(self.end);
            return Err(error);
        }
        let place = Place(self.end);
        self.end += record.len() as u64;
        if let Some(mark) = &mut self.mark {
            mark.set(self.end);
        }
        Ok(place)
    }

    /// Notes from now on how far it has come.
    ///
    /// # Errors
    /// If it had come further.
    pub(crate) fn mark(&mut self, mut mark: Mark) -> Result<(), Shorter> {
        if mark.len > self.end {
            return Err(Shorter);
        }
        mark.set(self.end);
        self.mark = Some(mark);
        Ok(())
    }

    fn header(&self, at: u64, sealed: u32) -> [u8; HEADER_BYTES] {
        let mut hasher = self.key.hasher();
        hasher.update(&self.place(at)).update(&sealed.to_le_bytes());
        let mut header = [0; HEADER_BYTES];
        header[..4].copy_from_slice(&sealed.to_le_bytes());
        header[4..].copy_from_slice(&hasher.finalize().as_bytes()[..4]);
        header
    }

    /// Returns the length in a header, if it was written for this place.
    fn sealed_bytes(&self, at: u64, header: [u8; HEADER_BYTES]) -> Option<u32> {
        let [a, b, c, d, ..] = header;
        let sealed = u32::from_le_bytes([a, b, c, d]);
        (self.header(at, sealed) == header).then_some(sealed)
    }

    /// Returns what a record is bound to.
    fn place(&self, at: u64) -> Vec<u8> {
        [
            b"psijoin 2026 job: result",
            self.job.as_bytes(),
            &at.to_le_bytes(),
        ]
        .concat()
    }
}

/// Returns whether a file has nothing but zeros from a header on.
fn is_zero_to_the_end(file: &mut File, header: [u8; HEADER_BYTES]) -> io::Result<bool> {
    let mut buffer = vec![0; 1 << 16];
    let mut is_zero = header == [0; HEADER_BYTES];
    while is_zero {
        match file.read(&mut buffer)? {
            0 => break,
            read => is_zero = buffer[..read].iter().all(|byte| *byte == 0),
        }
    }
    Ok(is_zero)
}

#[cfg(test)]
mod tests {
    use std::{fs::OpenOptions, path::Path};

    use super::*;

    /// Returns the log in a file, and its records.
    fn open(path: &Path, job: &str) -> Result<(Log, Vec<Vec<u8>>), OpenError> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false);
        let file = file.open(path).unwrap();
        let key = Key::new(Zeroizing::new([7; 32]));
        let mut said = Vec::new();
        let log = Log::open(file, key, job.into(), true, |_, text| {
            said.push(text.to_vec());
            Ok(())
        })?;
        Ok((log, said))
    }

    const TEXTS: [&[u8]; 3] = [b"one", b"", b"three"];

    /// Returns the lengths of a file of three records after each of them.
    fn three(path: &Path) -> [u64; 3] {
        let (mut log, _) = open(path, "a job").unwrap();
        TEXTS.map(|text| {
            log.append(text).unwrap();
            std::fs::metadata(path).unwrap().len()
        })
    }

    #[test]
    fn what_was_appended_is_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("results");
        three(path);
        let (mut log, said) = open(path, "a job").unwrap();
        assert_eq!(said, TEXTS);
        let place = log.append(b"four").unwrap();
        assert_eq!(log.read(place).unwrap()[..], *b"four");
        assert_eq!(log.read(Place(0)).unwrap()[..], *b"one");
        assert!(log.read(Place(1)).is_err());
    }

    #[test]
    fn a_last_record_that_is_not_whole_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("results");
        let ends = three(path);
        let whole = std::fs::read(path).unwrap();
        // Without the zeros that its tag may end with, the last record is whole again behind them.
        let zeros = whole.iter().rev().take_while(|byte| **byte == 0).count();
        for len in ends[1]..ends[2] - zeros as u64 {
            for tail in [0, 1, 40] {
                std::fs::write(path, &whole[..len as usize]).unwrap();
                let file = OpenOptions::new().write(true).open(path).unwrap();
                // Zeros behind what was written, up to where the record would end or beyond.
                file.set_len(len.max(tail * len / 20)).unwrap();
                let Ok((mut log, said)) = open(path, "a job") else {
                    continue;
                };
                assert_eq!(said, TEXTS[..2], "{len}");
                log.append(b"anew").unwrap();
                drop(log);
                assert_eq!(
                    open(path, "a job").unwrap().1,
                    [TEXTS[0], TEXTS[1], b"anew"]
                );
            }
        }
    }

    #[test]
    fn damage_is_an_error_or_costs_the_last_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("results");
        let ends = three(path);
        let whole = std::fs::read(path).unwrap();
        for at in 0..whole.len() {
            let mut spoilt = whole.clone();
            spoilt[at] ^= 0x40;
            std::fs::write(path, &spoilt).unwrap();
            match open(path, "a job") {
                Err(OpenError::Damaged(_)) => assert_eq!(std::fs::read(path).unwrap(), spoilt),
                Err(OpenError::Io(error)) => panic!("{error}"),
                Ok((_, said)) => {
                    assert!(at as u64 >= ends[1], "{at}");
                    assert_eq!(said, TEXTS[..2]);
                }
            }
        }
        // Records in another order, or of another job.
        let (first, rest) = whole.split_at(ends[0] as usize);
        std::fs::write(path, [rest, first].concat()).unwrap();
        assert!(open(path, "a job").is_err());
        std::fs::write(path, &whole).unwrap();
        assert!(open(path, "another").is_err());
    }
}
