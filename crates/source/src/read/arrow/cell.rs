//! The text of a cell, as it is written to CSV, and as it is added up. Its text as a key may be
//! another.

use std::fmt::{Display, Write};

use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, cast::AsArray, new_empty_array, types::*};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};

use psijoin_key::typed::{write_date, write_time};

/// Writes the text of the cell in this row.
pub(super) type WriteCell<'a> = Box<dyn Fn(usize, &mut String) + 'a>;

/// A column of a batch, as text.
pub struct Column<'a> {
    nulls: Option<NullBuffer>,
    cell: WriteCell<'a>,
}

impl<'a> Column<'a> {
    /// Returns `None` if the array's type has no text: [`has_text`].
    pub fn new(array: &'a ArrayRef) -> Option<Self> {
        let cell = cell(array)?;
        let nulls = array.logical_nulls();
        Some(Self { nulls, cell })
    }

    /// Appends the text of the cell in this row; nothing if it is null.
    #[inline]
    pub fn write(&self, row: usize, text: &mut String) {
        if !self.is_null(row) {
            (self.cell)(row, text);
        }
    }

    /// Returns the text of the cell in this row; `None` if it is null.
    pub fn text(&self, row: usize) -> Option<String> {
        (!self.is_null(row)).then(|| {
            let mut text = String::new();
            (self.cell)(row, &mut text);
            text
        })
    }

    /// Returns whether the cell in this row is null.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }
}

/// Returns whether values of this type can be written as text.
pub fn has_text(data_type: &DataType) -> bool {
    cell(&new_empty_array(data_type)).is_some()
}

pub(super) fn cell(array: &ArrayRef) -> Option<WriteCell<'_>> {
    Some(match array.data_type() {
        DataType::Null => Box::new(|_, _| ()),
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            Box::new(|row, text| text.push_str(array.value(row)))
        }
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            Box::new(|row, text| text.push_str(array.value(row)))
        }
        DataType::Utf8View => {
            let array = array.as_string_view();
            Box::new(|row, text| text.push_str(array.value(row)))
        }
        DataType::Boolean => {
            let array = array.as_boolean();
            shown(|row| array.value(row))
        }
        DataType::Int8 => number::<Int8Type>(array),
        DataType::Int16 => number::<Int16Type>(array),
        DataType::Int32 => number::<Int32Type>(array),
        DataType::Int64 => number::<Int64Type>(array),
        DataType::UInt8 => number::<UInt8Type>(array),
        DataType::UInt16 => number::<UInt16Type>(array),
        DataType::UInt32 => number::<UInt32Type>(array),
        DataType::UInt64 => number::<UInt64Type>(array),
        DataType::Float16 => float::<Float16Type>(array, f64::from),
        DataType::Float32 => {
            let array = array.as_primitive::<Float32Type>();
            // By way of f64 it would show digits that it does not have.
            Box::new(|row, text| write(text, format_args!("{:?}", array.value(row))))
        }
        DataType::Float64 => float::<Float64Type>(array, f64::from),
        DataType::Decimal32(..) => decimal::<Decimal32Type>(array),
        DataType::Decimal64(..) => decimal::<Decimal64Type>(array),
        DataType::Decimal128(..) => decimal::<Decimal128Type>(array),
        DataType::Decimal256(..) => decimal::<Decimal256Type>(array),
        DataType::Date32 => {
            let array = array.as_primitive::<Date32Type>();
            Box::new(|row, text| write_date(text, array.value(row).into()))
        }
        DataType::Date64 => {
            let array = array.as_primitive::<Date64Type>();
            Box::new(|row, text| write_date(text, array.value(row).div_euclid(86_400_000)))
        }
        DataType::Timestamp(..) => timestamp(array, 'T')?,
        DataType::Time32(unit) | DataType::Time64(unit) => {
            let per_second = per_second(*unit);
            let value = integers(array)?;
            Box::new(move |row, text| write_time(text, value(row), per_second))
        }
        DataType::Dictionary(..) => {
            let (keys, values) = dictionary(array);
            let values = cell(values)?;
            Box::new(move |row, text| values(keys[row], text))
        }
        _ => return None,
    })
}

