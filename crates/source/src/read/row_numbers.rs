//! The numbers of a table's rows: a table of one column that takes the place of another one where
//! only the order and the choice of its rows matter.

use std::{iter, sync::Arc};

use arrow_array::{RecordBatch, RecordBatchOptions, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::{
    Error,
    read::arrow::{FilePieces, PIECE_ROWS, Piece, TypedFile},
};

/// See the [module](self). They are made when they are read.
#[derive(Debug)]
pub(crate) struct RowNumbers {
    schema: SchemaRef,
    rows: u64,
}

impl RowNumbers {
    /// Makes one from 0 on.
    pub(crate) fn new(rows: u64) -> Self {
        let numbers = Field::new("row", DataType::UInt64, false);
        Self {
            schema: Arc::new(Schema::new(vec![numbers])),
            rows,
        }
    }

    /// Returns how much memory they would take.
    pub(crate) fn bytes(&self) -> u64 {
        self.rows * size_of::<u64>() as u64
    }
}

pub(crate) struct Reader<'a>(pub(crate) &'a RowNumbers);

impl<'a> TypedFile<'a> for Reader<'a> {
    fn schema(&self) -> &SchemaRef {
        &self.0.schema
    }

    fn pieces(self: Box<Self>, columns: &[usize], _: bool) -> Result<FilePieces<'a>, Error> {
        let schema = Arc::new(
            self.0
                .schema
                .project(columns)
                .expect("columns of the table"),
        );
        let rows = self.0.rows;
        let starts = (0..rows).step_by(PIECE_ROWS as usize);
        Ok(Box::new(starts.map(move |start| {
            let schema = schema.clone();
            let end = rows.min(start + PIECE_ROWS);
            let numbers = move || {
                let options =
                    RecordBatchOptions::new().with_row_count(Some((end - start) as usize));
                let numbers = Arc::new(UInt64Array::from_iter_values(start..end)) as _;
                let columns = iter::repeat_n(numbers, schema.fields().len()).collect();
                RecordBatch::try_new_with_options(schema, columns, &options)
                    .expect("numbers are what the column holds")
            };
            Ok(Piece {
                rows: end - start,
                bytes: (end - start) * size_of::<u64>() as u64,
                memory: 0,
                read: Box::new(|| Ok(Box::new(iter::once_with(|| Ok(numbers()))))),
            })
        })))
    }
}
