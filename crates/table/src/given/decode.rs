//! Typed columns of the bytes of rows, which a sender may have made up.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, PrimitiveArray,
    builder::{BinaryBuilder, StringBuilder},
    cast::AsArray,
    make_array, new_empty_array,
    types::{Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType},
};
use arrow_buffer::{Buffer, NullBuffer, NullBufferBuilder};
use arrow_schema::{DataType, Schema};

use super::{
    encode::{flag_bytes, value_bytes},
    layout::check_zeros,
};
use crate::Error;

/// Columns that are made row by row.
pub(super) struct Decoder {
    columns: Vec<Column>,
}

/// A column that is being made.
struct Column {
    nullable: bool,
    values: Values,
}

enum Values {
    Text(StringBuilder),
    Binary(BinaryBuilder),
    Boolean(Vec<Option<bool>>),
    Fixed {
        data_type: DataType,
        width: usize,
        values: Vec<u8>,
        nulls: NullBufferBuilder,
    },
}

impl Decoder {
    pub(super) fn new(schema: &Schema) -> Self {
        let columns = schema.fields().iter().map(|field| Column {
            nullable: field.is_nullable(),
            values: Values::new(field.data_type()),
        });
        Self {
            columns: columns.collect(),
        }
    }

    /// Adds a row. `slot` has its bytes, and zeros behind them.
    ///
    /// # Errors
    /// Unless a sender that follows the protocol could have written it.
    pub(super) fn row(&mut self, slot: &[u8]) -> Result<(), Error> {
        let flags = flag_bytes(self.columns.len());
        let (flags, mut rest) = slot.split_at_checked(flags).ok_or(CUT_OFF)?;
        let is_null = |column: usize| flags[column / 8] >> (column % 8) & 1 == 1;
        if (self.columns.len()..8 * flags.len()).any(is_null) {
            return Err(Error::MalformedPayload("has a null in no column"));
        }
        for (number, column) in self.columns.iter_mut().enumerate() {
            match (is_null(number), column.nullable) {
                (false, _) => column.values.push(&mut rest)?,
                (true, true) => column.values.push_null(),
                (true, false) => {
                    return Err(Error::MalformedPayload("has a null where there are none"));
                }
            }
        }
        check_zeros(rest)
    }

    /// Adds a row of nulls, for a row without a partner.
    pub(super) fn nothing(&mut self) {
        for column in &mut self.columns {
            column.values.push_null();
        }
    }

    /// The columns.
    ///
    /// # Errors
    /// If there is a decimal of more digits than its type has.
    pub(super) fn finish(self) -> Result<Vec<ArrayRef>, Error> {
        let columns = self.columns.into_iter();
        columns.map(|column| column.values.finish()).collect()
    }
}

const CUT_OFF: Error = Error::MalformedPayload("is cut off");

impl Values {
    fn new(data_type: &DataType) -> Self {
        match data_type {
            DataType::Utf8 => Self::Text(StringBuilder::new()),
            DataType::Binary => Self::Binary(BinaryBuilder::new()),
            DataType::Boolean => Self::Boolean(Vec::new()),
            other => Self::Fixed {
                width: value_bytes(other).expect("all other types have a width"),
                data_type: other.clone(),
                values: Vec::new(),
                nulls: NullBufferBuilder::new(0),
            },
        }
    }

    /// Adds the value that the bytes begin with, and passes over it.
    fn push(&mut self, bytes: &mut &[u8]) -> Result<(), Error> {
        let mut take = |count: usize| -> Result<&[u8], Error> {
            let (value, rest) = bytes.split_at_checked(count).ok_or(CUT_OFF)?;
            *bytes = rest;
            Ok(value)
        };
        match self {
            Self::Text(texts) => {
                let length = take(2)?;
                let text = take(u16::from_le_bytes([length[0], length[1]]).into())?;
                let text = str::from_utf8(text);
                let not_utf_8 = |_| Error::MalformedPayload("has a text that is not UTF-8");
                texts.append_value(text.map_err(not_utf_8)?);
            }
            Self::Binary(values) => {
                let length = take(2)?;
                values.append_value(take(u16::from_le_bytes([length[0], length[1]]).into())?);
            }
            Self::Boolean(flags) => match take(1)? {
                [0] => flags.push(Some(false)),
                [1] => flags.push(Some(true)),
                _ => return Err(Error::MalformedPayload("has a boolean that is none")),
            },
            Self::Fixed {
                width,
                values,
                nulls,
                ..
            } => {
                values.extend_from_slice(take(*width)?);
                nulls.append_non_null();
            }
        }
        Ok(())
    }

    fn push_null(&mut self) {
        match self {
            Self::Text(texts) => texts.append_null(),
            Self::Binary(values) => values.append_null(),
            Self::Boolean(flags) => flags.push(None),
            Self::Fixed {
                width,
                values,
                nulls,
                ..
            } => {
                values.resize(values.len() + *width, 0);
                nulls.append_null();
            }
        }
    }

    fn finish(self) -> Result<ArrayRef, Error> {
        match self {
            Self::Text(mut texts) => Ok(Arc::new(texts.finish())),
            Self::Binary(mut values) => Ok(Arc::new(values.finish())),
            Self::Boolean(flags) => Ok(Arc::new(BooleanArray::from(flags))),
            Self::Fixed {
                data_type,
                width,
                values,
                mut nulls,
            } => {
                let array = fixed(&data_type, values.len() / width, values, nulls.finish());
                check_digits(&array)?;
                Ok(array)
            }
        }
    }
}

/// An array of values of a fixed width.
fn fixed(
    data_type: &DataType,
    rows: usize,
    values: Vec<u8>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let empty = new_empty_array(data_type).to_data();
    let builder = empty.into_builder().len(rows).nulls(nulls);
    // The copy lies where values of this width may lie.
    let values = Buffer::from_slice_ref(&values);
    let data = builder.buffers(vec![values]).build();
    make_array(data.expect("as many values as rows"))
}

/// Checks that no decimal has more digits than its type has.
fn check_digits(array: &ArrayRef) -> Result<(), Error> {
    // The array's own check takes a negative scale for a large one.
    fn check<T: DecimalType>(array: &PrimitiveArray<T>, precision: u8) -> Result<(), Error> {
        let mut values = array.iter().flatten();
        match values.all(|value| T::is_valid_decimal_precision(value, precision)) {
            true => Ok(()),
            false => Err(Error::MalformedPayload("has a decimal of too many digits")),
        }
    }
    match *array.data_type() {
        DataType::Decimal32(precision, _) => {
            check(array.as_primitive::<Decimal32Type>(), precision)
        }
        DataType::Decimal64(precision, _) => {
            check(array.as_primitive::<Decimal64Type>(), precision)
        }
        DataType::Decimal128(precision, _) => {
            check(array.as_primitive::<Decimal128Type>(), precision)
        }
        DataType::Decimal256(precision, _) => {
            check(array.as_primitive::<Decimal256Type>(), precision)
        }
        _ => Ok(()),
    }
}
