//! Typed columns of numbers.

use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, cast::AsArray, types::*};
use arrow_schema::DataType;

use super::{MAX_SCALE, Number};
use crate::{NumberFault, read::arrow::Column};

/// A column of numbers of a batch.
pub struct NumberColumn<'a> {
    texts: Column<'a>,
    /// Gives the number in a row that is not null, where that is the same as to read its text.
    quick: Option<Box<dyn Fn(usize) -> Option<Number> + 'a>>,
}

impl<'a> NumberColumn<'a> {
    /// Returns `None` if the array's type has no text.
    pub fn new(array: &'a ArrayRef) -> Option<Self> {
        Some(Self {
            texts: Column::new(array)?,
            quick: quick(array),
        })
    }

    /// Returns the number in the cell of this row; `None` if it is null or empty. Its text, if it
    /// must be written, overwrites the `buffer`.
    ///
    /// # Errors
    /// If the cell holds no number.
    pub fn read(&self, row: usize, buffer: &mut String) -> Result<Option<Number>, NumberFault> {
        if self.texts.is_null(row) {
            return Ok(None);
        }
        if let Some(number) = self.quick.as_ref().and_then(|quick| quick(row)) {
            return Ok(Some(number));
        }
        buffer.clear();
        self.texts.write(row, buffer);
        Number::parse(buffer)
    }
}

fn quick(array: &ArrayRef) -> Option<Box<dyn Fn(usize) -> Option<Number> + '_>> {
    Some(match array.data_type() {
        DataType::Int8 => quick_of::<Int8Type>(array, 0),
        DataType::Int16 => quick_of::<Int16Type>(array, 0),
        DataType::Int32 => quick_of::<Int32Type>(array, 0),
        DataType::Int64 => quick_of::<Int64Type>(array, 0),
        DataType::UInt8 => quick_of::<UInt8Type>(array, 0),
        DataType::UInt16 => quick_of::<UInt16Type>(array, 0),
        DataType::UInt32 => quick_of::<UInt32Type>(array, 0),
        DataType::UInt64 => quick_of::<UInt64Type>(array, 0),
        DataType::Decimal32(_, scale) => quick_of::<Decimal32Type>(array, decimals(*scale)?),
        DataType::Decimal64(_, scale) => quick_of::<Decimal64Type>(array, decimals(*scale)?),
        DataType::Decimal128(_, scale) => quick_of::<Decimal128Type>(array, decimals(*scale)?),
        _ => return None,
    })
}

/// Returns the decimals that a decimal number shows, unless that is an exponent, or they are too
/// many.
fn decimals(scale: i8) -> Option<u32> {
    u32::try_from(scale)
        .ok()
        .filter(|scale| *scale <= MAX_SCALE)
}

fn quick_of<T: ArrowPrimitiveType<Native: Into<i128>>>(
    array: &ArrayRef,
    scale: u32,
) -> Box<dyn Fn(usize) -> Option<Number> + '_> {
    let array = array.as_primitive::<T>();
    Box::new(move |row| Number::new(array.value(row).into(), scale))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::*;

    use super::*;

    /// Returns the numbers of the rows, read quickly, and as their texts.
    fn both(array: impl Array + 'static) -> [Vec<Result<Option<Number>, NumberFault>>; 2] {
        let array: ArrayRef = Arc::new(array);
        let mut column = NumberColumn::new(&array).unwrap();
        let all = |column: &NumberColumn<'_>| {
            let rows = 0..array.len();
            rows.map(|row| column.read(row, &mut String::new()))
                .collect()
        };
        let quick = all(&column);
        assert!(column.quick.take().is_some());
        [quick, all(&column)]
    }

    #[test]
    fn numbers_are_what_their_texts_say() {
        let signed = [i64::MIN, -10, -1, 0, 7, i64::MAX];
        let [quick, texts] = both(Int64Array::from_iter(
            signed.map(Some).into_iter().chain([None]),
        ));
        assert_eq!(quick, texts);
        assert_eq!(quick[6], Ok(None));
        let [quick, texts] = both(UInt64Array::from(vec![u64::MAX, 0]));
        assert_eq!(quick, texts);
        let wide = vec![
            i128::from(u64::MAX),
            -i128::from(u64::MAX),
            -150,
            0,
            i128::MAX / 2,
        ];
        for scale in [0, 1, 2, 18] {
            let array = Decimal128Array::from(wide.clone());
            let [quick, texts] = both(array.with_precision_and_scale(38, scale).unwrap());
            assert_eq!(quick, texts);
            assert_eq!(quick[4], Err(NumberFault::Overflow(scale as u32)));
        }
    }
}
