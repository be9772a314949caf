//! The distinct keys of a portion, and of several, as Arrow data.

use std::{ops::Range, sync::Arc};

use arrow_array::{
    Array, ArrayRef, Decimal128Array, FixedSizeBinaryArray, LargeBinaryArray, PrimitiveArray,
    RecordBatch,
    cast::AsArray,
    types::{
        ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Int8Type, Int16Type,
        Int32Type, Int64Type,
    },
};
use arrow_buffer::Buffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use psijoin_source::{MAX_SCALE, NumberFault};

use super::{
    binary::each_value,
    fault::PortionFault,
    labels::{self, HASHES_BYTES, LABELS, LabelHashes},
    rows::{GIVEN, KeyRows},
};
use crate::{Error, Items, TableKeys};

/// The column of keys.
pub const KEY: &str = "key";

/// The digits of a number of a key, of which [`MAX_SCALE`] are behind the point: any number of any
/// column fits.
const DIGITS: u8 = 38;

/// The rows of a batch.
const BATCH: usize = 1 << 16;

/// About how many bytes the rows that are given take in a batch.
const BATCH_BYTES: usize = 1 << 26;

/// Distinct keys, each with a number for each of some columns, with its labels if it has some, and
/// with its rows if they are given.
///
/// As Arrow data it has a column [`KEY`] of fingerprints, and a column for each column of numbers,
/// of decimals with 18 places. So numbers of several portions can be added by whoever has them,
/// whatever their own decimals are. Hashes of labels are in a column [`LABELS`], and the
/// [rows](KeyRows) in a column [`GIVEN`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortionKeys {
    /// The fingerprints.
    pub fingerprints: Vec<[u8; 32]>,
    /// The numbers of each column: multiples of 10^-18.
    numbers: Vec<Vec<i128>>,
    /// The hashes of the labels of each, if there are columns of labels.
    pub(super) labels: Option<Vec<LabelHashes>>,
    /// The rows of each, if columns are given.
    pub rows: Option<KeyRows>,
}

