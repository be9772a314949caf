//! What goes from process to process, and is secret: as types that show nothing, and are bytes only
//! if that is asked for.

use std::sync::Arc;

use psijoin::parts::SharedPlaces;
use psijoin_session::{LaneReport, LaneTicket};
use pyo3::{
    PyClass,
    prelude::*,
    types::{PyBytes, PyType},
};
use zeroize::Zeroizing;

use crate::{
    failed::{Failed, raised},
    options::usage,
};

/// All that a process needs to run a lane.
#[pyclass(frozen, module = "psijoin._psijoin")]
pub(crate) struct Ticket(pub(crate) LaneTicket);

/// The way of keys to their parts.
#[pyclass(frozen, module = "psijoin._psijoin")]
pub(crate) struct Router(pub(crate) psijoin::Router);

/// What a lane gave.
#[pyclass(frozen, module = "psijoin._psijoin")]
pub(crate) struct Report(pub(crate) LaneReport);

/// The shared places of each part, of rows that a minimum has withheld.
#[pyclass(frozen, module = "psijoin._psijoin")]
pub(crate) struct Places(Arc<Vec<SharedPlaces>>);

/// Reads bytes that came from another process, or takes a value of this type itself.
fn given<T>(
    given: &Bound<'_, PyAny>,
    itself: impl FnOnce(&Bound<'_, PyAny>) -> Option<T>,
    read: impl FnOnce(&[u8]) -> PyResult<T>,
) -> PyResult<T> {
    if let Some(value) = itself(given) {
        return Ok(value);
    }
    let bytes: Vec<u8> = given
        .extract()
        .map_err(|_| usage("this is neither what psijoin.lanes gave, nor its bytes"))?;
    read(&Zeroizing::new(bytes))
}

/// Lets Python pickle a value as its bytes.
fn pickled<'py, T: PyClass>(
    py: Python<'py>,
    bytes: &[u8],
) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
    let from_bytes = py.get_type::<T>().getattr("from_bytes")?;
    Ok((from_bytes, (PyBytes::new(py, bytes),)))
}

pub(super) type Pickled<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

impl Ticket {
    pub(crate) fn given(ticket: &Bound<'_, PyAny>) -> PyResult<LaneTicket> {
        let itself = |it: &Bound<'_, PyAny>| Some(it.cast::<Self>().ok()?.get().0.clone());
        given(ticket, itself, |bytes| {
            Ok(LaneTicket::from_bytes(bytes.to_vec()))
        })
    }
}

#[pymethods]
impl Ticket {
    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, bytes: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::given(bytes).map(Self)
    }

    /// The ticket of another lane of the session.
    fn of_lane(&self, lane: u32) -> PyResult<Self> {
        let ticket = self.0.of_lane(lane);
        ticket.map(Self).map_err(|error| raised(Failed::of(error)))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.to_bytes(py)
    }

    fn __repr__(&self) -> &'static str {
        "Ticket(...)"
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        pickled::<Self>(py, self.0.as_bytes())
    }
}

impl Router {
    pub(crate) fn given(router: &Bound<'_, PyAny>) -> PyResult<psijoin::Router> {
        let itself = |it: &Bound<'_, PyAny>| Some(it.cast::<Self>().ok()?.get().0.clone());
        given(router, itself, |bytes| {
            let router = psijoin::Router::from_bytes(bytes);
            router.ok_or_else(|| usage("these are no bytes of a router of psijoin.lanes"))
        })
    }

    fn bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.0.to_bytes())
    }
}

#[pymethods]
impl Router {
    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, bytes: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::given(bytes).map(Self)
    }

    /// The number of parts.
    #[getter]
    fn parts(&self) -> u32 {
        self.0.parts()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.to_bytes(py)
    }

    fn __repr__(&self) -> &'static str {
        "Router(...)"
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        pickled::<Self>(py, &self.bytes())
    }
}

impl Report {
    pub(crate) fn given(report: &Bound<'_, PyAny>) -> PyResult<LaneReport> {
        let itself = |it: &Bound<'_, PyAny>| Some(it.cast::<Self>().ok()?.get().0.clone());
        given(report, itself, |bytes| {
            LaneReport::from_bytes(bytes).map_err(|error| raised(Failed::of(error)))
        })
    }
}

#[pymethods]
impl Report {
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

    fn __repr__(&self) -> &'static str {
        "Report(...)"
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        pickled::<Self>(py, &self.0.to_bytes())
    }
}

impl Places {
    pub(crate) fn new(places: Vec<SharedPlaces>) -> Self {
        Self(Arc::new(places))
    }

    pub(crate) fn given(places: &Bound<'_, PyAny>) -> PyResult<Arc<Vec<SharedPlaces>>> {
        let itself = |it: &Bound<'_, PyAny>| Some(it.cast::<Self>().ok()?.get().0.clone());
        given(places, itself, |bytes| {
            let places = Self::read(bytes).map(Arc::new);
            places.ok_or_else(|| usage("these are no bytes of places of psijoin.lanes"))
        })
    }

    fn bytes(&self) -> Vec<u8> {
        let parts = self.0.iter().map(SharedPlaces::to_bytes);
        parts
            .flat_map(|part| [&(part.len() as u64).to_le_bytes()[..], &part].concat())
            .collect()
    }

    fn read(mut bytes: &[u8]) -> Option<Vec<SharedPlaces>> {
        let mut parts = Vec::new();
        while !bytes.is_empty() {
            let (length, rest) = bytes.split_first_chunk()?;
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            let (part, rest) = rest.split_at_checked(length)?;
            parts.push(SharedPlaces::from_bytes(part)?);
            bytes = rest;
        }
        Some(parts)
    }
}

#[pymethods]
impl Places {
    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, bytes: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::given(bytes).map(Self)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.to_bytes(py)
    }

    fn __repr__(&self) -> &'static str {
        "Places(...)"
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        pickled::<Self>(py, &self.bytes())
    }
}
