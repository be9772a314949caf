//! Data frames of whatever library: they come and go as streams of Arrow data, without copies.

use std::sync::{Arc, Mutex};

use arrow_array::{
    ArrayRef, ArrowPrimitiveType, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
    cast::AsArray,
    ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader},
    types::{
        Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
        TimestampSecondType,
    },
};
use arrow_pyarrow::FromPyArrow;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use psijoin_session::ArrowTable;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyCapsule};

use crate::failed::{Failed, raised};

/// The rows of several data frames, one after the other, as a Python iterator gives them: the first
/// one has the columns, and may have no rows.
struct Frames {
    frames: Py<PyAny>,
    current: RecordBatchStreamReader,
    raised: Raised,
}

/// Rows from Python.
pub(crate) type Reader = Box<dyn RecordBatchReader + Send>;

/// The error that a Python iterator has raised.
pub(crate) type Raised = Arc<Mutex<Option<PyErr>>>;

/// Returns a table, and the error that will have been raised if it cannot be read. An object with
/// `__arrow_c_stream__` is a data frame; of anything else, an iterator gives data frames. `how` is
/// `in memory`, `by number` or `stream`: see [`ArrowTable`].
pub(crate) fn table(
    table: &Bound<'_, PyAny>,
    name: &str,
    how: &str,
) -> PyResult<(ArrowTable, Raised)> {
    let (rows, raised) = rows(table, name)?;
    let table = match how {
        "in memory" => ArrowTable::in_memory(name, rows),
        "by number" => ArrowTable::in_memory(name, rows).by_number(),
        "stream" => ArrowTable::stream(name, rows),
        _ => {
            return Err(PyValueError::new_err(
                "there is no such way to read a table",
            ));
        }
    };
    Ok((table, raised))
}

/// Returns the rows of a table, as [`table`] takes it.
pub(crate) fn rows(table: &Bound<'_, PyAny>, name: &str) -> PyResult<(Reader, Raised)> {
    let raised = Raised::default();
    let rows: PyResult<Reader> = match table.hasattr("__arrow_c_stream__")? {
        true => RecordBatchStreamReader::from_pyarrow_bound(table).map(|rows| Box::new(rows) as _),
        false => Frames::new(table, raised.clone()).map(|rows| Box::new(rows) as _),
    };
    let rows = rows.map_err(|error| unreadable(table.py(), name, error))?;
    Ok((rows, raised))
}

/// Returns an error whose cause has the library's own words, which may hold values of the table.
fn unreadable(py: Python<'_>, name: &str, cause: PyErr) -> PyErr {
    let error = raised(Failed::table(format!(
        "cannot read {name}: it is no Arrow data, or has a type that psijoin does not know"
    )));
    error.set_cause(py, Some(cause));
    error
}

impl Frames {
    fn new(iterable: &Bound<'_, PyAny>, raised: Raised) -> PyResult<Self> {
        let mut frames = iterable.try_iter()?;
        let first = frames.next().transpose()?;
        let first = first.ok_or_else(|| PyValueError::new_err("no data frame says the columns"))?;
        Ok(Self {
            current: RecordBatchStreamReader::from_pyarrow_bound(&first)?,
            frames: frames.into_any().unbind(),
            raised,
        })
    }

    /// Goes on to the next data frame, if there is one.
    fn advance(&mut self) -> PyResult<bool> {
        Python::attach(|py| {
            let mut frames = self.frames.bind(py).try_iter()?;
            let Some(next) = frames.next().transpose()? else {
                return Ok(false);
            };
            self.current = RecordBatchStreamReader::from_pyarrow_bound(&next)?;
            Ok(true)
        })
    }
}

impl Iterator for Frames {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(rows) = self.current.next() {
                return Some(rows);
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    *self.raised.lock().expect("no panic") = Some(error);
                    return Some(Err(ArrowError::ExternalError("a Python exception".into())));
                }
            }
        }
    }
}

impl RecordBatchReader for Frames {
    fn schema(&self) -> SchemaRef {
        self.current.schema()
    }
}

