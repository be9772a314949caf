//! Staged files: their names, their locks, and which of them this process has.

use std::{
    ffi::OsStr,
    fs::{self, File, Metadata, OpenOptions, TryLockError},
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError, TryLockError as Busy},
    thread,
    time::Duration,
};

use tempfile::TempPath;

use super::Existing;
use crate::permissions;

/// The prefix of the names of staged files; 16 hexadecimal digits follow.
const PREFIX: &str = ".psijoin-staged-";

/// A name is almost certainly free, and nobody else takes its file.
const ATTEMPTS: usize = 16;

/// The staged files of this process.
static STAGED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes all files that this process has staged and not committed, for a program that ends
/// without an orderly return, right before it ends: from a panic hook, or when it is asked twice
/// to stop. Nothing else happens to what is being written; a commit of it fails.
///
/// Another thread may hold the list of these files, even one that waits for this one. Then, after a
/// tenth of a second, they are left to the next
/// [`AtomicFile::prepare`](crate::AtomicFile::prepare).
pub fn remove_staged() {
    for _ in 0..50 {
        let paths = match STAGED.try_lock() {
            Ok(paths) => paths,
            Err(Busy::Poisoned(paths)) => paths.into_inner(),
            Err(Busy::WouldBlock) => {
                thread::sleep(Duration::from_millis(2));
                continue;
            }
        };
        for path in &*paths {
            // There is nobody to tell, and a committed file is no longer there.
            let _ = fs::remove_file(path);
        }
        return;
    }
}

/// A name in the list of staged files.
#[derive(Debug)]
struct Listed(PathBuf);

impl Listed {
    fn new(path: PathBuf) -> Self {
        listed(|paths| paths.push(path.clone()));
        Self(path)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        listed(|paths| paths.retain(|path| *path != self.0));
    }
}

