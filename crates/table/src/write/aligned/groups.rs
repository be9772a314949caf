//! Typed rows, in groups.
//!
//! Rows that are read are collected in groups, which are parted by buckets instead of being
//! written. The groups that are written are made of the buckets. There, rows are batches of Arrow's
//! own format, with their positions in the first column.

use std::{collections::VecDeque, io, iter, sync::Arc};

use arrow_array::{ArrayRef, RecordBatch, UInt32Array, cast::AsArray, types::UInt32Type};
use arrow_buffer::Buffer;
use arrow_ipc::{
    MetadataVersion,
    reader::StreamDecoder,
    writer::{IpcWriteOptions, StreamWriter},
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::interleave::interleave_record_batch;

use super::{Buckets, Order, Parted, Placed};
use psijoin_source::{
    Progress,
    typed::{Full, Group, GroupRows, PIECE_BYTES, PIECE_ROWS, owned},
};

use crate::{
    Error,
    in_order::in_order,
    write::{
        groups::{Encoder, GroupWriter, Misfit},
        output::cannot_write,
    },
};

/// The most rows of a bucket that are put in order at once, and about how many bytes they may take.
const BATCH_ROWS: usize = 1 << 13;
const BATCH_BYTES: usize = 1 << 22;

/// Parts groups of rows by buckets.
pub(in crate::write) struct AlignedEncoder<'a, E>(Arc<Shared<'a, E>>);

/// Puts parted rows into buckets; at the end, writes groups of them in order.
pub(in crate::write) struct AlignedWriter<'a, W: GroupWriter> {
    shared: Arc<Shared<'a, W::Encoder>>,
    writer: W,
    /// The number of rows in buckets.
    rows: usize,
    progress: &'a Progress,
}

/// The state that both need.
struct Shared<'a, E> {
    buckets: Buckets<'a>,
    /// The encoder of the rows in the end.
    encoder: E,
    /// The columns in the buckets.
    schema: SchemaRef,
    /// The output's name in errors.
    name: String,
}

/// Writes to this writer, whose rows are of this schema before they are encoded, in an order.
pub(in crate::write) fn create<'a, W: GroupWriter>(
    (encoder, writer): (W::Encoder, W),
    schema: &SchemaRef,
    name: &str,
    order: &Order<'a>,
    progress: &'a Progress,
) -> Result<(AlignedEncoder<'a, W::Encoder>, AlignedWriter<'a, W>), Error> {
    let none = RecordBatch::new_empty(schema.clone());
    let fitted = encoder.fitted(&none);
    let none =
        fitted.map_err(|misfit| misfit.error(name, &none, |_| unreachable!("there is no row")))?;
    let none = owned(&none).map_err(|_| cannot_order(name))?;
    let position = Field::new("position", DataType::UInt32, false);
    let fields = iter::once(Arc::new(position)).chain(none.schema_ref().fields().iter().cloned());
    let fields: Vec<_> = fields.collect();
    let shared = Arc::new(Shared {
        buckets: Buckets::new(order),
        encoder,
        schema: Arc::new(Schema::new(fields)),
        name: name.to_owned(),
    });
    let writer = AlignedWriter {
        shared: shared.clone(),
        writer,
        rows: 0,
        progress,
    };
    Ok((AlignedEncoder(shared), writer))
}

impl<E: Encoder> Encoder for AlignedEncoder<'_, E> {
    type Encoded = Parted;

    const FULL: Full = Full {
        rows: PIECE_ROWS as usize,
        bytes: PIECE_BYTES as usize,
    };

    fn fitted(&self, rows: &RecordBatch) -> Result<RecordBatch, Misfit> {
        let fitted = self.0.encoder.fitted(rows)?;
        Ok(self.0.or_error(owned(&fitted))?)
    }

    fn encode(&self, group: GroupRows, progress: &Progress) -> Result<Parted, Error> {
        progress.check()?;
        self.0.part(&group)
    }
}

impl<'a, W: GroupWriter> GroupWriter for AlignedWriter<'a, W> {
    type Encoder = AlignedEncoder<'a, W::Encoder>;

    fn append(&mut self, parted: Parted) -> Result<(), Error> {
        self.rows += parted.rows;
        self.shared.buckets.append(&parted)
    }

    fn finish(self) -> Result<(), Error> {
        let Self {
            shared,
            mut writer,
            rows,
            progress,
        } = self;
        shared.buckets.check_complete(rows)?;
        let mut groups = OrderedGroups {
            shared: &shared,
            buckets: Box::new(shared.buckets.take_each(progress)),
            group: Group::default(),
            full: VecDeque::new(),
        };
        in_order(
            &mut || groups.next().transpose(),
            &|| (),
            &|group, ()| shared.encoder.encode(group?, progress),
            &mut |encoded| writer.append(encoded?),
        )?;
        writer.finish()
    }
}

