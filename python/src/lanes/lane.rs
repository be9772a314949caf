//! A lane, in the process that runs it.

use std::sync::Mutex;

use psijoin_frontend::{Failure, meeting};
use psijoin_session::{self as session, FoundKeys, LaneInOrder, LaneReport};
use psijoin_table::portions::{PortionFault, PortionKeys};
use psijoin_transport::Proxy;
use pyo3::prelude::*;

use super::{
    Report, Ticket, placed::placed, portions::read_keys, taken::with_payloads, with_one_thread,
};
use crate::{
    failed::{Failed, raised},
    frames::{self, Rows},
    options::usage,
    while_signals_are_seen,
};

/// A lane. It is opened once, takes its keys, and is finished.
#[pyclass(frozen, module = "psijoin._psijoin")]
pub(crate) struct Lane {
    ticket: session::LaneTicket,
    proxy: Option<Proxy>,
    stop: session::Stop,
    state: Mutex<State>,
}

enum State {
    New,
    Open(Box<LaneInOrder>),
    Done(LaneReport),
    /// It has failed, or another call is at it.
    Gone,
}

#[pymethods]
impl Lane {
    #[new]
    #[pyo3(signature = (ticket, proxy=None))]
    fn new(ticket: &Bound<'_, PyAny>, proxy: Option<&str>) -> PyResult<Self> {
        let proxy = proxy.map(str::parse).transpose();
        Ok(Self {
            ticket: Ticket::given(ticket)?,
            proxy: proxy.map_err(|error| usage(format!("`proxy`: {error}")))?,
            stop: session::Stop::default(),
            state: Mutex::new(State::New),
        })
    }

    /// Opens it: waits for the other side.
    fn open(&self, py: Python<'_>) -> PyResult<()> {
        let State::New = self.replace(State::Gone) else {
            return Err(usage(
                "a lane runs once: take a new ticket of a new session",
            ));
        };
        let (ticket, proxy) = (self.ticket.clone(), self.proxy.clone());
        let opened = self.run(py, move |stop| {
            let proxies = meeting::proxies_anywhere(proxy.as_ref());
            Ok(session::Lane::open(&ticket, proxies, stop)?)
        })?;
        self.replace(State::Open(Box::new(LaneInOrder::new(opened))));
        Ok(())
    }

    /// Takes further keys, and returns what was found.
    fn take(&self, py: Python<'_>, keys: &Bound<'_, PyAny>) -> PyResult<Vec<Rows>> {
        let (rows, cause) = frames::rows(keys, "the keys")?;
        let mut lane = self.opened()?;
        let numbers = lane.lane().numbers().to_vec();
        let columns = numbers.iter().map(|(name, _)| name.clone()).collect();
        let taken = self.run(py, move |_| {
            let mut found = Vec::new();
            let read = match lane.packing().is_some() || lane.lane().labels().is_some() {
                true => PortionKeys::whole_of_batch,
                false => PortionKeys::of_batch,
            };
            for keys in read_keys(rows, columns, read) {
                let keys = keys?;
                let mut columns = at_scales(&keys, &numbers)?;
                columns.extend(places_of_labels(lane.lane(), &keys)?);
                let payloads = payloads(&mut lane, &keys)?;
                found.extend(lane.take(&keys.fingerprints, &columns, &payloads)?);
            }
            let found = rows_of(found, taken_bytes(lane.lane()));
            Ok((lane, found))
        });
        let (lane, found) = taken.inspect_err(|error| {
            error.set_cause(py, cause.lock().expect("no panic").take());
        })?;
        self.replace(State::Open(lane));
        Ok(found)
    }

    /// Runs the parts that are left, and ends the lane. Returns what was found.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<Rows>> {
        let lane = self.opened()?;
        let taken_bytes = taken_bytes(lane.lane());
        let (found, report) = self.run(py, move |_| {
            let (found, report) = lane.finish()?;
            Ok((rows_of(found, taken_bytes), report))
        })?;
        self.replace(State::Done(report));
        Ok(found)
    }

    /// What it gave, once it is finished.
    fn report(&self) -> PyResult<Report> {
        match &*self.state.lock().expect("no panic") {
            State::Done(report) => Ok(Report(report.clone())),
            _ => Err(usage(
                "a lane has its report once all that `run` finds was taken",
            )),
        }
    }

    /// Ends it, from any thread: the other side hears of it.
    fn stop(&self) {
        self.stop.stop();
    }
}

impl Lane {
    fn replace(&self, state: State) -> State {
        std::mem::replace(&mut self.state.lock().expect("no panic"), state)
    }

    /// Takes it out, if it is open.
    fn opened(&self) -> PyResult<Box<LaneInOrder>> {
        match self.replace(State::Gone) {
            State::Open(lane) => Ok(lane),
            other => {
                self.replace(other);
                Err(usage("this lane is not open, or another thread runs it"))
            }
        }
    }

    fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&session::Stop) -> Result<T, Failure> + Send + 'static,
    ) -> PyResult<T> {
        let work = |stop: &session::Stop| with_one_thread(|| work(stop));
        let done = while_signals_are_seen(py, &self.stop, work)?;
        done.map_err(|failure| raised(Failed::from(failure)))
    }
}

/// Returns the numbers of keys at the decimals of their columns.
fn at_scales(keys: &PortionKeys, columns: &[(String, u32)]) -> Result<Vec<Vec<i64>>, Failure> {
    let columns = columns.iter().enumerate();
    let numbers = columns.map(|(at, (name, scale))| {
        let numbers = keys.numbers_at(at, *scale);
        let fault = || psijoin_table::Error::from(PortionFault::Scale(name.clone()));
        numbers.ok_or_else(|| Failure::Session(fault().into()))
    });
    numbers.collect()
}

/// Returns the places of the labels of keys, if this party has some.
fn places_of_labels(lane: &session::Lane, keys: &PortionKeys) -> Result<Option<Vec<i64>>, Failure> {
    let places = lane.labels().map(|labels| labels.of(keys));
    Ok(places.transpose().map_err(session::Error::from)?)
}

/// Returns the payloads of keys, if this party gives columns.
fn payloads(lane: &mut LaneInOrder, keys: &PortionKeys) -> Result<Vec<u8>, Failure> {
    let payloads = lane.packing().map(|packing| packing.payloads(keys));
    let payloads = payloads.transpose().map_err(session::Error::from)?;
    Ok(payloads.unwrap_or_default())
}

/// Returns the bytes that the other party gives for a key.
fn taken_bytes(lane: &session::Lane) -> usize {
    let output = &lane.plan().request().output;
    output.payload_bytes(lane.role().other())
}

/// Returns the keys of parts that were found, with what the other party gave for each, or all of
/// them, with their places.
fn rows_of(found: Vec<FoundKeys>, taken_bytes: usize) -> Vec<Rows> {
    let rows = found.into_iter().map(|found| {
        let keys = PortionKeys::from(found.fingerprints);
        let (schema, batches) = match (found.places, taken_bytes) {
            (Some(places), _) => placed(found.part, &places, &keys),
            (None, 0) => keys.to_batches(&[]),
            (None, bytes) => with_payloads(&keys, &found.payloads, bytes),
        };
        Rows::new(schema, batches)
    });
    rows.collect()
}
