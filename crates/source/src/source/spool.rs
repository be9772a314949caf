use std::{
    cell::Cell,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    sync::Arc,
};

use super::decoded::{beginning, decoded};
use crate::{
    Compression, Dialect, Encoding, Error, Progress, SourceError,
    error::nameless,
    source::{foreign::Foreign, table_file::Content},
};

/// Copies what could not be read twice, one stream behind the other, to a temporary file without
/// a name: a table may have more streams than a process can open files.
#[derive(Default)]
pub(super) struct Spool {
    file: Option<Arc<File>>,
    bytes: u64,
}

impl Spool {
    /// Copies a stream, decompressed and, if it is a text in some dialect, in UTF-8. Returns the
    /// copy and the encoding of the stream. `name` is its name in errors.
    pub(super) fn copied(
        &mut self,
        input: impl Read,
        compression: Option<Compression>,
        dialect: Option<&Dialect>,
        name: &str,
        progress: &Progress,
    ) -> Result<(Content, Encoding), Error> {
        let cannot_read = |source: io::Error| match compression {
            // An error that is not the operating system's is the decompressor's.
            Some(compression) if source.raw_os_error().is_none() => {
                Error::Source(SourceError::Damaged {
                    file: name.to_owned(),
                    compression,
                })
            }
            _ => Error::Source(SourceError::Read {
                file: name.to_owned(),
                cause: source,
            }),
        };
        let cannot_keep = |source| {
            Error::Source(SourceError::Spool {
                file: name.to_owned(),
                cause: nameless(source),
            })
        };
        let taken = Cell::new(0);
        let counted = Counted {
            input,
            bytes: &taken,
        };
        let mut input: Box<dyn Read + '_> = match compression {
            None => Box::new(counted),
            Some(compression) => {
                let mut counted = counted;
                let beginning = beginning(counted.by_ref()).map_err(cannot_read)?;
                check_compression(&beginning, compression, name)?;
                let whole = io::Cursor::new(beginning).chain(counted);
                compression.reader(whole).map_err(cannot_read)?
            }
        };
        let mut encoding = Encoding::UTF_8;
        if let Some(dialect) = dialect {
            (encoding, input) = decoded(input, dialect, name, cannot_read)?;
        }
        let file = self.file().map_err(cannot_keep)?;
        let start = self.bytes;
        // A reader of an earlier copy moves the position that all share.
        (&*file).seek(SeekFrom::Start(start)).map_err(cannot_keep)?;
        let mut buffer = vec![0; 1 << 18];
        let mut input_bytes = 0;
        loop {
            let bytes = match input.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(cannot_read)?,
            };
            let new_bytes = taken.take();
            input_bytes += new_bytes;
            progress.advance(new_bytes)?;
            if bytes == 0 {
                break;
            }
            (&*file).write_all(&buffer[..bytes]).map_err(cannot_keep)?;
            self.bytes += bytes as u64;
        }
        // Zstandard takes nothing at all for no frames.
        if let (Some(compression), 0) = (compression, input_bytes) {
            return Err(Error::Source(SourceError::Damaged {
                file: name.to_owned(),
                compression,
            }));
        }
        let content = Content::Copy {
            file,
            start,
            bytes: self.bytes - start,
        };
        Ok((content, encoding))
    }

    fn file(&mut self) -> io::Result<Arc<File>> {
        if let Some(file) = &self.file {
            return Ok(file.clone());
        }
        let file = Arc::new(tempfile::tempfile()?);
        self.file = Some(file.clone());
        Ok(file)
    }
}

/// Checks that a text with this beginning is compressed as its name tells. An empty one is left to
/// the decompressor.
fn check_compression(beginning: &[u8], said: Compression, name: &str) -> Result<(), Error> {
    let file = name.to_owned();
    match Compression::of_beginning(beginning) {
        _ if beginning.is_empty() => Ok(()),
        Some(found) if found == said => Ok(()),
        Some(compression) => Err(Error::Source(SourceError::Compressed { file, compression })),
        None => Err(match Foreign::of_bytes(beginning) {
            Some(foreign) => Error::Source(SourceError::Foreign { file, foreign }),
            None => Error::Source(SourceError::NotCompressed {
                file,
                compression: said,
            }),
        }),
    }
}

/// Counts the bytes that are read.
struct Counted<'a, R> {
    input: R,
    bytes: &'a Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(buffer)?;
        self.bytes.set(self.bytes.get() + bytes as u64);
        Ok(bytes)
    }
}
