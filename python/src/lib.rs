//! The native module of the Python package: joins of tables in memory, the user's identity, and the
//! program.
//!
//! Keywords of Python's calls become a `JoinSpec`, which is run as the program's is
//! (`psijoin_frontend::run`), and errors name these keywords. `psijoin_cli` is here for the command
//! `psijoin` alone, which the wheel brings along.
//!
//! # How it is built
//!
//! | module | what lives there |
//! |---|---|
//! | `_session`, `_pair`, `_plan`, `_identity`, `_peers` | what users call |
//! | `_tables` | what becomes of a table of each library on its way in, and of rows on their way out |
//! | `lanes` | joins of tables that lie in several processes, for any engine |
//! | `spark` | DataFrames of Spark: a join's columns are collected, and rows are joined back by key; or executors run `lanes`, and what they write is veiled (`python/src/veil.rs`) |
//! | `_call` | calls whose joins stop if the call of the other side fails (`together`) |
//! | `_listening` | what a join says meanwhile: `logging`, and progress |
//! | `_errors` | exceptions, one for each exit code |
//! | `_psijoin` (`python/src`) | the bridge: joins in a thread of their own, with Python's lock released, while signals are looked for 20 times per second |
//!
//! A join reads a table twice: for its keys, and for the rows that come back. Data frames differ in
//! what that costs, so there are three ways:
//!
//! - *In memory*: the batches are shared with the library that has them, and rows that come back
//!   are copies (`Source::of_batches`, `Destination::in_memory`).
//! - *By number*: of pandas and polars, a join gets the columns that it reads, and gives back the
//!   numbers of rows, with what is added to them (`Destination::row_numbers`). The library then
//!   picks the rows. So a frame keeps its types and index, other columns are not even converted,
//!   and nothing of the frame is there twice. Columns that are not read are there by name, as what
//!   is added must differ from them.
//! - *Streams*: of what is computed while it is read, as lazy frames, datasets and readers, rows
//!   are copied to a temporary file without a name, some at a time (`Source::copy`). To run a query
//!   twice would be cheaper for the disk, but rows may come in another order, and then the rows
//!   would be wrong ones. A sender of rows reads the key's columns and those that it shares, which
//!   the query is told.
//!
//! An exception that a Python iterator raises meanwhile is the cause of the error. The error itself
//! does not repeat its words, which may hold values.
//!
//! Why PyO3 and the Arrow project's own bridge: see dependencies. The wheel is built for the stable
//! interface of Python 3.11, and serves all later versions; builds without the global lock do not
//! have that interface, and do not load it.

#![forbid(unsafe_code)]

mod blocks;
mod calls;
mod deadline;
mod failed;
mod frames;
mod hints;
mod joining;
mod lanes;
mod options;
mod peers;
mod planning;
mod sealing;
mod veil;
mod wanted;

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{
        Mutex,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use jiff::Timestamp;
use psijoin::Role;
use psijoin_frontend::{home, planning as plans, sentences};
use psijoin_session as session;
use psijoin_transport::{Fingerprint, Identity};
use pyo3::{
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
    types::PyDict,
};

use calls::Listening;
use failed::{Failed, Failure, raised, untried};
use frames::Rows;
use joining::{Joined, Learned, contained};
use wanted::Party;

/// The time between two looks for signals while a join runs.
const SIGNALS: Duration = Duration::from_millis(50);

/// Joins a table in memory, and returns a dictionary: `statement`, `report` and `learned`.
///
/// `role` is `receive` or `send`, and `options` are the keywords of a join. `table` is anything
/// with `__arrow_c_stream__`, or an iterator of such; `name` is its name in messages. `how` it is
/// read is `in memory`, `by number` or `stream`. `listener` has the methods `say(text)`,
/// `warn(text)` and `at(what, bytes, total_bytes)`, which other threads call. Python's lock is
/// released meanwhile. A signal stops the join, and so does `stop`.
///
/// Raises `Failure` with the program's exit code, message and hint, whether it may pass, and the
/// report. An exception of the iterator is its cause.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
fn join<'py>(
    py: Python<'py>,
    party: &Bound<'py, Party>,
    role: &str,
    options: &Bound<'py, PyDict>,
    table: &Bound<'py, PyAny>,
    name: &str,
    how: &str,
    listener: Py<PyAny>,
    stop: &Bound<'py, Stop>,
) -> PyResult<Bound<'py, PyDict>> {
    let role = match role {
        "receive" => Role::Receiver,
        "send" => Role::Sender,
        _ => return Err(PyValueError::new_err("there is no such role")),
    };
    let (party, started) = (party.get(), Timestamp::now());
    let prepared = || {
        let (table, cause) = frames::table(table, name, how)?;
        PyResult::Ok((party.call(role, options, table)?, cause))
    };
    let (call, cause) = prepared()
        .map_err(|error| untried(py, error, party.untried(role, options, name, started)))?;
    let joined = while_signals_are_seen(py, &stop.get().0, move |stop| {
        joining::join(call, listener, stop)
    })?;
    let joined = joined.map_err(|failed| {
        let error = raised(failed);
        error.set_cause(py, cause.lock().expect("no panic").take());
        error
    });
    dictionary(py, joined?)
}

