use std::{
    fs::{self, File, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use psijoin_channel::joint_seed::JointSeed;
use psijoin_files::{
    folder,
    private::{self, Access},
};
use psijoin_psi::Ledger;
use zeroize::Zeroizing;

use crate::{
    Columns, Ended, Error, Job, Results, Term,
    job::Head,
    log::{Damaged, OpenError, Shorter},
    mark::{self, Mark},
    seal::{KEY_BYTES, Key, from_hex, hex, random},
};

const LOCK: &str = "lock";
const KEY: &str = "key";
const JOB: &str = "job";
const RESULTS: &str = "results";

/// The content of `lock`, so that no folder of somebody else's files is taken for a job's.
const MARK: &[u8] = b"psijoin job\n";

/// The layout that this version reads and writes.
const FORMAT: u32 = 3;

/// The owner of the folders that are opened.
pub struct Owner<'a> {
    /// The version of the program.
    pub program: &'a str,
    /// A secret that does not lie in the folder. Settings and tables are recognised under it, also
    /// when the job has ended.
    pub secret: &'a [u8; 32],
    /// A folder outside of the job's, to note how far jobs have come: an old copy of a job's folder
    /// is known by it.
    pub marks: Option<&'a Path>,
}

/// A job's folder, which this process works in alone.
pub struct Folder {
    path: PathBuf,
    /// Locked as long as this lives.
    _lock: File,
    /// The key that results are sealed under, until the job has ended.
    key: Option<Key>,
    /// The key that settings and tables are recognised under.
    owners: Key,
    salt: String,
    marks: Option<PathBuf>,
    job: Option<Job>,
    results: Option<Results>,
}

/// The progress of a job.
#[derive(Debug, Clone)]
pub struct Status {
    /// The job.
    pub job: Job,
    /// The number of its steps that are done.
    pub done: u32,
    /// The number of those that are parts.
    pub parts_done: u32,
    /// The time of its last progress, in seconds since 1970.
    pub changed: u64,
    /// `true` if it has failed, and cannot be resumed.
    pub is_spoilt: bool,
    /// The command that resumes it, unless it has ended.
    pub command: Option<String>,
}

impl Folder {
    /// Opens a folder, or makes one, for this process alone.
    ///
    /// # Errors
    /// If it cannot be used, is not the user's own, others can read or change it, another process
    /// works in it, it holds something else, it is damaged, another version wrote it, or the job
    /// has failed for good.
    pub fn open(path: &Path, owner: &Owner<'_>) -> Result<Self, Error> {
        let at = At(path);
        at.io(folder::make(path))?;
        at.own()?;
        if !at.io(at.is_a_jobs())? {
            return Err(Error::NoJob(path.to_owned()));
        }
        let mut lock = at.io(private::open(&path.join(LOCK)))?;
        if !at.io(has_locked(&lock))? {
            return Err(Error::InUse(path.to_owned()));
        }
        at.io(lock.write_all(MARK).and_then(|()| lock.sync_all()))?;
        psijoin_files::remove_abandoned(path, &at.io(lock.metadata())?);
        let job = at.job()?;
        if let Some(job) = &job {
            check_version(path, job, owner.program)?;
        }
        let salt = match &job {
            Some(job) => job.salt.clone(),
            None => at.io(salt())?,
        };
        let mut folder = Self {
            path: path.to_owned(),
            _lock: lock,
            key: match &job {
                Some(job) if job.ended.is_some() => None,
                Some(_) => Some(at.key()?),
                None => Some(at.new_key()?),
            },
            owners: Key::of_owner(owner.secret, &salt),
            salt,
            marks: owner.marks.map(Path::to_owned),
            job,
            results: None,
        };
        match &folder.job {
            Some(job) if job.ended.is_some() => folder.clear()?,
            Some(job) => folder.results = Some(folder.open_results(job)?),
            None => {}
        }
        match folder.results.as_ref().is_some_and(Results::is_spoilt) {
            true => Err(Error::Spoilt(path.to_owned())),
            false => Ok(folder),
        }
    }

    /// Returns how far the job in a folder is, also while a process works in it.
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
                is_spoilt: false,
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
            is_spoilt: results.is_spoilt(),
            command: Some(String::from_utf8_lossy(&command).into_owned()),
            job,
        })
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the job, if one was started.
    pub fn job(&self) -> Option<&Job> {
        self.job.as_ref()
    }

    /// Returns the results of a job that has not ended.
    pub fn results(&self) -> Option<&Results> {
        self.results.as_ref()
    }

    /// Returns how many steps are done on this side.
    pub fn done(&self) -> u32 {
        self.results.as_ref().map_or(0, Results::count)
    }

    /// Returns the number of steps that have begun on this side.
    pub fn begun(&self) -> u32 {
        self.results.as_ref().map_or(0, Results::begun)
    }

    /// Returns a setting that has to be the same, and is not shown: only a keyed hash of it is
    /// kept. `value` hashes it whole.
    pub fn secret(&self, name: impl Into<String>, value: impl FnOnce(&mut blake3::Hasher)) -> Term {
        let mut hasher = self.owners.hasher();
        value(&mut hasher);
        Term {
            name: name.into(),
            value: hex(hasher.finalize().as_bytes()),
            secret: true,
        }
    }

    /// Returns a key that only the owner of this folder can derive: another one for each purpose, a
    /// constant.
    pub fn derive(&self, purpose: &'static str) -> Zeroizing<[u8; 32]> {
        let mut hasher = self.owners.hasher();
        hasher.update(purpose.as_bytes());
        Zeroizing::new(hasher.finalize().into())
    }

    /// Checks that these settings are those of the job, if there is one, and that nobody has
    /// changed those that it was started with.
    ///
    /// # Errors
    /// [`Error::Changed`] or [`Error::ChangedSecret`] names the first setting that is not.
    /// [`Error::Damaged`].
    pub fn check(&self, terms: &[Term]) -> Result<(), Error> {
        let Some(job) = &self.job else {
            return Ok(());
        };
        let (secret, shown): (Vec<&Term>, Vec<&Term>) = terms.iter().partition(|term| term.secret);
        let mut of_job = job.terms.iter();
        shown
            .into_iter()
            .try_for_each(|term| self.compare(of_job.clone(), term))?;
        // Only the holder of the secret can tell; the identity's name among the settings tells who
        // that is.
        let is_whole = job.seal == self.seal_of(job) && of_job.len() == terms.len();
        if !is_whole || !of_job.all(|was| terms.iter().any(|is| is.name == was.name)) {
            return Err(At(&self.path).damaged("`job` is not what was written"));
        }
        secret
            .into_iter()
            .try_for_each(|term| self.compare(job.terms.iter(), term))
    }

    /// Checks that the table is that of the job, if there is one, by a [secret](Self::secret) term.
    ///
    /// # Errors
    /// [`Error::ChangedSecret`].
    pub fn check_data(&self, term: &Term) -> Result<(), Error> {
        let of_job = self.job.iter().flat_map(|job| &job.data);
        self.compare(of_job, term)
    }

    fn compare<'t>(
        &self,
        mut of_job: impl Iterator<Item = &'t Term>,
        is: &Term,
    ) -> Result<(), Error> {
        let was = of_job.find(|was| was.name == is.name);
        let Some(was) = was.filter(|was| was.value != is.value) else {
            return Ok(());
        };
        let (folder, name) = (self.path.clone(), was.name.clone());
        Err(match was.secret {
            true => Error::ChangedSecret { folder, name },
            false => Error::Changed {
                folder,
                name,
                was: was.value.clone(),
                is: is.value.clone(),
            },
        })
    }

    /// Returns what both parties agreed on about columns.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    ///
    /// # Panics
    /// If there is no job.
    pub fn columns(&self) -> Result<Columns, Error> {
        let job = self.job.as_ref().expect("a job");
        let damaged = || At(&self.path).damaged("its columns cannot be opened");
        let text = self.owners.open(COLUMNS, unhex(&job.columns));
        let text = text.map_err(|_| damaged())?;
        serde_json::from_slice(&text).map_err(|_| damaged())
    }

    /// Returns the seed that the job's items are digested under.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    ///
    /// # Panics
    /// If there is no job, or it has ended.
    pub fn joint_seed(&self) -> Result<JointSeed, Error> {
        let job = self.job.as_ref().expect("a job");
        let damaged = || At(&self.path).damaged("its seed cannot be opened");
        let seed = self.key().open(SEED, sealed(&job.seed));
        let seed = seed.map_err(|_| damaged())?;
        let seed: &[u8; 32] = seed[..].try_into().map_err(|_| damaged())?;
        let seed = JointSeed::kept(*seed);
        match name_of(&seed) == job.id {
            true => Ok(seed),
            false => Err(damaged()),
        }
    }

    /// Starts a job, in place of one none of whose steps has begun. When this returns, it is on the
    /// disk.
    ///
    /// # Errors
    /// If the folder cannot be written.
    ///
    /// # Panics
    /// If steps of another job have begun, or it has ended.
    pub fn begin(&mut self, begun: Begun<'_>) -> Result<(), Error> {
        assert!(self.begun() == 0 && self.job.as_ref().is_none_or(|job| job.ended.is_none()));
        let at = At(&self.path);
        self.unmark();
        // Its name lasts with the job's.
        at.io(private::open(&self.path.join(RESULTS)))?;
        let seal = |place, text: &[u8]| self.key().seal(place, text).map(|sealed| hex(&sealed));
        let columns = serde_json::to_vec(&begun.columns).expect("texts and bytes");
        let columns = self.owners.seal(COLUMNS, &columns);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let job = Job {
            format: FORMAT,
            program: begun.program.to_owned(),
            begun: now.map_or(0, |now| now.as_secs()),
            terms: begun.terms,
            data: begun.data,
            protocol: begun.protocol.to_owned(),
            plan: hex(&begun.plan),
            items: begun.items,
            parts: begun.parts,
            steps: begun.steps,
            bytes: begun.bytes,
            columns: hex(&at.io(columns)?),
            id: name_of(begun.joint_seed),
            seed: Some(at.io(seal(SEED, &begun.joint_seed.to_kept()))?),
            command: Some(at.io(seal(COMMAND, begun.command.as_bytes()))?),
            confirmed: false,
            signed: false,
            ended: None,
            salt: self.salt.clone(),
            seal: String::new(),
        };
        self.write(job)?;
        self.results = Some(self.open_results(self.job.as_ref().expect("it was written"))?);
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
        self.write(Job {
            confirmed: true,
            ..job
        })
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
        self.write(Job {
            signed: true,
            ..job
        })
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
        self.write(Job {
            seed: None,
            command: None,
            ended: Some(ended),
            ..job
        })?;
        self.clear()
    }

    /// Removes what an ended job has no more use for.
    fn clear(&mut self) -> Result<(), Error> {
        (self.results, self.key) = (None, None);
        self.unmark();
        let at = At(&self.path);
        for name in [RESULTS, KEY] {
            at.io(folder::remove_file(&self.path.join(name)))?;
        }
        at.io(folder::sync(&self.path))
    }

    /// Puts a job, sealed anew, on the disk.
    fn write(&mut self, mut job: Job) -> Result<(), Error> {
        job.seal = self.seal_of(&job);
        let text = serde_json::to_vec_pretty(&job).expect("texts and numbers");
        At(&self.path).io(private::replace(&self.path.join(JOB), &text))?;
        self.job = Some(job);
        Ok(())
    }

    /// Returns a hash of a job that only its owner can make.
    fn seal_of(&self, job: &Job) -> String {
        let unsealed = Job {
            seal: String::new(),
            ..job.clone()
        };
        let text = serde_json::to_vec(&unsealed).expect("texts and numbers");
        let mut hasher = self.owners.hasher();
        hasher.update(SEAL).update(&text);
        hex(hasher.finalize().as_bytes())
    }

    fn key(&self) -> &Key {
        self.key.as_ref().expect("a job that has not ended")
    }

    fn open_results(&self, job: &Job) -> Result<Results, Error> {
        let at = At(&self.path);
        let file = at.io(private::open(&self.path.join(RESULTS)))?;
        let key = Key::new(Zeroizing::new(*self.key().bytes()));
        let results = at.results(Results::open(file, key, job.id.clone(), job.steps, true))?;
        let marks = self.marks.as_ref();
        if let Some(mark) = marks.and_then(|marks| Mark::open(marks, &name_of_mark(job))) {
            let shorter = |Shorter| Error::Lost(self.path.clone());
            results.mark(mark).map_err(shorter)?;
        }
        Ok(results)
    }

    /// Removes the mark of the job, which is over or never began.
    fn unmark(&self) {
        if let (Some(marks), Some(job)) = (&self.marks, &self.job) {
            mark::clear(marks, &name_of_mark(job));
        }
    }
}

