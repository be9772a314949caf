//! The terms that both parties agree to.

use std::{fs::File, path::Path};

use psijoin_record::Terms;

use crate::exit::Failure;

/// Reads the text of the terms, as far as terms may go.
///
/// # Errors
/// [`Failure::Terms`] if it cannot be read, is empty, or too long.
pub(crate) fn read(path: &Path) -> Result<Terms, Failure> {
    let unusable = |why: String| Failure::Terms {
        path: path.to_owned(),
        why,
    };
    File::open(path)
        .and_then(Terms::read)
        .map_err(|error| unusable(error.to_string()))?
        .map_err(|error| unusable(error.to_string()))
}
