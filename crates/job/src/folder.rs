use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use psijoin_channel::joint_seed::JointSeed;
use psijoin_psi::Ledger;
use zeroize::Zeroizing;

use crate::{
    Ended, Error, Job, Results, Term,
    job::Head,
    results::{Damaged, OpenError},
    seal::{KEY_BYTES, Key, from_hex, hex},
};

const LOCK: &str = "lock";
const KEY: &str = "key";
const JOB: &str = "job";
const NEW_JOB: &str = "job.new";
const RESULTS: &str = "results";

/// What `lock` holds, so that no folder of somebody else's files is taken for a job's.
const MARK: &[u8] = b"psijoin job\n";

/// The layout that this version reads and writes.
const FORMAT: u32 = 2;

/// A job's folder, which this process works in alone.
pub struct Folder {
    path: PathBuf,
    /// Locked as long as this lives.
    _lock: File,
    key: Key,
    job: Option<Job>,
    results: Option<Results>,
}

/// How far a job is.
#[derive(Debug, Clone)]
pub struct Status {
    /// What it is.
    pub job: Job,
    /// How many of its steps are done.
    pub done: u32,
    /// How many of those are parts.
    pub parts_done: u32,
    /// When it last came further, in seconds since 1970.
    pub changed: u64,
    /// The command that goes on, unless it has ended.
    pub command: Option<String>,
}

impl Folder {
    /// Opens a folder, or makes one, for this process alone. `program` is the version of the program.
    ///
    /// # Errors
    /// If it cannot be used, is not the user's own, others can read or change it, another process works in it, it
    /// holds something else, it is damaged, or another version wrote it.
    pub fn open(path: &Path, program: &str) -> Result<Self, Error> {
        let at = At(path);
        at.io(make(path))?;
        at.own()?;
        if !at.io(at.is_a_jobs())? {
            return Err(Error::NoJob(path.to_owned()));
        }
        let mut lock = at.io(open_own(&path.join(LOCK)))?;
        if !at.io(has_locked(&lock))? {
            return Err(Error::InUse(path.to_owned()));
        }
        at.io(lock.write_all(MARK).and_then(|()| lock.sync_all()))?;
        at.io(remove(&path.join(NEW_JOB)))?;
        let job = at.job()?;
        if let Some(job) = &job {
            check_version(path, job, program)?;
        }
        let mut folder = Self {
            path: path.to_owned(),
            _lock: lock,
            key: match &job {
                // Nothing is sealed any more.
                Some(job) if job.ended.is_some() => at.io(Key::draw())?,
                Some(_) => at.key()?,
                None => at.new_key()?,
            },
            job,
            results: None,
        };
        match &folder.job {
            Some(job) if job.ended.is_some() => folder.clear()?,
            Some(job) => folder.results = Some(folder.open_results(job)?),
            None => {}
        }
        Ok(folder)
    }

