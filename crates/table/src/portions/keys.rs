//! The distinct keys of a portion, and of several, as Arrow data.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, Decimal128Array, FixedSizeBinaryArray,
    LargeBinaryArray, PrimitiveArray, RecordBatch,
    cast::AsArray,
    types::{
        ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Int8Type, Int16Type,
        Int32Type, Int64Type,
    },
};
use arrow_buffer::Buffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use psijoin_source::{MAX_SCALE, NumberFault};

use super::fault::PortionFault;
use crate::{Error, Items, TableKeys};

/// The column of keys.
pub const KEY: &str = "key";

/// The digits of a number of a key, of which [`MAX_SCALE`] are behind the point: any number of any
/// column fits.
const DIGITS: u8 = 38;

/// The rows of a batch.
const BATCH: usize = 1 << 16;

/// Distinct keys, each with a number for each of some columns.
///
/// As Arrow data it has a column [`KEY`] of fingerprints, and a column for each column of numbers,
/// of decimals with 18 places. So numbers of several portions can be added by whoever has them,
/// whatever their own decimals are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortionKeys {
    /// The fingerprints.
    pub fingerprints: Vec<[u8; 32]>,
    /// The numbers of each column: multiples of 10^-18.
    numbers: Vec<Vec<i128>>,
}

impl PortionKeys {
    /// Takes them out of a table that was read.
    pub(super) fn taken_from(keys: TableKeys) -> Result<Self, Error> {
        let scales: Vec<u32> = keys.numbers().iter().map(|numbers| numbers.scale).collect();
        let mut all = Self {
            fingerprints: Vec::with_capacity(keys.counts().distinct as usize),
            numbers: vec![Vec::new(); scales.len()],
        };
        for partition in 0..keys.partitions() {
            let Items {
                fingerprints,
                numbers,
                ..
            } = keys.take_items(partition)?;
            all.fingerprints.extend(fingerprints);
            for ((all, numbers), scale) in all.numbers.iter_mut().zip(numbers).zip(&scales) {
                let factor = 10_i128.pow(MAX_SCALE - scale);
                all.extend(
                    numbers
                        .into_iter()
                        .map(|number| i128::from(number) * factor),
                );
            }
        }
        Ok(all)
    }

    /// Returns the keys of a batch with a column [`KEY`], and with numbers in columns of these
    /// names.
    ///
    /// # Errors
    /// [`PortionFault::Keys`], [`PortionFault::Numbers`].
    pub fn of_batch(batch: &RecordBatch, columns: &[String]) -> Result<Self, Error> {
        let fingerprints = batch.column_by_name(KEY).and_then(fingerprints_of);
        let numbers = columns.iter().map(|column| {
            let numbers = batch.column_by_name(column).and_then(numbers_of);
            numbers.ok_or_else(|| PortionFault::Numbers(column.clone()).into())
        });
        Ok(Self {
            fingerprints: fingerprints.ok_or(PortionFault::Keys)?,
            numbers: numbers.collect::<Result<_, Error>>()?,
        })
    }

    /// Returns no keys, with this number of columns.
    pub fn none(columns: usize) -> Self {
        Self {
            fingerprints: Vec::new(),
            numbers: vec![Vec::new(); columns],
        }
    }

    /// Adds further keys, some of which may be here already.
    ///
    /// # Panics
    /// If they have another number of columns.
    pub fn extend(&mut self, more: Self) {
        assert_eq!(self.numbers.len(), more.numbers.len(), "as many columns");
        self.fingerprints.extend(more.fingerprints);
        for (numbers, more) in self.numbers.iter_mut().zip(more.numbers) {
            numbers.extend(more);
        }
    }

    /// Makes one of keys that are equal, and adds up their numbers. They are in ascending order
    /// then.
    ///
    /// # Errors
    /// [`PortionFault::Overflow`] of one of these columns.
    pub fn merged(&self, columns: &[String]) -> Result<Self, Error> {
        let order = self.order();
        let runs = || order.chunk_by(|a, b| self.fingerprints[*a] == self.fingerprints[*b]);
        let numbers = self.numbers.iter().zip(columns).map(|(numbers, column)| {
            let sums = runs().map(|run| {
                run.iter()
                    .try_fold(0_i128, |sum, place| sum.checked_add(numbers[*place]))
            });
            let sums: Option<Vec<i128>> = sums.collect();
            sums.filter(|sums| sums.iter().all(|sum| fits(*sum)))
                .ok_or_else(|| {
                    let column = column.clone();
                    PortionFault::Overflow {
                        column,
                        fault: NumberFault::Overflow(0),
                    }
                    .into()
                })
        });
        Ok(Self {
            numbers: numbers.collect::<Result<_, Error>>()?,
            fingerprints: runs().map(|run| self.fingerprints[run[0]]).collect(),
        })
    }

    /// Returns the places of all keys, in the order of keys.
    fn order(&self) -> Vec<usize> {
        // Hardly ever do two keys that differ begin alike: so other memory is seldom looked at.
        let first = |key: &[u8; 32]| u64::from_be_bytes(key[..8].try_into().expect("8 bytes"));
        let mut order: Vec<_> = self.fingerprints.iter().map(first).zip(0..).collect();
        order.sort_unstable_by(|(first, place), (other, there)| {
            let whole = || self.fingerprints[*place].cmp(&self.fingerprints[*there]);
            first.cmp(other).then_with(whole)
        });
        order.into_iter().map(|(_, place)| place).collect()
    }

