//! Joins for programs that have this one as a library: of tables in memory, with results as values.
//!
//! The request is a [`JoinSpec`], and errors are those of the program. Nothing is printed, no
//! signal is caught, and nothing ends the process.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use psijoin_cli::embedded::*;
//! # use psijoin_session::{JoinSpec, Meeting, TableSpec};
//! # use psijoin_transport::{Endpoint, Security};
//! # fn customers() -> Table { unimplemented!() }
//! # fn security() -> Security { unimplemented!() }
//! struct Quiet;
//!
//! impl Listener for Quiet {
//!     fn say(&self, _: &str) {}
//!     fn warn(&self, _: &str, _: Option<&str>) {}
//!     fn at(&self, _: &str, _: u64, _: u64) {}
//! }
//!
//! let meeting = Meeting::new(Endpoint::Listen("0.0.0.0:7766".parse()?), security());
//! let key = psijoin_table::KeySpec::new(vec!["email".into()], vec![])?;
//! let table = TableSpec::Arrow(customers());
//! let spec = JoinSpec::new(psijoin::Role::Receiver, meeting, table, key);
//! // From another thread, `stop.stop()` ends it.
//! let stop = Stop::default();
//! let joined = join(Order::new(spec), Arc::new(Quiet), &stop)?;
//! println!("{}", joined.statement);
//! if let Learned::Rows(Some((_, batches))) = joined.learned {
//!     // The rows, as Arrow data.
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use jiff::Timestamp;
use psijoin_channel::link::Link;
use psijoin_forecast::money::Rates;
use psijoin_record::Terms;
pub use psijoin_session::{ArrowTable as Table, Stop};
use psijoin_session::{
    Error, Further, JobFolder, JoinSpec, KeptJob, Learners, Received, TableSpec,
};
use psijoin_transport::{Identity, Security};

use crate::{
    clashes::{self, Named},
    commands::plan,
    conduct::{self, Witnesses},
    console::{self, Console},
    deadline::Deadline,
    exit::{Code, Failure},
    home, order, output,
    record::{self, Files, Record},
    report, terms,
};
pub use crate::{
    commands::plan::PlannedJoin,
    console::Listener,
    ways_out::{Hint, is_of_keys, reason_of_peer},
    words::{Remedy, with_hint},
};

/// Returns what users do about an error, if anything can be said.
pub type AboutError = fn(&Error) -> Option<Hint>;

/// A party's identity.
#[derive(Debug, Clone)]
pub struct Identified {
    /// The file that holds it.
    pub path: PathBuf,
    /// The fingerprint by which the other party knows it.
    pub fingerprint: String,
}

/// Returns the identity in this file, or the user's own, which is made if there is none.
///
/// # Errors
/// If it cannot be read, or made.
pub fn identity(named: Option<&Path>, about_error: AboutError) -> Result<Identified, Failed> {
    let own = home::identity(named).map_err(|failure| Failed::before(failure, about_error))?;
    Ok(Identified {
        path: own.path,
        fingerprint: own.identity.fingerprint().to_string(),
    })
}

/// Returns a new identity, in a new file.
///
/// # Errors
/// If there is such a file already, or it cannot be written.
pub fn new_identity(path: &Path, about_error: AboutError) -> Result<Identified, Failed> {
    let made = Identity::generate().and_then(|identity| {
        identity.write_new(path)?;
        Ok(identity)
    });
    let identity = made.map_err(|error| Failed::of(error, about_error))?;
    Ok(Identified {
        path: path.to_owned(),
        fingerprint: identity.fingerprint().to_string(),
    })
}

/// The result of a join.
#[derive(Debug)]
pub struct Joined {
    /// Who has learned what, for people.
    pub statement: String,
    /// The report that `--report` writes: JSON.
    pub report: String,
    /// The result.
    pub learned: Learned,
}

/// The output that this party has learned.
#[derive(Debug)]
#[non_exhaustive]
pub enum Learned {
    /// Nothing: it helped the other party, or only checked. Or it has shares, in a file.
    Nothing,
    /// Its rows, as Arrow data, unless a file was named for them.
    Rows(Option<(SchemaRef, Vec<RecordBatch>)>),
    /// The number of shared keys.
    Count(u64),
    /// `true` if at least the requested number of keys are shared.
    Reached(bool),
    /// The sums of columns over the shared keys: their names, and decimals.
    Sums(Vec<(String, String)>),
}