fn listed<T>(with: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    with(&mut STAGED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A file beside its place, locked, that goes away when it is dropped.
#[derive(Debug)]
pub(crate) struct Temporary {
    // In the order in which they are dropped: until the name is gone, the file stays locked.
    path: TempPath,
    file: File,
    _listed: Listed,
}

impl Temporary {
    /// Returns an empty file with the rights that the process gives its files.
    pub(super) fn probe(folder: &Path) -> io::Result<Self> {
        Self::create(folder, |options| options)
    }

    /// Returns a file that nobody but its owner can read.
    pub(crate) fn staged(folder: &Path) -> io::Result<Self> {
        let staged = Self::create(folder, permissions::for_owner)?;
        permissions::restrict(&staged.file);
        Ok(staged)
    }

    fn create(
        folder: &Path,
        restrict: fn(&mut OpenOptions) -> &mut OpenOptions,
    ) -> io::Result<Self> {
        for _ in 0..ATTEMPTS {
            let path = folder.join(random_name());
            // Before it is there, so that there is no moment when it could be left.
            let entry = Listed::new(path.clone());
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true);
            let file = match restrict(&mut options).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            let path = TempPath::try_from_path(path)?;
            if hold(&path, &file)? {
                return Ok(Self {
                    path,
                    file,
                    _listed: entry,
                });
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file this name.
    pub(crate) fn rename(self, path: &Path, existing: Existing) -> io::Result<()> {
        match existing {
            Existing::Replace => self.path.persist(path),
            Existing::Keep => self.path.persist_noclobber(path),
        }
        .map_err(|failed| failed.error)
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn random_name() -> String {
    // A hasher's key is random; a name needs no more.
    format!(
        "{PREFIX}{:016x}",
        RandomState::new().build_hasher().finish()
    )
}

fn is_staged_name(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    random.is_some_and(|random| {
        random.len() == 16
            && random
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Locks a new file. Says no if another process, which looked before the lock was there, takes it
/// for abandoned and removes it, or has done so.
fn hold(path: &Path, file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => leads_to(path, file),
        Err(TryLockError::WouldBlock) => Ok(false),
        // On a file system without locks nobody gets one.
        Err(TryLockError::Error(_)) => Ok(true),
    }
}

/// Removes the staged files in this folder that are left of processes of ours, `own` being a file
/// of ours. Files that cannot be removed stay: that is no reason to fail.
pub fn remove_abandoned(folder: &Path, own: &Metadata) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        // If a lock is the process's and not the file's, ours would not tell.
        let is_in_use = || listed(|paths| paths.contains(&path));
        if is_staged_name(&entry.file_name()) && !is_in_use() {
            let _ = remove_if_abandoned(&path, own);
        }
    }
}

fn remove_if_abandoned(path: &Path, own: &Metadata) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_file() || !have_one_owner(&found, own) {
        return Ok(());
    }
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    if file.try_lock().is_ok() && leads_to(path, &file)? {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Returns whether this is, still, the name of this file.
fn leads_to(path: &Path, file: &File) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(are_one(&found, &file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn are_one(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Elsewhere a file that is open keeps its name.
#[cfg(not(unix))]
fn are_one(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn have_one_owner(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    a.uid() == b.uid()
}

/// Elsewhere, a process that can lock a file to write it may remove it.
#[cfg(not(unix))]
fn have_one_owner(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Instant};

    use super::*;

    fn names(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn names_are_recognised_and_no_others() {
        assert!(is_staged_name(random_name().as_ref()));
        for name in [
            "",
            PREFIX,
            ".psijoin-staged-notes.csv",
            ".psijoin-staged-0123456789ABCDEF",
            ".psijoin-staged-0123456789abcdef0",
            "x.psijoin-staged-0123456789abcdef",
        ] {
            assert!(!is_staged_name(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn a_live_file_stays_and_an_abandoned_one_goes() {
        let folder = tempfile::tempdir().unwrap();
        let live = Temporary::staged(folder.path()).unwrap();
        let own = live.file.metadata().unwrap();
        // As another process sees it, which has not listed it.
        remove_if_abandoned(&live.path, &own).unwrap();
        assert_eq!(names(folder.path()), [live.path.to_path_buf()]);

        let abandoned = folder.path().join(random_name());
        let similar = folder.path().join(".psijoin-staged-notes.csv");
        let directory = folder.path().join(random_name());
        fs::write(&abandoned, "rows").unwrap();
        fs::write(&similar, "notes").unwrap();
        fs::create_dir(&directory).unwrap();
        remove_abandoned(folder.path(), &own);
        assert!(!abandoned.exists());
        assert!(similar.exists() && directory.exists() && live.path.exists());
        drop(live);
        assert_eq!(names(folder.path()).len(), 2);
    }

    #[test]
    fn a_file_that_a_cleaner_got_first_is_not_held() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(random_name());
        let create = || File::create_new(&path).unwrap();
        // The cleaner has the lock, and is about to remove the file.
        let file = create();
        let cleaner = File::open(&path).unwrap();
        cleaner.try_lock().unwrap();
        assert!(!hold(&path, &file).unwrap());
        // It has removed it.
        fs::remove_file(&path).unwrap();
        drop(cleaner);
        assert!(!hold(&path, &file).unwrap());
        // The name is another file's.
        let other = create();
        assert!(!hold(&path, &file).unwrap());
        assert!(hold(&path, &other).unwrap());
    }

    #[test]
    fn files_are_created_while_cleaners_run() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own");
        fs::write(&own, "").unwrap();
        let own = fs::metadata(own).unwrap();
        let (done, until_done) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(|| {
                let until_done = until_done;
                while until_done.try_recv() == Err(mpsc::TryRecvError::Empty) {
                    for path in names(folder.path()) {
                        if path.file_name().is_some_and(is_staged_name) {
                            let _ = remove_if_abandoned(&path, &own);
                        }
                    }
                }
            });
            for _ in 0..2_000 {
                let held = Temporary::staged(folder.path()).unwrap();
                assert!(leads_to(&held.path, &held.file).unwrap());
            }
            drop(done);
        });
    }

    #[test]
    fn removal_does_not_wait_for_a_thread_that_holds_the_list() {
        let folder = tempfile::tempdir().unwrap();
        let file = Temporary::staged(folder.path()).unwrap();
        listed(|_| {
            let start = Instant::now();
            remove_staged();
            assert!(start.elapsed() < Duration::from_secs(10));
        });
        assert!(file.path.exists());
    }
}