    /// How far the job in a folder is, also while a process works in it.
    ///
    /// # Errors
    /// If there is none, or the folder cannot be used.
    pub fn status(path: &Path) -> Result<Status, Error> {
        let at = At(path);
        at.own()?;
        let job = at.job()?.ok_or_else(|| Error::Nothing(path.to_owned()))?;
        let modified = |name: &str| fs::metadata(path.join(name)).and_then(|file| file.modified());
        let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let times = [JOB, RESULTS].map(|name| modified(name).map_or(0, seconds));
        let changed = times[0].max(times[1]);
        if job.ended.is_some() {
            return Ok(Status {
                done: job.steps,
                parts_done: job.parts,
                changed,
                command: None,
                job,
            });
        }
        let file = at.io(File::open(path.join(RESULTS)))?;
        let (key, id) = (at.key()?, job.id.clone());
        let results = at.results(Results::open(file, key, id, job.steps, false))?;
        let command = at.key()?.open(COMMAND, sealed(&job.command));
        let command = command.map_err(|_| at.damaged("its command cannot be opened"))?;
        let done = |steps: std::ops::Range<u32>| steps.filter(|step| results.has(*step)).count();
        Ok(Status {
            done: results.count(),
            parts_done: done(0..job.parts) as u32,
            changed,
            command: Some(String::from_utf8_lossy(&command).into_owned()),
            job,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The job, if one was begun.
    pub fn job(&self) -> Option<&Job> {
        self.job.as_ref()
    }

    /// The results of a job that has not ended.
    pub fn results(&self) -> Option<&Results> {
        self.results.as_ref()
    }

    /// How many steps are done.
    pub fn done(&self) -> u32 {
        self.results.as_ref().map_or(0, Results::count)
    }

    /// Something that has to be the same, and is not shown: only a keyed hash of it is kept. `value` hashes it
    /// whole.
    pub fn secret(&self, name: impl Into<String>, value: impl FnOnce(&mut blake3::Hasher)) -> Term {
        let mut hasher = self.key.hasher();
        value(&mut hasher);
        Term {
            name: name.into(),
            value: hex(hasher.finalize().as_bytes()),
            secret: true,
        }
    }

    /// Checks that these terms are those of the job, if there is one. Terms that it was not begun with are not
    /// looked at.
    ///
    /// # Errors
    /// [`Error::Changed`] or [`Error::ChangedSecret`] names the first that is not.
    pub fn check(&self, terms: &[Term]) -> Result<(), Error> {
        let Some(job) = &self.job else {
            return Ok(());
        };
        for was in &job.terms {
            let is = terms.iter().find(|is| is.name == was.name);
            let Some(is) = is.filter(|is| is.value != was.value) else {
                continue;
            };
            let (folder, name) = (self.path.clone(), was.name.clone());
            return Err(match was.secret {
                true => Error::ChangedSecret { folder, name },
                false => Error::Changed {
                    folder,
                    name,
                    was: was.value.clone(),
                    is: is.value.clone(),
                },
            });
        }
        Ok(())
    }

    /// The seed that the job's items are digested under.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    ///
    /// # Panics
    /// If there is no job, or it has ended.
    pub fn joint_seed(&self) -> Result<JointSeed, Error> {
        let job = self.job.as_ref().expect("a job");
        let damaged = || At(&self.path).damaged("its seed cannot be opened");
        let seed = self.key.open(SEED, sealed(&job.seed));
        let seed = seed.map_err(|_| damaged())?;
        let seed: &[u8; 32] = seed[..].try_into().map_err(|_| damaged())?;
        let seed = JointSeed::kept(*seed);
        match name_of(&seed) == job.id {
            true => Ok(seed),
            false => Err(damaged()),
        }
    }

    /// Begins a job, in place of one none of whose steps is done. When this returns, it is on the disk.
    ///
    /// # Errors
    /// If the folder cannot be written.
    ///
    /// # Panics
    /// If steps of another job are done, or it has ended.
    pub fn begin(&mut self, begun: Begun<'_>) -> Result<(), Error> {
        assert!(self.done() == 0 && self.job.as_ref().is_none_or(|job| job.ended.is_none()));
        let at = At(&self.path);
        self.results = None;
        // An earlier job's, of which only forgotten steps are left.
        at.io(open_own(&self.path.join(RESULTS)).and_then(|file| {
            file.set_len(0)?;
            file.sync_all()
        }))?;
        let seal = |place, text: &[u8]| self.key.seal(place, text).map(|sealed| hex(&sealed));
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let job = Job {
            format: FORMAT,
            program: begun.program.to_owned(),
            begun: now.map_or(0, |now| now.as_secs()),
            terms: begun.terms,
            protocol: begun.protocol.to_owned(),
            plan: hex(&begun.plan),
            items: begun.items,
            parts: begun.parts,
            steps: begun.steps,
            bytes: begun.bytes,
            columns: begun.columns,
            given: begun.given,
            id: name_of(begun.joint_seed),
            seed: Some(at.io(seal(SEED, &begun.joint_seed.to_kept()))?),
            command: Some(at.io(seal(COMMAND, begun.command.as_bytes()))?),
            confirmed: false,
            signed: false,
            ended: None,
        };
        self.write(&job)?;
        self.results = Some(self.open_results(&job)?);
        self.job = Some(job);
        Ok(())
    }

    /// Notes that the other party has confirmed that it has all that it needs.
    ///
    /// # Errors
    /// If the folder cannot be written.
    ///
    /// # Panics
    /// If there is no job.
    pub fn confirm(&mut self) -> Result<(), Error> {
        let job = self.job.take().expect("a job");
        let job = Job {
            confirmed: true,
            ..job
        };
        self.write(&job)?;
        self.job = Some(job);
        Ok(())
    }

    /// Notes that both parties have signed a record of the job, and this one has written it.
    ///
    /// # Errors
    /// If the folder cannot be written.
    ///
    /// # Panics
    /// If there is no job.
    pub fn sign(&mut self) -> Result<(), Error> {
        let job = self.job.take().expect("a job");
        let job = Job {
            signed: true,
            ..job
        };
        self.write(&job)?;
        self.job = Some(job);
        Ok(())
    }

    /// Marks the job as ended, and removes its results and its key.
    ///
    /// # Errors
    /// If the folder cannot be written.
    ///
    /// # Panics
    /// If there is no job.
    pub fn end(&mut self, ended: Ended) -> Result<(), Error> {
        let job = self.job.take().expect("a job");
        let job = Job {
            seed: None,
            command: None,
            ended: Some(ended),
            // Not even a keyed hash of a set stays.
            terms: job.terms.into_iter().filter(|term| !term.secret).collect(),
            ..job
        };
        self.write(&job)?;
        self.job = Some(job);
        self.clear()
    }

    /// Removes what an ended job has no more use for.
    fn clear(&mut self) -> Result<(), Error> {
        self.results = None;
        let at = At(&self.path);
        for name in [RESULTS, KEY] {
            at.io(remove(&self.path.join(name)))?;
        }
        at.io(sync(&self.path))
    }

    fn write(&self, job: &Job) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(job).expect("texts and numbers");
        let written = || {
            let new = self.path.join(NEW_JOB);
            remove(&new)?;
            let mut file = open_own(&new)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&new, self.path.join(JOB))?;
            sync(&self.path)
        };
        At(&self.path).io(written())
    }

    fn open_results(&self, job: &Job) -> Result<Results, Error> {
        let at = At(&self.path);
        let file = at.io(open_own(&self.path.join(RESULTS)))?;
        let key = Key::new(Zeroizing::new(*self.key.bytes()));
        at.results(Results::open(file, key, job.id.clone(), job.steps, true))
    }
}

/// What a job begins with.
pub struct Begun<'a> {
    /// The version of the program.
    pub program: &'a str,
    /// What has to be the same whenever it goes on.
    pub terms: Vec<Term>,
    /// As [`Job::protocol`].
    pub protocol: &'a str,
    /// The plan's digest.
    pub plan: [u8; 32],
    /// As [`Job::items`].
    pub items: [u64; 2],
    /// As [`Job::parts`].
    pub parts: u32,
    /// As [`Job::steps`].
    pub steps: u32,
    /// As [`Job::bytes`].
    pub bytes: [u64; 2],
    /// As [`Job::columns`].
    pub columns: Vec<String>,
    /// As [`Job::given`].
    pub given: [Vec<u8>; 2],
    /// The seed that items are digested under.
    pub joint_seed: &'a JointSeed,
    /// The command that goes on.
    pub command: &'a str,
}

