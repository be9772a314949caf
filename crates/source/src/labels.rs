//! Columns of labels, by which keys are grouped.

use psijoin_key::KeyFault;

use crate::{
    Error, ReadError, Source,
    read::arrow::{can_be_key, check_meanings, first_of_unfit_type, unknown_key},
};

/// The most bytes of a label in UTF-8.
pub const MAX_LABEL_BYTES: usize = 256;

/// A fault of a cell in a column of labels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelFault {
    /// Its value has no canonical text.
    #[error(transparent)]
    NoText(KeyFault),
    /// It has more than [`MAX_LABEL_BYTES`].
    #[error("a label of more than 256 bytes (group by a column of shorter ones)")]
    TooLong,
}

/// Checks that a table has these columns of labels, without reading more than its header.
///
/// # Errors
/// If the header cannot be read, a column is missing or not unique, or the values of a typed column
/// have no canonical text, or cannot be read.
pub fn check_labels(source: &Source, columns: &[String]) -> Result<(), Error> {
    let names = source.columns()?;
    let found = source.header(&names).find_all(columns)?;
    if source.layout().is_some() {
        return Ok(());
    }
    let schema = source.schema()?;
    source.check_readable(&schema, &found)?;
    check_meanings(source.name(), &schema, &found, unknown_key)?;
    match first_of_unfit_type(&schema, &found, can_be_key) {
        Some((column, data_type)) => Err(Error::Read(ReadError::LabelType {
            file: source.name().to_owned(),
            column,
            data_type,
        })),
        None => Ok(()),
    }
}
