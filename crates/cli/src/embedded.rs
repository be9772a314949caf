//! Joins for programs that have this one as a library: of tables in memory, with results as values.
//!
//! What is to be done is said in the words of the command line, so all options mean the same, and
//! so do all errors. Nothing is printed, no signal is caught, and nothing ends the process.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use psijoin_cli::embedded::*;
//! # fn customers() -> Table { unimplemented!() }
//! struct Quiet;
//!
//! impl Listener for Quiet {
//!     fn say(&self, _: &str) {}
//!     fn warn(&self, _: &str, _: Option<&str>) {}
//!     fn at(&self, _: &str, _: u64, _: u64) {}
//! }
//!
//! let words = "receive --listen 0.0.0.0:7766 --peer psi1-… --key email --take plan";
//! let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
//! // From another thread, `stop.stop()` ends it.
//! let stop = Stop::default();
//! let joined = join(&words, customers(), Arc::new(Quiet), &stop)?;
//! println!("{}", joined.statement);
//! if let Learned::Rows(Some((_, batches))) = joined.learned {
//!     // The rows, as Arrow data.
//! }
//! # Ok::<(), Failed>(())
//! ```

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use clap::Parser;
pub use psijoin_session::{ArrowTable as Table, Stop};
use psijoin_session::{KeptJob, Mode, Received};
use psijoin_transport::Identity;

use crate::{
    args::{Args, Command},
    commands::plan,
    console::{self, Console},
    exit::{Code, Failure},
    home, moved,
    order::Order,
    output,
    record::Record,
    report,
};
pub use crate::{console::Listener, words::with_hint};

/// A party's identity.
#[derive(Debug, Clone)]
pub struct Identified {
    /// The file that holds it.
    pub path: PathBuf,
    /// What the other party knows it by.
    pub fingerprint: String,
}

/// Returns the identity in this file, or the user's own, which is made if there is none.
///
/// # Errors
/// If it cannot be read, or made.
pub fn identity(named: Option<&Path>) -> Result<Identified, Failed> {
    let own = home::identity(named).map_err(|failure| failed(&failure, None))?;
    Ok(Identified {
        path: own.path,
        fingerprint: own.identity.fingerprint().to_string(),
    })
}

/// Returns a new identity, in a new file.
///
/// # Errors
/// If there is such a file already, or it cannot be written.
pub fn new_identity(path: &Path) -> Result<Identified, Failed> {
    let made = Identity::generate().and_then(|identity| {
        identity.write_new(path)?;
        Ok(identity)
    });
    let identity = made.map_err(|error| failed(&error.into(), None))?;
    Ok(Identified {
        path: path.to_owned(),
        fingerprint: identity.fingerprint().to_string(),
    })
}

/// What came of a join.
#[derive(Debug)]
pub struct Joined {
    /// Who has learned what, for people.
    pub statement: String,
    /// What `--report` writes: JSON.
    pub report: String,
    /// The result.
    pub learned: Learned,
}

/// What this party has learned.
#[derive(Debug)]
#[non_exhaustive]
pub enum Learned {
    /// Nothing: it helped the other party, or only checked. Or it has shares, in a file.
    Nothing,
    /// Its rows, as Arrow data, unless a file was named for them.
    Rows(Option<(SchemaRef, Vec<RecordBatch>)>),
    /// How many keys are shared.
    Count(u64),
    /// Whether at least as many keys are shared as was asked.
    Reached(bool),
    /// What columns add up to over the shared keys: their names, and decimals.
    Sums(Vec<(String, String)>),
}

/// Why a join failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failed {
    /// The program's exit code for it.
    pub code: u8,
    /// What happened, and what to do. It holds no key and no value of a table.
    pub message: String,
    /// The options of the program that do something about it.
    pub hint: Option<String>,
    /// Whether the same may succeed later, though nobody changes anything.
    pub may_pass: bool,
    /// What `--report` writes: JSON. Nothing if the words could not be understood.
    pub report: Option<String>,
}

