//! A table: the files that it is, and how they are written.

pub(crate) mod compression;
mod decoded;
pub(crate) mod dialect;
pub(crate) mod encoding;
pub(crate) mod error;
mod files;
pub(crate) mod foreign;
pub(crate) mod format;
mod partition;
mod plan;
pub(crate) mod section;
mod spool;
mod stream;
pub(crate) mod table_file;
pub(crate) mod table_log;
mod typed;
mod unity;

use std::{
    fs,
    io::{self, Read},
    iter,
    path::{Path, PathBuf},
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::{
    Dialect, Doubt, Encoding, Error, Format, Progress, SourceError,
    read::{
        frame::Frame,
        header::Header,
        row_numbers::RowNumbers,
        text::{Blocks, Text},
    },
    source::{
        dialect::{Delimited, Layout},
        foreign::Foreign,
        table_file::{Content, Part},
    },
};
use decoded::decoded;
use plan::{Planned, Said};
use spool::Spool;
pub use typed::{Batch, Pieces, Selection, TableBatches, TablePiece};

/// More files than this are not held open, but opened again when they are read.
const MAX_HELD: usize = 16;

/// Texts are read in blocks of this length: long enough that what is done once per block costs
/// nothing, and short enough to stay in a processor's cache.
const BLOCK_BYTES: u64 = 1 << 20;

/// A table to be read twice: once for its keys, and once more for the rows that match. It is a
/// file, or several that are read one after the other, or in memory.
#[derive(Debug)]
pub struct Source {
    name: String,
    /// The inputs that the user named; none for a stream.
    inputs: Vec<PathBuf>,
    format: Format,
    /// The layout of the text; `None` if it is none.
    layout: Option<Layout>,
    /// At least one.
    parts: Vec<Part>,
    /// The columns that folders' names tell, behind those of the files.
    partition_columns: Vec<String>,
    /// The typed columns of all parts together, if there was something to compare.
    schema: Option<unity::Common>,
    block_bytes: u64,
}

impl Source {
    /// Opens the table that one name means: [`open_all`](Self::open_all).
    ///
    /// # Errors
    /// As there.
    pub fn open(
        input: &Path,
        format: Option<Format>,
        dialect: &Dialect,
        keyed: bool,
        progress: &Progress,
    ) -> Result<Self, Error> {
        Self::open_all(&[input.to_owned()], format, dialect, keyed, progress)
    }

    /// Opens a table: standard input if the only input is `-`, and otherwise all files that the
    /// inputs mean. An input is a file; if there is none of that name, a pattern as `export/*.csv`;
    /// or a folder of Parquet or Arrow files ([Files](crate#files)).
    ///
    /// The format, unless given, follows from the file name's ending. A file without an ending,
    /// such as a word list, is lines, if no key columns are named (`keyed` is false). Standard
    /// input, or a pipe without an ending, is CSV if key columns are named, and otherwise lines.
    /// The `dialect` goes before what is usual in the format. With one, a file without a known
    /// ending is CSV.
    ///
    /// Some inputs are copied to a temporary file without a name before this function returns:
    /// those that cannot be read twice (standard input, pipes), those that are compressed, by a
    /// second ending `.gz` or `.zst`, and those that are not UTF-8, by the dialect or a byte order
    /// mark of UTF-16. If there are several files, their headers or footers are read.
    ///
    /// # Errors
    /// If a file cannot be opened, or its format is not known, or it seems to be of another one; if
    /// it is compressed without the ending for it, or cannot be decompressed to its end; if a byte
    /// order mark is that of another encoding than the given one; if the dialect has something that
    /// the format does not have, or its delimiter is its quote. If there are several files, and two
    /// of them are the same, or differ in format, encoding or columns, or one is `-`.
    ///
    /// # Panics
    /// If there are no inputs.
    pub fn open_all(
        inputs: &[PathBuf],
        format: Option<Format>,
        dialect: &Dialect,
        keyed: bool,
        progress: &Progress,
    ) -> Result<Self, Error> {
        assert!(!inputs.is_empty(), "a table has an input");
        let said = Said {
            format,
            dialect,
            keyed,
        };
        if inputs.iter().any(|input| input == Path::new("-")) {
            if inputs.len() > 1 {
                return Err(Error::Source(SourceError::StreamAmongFiles));
            }
            let stdin = io::stdin().lock();
            let is_said = format.is_some();
            let format = format.unwrap_or(said.format_of_stream());
            return Self::spooled(stdin, "standard input", format, is_said, dialect, progress);
        }
        let planned = files::list(inputs)?
            .into_iter()
            .map(|listed| said.plan(listed))
            .collect::<Result<Vec<_>, _>>()?;
        Self::of_files(inputs, planned, said, progress)
    }

    /// Returns a table of the files that these inputs mean. There must be at least one.
    fn of_files(
        inputs: &[PathBuf],
        planned: Vec<Planned>,
        said: Said<'_>,
        progress: &Progress,
    ) -> Result<Self, Error> {
        unity::check_formats(&planned)?;
        let first = &planned[0];
        let format = first.format;
        let layout = said.dialect.layout(format, &first.name)?;
        let is_said = said.format.is_some();
        let partition_columns = unity::partition_columns(&planned)?;
        if planned.iter().any(Planned::is_copied) {
            let copied = planned.iter().filter(|file| file.is_copied());
            let total: Option<u64> = copied.map(|file| file.bytes).sum();
            progress.start(total.unwrap_or(0));
        }
        let name = table_name(inputs, planned.len());
        let is_held = planned.len() <= MAX_HELD;
        let mut spool = Spool::default();
        let open = |file: Planned| -> Result<Part, Error> {
            let mut part = file.open(layout.map(|_| said.dialect), &mut spool, progress)?;
            check_beginning(&part, format, is_said)?;
            if !is_held {
                part.close();
            }
            Ok(part)
        };
        let mut source = Self {
            name,
            inputs: inputs.to_vec(),
            format,
            layout,
            parts: planned.into_iter().map(open).collect::<Result<_, _>>()?,
            partition_columns,
            schema: None,
            block_bytes: BLOCK_BYTES,
        };
        source.schema = unity::check_columns(&source, progress)?;
        Ok(source)
    }

    /// Copies a stream to a temporary file without a name, as it could not be read twice. `name` is
    /// its name in errors.
    ///
    /// # Errors
    /// If the stream cannot be read, or is compressed, or the temporary file cannot be written; if
    /// the dialect does not fit, as in [`open`](Self::open).
    pub fn spool(
        input: impl Read,
        name: &str,
        format: Format,
        dialect: &Dialect,
        progress: &Progress,
    ) -> Result<Self, Error> {
        Self::spooled(input, name, format, true, dialect, progress)
    }

    /// As [`spool`](Self::spool), where the format may not be the user's word.
    fn spooled(
        input: impl Read,
        name: &str,
        format: Format,
        is_said: bool,
        dialect: &Dialect,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let layout = dialect.layout(format, name)?;
        progress.start(0);
        let dialect = layout.map(|_| dialect);
        let (content, encoding) = Spool::default().copied(input, None, dialect, name, progress)?;
        let part = Part {
            name: name.to_owned(),
            path: None,
            compression: None,
            encoding,
            content,
            partition: Vec::new(),
            int96: Default::default(),
        };
        check_beginning(&part, format, is_said)?;
        Ok(Self::of_part(part, format, layout))
    }

    /// Returns a CSV text that is read to memory, for use without a file, as by a fuzzer.
    ///
    /// # Errors
    /// If the stream cannot be read, or the dialect does not fit.
    #[doc(hidden)]
    pub fn csv_in_memory(input: impl Read, name: &str, dialect: &Dialect) -> Result<Self, Error> {
        let layout = Layout::Delimited(dialect.over(Delimited::CSV)?);
        let cannot_read = |source| {
            Error::Source(SourceError::Read {
                file: name.to_owned(),
                cause: source,
            })
        };
        let (encoding, mut input) = decoded(input, dialect, name, cannot_read)?;
        let mut text = Vec::new();
        input.read_to_end(&mut text).map_err(cannot_read)?;
        Ok(Self::of_part(
            Part {
                name: name.to_owned(),
                path: None,
                compression: None,
                encoding,
                content: Content::Memory(text.into()),
                partition: Vec::new(),
                int96: Default::default(),
            },
            Format::Csv,
            Some(layout),
        ))
    }

    /// Returns a table that is in memory as Arrow data, such as a data frame: these batches, in
    /// order, with the columns of the schema. There may be none. `name` is its name in errors.
    ///
    /// It is read as an [Arrow file](crate#files) of the same columns would be. The batches are
    /// shared and not copied. The division of rows into batches does not matter.
    ///
    /// # Errors
    /// If a batch does not have the columns of the schema, in its order and with its types, or has
    /// nulls where the schema allows none.
    pub fn of_batches(
        name: &str,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
    ) -> Result<Self, Error> {
        let frame = Frame::new(name, schema, batches)?;
        Ok(Self::typed(name, Content::Frame(frame)))
    }

    /// Returns the numbers of this many rows. `name` is their name in errors.
    pub fn row_numbers(name: &str, rows: u64) -> Self {
        Self::typed(name, Content::RowNumbers(RowNumbers::new(rows)))
    }

    /// Returns a table of typed columns that is no file of the user's.
    fn typed(name: &str, content: Content) -> Self {
        let part = Part {
            name: name.to_owned(),
            path: None,
            compression: None,
            encoding: Encoding::UTF_8,
            content,
            partition: Vec::new(),
            int96: Default::default(),
        };
        Self::of_part(part, Format::Arrow, None)
    }

    /// Returns a table of one part that is no file.
    fn of_part(part: Part, format: Format, layout: Option<Layout>) -> Self {
        Self {
            name: part.name.clone(),
            inputs: Vec::new(),
            format,
            layout,
            parts: vec![part],
            partition_columns: Vec::new(),
            schema: None,
            block_bytes: BLOCK_BYTES,
        }
    }

    /// Reads texts in blocks of this many bytes, at least one. For tests: what is read is the same.
    #[doc(hidden)]
    pub fn in_blocks_of(self, bytes: u64) -> Self {
        Self {
            block_bytes: bytes.max(1),
            ..self
        }
    }

    /// Returns the table as the user named it; several files together have a name for all.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the table's format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the number of the table's files: one, if it is a stream, or in memory.
    pub fn files(&self) -> usize {
        self.parts.len()
    }

    /// Describes the form of the table: the format, and the deviations from its usual form, as in
    /// `CSV, semicolons, no header, UTF-16LE`; and the compression.
    pub fn description(&self) -> String {
        let format = iter::once(self.format.to_string());
        let first = self.parts[0].compression;
        let compression = first
            .filter(|_| self.parts.iter().all(|part| part.compression == first))
            .map(|compression| compression.to_string());
        format
            .chain(self.differences())
            .chain(compression)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Returns whether the table has the usual form of its format.
    pub fn is_usual(&self) -> bool {
        self.differences().is_empty()
    }

    fn differences(&self) -> Vec<String> {
        let mut words = match (self.layout, Layout::usual(self.format)) {
            (Some(taken), Some(usual)) => taken.differences(usual),
            _ => Vec::new(),
        };
        if self.encoding() != Encoding::UTF_8 {
            words.push(self.encoding().to_string());
        }
        words
    }

    /// Returns the table's length, decompressed, and in UTF-8 if it is a text; of one in memory,
    /// about how much it takes there.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(Part::bytes).sum()
    }

    /// Reads the names of the table's columns.
    ///
    /// # Errors
    /// If the header cannot be read, or there is none.
    pub fn columns(&self) -> Result<Vec<String>, Error> {
        match self.layout {
            Some(layout) => text_columns(&self.parts[0], layout),
            None => {
                let fields = self.schema()?.fields().clone();
                Ok(fields.iter().map(|field| field.name().clone()).collect())
            }
        }
    }

    /// Returns the doubts about the table's form that its beginning suggests.
    ///
    /// # Errors
    /// If the header cannot be read, or there is none.
    pub fn doubts(&self) -> Result<Vec<Doubt>, Error> {
        let (first, Some(layout)) = (&self.parts[0], self.layout) else {
            return Ok(Vec::new());
        };
        let mut doubts = Text::open(first, layout)?.doubts()?;
        if first.encoding() == Encoding::UTF_8 {
            let beginning = decoded::beginning(first.open()?);
            let beginning = beginning.map_err(|source| first.cannot_read(source))?;
            doubts.extend(Encoding::unmarked_utf_16(&beginning).map(Doubt::Utf16));
        }
        Ok(doubts)
    }

    /// Returns the header of these names, which must be those of the columns.
    pub fn header<'a>(&'a self, names: &'a [String]) -> Header<'a> {
        Header {
            // All parts have the same.
            file: self.parts[0].name(),
            names,
            layout: self.layout,
            has_positions: self.layout.is_some() || !self.inputs.is_empty(),
        }
    }

    /// Returns whether the table has the file at `path`, by whatever way that leads there.
    pub fn is_file(&self, path: &Path) -> bool {
        fs::canonicalize(path).is_ok_and(|path| self.parts.iter().any(|part| part.is_at(&path)))
    }

    /// Returns whether a new file at `path` would be one of the table's the next time.
    pub fn would_take(&self, path: &Path) -> bool {
        files::would_take(&self.inputs, path)
    }

    /// Returns the encoding of the text.
    pub fn encoding(&self) -> Encoding {
        self.parts[0].encoding()
    }

    /// Returns the layout of the text; `None` if it is none.
    pub fn layout(&self) -> Option<Layout> {
        self.layout
    }

    /// Returns the blocks of a table that is text.
    ///
    /// # Errors
    /// If the header of the first part cannot be read.
    pub fn blocks(&self, layout: Layout) -> Result<Blocks<'_>, Error> {
        Blocks::new(&self.parts, layout, self.block_bytes)
    }

    /// Opens one of the parts of a table that is text.
    ///
    /// # Errors
    /// If its header cannot be read.
    pub fn text(&self, part: usize, layout: Layout) -> Result<Text<'_>, Error> {
        Text::open(&self.parts[part], layout)
    }

    /// Checks that no file is another one than when it was first opened, as far as its length, its
    /// time and its identity tell.
    ///
    /// # Errors
    /// If one is.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        self.parts.iter().try_for_each(Part::check_unchanged)
    }

    /// Returns the error of a table that has other rows than when it was read before.
    pub fn changed(&self) -> Error {
        Error::Source(SourceError::Changed {
            file: self.name.clone(),
        })
    }
}

