//! Texts in UTF-8, whatever their encoding was.

use std::io::{self, Cursor, Read};

use crate::{
    Compression, Dialect, Encoding, Error, SourceError,
    source::foreign::{BEGINNING_BYTES, Foreign},
};

/// Reads as much of a text's beginning as tells how it is encoded or compressed, or that it is no
/// text.
pub(super) fn beginning(input: impl Read) -> io::Result<Vec<u8>> {
    let mut beginning = Vec::new();
    input
        .take(BEGINNING_BYTES as u64)
        .read_to_end(&mut beginning)?;
    Ok(beginning)
}

/// Returns the encoding of a text that begins so, which must not be compressed, beyond what was
/// told by its name.
pub(super) fn encoding_of(
    beginning: &[u8],
    dialect: &Dialect,
    name: &str,
) -> Result<Encoding, Error> {
    // Once it is decoded, the bytes are others.
    if let Some(foreign) = Foreign::of_bytes(beginning) {
        return Err(Error::Source(SourceError::Foreign {
            file: name.to_owned(),
            foreign,
        }));
    }
    match Compression::of_beginning(beginning) {
        None => Ok(Encoding::of_beginning(beginning, dialect.encoding(), name)?),
        Some(compression) => Err(Error::Source(SourceError::Compressed {
            file: name.to_owned(),
            compression,
        })),
    }
}

/// Returns a text in UTF-8, and how it was encoded. `cannot_read` makes an error of one of the
/// input.
pub(super) fn decoded<'a>(
    mut input: impl Read + 'a,
    dialect: &Dialect,
    name: &str,
    cannot_read: impl Fn(io::Error) -> Error,
) -> Result<(Encoding, Box<dyn Read + 'a>), Error> {
    let beginning = beginning(&mut input).map_err(cannot_read)?;
    let encoding = encoding_of(&beginning, dialect, name)?;
    Ok((
        encoding,
        encoding.reader(Cursor::new(beginning).chain(input)),
    ))
}
