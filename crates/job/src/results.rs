//! What the steps of a job gave, in a file that only grows.
//!
//! A record is
//!
//! ```text
//! 4 bytes     the length of what is sealed, little endian
//! 4 bytes     of a keyed hash of the length and of where the record stands
//! …           what is sealed, for this job and this place in the file
//! ```
//!
//! What is sealed is the number of a step in 4 bytes, the name of its run in 8, and the output. A later record of
//! a step replaces an earlier one. A run's name comes from the joint seed of its attempt, so it is the same on both
//! sides: what they have of a step belongs together only if the names are equal.
//!
//! Each record is on the disk before anybody relies on it. So one that is not whole can only be the last, and
//! nobody relied on it: the file is cut off before it. Where lengths can be told, a record that cannot be
//! opened and is not the last is damage, and so is a length that is wrong and not in the last record.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    sync::{Mutex, MutexGuard},
};

use psijoin_channel::joint_seed::JointSeed;
use psijoin_psi::{Error, Ledger, Output};
use zeroize::Zeroizing;

use crate::{codec, seal::Key};

const HEADER_BYTES: usize = 8;

/// Bytes of the number of a step and the name of its run.
const FRONT_BYTES: usize = size_of::<u32>() + RUN_BYTES;

/// Bytes of the name of a run.
pub const RUN_BYTES: usize = 8;

/// What both sides call the run of a step in one attempt.
pub type Run = [u8; RUN_BYTES];

/// Stands for the run of a step that is not done.
pub const NO_RUN: Run = [0; RUN_BYTES];

/// The results of a job.
pub struct Results {
    key: Key,
    /// The job's name, which records are bound to.
    job: String,
    steps: u32,
    log: Mutex<Log>,
}

struct Log {
    file: File,
    /// Where the next record goes.
    end: u64,
    /// The record of each step.
    records: BTreeMap<u32, Record>,
    /// What names runs now.
    attempt: Option<JointSeed>,
}

#[derive(Clone, Copy)]
struct Record {
    /// Where it is.
    at: u64,
    run: Run,
}

