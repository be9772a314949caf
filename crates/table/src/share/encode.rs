//! The bytes of a row: see [the module above](super).

use arrow_array::{Array, ArrayRef, cast::AsArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::fault::{Fault, fault_of};
use psijoin_source::typed::dictionary;

/// Returns how many bytes the flags of this many columns take.
pub(super) fn flag_bytes(columns: usize) -> usize {
    columns.div_ceil(8)
}

/// Returns whether a row, which begins with its flags, has a null in this column.
pub(super) fn is_null(row: &[u8], column: usize) -> bool {
    row[column / 8] >> (column % 8) & 1 == 1
}

/// Returns how many bytes a value of this type takes if it is not null; `None` if that depends on
/// the value.
pub(super) fn value_bytes(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::Boolean => Some(1),
        DataType::FixedSizeBinary(width) => Some(*width as usize),
        other => other.primitive_width(),
    }
}

/// A row that is being encoded.
pub(super) struct RowBytes<'b> {
    bytes: &'b mut Vec<u8>,
    /// The beginning of the row.
    start: usize,
    /// The column of the value that is being written.
    column: usize,
    /// `true` if each value was as short as its length can tell.
    fits: bool,
    /// The fault of the first value that is invalid for its type.
    fault: Option<Fault>,
}

impl<'b> RowBytes<'b> {
    /// Begins a row of this many columns, behind these bytes.
    pub(super) fn new(bytes: &'b mut Vec<u8>, columns: usize) -> Self {
        let start = bytes.len();
        bytes.resize(start + flag_bytes(columns), 0);
        Self {
            bytes,
            start,
            column: 0,
            fits: true,
            fault: None,
        }
    }

    pub(super) fn null(&mut self, column: usize) {
        self.bytes[self.start + column / 8] |= 1 << (column % 8);
    }

    /// Writes the bytes of a value, as they stand in rows.
    pub(super) fn raw(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
    }

    /// Writes a value, which may be none of its type.
    fn checked(&mut self, data_type: &DataType, value: &[u8]) {
        let fault = fault_of(data_type, value).map(|fault| fault.in_column(self.column));
        self.fault = self.fault.or(fault);
        self.raw(value);
    }

    pub(super) fn variable(&mut self, value: &[u8]) {
        match u16::try_from(value.len()) {
            Ok(length) => {
                self.bytes.extend(length.to_le_bytes());
                self.bytes.extend_from_slice(value);
            }
            Err(_) => self.fits = false,
        }
    }

    /// Returns how long the row is; `None` if no payload has room for it.
    ///
    /// # Errors
    /// If a value is none of its type.
    pub(super) fn finish(self) -> Result<Option<usize>, Fault> {
        let length = self.fits.then(|| self.bytes.len() - self.start);
        self.fault.map_or(Ok(length), Err)
    }
}

/// Writes the value in this row, which is not null.
type WriteValue<'a> = Box<dyn Fn(usize, &mut RowBytes<'_>) + 'a>;

/// A column of a batch.
pub(super) struct Column<'a> {
    nulls: Option<NullBuffer>,
    value: WriteValue<'a>,
}

impl<'a> Column<'a> {
    /// Returns `None` if the values are not of this type, as in a file that is broken.
    pub(super) fn new(array: &'a ArrayRef, given: &DataType) -> Option<Self> {
        Some(Self {
            nulls: array.logical_nulls(),
            value: value(array, given)?,
        })
    }

    pub(super) fn write(&self, row: usize, column: usize, bytes: &mut RowBytes<'_>) {
        match &self.nulls {
            Some(nulls) if nulls.is_null(row) => bytes.null(column),
            _ => {
                bytes.column = column;
                (self.value)(row, bytes);
            }
        }
    }
}

fn value<'a>(array: &'a ArrayRef, given: &DataType) -> Option<WriteValue<'a>> {
    Some(match (array.data_type(), given) {
        (DataType::Dictionary(..), _) => {
            let (keys, values) = dictionary(array);
            let value = value(values, given)?;
            Box::new(move |row, bytes| value(keys[row], bytes))
        }
        (DataType::Utf8, DataType::Utf8) => {
            let array = array.as_string::<i32>();
            Box::new(|row, bytes| bytes.variable(array.value(row).as_bytes()))
        }
        (DataType::LargeUtf8, DataType::Utf8) => {
            let array = array.as_string::<i64>();
            Box::new(|row, bytes| bytes.variable(array.value(row).as_bytes()))
        }
        (DataType::Utf8View, DataType::Utf8) => {
            let array = array.as_string_view();
            Box::new(|row, bytes| bytes.variable(array.value(row).as_bytes()))
        }
        (DataType::Binary, DataType::Binary) => {
            let array = array.as_binary::<i32>();
            Box::new(|row, bytes| bytes.variable(array.value(row)))
        }
        (DataType::LargeBinary, DataType::Binary) => {
            let array = array.as_binary::<i64>();
            Box::new(|row, bytes| bytes.variable(array.value(row)))
        }
        (DataType::BinaryView, DataType::Binary) => {
            let array = array.as_binary_view();
            Box::new(|row, bytes| bytes.variable(array.value(row)))
        }
        (DataType::Boolean, DataType::Boolean) => {
            let array = array.as_boolean();
            Box::new(|row, bytes| bytes.raw(&[array.value(row).into()]))
        }
        (held, given) if held == given => {
            let width = value_bytes(given)?;
            let data = array.to_data();
            let (values, offset) = (data.buffers()[0].clone(), data.offset());
            let given = given.clone();
            Box::new(move |row, bytes| {
                bytes.checked(&given, &values[(offset + row) * width..][..width]);
            })
        }
        _ => return None,
    })
}

/// Values stand in Arrow's arrays as in payloads.
const _: () = assert!(cfg!(target_endian = "little"), "machines are little-endian");
