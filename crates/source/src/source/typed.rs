//! The typed columns of a table, whose parts are Parquet or Arrow files, or in memory.

use std::{collections::BTreeSet, iter, slice, sync::Arc};

use ::parquet::schema::types::SchemaDescPtr;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{DataType, Schema, SchemaRef};

use super::Source;
use psijoin_key::Place;

use crate::{
    Error, Format, Progress,
    read::{
        arrow::{Column, FilePieces, Piece, TypedFile},
        frame, ipc, parquet, row_numbers,
    },
    source::table_file::{Content, Part},
};

/// Reads a part's schema, in a format that is not text.
pub(super) fn open(part: &Part, format: Format) -> Result<Box<dyn TypedFile<'_> + '_>, Error> {
    Ok(match (&part.content, format) {
        (Content::Frame(frame), _) => Box::new(frame::Reader(frame)),
        (Content::RowNumbers(numbers), _) => Box::new(row_numbers::Reader(numbers)),
        (_, Format::Parquet) => Box::new(parquet::Reader::open(part)?),
        (_, Format::Arrow) => Box::new(ipc::Reader::open(part)?),
        (_, Format::Csv | Format::Tsv | Format::Lines) => panic!("a text has no typed columns"),
    })
}

fn broken(part: &Part, format: Format) -> Error {
    match format {
        Format::Parquet => parquet::broken(part),
        Format::Arrow => ipc::broken(part),
        Format::Csv | Format::Tsv | Format::Lines => panic!("a text has no typed columns"),
    }
}

impl Source {
    /// Returns the columns of a table that is not text.
    ///
    /// # Errors
    /// If a file's description of them cannot be read.
    pub fn schema(&self) -> Result<SchemaRef, Error> {
        match &self.schema {
            Some(common) => Ok(common.schema.clone()),
            None => Ok(open(&self.parts[0], self.format)?.schema().clone()),
        }
    }

    /// Returns the columns that are in no dictionary in the first of the files, if that tells.
    ///
    /// # Errors
    /// If a file's description of them cannot be read.
    pub fn without_dictionaries(&self) -> Result<Vec<usize>, Error> {
        open(&self.parts[0], self.format)?.without_dictionaries()
    }

    /// Returns the schema of the first of the files as Parquet has it, if they are of that format.
    ///
    /// # Errors
    /// If a file's description of them cannot be read.
    pub fn parquet_schema(&self) -> Result<Option<SchemaDescPtr>, Error> {
        Ok(open(&self.parts[0], self.format)?.parquet_schema())
    }

    /// Checks that all typed columns can be read, as far as the files' own descriptions tell.
    ///
    /// # Errors
    /// If one cannot.
    pub fn check_all_readable(&self) -> Result<(), Error> {
        let schema = self.schema()?;
        let all: Vec<usize> = (0..schema.fields().len()).collect();
        self.check_readable(&schema, &all)
    }

    /// Checks that these typed columns can be read, as far as the files' own descriptions tell.
    /// Opens each part, unless there is nothing to look for.
    ///
    /// # Errors
    /// If one cannot, or has different types in the parts.
    pub fn check_readable(&self, schema: &SchemaRef, columns: &[usize]) -> Result<(), Error> {
        let in_files = self.in_files(schema, columns);
        if in_files.is_empty() {
            return Ok(());
        }
        if let Some(common) = &self.schema {
            common.check(&self.parts, &in_files)?;
        }
        let mut parts = self.parts.iter();
        parts.try_for_each(|part| open(part, self.format)?.check(&in_files))
    }

    /// Returns those typed columns that are in the files themselves, not in the names of folders.
    pub(crate) fn in_files(&self, schema: &SchemaRef, columns: &[usize]) -> Vec<usize> {
        let file_columns = schema.fields().len() - self.partition_columns.len();
        let columns = columns.iter().copied();
        columns.filter(|&column| column < file_columns).collect()
    }
}

/// Some rows of a table.
pub struct Batch<'a> {
    part: &'a Part,
    /// The columns that were selected.
    pub rows: RecordBatch,
    format: Format,
    /// The number of the file's rows that come before.
    rows_before: u64,
}

