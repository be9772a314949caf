//! Typed columns of the bytes of rows, which a sender may have made up.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray,
    builder::{BinaryBuilder, StringBuilder},
    make_array, new_empty_array,
};
use arrow_buffer::{Buffer, NullBuffer, NullBufferBuilder};
use arrow_schema::{DataType, Schema};

use super::{
    encode::{flag_bytes, is_null, value_bytes},
    fault::{Fault, fault_of},
    layout::check_zeros,
};

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
    pub(super) fn row(&mut self, slot: &[u8]) -> Result<(), Fault> {
        let flags = flag_bytes(self.columns.len());
        let (flags, mut rest) = slot.split_at_checked(flags).ok_or(CUT_OFF)?;
        if (self.columns.len()..8 * flags.len()).any(|column| is_null(flags, column)) {
            return Err(Fault::new("has a null in no column"));
        }
        for (number, column) in self.columns.iter_mut().enumerate() {
            let pushed = match (is_null(flags, number), column.nullable) {
                (false, _) => column.values.push(&mut rest),
                (true, true) => {
                    column.values.push_null();
                    Ok(())
                }
                (true, false) => Err(Fault::new("has a null where there are none")),
            };
            pushed.map_err(|fault| fault.in_column(number))?;
        }
        check_zeros(rest)
    }

    /// Adds a row of nulls, for a row without a partner.
    pub(super) fn nothing(&mut self) {
        for column in &mut self.columns {
            column.values.push_null();
        }
    }

    /// Returns the columns.
    pub(super) fn finish(self) -> Vec<ArrayRef> {
        let columns = self.columns.into_iter();
        columns.map(|column| column.values.finish()).collect()
    }
}

const CUT_OFF: Fault = Fault::new("is cut off");

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
    fn push(&mut self, bytes: &mut &[u8]) -> Result<(), Fault> {
        let mut take = |count: usize| -> Result<&[u8], Fault> {
            let (value, rest) = bytes.split_at_checked(count).ok_or(CUT_OFF)?;
            *bytes = rest;
            Ok(value)
        };
        match self {
            Self::Text(texts) => {
                let length = take(2)?;
                let text = take(u16::from_le_bytes([length[0], length[1]]).into())?;
                let text = str::from_utf8(text);
                let not_utf_8 = |_| Fault::new("has a text that is not UTF-8");
                texts.append_value(text.map_err(not_utf_8)?);
            }
            Self::Binary(values) => {
                let length = take(2)?;
                values.append_value(take(u16::from_le_bytes([length[0], length[1]]).into())?);
            }
            Self::Boolean(flags) => match take(1)? {
                [0] => flags.push(Some(false)),
                [1] => flags.push(Some(true)),
                _ => return Err(Fault::new("has a boolean that is none")),
            },
            Self::Fixed {
                data_type,
                width,
                values,
                nulls,
            } => {
                let value = take(*width)?;
                fault_of(data_type, value).map_or(Ok(()), Err)?;
                values.extend_from_slice(value);
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

    fn finish(self) -> ArrayRef {
        match self {
            Self::Text(mut texts) => Arc::new(texts.finish()),
            Self::Binary(mut values) => Arc::new(values.finish()),
            Self::Boolean(flags) => Arc::new(BooleanArray::from(flags)),
            Self::Fixed {
                data_type,
                width,
                values,
                mut nulls,
            } => fixed(&data_type, values.len() / width, values, nulls.finish()),
        }
    }
}

/// Returns an array of values of a fixed width.
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
