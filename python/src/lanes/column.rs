//! A column of Arrow data, on its way to Python.

use arrow_array::{Array, ArrayRef, ffi};
use pyo3::{exceptions::PyRuntimeError, prelude::*, types::PyCapsule};

/// A column. Any library that takes Arrow data takes it, by `__arrow_c_array__`.
#[pyclass(frozen, module = "psijoin._psijoin")]
pub(crate) struct Column(pub(crate) ArrayRef);

#[pymethods]
impl Column {
    /// The column, as often as it is asked for, with the type that it has, whatever is requested.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let (array, schema) = ffi::to_ffi(&self.0.to_data())
            .map_err(|_| PyRuntimeError::new_err("a column cannot be given away"))?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}
