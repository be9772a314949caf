//! The canonical text of a cell of the key. It depends on the value, not on the type.

use std::fmt::{Display, Write};

use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, cast::AsArray, new_empty_array, types::*};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::{
    Stored,
    cell::{WriteCell, cell, dictionary, timestamp},
};
use psijoin_key::{
    KeyFault,
    typed::{write_decimal, write_uuid},
};

/// Writes the canonical text of the cell in this row.
type WriteKey<'a> = Box<dyn Fn(usize, &mut String) -> Result<(), KeyFault> + 'a>;

/// A key column of a batch, as canonical texts.
pub struct KeyColumn<'a> {
    nulls: Option<NullBuffer>,
    cells: Cells<'a>,
}

enum Cells<'a> {
    /// Texts, which stay as they are.
    Texts(Box<dyn Fn(usize) -> &'a str + 'a>),
    Others(WriteKey<'a>),
}

impl<'a> KeyColumn<'a> {
    /// Returns `None` if the array's type cannot be a key.
    pub fn new(array: &'a ArrayRef, stored: Stored) -> Option<Self> {
        let cells = match texts(array) {
            Some(texts) => Cells::Texts(texts),
            None => Cells::Others(key_cell(array, stored)?),
        };
        let nulls = array.logical_nulls();
        Some(Self { nulls, cells })
    }

    /// Returns the text of the cell in this row; nothing if it is null. Its text overwrites the
    /// `buffer`.
    ///
    /// # Errors
    /// If the value has no canonical text.
    #[inline]
    pub fn text<'b>(&self, row: usize, buffer: &'b mut String) -> Result<&'b str, KeyFault>
    where
        'a: 'b,
    {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok("");
        }
        match &self.cells {
            Cells::Texts(text) => Ok(text(row)),
            Cells::Others(write) => {
                buffer.clear();
                write(row, buffer)?;
                Ok(buffer)
            }
        }
    }
}

/// Returns the texts of an array, if it holds texts.
fn texts<'a>(array: &'a ArrayRef) -> Option<Box<dyn Fn(usize) -> &'a str + 'a>> {
    Some(match array.data_type() {
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            Box::new(|row| array.value(row))
        }
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            Box::new(|row| array.value(row))
        }
        DataType::Utf8View => {
            let array = array.as_string_view();
            Box::new(|row| array.value(row))
        }
        _ => return None,
    })
}

/// Returns whether values of this type have canonical texts.
pub(crate) fn can_be_key(data_type: &DataType) -> bool {
    key_cell(&new_empty_array(data_type), Stored::AsTyped).is_some()
}

fn key_cell(array: &ArrayRef, stored: Stored) -> Option<WriteKey<'_>> {
    Some(match array.data_type() {
        DataType::Float16 => whole::<Float16Type>(array, 11, |value| value.into()),
        DataType::Float32 => whole::<Float32Type>(array, 24, f64::from),
        DataType::Float64 => whole::<Float64Type>(array, 53, |value| value),
        DataType::Decimal32(_, scale) => decimal::<Decimal32Type>(array, *scale),
        DataType::Decimal64(_, scale) => decimal::<Decimal64Type>(array, *scale),
        DataType::Decimal128(_, scale) => decimal::<Decimal128Type>(array, *scale),
        DataType::Decimal256(_, scale) => decimal::<Decimal256Type>(array, *scale),
        // With a space between, as CSV exports have it.
        DataType::Timestamp(..) => always(timestamp(array, ' ')?),
        DataType::Binary => {
            let array = array.as_binary::<i32>();
            always(Box::new(|row, text| write_hex(text, array.value(row))))
        }
        DataType::LargeBinary => {
            let array = array.as_binary::<i64>();
            always(Box::new(|row, text| write_hex(text, array.value(row))))
        }
        DataType::BinaryView => {
            let array = array.as_binary_view();
            always(Box::new(|row, text| write_hex(text, array.value(row))))
        }
        DataType::FixedSizeBinary(bytes) => {
            let array = array.as_fixed_size_binary();
            match bytes {
                16 if stored == Stored::Uuid => {
                    always(Box::new(|row, text| write_uuid(text, array.value(row))))
                }
                _ => always(Box::new(|row, text| write_hex(text, array.value(row)))),
            }
        }
        DataType::Int8 if stored == Stored::Bool8 => {
            let array = array.as_primitive::<Int8Type>();
            always(Box::new(|row, text| {
                text.push_str(if array.value(row) == 0 {
                    "false"
                } else {
                    "true"
                });
            }))
        }
        DataType::Dictionary(..) => {
            let (keys, values) = dictionary(array);
            let values = key_cell(values, stored)?;
            Box::new(move |row, text| values(keys[row], text))
        }
        _ => always(cell(array)?),
    })
}

