//! Columns that are added to rows when these are written.
//!
//! The other party's columns of a row may take many times the memory of the received payload: nulls
//! take room, and a list has many rows, each with a copy of the row of the table. So rows are
//! widened portion by portion, and the bytes of the output bound a portion.

use std::{collections::VecDeque, iter, mem, ops::Range, sync::Arc};

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::take::take_record_batch;

use psijoin_source::typed::Column;

use crate::{Error, keys::bitmap::Bitmap, share::Partner};

/// The most rows of a portion.
const PORTION_ROWS: usize = 1024;

/// About how many bytes a portion takes at most, unless that is less than a row does.
const PORTION_BYTES: u64 = 1 << 20;

/// About how many bytes a field takes as a text beside those of its value.
const TEXT_BYTES: u64 = 64;

/// See the [module](self).
pub(crate) struct Added<'a> {
    /// The columns. Their names differ from those of the table's own.
    pub(crate) schema: SchemaRef,
    /// The shared rows, if the first column marks them.
    pub(crate) shared: Option<&'a Bitmap>,
    /// The other party's columns, if there are any.
    pub(crate) partner: Option<Partner<'a>>,
}

/// Rows of the table that are widened at once.
pub(super) struct Portion {
    /// The rows, by their numbers in the table.
    rows: Vec<u64>,
    /// The number of the first row's copies that were written before.
    skip: u64,
    /// The most that are written for all.
    most: u64,
    /// `true` if further ones are written for the last row.
    goes_on: bool,
}

impl Portion {
    pub(super) fn rows(&self) -> &[u64] {
        &self.rows
    }
}

/// The columns that are added to some rows.
pub(super) struct AddedRows {
    schema: SchemaRef,
    /// The rows as they are written: for each its place in the portion, in order.
    places: Vec<u64>,
    /// The columns that are added to these.
    columns: Vec<ArrayRef>,
}

impl Added<'_> {
    /// Estimates the most bytes of the columns that are added to a row.
    pub(crate) fn row_bytes(&self) -> u64 {
        let partner = self.partner.as_ref();
        1 + partner.map_or(0, Partner::decoded_row_bytes)
    }

    /// Returns whether a row of the table may be written several times, with its own columns beside
    /// each row of a list.
    pub(super) fn repeats_rows(&self) -> bool {
        self.partner.as_ref().is_some_and(Partner::has_lists)
    }

    /// Gives these rows to `take`, portion by portion. `own_bytes` returns the bytes of a row
    /// beside the added ones, each time that it is written.
    ///
    /// # Errors
    /// If what the other party gave cannot be read, or is none; and what `take` returns.
    pub(super) fn portions(
        &self,
        rows: impl Iterator<Item = u64>,
        own_bytes: &dyn Fn(u64) -> u64,
        take: &mut dyn FnMut(Portion) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut portions = Portions::new(self);
        for row in rows {
            portions.add(row, own_bytes(row), take)?;
        }
        portions.end(take)
    }

    /// Returns what is added to the rows of a portion.
    pub(super) fn of(&self, portion: &Portion) -> Result<AddedRows, Error> {
        let rows = &portion.rows;
        let (counts, given) = match &self.partner {
            Some(partner) => partner.of(rows, portion.skip, portion.most)?,
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
}

/// Cuts rows into portions.
struct Portions<'a> {
    added: &'a Added<'a>,
    next: Portion,
    bytes: u64,
}

impl<'a> Portions<'a> {
    fn new(added: &'a Added<'a>) -> Self {
        Self {
            added,
            next: Portion::beginning_with(0),
            bytes: 0,
        }
    }

    fn add(
        &mut self,
        row: u64,
        own_bytes: u64,
        take: &mut dyn FnMut(Portion) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let partner = self.added.partner.as_ref();
        let rows = partner.map_or(Ok(1), |partner| partner.rows_for(row))?;
        let row_bytes = self.added.row_bytes() + own_bytes;
        let mut done = 0;
        while done < rows {
            let room = PORTION_BYTES.saturating_sub(self.bytes) / row_bytes;
            let is_full = room == 0 || self.next.rows.len() == PORTION_ROWS;
            if is_full && self.next.most > 0 {
                self.finish(done, take)?;
                continue;
            }
            let some = (rows - done).min(room.max(1));
            self.next.rows.push(row);
            self.next.most += some;
            self.bytes += some * row_bytes;
            done += some;
            if done < rows {
                self.next.goes_on = true;
                self.finish(done, take)?;
            }
        }
        Ok(())
    }

    /// Takes the portion; the next one leaves out this many of those that are written for its first
    /// row.
    fn finish(
        &mut self,
        skip: u64,
        take: &mut dyn FnMut(Portion) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.bytes = 0;
        let next = Portion::beginning_with(skip);
        take(mem::replace(&mut self.next, next))
    }

    fn end(&mut self, take: &mut dyn FnMut(Portion) -> Result<(), Error>) -> Result<(), Error> {
        match self.next.most {
            0 => Ok(()),
            _ => self.finish(0, take),
        }
    }
}