/// Returns the predicted cost of a join with these keywords: a text for people, and a line of JSON
/// per protocol.
///
/// Raises `Failure` as `join` does.
#[pyfunction]
fn plan(
    py: Python<'_>,
    options: &Bound<'_, PyDict>,
    listener: Py<PyAny>,
) -> PyResult<(String, Vec<String>)> {
    let listener = Listening {
        listener,
        deadline: None,
    };
    let (join, network) = planning::planned(options)?;
    let plan = move |_: &_| contained(|| plans::planned(&join, network.into(), &listener));
    let planned = while_signals_are_seen(py, &session::Stop::default(), plan)?;
    let planned = planned.map_err(|failure| raised(failure.into()))?;
    Ok((planned.text("all=True"), planned.json_lines()))
}

/// Stops joins that have it, for both parties, from any thread.
#[pyclass(frozen, module = "psijoin._psijoin")]
#[derive(Default)]
struct Stop(session::Stop);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn stop(&self) {
        self.0.stop();
    }
}

/// Runs `work` in a thread. If a signal raises an exception meanwhile, as Ctrl-C does, the work is
/// stopped.
fn while_signals_are_seen<T: Send + 'static>(
    py: Python<'_>,
    stop: &session::Stop,
    work: impl FnOnce(&session::Stop) -> T + Send + 'static,
) -> PyResult<T> {
    let (done, is_done) = mpsc::channel();
    let stopping = stop.clone();
    thread::spawn(move || {
        // Nobody waits any more if it was stopped.
        let _ = done.send(work(&stopping));
    });
    let is_done = Mutex::new(is_done);
    loop {
        let waited = py.detach(|| {
            let is_done = is_done.lock().expect("no panic");
            is_done.recv_timeout(SIGNALS)
        });
        match waited {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("a thread of psijoin ended early"));
            }
        }
        if let Err(signal) = py.check_signals() {
            stop.stop();
            // The other party hears of it first.
            py.detach(|| {
                let is_done = is_done.lock().expect("no panic");
                let _ = is_done.recv_timeout(Duration::from_secs(2));
            });
            return Err(signal);
        }
    }
}

fn dictionary(py: Python<'_>, joined: Joined) -> PyResult<Bound<'_, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("statement", joined.statement)?;
    told.set_item("report", joined.report)?;
    match joined.learned {
        Learned::Rows(schema, batches) => {
            told.set_item("learned", Rows::new(schema, batches))?;
        }
        Learned::Places(places) => told.set_item("learned", lanes::Places::new(places))?,
        Learned::Count(count) => told.set_item("learned", count)?,
        Learned::Reached(reached) => told.set_item("learned", reached)?,
        Learned::Sums(sums) => told.set_item("learned", sums)?,
        Learned::Nothing => told.set_item("learned", py.None())?,
    }
    Ok(told)
}

/// A message with what users do about it, in one text.
#[pyfunction]
fn with_hint(message: &str, hint: Option<&str>) -> String {
    sentences::with_hint(message, hint)
}

/// The identity in a file, or the user's own, which is made if there is none: its file, and its
/// fingerprint.
#[pyfunction]
#[pyo3(signature = (path=None))]
fn identity(path: Option<PathBuf>) -> PyResult<(String, String)> {
    let own = home::identity(path.as_deref()).map_err(|failure| raised(failure.into()))?;
    Ok(identified(own.path, own.fingerprint))
}

