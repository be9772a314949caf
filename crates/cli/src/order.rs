//! What a party is told to do, checked and carried out: the same for the program, and for whoever has it as a library.

use std::{num::NonZeroUsize, path::Path, sync::Arc, time::Duration};

use chrono::Utc;
use psijoin::{Role, registry};
use psijoin_block::parallel::Pool;
use psijoin_job::Ended;
use psijoin_record::Terms;
use psijoin_table::{
    Destination, KeySpec, Progress, Source, WhichRows,
    atomic_file::{AtomicFile, Existing},
    given::RepeatedKeys,
};
use psijoin_transport::{Endpoint, Interrupt, Options, Security, Timeouts};

use crate::{
    allowance::{Allowance, Said},
    args, clashes, closing_statement,
    console::Console,
    dialect,
    embedded::{Back, Table},
    exit::{Code, Failure},
    guard,
    job::{Job, Subject, Written},
    limits::MaxPeerKeys,
    meeting::{self, meet},
    pulse,
    question::{Learners, Question},
    record::{Files, Planned, Record},
    report_file::ReportFile,
    requested_output::RequestedOutput,
    session::{Consent, Mode, Party, Ready, Recording, Task},
    summary::{Received, Summary},
    terms,
};

/// What one party says on its command line, or would.
pub(crate) struct Order<'a> {
    pub(crate) role: Role,
    pub(crate) join: &'a args::Join,
    /// Where the result is written, if a file is named.
    pub(crate) output: Option<&'a Path>,
    receiver_sums: bool,
}

/// What an order is carried out with.
pub(crate) struct Means {
    /// The party's table if it is the caller's. Then its rows go back to the caller, unless a file is named.
    pub(crate) table: Option<Table>,
    pub(crate) console: Console,
    /// Noted in it is what becomes known.
    pub(crate) record: Arc<Record>,
    /// How far a pass over the table is; interrupts it.
    pub(crate) progress: Arc<Progress>,
    /// Interrupts what goes over the network.
    pub(crate) interrupt: Interrupt,
}

impl Means {
    pub(crate) fn new(console: Console, record: &Arc<Record>) -> Self {
        Self {
            table: None,
            console,
            record: record.clone(),
            progress: Arc::default(),
            interrupt: Interrupt::new(),
        }
    }
}

impl<'a> Order<'a> {
    /// `receiver_sums` says whether a sum of the receiver's columns may be computed.
    pub(crate) fn new(role: Role, join: &'a args::Join, receiver_sums: bool) -> Self {
        let named = join.written.output.as_deref();
        Self {
            role,
            join,
            // `-` is what is meant without a name too.
            output: named.filter(|path| *path != Path::new("-")),
            receiver_sums,
        }
    }

    /// What is to be learned, by whom, and on what condition.
    fn question(&self) -> Question {
        Question {
            asked: self.join.output_kind.clone(),
            min_intersection: self.join.min_intersection.unwrap_or(0),
            learners: self.join.learn,
        }
    }

    /// What happens to an output that is there already.
    fn existing(&self) -> Existing {
        match self.join.written.no_clobber {
            true => Existing::Keep,
            false => Existing::Replace,
        }
    }

    /// What is known from the start.
    pub(crate) fn planned(&self) -> Planned {
        let join = self.join;
        Planned {
            started: Utc::now(),
            role: Some(self.role),
            protocol: join.protocol.info().name,
            output_kind: join.output_kind.to_string(),
            learners: join.learn,
            min_intersection: join.min_intersection,
            peer: join.trust.peer,
            files: Files {
                input: join.input.clone(),
                output: self.output.map(Path::to_owned),
                report: join.report.clone(),
            },
            json: join.json,
        }
    }

    /// Makes sure that a report can be written, before anything that is worth a report can fail.
    pub(crate) fn prepare_report(&self, record: &Record) -> Result<(), Failure> {
        if let Some(path) = &self.join.report {
            record.report_to(ReportFile::prepare(path)?);
        }
        Ok(())
    }