impl Portion {
    fn beginning_with(skip: u64) -> Self {
        Self {
            rows: Vec::new(),
            skip,
            most: 0,
            goes_on: false,
        }
    }
}

/// The columns that are added to chosen rows of a table, one after the other.
pub(super) struct Cursor<'a> {
    added: &'a Added<'a>,
    chosen: Box<dyn Iterator<Item = u64> + Send + 'a>,
    /// Of rows to come: what is cut into portions, and those that are cut.
    cut: Portions<'a>,
    portions: VecDeque<Portion>,
    /// The texts of a portion, and whether they are the last ones of their row.
    texts: VecDeque<(AddedTexts, bool)>,
}

/// The fields that are added to a row; `None` for a null.
pub(super) type AddedTexts = Vec<Option<String>>;

impl<'a> Cursor<'a> {
    /// Returns those that are chosen of these rows.
    pub(super) fn new(added: &'a Added<'a>, chosen: &'a Bitmap, rows: Range<u64>) -> Self {
        Self {
            added,
            chosen: Box::new(chosen.ones(rows)),
            cut: Portions::new(added),
            portions: VecDeque::new(),
            texts: VecDeque::new(),
        }
    }

    /// Returns what is added.
    pub(super) fn added(&self) -> &'a Added<'a> {
        self.added
    }

    /// Returns the next rows, up to this many, by their numbers in the table.
    pub(super) fn rows(&mut self, rows: usize) -> Vec<u64> {
        self.chosen.by_ref().take(rows).collect()
    }

    /// Gives the fields of the next row to `take`, for each time that it is written.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn texts(
        &mut self,
        take: &mut dyn FnMut(&AddedTexts) -> Result<(), Error>,
    ) -> Result<(), Error> {
        loop {
            if self.texts.is_empty() {
                let portion = self.next_portion()?.expect("a row that is chosen");
                self.texts = self.added.of(&portion)?.texts(&portion);
            }
            while let Some((texts, is_last)) = self.texts.pop_front() {
                take(&texts)?;
                if is_last {
                    return Ok(());
                }
            }
        }
    }

    fn next_portion(&mut self) -> Result<Option<Portion>, Error> {
        let text_bytes = TEXT_BYTES * self.added.schema.fields().len() as u64;
        let portions = &mut self.portions;
        while portions.is_empty() {
            let mut add = |portion| {
                portions.push_back(portion);
                Ok(())
            };
            match self.chosen.next() {
                Some(row) => self.cut.add(row, text_bytes, &mut add)?,
                None => {
                    self.cut.end(&mut add)?;
                    break;
                }
            }
        }
        Ok(portions.pop_front())
    }
}

impl AddedRows {
    /// Returns the rows with these columns, given the columns of a batch, and which of its rows is
    /// at each place.
    ///
    /// # Errors
    /// If the batch is such that rows cannot be picked from it.
    pub(super) fn in_batch(
        &self,
        batch: &RecordBatch,
        row: impl Fn(u64) -> u64,
    ) -> Result<RecordBatch, ArrowError> {
        let rows = self.places.iter().map(|&place| row(place));
        let rows = take_record_batch(batch, &UInt64Array::from_iter_values(rows))?;
        let schema = widened(rows.schema_ref(), &self.schema);
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let columns = rows.columns().iter().chain(&self.columns).cloned();
        RecordBatch::try_new_with_options(schema, columns.collect(), &options)
    }

    /// Returns the row of the table that is written as this one of the portion.
    pub(super) fn row_of(&self, portion: &Portion, row: usize) -> u64 {
        portion.rows[self.places[row] as usize]
    }

    /// Returns the fields of each row of the portion, for each time that it is written, and whether
    /// this is the last one.
    fn texts(&self, portion: &Portion) -> VecDeque<(AddedTexts, bool)> {
        let columns: Vec<Column<'_>> = (self.columns.iter())
            .map(|column| Column::new(column).expect("columns without texts were refused"))
            .collect();
        let rows = self.places.iter().enumerate().map(|(row, place)| {
            let is_last = match self.places.get(row + 1) {
                Some(next) => next != place,
                None => !portion.goes_on,
            };
            let fields = columns.iter().map(|column| column.text(row));
            (fields.collect(), is_last)
        });
        rows.collect()
    }
}

/// Estimates the bytes of a row of a batch.
pub(super) fn own_bytes(batch: &RecordBatch, row: usize) -> u64 {
    let columns = batch.columns().iter();
    let bytes = columns.map(|column| {
        let cell = column.slice(row, 1).to_data();
        cell.get_slice_memory_size().unwrap_or(usize::MAX >> 20)
    });
    bytes.sum::<usize>() as u64
}

/// Returns the columns of a table with those that are added.
pub(super) fn widened(table: &SchemaRef, added: &SchemaRef) -> SchemaRef {
    let fields = table.fields().iter().chain(added.fields()).cloned();
    let fields: Vec<_> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, table.metadata().clone()))
}