/// Returns the name of a table of this many files that these inputs mean.
fn table_name(inputs: &[PathBuf], files: usize) -> String {
    match inputs {
        [input] => psijoin_printable::path(input),
        _ => format!("the table of {files} files"),
    }
}

/// Returns the columns of a part that is text.
fn text_columns(part: &Part, layout: Layout) -> Result<Vec<String>, Error> {
    Ok(Text::open(part, layout)?.columns().to_vec())
}

/// Refuses a file that begins like another format, unless the user has said which it is, or like no
/// table at all.
fn check_beginning(part: &Part, format: Format, is_said: bool) -> Result<(), Error> {
    let mut beginning = Vec::new();
    let read = part
        .open()?
        .take(foreign::BEGINNING_BYTES as u64)
        .read_to_end(&mut beginning);
    read.map_err(|source| part.cannot_read(source))?;
    let file = || part.name().to_owned();
    let found = Format::of_beginning(&beginning);
    let expected = (!format.is_text()).then_some(format);
    let foreign = || Foreign::of_beginning(&beginning, format, is_said);
    if let Some(foreign) = found.is_none().then(foreign).flatten() {
        return Err(Error::Source(SourceError::Foreign {
            file: file(),
            foreign,
        }));
    }
    match is_said || found == expected {
        true => Ok(()),
        false => Err(Error::Source(SourceError::Misnamed {
            file: file(),
            format,
            found,
        })),
    }
}
