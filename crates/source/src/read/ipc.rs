//! Files of Arrow's own format (IPC), also known as Feather, and its streams, batch by batch.

mod claims;
pub(crate) mod fault;
mod known;
mod layout;
mod replaced;

use std::{
    io::{self, BufReader, Read, Seek},
    iter,
};

use arrow_array::{RecordBatch, new_empty_array};
use arrow_ipc::reader::{FileReader, FileReaderBuilder, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};

use psijoin_key::panics;

use crate::{
    ArrowFault, Error, ReadError, SourceError,
    error::nameless,
    read::arrow::{FilePieces, PIECE_ROWS, Piece, TypedFile},
    source::{format::ARROW_FILE, section::Section, table_file::Part},
};
use known::Unknown;
pub(crate) use known::{Known, known_fields};
use replaced::Replaced;

/// An Arrow file or stream whose schema has been read.
pub(crate) struct Reader<'a> {
    part: &'a Part,
    schema: SchemaRef,
    /// The columns whose type is not known, and what is.
    unknown: Vec<(usize, String)>,
}

impl<'a> Reader<'a> {
    pub(crate) fn open(part: &'a Part) -> Result<Self, Error> {
        let Batches { rows, unknown, .. } = Batches::of(part, None)?;
        let schema = rows.schema();
        // A type that no array can have, as binary data of a negative width, is found here.
        contained(part, described, || {
            for field in schema.fields() {
                new_empty_array(field.data_type());
            }
            Ok(())
        })?;
        Ok(Self {
            part,
            schema,
            unknown,
        })
    }
}

impl<'a> TypedFile<'a> for Reader<'a> {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn check(&self, columns: &[usize]) -> Result<(), Error> {
        match self.unknown.iter().find(|(at, _)| columns.contains(at)) {
            None => Ok(()),
            Some((column, kind)) => {
                let column = self.schema.field(*column).name().clone();
                let kind = kind.clone();
                Err(fault(self.part, ArrowFault::UnknownType { column, kind }))
            }
        }
    }

    /// Cuts a file or stream into pieces: a batch is decoded before the next one, and then cut up.
    fn pieces(self: Box<Self>, columns: &[usize], _: bool) -> Result<FilePieces<'a>, Error> {
        let mut before = 0;
        let batches = Batches::of(self.part, Some(columns))?;
        Ok(Box::new(batches.flat_map(move |batch| match batch {
            Ok((rows, done)) => {
                let bytes = done - before;
                before = done;
                cut(&rows, bytes)
            }
            Err(error) => vec![Err(error)],
        })))
    }
}

/// Returns the pieces of a batch that takes this many bytes of its file.
fn cut<'a>(batch: &RecordBatch, bytes: u64) -> Vec<Result<Piece<'a>, Error>> {
    let starts = (0..batch.num_rows()).step_by(PIECE_ROWS as usize);
    let piece = |start| {
        let rows = (PIECE_ROWS as usize).min(batch.num_rows() - start);
        let slice = batch.slice(start, rows);
        Ok(Piece {
            rows: rows as u64,
            bytes: if start == 0 { bytes } else { 0 },
            memory: 0,
            read: Box::new(|| Ok(Box::new(iter::once(Ok(slice))))),
        })
    };
    starts.map(piece).collect()
}

/// The rows of an Arrow file or stream, each batch as it was written.
struct Batches<'a> {
    part: &'a Part,
    rows: Rows,
    unknown: Vec<(usize, String)>,
}

enum Rows {
    File {
        reader: FileReader<Replaced>,
        batches_read: u64,
    },
    Stream(StreamReader<BufReader<Replaced>>),
}

impl<'a> Batches<'a> {
    fn of(part: &'a Part, columns: Option<&[usize]>) -> Result<Self, Error> {
        let section = part.open()?;
        let (rows, unknown) = contained(part, described, || {
            Rows::open(section, columns.map(<[_]>::to_vec))
        })?;
        Ok(Self {
            part,
            rows,
            unknown,
        })
    }
}

