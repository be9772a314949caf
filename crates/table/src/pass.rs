//! Passes over a table.

use psijoin_source::{ErrorKind, Source};

use crate::Error;

/// Runs a pass over a table. If a file changed before or during it, that is the error, whatever the
/// result: a fault in a file that somebody is writing would mislead.
pub(crate) fn unless_changed<T>(
    source: &Source,
    pass: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let result = pass();
    if result
        .as_ref()
        .is_err_and(|error| error.kind() != ErrorKind::Input)
    {
        return result;
    }
    source.check_unchanged()?;
    result
}
