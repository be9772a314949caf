//! A party's join, from what is wanted of it to its end.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use psijoin::{Adversary, Role};
use psijoin_block::parallel::Pool;
use psijoin_channel::AbortCode;
use psijoin_files::{AtomicFile, Existing};
use psijoin_job::Ended;
use psijoin_table::{Destination, Progress, Source};
use psijoin_transport::{Endpoint, Options, Security, Timeouts};

use crate::{
    Error, ErrorKind, JoinSpec, Question, Stop, TableSpec, Watcher, Written,
    allowance::Allowance,
    arrow_table::Back,
    event::{Event, Warning, Work, during},
    job::{Job, Subject, WrittenAs},
    meet::meet,
    outcome::{Outcome, Received},
    party::{Mode, Party, Ready, Task},
    pulse,
    requested_output::RequestedOutput,
    signing::Recording,
};

/// How a join has ended well.
pub enum Joined {
    /// The parties can join. Nothing more was asked for.
    Checked,
    /// Nothing was done, as the job in this folder was done before.
    DoneBefore(PathBuf),
    /// This is the result.
    Done(Box<Outcome>, Option<KeptJob>),
}

/// The job of a join whose result is about to be handed out.
pub struct KeptJob(Box<Job>);

impl KeptJob {
    /// Ends the job, as its result has been handed out: what it has kept goes.
    ///
    /// # Errors
    /// If its folder cannot be written.
    pub fn end(mut self) -> Result<(), Error> {
        self.0.end(Ended::Done)
    }
}

impl JoinSpec {
    /// Meets the other party, and joins. If this side cannot, as its own files do not let it, it
    /// still meets the other, to tell it.
    ///
    /// # Errors
    /// Any failure.
    pub fn join(self, watcher: &dyn Watcher, stop: &Stop) -> Result<Joined, Error> {
        self.check()?;
        let mode = self.mode;
        let mut endpoint = self.meeting.endpoint.clone();
        let options = self.options(stop);
        let threads = self.resources.threads.map_or(0, usize::from);
        // Zero stands for one per core.
        let pool = Pool::new(threads).map_err(|_| Error::OutOfMemory);
        let ready = match &pool {
            Ok(pool) => self.ready(pool, watcher, stop),
            Err(_) => Err(Error::OutOfMemory),
        };
        let ready = match ready {
            Ok(ready) => ready,
            Err(error) => {
                if error.kind() == ErrorKind::Local && !error.is_at_work_elsewhere() {
                    watcher.hear(Event::TellsOther(&error));
                    tell(error.abort_code(), &mut endpoint, &options, watcher);
                }
                return Err(error);
            }
        };
        let meet = || meet(&mut endpoint, &options, watcher);
        if mode == Mode::Check {
            return ready.check(meet).map(|()| Joined::Checked);
        }
        match ready.join(meet) {
            Err(Error::JobIsOver {
                folder,
                too_few: None,
            }) => Ok(Joined::DoneBefore(folder)),
            joined => {
                let (outcome, job) = joined?;
                // Where the reader of the rows went away before all were written, the job stays.
                let is_cut_off =
                    matches!(outcome.received, Some(Received::Rows { rows: None, .. }));
                let job = job
                    .filter(|_| !is_cut_off)
                    .map(|job| KeptJob(Box::new(job)));
                Ok(Joined::Done(Box::new(outcome), job))
            }
        }
    }

    /// Meets the other party only to tell it that this one cannot go on.
    pub fn tell(&self, why: AbortCode, watcher: &dyn Watcher, stop: &Stop) {
        let mut endpoint = self.meeting.endpoint.clone();
        tell(why, &mut endpoint, &self.options(stop), watcher);
    }

    fn options(&self, stop: &Stop) -> Options {
        let mut options = Options::new(self.meeting.security.clone());
        options.streams = true;
        options.timeouts = timeouts(self.meeting.wait, self.meeting.timeout);
        options.pulse = pulse::of(&stop.progress);
        options.interrupt = stop.interrupt.clone();
        options
    }

    /// Tells what is insecure.
    fn warn(&self, watcher: &dyn Watcher) {
        if matches!(self.meeting.security, Security::InsecurePlaintext) {
            watcher.hear(Event::Warning(Warning::Plaintext));
        }
        let info = self.protocol.info();
        if info.adversary == Adversary::Insecure {
            watcher.hear(Event::Warning(Warning::Insecure(info)));
        }
    }