impl Rows {
    /// Opens a file or stream, and tells which of its columns are of types that are not known.
    fn open(
        mut section: Section,
        columns: Option<Vec<usize>>,
    ) -> Result<(Self, Vec<(usize, String)>), Failure> {
        let mut beginning = Vec::new();
        section
            .by_ref()
            .take(ARROW_FILE.len() as u64)
            .read_to_end(&mut beginning)?;
        let is_file = beginning == ARROW_FILE;
        let read = columns.as_deref().unwrap_or_default();
        let unknown = match is_file {
            true => claims::check_file(&mut section, read)?,
            false => claims::check_stream(&mut section, read)?,
        };
        section.rewind()?;
        let section = Replaced {
            section,
            bytes: unknown.replaced,
        };
        let rows = match is_file {
            true => {
                let builder = match columns {
                    Some(columns) => FileReaderBuilder::new().with_projection(columns),
                    None => FileReaderBuilder::new(),
                };
                Self::File {
                    reader: builder.build(section)?,
                    batches_read: 0,
                }
            }
            false => Self::Stream(StreamReader::try_new(BufReader::new(section), columns)?),
        };
        Ok((rows, unknown.columns))
    }

    fn schema(&self) -> SchemaRef {
        match self {
            Self::File { reader, .. } => reader.schema(),
            Self::Stream(reader) => reader.schema(),
        }
    }

    fn next(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        match self {
            Self::File {
                reader,
                batches_read,
            } => {
                *batches_read += 1;
                reader.next()
            }
            Self::Stream(reader) => reader.next(),
        }
    }

    /// Returns how many of a file's bytes lie before the next batch.
    fn bytes_done(&self, bytes: u64) -> u64 {
        match self {
            Self::File {
                reader,
                batches_read,
            } => {
                let share = *batches_read as f64 / reader.num_batches().max(1) as f64;
                ((bytes as f64 * share) as u64).min(bytes)
            }
            Self::Stream(reader) => reader.get_ref().get_ref().section.position(),
        }
    }
}

impl Iterator for Batches<'_> {
    /// Rows, and how much of the file lies before those that follow.
    type Item = Result<(RecordBatch, u64), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = || Ok(self.rows.next().transpose()?);
        let batch = contained(self.part, decoded, next).transpose()?;
        Some(batch.map(|batch| (batch, self.rows.bytes_done(self.part.bytes()))))
    }
}

/// The reason that an Arrow file or stream cannot be read.
enum Failure {
    /// Returns the result, and an error without the library's own words, which may hold values of
    /// the table.
    Library(ArrowError),
    Found(ArrowFault),
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        Self::Library(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Library(error.into())
    }
}

impl From<ArrowFault> for Failure {
    fn from(found: ArrowFault) -> Self {
        Self::Found(found)
    }
}

/// Tells what is wrong where the library cannot read what describes columns and blocks.
fn described(_: Option<ArrowError>) -> ArrowFault {
    ArrowFault::Description
}

/// Tells what is wrong where the library cannot decode rows. It gives no other sign of it than its
/// words.
fn decoded(error: Option<ArrowError>) -> ArrowFault {
    let said = error.map(|error| error.to_string().to_uppercase());
    match said.is_some_and(|said| said.contains("UTF-8") || said.contains("UTF8")) {
        true => ArrowFault::NotUtf8,
        false => ArrowFault::Rows,
    }
}

/// Runs the Arrow reader, which on some broken files panics rather than return an error. If it
/// fails, `tell` tells the fault.
fn contained<T>(
    part: &Part,
    tell: impl FnOnce(Option<ArrowError>) -> ArrowFault,
    read: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Error> {
    let found = match panics::contained(read) {
        Some(Ok(read)) => return Ok(read),
        Some(Err(Failure::Found(found))) => found,
        Some(Err(Failure::Library(ArrowError::IoError(_, error))))
            if error.raw_os_error().is_some() =>
        {
            return Err(Error::Source(SourceError::Read {
                file: part.name().to_owned(),
                cause: nameless(error),
            }));
        }
        Some(Err(Failure::Library(ArrowError::IoError(_, error))))
            if error.kind() == io::ErrorKind::UnexpectedEof =>
        {
            ArrowFault::CutOff
        }
        Some(Err(Failure::Library(error))) => tell(Some(error)),
        None => tell(None),
    };
    Err(fault(part, found))
}

/// Returns the error that the file's rows are not of the types in its schema.
pub(crate) fn broken(part: &Part) -> Error {
    fault(part, ArrowFault::Types)
}

fn fault(part: &Part, fault: ArrowFault) -> Error {
    Error::Read(ReadError::Arrow {
        file: part.name().to_owned(),
        fault,
    })
}