/// What both parties call a job.
fn name_of(joint_seed: &JointSeed) -> String {
    hex(&joint_seed.key("psijoin 2026 job: name")[..16])
}

const SEED: &[u8] = b"psijoin 2026 job: seed";
const COMMAND: &[u8] = b"psijoin 2026 job: command";

/// What cannot be read cannot be opened either.
fn sealed(text: &Option<String>) -> Vec<u8> {
    text.as_deref().and_then(from_hex).unwrap_or_default()
}

fn check_version(folder: &Path, job: &Job, program: &str) -> Result<(), Error> {
    match job.ended.is_some() || (job.format == FORMAT && job.program == program) {
        true => Ok(()),
        false => Err(Error::Version {
            folder: folder.to_owned(),
            theirs: job.program.clone(),
            ours: program.to_owned(),
        }),
    }
}

/// Where errors happen.
struct At<'a>(&'a Path);

impl At<'_> {
    fn io<T>(&self, result: io::Result<T>) -> Result<T, Error> {
        result.map_err(|source| Error::Io {
            folder: self.0.to_owned(),
            source,
        })
    }

    fn damaged(&self, what: &'static str) -> Error {
        Error::Damaged {
            folder: self.0.to_owned(),
            what,
        }
    }

    fn results(&self, opened: Result<Results, OpenError>) -> Result<Results, Error> {
        opened.map_err(|error| match error {
            OpenError::Damaged(Damaged(what)) => self.damaged(what),
            OpenError::Io(source) => Error::Io {
                folder: self.0.to_owned(),
                source,
            },
        })
    }

    /// Checks that the folder is the user's alone.
    #[cfg(unix)]
    fn own(&self) -> Result<(), Error> {
        use std::os::unix::fs::MetadataExt;

        let found = self.io(fs::metadata(self.0))?;
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Err(Error::NotOurs(self.0.to_owned()));
        }
        match found.mode() & 0o077 {
            0 => Ok(()),
            _ => Err(Error::Open(self.0.to_owned())),
        }
    }

    /// Elsewhere a folder has its rights from where it is.
    #[cfg(not(unix))]
    fn own(&self) -> Result<(), Error> {
        self.io(fs::metadata(self.0)).map(drop)
    }

    fn job(&self) -> Result<Option<Job>, Error> {
        let text = match fs::read(self.0.join(JOB)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => self.io(text)?,
        };
        if let Ok(job) = serde_json::from_slice(&text) {
            return Ok(Some(job));
        }
        match serde_json::from_slice(&text) {
            Ok(Head { format, program }) if format != FORMAT => Err(Error::Layout {
                folder: self.0.to_owned(),
                theirs: program,
            }),
            _ => Err(self.damaged("`job` is not what was written")),
        }
    }

    fn key(&self) -> Result<Key, Error> {
        let damaged = || self.damaged("its key is missing or cut off");
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        let mut file = match File::open(self.0.join(KEY)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(damaged()),
            file => self.io(file)?,
        };
        match file.read_exact(&mut *bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(damaged()),
            read => self.io(read).map(|()| Key::new(bytes)),
        }
    }

    /// Whether the folder is a job's, or empty: nothing else is ever written to.
    fn is_a_jobs(&self) -> io::Result<bool> {
        match fs::read(self.0.join(LOCK)) {
            Ok(mark) if mark == MARK => return Ok(true),
            // As it was killed before it wrote the mark.
            Ok(mark) if mark.is_empty() => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(_) => return Ok(false),
            Err(error) => return Err(error),
        }
        for entry in fs::read_dir(self.0)? {
            if entry?.file_name() != LOCK {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Draws the key of a folder without a job.
    fn new_key(&self) -> Result<Key, Error> {
        let written = || {
            let key = Key::draw()?;
            let mut file = open_own(&self.0.join(KEY))?;
            file.set_len(0)?;
            file.write_all(key.bytes())?;
            file.sync_all()?;
            sync(self.0)?;
            Ok(key)
        };
        self.io(written())
    }
}

/// How long a lock may be held on: a process that was killed keeps it until the system has taken back its memory.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether this process has got the lock of a file. On a file system without locks everybody gets it.
fn has_locked(file: &File) -> io::Result<bool> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if started.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
                return Err(error);
            }
            _ => return Ok(true),
        }
    }
}

/// Makes a folder for its owner alone, unless it is there.
fn make(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => match path.parent() {
            Some(parent) if parent != Path::new("") => sync(parent),
            _ => sync(Path::new(".")),
        },
    }
}

/// Opens a file for its owner alone, or makes it.
fn open_own(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Makes names in a folder last through a power cut, where that can be asked for.
fn sync(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(test)]
mod tests;
