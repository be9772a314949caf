//! The rows of a table that is in memory as Arrow data, such as a data frame.

use std::iter;

use arrow_array::{
    Array, ArrayRef, RecordBatch,
    cast::AsArray,
    new_empty_array,
    types::{BinaryViewType, ByteViewType, StringViewType},
};
use arrow_schema::{DataType, SchemaRef};
use psijoin_printable::Quoted;

use psijoin_key::panics::contained;

use crate::{
    Error, ReadError,
    read::arrow::{FilePieces, PIECE_BYTES, PIECE_ROWS, Piece, TypedFile, batch_of},
};

/// The fewest rows of a piece, except for the last one, however much memory they seem to take: what
/// batches share is counted for each of them.
const LEAST_PIECE_ROWS: u64 = 1 << 10;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Frame {
    schema: SchemaRef,
    /// They share their buffers with those that were given.
    batches: Vec<RecordBatch>,
    rows: u64,
    /// Estimates the memory of the rows.
    bytes: u64,
}

impl Frame {
    /// Returns the rows of a table that errors call `name`.
    ///
    /// # Errors
    /// If a batch does not have the columns of the schema, or no array can be of a column's type.
    pub(crate) fn new(
        name: &str,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
    ) -> Result<Self, Error> {
        let unfit = |reason| {
            Error::Read(ReadError::Frame {
                table: name.to_owned(),
                reason,
            })
        };
        for field in schema.fields() {
            contained(|| new_empty_array(field.data_type())).ok_or_else(|| {
                let (column, data_type) = (field.name(), field.data_type());
                unfit(format!(
                    "its column {} is of a type that no array can have, {data_type}",
                    Quoted(column)
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

    /// Estimates the memory of the rows.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns how many rows a piece has, unless they are the last ones.
    fn piece_rows(&self) -> usize {
        let rows = PIECE_BYTES.saturating_mul(self.rows) / self.bytes.max(1);
        rows.clamp(LEAST_PIECE_ROWS, PIECE_ROWS) as usize
    }

    /// Returns the bytes that correspond to this many rows.
    fn bytes_of(&self, rows: u64) -> u64 {
        let share = u128::from(self.bytes) * u128::from(rows) / u128::from(self.rows.max(1));
        share as u64
    }
}

/// Estimates the memory of a batch's rows, without others that are in the same buffers.
fn memory(batch: &RecordBatch) -> u64 {
    let columns = batch.columns().iter();
    let columns = columns.map(|column| {
        let bytes = match column.data_type() {
            DataType::Utf8View => views_memory::<StringViewType>(column),
            DataType::BinaryView => views_memory::<BinaryViewType>(column),
            _ => {
                let of_rows = column.to_data().get_slice_memory_size();
                of_rows.unwrap_or_else(|_| column.get_buffer_memory_size())
            }
        };
        bytes as u64
    });
    columns.fold(0, u64::saturating_add)
}

/// Returns the memory of views, and of the texts that they refer to.
fn views_memory<T: ByteViewType>(column: &ArrayRef) -> usize {
    let views = column.as_byte_view::<T>();
    size_of_val(&views.views()[..]) + views.total_buffer_bytes_used()
}

/// Reads what is there already.
pub(crate) struct Reader<'a>(pub(crate) &'a Frame);

impl<'a> TypedFile<'a> for Reader<'a> {
    fn schema(&self) -> &SchemaRef {
        &self.0.schema
    }

    fn pieces(self: Box<Self>, columns: &[usize], _: bool) -> Result<FilePieces<'a>, Error> {
        let mut pieces = Pieces {
            frame: self.0,
            columns: columns.to_vec(),
            piece_rows: self.0.piece_rows(),
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
    /// The most rows of a piece.
    piece_rows: usize,
    /// The batch that has the next row, and its number there.
    batch: usize,
    row: usize,
    rows_before: u64,
}

impl<'a> Pieces<'a> {
    fn next(&mut self) -> Option<Piece<'a>> {
        let mut slices = Vec::new();
        let mut room = self.piece_rows;
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
        let rows = (self.piece_rows - room) as u64;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{FixedSizeBinaryArray, Int64Array, StringViewArray};

    use super::*;

    /// Returns how many rows each piece of a frame of these batches has. Their bytes are those of
    /// the frame.
    fn pieces(batches: Vec<RecordBatch>) -> Vec<u64> {
        let frame = Frame::new("frame", batches[0].schema(), batches).unwrap();
        let pieces = Box::new(Reader(&frame)).pieces(&[0], false).unwrap();
        let pieces: Vec<Piece<'_>> = pieces.map(Result::unwrap).collect();
        let bytes: u64 = pieces.iter().map(|piece| piece.bytes).sum();
        assert_eq!(bytes, frame.bytes());
        let rows: Vec<u64> = pieces.iter().map(|piece| piece.rows).collect();
        for (piece, rows) in pieces.into_iter().zip(&rows) {
            let batches = (piece.read)().unwrap();
            let read: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
            assert_eq!(read as u64, *rows);
        }
        rows
    }

    fn batch(column: impl Array + 'static) -> RecordBatch {
        RecordBatch::try_from_iter([("column", Arc::new(column) as ArrayRef)]).unwrap()
    }

    #[test]
    fn pieces_have_few_rows_if_these_are_wide() {
        let narrow = |rows| batch(Int64Array::from(vec![7; rows]));
        assert_eq!(pieces(vec![narrow(300_000)]), [131_072, 131_072, 37_856]);
        let parted = vec![narrow(100_000), narrow(0), narrow(40_000)];
        assert_eq!(pieces(parted), [131_072, 8_928]);
        assert!(pieces(vec![narrow(0)]).is_empty());

        let wide = |bytes: usize, rows: usize| {
            let values = vec![0_u8; bytes * rows].into();
            batch(FixedSizeBinaryArray::new(bytes as i32, values, None))
        };
        assert_eq!(pieces(vec![wide(4096, 5000)]), [4096, 904]);
        assert_eq!(pieces(vec![wide(65_536, 1500)]), [1024, 476]);
    }

    #[test]
    fn slices_of_views_take_what_is_in_them() {
        let texts = (0..10_000).map(|row| format!("{row:0100}"));
        let views = batch(StringViewArray::from_iter_values(texts));
        let bytes = |rows: RecordBatch| Frame::new("frame", rows.schema(), vec![rows]);
        assert_eq!(bytes(views.slice(100, 50)).unwrap().bytes(), 50 * 116);
    }
}