    /// Returns the numbers of a column as multiples of 10^-scale; `None` if one is none, or does
    /// not fit.
    ///
    /// # Panics
    /// If there is no such column, or the scale is more than [`MAX_SCALE`].
    pub fn numbers_at(&self, column: usize, scale: u32) -> Option<Vec<i64>> {
        let factor = 10_i128.pow(MAX_SCALE - scale);
        let number = |number: &i128| match number % factor {
            0 => i64::try_from(number / factor).ok(),
            _ => None,
        };
        self.numbers[column].iter().map(number).collect()
    }

    /// Returns them as Arrow data, with the numbers in columns of these names.
    ///
    /// # Panics
    /// If there are more or fewer columns.
    pub fn to_batches(&self, columns: &[String]) -> (SchemaRef, Vec<RecordBatch>) {
        assert_eq!(columns.len(), self.numbers.len(), "a name for each column");
        let number = DataType::Decimal128(DIGITS, MAX_SCALE as i8);
        let numbers = columns
            .iter()
            .map(|name| Field::new(name, number.clone(), false));
        let key = Field::new(KEY, DataType::FixedSizeBinary(32), false);
        let schema = Arc::new(Schema::new(
            [key].into_iter().chain(numbers).collect::<Vec<_>>(),
        ));
        let batch = |start: usize| {
            let end = self.fingerprints.len().min(start + BATCH);
            let keys = fingerprints_array(&self.fingerprints[start..end]);
            let numbers = self.numbers.iter().map(|numbers| -> ArrayRef {
                let numbers = Decimal128Array::from(numbers[start..end].to_vec());
                Arc::new(numbers.with_data_type(number.clone()))
            });
            let arrays = [keys].into_iter().chain(numbers).collect();
            RecordBatch::try_new(schema.clone(), arrays).expect("columns of the schema")
        };
        let batches = (0..self.fingerprints.len()).step_by(BATCH).map(batch);
        let batches = batches.collect();
        (schema, batches)
    }
}

/// Keys without numbers.
impl From<Vec<[u8; 32]>> for PortionKeys {
    fn from(fingerprints: Vec<[u8; 32]>) -> Self {
        Self {
            fingerprints,
            numbers: Vec::new(),
        }
    }
}

/// Returns the fingerprints of rows, as [`fingerprints`](super::fingerprints) gives them, as Arrow
/// data.
pub fn fingerprints_of_rows(rows: &[Option<[u8; 32]>]) -> ArrayRef {
    let values: Vec<[u8; 32]> = rows.iter().map(|row| row.unwrap_or_default()).collect();
    let nulls = rows.iter().map(Option::is_some).collect();
    let values = Buffer::from(values.as_flattened());
    Arc::new(FixedSizeBinaryArray::new(32, values, Some(nulls)))
}

/// Returns whether a number has no more digits than Arrow data hold.
fn fits(number: i128) -> bool {
    number.unsigned_abs() < 10_u128.pow(DIGITS.into())
}

/// Returns a column of fingerprints.
fn fingerprints_array(fingerprints: &[[u8; 32]]) -> ArrayRef {
    let values = Buffer::from(fingerprints.as_flattened());
    Arc::new(FixedSizeBinaryArray::new(32, values, None))
}

/// Returns the fingerprints in a column, if these are in it. An engine may have put them into
/// another type of bytes.
fn fingerprints_of(column: &ArrayRef) -> Option<Vec<[u8; 32]>> {
    if column.null_count() > 0 {
        return None;
    }
    let all = 0..column.len();
    let array = column.as_any();
    let read = |value: &dyn Fn(usize) -> Option<[u8; 32]>| all.map(value).collect();
    match column.data_type() {
        DataType::FixedSizeBinary(32) => {
            let values = array.downcast_ref::<FixedSizeBinaryArray>()?;
            read(&|row| values.value(row).try_into().ok())
        }
        DataType::Binary => {
            let values = array.downcast_ref::<BinaryArray>()?;
            read(&|row| values.value(row).try_into().ok())
        }
        DataType::LargeBinary => {
            let values = array.downcast_ref::<LargeBinaryArray>()?;
            read(&|row| values.value(row).try_into().ok())
        }
        DataType::BinaryView => {
            let values = array.downcast_ref::<BinaryViewArray>()?;
            read(&|row| values.value(row).try_into().ok())
        }
        _ => None,
    }
}

/// Returns the numbers in a column of decimals, or of whole numbers.
fn numbers_of(column: &ArrayRef) -> Option<Vec<i128>> {
    if column.null_count() > 0 {
        return None;
    }
    match column.data_type() {
        DataType::Int8 => scaled::<Int8Type>(column.as_primitive(), 0),
        DataType::Int16 => scaled::<Int16Type>(column.as_primitive(), 0),
        DataType::Int32 => scaled::<Int32Type>(column.as_primitive(), 0),
        DataType::Int64 => scaled::<Int64Type>(column.as_primitive(), 0),
        DataType::Decimal32(_, scale) => scaled::<Decimal32Type>(column.as_primitive(), *scale),
        DataType::Decimal64(_, scale) => scaled::<Decimal64Type>(column.as_primitive(), *scale),
        DataType::Decimal128(_, scale) => scaled::<Decimal128Type>(column.as_primitive(), *scale),
        _ => None,
    }
}

fn scaled<T: ArrowPrimitiveType<Native: Into<i128>>>(
    numbers: &PrimitiveArray<T>,
    scale: i8,
) -> Option<Vec<i128>> {
    let places = MAX_SCALE.checked_sub(scale.try_into().ok()?)?;
    let factor = 10_i128.pow(places);
    let numbers = numbers.values().iter();
    let scaled = |number: &T::Native| {
        (*number)
            .into()
            .checked_mul(factor)
            .filter(|number| fits(*number))
    };
    numbers.map(scaled).collect()
}
