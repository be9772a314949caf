//! Writes typed columns, in groups of rows.

use std::{
    borrow::Cow,
    collections::VecDeque,
    io, mem,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard},
};

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, builder::StringBuilder};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;

use super::{
    added::{Added, Cursor, Portion, own_bytes, widened},
    aligned::{self, Order},
    fields::FieldWriter,
    groups::{Encoder, GroupWriter},
    ipc,
    memory::{self, Kept},
    output::{Chosen, Output, cannot_write},
    parquet,
};
use psijoin_key::Place;
use psijoin_source::{
    Format, Progress, Source,
    typed::{
        Batch, Group, GroupRows, PIECE_BYTES, Pieces, Selection, TableBatches, TablePiece,
        without_claims,
    },
};

use crate::{Error, in_order::in_order, keys::bitmap::Bitmap};

/// Texts are handed to the writer when there are this many bytes or rows of them.
const BATCH_BYTES: usize = 1 << 24;
const BATCH_ROWS: usize = 8192;

/// The destination of typed rows.
pub(super) enum Target<'a, 'b> {
    Parquet(&'a mut Output<'b>),
    Arrow(&'a mut Output<'b>),
    Memory(&'a mut Kept<'b>),
}

impl<'a, 'b> Target<'a, 'b> {
    /// Returns a file of this format.
    ///
    /// # Panics
    /// If it is text.
    pub(super) fn file(format: Format, output: &'a mut Output<'b>) -> Self {
        match format {
            Format::Parquet => Self::Parquet(output),
            Format::Arrow => Self::Arrow(output),
            Format::Csv | Format::Tsv | Format::Lines => panic!("a text has no typed columns"),
        }
    }

    /// Returns its name in errors.
    fn name(&self) -> &'b str {
        match self {
            Self::Parquet(output) | Self::Arrow(output) => output.name,
            Self::Memory(kept) => kept.name,
        }
    }
}

/// Copies the chosen rows of typed columns, with their types.
pub(super) fn filter(
    source: &Source,
    chosen: &Chosen<'_>,
    target: Target<'_, '_>,
    progress: &Progress,
) -> Result<(), Error> {
    let selection = Selection::all(source)?;
    let name = target.name();
    let copy = RowCopy {
        source,
        selection: &selection,
        chosen: chosen.rows,
        added: chosen.added,
        name,
        progress,
    };
    let is_widened = chosen.added.is_some();
    let schema = Arc::new(without_claims(selection.schema(), is_widened));
    let schema = match chosen.added {
        Some(added) => &widened(&schema, &added.schema),
        None => &schema,
    };
    match target {
        Target::Parquet(output) => {
            let like = parquet::Like {
                without_dictionaries: source.without_dictionaries()?,
                schema: source.parquet_schema()?,
            };
            copy.write(
                parquet::create(schema, &like, output)?,
                schema,
                chosen.order,
            )
        }
        Target::Arrow(output) => copy.write(ipc::create(schema, output)?, schema, chosen.order),
        Target::Memory(kept) => copy.write(memory::create(schema, kept)?, schema, chosen.order),
    }
}

/// A copy of chosen rows: threads read pieces, keep their chosen rows, and encode these in groups.
/// The order of rows decides when a group is full, so the file does not depend on the number of
/// threads.
struct RowCopy<'a> {
    source: &'a Source,
    selection: &'a Selection<'a>,
    chosen: &'a Bitmap,
    added: Option<&'a Added<'a>>,
    /// The output's name in errors.
    name: &'a str,
    progress: &'a Progress,
}

