//! The events that Python hears during a join.

use psijoin_cli::embedded::{Hint, Listener, with_hint};
use psijoin_session::{Error, Warning};
use pyo3::prelude::*;

use crate::ways_out;

/// A Python object that listens. Its errors are its own affair, and are shown as Python shows what
/// cannot be raised.
pub(crate) struct Listening(pub(crate) Py<PyAny>);

impl Listening {
    fn call(&self, what: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>) {
        Python::attach(|py| {
            let listener = self.0.bind(py);
            if let Err(error) = what(listener) {
                error.write_unraisable(py, Some(listener));
            }
        });
    }
}

impl Listener for Listening {
    fn say(&self, text: &str) {
        self.call(|listener| listener.call_method1("say", (text,)));
    }

    fn warn(&self, text: &str, hint: Option<&str>) {
        let text = with_hint(text, hint);
        self.call(|listener| listener.call_method1("warn", (text,)));
    }

    fn about_error(&self, error: &Error) -> Option<Hint> {
        ways_out::of_error(error)
    }

    fn about_warning(&self, warning: &Warning<'_>) -> Option<Hint> {
        ways_out::of_warning(warning)
    }

    fn at(&self, what: &str, bytes: u64, total_bytes: u64) {
        self.call(|listener| listener.call_method1("at", (what, bytes, total_bytes)));
    }
}