impl<E> Shared<'_, E> {
    /// Parts a group of rows, which has some.
    fn part(&self, group: &GroupRows) -> Result<Parted, Error> {
        let batches: Vec<&RecordBatch> = group.batches.iter().collect();
        let rows: Vec<(usize, usize)> = (batches.iter().enumerate())
            .flat_map(|(batch, rows)| (0..rows.num_rows()).map(move |row| (batch, row)))
            .collect();
        let positions = self
            .buckets
            .positions(group.first..group.first + rows.len())?;
        let mut writer = self.or_error(stream(&self.schema))?;
        self.buckets.part(positions, |placed, bytes| {
            writer.get_mut().clear();
            let rows: Vec<(usize, usize)> =
                placed.iter().map(|(_, number)| rows[*number]).collect();
            let written = interleave_record_batch(&batches, &rows)
                .and_then(|rows| self.with_positions(placed, &owned(&rows)?))
                .and_then(|rows| writer.write(&rows));
            self.or_error(written)?;
            bytes.append(writer.get_mut());
            Ok(())
        })
    }

    /// Returns rows as they are in a bucket.
    fn with_positions(
        &self,
        placed: &Placed,
        rows: &RecordBatch,
    ) -> Result<RecordBatch, ArrowError> {
        let positions = placed.iter().map(|(position, _)| *position);
        let positions: ArrayRef = Arc::new(UInt32Array::from_iter_values(positions));
        let columns = iter::once(positions).chain(rows.columns().iter().cloned());
        RecordBatch::try_new(self.schema.clone(), columns.collect())
    }

    /// Gives the rows of a bucket to `take`, some at a time, in the order of their positions.
    fn ordered(
        &self,
        bytes: Vec<u8>,
        take: &mut dyn FnMut(&RecordBatch),
    ) -> Result<(), ArrowError> {
        let length = bytes.len();
        let batches = batches(&self.schema, bytes)?;
        let mut rows: Vec<(u32, usize, usize)> = Vec::new();
        for (number, batch) in batches.iter().enumerate() {
            let positions = batch.column(0).as_primitive::<UInt32Type>().values();
            rows.extend(
                positions
                    .iter()
                    .zip(0..)
                    .map(|(&position, row)| (position, number, row)),
            );
        }
        rows.sort_unstable();
        let rows: Vec<(usize, usize)> = rows.iter().map(|&(_, batch, row)| (batch, row)).collect();
        let columns: Vec<usize> = (1..self.schema.fields().len()).collect();
        let batches = batches.iter().map(|batch| batch.project(&columns));
        let batches: Vec<RecordBatch> = batches.collect::<Result<_, _>>()?;
        let batches: Vec<&RecordBatch> = batches.iter().collect();
        let at_once = BATCH_BYTES * rows.len() / length.max(1);
        for rows in rows.chunks(at_once.clamp(1, BATCH_ROWS)) {
            take(&owned(&interleave_record_batch(&batches, rows)?)?);
        }
        Ok(())
    }

    /// Returns the result, or an error that rows cannot be put in order. The library's own words
    /// may hold values of the table: they are not passed on.
    fn or_error<T>(&self, result: Result<T, ArrowError>) -> Result<T, Error> {
        result.map_err(|_| cannot_order(&self.name))
    }
}

fn cannot_order(name: &str) -> Error {
    cannot_write(name, io::Error::other("its rows cannot be put in order"))
}

/// Returns a stream of batches, which holds what stands before the first one.
fn stream(schema: &Schema) -> Result<StreamWriter<Vec<u8>>, ArrowError> {
    // As little padding as there can be, since batches are small.
    let options = IpcWriteOptions::try_new(8, false, MetadataVersion::V5)?;
    StreamWriter::try_new_with_options(Vec::new(), schema, options)
}

/// Returns the batches of a stream without what stands before the first one.
fn batches(schema: &Schema, bytes: Vec<u8>) -> Result<Vec<RecordBatch>, ArrowError> {
    let mut decoder = StreamDecoder::new();
    let mut batches = Vec::new();
    for bytes in [stream(schema)?.get_ref().clone(), bytes] {
        let mut bytes = Buffer::from(bytes);
        while !bytes.is_empty() {
            batches.extend(decoder.decode(&mut bytes)?);
        }
    }
    Ok(batches)
}

/// The groups that are written, one after the other.
struct OrderedGroups<'s, 'a, E> {
    shared: &'s Shared<'a, E>,
    buckets: Box<dyn Iterator<Item = Result<Vec<u8>, Error>> + Send + 's>,
    group: Group,
    full: VecDeque<GroupRows>,
}

impl<E: Encoder> OrderedGroups<'_, '_, E> {
    fn next(&mut self) -> Result<Option<GroupRows>, Error> {
        loop {
            if let Some(group) = self.full.pop_front() {
                return Ok(Some(group));
            }
            let Some(bytes) = self.buckets.next().transpose()? else {
                return Ok(self.group.take());
            };
            let ordered = self.shared.ordered(bytes, &mut |rows| {
                self.full.extend(self.group.add(rows, &E::FULL));
            });
            self.shared.or_error(ordered)?;
        }
    }
}