/// The next task of a thread.
enum Task<'a> {
    Read(TablePiece<'a>, Range<u64>),
    /// Rows of a piece that is too large to be decoded as a whole.
    Filter(Batch<'a>, Range<u64>),
    /// Some of those rows, whose new columns are so large that the others wait.
    Widen(Arc<FilteredBatch<'a>>, Portion),
    Encode(GroupRows),
}

/// A batch, and which row of the table its first one is.
struct FilteredBatch<'a> {
    batch: Batch<'a>,
    first: u64,
}

/// The result of a task.
enum Done<E> {
    Rows {
        chosen: Vec<RecordBatch>,
        /// The bytes of the source that correspond to them.
        bytes: u64,
    },
    Encoded(E),
}

impl<'a> RowCopy<'a> {
    /// Writes the rows, which have this schema, one after the other or in an order.
    fn write<W: GroupWriter>(
        &self,
        (encoder, writer): (W::Encoder, W),
        schema: &SchemaRef,
        order: Option<&Order<'_>>,
    ) -> Result<(), Error> {
        let Some(order) = order else {
            return self.run(&encoder, writer);
        };
        let writing = (encoder, writer);
        let (encoder, writer) = aligned::create(writing, schema, self.name, order, self.progress)?;
        self.run(&encoder, writer)
    }

    fn run<W: GroupWriter>(&self, encoder: &W::Encoder, mut writer: W) -> Result<(), Error> {
        let full = FullGroups::default();
        let mut tasks = Tasks::new(self, &full);
        let mut group = Group::default();
        in_order(
            &mut || tasks.next().transpose(),
            &|| (),
            &|task, ()| self.done(task?, encoder),
            &mut |done| match done? {
                Done::Encoded(encoded) => writer.append(encoded),
                Done::Rows { chosen, bytes } => {
                    for rows in chosen {
                        full.lock().extend(group.add(&rows, &W::Encoder::FULL));
                    }
                    Ok(self.progress.advance(bytes)?)
                }
            },
        )?;
        tasks.finish()?;
        // Nobody came back for these after the last rows.
        full.lock().extend(group.take());
        in_order(
            &mut || full.lock().pop_front(),
            &|| (),
            &|group, ()| encoder.encode(group, self.progress),
            &mut |encoded| writer.append(encoded?),
        )?;
        writer.finish()
    }

    fn done<E: Encoder>(&self, task: Task<'a>, encoder: &E) -> Result<Done<E::Encoded>, Error> {
        let (chosen, bytes) = match task {
            Task::Encode(group) => {
                return encoder.encode(group, self.progress).map(Done::Encoded);
            }
            Task::Filter(batch, rows) => (self.filtered(&batch, rows, encoder)?, 0),
            Task::Widen(of, portion) => {
                let FilteredBatch { batch, first } = &*of;
                let added = self.added.expect("what rows are widened with");
                (
                    vec![self.widened(batch, *first, (added, &portion), encoder)?],
                    0,
                )
            }
            Task::Read(piece, rows) => {
                let bytes = piece.bytes();
                (self.read(piece, rows, encoder)?, bytes)
            }
        };
        Ok(Done::Rows { chosen, bytes })
    }

    /// Returns the chosen rows of a piece, which has these rows of the table.
    fn read<E: Encoder>(
        &self,
        piece: TablePiece<'a>,
        rows: Range<u64>,
        encoder: &E,
    ) -> Result<Vec<RecordBatch>, Error> {
        let mut start = rows.start;
        let mut chosen = Vec::new();
        for batch in piece.read(self.selection)? {
            self.progress.check()?;
            let batch = batch?;
            let rows = start..start + batch.rows.num_rows() as u64;
            start = rows.end;
            chosen.extend(self.filtered(&batch, rows, encoder)?);
        }
        Ok(chosen)
    }

    fn filtered<E: Encoder>(
        &self,
        batch: &Batch<'_>,
        rows: Range<u64>,
        encoder: &E,
    ) -> Result<Vec<RecordBatch>, Error> {
        let Some(added) = self.added else {
            let count = batch.rows.num_rows();
            let chosen =
                BooleanBuffer::collect_bool(count, |row| self.chosen.get(rows.start + row as u64));
            let chosen = filter_record_batch(&batch.rows, &BooleanArray::from(chosen));
            let chosen = self.picked(chosen)?;
            let row = |place| {
                let mut chosen = self.chosen.ones(rows.clone());
                chosen.nth(place).expect("a row that is chosen")
            };
            let fitted = encoder.fitted(&chosen);
            return Ok(vec![
                fitted.map_err(|misfit| misfit.error(self.name, &chosen, row))?,
            ]);
        };
        let first = rows.start;
        let mut widened = Vec::new();
        self.portions(added, batch, rows, &mut |portion| {
            widened.push(self.widened(batch, first, (added, &portion), encoder)?);
            Ok(())
        })?;
        Ok(widened)
    }

    /// Gives the chosen ones of a batch's rows to `take`, portion by portion.
    fn portions(
        &self,
        added: &Added<'_>,
        batch: &Batch<'_>,
        rows: Range<u64>,
        take: &mut dyn FnMut(Portion) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let first = rows.start;
        let own_bytes = |row| match added.repeats_rows() {
            true => own_bytes(&batch.rows, (row - first) as usize),
            false => 0,
        };
        added.portions(self.chosen.ones(rows), &own_bytes, take)
    }

    /// Returns the rows of a portion with what is added, from a batch that begins with row `first`
    /// of the table.
    fn widened<E: Encoder>(
        &self,
        batch: &Batch<'_>,
        first: u64,
        (added, portion): (&Added<'_>, &Portion),
        encoder: &E,
    ) -> Result<RecordBatch, Error> {
        let added = added.of(portion)?;
        let row = |place: u64| portion.rows()[place as usize] - first;
        let widened = self.picked(added.in_batch(&batch.rows, row))?;
        let fitted = encoder.fitted(&widened);
        fitted.map_err(|misfit| misfit.error(self.name, &widened, |row| added.row_of(portion, row)))
    }

    fn picked(&self, rows: Result<RecordBatch, ArrowError>) -> Result<RecordBatch, Error> {
        rows.map_err(|_| cannot_write(self.name, io::Error::other("rows cannot be picked from it")))
    }

    /// Returns whether the chosen ones of a piece's rows fit into the memory of a piece, with what
    /// is added to them.
    fn fits(&self, piece: &TablePiece<'_>, rows: Range<u64>) -> bool {
        let added_bytes = match self.added {
            None => 0,
            // The length of a list is not known yet.
            Some(added) if added.repeats_rows() => return false,
            Some(added) => self.chosen.ones(rows).count() as u64 * added.row_bytes(),
        };
        piece.memory().saturating_add(added_bytes) <= PIECE_BYTES
    }
}

/// Groups that wait to be encoded.
#[derive(Default)]
struct FullGroups(Mutex<VecDeque<GroupRows>>);

impl FullGroups {
    fn lock(&self) -> MutexGuard<'_, VecDeque<GroupRows>> {
        self.0.lock().expect("no thread has panicked")
    }
}

/// The tasks, in the order of their results: groups before further rows.
struct Tasks<'t, 'a> {
    copy: &'t RowCopy<'a>,
    full: &'t FullGroups,
    pieces: Pieces<'t, 'a>,
    /// The rest of a piece that is too large to be decoded as a whole: it is decoded in turn.
    large: Option<LargePiece<'a>>,
    /// The rest of the batch that was decoded last, which is still to be widened.
    portions: VecDeque<(Arc<FilteredBatch<'a>>, Portion)>,
    /// The number of the table's rows that were given.
    rows: u64,
}

struct LargePiece<'a> {
    batches: TableBatches<'a>,
    /// The bytes of the file that correspond to it.
    bytes: u64,
}

impl<'t, 'a> Tasks<'t, 'a> {
    fn new(copy: &'t RowCopy<'a>, full: &'t FullGroups) -> Self {
        Self {
            copy,
            full,
            pieces: Pieces::new(copy.selection, copy.progress),
            large: None,
            portions: VecDeque::new(),
            rows: 0,
        }
    }

    fn next(&mut self) -> Result<Option<Task<'a>>, Error> {
        let RowCopy {
            selection,
            chosen,
            added,
            progress,
            ..
        } = *self.copy;
        if let Some(group) = self.full.lock().pop_front() {
            return Ok(Some(Task::Encode(group)));
        }
        loop {
            progress.check()?;
            if let Some((batch, portion)) = self.portions.pop_front() {
                return Ok(Some(Task::Widen(batch, portion)));
            }
            if let Some(large) = &mut self.large {
                if let Some(batch) = large.batches.next().transpose()? {
                    let rows = self.next_rows(batch.rows.num_rows() as u64)?;
                    let Some(added) = added else {
                        return Ok(Some(Task::Filter(batch, rows)));
                    };
                    self.widen(added, batch, rows)?;
                    continue;
                }
                progress.advance(large.bytes)?;
                self.large = None;
            }
            let Some(piece) = self.pieces.next().transpose()? else {
                return Ok(None);
            };
            let begin = self.rows;
            let rows = self.next_rows(piece.rows())?;
            if !chosen.any(rows.clone()) {
                progress.advance(piece.bytes())?;
            } else if !self.copy.fits(&piece, rows.clone()) {
                self.rows = begin;
                self.large = Some(LargePiece {
                    bytes: piece.bytes(),
                    batches: piece.read(selection)?,
                });
            } else {
                return Ok(Some(Task::Read(piece, rows)));
            }
        }
    }

    /// Cuts the chosen rows of a batch into portions.
    fn widen(
        &mut self,
        added: &Added<'_>,
        batch: Batch<'a>,
        rows: Range<u64>,
    ) -> Result<(), Error> {
        let first = rows.start;
        let batch = Arc::new(FilteredBatch { batch, first });
        let portions = &mut self.portions;
        self.copy
            .portions(added, &batch.batch, rows, &mut |portion| {
                portions.push_back((batch.clone(), portion));
                Ok(())
            })
    }

    /// Returns the range of the next `count` rows; fails if the table shrank.
    fn next_rows(&mut self, count: u64) -> Result<Range<u64>, Error> {
        let end = self.rows.checked_add(count);
        let end = end.filter(|end| *end <= self.copy.chosen.len());
        let rows = self.rows..end.ok_or_else(|| self.copy.source.changed())?;
        self.rows = rows.end;
        Ok(rows)
    }

    /// Checks that the number of rows has not changed.
    fn finish(&self) -> Result<(), Error> {
        match self.rows == self.copy.chosen.len() {
            true => Ok(()),
            false => Err(self.copy.source.changed().into()),
        }
    }
}