impl PortionKeys {
    /// Takes them out of a table that was read.
    pub(super) fn taken_from(keys: TableKeys) -> Result<Self, Error> {
        let scales: Vec<u32> = keys.numbers().iter().map(|numbers| numbers.scale).collect();
        let mut all = Self {
            fingerprints: Vec::with_capacity(keys.counts().distinct as usize),
            numbers: vec![Vec::new(); scales.len()],
            labels: (!keys.labels().is_empty()).then(Vec::new),
            rows: None,
        };
        for partition in 0..keys.partitions() {
            let Items {
                fingerprints,
                numbers,
                ..
            } = keys.take_items(partition)?;
            all.fingerprints.extend(fingerprints);
            // They stand behind the numbers.
            if let (Some(all), Some(places)) = (&mut all.labels, numbers.get(scales.len())) {
                all.extend(labels::hashes_of_places(keys.labels(), places));
            }
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
            labels: None,
            rows: None,
        })
    }

    /// As [`Self::of_batch`], with the labels of keys, and with their rows, if the batch has them.
    ///
    /// # Errors
    /// As that, [`PortionFault::Labels`], and [`PortionFault::Given`].
    pub fn whole_of_batch(batch: &RecordBatch, columns: &[String]) -> Result<Self, Error> {
        let has = |name| has_beside(batch.schema_ref(), name, columns);
        let labels = has(LABELS).then(|| labels::of_batch(batch)).transpose()?;
        let rows = has(GIVEN).then(|| KeyRows::of_batch(batch)).transpose()?;
        Ok(Self {
            labels,
            rows,
            ..Self::of_batch(batch, columns)?
        })
    }

    /// Returns no keys, with this number of columns.
    pub fn none(columns: usize) -> Self {
        Self {
            fingerprints: Vec::new(),
            numbers: vec![Vec::new(); columns],
            labels: None,
            rows: None,
        }
    }

    /// Returns no keys, with numbers in columns of these names, and with labels and rows if batches
    /// of this schema have them.
    pub fn none_of(schema: &Schema, columns: &[String]) -> Self {
        Self {
            labels: has_beside(schema, LABELS, columns).then(Vec::new),
            rows: has_beside(schema, GIVEN, columns).then(KeyRows::default),
            ..Self::none(columns.len())
        }
    }

    /// Adds further keys, some of which may be here already.
    ///
    /// # Errors
    /// [`PortionFault::OtherGiven`] if only these or those have rows, and
    /// [`PortionFault::OtherLabels`] if only these or those have labels.
    ///
    /// # Panics
    /// If they have another number of columns.
    pub fn extend(&mut self, more: Self) -> Result<(), Error> {
        assert_eq!(self.numbers.len(), more.numbers.len(), "as many columns");
        match (&mut self.rows, &more.rows) {
            (Some(rows), Some(more)) => rows.extend(more),
            (None, None) => {}
            _ => return Err(PortionFault::OtherGiven.into()),
        }
        match (&mut self.labels, more.labels) {
            (Some(labels), Some(more)) => labels.extend(more),
            (None, None) => {}
            _ => return Err(PortionFault::OtherLabels.into()),
        }
        self.fingerprints.extend(more.fingerprints);
        for (numbers, more) in self.numbers.iter_mut().zip(more.numbers) {
            numbers.extend(more);
        }
        Ok(())
    }

    /// Makes one of keys that are equal, which must have equal labels, adds up their numbers, and
    /// joins their rows. Keys are in ascending order then, and rows in that in which their keys
    /// were.
    ///
    /// # Errors
    /// [`PortionFault::Overflow`] of one of these columns; [`PortionFault::UnlikeLabels`];
    /// [`ShareError::TooManyRepeated`]; [`PortionFault::Given`] and [`PortionFault::OtherGiven`].
    ///
    /// [`ShareError::TooManyRepeated`]: crate::ShareError::TooManyRepeated
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
        let rows = self.rows.as_ref().map(|rows| {
            let mut merged = KeyRows::default();
            runs().try_for_each(|run| merged.add_merged(rows, run))?;
            Ok::<_, Error>(merged)
        });
        let labels = self.labels.as_ref().map(|labels| {
            let of_keys = runs().map(|run| labels::one_of(run.iter().map(|place| labels[*place])));
            let of_keys: Vec<Option<LabelHashes>> = of_keys.collect();
            match of_keys.iter().filter(|of_key| of_key.is_none()).count() as u64 {
                0 => Ok(of_keys.into_iter().flatten().collect()),
                keys => Err(PortionFault::UnlikeLabels { keys }),
            }
        });
        Ok(Self {
            numbers: numbers.collect::<Result<_, Error>>()?,
            labels: labels.transpose()?,
            fingerprints: runs().map(|run| self.fingerprints[run[0]]).collect(),
            rows: rows.transpose()?,
        })
    }

    /// Returns the places of all keys, in the order of keys. Equal ones stay in theirs.
    fn order(&self) -> Vec<usize> {
        // Hardly ever do two keys that differ begin alike: so other memory is seldom looked at.
        let first = |key: &[u8; 32]| u64::from_be_bytes(key[..8].try_into().expect("8 bytes"));
        let mut order: Vec<_> = self.fingerprints.iter().map(first).zip(0..).collect();
        order.sort_unstable_by(|(first, place), (other, there)| {
            let whole = || self.fingerprints[*place].cmp(&self.fingerprints[*there]);
            first.cmp(other).then_with(whole).then(place.cmp(there))
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
        let rows = self.rows.as_ref();
        let given = rows.map(|_| Field::new(GIVEN, DataType::LargeBinary, false));
        let labels = self.labels.as_ref();
        let hashes = DataType::FixedSizeBinary(HASHES_BYTES);
        let labelled = labels.map(|_| Field::new(LABELS, hashes, false));
        let schema = Arc::new(Schema::new(
            [key]
                .into_iter()
                .chain(numbers)
                .chain(labelled)
                .chain(given)
                .collect::<Vec<_>>(),
        ));
        let batch = |range: Range<usize>| {
            let keys = fingerprints_array(&self.fingerprints[range.clone()]);
            let numbers = self.numbers.iter().map(|numbers| -> ArrayRef {
                let numbers = Decimal128Array::from(numbers[range.clone()].to_vec());
                Arc::new(numbers.with_data_type(number.clone()))
            });
            let given = rows.map(|rows| -> ArrayRef {
                let cells = range.clone().map(|key| rows.cell(key));
                Arc::new(LargeBinaryArray::from_iter_values(cells))
            });
            let labels = labels.map(|labels| labels::to_array(&labels[range.clone()]));
            let beside = numbers.chain(labels).chain(given);
            let arrays = [keys].into_iter().chain(beside).collect();
            RecordBatch::try_new(schema.clone(), arrays).expect("columns of the schema")
        };
        let batches = self.cut().into_iter().map(batch);
        let batches = batches.collect();
        (schema, batches)
    }

    /// Returns the keys of each batch.
    fn cut(&self) -> Vec<Range<usize>> {
        let (mut cut, mut start, mut bytes) = (Vec::new(), 0, 0);
        for end in 1..=self.fingerprints.len() {
            bytes += self
                .rows
                .as_ref()
                .map_or(0, |rows| rows.cell(end - 1).len());
            let is_full = end - start == BATCH || bytes >= BATCH_BYTES;
            if is_full || end == self.fingerprints.len() {
                cut.push(start..end);
                (start, bytes) = (end, 0);
            }
        }
        cut
    }
}

/// Keys without numbers.
impl From<Vec<[u8; 32]>> for PortionKeys {
    fn from(fingerprints: Vec<[u8; 32]>) -> Self {
        Self {
            fingerprints,
            numbers: Vec::new(),
            labels: None,
            rows: None,
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

/// Returns whether there is a column of labels or rows that is called so, and not one of numbers
/// that has its name.
fn has_beside(schema: &Schema, column: &str, numbers: &[String]) -> bool {
    schema.column_with_name(column).is_some() && !numbers.iter().any(|name| name == column)
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
    let mut fingerprints = Vec::with_capacity(column.len());
    each_value(column, &mut |value| {
        fingerprints.push(value.try_into().ok()?);
        Some(())
    })?;
    Some(fingerprints)
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
