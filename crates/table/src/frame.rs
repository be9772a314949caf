//! The rows of a table that is in memory as Arrow data, such as a data frame.

use std::iter;

use arrow_array::{Array, RecordBatch, new_empty_array};
use arrow_schema::SchemaRef;

use crate::{
    Error,
    arrow::{FilePieces, PIECE_ROWS, Piece, TypedFile, batch_of},
    contained::contained,
};

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Frame {
    schema: SchemaRef,
    /// They share their buffers with those that were given.
    batches: Vec<RecordBatch>,
    rows: u64,
    /// About how much memory the rows take.
    bytes: u64,
}

impl Frame {
    /// The rows of a table that errors call `name`.
    ///
    /// # Errors
    /// If a batch does not have the columns of the schema, or no array can be of a column's type.
    pub(crate) fn new(
        name: &str,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
    ) -> Result<Self, Error> {
        let unfit = |reason| Error::Frame {
            table: name.to_owned(),
            reason,
        };
        for field in schema.fields() {
            contained(|| new_empty_array(field.data_type())).ok_or_else(|| {
                let (column, data_type) = (field.name(), field.data_type());
                unfit(format!(
                    "its column `{column}` is of a type that no array can have, {data_type}"
                ))
            })?;
        }
        let batches: Vec<RecordBatch> = (1..)
            .zip(batches)
            .map(|(number, batch)| {
                let (columns, rows) = (batch.columns().to_vec(), batch.num_rows());
                batch_of(schema.clone(), columns, rows).map_err(|_| {
                    unfit(format!(
                        "its batch {number} does not have the columns of its schema, or has nulls in \
                         one that can have none"
                    ))
                })
            })
            .collect::<Result<_, _>>()?;
        let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        let bytes = batches.iter().map(memory).fold(0, u64::saturating_add);
        Ok(Self {
            schema,
            batches,
            rows,
            bytes,
        })
    }

    /// About how much memory the rows take.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes that correspond to this many rows.
    fn bytes_of(&self, rows: u64) -> u64 {
        let share = u128::from(self.bytes) * u128::from(rows) / u128::from(self.rows.max(1));
        share as u64
    }
}

/// About how much memory the rows of a batch take, without others that are in the same buffers.
fn memory(batch: &RecordBatch) -> u64 {
    let columns = batch.columns().iter();
    let columns = columns.map(|column| {
        let of_rows = column.to_data().get_slice_memory_size();
        of_rows.unwrap_or_else(|_| column.get_buffer_memory_size()) as u64
    });
    columns.fold(0, u64::saturating_add)
}

/// Reads what is there already.
pub(crate) struct Reader<'a>(pub(crate) &'a Frame);

impl<'a> TypedFile<'a> for Reader<'a> {
    fn schema(&self) -> &SchemaRef {
        &self.0.schema
    }

    fn check(&self, _: &[usize]) -> Result<(), Error> {
        Ok(())
    }

    /// A column without dictionaries may have few values all the same.
    fn without_dictionaries(&self) -> Result<Vec<usize>, Error> {
        Ok(Vec::new())
    }

    fn pieces(self: Box<Self>, columns: &[usize], _: bool) -> Result<FilePieces<'a>, Error> {
        let mut pieces = Pieces {
            frame: self.0,
            columns: columns.to_vec(),
            batch: 0,
            row: 0,
            rows_before: 0,
        };
        Ok(Box::new(iter::from_fn(move || pieces.next().map(Ok))))
    }
}

/// The rows, cut up regardless of the batches: these may be few and huge, or many and tiny.
struct Pieces<'a> {
    frame: &'a Frame,
    /// Those that are read.
    columns: Vec<usize>,
    /// The batch that has the next row, and its number there.
    batch: usize,
    row: usize,
    rows_before: u64,
}

impl<'a> Pieces<'a> {
    fn next(&mut self) -> Option<Piece<'a>> {
        let mut slices = Vec::new();
        let mut room = PIECE_ROWS as usize;
        while room > 0
            && let Some(batch) = self.frame.batches.get(self.batch)
        {
            let rows = room.min(batch.num_rows() - self.row);
            if rows > 0 {
                let columns = batch.project(&self.columns).expect("columns of the table");
                slices.push(Ok(columns.slice(self.row, rows)));
            }
            room -= rows;
            self.row += rows;
            if self.row == batch.num_rows() {
                (self.batch, self.row) = (self.batch + 1, 0);
            }
        }
        let rows = PIECE_ROWS - room as u64;
        let start = self.rows_before;
        self.rows_before += rows;
        (rows > 0).then(|| Piece {
            rows,
            bytes: self.frame.bytes_of(start + rows) - self.frame.bytes_of(start),
            memory: 0,
            read: Box::new(|| Ok(Box::new(slices.into_iter()))),
        })
    }
}
