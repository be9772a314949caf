//! What the other party gave for keys: as lanes get it, and as columns.
//!
//! Lanes pass it on as it came. Only once the session is over may anybody look at it: if it is
//! malformed, and this party ended the session for that, the other party would learn which key is
//! shared.

use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, FixedSizeBinaryArray, RecordBatch, ffi::FFI_ArrowSchema};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use psijoin_frontend::Failure;
use psijoin_table::{
    portions::PortionKeys,
    share::{PayloadLayout, TAKEN, Unpacking},
};
use pyo3::{
    exceptions::PyRuntimeError,
    prelude::*,
    types::{PyBytes, PyCapsule, PyType},
};

use super::{portions::caused, secrets::Pickled, with_one_thread};
use crate::{
    frames::{self, Raised, Reader, Rows},
    options::usage,
};

/// The most bytes of payloads in a batch.
const BATCH_BYTES: usize = 1 << 26;

/// The most keys of a batch.
const BATCH: usize = 1 << 16;

/// Returns keys with their payloads, of this length each.
pub(super) fn with_payloads(
    keys: &PortionKeys,
    payloads: &[u8],
    length: usize,
) -> (SchemaRef, Vec<RecordBatch>) {
    let (of_keys, _) = PortionKeys::none(0).to_batches(&[]);
    let taken = DataType::FixedSizeBinary(length as i32);
    let mut fields = of_keys.fields().to_vec();
    fields.push(Arc::new(Field::new(TAKEN, taken, false)));
    let schema = Arc::new(Schema::new(fields));
    let most = (BATCH_BYTES / length).clamp(1, BATCH);
    let keys = keys.fingerprints.chunks(most);
    let batches = keys
        .zip(payloads.chunks(most * length))
        .map(|(keys, payloads)| {
            let (_, batches) = PortionKeys::from(keys.to_vec()).to_batches(&[]);
            let taken = FixedSizeBinaryArray::new(length as i32, payloads.to_vec().into(), None);
            let taken: ArrayRef = Arc::new(taken);
            let columns = batches[0].columns().iter().cloned().chain([taken]);
            RecordBatch::try_new(schema.clone(), columns.collect()).expect("columns of the schema")
        });
    let batches = batches.collect();
    (schema, batches)
}

/// How the other party's columns stand in what it gave.
#[pyclass(frozen, module = "psijoin._psijoin")]
pub(crate) struct Taken(pub(crate) PayloadLayout);

impl Taken {
    fn given(taken: &Bound<'_, PyAny>) -> PyResult<PayloadLayout> {
        if let Ok(taken) = taken.cast::<Self>() {
            return Ok(taken.get().0.clone());
        }
        let fault = || usage("these are no bytes that tell of the other party's columns");
        let bytes: Vec<u8> = taken.extract().map_err(|_| fault())?;
        PayloadLayout::from_bytes(&bytes).map_err(|_| fault())
    }
}

#[pymethods]
impl Taken {
    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, bytes: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::given(bytes).map(Self)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.to_bytes(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let from_bytes = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((from_bytes, (self.to_bytes(py),)))
    }

    /// The names of the columns, as the other party has told them.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.columns().names().map(str::to_owned).collect()
    }

    /// The columns that `unpacked` gives.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*Unpacking::schema(&self.0))
            .map_err(|_| PyRuntimeError::new_err("columns cannot be given away"))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

/// Columns of the other party, some rows at a time.
#[pyclass(frozen, module = "psijoin._psijoin")]
pub(crate) struct Unpacked {
    layout: PayloadLayout,
    left: Mutex<Left>,
    cause: Raised,
}

/// What is still to be unpacked.
struct Left {
    rows: Reader,
    current: Option<Unpacking>,
}

/// Unpacks what lanes got for these keys, once the session is over.
#[pyfunction]
pub(crate) fn unpacked(taken: &Bound<'_, PyAny>, found: &Bound<'_, PyAny>) -> PyResult<Unpacked> {
    let layout = Taken::given(taken)?;
    let (rows, cause) = frames::rows(found, "the keys")?;
    Ok(Unpacked {
        layout,
        left: Mutex::new(Left {
            rows,
            current: None,
        }),
        cause,
    })
}

#[pymethods]
impl Unpacked {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Rows>> {
        let next = py.detach(|| {
            let mut left = self.left.lock().expect("no panic");
            let (left, layout) = (&mut *left, &self.layout);
            with_one_thread(move || left.next(layout))
        });
        let next = next.map_err(|failure| caused(py, failure.into(), &self.cause))?;
        Ok(next.map(|batch| Rows::new(batch.schema(), vec![batch])))
    }
}

impl Left {
    fn next(&mut self, layout: &PayloadLayout) -> Result<Option<RecordBatch>, Failure> {
        let failed = |error: psijoin_table::Error| Failure::Session(error.into());
        loop {
            if let Some(batch) = self.current.as_mut().and_then(Iterator::next) {
                return batch.map(Some).map_err(failed);
            }
            let Some(batch) = self.rows.next() else {
                return Ok(None);
            };
            let why =
                "the keys cannot be read: they are no Arrow data, or their iterator has failed";
            let batch = batch.map_err(|_| Failure::Usage(why.to_owned()))?;
            self.current = Some(Unpacking::of_batch(layout.clone(), &batch).map_err(failed)?);
        }
    }
}
