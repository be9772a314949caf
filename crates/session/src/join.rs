//! A party's join, from what is wanted of it to its end.

use std::{
    mem,
    path::{Path, PathBuf},
    sync::Arc,
};

use psijoin::{Adversary, Role};
use psijoin_channel::AbortCode;
use psijoin_files::{AtomicFile, Existing};
use psijoin_job::Ended;
use psijoin_runtime::parallel::Pool;
use psijoin_source::{Progress, Source};
use psijoin_table::Destination;
use psijoin_transport::{Endpoint, Identity, Options, Security};

use crate::{
    Error, ErrorKind, JoinSpec, Question, Resources, Stop, TableSpec, Watcher, Written,
    allowance::Allowance,
    arrow_table::Back,
    columns::OwnColumns,
    event::{Event, Warning, Work, during},
    grouped::Grouped,
    job::{Job, Subject, WrittenAs},
    meet::meet,
    outcome::{Outcome, Received},
    party::{Mode, OwnBudget, Party},
    pulse,
    ready::Ready,
    recording::Recording,
    requested_output::RequestedOutput,
    workplace::{Task, Workplace},
};

/// The purpose of the secret by which a budget tells keys apart.
const OF_KEYS: &str = "psijoin 2026 what budgets know keys by";

/// The result of a join that succeeded.
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
        let mut options = self.options(stop);
        let renewal = self.meeting.renewal.clone();
        let threads = self.resources.threads.map_or(0, usize::from);
        // Zero means one per core.
        let pool = Pool::new(threads).map_err(|_| Error::OutOfMemory);
        let ready = match &pool {
            Ok(pool) => self.ready(pool, watcher, stop),
            Err(_) => Err(Error::OutOfMemory),
        };
        let ready = match ready {
            Ok(ready) => ready,
            Err(error) => {
                tell_of(&error, &mut endpoint, &options, watcher);
                return Err(error);
            }
        };
        let mut is_first = true;
        let meet = || {
            let is_again = !mem::replace(&mut is_first, false);
            if let Some(renewal) = renewal.as_ref().filter(|_| is_again) {
                renewal.renew(&mut endpoint, &mut options.security);
            }
            meet(&mut endpoint, &options, watcher)
        };
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
                // If the reader of the rows went away before all were written, the job stays.
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

    /// Meets the other party only to tell it that this one cannot go on with this error, if that is
    /// of its own making.
    pub fn tell_of(&self, error: &Error, watcher: &dyn Watcher, stop: &Stop) {
        let mut endpoint = self.meeting.endpoint.clone();
        tell_of(error, &mut endpoint, &self.options(stop), watcher);
    }

    pub(crate) fn options(&self, stop: &Stop) -> Options {
        let mut options = self.meeting.options();
        options.streams = true;
        options.pulse = pulse::of(&stop.progress);
        options.interrupt = stop.interrupt.clone();
        options
    }

    /// Tells what is insecure.
    pub(crate) fn warn(&self, watcher: &dyn Watcher) {
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
        mut self,
        pool: &'p Pool,
        watcher: &'p dyn Watcher,
        stop: &'p Stop,
    ) -> Result<Ready<'p>, Error> {
        watcher.hear(Event::Threads(pool.threads()));
        self.warn(watcher);
        let progress = &*stop.progress;
        let allowance = self.allowance(pool.threads())?;
        let table = mem::take(&mut self.table);
        let keyed = !self.key.columns().is_empty();
        let (source, back) = open(table, keyed, &allowance, progress, watcher)?;
        watcher.hear(Event::Opened(&source));
        let mut also_written = self.also_written.iter();
        if let Some(path) = also_written.find(|path| source.is_file(path)) {
            return Err(Error::OverwritesInput(path.clone()));
        }
        let job = self.open_job()?;
        // Of a job that is over nothing is written.
        let existing = match job.as_ref().and_then(Job::ended) {
            Some(_) => Existing::Replace,
            None => self.written.existing,
        };
        // The record of a job that was signed before is written anew if the job needs it.
        let existing_record = match job.as_ref().is_some_and(Job::is_signed) {
            true => Existing::Replace,
            false => Existing::Keep,
        };
        let recording = self.recording(existing_record)?;
        let is_aligned = self.aligned.is_some();
        let result = (self.role, &self.question);
        let task = (self.written).task(result, (&source, back), existing, is_aligned)?;
        let wait = self.meeting.wait;
        let party = self.party(recording, &allowance, watcher);
        let workplace = Workplace {
            source,
            task,
            pool,
            allowance,
            progress,
        };
        workplace.check(&party)?;
        Ok(Ready {
            own: OwnColumns::find(&party.question.asked, party.role, &workplace.source)?,
            party,
            workplace,
            job,
            wait,
        })
    }

    /// Returns what this party may use, if it computes with this number of threads.
    pub(crate) fn allowance(&self, threads: usize) -> Result<Allowance, Error> {
        let Resources {
            memory,
            spill_folder,
            ..
        } = &self.resources;
        Allowance::new(*memory, spill_folder.clone(), threads)
    }

    /// Opens the job that is to be kept, if one is.
    fn open_job(&self) -> Result<Option<Job>, Error> {
        let Some(folder) = &self.job else {
            return Ok(None);
        };
        let subject = Subject {
            role: self.role,
            protocol: self.protocol,
            question: &self.question,
            terms: self.terms.as_ref(),
            is_recorded: self.record.is_some(),
            is_budgeted: self.budget.is_some(),
            key: &self.key,
            trade: &self.trade,
            written: WrittenAs::new(&self.written, self.aligned.is_some()),
            identity: self.identity(),
            peer: self.meeting.peer(),
        };
        Job::open(folder, &subject).map(Some)
    }

    /// Returns who this party is, if the other one is to know it.
    fn identity(&self) -> Option<&Identity> {
        self.meeting.security.identity()
    }

    /// Makes sure that the record can be signed and written, if there is to be one.
    pub(crate) fn recording(&self, existing: Existing) -> Result<Option<Arc<Recording>>, Error> {
        let recording = self.record.as_deref().zip(self.identity());
        recording
            .map(|(path, identity)| Recording::prepare(path, identity, existing).map(Arc::new))
            .transpose()
    }

    /// Returns the party as the other one meets it.
    pub(crate) fn party<'p>(
        self,
        recording: Option<Arc<Recording>>,
        allowance: &Allowance,
        watcher: &'p dyn Watcher,
    ) -> Party<'p> {
        let secret = self.identity().map(|identity| identity.secret(OF_KEYS));
        let budget = self.budget.map(|path| OwnBudget {
            path,
            name: self.meeting.name,
            secret: secret.unwrap_or_default(),
        });
        Party {
            role: self.role,
            protocol: self.protocol,
            question: self.question,
            consent: self.consent,
            terms: self.terms,
            budget,
            recording,
            key: self.key,
            trade: self.trade,
            aligned: self.aligned,
            mode: self.mode,
            parts: self.parts,
            versions: self.versions,
            lanes: None,
            attempt: None,
            threads: allowance.threads,
            of_one_run: allowance.of_one_run,
            watcher,
        }
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
            (RequestedOutput::Groups(groups), Some(path)) if role == Role::Receiver => {
                refuse_input(path, source)?;
                let destination = Grouped::of_none(groups).prepare(self, existing)?;
                Ok(Task::WriteGroups(destination))
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
    pub(crate) fn shape(
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
    refuse_input(path, source)?;
    AtomicFile::prepare(path, existing).map_err(|source| Error::Shares {
        path: path.to_owned(),
        source,
    })
}

/// Refuses to write to a file of the table, or to one that would be one of it.
fn refuse_input(path: &Path, source: &Source) -> Result<(), psijoin_table::Error> {
    use psijoin_table::WriteError::{OutputAmongInputs, OutputIsInput};
    let file = psijoin_printable::path(path);
    match (source.is_file(path), source.would_take(path)) {
        (true, _) => Err(OutputIsInput { file }.into()),
        (false, true) => Err(OutputAmongInputs { file }.into()),
        (false, false) => Ok(()),
    }
}

/// Meets the other party only to tell it of this error, if it is of this side's own making.
pub(crate) fn tell_of(
    error: &Error,
    endpoint: &mut Endpoint,
    options: &Options,
    watcher: &dyn Watcher,
) {
    if error.kind() == ErrorKind::Local && !error.is_at_work_elsewhere() {
        watcher.hear(Event::TellsOther(error));
        tell(error.abort_code(), endpoint, options, watcher);
    }
}

/// Meets the other party only to tell it that this one cannot go on.
fn tell(why: AbortCode, endpoint: &mut Endpoint, options: &Options, watcher: &dyn Watcher) {
    match meet(endpoint, options, watcher) {
        Ok((connection, _)) => connection.abort(why),
        Err(error) => watcher.hear(Event::NotTold(&error)),
    }
}

/// Opens a table, and tells where its rows go that the caller wants back.
fn open(
    table: TableSpec,
    keyed: bool,
    allowance: &Allowance,
    progress: &Progress,
    watcher: &dyn Watcher,
) -> Result<(Source, Option<Back>), psijoin_source::Error> {
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