/// Writes texts as columns of strings.
pub(super) fn strings<'a>(
    target: Target<'a, '_>,
    columns: &[String],
    added: Option<Cursor<'a>>,
    order: Option<&Order<'a>>,
    progress: &'a Progress,
) -> Result<Box<dyn FieldWriter + 'a>, Error> {
    let fields: Vec<Field> = columns
        .iter()
        .map(|name| Field::new(name, DataType::Utf8, false))
        .collect();
    let texts = Arc::new(Schema::new(fields));
    let schema = match &added {
        Some(added) => widened(&texts, &added.added().schema),
        None => texts.clone(),
    };
    let name = target.name();
    let strings = (texts, added);
    match target {
        Target::Parquet(output) => {
            let writing = parquet::create(&schema, &parquet::Like::default(), output)?;
            strings_to(writing, strings, (&schema, name), order, progress)
        }
        Target::Arrow(output) => {
            let writing = ipc::create(&schema, output)?;
            strings_to(writing, strings, (&schema, name), order, progress)
        }
        Target::Memory(kept) => {
            let writing = memory::create(&schema, kept)?;
            strings_to(writing, strings, (&schema, name), order, progress)
        }
    }
}

/// Writes texts with what is added, which have a schema together, to an output of this name.
fn strings_to<'a, W: GroupWriter + 'a>(
    (encoder, writer): (W::Encoder, W),
    (texts, added): (SchemaRef, Option<Cursor<'a>>),
    (schema, name): (&SchemaRef, &str),
    order: Option<&Order<'a>>,
    progress: &'a Progress,
) -> Result<Box<dyn FieldWriter + 'a>, Error> {
    Ok(match order {
        None => Box::new(Strings::new(
            name,
            (texts, added),
            (encoder, writer),
            progress,
        )),
        Some(order) => {
            let writing = (encoder, writer);
            let writing = aligned::create(writing, schema, name, order, progress)?;
            Box::new(Strings::new(name, (texts, added), writing, progress))
        }
    })
}

