//! Columns that are added to rows when these are written.

use std::{collections::VecDeque, iter, ops::Range, sync::Arc};

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::take::take_record_batch;

use crate::{Error, arrow::Column, given::Partner, table::bitmap::Bitmap};

/// How many rows get their columns at once: few enough that these fit into memory, whatever is in them.
const CHUNK_ROWS: usize = 1024;

/// See the [module](self).
pub(crate) struct Added<'a> {
    /// The columns. Their names differ from those of the table's own.
    pub(crate) schema: SchemaRef,
    /// The shared rows, if the first column says which are.
    pub(crate) shared: Option<&'a Bitmap>,
    /// What the other party gives, if the further columns are its.
    pub(crate) partner: Option<Partner<'a>>,
}

/// What is added to some rows.
pub(super) struct AddedRows {
    schema: SchemaRef,
    /// The rows as they are written: for each its place among those that were asked for, in order.
    places: Vec<u64>,
    /// The columns that are added to these.
    columns: Vec<ArrayRef>,
}

impl Added<'_> {
    /// What is added to these rows of the table.
    fn of(&self, rows: &[u64]) -> Result<AddedRows, Error> {
        let (counts, given) = match &self.partner {
            Some(partner) => partner.of(rows)?,
            None => (vec![1; rows.len()], Vec::new()),
        };
        let places = (0..).zip(counts);
        let places: Vec<u64> = places
            .flat_map(|(place, count)| iter::repeat_n(place, count as usize))
            .collect();
        let shared = self.shared.map(|shared| {
            let flags = places.iter().map(|&place| shared.get(rows[place as usize]));
            Arc::new(flags.map(Some).collect::<BooleanArray>()) as ArrayRef
        });
        let columns = shared.into_iter().chain(given).collect();
        Ok(AddedRows {
            schema: self.schema.clone(),
            places,
            columns,
        })
    }

    /// Calls `take` with the chosen ones of these rows, some at a time, and with what is added to them.
    pub(super) fn chunks(
        &self,
        chosen: &Bitmap,
        rows: Range<u64>,
        mut take: impl FnMut(&[u64], AddedRows) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let chosen: Vec<u64> = chosen.ones(rows).collect();
        let mut chunks = chosen.chunks(CHUNK_ROWS);
        chunks.try_for_each(|chunk| take(chunk, self.of(chunk)?))
    }
}

/// What is added to chosen rows of a table, one after the other.
pub(super) struct Cursor<'a> {
    added: &'a Added<'a>,
    chosen: Box<dyn Iterator<Item = u64> + Send + 'a>,
    /// The texts of rows to come.
    texts: VecDeque<Vec<AddedTexts>>,
}

/// The fields that are added to a row; `None` for a null.
pub(super) type AddedTexts = Vec<Option<String>>;

impl<'a> Cursor<'a> {
    /// Those that are chosen of these rows.
    pub(super) fn new(added: &'a Added<'a>, chosen: &'a Bitmap, rows: Range<u64>) -> Self {
        Self {
            added,
            chosen: Box::new(chosen.ones(rows)),
            texts: VecDeque::new(),
        }
    }

    /// The columns that are added.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.added.schema
    }

    /// The columns of the next rows, up to this many.
    pub(super) fn columns(&mut self, rows: usize) -> Result<AddedRows, Error> {
        let rows: Vec<u64> = self.chosen.by_ref().take(rows).collect();
        self.added.of(&rows)
    }

    /// The fields of the next row, for each time that it is written.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn texts(&mut self) -> Result<Vec<AddedTexts>, Error> {
        if self.texts.is_empty() {
            let added = self.columns(CHUNK_ROWS)?;
            self.texts = added.texts();
        }
        Ok(self.texts.pop_front().expect("a row that is chosen"))
    }
}

impl AddedRows {
    /// The rows with these columns, given the columns of a batch, and which of its rows is at each place.
    ///
    /// # Errors
    /// If the batch is such that rows cannot be picked from it.
    pub(super) fn in_batch(
        self,
        batch: &RecordBatch,
        row: impl Fn(u64) -> u64,
    ) -> Result<RecordBatch, ArrowError> {
        let rows = self.places.iter().map(|&place| row(place));
        let rows = take_record_batch(batch, &UInt64Array::from_iter_values(rows))?;
        let schema = widened(rows.schema_ref(), &self.schema);
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let columns = rows.columns().iter().cloned().chain(self.columns);
        RecordBatch::try_new_with_options(schema, columns.collect(), &options)
    }

    /// The fields of each row that was asked for, for each time that it is written.
    fn texts(&self) -> VecDeque<Vec<AddedTexts>> {
        let columns: Vec<Column<'_>> = (self.columns.iter())
            .map(|column| Column::new(column).expect("columns without texts were refused"))
            .collect();
        let mut rows: VecDeque<Vec<AddedTexts>> = VecDeque::new();
        for (row, &place) in self.places.iter().enumerate() {
            let fields = columns.iter().map(|column| column.text(row)).collect();
            match rows.len() as u64 == place {
                true => rows.push_back(vec![fields]),
                false => rows[place as usize].push(fields),
            }
        }
        rows
    }
}

/// The columns of a table with those that are added.
pub(super) fn widened(table: &SchemaRef, added: &SchemaRef) -> SchemaRef {
    let fields = table.fields().iter().chain(added.fields()).cloned();
    let fields: Vec<_> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, table.metadata().clone()))
}