/// The initial state of a job.
pub struct Begun<'a> {
    /// The version of the program.
    pub program: &'a str,
    /// As [`Job::terms`].
    pub terms: Vec<Term>,
    /// As [`Job::data`].
    pub data: Vec<Term>,
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
    /// The agreement about columns.
    pub columns: Columns,
    /// The seed that items are digested under.
    pub joint_seed: &'a JointSeed,
    /// The command that resumes the job.
    pub command: &'a str,
}

/// Returns what this party calls a job: both may be of one user.
fn name_of_mark(job: &Job) -> String {
    format!("{}-{}", job.id, job.salt)
}

/// Returns what both parties call a job.
fn name_of(joint_seed: &JointSeed) -> String {
    hex(&joint_seed.key("psijoin 2026 job: name")[..16])
}

const COLUMNS: &[u8] = b"psijoin 2026 job: columns";
const SEAL: &[u8] = b"psijoin 2026 job: seal";
const SEED: &[u8] = b"psijoin 2026 job: seed";
const COMMAND: &[u8] = b"psijoin 2026 job: command";

/// Returns what cannot be read cannot be opened either.
fn sealed(text: &Option<String>) -> Vec<u8> {
    text.as_deref().map(unhex).unwrap_or_default()
}

fn unhex(text: &str) -> Vec<u8> {
    from_hex(text).unwrap_or_default()
}