/// A new identity in a new file: the file, and the fingerprint.
#[pyfunction]
#[pyo3(signature = (path, passphrase=None))]
fn new_identity(path: PathBuf, passphrase: Option<String>) -> PyResult<(String, String)> {
    let passphrase = wanted::passphrase(passphrase)?;
    let made = Identity::generate().and_then(|mut identity| {
        if let Some(passphrase) = &passphrase {
            identity = identity.lock(passphrase)?;
        }
        identity.write_new(&path)?;
        Ok(identity)
    });
    let identity = made.map_err(|error| raised(Failed::of(error)))?;
    Ok(identified(path, identity.fingerprint()))
}

/// Gives the identity in a file another passphrase, a first one, or none.
#[pyfunction]
#[pyo3(signature = (path, old, new))]
fn change_passphrase(path: PathBuf, old: Option<String>, new: Option<String>) -> PyResult<()> {
    let (old, new) = (wanted::passphrase(old)?, wanted::passphrase(new)?);
    let changed = home::change_passphrase(Some(&path), &old.into(), || Ok(new));
    changed.map_err(|failure| raised(failure.into()))?;
    Ok(())
}

fn identified(path: PathBuf, fingerprint: Fingerprint) -> (String, String) {
    (path.to_string_lossy().into_owned(), fingerprint.to_string())
}

/// Runs the program as the only thing in this process, with these arguments, and returns its exit
/// code.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<String>) -> u8 {
    py.detach(|| psijoin_cli::run(args.into_iter().map(OsString::from)))
}

// Free-threaded builds of Python would run with their lock: nobody has tested it without.
#[pymodule(gil_used = true)]
fn _psijoin(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Failure", module.py().get_type::<Failure>())?;
    module.add_class::<Party>()?;
    module.add_class::<Rows>()?;
    module.add_class::<Stop>()?;
    module.add_class::<lanes::Agreed>()?;
    module.add_class::<lanes::Column>()?;
    module.add_class::<lanes::Lane>()?;
    module.add_class::<lanes::Places>()?;
    module.add_class::<lanes::Report>()?;
    module.add_class::<lanes::Router>()?;
    module.add_class::<lanes::Taken>()?;
    module.add_class::<lanes::Ticket>()?;
    module.add_class::<lanes::Unpacked>()?;
    module.add_function(wrap_pyfunction!(lanes::agree, module)?)?;
    module.add_function(wrap_pyfunction!(lanes::decline, module)?)?;
    module.add_function(wrap_pyfunction!(lanes::keys_of, module)?)?;
    module.add_function(wrap_pyfunction!(lanes::merge_facts, module)?)?;
    module.add_function(wrap_pyfunction!(lanes::merged, module)?)?;
    module.add_function(wrap_pyfunction!(lanes::place, module)?)?;
    module.add_function(wrap_pyfunction!(lanes::read_portion, module)?)?;
    module.add_function(wrap_pyfunction!(lanes::shared, module)?)?;
    module.add_function(wrap_pyfunction!(lanes::unpacked, module)?)?;
    module.add_function(wrap_pyfunction!(join, module)?)?;
    module.add_function(wrap_pyfunction!(plan, module)?)?;
    module.add_function(wrap_pyfunction!(identity, module)?)?;
    module.add_function(wrap_pyfunction!(new_identity, module)?)?;
    module.add_function(wrap_pyfunction!(change_passphrase, module)?)?;
    module.add_function(wrap_pyfunction!(peers::invite, module)?)?;
    module.add_function(wrap_pyfunction!(peers::accept, module)?)?;
    module.add_function(wrap_pyfunction!(peers::peers, module)?)?;
    module.add_function(wrap_pyfunction!(peers::rename_peer, module)?)?;
    module.add_function(wrap_pyfunction!(peers::remove_peer, module)?)?;
    module.add_function(wrap_pyfunction!(peers::confirm_peer, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::open_rows, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::seal_in_buckets, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::seal_in_parts, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::seal_rows, module)?)?;
    module.add_function(wrap_pyfunction!(veil::veil, module)?)?;
    module.add_function(wrap_pyfunction!(sealing::seal, module)?)?;
    module.add_function(wrap_pyfunction!(sealing::unseal, module)?)?;
    module.add_function(wrap_pyfunction!(with_hint, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    Ok(())
}