/// The file is not what was written.
pub(crate) struct Damaged(pub(crate) &'static str);

pub(crate) enum OpenError {
    Io(io::Error),
    Damaged(Damaged),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn damaged<T>(what: &'static str) -> Result<T, OpenError> {
    Err(OpenError::Damaged(Damaged(what)))
}

impl Results {
    /// Reads what a job of so many steps has, and cuts off a last record that is not whole if `file` can be
    /// written.
    pub(crate) fn open(
        file: File,
        key: Key,
        job: String,
        steps: u32,
        is_writable: bool,
    ) -> Result<Self, OpenError> {
        let len = file.metadata()?.len();
        let results = Self {
            key,
            job,
            steps,
            log: Mutex::new(Log {
                file,
                end: 0,
                records: BTreeMap::new(),
                attempt: None,
            }),
        };
        {
            let log = &mut *results.log();
            while log.end < len && results.read_next(log, len)? {}
            if is_writable && log.end < len {
                log.file.set_len(log.end)?;
                log.file.sync_all()?;
            }
        }
        Ok(results)
    }

    /// Reads a record of a file of `len` bytes; `false` if it is not whole.
    fn read_next(&self, log: &mut Log, len: u64) -> Result<bool, OpenError> {
        let left = len - log.end;
        let mut header = [0; HEADER_BYTES];
        if left < HEADER_BYTES as u64 {
            return Ok(false);
        }
        log.file.seek(SeekFrom::Start(log.end))?;
        log.file.read_exact(&mut header)?;
        let Some(sealed) = self.sealed_bytes(log.end, header) else {
            // After a power cut, a file may have got its length before what is in it.
            return match is_zero_to_the_end(&mut log.file, header)? {
                true => Ok(false),
                false => damaged("a record of its results has no valid length"),
            };
        };
        let next = log.end + HEADER_BYTES as u64 + u64::from(sealed);
        if next > len {
            return Ok(false);
        }
        let Some(text) = self.text(log, sealed)? else {
            return match next == len {
                true => Ok(false),
                false => damaged("a record of its results cannot be opened"),
            };
        };
        self.note(log, &text)?;
        log.end = next;
        Ok(true)
    }

    /// What is sealed behind a header, at which the file stands.
    fn text(&self, log: &mut Log, sealed: u32) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let mut bytes = vec![0; sealed as usize];
        log.file.read_exact(&mut bytes)?;
        Ok(self.key.open(&self.place(log.end), bytes).ok())
    }

    fn note(&self, log: &mut Log, text: &[u8]) -> Result<(), OpenError> {
        let front = text
            .split_first_chunk()
            .and_then(|(step, rest)| Some((u32::from_le_bytes(*step), *rest.first_chunk()?)));
        match front {
            Some((step, run)) if step < self.steps => {
                log.records.insert(step, Record { at: log.end, run });
                Ok(())
            }
            _ => damaged("its results are of no step"),
        }
    }

    /// The run of each step: [`NO_RUN`] if it is not done.
    pub fn runs(&self) -> Vec<Run> {
        let log = self.log();
        let run = |step| log.records.get(&step).map_or(NO_RUN, |record| record.run);
        (0..self.steps).map(run).collect()
    }

    /// How many steps are done.
    pub fn count(&self) -> u32 {
        self.log().records.len() as u32
    }

    /// Begins another attempt, whose seed both parties have just drawn: only these steps are done, and the others
    /// run again.
    pub fn attempt(&self, joint_seed: &JointSeed, is_done: impl Fn(u32) -> bool) {
        let log = &mut *self.log();
        log.attempt = Some(*joint_seed);
        log.records.retain(|step, _| is_done(*step));
    }

    /// Appends a record. If that fails, the file is as long as before.
    fn append(&self, log: &mut Log, text: &[u8]) -> io::Result<()> {
        let sealed = self.key.seal(&self.place(log.end), text)?;
        let len = u32::try_from(sealed.len())
            .map_err(|_| io::Error::other("what a part gave is too long to be kept"))?;
        let header = self.header(log.end, len);
        log.file.seek(SeekFrom::Start(log.end))?;
        let written = log
            .file
            .write_all(&header)
            .and_then(|()| log.file.write_all(&sealed))
            .and_then(|()| log.file.sync_data());
        if let Err(error) = written {
            // What is not whole would be ignored anyway.
            let _ = log.file.set_len(log.end);
            return Err(error);
        }
        log.end += (HEADER_BYTES + sealed.len()) as u64;
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

    /// The length in a header, if it was written for this place.
    fn sealed_bytes(&self, at: u64, header: [u8; HEADER_BYTES]) -> Option<u32> {
        let [a, b, c, d, ..] = header;
        let sealed = u32::from_le_bytes([a, b, c, d]);
        (self.header(at, sealed) == header).then_some(sealed)
    }

    /// What a record is bound to.
    fn place(&self, at: u64) -> Vec<u8> {
        [
            b"psijoin 2026 job: result",
            self.job.as_bytes(),
            &at.to_le_bytes(),
        ]
        .concat()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log
            .lock()
            .expect("nothing panics while it keeps a result")
    }
}

impl Ledger for Results {
    fn has(&self, step: u32) -> bool {
        self.log().records.contains_key(&step)
    }

    fn output(&self, step: u32) -> Result<Output, Error> {
        let unreadable =
            || Error::Ledger(io::Error::other("a result that was kept cannot be read"));
        let read = |at: u64| {
            let mut header = [0; HEADER_BYTES];
            let log = &mut *self.log();
            log.file.seek(SeekFrom::Start(at))?;
            log.file.read_exact(&mut header)?;
            let sealed = self.sealed_bytes(at, header).unwrap_or_default();
            let mut bytes = vec![0; sealed as usize];
            log.file.read_exact(&mut bytes)?;
            io::Result::Ok(bytes)
        };
        let record = self.log().records.get(&step).copied();
        let at = record.ok_or_else(unreadable)?.at;
        let sealed = read(at).map_err(Error::Ledger)?;
        let text = self.key.open(&self.place(at), sealed);
        let text = text.map_err(|_| unreadable())?;
        let output = text.get(FRONT_BYTES..);
        output.and_then(codec::decode).ok_or_else(unreadable)
    }

    fn keep(&self, step: u32, output: &Output) -> Result<(), Error> {
        let output = codec::encode(output).ok_or(Error::Misuse("no step gives such an output"))?;
        let log = &mut *self.log();
        let no_attempt = Error::Misuse("a step is kept of no attempt");
        let run = run_of(step, log.attempt.as_ref().ok_or(no_attempt)?);
        let mut text = Zeroizing::new(Vec::with_capacity(FRONT_BYTES + output.len()));
        text.extend(step.to_le_bytes());
        text.extend(run);
        text.extend_from_slice(&output);
        let at = log.end;
        self.append(log, &text).map_err(Error::Ledger)?;
        log.records.insert(step, Record { at, run });
        Ok(())
    }
}

/// The name of the run of a step. Two are equal by chance with a probability of 2^-64.
fn run_of(step: u32, joint_seed: &JointSeed) -> Run {
    let name = joint_seed.key_with("psijoin 2026 job: run of a step", &step.to_le_bytes());
    std::array::from_fn(|i| name[i])
}

/// Whether a file has nothing but zeros from a header on.
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

    const STEPS: u32 = 12;

    fn open_as(path: &Path, job: &str) -> Result<Results, OpenError> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false);
        let key = Key::new(Zeroizing::new([7; 32]));
        Results::open(file.open(path).unwrap(), key, job.into(), STEPS, true)
    }

    /// In a first attempt.
    fn open(path: &Path) -> Results {
        let results = open_as(path, "a job").ok().expect("it is not damaged");
        results.attempt(&seed(1), |_| true);
        results
    }

    fn seed(attempt: u8) -> JointSeed {
        JointSeed::insecure_fixed([attempt; 32])
    }

    fn kept(results: &Results) -> Vec<u32> {
        (0..STEPS).filter(|step| results.has(*step)).collect()
    }

    #[test]
    fn what_was_kept_is_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("results");
        let rows = |step: u32| Output::Rows(vec![step, step + 100]);
        let results = open(path);
        for step in [3, 0, 11, 5] {
            results.keep(step, &rows(step)).unwrap();
        }
        drop(results);
        let results = open(path);
        assert_eq!(kept(&results), [0, 3, 5, 11]);
        let first = results.runs();
        let done: Vec<u32> = (0..STEPS)
            .filter(|step| first[*step as usize] != NO_RUN)
            .collect();
        assert_eq!(done, [0, 3, 5, 11]);
        results.attempt(&seed(2), |step| step != 3);
        assert_eq!(results.runs()[3], NO_RUN);
        results.keep(3, &Output::Nothing).unwrap();
        let mut second = first.clone();
        second[3] = run_of(3, &seed(2));
        assert_ne!(second, first);
        assert_eq!(results.runs(), second);
        drop(results);
        assert_eq!(open(path).runs(), second);
        let results = open(path);
        assert_eq!(kept(&results), [0, 3, 5, 11]);
        assert_eq!(results.output(5).unwrap(), rows(5));
        assert_eq!(results.output(3).unwrap(), Output::Nothing);
        assert!(results.output(1).is_err());
    }

    /// The lengths of a file of three records after each of them.
    fn three(path: &Path) -> Vec<u64> {
        let results = open(path);
        let keep = |step| {
            results.keep(step, &Output::Rows(vec![step; 5])).unwrap();
            std::fs::metadata(path).unwrap().len()
        };
        (0..3).map(keep).collect()
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
                let Ok(results) = open_as(path, "a job") else {
                    continue;
                };
                results.attempt(&seed(1), |_| true);
                assert_eq!(kept(&results), [0, 1], "{len}");
                results.keep(2, &Output::Nothing).unwrap();
                drop(results);
                assert_eq!(kept(&open(path)), [0, 1, 2]);
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
            match open_as(path, "a job") {
                Err(OpenError::Damaged(_)) => assert_eq!(std::fs::read(path).unwrap(), spoilt),
                Err(OpenError::Io(error)) => panic!("{error}"),
                Ok(results) => {
                    assert!(at as u64 >= ends[1], "{at}");
                    assert_eq!(kept(&results), [0, 1]);
                }
            }
        }
        // Records in another order, or of another job.
        let (first, rest) = whole.split_at(ends[0] as usize);
        std::fs::write(path, [rest, first].concat()).unwrap();
        assert!(open_as(path, "a job").is_err());
        std::fs::write(path, &whole).unwrap();
        assert!(open_as(path, "another").is_err());
    }
}