fn salt() -> io::Result<String> {
    let mut salt = [0; 16];
    random(&mut salt)?;
    Ok(hex(&salt))
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

/// The path that errors name.
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
    fn own(&self) -> Result<(), Error> {
        match self.io(private::access(self.0))? {
            Access { is_ours: false, .. } => Err(Error::NotOurs(self.0.to_owned())),
            Access {
                is_shared: true, ..
            } => Err(Error::Open(self.0.to_owned())),
            _ => Ok(()),
        }
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

    /// Returns whether the folder is a job's, or empty: nothing else is ever written to.
    fn is_a_jobs(&self) -> io::Result<bool> {
        match fs::read(self.0.join(LOCK)) {
            Ok(mark) if mark == MARK => return Ok(true),
            // Another process works in it: on Windows, what is locked cannot be read.
            Err(error) if cfg!(windows) && error.raw_os_error() == Some(LOCK_VIOLATION) => {
                return Ok(true);
            }
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
            let mut file = private::open(&self.0.join(KEY))?;
            file.set_len(0)?;
            file.write_all(key.bytes())?;
            file.sync_all()?;
            folder::sync(self.0)?;
            Ok(key)
        };
        self.io(written())
    }
}

/// The error of Windows for a file that another process has locked.
const LOCK_VIOLATION: i32 = 33;

/// The time for which a lock may still be held: a process that was killed keeps it until the system
/// has taken back its memory.
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns whether this process has got the lock of a file. On a file system without locks
/// everybody gets it.
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

#[cfg(test)]
mod tests;