fn always<'a>(write: WriteCell<'a>) -> WriteKey<'a> {
    Box::new(move |row, text| {
        write(row, text);
        Ok(())
    })
}

/// Returns whole numbers as integers. The type has `digits` binary digits: from 2^digits on, it
/// rounds other integers to those that it has, so that one there may mean its neighbour.
fn whole<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    digits: i32,
    widen: impl Fn(T::Native) -> f64 + 'static,
) -> WriteKey<'_> {
    let array = array.as_primitive::<T>();
    let bound = 2_f64.powi(digits);
    Box::new(move |row, text| {
        let value = widen(array.value(row));
        if value.is_nan() {
            return Ok(());
        }
        if value.fract() != 0.0 || value.abs() >= bound {
            return Err(KeyFault::InexactFloat);
        }
        write!(text, "{}", value as i64).expect("a String takes all text");
        Ok(())
    })
}

fn decimal<T: ArrowPrimitiveType<Native: Display>>(array: &ArrayRef, scale: i8) -> WriteKey<'_> {
    let array = array.as_primitive::<T>();
    Box::new(move |row, text| {
        let digits = array.value(row).to_string();
        let unsigned = digits.strip_prefix('-');
        let negative = unsigned.is_some();
        write_decimal(text, negative, unsigned.unwrap_or(&digits), scale.into());
        Ok(())
    })
}

