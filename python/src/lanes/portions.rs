//! Portions of a table: their keys, and the facts about them.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader, UInt16Array};
use psijoin::spill::Spill;
use psijoin_frontend::Failure;
use psijoin_source::Source;
use psijoin_table::{
    Beside,
    portions::{self, PortionFacts, PortionKeys},
};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};

use super::{Column, Router, with_one_thread};
use crate::{
    Stop,
    failed::{Failed, raised},
    frames::{self, Raised, Reader, Rows},
    options::Options,
    wanted, while_signals_are_seen,
};

/// Keywords of a portion.
const KNOWN: [&str; 8] = [
    "on",
    "normalize",
    "bad_keys",
    "numbers",
    "labels",
    "groups",
    "give",
    "repeated",
];

/// Reads a portion of a table, and returns its distinct keys, and the facts about it. Its options
/// are `on`, `normalize`, `bad_keys`, `give` and `repeated`, as for joins; `numbers` and `labels`,
/// the columns of such; and `groups`, the lists of labels.
///
/// Raises `Failure`, as `join` does.
#[pyfunction]
pub(crate) fn read_portion<'py>(
    py: Python<'py>,
    table: &Bound<'py, PyAny>,
    name: &str,
    options: &Bound<'py, PyDict>,
    stop: &Bound<'py, Stop>,
) -> PyResult<(Rows, Bound<'py, PyBytes>)> {
    let options = Options::new(options, &KNOWN, ("agree", &["lanes", "peer"]))?;
    let numbers = options.columns("numbers")?.unwrap_or_default();
    options.only_with("groups", &["labels"])?;
    let (key, labels) = (wanted::key(&options)?, wanted::labels(&options)?);
    let columns = numbers.clone();
    options.only_with("repeated", &["give"])?;
    let (give, repeated) = (options.columns("give")?, wanted::repeated(&options)?);
    let read = read(py, (table, name), stop, move |source, stop| {
        let spill = Spill::in_memory();
        let give = give.as_deref().map(|columns| (columns, repeated));
        let beside = Beside {
            numbers: &numbers,
            labels: &labels,
        };
        portions::read(&source, &key, beside, give, &spill, stop.progress())
    });
    let (keys, facts) = read?;
    let (schema, batches) = keys.to_batches(&columns);
    Ok((
        Rows::new(schema, batches),
        PyBytes::new(py, &facts.to_bytes()),
    ))
}

/// Returns the fingerprint of each row's key, null where it has none.
#[pyfunction]
pub(crate) fn keys_of(
    py: Python<'_>,
    table: &Bound<'_, PyAny>,
    name: &str,
    options: &Bound<'_, PyDict>,
    stop: &Bound<'_, Stop>,
) -> PyResult<Column> {
    let key = wanted::key(&Options::new(options, &KNOWN[..3], ("read", &["numbers"]))?)?;
    let fingerprints = read(py, (table, name), stop, move |source, stop| {
        portions::fingerprints(&source, &key, stop.progress())
    });
    Ok(Column(portions::fingerprints_of_rows(&fingerprints?)))
}

/// Reads a table by this function, in a thread of its own.
fn read<T: Send + 'static>(
    py: Python<'_>,
    (table, name): (&Bound<'_, PyAny>, &str),
    stop: &Bound<'_, Stop>,
    read: impl FnOnce(Source, &psijoin_session::Stop) -> Result<T, psijoin_table::Error>
    + Send
    + 'static,
) -> PyResult<T> {
    let (rows, cause) = frames::rows(table, name)?;
    let name = name.to_owned();
    let done = while_signals_are_seen(py, &stop.get().0, move |stop| {
        with_one_thread(|| {
            let source = Source::collect(&name, rows, stop.progress()).map_err(failure)?;
            read(source, stop).map_err(failure)
        })
    })?;
    done.map_err(|failure| caused(py, failure.into(), &cause))
}

fn failure(error: impl Into<psijoin_session::Error>) -> Failure {
    Failure::Session(error.into())
}

/// Returns the exception, with what an iterator has raised as its cause.
pub(super) fn caused(py: Python<'_>, failed: Failed, cause: &Raised) -> PyErr {
    let error = raised(failed);
    error.set_cause(py, cause.lock().expect("no panic").take());
    error
}

/// Makes one of keys that are equal, adds up their numbers in these columns, and joins their rows.
/// Their labels must be equal, too.
#[pyfunction]
pub(crate) fn merged(
    py: Python<'_>,
    keys: &Bound<'_, PyAny>,
    columns: Vec<String>,
    stop: &Bound<'_, Stop>,
) -> PyResult<Rows> {
    let (rows, cause) = frames::rows(keys, "the keys")?;
    let done = while_signals_are_seen(py, &stop.get().0, move |_| {
        with_one_thread(|| {
            let mut all = PortionKeys::none_of(&rows.schema(), &columns);
            for keys in read_keys(rows, columns.clone(), PortionKeys::whole_of_batch) {
                all.extend(keys?).map_err(failure)?;
            }
            let merged = all.merged(&columns).map_err(failure)?;
            Ok(merged.to_batches(&columns))
        })
    })?;
    let (schema, batches) = done.map_err(|failure| caused(py, failure.into(), &cause))?;
    Ok(Rows::new(schema, batches))
}

/// Returns the keys of each batch, with their numbers in these columns, as a function reads them.
pub(super) fn read_keys(
    rows: Reader,
    columns: Vec<String>,
    read: fn(&RecordBatch, &[String]) -> Result<PortionKeys, psijoin_table::Error>,
) -> impl Iterator<Item = Result<PortionKeys, Failure>> {
    rows.map(move |batch| {
        let why = "the keys cannot be read: they are no Arrow data, or their iterator has failed";
        let batch = batch.map_err(|_| Failure::Usage(why.to_owned()))?;
        read(&batch, &columns).map_err(failure)
    })
}

/// Returns the part of each key.
#[pyfunction]
pub(crate) fn place(
    py: Python<'_>,
    router: &Bound<'_, PyAny>,
    keys: &Bound<'_, PyAny>,
) -> PyResult<Column> {
    let router = Router::given(router)?;
    let (rows, cause) = frames::rows(keys, "the keys")?;
    let placed = py.detach(|| {
        with_one_thread(|| {
            let mut parts: Vec<u16> = Vec::new();
            for keys in read_keys(rows, Vec::new(), PortionKeys::of_batch) {
                parts.extend(router.place(&keys?.fingerprints));
            }
            Ok(parts)
        })
    });
    let parts = placed.map_err(|failure| caused(py, failure.into(), &cause))?;
    let parts: ArrayRef = Arc::new(UInt16Array::from(parts));
    Ok(Column(parts))
}

/// Merges the facts of portions. Returns them, and the number of rows with a key.
#[pyfunction]
pub(crate) fn merge_facts<'py>(
    py: Python<'py>,
    portions: Vec<Vec<u8>>,
) -> PyResult<(Bound<'py, PyBytes>, u64)> {
    let read = portions.iter().map(|bytes| PortionFacts::from_bytes(bytes));
    let all = (read.collect::<Result<Vec<_>, _>>()).and_then(PortionFacts::of_all);
    let all = all.map_err(|error| raised(Failed::of(error)))?;
    Ok((PyBytes::new(py, &all.to_bytes()), all.rows_with_key()))
}
