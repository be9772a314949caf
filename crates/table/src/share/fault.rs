//! Faults of rows that are given.

use std::array::TryFromSliceError;

use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType,
};
use arrow_buffer::i256;
use arrow_schema::{DataType, TimeUnit};

use super::GivenColumns;
use psijoin_source::typed::per_second;

use crate::{Error, ShareError};

/// The fault of a row, and its column if it is a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    what: &'static str,
    column: Option<usize>,
}

impl Fault {
    pub(super) const fn new(what: &'static str) -> Self {
        Self { what, column: None }
    }

    pub(super) fn in_column(self, column: usize) -> Self {
        Self {
            column: Some(column),
            ..self
        }
    }

    /// Says it of what the other party gives for a row of the table, counted from 0, if it is known
    /// for which.
    pub(super) fn of_the_other_party(self, columns: &GivenColumns, row: Option<u64>) -> Error {
        Error::Share(ShareError::MalformedPayload {
            row: row.map(|row| row + 1),
            column: self.name(columns),
            what: self.what,
        })
    }

    /// Says it of a row of this party's table, counted from 0.
    pub(super) fn of_this_party(self, file: &str, columns: &GivenColumns, row: u64) -> Error {
        Error::Share(ShareError::InvalidValue {
            file: file.to_owned(),
            row: row + 1,
            column: self.name(columns).unwrap_or_default(),
            what: self.what,
        })
    }

    fn name(self, columns: &GivenColumns) -> Option<String> {
        let column = self.column?;
        columns.names().nth(column).map(str::to_owned)
    }
}

/// Returns what is wrong about the bytes of a value of this type, which has a fixed width: arrays
/// of Arrow hold values that are none of their type, too.
pub(super) fn fault_of(data_type: &DataType, value: &[u8]) -> Option<Fault> {
    let (is_valid, what) = match *data_type {
        DataType::Decimal32(digits, _) => {
            has_digits::<Decimal32Type>(number(value, i32::from_le_bytes), digits)
        }
        DataType::Decimal64(digits, _) => {
            has_digits::<Decimal64Type>(number(value, i64::from_le_bytes), digits)
        }
        DataType::Decimal128(digits, _) => {
            has_digits::<Decimal128Type>(number(value, i128::from_le_bytes), digits)
        }
        DataType::Decimal256(digits, _) => {
            has_digits::<Decimal256Type>(number(value, i256::from_le_bytes), digits)
        }
        DataType::Time32(unit) => is_of_a_day(number(value, i32::from_le_bytes).into(), unit),
        DataType::Time64(unit) => is_of_a_day(number(value, i64::from_le_bytes), unit),
        _ => return None,
    };
    (!is_valid).then_some(Fault::new(what))
}

fn number<T, const BYTES: usize>(value: &[u8], from_le_bytes: fn([u8; BYTES]) -> T) -> T {
    let bytes: Result<[u8; BYTES], TryFromSliceError> = value.try_into();
    from_le_bytes(bytes.expect("as wide as its type"))
}

/// Returns whether a decimal has no more digits than its type has, and what it is otherwise.
fn has_digits<T: DecimalType>(value: T::Native, digits: u8) -> (bool, &'static str) {
    // The check of a whole array takes a negative scale for a large one.
    let is_valid = T::is_valid_decimal_precision(value, digits);
    (is_valid, "has a decimal of too many digits")
}

/// Returns whether a time of day is one, midnight at the day's end included.
fn is_of_a_day(units: i64, unit: TimeUnit) -> (bool, &'static str) {
    let is_valid = (0..=86_400 * per_second(unit)).contains(&units);
    (is_valid, "has a time of day before 00:00 or after 24:00")
}