/// A value that polars does not understand.
const MIDNIGHT: &str = "a midnight at the end of a day";

/// Rows that a join gave. Any library that takes Arrow data takes them, by `__arrow_c_stream__`.
#[pyclass(frozen, module = "psijoin._psijoin")]
pub(crate) struct Rows {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Rows {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }

    /// Returns the first row whose value in a column is one of these.
    fn first<T: ArrowPrimitiveType>(
        &self,
        column: usize,
        is_one: impl Fn(T::Native) -> bool,
    ) -> Option<usize> {
        let columns = self.batches.iter().map(|batch| batch.column(column));
        let mut values = columns.flat_map(|column| column.as_primitive::<T>());
        values.position(|value| value.is_some_and(&is_one))
    }
}

#[pymethods]
impl Rows {
    /// The stream, as often as it is asked for. The columns have the types that they have, whatever
    /// schema is requested, as the protocol allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let reader: Box<dyn RecordBatchReader + Send> = Box::new(reader);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }

    /// Returns a table of one column of texts.
    #[staticmethod]
    fn of_texts(column: &str, texts: Vec<String>) -> Self {
        let schema = Schema::new(vec![Field::new(column, DataType::Utf8, false)]);
        let schema = Arc::new(schema);
        let texts: ArrayRef = Arc::new(StringArray::from(texts));
        let batch = RecordBatch::try_new(schema.clone(), vec![texts]);
        let batches = vec![batch.expect("texts are what the column holds")];
        Self { schema, batches }
    }

    /// Returns the texts of the first column, if it holds texts.
    fn texts(&self) -> PyResult<Vec<String>> {
        let mut texts = Vec::with_capacity(self.__len__());
        for batch in &self.batches {
            let column = batch.column(0).as_string_opt::<i32>();
            let column =
                column.ok_or_else(|| PyValueError::new_err("the column holds no texts"))?;
            texts.extend(
                column
                    .iter()
                    .map(|text| text.unwrap_or_default().to_owned()),
            );
        }
        Ok(texts)
    }

    /// Returns the first value that polars cannot hold: the name of its column, its row, and what
    /// it is. No row if it has nothing of this type.
    fn beyond_polars(&self) -> Option<(String, Option<usize>, &'static str)> {
        let mut fields = self.schema.fields().iter().enumerate();
        fields.find_map(|(column, field)| {
            let (row, what) = match field.data_type() {
                DataType::Decimal256(..) => (None, "decimals of 256 bits"),
                DataType::Timestamp(TimeUnit::Second, _) => {
                    // They become milliseconds.
                    let is_beyond = |seconds: i64| seconds.checked_mul(1_000).is_none();
                    (
                        Some(self.first::<TimestampSecondType>(column, is_beyond)?),
                        "a timestamp",
                    )
                }
                DataType::Time32(TimeUnit::Second) => {
                    let is_beyond = |seconds| seconds >= 86_400;
                    (
                        Some(self.first::<Time32SecondType>(column, is_beyond)?),
                        MIDNIGHT,
                    )
                }
                DataType::Time32(_) => {
                    let is_beyond = |milliseconds| milliseconds >= 86_400_000;
                    (
                        Some(self.first::<Time32MillisecondType>(column, is_beyond)?),
                        MIDNIGHT,
                    )
                }
                DataType::Time64(TimeUnit::Microsecond) => {
                    let is_beyond = |microseconds| microseconds >= 86_400_000_000;
                    (
                        Some(self.first::<Time64MicrosecondType>(column, is_beyond)?),
                        MIDNIGHT,
                    )
                }
                DataType::Time64(_) => {
                    let is_beyond = |nanoseconds| nanoseconds >= 86_400_000_000_000;
                    (
                        Some(self.first::<Time64NanosecondType>(column, is_beyond)?),
                        MIDNIGHT,
                    )
                }
                _ => return None,
            };
            Some((field.name().clone(), row, what))
        })
    }

    /// Returns the names of the columns.
    fn columns(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    /// Returns the number of rows.
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}