    /// Checks all that can be checked before the other party is there.
    fn ready<'p>(
        self,
        pool: &'p Pool,
        watcher: &'p dyn Watcher,
        stop: &'p Stop,
    ) -> Result<Ready<'p>, Error> {
        watcher.hear(Event::Threads(pool.threads()));
        self.warn(watcher);
        let Self {
            role,
            meeting,
            table,
            key,
            question,
            protocol,
            trade,
            aligned,
            written,
            also_written,
            consent,
            terms,
            record,
            job,
            mode,
            resources,
            parts,
        } = self;
        let progress = &*stop.progress;
        let allowance = Allowance::new(resources.memory, resources.spill_folder, pool.threads())?;
        let keyed = !key.columns().is_empty();
        let (source, back) = open(table, keyed, &allowance, progress, watcher)?;
        watcher.hear(Event::Opened(&source));
        if let Some(path) = also_written.into_iter().find(|path| source.is_file(path)) {
            return Err(Error::OverwritesInput(path));
        }
        let identity = match &meeting.security {
            Security::PinnedTls { identity, .. } => Some(identity),
            _ => None,
        };
        let job = job.map(|folder| {
            let subject = Subject {
                role,
                protocol,
                question: &question,
                terms: terms.as_ref(),
                is_recorded: record.is_some(),
                key: &key,
                trade: &trade,
                written: WrittenAs::new(&written, aligned.is_some()),
                identity,
                peer: match &meeting.security {
                    Security::PinnedTls { peer, .. } => peer.to_string(),
                    _ => "(without encryption)".to_owned(),
                },
            };
            Job::open(&folder, &subject)
        });
        let job = job.transpose()?;
        // Of a job that is over nothing is written.
        let existing = match job.as_ref().and_then(Job::ended) {
            Some(_) => Existing::Replace,
            None => written.existing,
        };
        // The record of a job that was signed before is written anew if the job needs it.
        let existing_record = match job.as_ref().is_some_and(Job::is_signed) {
            true => Existing::Replace,
            false => Existing::Keep,
        };
        let recording = record.as_deref().zip(identity);
        let recording =
            recording.map(|(path, identity)| Recording::prepare(path, identity, existing_record));
        let recording = recording.transpose()?;
        let task = written.task(
            (role, &question),
            (&source, back),
            existing,
            aligned.is_some(),
        )?;
        let party = Party {
            role,
            protocol,
            question,
            consent,
            terms,
            recording,
            key,
            source,
            task,
            trade,
            aligned,
            mode,
            parts,
            wait: meeting.wait,
            pool,
            allowance,
            progress,
            watcher,
        };
        party.ready(job)
    }
}

impl Written {
    /// Returns what the party is to do with its table. Its rows go `back` if the caller has it,
    /// unless a file is named.
    fn task(
        &self,
        (role, question): (Role, &Question),
        (source, back): (&Source, Option<Back>),
        existing: Existing,
        is_aligned: bool,
    ) -> Result<Task, Error> {
        match (&question.asked, self.output.as_deref()) {
            (RequestedOutput::Shares(_), Some(path)) => {
                file_of_shares(path, source, existing).map(Task::Share)
            }
            (_, path) if question.finds_rows(role) => {
                let destination = match (path, back) {
                    (None, Some(back)) => back(source)?,
                    _ => Destination::prepare(path, source, existing)?,
                };
                Ok(Task::Write(self.shape(destination, source, is_aligned)?))
            }
            _ if role == Role::Receiver => Ok(Task::Learn),
            _ => Ok(Task::Help),
        }
    }

    /// Returns the rows as they are to be written there.
    fn shape(
        &self,
        destination: Destination,
        source: &Source,
        is_aligned: bool,
    ) -> Result<Destination, psijoin_table::Error> {
        let destination = match self.quotes_empty {
            true => destination.quoting_empty(source)?,
            false => destination,
        };
        let destination = match self.quotes_formulas {
            true => destination.quoting_formulas()?,
            false => destination,
        };
        let chosen = destination.choosing(self.rows, source)?;
        match is_aligned {
            true => chosen.aligning(),
            false => Ok(chosen),
        }
    }
}

fn file_of_shares(path: &Path, source: &Source, existing: Existing) -> Result<AtomicFile, Error> {
    if source.is_file(path) {
        let file = psijoin_printable::path(path);
        return Err(
            psijoin_table::Error::Write(psijoin_table::WriteError::OutputIsInput { file }).into(),
        );
    }
    AtomicFile::prepare(path, existing).map_err(|source| Error::Shares {
        path: path.to_owned(),
        source,
    })
}

/// Meets the other party only to tell it that this one cannot go on.
fn tell(why: AbortCode, endpoint: &mut Endpoint, options: &Options, watcher: &dyn Watcher) {
    match meet(endpoint, options, watcher) {
        Ok((connection, _)) => connection.abort(why),
        Err(error) => watcher.hear(Event::NotTold(&error)),
    }
}

fn timeouts(wait: Duration, timeout: Duration) -> Timeouts {
    let defaults = Timeouts::default();
    Timeouts {
        meet: wait,
        setup: defaults.setup.min(wait),
        idle: timeout,
        ..defaults
    }
}

/// Opens a table, and tells where its rows go that the caller wants back.
fn open(
    table: TableSpec,
    keyed: bool,
    allowance: &Allowance,
    progress: &Progress,
    watcher: &dyn Watcher,
) -> Result<(Source, Option<Back>), psijoin_table::Error> {
    let bytes = || progress.bytes();
    match table {
        TableSpec::Arrow(table) => {
            let back = table.back();
            let open = || table.open(&allowance.spill.folder, progress);
            let source = during(watcher, Work::Copying, bytes, open)?;
            Ok((source, Some(back)))
        }
        TableSpec::Files {
            inputs,
            format,
            dialect,
        } => {
            let open = || Source::open_all(&inputs, format, &dialect, keyed, progress);
            let source = during(watcher, Work::Opening(&inputs), bytes, open)?;
            if let ([name], files @ 2..) = (&*inputs, source.files()) {
                watcher.hear(Event::SeveralFiles { name, files });
            }
            Ok((source, None))
        }
    }
}