/// Returns how many of these units a second has.
pub fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

fn write(text: &mut String, value: impl Display) {
    write!(text, "{value}").expect("a String takes all text");
}

fn shown<'a, T: Display>(value: impl Fn(usize) -> T + 'a) -> WriteCell<'a> {
    Box::new(move |row, text| write(text, value(row)))
}

fn number<T: ArrowPrimitiveType<Native: Display>>(array: &ArrayRef) -> WriteCell<'_> {
    let array = array.as_primitive::<T>();
    shown(|row| array.value(row))
}

/// Returns the shortest text that reads back as the same number.
fn float<'a, T: ArrowPrimitiveType>(
    array: &'a ArrayRef,
    widen: fn(T::Native) -> f64,
) -> WriteCell<'a> {
    let array = array.as_primitive::<T>();
    Box::new(move |row, text| write(text, format_args!("{:?}", widen(array.value(row)))))
}

fn decimal<T: DecimalType>(array: &ArrayRef) -> WriteCell<'_> {
    let array = array.as_primitive::<T>();
    shown(|row| array.value_as_string(row))
}

/// Dates and times with this between them; `None` if the array holds something else.
pub(super) fn timestamp(array: &ArrayRef, between: char) -> Option<WriteCell<'_>> {
    let DataType::Timestamp(unit, zone) = array.data_type() else {
        return None;
    };
    let per_second = per_second(*unit);
    let mark = if zone.is_some() { "Z" } else { "" };
    let value = integers(array)?;
    Some(Box::new(move |row, text| {
        let seconds = value(row).div_euclid(per_second);
        write_date(text, seconds.div_euclid(86_400));
        text.push(between);
        write_time(text, value(row).rem_euclid(86_400 * per_second), per_second);
        text.push_str(mark);
    }))
}

/// Returns for each row of an array of a dictionary its place among the values, and the values.
pub fn dictionary(array: &ArrayRef) -> (Vec<usize>, &ArrayRef) {
    let dictionary = array.as_any_dictionary();
    let keys = match dictionary.values().is_empty() {
        true => Vec::new(),
        false => dictionary.normalized_keys(),
    };
    (keys, dictionary.values())
}