fn write_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a String takes all text");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::*;
    use arrow_buffer::i256;

    use super::*;

    fn written(array: impl Array + 'static, stored: Stored) -> Vec<Result<String, KeyFault>> {
        let array: ArrayRef = Arc::new(array);
        let column = KeyColumn::new(&array, stored).unwrap();
        let text = |row| column.text(row, &mut String::new()).map(str::to_owned);
        (0..array.len()).map(text).collect()
    }

    fn texts(array: impl Array + 'static) -> Vec<String> {
        written(array, Stored::AsTyped)
            .into_iter()
            .map(Result::unwrap)
            .collect()
    }

    #[test]
    fn decimals_are_exact_and_short() {
        let narrow = Decimal32Array::from(vec![Some(150), Some(-5), Some(0), Some(100), None]);
        assert_eq!(
            texts(narrow.with_precision_and_scale(9, 2).unwrap()),
            ["1.5", "-0.05", "0", "1", ""]
        );
        let wide = Decimal128Array::from(vec![1_500_000_000, 1]);
        assert_eq!(
            texts(wide.with_precision_and_scale(38, 9).unwrap()),
            ["1.5", "0.000000001"]
        );
        let whole = Decimal64Array::from(vec![12, -100]);
        assert_eq!(
            texts(whole.with_precision_and_scale(10, -2).unwrap()),
            ["1200", "-10000"]
        );
        let widest = Decimal256Array::from(vec![i256::from_i128(i128::MIN)]);
        assert_eq!(
            texts(widest.with_precision_and_scale(76, 0).unwrap()),
            ["-170141183460469231731687303715884105728"]
        );
    }

    #[test]
    fn floating_point_numbers_are_whole_or_refused() {
        let max = 9_007_199_254_740_991.0;
        assert_eq!(
            texts(Float64Array::from(vec![
                Some(7.0),
                Some(-0.0),
                Some(f64::NAN),
                None,
                Some(max),
                Some(-max)
            ])),
            ["7", "0", "", "", "9007199254740991", "-9007199254740991"]
        );
        assert_eq!(texts(Float32Array::from(vec![16_777_215.0])), ["16777215"]);
        let half = |value: f32| <Float16Type as ArrowPrimitiveType>::Native::from_f32(value);
        assert_eq!(
            texts(Float16Array::from(vec![half(2047.0), half(f32::NAN)])),
            ["2047", ""]
        );

        let refused = vec![Err(KeyFault::InexactFloat)];
        // The literal 2^53 + 1 is rounded to 2^53.
        for value in [
            0.5,
            9_007_199_254_740_992.0,
            9_007_199_254_740_993.0,
            -9_007_199_254_740_992.0,
            1e300,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MIN_POSITIVE,
        ] {
            assert_eq!(
                written(Float64Array::from(vec![value]), Stored::AsTyped),
                refused
            );
        }
        for value in [1.5, 16_777_216.0] {
            assert_eq!(
                written(Float32Array::from(vec![value]), Stored::AsTyped),
                refused
            );
        }
        assert_eq!(
            written(Float16Array::from(vec![half(2048.0)]), Stored::AsTyped),
            refused
        );
    }

    #[test]
    fn timestamps_are_as_csv_exports_have_them_in_every_unit() {
        let second = 19_782 * 86_400 + 13 * 3600 + 5 * 60;
        let plain = "2024-02-29 13:05:00";
        assert_eq!(
            texts(TimestampSecondArray::from(vec![second, -1])),
            [plain, "1969-12-31 23:59:59"]
        );
        assert_eq!(
            texts(TimestampMillisecondArray::from(vec![
                second * 1_000,
                second * 1_000 + 250,
                -1
            ])),
            [plain, "2024-02-29 13:05:00.25", "1969-12-31 23:59:59.999"]
        );
        assert_eq!(
            texts(TimestampMicrosecondArray::from(vec![
                second * 1_000_000,
                -1
            ])),
            [plain, "1969-12-31 23:59:59.999999"]
        );
        assert_eq!(
            texts(TimestampNanosecondArray::from(vec![
                second * 1_000_000_000,
                -1
            ])),
            [plain, "1969-12-31 23:59:59.999999999"]
        );
        assert_eq!(
            texts(TimestampSecondArray::from(vec![second]).with_timezone("+02:00")),
            ["2024-02-29 13:05:00Z"]
        );
    }

    #[test]
    fn bytes_are_hexadecimal_and_uuids_are_uuids() {
        let bytes = [&b"\x00\xffA"[..], b""];
        let hex = ["00ff41", ""];
        assert_eq!(texts(BinaryArray::from(bytes.to_vec())), hex);
        assert_eq!(texts(LargeBinaryArray::from(bytes.to_vec())), hex);
        assert_eq!(texts(BinaryViewArray::from(bytes.to_vec())), hex);
        let sixteen = 0xf81d4fae_7dec_11d0_a765_00a0c91e6bf6_u128.to_be_bytes();
        let fixed = FixedSizeBinaryArray::try_from_iter([sixteen].iter()).unwrap();
        assert_eq!(texts(fixed.clone()), ["f81d4fae7dec11d0a76500a0c91e6bf6"]);
        assert_eq!(
            written(fixed, Stored::Uuid),
            [Ok("f81d4fae-7dec-11d0-a765-00a0c91e6bf6".to_owned())]
        );
    }

    #[test]
    fn dictionaries_have_their_values_texts() {
        let values = Arc::new(Float64Array::from(vec![Some(3.0), None, Some(0.5)]));
        let numbers = DictionaryArray::new(UInt8Array::from(vec![Some(0), Some(1), None]), values);
        assert_eq!(texts(numbers), ["3", "", ""]);
    }

    #[test]
    fn nested_types_are_no_keys() {
        let item = arrow_schema::Field::new_list_field(DataType::Utf8, true);
        assert!(!can_be_key(&DataType::List(Arc::new(item))));
        assert!(can_be_key(&DataType::Binary));
    }
}
