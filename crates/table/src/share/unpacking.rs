//! The other party's columns of shared keys, for whoever has no table beside them.

use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, RecordBatch};
use arrow_buffer::Buffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::{PayloadLayout, decode::Decoder, fault::Fault};
use crate::{
    Error,
    portions::{KEY, PortionFault, PortionKeys, binary::each_value},
    write::destination::different,
};

/// The column of payloads.
pub const TAKEN: &str = "taken";

/// Before the name of a column that is called as that of keys.
const PREFIX: &str = "partner_";

/// The most rows of a batch.
const ROWS: u64 = 1 << 16;

/// About how many bytes a batch takes at most, unless that is less than a row does: nulls take room
/// where they took none in payloads.
const BYTES: u64 = 1 << 24;

/// What the other party gave for some keys, as Arrow data: a row for each of its rows, with the
/// column [`KEY`] and those that it gave. One of these that has that name gets a prefix.
///
/// Batches are made one by one, each of a bounded size. Whatever a payload has in it, the columns
/// have values of the agreed types, or there is an error.
pub struct Unpacking {
    layout: PayloadLayout,
    schema: SchemaRef,
    keys: Vec<[u8; 32]>,
    payloads: Vec<u8>,
    /// The key that is next, and its first row that was not taken.
    next: (usize, usize),
}

impl Unpacking {
    /// Begins with payloads of this layout, one after the other, for these keys.
    ///
    /// # Errors
    /// [`PortionFault::Taken`] if there are more or fewer.
    pub fn new(
        layout: PayloadLayout,
        keys: Vec<[u8; 32]>,
        payloads: Vec<u8>,
    ) -> Result<Self, Error> {
        match payloads.len() == keys.len() * layout.payload_bytes() {
            true => Ok(Self {
                schema: Self::schema(&layout),
                layout,
                keys,
                payloads,
                next: (0, 0),
            }),
            false => Err(PortionFault::Taken.into()),
        }
    }

    /// Begins with the payloads in a column [`TAKEN`] of a batch, for the keys in [`KEY`].
    ///
    /// # Errors
    /// [`PortionFault::Keys`], [`PortionFault::Taken`].
    pub fn of_batch(layout: PayloadLayout, batch: &RecordBatch) -> Result<Self, Error> {
        let keys = PortionKeys::of_batch(batch, &[])?.fingerprints;
        let length = layout.payload_bytes();
        let mut payloads = Vec::with_capacity(keys.len() * length);
        let column = batch.column_by_name(TAKEN).ok_or(PortionFault::Taken)?;
        let read = each_value(column, &mut |payload| {
            payloads.extend_from_slice(payload);
            (payload.len() == length).then_some(())
        });
        read.ok_or(PortionFault::Taken)?;
        Self::new(layout, keys, payloads)
    }

    /// Returns the columns of the batches.
    pub fn schema(layout: &PayloadLayout) -> SchemaRef {
        let mut names = vec![KEY.to_owned()];
        let mut fields = vec![Arc::new(Field::new(
            KEY,
            DataType::FixedSizeBinary(32),
            false,
        ))];
        for field in layout.columns().schema().fields() {
            let name = different(field.name(), PREFIX, &names);
            fields.push(Arc::new(field.as_ref().clone().with_name(&name)));
            names.push(name);
        }
        Arc::new(Schema::new(fields))
    }

    fn batch(&mut self) -> Result<RecordBatch, Fault> {
        let most = (BYTES / self.layout.decoded_row_bytes()).clamp(1, ROWS) as usize;
        let mut decoder = Decoder::new(self.layout.columns().schema());
        let mut keys: Vec<[u8; 32]> = Vec::new();
        while keys.len() < most && self.next.0 < self.keys.len() {
            let (key, first) = self.next;
            let length = self.layout.payload_bytes();
            let slots = self
                .layout
                .slots(&self.payloads[key * length..][..length])?;
            let mut slots = slots.skip(first).peekable();
            let mut taken = first;
            while let Some(slot) = slots.next_if(|_| keys.len() < most) {
                decoder.row(slot)?;
                keys.push(self.keys[key]);
                taken += 1;
            }
            self.next = match slots.peek() {
                Some(_) => (key, taken),
                None => (key + 1, 0),
            };
        }
        let key = FixedSizeBinaryArray::new(32, Buffer::from(keys.as_flattened()), None);
        let key: ArrayRef = Arc::new(key);
        let columns = [key].into_iter().chain(decoder.finish()).collect();
        Ok(RecordBatch::try_new(self.schema.clone(), columns).expect("columns of the schema"))
    }
}

impl Iterator for Unpacking {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next.0 == self.keys.len() {
            return None;
        }
        let batch = self.batch();
        if batch.is_err() {
            self.next.0 = self.keys.len();
        }
        Some(batch.map_err(|fault| fault.of_the_other_party(self.layout.columns(), None)))
    }
}