impl Failed {
    /// A table cannot be used, as this message says.
    pub fn table(message: String) -> Self {
        Self {
            code: Code::File as u8,
            message,
            hint: None,
            may_pass: false,
            report: None,
        }
    }
}

/// Joins as `psijoin` would that is told these words, from `receive`, `send` or `check` on, without
/// `--input`: the table is this one. Rows come back in memory, unless `--output` names a file.
///
/// # Errors
/// Whatever would end the program.
pub fn join(
    words: &[String],
    table: Table,
    listener: Arc<dyn Listener>,
    stop: &Stop,
) -> Result<Joined, Failed> {
    let name = table.name().to_owned();
    let input = ["--input", &name].map(str::to_owned);
    let args = understood(&[words, &input].concat())?;
    let order = match &args.command {
        Command::Receive(args) => Order::to_receive(args, Mode::Join),
        Command::Send(args) => Order::to_send(args, Mode::Join),
        Command::Check(args) => Order::to_check(args),
        _ => return Err(not_understood("the first word is receive, send or check")),
    };
    if order.join.evidence.prints_report() {
        return Err(not_understood(
            "nothing is printed here: let --report name a file",
        ));
    }
    let console = Console::Heard(listener);
    let record = Record::of(order.planned());
    let carried_out = || {
        order.check()?;
        let job = order.join(Some(table), (&console, &record), stop)?;
        let told = order.tell(&console, &record);
        job.map_or(Ok(()), KeptJob::end)?;
        Ok(told)
    };
    let joined = contained(carried_out);
    let (report, written) = report::text(&record, joined.as_ref().err());
    match joined.and_then(|told| written.map(|()| told)) {
        Ok(told) => Ok(Joined {
            statement: console::harmless(told),
            report,
            learned: record.received().map_or(Learned::Nothing, Learned::from),
        }),
        Err(failure) => Err(failed(&failure, Some(report))),
    }
}

/// What a join will take.
#[derive(Debug)]
pub struct Planned {
    /// For people: a table.
    pub text: String,
    /// For scripts: JSON, a line per protocol, the best first.
    pub lines: Vec<String>,
}

/// Plans as `psijoin` would that is told these words, from `plan` on.
///
/// # Errors
/// Whatever would end the program.
pub fn plan(words: &[String], listener: Arc<dyn Listener>, stop: &Stop) -> Result<Planned, Failed> {
    let Command::Plan(args) = understood(words)?.command else {
        return Err(not_understood("the first word is plan"));
    };
    let console = Console::Heard(listener);
    let planned = || {
        let planned = plan::planned(&args, &console, stop)?;
        Ok(Planned {
            text: planned.text(),
            lines: planned.lines().iter().map(output::line).collect(),
        })
    };
    contained(planned).map_err(|failure| failed(&failure, None))
}

/// Returns what is said in these words.
fn understood(words: &[String]) -> Result<Args, Failed> {
    if let Some(moved) = moved::named(words) {
        return Err(not_understood(&moved.to_string()));
    }
    let program = ["psijoin".to_owned()];
    let args = Args::try_parse_from(program.iter().chain(words));
    args.map_err(|error| not_understood(&error.to_string()))
}

/// Does this work. What panics is a bug, which must not end the process that this is in.
fn contained<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Failure::Bug { file: "?", line: 0 }))
}

fn failed(failure: &Failure, report: Option<String>) -> Failed {
    Failed {
        code: failure.exit_code() as u8,
        message: console::harmless(failure),
        hint: failure.hint().map(console::harmless),
        may_pass: failure.may_pass(),
        report,
    }
}

fn not_understood(message: &str) -> Failed {
    Failed {
        code: Code::Usage as u8,
        message: console::harmless(message.trim_start_matches("error: ").trim_end()),
        hint: None,
        may_pass: false,
        report: None,
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
