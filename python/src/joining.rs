//! A join of a table in memory, with a value as its result. Nothing is printed, no signal is
//! caught, and nothing ends the process.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use jiff::Timestamp;
use psijoin::parts::SharedPlaces;
use psijoin_frontend::{
    Failure, NamedFiles, Narrator, Notes, Wanted,
    files::{self, Named},
    partner::KnownAs,
    report::Report,
    run,
    sentences::harmless,
};
use psijoin_session::{Further, JoinSpec, KeptJob, Learners, Received, Stop, TableSpec};
use pyo3::prelude::*;

use crate::{
    calls::Listening,
    deadline::Deadline,
    failed::{Failed, ending},
};

/// A join that Python wants.
pub(crate) struct JoinCall {
    /// The request, but for what the [terms](Self::read_terms) say.
    pub(crate) spec: JoinSpec,
    /// The name by which the user knows the other party, if it was called so.
    pub(crate) known_as: Option<KnownAs>,
    /// The file for the report, if one is named.
    pub(crate) report: Option<PathBuf>,
    /// The file of the identity in `spec`: nothing is written there.
    pub(crate) identity: PathBuf,
    /// The file of the terms.
    pub(crate) terms: Option<PathBuf>,
    /// The seconds that everything may take together. Then the join is [stopped](Stop), and with it
    /// all that have the same stop.
    pub(crate) deadline: Option<u32>,
}

/// The result of a join.
pub(crate) struct Joined {
    /// The statement of who has learned what, for people.
    pub(crate) statement: String,
    /// The facts about the run, as JSON.
    pub(crate) report: String,
    /// The result.
    pub(crate) learned: Learned,
}

/// The output that this party has learned.
pub(crate) enum Learned {
    /// Nothing: it helped the other party, or only checked. Or its result is in a file.
    Nothing,
    /// Its rows, or the totals of groups, as Arrow data.
    Rows(SchemaRef, Vec<RecordBatch>),
    /// The shared places of each part, of rows that stay where their parts ran.
    Places(Vec<SharedPlaces>),
    /// The number of shared keys.
    Count(u64),
    /// `true` if at least the requested number of keys are shared.
    Reached(bool),
    /// The sums of columns over the shared keys: their names, and decimals.
    Sums(Vec<(String, String)>),
}

impl JoinCall {
    /// Returns the facts that are known from the start.
    pub(crate) fn wanted(&self) -> Wanted {
        let spec = &self.spec;
        let question = &spec.question;
        Wanted {
            started: Timestamp::now(),
            role: Some(spec.role),
            protocol: Some(spec.protocol.info().name),
            output_kind: Some(question.asked.to_string()),
            learners: Some(question.learners),
            min_intersection: Some(question.min_intersection).filter(|least| *least > 0),
            post_quantum: question.post_quantum,
            profile: None,
            peer: spec.meeting.security.only_peer(),
            files: NamedFiles {
                input: match &spec.table {
                    TableSpec::Files { inputs, .. } => inputs.clone(),
                    TableSpec::Arrow(table) => vec![table.name().into()],
                },
                output: spec.written.output.clone(),
                report: self.report.clone(),
            },
        }
    }

    /// Reads the terms, which both sides have alike.
    ///
    /// # Errors
    /// If they cannot be read. The other party can still be told.
    pub(crate) fn read_terms(&mut self) -> Result<(), Failure> {
        self.spec.terms = self.terms.as_deref().map(files::read_terms).transpose()?;
        Ok(())
    }

    /// Checks what cannot be seen in the spec alone.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let Self { spec, .. } = self;
        if spec.question.learners == Learners::Both {
            spec.question.check_finds_rows(Further::Both)?;
        }
        fn named<'a>(name: &'static str, path: &'a Option<PathBuf>) -> Option<Named<'a>> {
            path.as_deref().map(|path| Named::new(name, path))
        }
        files::refuse_clashes(&files::Files {
            report: named("`report`", &self.report),
            record: named("`record`", &spec.record),
            output: named("`output`", &spec.written.output),
            identity: Some(Named::new("`identity`", &self.identity)),
            passphrase: None,
            terms: named("`terms`", &self.terms),
            budget: named("`budget`", &spec.budget),
            lists: Vec::new(),
            inputs: match &spec.table {
                TableSpec::Files { inputs, .. } => {
                    (inputs.iter().map(|path| Named::new("a table", path))).collect()
                }
                TableSpec::Arrow(_) => Vec::new(),
            },
        })
    }
}

/// Joins.
///
/// # Errors
/// Whatever would end the program.
pub(crate) fn join(call: JoinCall, listener: Py<PyAny>, stop: &Stop) -> Result<Joined, Failed> {
    let notes = Notes::of(call.wanted());
    notes.know_as(call.known_as.clone());
    let joined = contained(|| carry_out(call, listener, &notes, stop));
    ended(&notes, joined)
}

/// Ends a run with its report: it has come to this statement, or failed.
pub(crate) fn ended(notes: &Notes, joined: Result<String, Failure>) -> Result<Joined, Failed> {
    let reported = notes.end(|known| {
        let report = Report::new(known, joined.as_ref().err().map(ending));
        (report.line(), known.write(&report))
    });
    let (report, written) = reported.expect("a run is reported once");
    match joined.and_then(|told| written.map(|()| told)) {
        Ok(told) => Ok(Joined {
            statement: harmless(told),
            report,
            learned: notes.received().map_or(Learned::Nothing, Learned::from),
        }),
        Err(failure) => Err(Failed::reported(&failure, report)),
    }
}

/// Joins, and returns the closing statement.
fn carry_out(
    mut call: JoinCall,
    listener: Py<PyAny>,
    notes: &Notes,
    stop: &Stop,
) -> Result<String, Failure> {
    call.check()?;
    let deadline = call.deadline.map(|seconds| Deadline::set(seconds, stop));
    let listening = Listening {
        listener,
        deadline: deadline.transpose()?,
    };
    let mode = call.spec.mode;
    let reportable = run::prepare_report(call.report.as_deref(), notes);
    let able = reportable.and_then(|()| call.read_terms());
    let mut spec = call.spec;
    spec.also_written.extend(call.report);
    let narrator = Narrator {
        listener: &listening,
        notes,
    };
    let job = run::join(spec, able, narrator, stop);
    let job = job.map_err(|failure| match &listening.deadline {
        Some(deadline) => deadline.reason(failure),
        None => failure,
    })?;
    let told = run::tell(mode, narrator);
    job.map_or(Ok(()), KeptJob::end)?;
    Ok(told)
}

/// Does this work. A panic is a bug, which must not end the caller's process.
pub(crate) fn contained<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Failure::Bug { file: "?", line: 0 }))
}

impl From<Received> for Learned {
    fn from(received: Received) -> Self {
        match received {
            Received::Rows { in_memory, .. } => {
                in_memory.map_or(Self::Nothing, |(schema, rows)| Self::Rows(schema, rows))
            }
            Received::Count(count) => Self::Count(count),
            Received::Threshold { reached, .. } => Self::Reached(reached),
            Received::Sums(sums) => {
                let named = sums.iter();
                let named = named.map(|sum| (sum.column.name.to_string(), sum.value.to_string()));
                Self::Sums(named.collect())
            }
            Received::Groups(grouped) => {
                let (schema, batches) = grouped.batches();
                Self::Rows(schema, batches)
            }
            Received::Places(places) => Self::Places(places),
            Received::Elsewhere { .. } | Received::Shares { .. } => Self::Nothing,
        }
    }
}