/// Why a join failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failed {
    /// The program's exit code for it.
    pub code: u8,
    /// The error and the way out. It holds no key and no value of a table.
    pub message: String,
    /// Advice for users, if there is any.
    pub hint: Option<String>,
    /// `true` if the join may succeed later without any change.
    pub may_pass: bool,
    /// The report that `--report` writes: JSON. Nothing if it was not even tried.
    pub report: Option<String>,
}

impl Failed {
    /// Returns the failure that a table cannot be used, with this message.
    pub fn table(message: String) -> Self {
        Self::new(Code::File, message)
    }

    /// Returns the failure of an invalid request, with this message.
    pub fn usage(message: impl Display) -> Self {
        Self::new(Code::Usage, console::harmless(message))
    }

    /// Returns the failure of a join that is not even tried, because of this error. `about_error`
    /// returns what users do about it.
    pub fn of(error: impl Into<Error>, about_error: AboutError) -> Self {
        Self::before(Failure::Session(error.into()), about_error)
    }

    fn before(failure: Failure, about_error: AboutError) -> Self {
        let hint = match &failure {
            Failure::Session(error) => about_error(error),
            _ => None,
        };
        failed(&failure, hint, None)
    }

    fn new(code: Code, message: String) -> Self {
        Self {
            code: code as u8,
            message,
            hint: None,
            may_pass: false,
            report: None,
        }
    }
}

/// A join that the program wants that has this one as a library.
pub struct Order {
    /// The request. If the table is not in a file, rows come back in memory, unless a file is named
    /// for them.
    pub spec: JoinSpec,
    /// Where the report is written, if a file is named.
    pub report: Option<PathBuf>,
    /// The file of the identity in `spec`: nothing is written there.
    pub identity: Option<PathBuf>,
    /// The file of the terms in `spec`: nothing is written there.
    pub terms: Option<PathBuf>,
    /// The seconds that everything may take together. Then the join is [stopped](Stop), and with it
    /// all that have the same stop.
    pub deadline: Option<u32>,
}

impl Order {
    /// Returns a join without a report and a deadline.
    pub fn new(spec: JoinSpec) -> Self {
        Self {
            spec,
            report: None,
            identity: None,
            terms: None,
            deadline: None,
        }
    }

    /// Returns the facts that are known from the start.
    fn planned(&self) -> record::Planned {
        let spec = &self.spec;
        let question = &spec.question;
        record::Planned {
            started: Timestamp::now(),
            role: Some(spec.role),
            protocol: spec.protocol.info().name,
            output_kind: question.asked.to_string(),
            learners: question.learners,
            min_intersection: Some(question.min_intersection).filter(|least| *least > 0),
            peer: match &spec.meeting.security {
                Security::PinnedTls { peer, .. } => Some(*peer),
                _ => None,
            },
            files: Files {
                input: match &spec.table {
                    TableSpec::Files { inputs, .. } => inputs.clone(),
                    TableSpec::Arrow(table) => vec![table.name().into()],
                },
                output: spec.written.output.clone(),
                report: self.report.clone(),
            },
            ..record::Planned::default()
        }
    }

    /// Checks what cannot be seen in the spec alone.
    fn check(&self) -> Result<(), Failure> {
        let Self { spec, .. } = self;
        if spec.question.learners == Learners::Both {
            spec.question.check_finds_rows(Further::Both)?;
        }
        fn named<'a>(name: &'static str, path: &'a Option<PathBuf>) -> Option<Named<'a>> {
            path.as_deref().map(|path| Named::new(name, path))
        }
        clashes::refuse(&clashes::Files {
            report: named("`report`", &self.report),
            record: named("`record`", &spec.record),
            output: named("`output`", &spec.written.output),
            identity: named("`identity`", &self.identity),
            terms: named("`terms`", &self.terms),
            inputs: match &spec.table {
                TableSpec::Files { inputs, .. } => {
                    (inputs.iter().map(|path| Named::new("a table", path))).collect()
                }
                TableSpec::Arrow(_) => Vec::new(),
            },
        })
    }
}

/// Returns the folder of a job, which is to note what was started as this process was.
pub fn job_folder(path: PathBuf) -> JobFolder {
    JobFolder {
        path,
        marks: home::jobs(),
        command: order::command(),
    }
}