    /// Checks that the options fit together.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let usage = |text: String| Err(Failure::Usage(text));
        self.check_output()?;
        self.check_rows()?;
        self.check_trade()?;
        if self.join.record.is_some() && self.join.trust.insecure_plaintext {
            return usage(
                "a record is signed by both identities: give --identity and --peer with --record, and leave out \
                 --insecure-plaintext"
                    .into(),
            );
        }
        clashes::refuse(self.join, self.output)
    }

    /// Checks that columns are given to a party that learns rows.
    fn check_trade(&self) -> Result<(), Failure> {
        let usage = |text: &str| Err(Failure::Usage(text.to_owned()));
        let trade = &self.join.trade;
        if self.join.learn == Learners::Both {
            self.question().check_finds_rows("--learn both")?;
        } else if self.role == Role::Receiver && trade.gives() {
            return usage(
                "the receiver gives columns only if the sender learns, too: give --learn both on both sides, or leave out \
                 --give",
            );
        } else if self.role == Role::Sender && trade.takes() {
            return usage(
                "the sender takes columns only if it learns, too: give --learn both on both sides, or leave out --take",
            );
        }
        if trade.takes() && self.join.written.rows == Some(WhichRows::Unshared) {
            return usage(
                "rows that are not shared have no partner to take columns from: leave out --take, or say --rows all",
            );
        }
        Ok(())
    }

    /// Checks where the result is to go.
    fn check_output(&self) -> Result<(), Failure> {
        let kind = &self.join.output_kind;
        let finds_rows = self.question().finds_rows(self.role);
        let wrong = match (kind, self.output) {
            (RequestedOutput::Shares(_), None) => {
                "say where to write this party's shares: --output FILE".to_owned()
            }
            (RequestedOutput::Shares(_), Some(_)) => return Ok(()),
            (_, None) if finds_rows && self.join.json => {
                "--json and the rows cannot both go to standard output: give --output FILE too"
                    .to_owned()
            }
            (_, Some(_)) if !finds_rows => match (self.role, kind) {
                (Role::Sender, RequestedOutput::Rows) => {
                    "--output of the sender is for its rows or shares, and it gets none: leave --output out, or give \
                     --learn both on both sides"
                        .to_owned()
                }
                (Role::Sender, _) => format!(
                    "--output of the sender is for its rows or shares, and --output-kind {kind} gives it none: \
                     leave --output out"
                ),
                (Role::Receiver, _) => format!(
                    "--output is for rows, and --output-kind {kind} finds none: leave --output out; \
                     the result goes to standard output"
                ),
            },
            _ => return Ok(()),
        };
        Err(Failure::Usage(wrong))
    }

    /// Checks that what is said of rows is said where there are rows.
    fn check_rows(&self) -> Result<(), Failure> {
        let written = &self.join.written;
        let said = [
            ("--quote-empty", written.quote_empty),
            ("--quote-formulas", written.quote_formulas),
            ("--rows", written.rows.is_some()),
            ("--align", written.align),
        ];
        let said = said.iter().find(|(_, is_said)| *is_said);
        if let Some((option, _)) = said
            && !self.question().finds_rows(self.role)
        {
            return Err(Failure::Usage(format!(
                "{option} is for rows, and the {} finds none with --output-kind {} and --learn {}: leave {option} out",
                self.role, self.join.output_kind, self.join.learn
            )));
        }
        self.check_aligned()
    }

    /// Checks that rows can be aligned, if they are to be.
    fn check_aligned(&self) -> Result<(), Failure> {
        let usage = |text: &str| Err(Failure::Usage(text.to_owned()));
        let trade = &self.join.trade;
        match (self.join.written.align, self.join.learn) {
            (true, Learners::Receiver) => usage(
                "--align lines up the rows of both sides: give --learn both, too, on both sides, or leave out --align",
            ),
            (true, Learners::Both) => match trade.repeated() {
                RepeatedKeys::List(_) => Err(psijoin_table::Error::AlignedList.into()),
                _ => Ok(()),
            },
            (false, _) if trade.repeated.is_some() && !trade.gives() => usage(
                "--repeated says what to give or to align where rows have one key: give --give or --align, too, or leave \
                 it out",
            ),
            (false, _) => Ok(()),
        }
    }

    /// Says what was checked, or learned: the closing statement, which comes back. Warns if next to nothing is shared.
    pub(crate) fn tell(&self, console: &Console, record: &Record) -> String {
        if self.join.check {
            let checked = closing_statement::checked(record.warnings());
            console.say(&checked);
            return checked;
        }
        let output = self.output.map(psijoin_printable::path);
        let by_auto = self.join.protocol.info().name == registry::AUTO.info().name;
        let told = record.with_summary(|summary| {
            console.say(closing_statement::cost(summary));
            let statement = closing_statement::statement(summary, output.as_deref(), by_auto);
            console.say(&statement);
            (statement, closing_statement::few_shared(summary))
        });
        let (statement, warning) = told.unwrap_or_default();
        if let Some(warning) = warning {
            console.warn(&warning);
            record.warn(warning);
        }
        statement
    }

    /// Ends a job whose result has been handed out, unless its reader went away.
    ///
    /// # Errors
    /// If its folder cannot be written.
    pub(crate) fn end(&self, job: Option<Job>, record: &Record) -> Result<(), Failure> {
        let is_cut_off =
            |summary: &Summary| matches!(summary.received, Some(Received::Rows { rows: None, .. }));
        match job {
            Some(mut job) if record.with_summary(is_cut_off) != Some(true) => job.end(Ended::Done),
            _ => Ok(()),
        }
    }

    /// Meets the other party, and joins. If this side cannot, it still meets the other, to tell it. A job whose
    /// result is to be handed out comes back.
    ///
    /// # Errors
    /// Any failure; `reportable` among them.
    pub(crate) fn join(
        &self,
        reportable: Result<(), Failure>,
        means: Means,
    ) -> Result<Option<Job>, Failure> {
        let join = self.join;
        let Means {
            table,
            console,
            record,
            progress,
            interrupt,
        } = means;
        let terms = join.terms.as_deref().map(terms::read).transpose()?;
        let security = self.security(&console, &record)?;
        let key = join.key.spec()?;
        record.normalization(key.normalization());
        let mut options = Options::new(security.clone());
        options.streams = true;
        options.timeouts = timeouts(join);
        options.pulse = pulse::of(&progress);
        options.interrupt = interrupt;
        let pool = pool(join.threads);
        let ready = reportable.and_then(|()| {
            let agreed = (terms, &security);
            let surroundings = (&*progress, &console, &*record);
            self.ready(table, key, agreed, &pool, surroundings)
        });
        match ready {
            Ok(ready) => {
                let mut endpoint = self.endpoint();
                let meet = || {
                    let met = meet(&mut endpoint, &options, &console)?;
                    record.met(&met.0);
                    Ok(met)
                };
                if join.check {
                    ready.check(meet)?;
                    record.checked();
                    return Ok(None);
                }
                match ready.join(meet) {
                    Err(Failure::JobIsOver {
                        folder,
                        too_few: None,
                    }) => {
                        record.already_done();
                        console.insist(closing_statement::over(&folder));
                        Ok(None)
                    }
                    joined => {
                        let (summary, job) = joined?;
                        record.done(summary);
                        Ok(job)
                    }
                }
            }
            Err(failure) => {
                if failure.exit_code() == Code::File && !failure.is_at_work_elsewhere() {
                    console.fail(&failure);
                    record.told();
                    tell(&failure, self.endpoint(), &options, &console);
                }
                Err(failure)
            }
        }
    }

    fn endpoint(&self) -> Endpoint {
        let args::Meeting { listen, connect } = &self.join.meeting;
        meeting::endpoint(listen.as_ref(), connect.as_ref()).expect("the command line demands one")
    }

    /// Who the parties are, noted in the record.
    fn security(&self, console: &Console, record: &Record) -> Result<Security, Failure> {
        let security = meeting::security(&self.join.trust, console)?;
        match &security {
            Security::PinnedTls { identity, .. } => record.identity(identity.fingerprint()),
            _ => {
                console.warn(meeting::INSECURE);
                record.warn(meeting::INSECURE.to_owned());
            }
        }
        Ok(security)
    }

    /// The record that is to be signed, if one is asked for. The record of a job that was signed before is written anew if
    /// the job needs it.
    fn recording(
        &self,
        security: &Security,
        job: Option<&Job>,
    ) -> Result<Option<Recording>, Failure> {
        let existing = match job.is_some_and(Job::is_signed) {
            true => Existing::Replace,
            false => Existing::Keep,
        };
        match (&self.join.record, security) {
            (Some(path), Security::PinnedTls { identity, .. }) => {
                Recording::prepare(path, identity, existing).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Checks all that can be checked before the other party is there.
    fn ready<'p>(
        &self,
        table: Option<Table>,
        key: KeySpec,
        (terms, security): (Option<Terms>, &Security),
        pool: &'p Result<Pool, Failure>,
        (progress, console, record): (&'p Progress, &'p Console, &'p Record),
    ) -> Result<Ready<'p>, Failure> {
        let join = self.join;
        let pool = pool.as_ref().map_err(|_| Failure::OutOfMemory)?;
        record.threads(pool.threads());
        if let Some(warning) = closing_statement::insecurity(join.protocol.info()) {
            console.warn(&warning);
            record.warn(warning);
        }
        let allowance = allowance(join, pool.threads())?;
        let back = table.as_ref().map(Table::back);
        let source = match table {
            Some(_) if join.dialect.is_said() => {
                return Err(Failure::Usage(
                    "--input-format, --delimiter, --quote, --no-header, --escapes and --encoding say how a file is written, and \
                     this table is none: leave them out"
                        .to_owned(),
                ));
            }
            Some(table) => console.during(
                "reading the table",
                || progress.bytes(),
                || table.open(&allowance.folder, progress),
            )?,
            None => open(join, progress, console)?,
        };
        self.refuse_input(&source, record)?;
        let question = self.question();
        let job = self.job(&question, terms.as_ref(), &key, security)?;
        // Of a job that is over nothing is written.
        let existing = match job.as_ref().and_then(Job::ended) {
            Some(_) => Existing::Replace,
            None => self.existing(),
        };
        let recording = self.recording(security, job.as_ref())?;
        let party = Party {
            role: self.role,
            protocol: join.protocol,
            question,
            consent: Consent {
                max_peer_keys: join
                    .max_peer_keys
                    .map_or(MaxPeerKeys::ByMemory, MaxPeerKeys::Said),
                receiver_sums: self.receiver_sums,
                strict: join.strict,
            },
            terms,
            recording,
            key,
            task: self.task(&source, back, existing)?,
            trade: join.trade.traded(),
            aligned: join.written.align.then(|| join.trade.repeated()),
            mode: match join.check {
                true => Mode::Check,
                false => Mode::Join,
            },
            parts: join.parts,
            wait: Duration::from_secs(join.wait.into()),
            source,
            pool,
            allowance,
            progress,
            console,
            record,
        };
        party.ready(job)
    }

    /// Refuses a report in the place of a file of the input, which may come from a pattern. A record never is
    /// in the place of any file.
    fn refuse_input(&self, source: &Source, record: &Record) -> Result<(), Failure> {
        match &self.join.report {
            Some(report) if source.is_file(report) => {
                record.leave_out_report();
                Err(Failure::Usage(format!(
                    "--report names a file of the input, {}: nothing was written",
                    psijoin_printable::path(report)
                )))
            }
            _ => Ok(()),
        }
    }

    /// The job, if one is to be kept.
    fn job(
        &self,
        question: &Question,
        terms: Option<&Terms>,
        key: &KeySpec,
        security: &Security,
    ) -> Result<Option<Job>, Failure> {
        let join = self.join;
        let Some(folder) = &join.job else {
            return Ok(None);
        };
        let identity = match security {
            Security::PinnedTls { identity, .. } => Some(identity),
            _ => None,
        };
        let peer = join.trust.peer.map(|peer| peer.to_string());
        let args::Written {
            rows,
            align,
            quote_empty,
            quote_formulas,
            ..
        } = &join.written;
        let options = [
            (*quote_empty, "--quote-empty"),
            (*quote_formulas, "--quote-formulas"),
        ];
        let options = options
            .into_iter()
            .filter_map(|(is_said, name)| is_said.then_some(name));
        let rows = rows.unwrap_or_default();
        let subject = Subject {
            role: self.role,
            protocol: join.protocol,
            question,
            terms,
            is_recorded: join.record.is_some(),
            key,
            trade: &join.trade.traded(),
            written: Written {
                rows: match align {
                    true => format!("{rows}, aligned"),
                    false => rows.to_string(),
                },
                output: self.output,
                options: options.collect(),
            },
            identity,
            peer: peer.unwrap_or_else(|| "(without encryption)".to_owned()),
        };
        Job::open(folder, &subject).map(Some)
    }

    /// What the party is to do with its table. Where its rows go `back`, unless a file is named, if the caller wants them.
    fn task(
        &self,
        source: &Source,
        back: Option<Back>,
        existing: Existing,
    ) -> Result<Task, Failure> {
        match (&self.join.output_kind, self.role, self.output) {
            (RequestedOutput::Shares(_), _, Some(path)) => {
                if source.is_file(path) {
                    let file = psijoin_printable::path(path);
                    return Err(psijoin_table::Error::OutputIsInput { file }.into());
                }
                let file = AtomicFile::prepare(path, existing);
                let cannot = |source| Failure::Shares {
                    path: path.to_owned(),
                    source,
                };
                Ok(Task::Share(file.map_err(cannot)?))
            }
            (_, role, path) if self.question().finds_rows(role) => {
                let args::Written {
                    rows,
                    align,
                    quote_empty,
                    quote_formulas,
                    ..
                } = &self.join.written;
                let destination = match (path, back) {
                    (None, Some(back)) => back(source)?,
                    _ => Destination::prepare(path, source, existing)?,
                };
                let destination = match quote_empty {
                    true => destination.quoting_empty(source)?,
                    false => destination,
                };
                let destination = match quote_formulas {
                    true => destination.quoting_formulas()?,
                    false => destination,
                };
                let chosen = destination.choosing(rows.unwrap_or_default(), source)?;
                Ok(Task::Write(match align {
                    true => chosen.aligning()?,
                    false => chosen,
                }))
            }
            (_, Role::Receiver, _) => Ok(Task::Learn),
            (_, Role::Sender, _) => Ok(Task::Help),
        }
    }
}

/// Meets the other party only to tell it that this one cannot go on.
fn tell(failure: &Failure, mut endpoint: Endpoint, options: &Options, console: &Console) {
    guard::has_said(failure);
    console.say("telling the other party; Ctrl-C ends this at once");
    match meet(&mut endpoint, options, console) {
        Ok((connection, _)) => connection.abort(failure.abort_code()),
        Err(failure) => console.say(format_args!("the other party could not be told: {failure}")),
    }
}

fn allowance(join: &args::Join, threads: usize) -> Result<Allowance, Failure> {
    let said = match (join.table_memory, join.memory) {
        (Some(bytes), _) => Said::Budget(bytes),
        (None, Some(bytes)) => Said::Memory(bytes),
        (None, None) => Said::Nothing,
    };
    Allowance::new(said, join.spill_dir.clone(), threads)
}

fn timeouts(args: &args::Join) -> Timeouts {
    let defaults = Timeouts::default();
    let wait = Duration::from_secs(args.wait.into());
    Timeouts {
        meet: wait,
        setup: defaults.setup.min(wait),
        idle: Duration::from_secs(args.timeout.into()),
        ..defaults
    }
}

fn pool(threads: Option<NonZeroUsize>) -> Result<Pool, Failure> {
    // Zero stands for one per core.
    let threads = threads.map_or(0, NonZeroUsize::get);
    Pool::new(threads).map_err(|_| Failure::OutOfMemory)
}

fn open(join: &args::Join, progress: &Progress, console: &Console) -> Result<Source, Failure> {
    let (format, said) = (join.dialect.format, join.dialect.dialect()?);
    let keyed = join.key.is_named();
    let what = match &*join.input {
        [only] if only == Path::new("-") => "reading standard input".to_owned(),
        [only] => format!("reading {}", psijoin_printable::path(only)),
        several => format!("reading {} inputs", several.len()),
    };
    let source = console.during(
        &what,
        || progress.bytes(),
        || Source::open_all(&join.input, format, &said, keyed, progress),
    )?;
    if let ([only], files @ 2..) = (&*join.input, source.files()) {
        let name = psijoin_printable::path(only);
        console.say(format_args!(
            "{name}: {files} files, in the order of their names"
        ));
    }
    dialect::tell(&source, console);
    Ok(source)
}
