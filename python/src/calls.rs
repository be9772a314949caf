//! The events that Python hears during a join.

use std::{sync::mpsc::Receiver, time::Duration};

use psijoin_frontend::{
    Hint, Listener, Position, Remedy, beside, goes_on,
    sentences::{harmless, with_hint},
};
use pyo3::prelude::*;

use crate::{deadline::Deadline, hints};

/// The interval at which Python gets the progress of a piece of work.
const POSITIONS: Duration = Duration::from_millis(100);

/// A Python object that listens. Its errors are its own affair, and are shown as Python shows what
/// cannot be raised.
pub(crate) struct Listening {
    pub(crate) listener: Py<PyAny>,
    pub(crate) deadline: Option<Deadline>,
}

impl Listening {
    fn call(&self, what: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>) {
        Python::attach(|py| {
            let listener = self.listener.bind(py);
            if let Err(error) = what(listener) {
                error.write_unraisable(py, Some(listener));
            }
        });
    }
}

impl Listener for Listening {
    fn say(&self, text: &str) {
        for line in harmless(text).lines() {
            self.call(|listener| listener.call_method1("say", (line,)));
        }
    }

    fn warn(&self, text: &str, hint: Option<&str>) {
        let text = with_hint(&harmless(text), hint.map(harmless).as_deref());
        self.call(|listener| listener.call_method1("warn", (text,)));
    }

    fn hands_out(&self) {
        self.deadline.iter().for_each(Deadline::lift);
    }

    fn during(
        &self,
        what: &str,
        position: &mut (dyn FnMut() -> Position + Send),
        work: &mut dyn FnMut(),
    ) {
        let what = &harmless(what);
        let tell = |is_finished: &Receiver<()>| {
            while goes_on(is_finished, POSITIONS) {
                let Position {
                    bytes, total_bytes, ..
                } = position();
                let at = (what, bytes, total_bytes);
                self.call(|listener| listener.call_method1("at", at));
            }
        };
        beside(tell, work);
    }

    fn hint(&self, remedy: &Remedy) -> Option<Hint> {
        hints::of(remedy)
    }
}