/// Reads the text of the terms.
///
/// # Errors
/// If it cannot be read, is empty, or too long.
pub fn terms(path: &Path) -> Result<Terms, Failed> {
    terms::read(path).map_err(|failure| failed(&failure, None, None))
}

/// Joins.
///
/// # Errors
/// Whatever would end the program.
pub fn join(order: Order, listener: Arc<dyn Listener>, stop: &Stop) -> Result<Joined, Failed> {
    let console = Console::Heard(listener);
    let record = Record::of(order.planned());
    let joined = contained(|| carry_out(order, &console, &record, stop));
    let hint = joined
        .as_ref()
        .err()
        .and_then(|failure| console.hint(failure));
    let (report, written) = report::text(&record, joined.as_ref().err(), hint);
    match joined.and_then(|told| written.map(|()| told)) {
        Ok(told) => Ok(Joined {
            statement: console::harmless(told),
            report,
            learned: record.received().map_or(Learned::Nothing, Learned::from),
        }),
        Err(failure) => Err(failed(&failure, console.hint(&failure), Some(report))),
    }
}

/// Joins, and returns the closing statement.
fn carry_out(
    order: Order,
    console: &Console,
    record: &Record,
    stop: &Stop,
) -> Result<String, Failure> {
    order.check()?;
    let deadline = order.deadline.map(|seconds| Deadline::set(seconds, stop));
    let deadline = deadline.transpose()?;
    let mode = order.spec.mode;
    let reportable = conduct::prepare_report(order.report.as_deref(), record);
    let mut spec = order.spec;
    spec.also_written.extend(order.report);
    let witnesses = Witnesses {
        console,
        record,
        hands_out: &|| deadline.iter().for_each(Deadline::lift),
    };
    let job = conduct::join(spec, reportable, witnesses, stop);
    let job = job.map_err(|failure| match &deadline {
        Some(deadline) => deadline.reason(failure),
        None => failure,
    })?;
    let told = conduct::tell(mode, console, record);
    job.map_or(Ok(()), KeptJob::end)?;
    Ok(told)
}

/// The predicted cost of a join.
#[derive(Debug)]
pub struct Planned {
    /// For people: a table.
    pub text: String,
    /// For scripts: JSON, a line per protocol, the best first.
    pub lines: Vec<String>,
}

/// Returns the predicted cost of a join over this network. The text advises people to use `all` to
/// compare all protocols.
///
/// # Errors
/// Whatever would end the program.
pub fn plan(
    join: &PlannedJoin,
    network: Link,
    all: &str,
    listener: Arc<dyn Listener>,
) -> Result<Planned, Failed> {
    let console = Console::Heard(listener);
    let planned = || {
        let planned = plan::planned(join, network.into(), &console)?;
        Ok(Planned {
            text: planned.text(all),
            lines: planned.lines().iter().map(output::line).collect(),
        })
    };
    contained(planned).map_err(|failure| failed(&failure, console.hint(&failure), None))
}

/// Returns what things cost by this file, or by the prices of this name, in these regions.
///
/// # Errors
/// If the file cannot be used, or has no such region.
pub fn rates(file: Option<&Path>, regions: &[String]) -> Result<Option<Rates>, Failed> {
    plan::rates(file, regions).map_err(|failure| failed(&failure, None, None))
}

/// Does this work. A panic is a bug, which must not end the caller's process.
fn contained<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Failure::Bug { file: "?", line: 0 }))
}

fn failed(failure: &Failure, hint: Option<Hint>, report: Option<String>) -> Failed {
    Failed {
        code: failure.exit_code() as u8,
        message: console::harmless(failure),
        hint: hint.map(console::harmless),
        may_pass: failure.may_pass(),
        report,
    }
}

impl From<Received> for Learned {
    fn from(received: Received) -> Self {
        match received {
            Received::Rows { in_memory, .. } => Self::Rows(in_memory),
            Received::Count(count) => Self::Count(count),
            Received::Threshold { reached, .. } => Self::Reached(reached),
            Received::Sums(sums) => {
                let named = sums.iter();
                let named = named.map(|sum| (sum.column.name.to_string(), sum.value.to_string()));
                Self::Sums(named.collect())
            }
            Received::Shares { .. } => Self::Nothing,
        }
    }
}
