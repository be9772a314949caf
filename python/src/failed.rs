//! The exceptions of failures.

use std::fmt::Display;

use psijoin_frontend::{
    self as frontend, Code, Hint, Listener, Notes, Remedy, Wanted,
    report::{Ending, Report},
    sentences::harmless,
};
use psijoin_session::Error;
use pyo3::prelude::*;

use crate::hints;

/// The reason that a request failed.
#[derive(Debug)]
pub(crate) struct Failed {
    ending: Ending,
    /// The facts about the run, as JSON, if it was one.
    report: Option<String>,
}

pyo3::create_exception!(
    _psijoin,
    Failure,
    pyo3::exceptions::PyException,
    "What the program would have ended with: code, message, what to do about it, whether it may \
     pass, and the report."
);

/// Speaks Python's words, and nobody hears it.
struct Silent;

impl Listener for Silent {
    fn say(&self, _: &str) {}

    fn warn(&self, _: &str, _: Option<&str>) {}

    fn hint(&self, remedy: &Remedy) -> Option<Hint> {
        hints::of(remedy)
    }
}

impl Failed {
    /// Returns the failure that a table cannot be used, with this message.
    pub(crate) fn table(message: String) -> Self {
        Self::new(Code::File, message)
    }

    /// Returns the failure of an invalid request, with this message.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(Code::Usage, harmless(message))
    }

    /// Returns the failure of a join that is not even tried, because of this error.
    pub(crate) fn of(error: impl Into<Error>) -> Self {
        Self::from(frontend::Failure::Session(error.into()))
    }

    /// Returns the failure of a join, with its report.
    pub(crate) fn reported(failure: &frontend::Failure, report: String) -> Self {
        Self {
            ending: ending(failure),
            report: Some(report),
        }
    }

    fn new(code: Code, error: String) -> Self {
        Self {
            ending: Ending {
                code: code as u8,
                error,
                hint: None,
                may_pass: false,
            },
            report: None,
        }
    }
}

impl From<frontend::Failure> for Failed {
    fn from(failure: frontend::Failure) -> Self {
        Self {
            ending: ending(&failure),
            report: None,
        }
    }
}

/// Returns how a run ended, in texts that no terminal obeys.
pub(crate) fn ending(failure: &frontend::Failure) -> Ending {
    let ending = Ending::of(failure, &Silent);
    Ending {
        error: harmless(ending.error),
        hint: ending.hint.map(|hint| harmless(hint).into()),
        ..ending
    }
}

/// Returns the exception for it.
pub(crate) fn raised(failed: Failed) -> PyErr {
    let Failed { ending, report } = failed;
    Failure::new_err((
        ending.code,
        ending.error,
        ending.hint,
        ending.may_pass,
        report,
    ))
}

/// Returns the exception for a join that was wanted like this and not even tried, with a report if
/// it is one of ours.
pub(crate) fn untried(py: Python<'_>, error: PyErr, wanted: Wanted) -> PyErr {
    type Args = (u8, String, Option<String>, bool, Option<String>);
    let args = || error.value(py).getattr("args")?.extract::<Args>();
    let Ok((code, message, hint, may_pass, None)) = args() else {
        return error;
    };
    let ending = || Ending {
        code,
        error: message.clone(),
        hint: hint.clone().map(Hint::Owned),
        may_pass,
    };
    let report = Notes::of(wanted).end(|known| Report::new(known, Some(ending())).line());
    let reported = raised(Failed {
        ending: ending(),
        report,
    });
    reported.set_cause(py, error.cause(py));
    reported
}