struct Strings<'a, W: GroupWriter> {
    /// The output's name in errors.
    name: String,
    /// The columns of texts.
    schema: SchemaRef,
    columns: Vec<StringBuilder>,
    added: Option<Cursor<'a>>,
    rows: usize,
    bytes: usize,
    group: Group,
    encoder: W::Encoder,
    writer: W,
    progress: &'a Progress,
}

impl<'a, W: GroupWriter> Strings<'a, W> {
    fn new(
        name: &str,
        (schema, added): (SchemaRef, Option<Cursor<'a>>),
        (encoder, writer): (W::Encoder, W),
        progress: &'a Progress,
    ) -> Self {
        let columns = schema.fields().iter().map(|_| StringBuilder::new());
        Self {
            name: name.to_owned(),
            columns: columns.collect(),
            schema,
            added,
            rows: 0,
            bytes: 0,
            group: Group::default(),
            encoder,
            writer,
            progress,
        }
    }

    /// Passes on the rows that were collected.
    fn flush(&mut self) -> Result<(), Error> {
        let arrays = self
            .columns
            .iter_mut()
            .map(|column| Arc::new(column.finish()) as ArrayRef);
        let batch = RecordBatch::try_new(self.schema.clone(), arrays.collect())
            .expect("as many texts in each column, and none is null");
        let rows = mem::take(&mut self.rows);
        self.bytes = 0;
        let Some(cursor) = &mut self.added else {
            return self.collect(&batch, |_| unreachable!("any file holds texts"));
        };
        let (added, rows) = (cursor.added(), cursor.rows(rows));
        let place = |row: u64| rows.partition_point(|other| *other < row) as u64;
        let own_bytes = |row| match added.repeats_rows() {
            true => own_bytes(&batch, place(row) as usize),
            false => 0,
        };
        added.portions(rows.iter().copied(), &own_bytes, &mut |portion| {
            let added = added.of(&portion)?;
            let widened = added.in_batch(&batch, |number| place(portion.rows()[number as usize]));
            let widened =
                widened.expect("rows of the batch, and a field of the schema for each column");
            self.collect(&widened, |row| added.row_of(&portion, row))
        })
    }

    /// Collects rows; `row` returns the row of the table for each.
    fn collect(&mut self, batch: &RecordBatch, row: impl Fn(usize) -> u64) -> Result<(), Error> {
        let fitted = self.encoder.fitted(batch);
        let batch = fitted.map_err(|misfit| misfit.error(&self.name, batch, row))?;
        let mut full = self.group.add(&batch, &W::Encoder::FULL).into_iter();
        full.try_for_each(|group| self.write(group))
    }

    fn write(&mut self, group: GroupRows) -> Result<(), Error> {
        let encoded = self.encoder.encode(group, self.progress)?;
        self.writer.append(encoded)
    }
}

impl<W: GroupWriter> FieldWriter for Strings<'_, W> {
    fn row(&mut self, fields: &[Cow<'_, str>], _: &[bool], _: Place) -> Result<(), Error> {
        for (column, field) in self.columns.iter_mut().zip(fields) {
            column.append_value(field);
            self.bytes += field.len();
        }
        self.rows += 1;
        if self.rows == BATCH_ROWS || self.bytes >= BATCH_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        self.flush()?;
        if let Some(group) = self.group.take() {
            self.write(group)?;
        }
        self.writer.finish()
    }
}
