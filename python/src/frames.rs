//! Data frames of whatever library: they come and go as streams of Arrow data, without copies.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
    cast::AsArray,
    ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader},
};
use arrow_pyarrow::FromPyArrow;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use psijoin_table::Source;
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyCapsule,
};

/// A table in memory, from anything with `__arrow_c_stream__`.
pub(crate) fn source(table: &Bound<'_, PyAny>, name: &str) -> PyResult<Source> {
    if !table.hasattr("__arrow_c_stream__")? {
        return Err(PyTypeError::new_err(format!(
            "a table is a data frame of pandas, polars, pyarrow or DuckDB, or anything else with __arrow_c_stream__, not {}",
            table.get_type().qualname()?
        )));
    }
    let reader = RecordBatchStreamReader::from_pyarrow_bound(table)?;
    let schema = reader.schema();
    let batches: Result<Vec<RecordBatch>, ArrowError> = reader.collect();
    // The library's own words may hold values of the table.
    let batches = batches.map_err(|_| PyValueError::new_err("the table cannot be read"))?;
    let source = Source::of_batches(name, schema, batches);
    source.map_err(|error| PyValueError::new_err(error.to_string()))
}

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
}

#[pymethods]
impl Rows {
    /// The stream, as often as it is asked for. The columns have the types that they have, whatever schema is requested, as
    /// the protocol allows.
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

    /// A table of one column of texts.
    #[staticmethod]
    fn of_texts(column: &str, texts: Vec<String>) -> Self {
        let schema = Schema::new(vec![Field::new(column, DataType::Utf8, false)]);
        let schema = Arc::new(schema);
        let texts: ArrayRef = Arc::new(StringArray::from(texts));
        let batch = RecordBatch::try_new(schema.clone(), vec![texts]);
        let batches = vec![batch.expect("texts are what the column holds")];
        Self { schema, batches }
    }

    /// The texts of the first column, if it holds texts.
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

    /// The names of the columns.
    fn columns(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    /// How many rows there are.
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}