impl<'a> Batch<'a> {
    /// Returns the name of the file that has the rows.
    pub fn file(&self) -> &'a str {
        self.part.name()
    }

    /// Returns where a row of the batch is in its file.
    pub fn place(&self, row: usize) -> Place {
        Place::Row(self.first_row() + row as u64)
    }

    /// Returns the number of its first row in its file, from 1.
    pub fn first_row(&self) -> u64 {
        self.rows_before + 1
    }

    /// Returns the error that the file's content contradicts its description.
    pub fn broken(&self) -> Error {
        broken(self.part, self.format)
    }

    /// Returns these columns of the batch as texts.
    ///
    /// # Errors
    /// If one is of another type than the file's description has.
    pub fn texts<'b>(
        &self,
        arrays: impl Iterator<Item = &'b ArrayRef>,
    ) -> Result<Vec<Column<'b>>, Error> {
        // Columns whose type has no text were refused, but a broken file can hold another type than
        // its schema has.
        arrays
            .map(|array| Column::new(array).ok_or_else(|| self.broken()))
            .collect()
    }
}

/// The columns of a table that are read, in the table's order.
pub struct Selection<'a> {
    source: &'a Source,
    /// The schema of what is read.
    schema: SchemaRef,
    /// The columns that are read of each file.
    in_files: Vec<usize>,
    /// The partition columns that are read.
    partition: Vec<usize>,
    /// `true` if texts may come as dictionaries.
    dictionaries: bool,
}

impl<'a> Selection<'a> {
    /// Returns these columns. Texts may come as dictionaries.
    ///
    /// # Errors
    /// If a file's description of its columns cannot be read.
    pub fn of(source: &'a Source, columns: &BTreeSet<usize>) -> Result<Self, Error> {
        let columns = columns.iter().copied().collect();
        Self::new(source, &source.schema()?, columns, true)
    }

    /// Returns all columns, with their types.
    ///
    /// # Errors
    /// If a file's description of its columns cannot be read.
    pub fn all(source: &'a Source) -> Result<Self, Error> {
        let schema = source.schema()?;
        let columns = (0..schema.fields().len()).collect();
        Self::new(source, &schema, columns, false)
    }

    fn new(
        source: &'a Source,
        table: &SchemaRef,
        columns: Vec<usize>,
        dictionaries: bool,
    ) -> Result<Self, Error> {
        let schema = table.project(&columns).expect("they are columns of it");
        let file_columns = table.fields().len() - source.partition_columns.len();
        let (in_files, partition): (Vec<_>, Vec<_>) = columns
            .into_iter()
            .partition(|&column| column < file_columns);
        Ok(Self {
            source,
            schema: Arc::new(schema),
            in_files,
            partition: partition
                .iter()
                .map(|column| column - file_columns)
                .collect(),
            dictionaries,
        })
    }

    /// Returns the schema of the columns, dictionaries aside.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Adds the values in its folders' names to a part's rows.
    fn of_table(
        &self,
        part: &'a Part,
        rows: &RecordBatch,
        rows_before: u64,
    ) -> Result<Batch<'a>, Error> {
        let count = rows.num_rows();
        let told = self.partition.iter().map(|&column| {
            let value = part.partition()[column].as_deref();
            Arc::new(StringArray::from_iter(iter::repeat_n(value, count))) as ArrayRef
        });
        let columns: Vec<ArrayRef> = rows.columns().iter().cloned().chain(told).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let format = self.source.format;
        let schema = match self.dictionaries {
            true => with_dictionaries(&self.schema, &columns),
            false => self.schema.clone(),
        };
        let rows = RecordBatch::try_new_with_options(schema, columns, &options)
            // A broken file can hold another type than its schema has.
            .map_err(|_| broken(part, format))?;
        Ok(Batch {
            part,
            rows,
            format,
            rows_before,
        })
    }
}