/// Returns the integers behind an array of times.
fn integers(array: &ArrayRef) -> Option<Box<dyn Fn(usize) -> i64 + '_>> {
    fn of<T: ArrowPrimitiveType<Native: Into<i64>>>(
        array: &ArrayRef,
    ) -> Box<dyn Fn(usize) -> i64 + '_> {
        let array = array.as_primitive::<T>();
        Box::new(|row| array.value(row).into())
    }
    use TimeUnit::*;
    Some(match array.data_type() {
        DataType::Timestamp(Second, _) => of::<TimestampSecondType>(array),
        DataType::Timestamp(Millisecond, _) => of::<TimestampMillisecondType>(array),
        DataType::Timestamp(Microsecond, _) => of::<TimestampMicrosecondType>(array),
        DataType::Timestamp(Nanosecond, _) => of::<TimestampNanosecondType>(array),
        DataType::Time32(Second) => of::<Time32SecondType>(array),
        DataType::Time32(Millisecond) => of::<Time32MillisecondType>(array),
        DataType::Time64(Microsecond) => of::<Time64MicrosecondType>(array),
        DataType::Time64(Nanosecond) => of::<Time64NanosecondType>(array),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::*;

    use super::*;

    fn texts(array: impl Array + 'static) -> Vec<String> {
        let array: ArrayRef = Arc::new(array);
        let column = Column::new(&array).unwrap();
        let text = |row| {
            let mut text = String::new();
            column.write(row, &mut text);
            text
        };
        (0..array.len()).map(text).collect()
    }

    #[test]
    fn texts_show_what_the_type_holds() {
        assert_eq!(
            texts(StringArray::from(vec![Some(" a "), None])),
            [" a ", ""]
        );
        assert_eq!(texts(LargeStringArray::from(vec!["é"])), ["é"]);
        assert_eq!(
            texts(StringViewArray::from(vec!["more than twelve bytes"])).len(),
            1
        );
        assert_eq!(
            texts(Int64Array::from(vec![i64::MIN])),
            ["-9223372036854775808"]
        );
        assert_eq!(
            texts(UInt64Array::from(vec![u64::MAX])),
            ["18446744073709551615"]
        );
        assert_eq!(texts(Int8Array::from(vec![Some(-7), None])), ["-7", ""]);
        assert_eq!(
            texts(BooleanArray::from(vec![true, false])),
            ["true", "false"]
        );
        assert_eq!(
            texts(Float64Array::from(vec![1.0, 0.1, 1e300])),
            ["1.0", "0.1", "1e300"]
        );
        assert_eq!(texts(Float32Array::from(vec![0.1])), ["0.1"]);
        assert_eq!(texts(NullArray::new(2)), ["", ""]);
        let decimal = Decimal128Array::from(vec![150, -5, 0]);
        assert_eq!(
            texts(decimal.with_precision_and_scale(10, 2).unwrap()),
            ["1.50", "-0.05", "0.00"]
        );
    }

    #[test]
    fn dates_and_times_are_iso_8601() {
        assert_eq!(
            texts(Date32Array::from(vec![0, 19_782, -1])),
            ["1970-01-01", "2024-02-29", "1969-12-31"]
        );
        assert_eq!(
            texts(Date64Array::from(vec![19_782 * 86_400_000])),
            ["2024-02-29"]
        );
        let second = 19_782 * 86_400 + 13 * 3600 + 5 * 60;
        assert_eq!(
            texts(TimestampSecondArray::from(vec![second, -1])),
            ["2024-02-29T13:05:00", "1969-12-31T23:59:59"]
        );
        let quarter = "2024-02-29T13:05:00.25Z";
        assert_eq!(
            texts(TimestampMillisecondArray::from(vec![second * 1000 + 250]).with_timezone("UTC")),
            [quarter]
        );
        assert_eq!(
            texts(
                TimestampNanosecondArray::from(vec![second * 1_000_000_000 + 250_000_000])
                    .with_timezone("+02:00")
            ),
            [quarter]
        );
        assert_eq!(texts(Time32SecondArray::from(vec![3_661])), ["01:01:01"]);
        assert_eq!(
            texts(Time64MicrosecondArray::from(vec![1])),
            ["00:00:00.000001"]
        );
    }

    #[test]
    fn dictionaries_have_their_values_texts() {
        let words: DictionaryArray<Int8Type> = vec![Some("b"), None, Some("a"), Some("b")]
            .into_iter()
            .collect();
        assert_eq!(texts(words), ["b", "", "a", "b"]);
        let values = Arc::new(StringArray::from(vec![None, Some("x")]));
        let null_value = DictionaryArray::new(UInt8Array::from(vec![0, 1]), values);
        assert_eq!(texts(null_value), ["", "x"]);
        let none: DictionaryArray<Int32Type> = vec![None::<&str>, None].into_iter().collect();
        assert_eq!(texts(none), ["", ""]);
    }

    #[test]
    fn binary_and_nested_types_have_no_text() {
        let item = arrow_schema::Field::new_list_field(DataType::Utf8, true);
        for data_type in [DataType::Binary, DataType::List(Arc::new(item))] {
            assert!(!has_text(&data_type), "{data_type}");
        }
        assert!(has_text(&DataType::Dictionary(
            Box::new(DataType::Int32),
            Box::new(DataType::Utf8)
        )));
    }
}
