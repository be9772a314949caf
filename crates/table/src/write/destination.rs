use std::{
    fs::{self, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use psijoin_files::{AtomicFile, Existing, spill::Spill};
use psijoin_printable::Screen;
use psijoin_source::{Compression, Format, Progress, Source};

use crate::{
    AlignedRows, Error, MatchingRows, WhichRows, WriteError,
    keys::bitmap::Bitmap,
    share::{GivenColumns, Partner, PartnerRows, Payloads},
    write::{self, Added, Chosen, Form, Order},
};

/// The column that tells which rows are shared, and the prefix of its name if the table has that
/// name.
const SHARED_COLUMN: &str = "shared";
const SHARED_PREFIX: &str = "psijoin_";

/// The destination of a table's rows, and the choice of them.
#[derive(Debug)]
pub struct Destination {
    name: String,
    target: Target,
    form: Form,
    compression: Option<Compression>,
    which: WhichRows,
    /// The columns that are added to them.
    added: SchemaRef,
    /// Those of the other party among them.
    given: Option<GivenColumns>,
    /// `true` if rows are in the common order of both parties.
    aligned: bool,
}

#[derive(Debug)]
enum Target {
    Stdout,
    /// A pipe or a device: written as it is, unless it is a terminal, where rows are escaped as on
    /// standard output.
    Stream(PathBuf),
    /// A file, which appears as a whole when it is complete.
    File(AtomicFile),
    Memory,
    RowNumbers,
}

impl Destination {
    /// Checks that the matching rows of `source` can be written to `path`, or to standard output
    /// without one, so that a run does not fail at its end. An existing file is replaced or kept; a
    /// stream, as a pipe or a device, is written either way.
    ///
    /// The file name's ending determines the format, and whether a text is compressed; without one,
    /// lines stay lines. A destination that is not a regular file, such as standard output, gets
    /// CSV from Parquet and Arrow, and otherwise the source's own format.
    ///
    /// # Errors
    /// If no file can be created there, it is the input, its name has no known ending, or the
    /// format cannot hold the source's columns, or one of those cannot be read; or as
    /// [`AtomicFile::prepare`].
    pub fn prepare(
        path: Option<&Path>,
        source: &Source,
        existing: Existing,
    ) -> Result<Self, Error> {
        let (name, target, format) = match path {
            None => {
                let name = "standard output".to_owned();
                (name, Target::Stdout, stream_format(source))
            }
            Some(path) => {
                let (target, format) = at(path, source, existing)?;
                (psijoin_printable::path(path), target, format)
            }
        };
        let unfit = write::fits(source, format)?;
        let destination = Self {
            compression: path.and_then(Compression::of_ending),
            ..Self::new(name, target, format)
        };
        destination.unless(unfit)
    }

    /// Keeps the matching rows of `source` in memory, as Arrow data: [`StagedRows::into_batches`].
    ///
    /// They have the types that they would have in an [Arrow file](psijoin_source#files): a text becomes
    /// columns of strings, and a dictionary its values, also where it is nested. So nothing of
    /// other rows is among what is kept, nor kept alive by it.
    ///
    /// # Errors
    /// If a column is of a type whose rows cannot be had without others, or two columns of a text
    /// have one name, or one of the source's columns cannot be read.
    pub fn in_memory(source: &Source) -> Result<Self, Error> {
        let name = "the rows in memory".to_owned();
        let unfit = write::fits_in_memory(source)?;
        Self::new(name, Target::Memory, Format::Arrow).unless(unfit)
    }

    /// Keeps the numbers of the matching rows in memory, from 0 on, in the first column of
    /// [`StagedRows::into_batches`]. Whatever is added to the rows is added to their numbers.
    ///
    /// For whoever has the table's rows at hand: its other columns, and rows that are not shared,
    /// are not read again.
    pub fn row_numbers() -> Self {
        let name = "the numbers of the rows".to_owned();
        Self::new(name, Target::RowNumbers, Format::Arrow)
    }

    /// Writes the shared rows, as they are.
    fn new(name: String, target: Target, format: Format) -> Self {
        Self {
            name,
            target,
            form: Form {
                format,
                quote_empty: false,
                quote_formulas: false,
            },
            compression: None,
            which: WhichRows::Shared,
            added: Arc::new(Schema::empty()),
            given: None,
            aligned: false,
        }
    }

    /// Fails if there is a reason why the destination does not fit.
    fn unless(self, unfit: Option<String>) -> Result<Self, Error> {
        match unfit {
            None => Ok(self),
            Some(reason) => Err(Error::Write(WriteError::Unfit {
                file: self.name,
                reason,
            })),
        }
    }

    /// Writes these rows; without this, the shared ones. If all are written, a column `shared`
    /// behind the others is true for shared ones. In a table that has such a column, it is called
    /// `psijoin_shared`.
    ///
    /// # Errors
    /// If the format cannot hold that column, or the source's columns cannot be read.
    ///
    /// # Panics
    /// If columns of the other party [were added](Self::adding) before, or rows are
    /// [aligned](Self::aligning).
    pub fn choosing(self, which: WhichRows, source: &Source) -> Result<Self, Error> {
        assert!(
            self.given.is_none() && !self.aligned,
            "rows are chosen before columns are added, and before they are aligned"
        );
        let mut added = Vec::new();
        if which == WhichRows::All {
            let name = different(SHARED_COLUMN, SHARED_PREFIX, &source.columns()?);
            added.push(Field::new(name, DataType::Boolean, false));
        }
        let added = Arc::new(Schema::new(added));
        Self {
            which,
            added,
            ..self
        }
        .fitting(source)
    }

    /// Adds the columns that the other party gives, behind all others, in the place of those that
    /// were added before. A column whose name is taken already gets this prefix, as often as it
    /// takes. [`stage_joined`](Self::stage_joined) writes them.
    ///
    /// # Errors
    /// If the format cannot hold them, or the source's columns cannot be read.
    ///
    /// # Panics
    /// If `prefix` is empty.
    pub fn adding(
        mut self,
        given: &GivenColumns,
        prefix: &str,
        source: &Source,
    ) -> Result<Self, Error> {
        assert!(!prefix.is_empty(), "a prefix makes names different");
        let mut names = source.columns()?;
        let of_ours = usize::from(self.which == WhichRows::All);
        let mut fields: Vec<FieldRef> = self.added.fields()[..of_ours].to_vec();
        names.extend(fields.iter().map(|field| field.name().clone()));
        for field in given.schema().fields() {
            let name = different(field.name(), prefix, &names);
            let nullable = field.is_nullable() || self.which != WhichRows::Shared;
            let field = field
                .as_ref()
                .clone()
                .with_name(&name)
                .with_nullable(nullable);
            fields.push(Arc::new(field));
            names.push(name);
        }
        self.added = Arc::new(Schema::new(fields));
        self.given = Some(given.clone());
        self.fitting(source)
    }

    /// Writes a row for each shared key, in an order that both parties have in common:
    /// [`stage_aligned`](Self::stage_aligned) writes them.
    ///
    /// # Errors
    /// If other rows than the shared ones [were chosen](Self::choosing).
    pub fn aligning(self) -> Result<Self, Error> {
        match self.which {
            WhichRows::Shared => Ok(Self {
                aligned: true,
                ..self
            }),
            others => Err(Error::Write(WriteError::AlignedOthers(others))),
        }
    }

    /// Returns whether rows are kept [in memory](Self::in_memory), or [their
    /// numbers](Self::row_numbers).
    pub fn is_in_memory(&self) -> bool {
        matches!(self.target, Target::Memory | Target::RowNumbers)
    }

    /// Returns which rows are written.
    pub fn which(&self) -> WhichRows {
        self.which
    }

    /// Fails if the format cannot hold what is added.
    fn fitting(self, source: &Source) -> Result<Self, Error> {
        let unfit = match self.added.fields().is_empty() {
            true => None,
            false => write::fits_added(source, &self.added, self.form.format),
        };
        self.unless(unfit)
    }

    /// Tells nulls and empty texts apart where Parquet or Arrow is written as CSV: an empty text is
    /// `""`, and a null is nothing, as PostgreSQL reads them. Without this both are nothing.
    ///
    /// # Errors
    /// If anything else is written.
    pub fn quoting_empty(mut self, source: &Source) -> Result<Self, Error> {
        match (source.format(), self.form.format) {
            (Format::Parquet | Format::Arrow, Format::Csv) => {
                self.form.quote_empty = true;
                Ok(self)
            }
            (from, to) => Err(Error::Write(WriteError::NoNulls { from, to })),
        }
    }

    /// Writes a single quote before what a spreadsheet would take for a formula, as it is
    /// [usual](https://owasp.org/www-community/attacks/CSV_Injection): before texts that begin with
    /// `=`, `+`, `-`, `@`, one of their wide forms or a control character, and within a text behind
    /// what may divide cells. Numbers are no formulas, whatever their sign. This holds for all
    /// columns of texts, those of the other party too, and for names of columns. In CSV such a
    /// field has quotes.
    ///
    /// # Errors
    /// Unless CSV or TSV is written.
    pub fn quoting_formulas(mut self) -> Result<Self, Error> {
        match self.form.format {
            Format::Csv | Format::Tsv => {
                self.form.quote_formulas = true;
                Ok(self)
            }
            to => Err(Error::Write(WriteError::NoFormulas { to })),
        }
    }

    /// Writes the shared rows, or [others](Self::choosing), in input order,
    /// without showing them yet if the destination is a file: what can fail, such as a disk that is
    /// full, has failed when this returns. In the source's own format every row keeps its bytes, or
    /// its types; in another it is written as is usual there.
    ///
    /// The threads of the caller's pool read, copy rows of a text in its own format, and encode
    /// typed rows.
    ///
    /// A file appears, or is replaced, when it is [committed](StagedRows::commit), and not at all
    /// otherwise. A stream gets the rows at once. In memory, they are there to be
    /// [taken](StagedRows::into_batches).
    ///
    /// # Errors
    /// If the output cannot be written, or the source cannot be read or has changed since its keys
    /// were. An error of the kind [`BrokenPipe`](crate::ErrorKind::BrokenPipe) means that the
    /// output's reader wants no more.
    ///
    /// # Panics
    /// If columns of the other party are [to be added](Self::adding), or rows are to be
    /// [aligned](Self::aligning).
    pub fn stage_rows(
        &self,
        source: &Source,
        shared: &MatchingRows<'_>,
        progress: &Progress,
    ) -> Result<StagedRows, Error> {
        self.stage_with(source, shared, None, progress)
    }

    /// Writes all rows of a source of typed columns, of which there are this many, as
    /// [`stage_rows`](Self::stage_rows) writes some.
    ///
    /// # Errors
    /// As those of that.
    ///
    /// # Panics
    /// If columns of the other party are [to be added](Self::adding), or rows are to be
    /// [aligned](Self::aligning).
    pub fn stage_all(
        &self,
        source: &Source,
        rows: u64,
        progress: &Progress,
    ) -> Result<StagedRows, Error> {
        assert!(!self.aligned, "rows are as they come");
        self.check_columns(None);
        let chosen = Chosen {
            rows: &Bitmap::new(rows).complement(),
            starts: &[],
            added: None,
            order: None,
        };
        self.stage_chosen(source, &chosen, progress)
    }

    /// As [`stage_rows`](Self::stage_rows), with the columns that the other party gives. A shared
    /// row is written once for each row that the other party has of its key; one without a partner
    /// has nulls there.
    ///
    /// # Errors
    /// As those of that, and if the payloads are not what a sender that follows the protocol gives.
    ///
    /// # Panics
    /// Unless the payloads are one for each shared item, and of the columns that are
    /// [to be added](Self::adding); or if rows are to be [aligned](Self::aligning).
    pub fn stage_joined(
        &self,
        source: &Source,
        rows: &PartnerRows<'_>,
        payloads: &Payloads,
        progress: &Progress,
    ) -> Result<StagedRows, Error> {
        let partner = Partner::new(rows, payloads);
        self.stage_with(source, &rows.shared, Some(partner), progress)
    }

    fn stage_with(
        &self,
        source: &Source,
        shared: &MatchingRows<'_>,
        partner: Option<Partner<'_>>,
        progress: &Progress,
    ) -> Result<StagedRows, Error> {
        assert_eq!(
            partner.as_ref().map(Partner::columns),
            self.given.as_ref(),
            "the columns that are to be added"
        );
        let others;
        let rows = match self.which {
            WhichRows::Shared => &shared.rows,
            WhichRows::Unshared => {
                others = shared.rows.complement();
                &others
            }
            WhichRows::All => {
                others = Bitmap::new(shared.rows.len()).complement();
                &others
            }
        };
        let added = (!self.added.fields().is_empty()).then(|| Added {
            schema: self.added.clone(),
            shared: (self.which == WhichRows::All).then_some(&shared.rows),
            partner,
        });
        // A shared row is written as often as the other party has its key.
        let further = match &partner {
            Some(partner) if self.which != WhichRows::Unshared => {
                partner.shared_rows()? - shared.count()
            }
            _ => 0,
        };
        let chosen = Chosen {
            rows,
            starts: shared.starts,
            added: added.as_ref(),
            order: None,
        };
        let staged = self.stage_chosen(source, &chosen, progress)?;
        Ok(StagedRows {
            rows: staged.rows + further,
            ..staged
        })
    }

    /// As [`stage_rows`](Self::stage_rows), or [`stage_joined`](Self::stage_joined) if there are
    /// payloads, but in the order that both parties have in common.
    ///
    /// The source is read once, in its order. Its output waits within the budget, and beyond it in
    /// a temporary file in the folder, until all rows are there. Besides, a part of them is in
    /// memory: one of 256.
    ///
    /// # Errors
    /// As those of that, if what is beyond the budget cannot be written or read, and if the
    /// payloads have lists of rows.
    ///
    /// # Panics
    /// Unless rows are to be [aligned](Self::aligning), and the payloads are one for each row, and
    /// of the columns that are [to be added](Self::adding).
    pub fn stage_aligned(
        &self,
        source: &Source,
        rows: &AlignedRows<'_>,
        payloads: Option<&Payloads>,
        spill: &Spill,
        progress: &Progress,
    ) -> Result<StagedRows, Error> {
        assert!(self.aligned, "rows are to be aligned");
        let partner = payloads.map(|payloads| Partner::new(&rows.rows, payloads));
        self.check_columns(partner.as_ref());
        if let Some(payloads) = payloads {
            payloads.layout().check_alignable()?;
        }
        let added = partner.map(|partner| Added {
            schema: self.added.clone(),
            shared: None,
            partner: Some(partner),
        });
        let chosen = Chosen {
            rows: &rows.rows.shared.rows,
            starts: rows.rows.shared.starts,
            added: added.as_ref(),
            order: Some(&Order {
                source,
                rows,
                added_bytes: added.as_ref().map_or(0, Added::row_bytes),
                spill,
            }),
        };
        self.stage_chosen(source, &chosen, progress)
    }

    /// # Panics
    /// Unless these are the columns that are to be added.
    fn check_columns(&self, partner: Option<&Partner<'_>>) {
        assert_eq!(
            partner.map(Partner::columns),
            self.given.as_ref(),
            "the columns that are to be added"
        );
    }

    fn stage_chosen(
        &self,
        source: &Source,
        chosen: &Chosen<'_>,
        progress: &Progress,
    ) -> Result<StagedRows, Error> {
        let write = |writer: &mut (dyn Write + Send)| {
            write::chosen_rows(
                source,
                chosen,
                self.form,
                &mut write::Output {
                    name: &self.name,
                    writer,
                },
                progress,
            )
        };
        let pass = |output: &mut (dyn Write + Send)| match self.compression {
            None => write(output),
            Some(compression) => {
                let failed = |error| cannot_write(&self.name, error);
                write::write_compressed(compression, output, write, failed)
            }
        };
        let staged = match &self.target {
            Target::Stdout => {
                pass(&mut BufWriter::new(Screen::if_terminal(io::stdout())))?;
                Staged::Stream
            }
            Target::Stream(path) => {
                let file = OpenOptions::new().write(true).open(path);
                let file = file.map_err(|error| cannot_write(&self.name, error))?;
                pass(&mut BufWriter::new(Screen::if_terminal(file)))?;
                Staged::Stream
            }
            Target::File(file) => {
                let cannot_write = |error| cannot_write(&self.name, error);
                let mut unfinished = file.begin().map_err(cannot_write)?;
                pass(&mut unfinished)?;
                Staged::File(unfinished.finish().map_err(cannot_write)?)
            }
            Target::Memory => {
                let (schema, batches) =
                    write::chosen_batches(source, chosen, &self.name, progress)?;
                Staged::Memory(schema, batches)
            }
            Target::RowNumbers => {
                let numbers = Source::row_numbers(&self.name, chosen.rows.len());
                let order = chosen.order.map(|order| Order {
                    source: &numbers,
                    ..*order
                });
                let chosen = Chosen {
                    order: order.as_ref(),
                    ..*chosen
                };
                let (schema, batches) =
                    write::chosen_batches(&numbers, &chosen, &self.name, progress)?;
                Staged::Memory(schema, batches)
            }
        };
        Ok(StagedRows {
            name: self.name.clone(),
            rows: chosen.rows.count(),
            staged,
        })
    }
}

/// Rows that are written, but not shown yet. When dropped, they are gone.
#[derive(Debug)]
#[must_use = "staged rows go away unless they are committed"]
pub struct StagedRows {
    name: String,
    rows: u64,
    staged: Staged,
}

#[derive(Debug)]
enum Staged {
    /// They are written.
    Stream,
    File(psijoin_files::Staged),
    Memory(SchemaRef, Vec<RecordBatch>),
}

impl StagedRows {
    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the rows, in order, and their columns, if they are [in
    /// memory](Destination::in_memory), or [their numbers](Destination::row_numbers).
    pub fn into_batches(self) -> Option<(SchemaRef, Vec<RecordBatch>)> {
        match self.staged {
            Staged::Memory(schema, batches) => Some((schema, batches)),
            Staged::Stream | Staged::File(_) => None,
        }
    }

    /// Puts the file in its place, and returns how many rows it has. Rows in memory are gone then.
    ///
    /// # Errors
    /// If the operating system refuses, or something that is to be kept has its name by now: see
    /// [`psijoin_files::Staged::commit`].
    pub fn commit(self) -> Result<u64, Error> {
        if let Staged::File(file) = self.staged {
            file.commit()
                .map_err(|error| cannot_write(&self.name, error))?;
        }
        Ok(self.rows)
    }
}

/// Returns a name that none of these columns has: this one, if it is none of theirs, and otherwise
/// with as many prefixes as it takes.
pub(crate) fn different(name: &str, prefix: &str, columns: &[String]) -> String {
    let mut name = name.to_owned();
    while columns.contains(&name) {
        name.insert_str(0, prefix);
    }
    name
}

fn cannot_write(name: &str, source: io::Error) -> Error {
    Error::Write(WriteError::Write {
        file: name.to_owned(),
        cause: source,
    })
}

/// Returns what is to be written at `path`, and in which format.
fn at(path: &Path, source: &Source, existing: Existing) -> Result<(Target, Format), Error> {
    let name = || psijoin_printable::path(path);
    if let Ok(found) = fs::metadata(path) {
        if found.is_dir() {
            return Err(Error::Write(WriteError::OutputIsDirectory { file: name() }));
        }
        if !found.is_file() {
            let format = Format::of_ending(path).unwrap_or(stream_format(source));
            return Ok((Target::Stream(path.to_owned()), format));
        }
    }
    let format = file_format(path, source)?;
    if source.is_file(path) {
        return Err(Error::Write(WriteError::OutputIsInput { file: name() }));
    }
    if source.would_take(path) {
        return Err(Error::Write(WriteError::OutputAmongInputs { file: name() }));
    }
    match AtomicFile::prepare(path, existing) {
        Ok(file) => Ok((Target::File(file), format)),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            Err(Error::Write(WriteError::OutputIsDirectory { file: name() }))
        }
        Err(source) => Err(Error::Write(WriteError::Create {
            file: name(),
            cause: source,
        })),
    }
}

fn stream_format(source: &Source) -> Format {
    match source.format() {
        Format::Parquet | Format::Arrow => Format::Csv,
        text => text,
    }
}

fn file_format(path: &Path, source: &Source) -> Result<Format, Error> {
    match Format::of_ending(path) {
        Some(format) => Ok(format),
        None if Format::is_without_ending(path) && source.format() == Format::Lines => {
            Ok(Format::Lines)
        }
        None => Err(Error::Write(WriteError::OutputEnding {
            file: psijoin_printable::path(path),
        })),
    }
}