/// Returns the schema of columns that may be dictionaries of what they are said to be.
fn with_dictionaries(schema: &SchemaRef, columns: &[ArrayRef]) -> SchemaRef {
    let fields = schema.fields().iter().zip(columns);
    let fields = fields.map(|(field, column)| match column.data_type() {
        held @ DataType::Dictionary(_, values) if **values == *field.data_type() => {
            Arc::new(field.as_ref().clone().with_data_type(held.clone()))
        }
        _ => field.clone(),
    });
    let fields: Vec<_> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// The rows of a piece, some thousand at a time.
pub type TableBatches<'a> = Box<dyn Iterator<Item = Result<Batch<'a>, Error>> + Send + 'a>;

/// Some rows of a table that follow each other, which any thread can read.
pub struct TablePiece<'a> {
    part: &'a Part,
    /// The number of the file's rows that come before.
    rows_before: u64,
    piece: Piece<'a>,
}

impl<'a> TablePiece<'a> {
    /// Returns the name of the file that has the rows.
    pub fn file(&self) -> &'a str {
        self.part.name()
    }

    /// Returns the number of its first row in its file, from 1.
    pub fn first_row(&self) -> u64 {
        self.rows_before + 1
    }

    /// Returns how many rows there are, if the file tells the truth.
    pub fn rows(&self) -> u64 {
        self.piece.rows
    }

    /// Returns the bytes of the file that correspond to the rows.
    pub fn bytes(&self) -> u64 {
        self.piece.bytes
    }

    /// Estimates the memory of the rows, as far as the file tells; 0 if they are decoded.
    pub fn memory(&self) -> u64 {
        self.piece.memory
    }

    /// Returns the rows, batch by batch.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read<'s>(self, selection: &'s Selection<'a>) -> Result<TableBatches<'s>, Error>
    where
        'a: 's,
    {
        let (part, mut rows_before) = (self.part, self.rows_before);
        let batches = (self.piece.read)()?;
        Ok(Box::new(batches.map(move |rows| {
            let rows = rows?;
            let batch = selection.of_table(part, &rows, rows_before)?;
            rows_before += rows.num_rows() as u64;
            Ok(batch)
        })))
    }
}

/// The pieces of a table of typed columns, in the order of their rows.
pub struct Pieces<'s, 'a> {
    selection: &'s Selection<'a>,
    progress: &'s Progress,
    parts: slice::Iter<'a, Part>,
    current: Option<CurrentPieces<'a>>,
}

/// The part that is being cut up.
struct CurrentPieces<'a> {
    part: &'a Part,
    pieces: FilePieces<'a>,
    /// The rows and bytes of the pieces so far.
    rows: u64,
    bytes: u64,
}

impl<'s, 'a> Pieces<'s, 'a> {
    /// Makes pieces. Their reader tells the progress of its bytes.
    pub fn new(selection: &'s Selection<'a>, progress: &'s Progress) -> Self {
        Self {
            selection,
            progress,
            parts: selection.source.parts.iter(),
            current: None,
        }
    }

    fn next_piece(&mut self) -> Result<Option<TablePiece<'a>>, Error> {
        let Selection {
            source,
            in_files,
            dictionaries,
            ..
        } = self.selection;
        loop {
            let current = match &mut self.current {
                Some(current) => current,
                None => match self.parts.next() {
                    Some(part) => self.current.insert(CurrentPieces {
                        part,
                        pieces: open(part, source.format)?.pieces(in_files, *dictionaries)?,
                        rows: 0,
                        bytes: 0,
                    }),
                    None => return Ok(None),
                },
            };
            let Some(piece) = current.pieces.next().transpose()? else {
                // Such as those of a file without rows.
                let bytes_left = current.part.bytes() - current.bytes;
                self.current = None;
                self.progress.advance(bytes_left)?;
                continue;
            };
            let rows_before = current.rows;
            current.rows += piece.rows;
            current.bytes += piece.bytes;
            return Ok(Some(TablePiece {
                part: current.part,
                rows_before,
                piece,
            }));
        }
    }
}

impl<'a> Iterator for Pieces<'_, 'a> {
    type Item = Result<TablePiece<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_piece().transpose()
    }
}
