//! Timestamps of 96 bits, as Spark, Impala and Hive have written them: a day, and nanoseconds of
//! it. Arrow's have 64 bits, and a unit that a column has in common. The reader of the library
//! wraps what does not fit, and cuts what the unit has no room for, so the values are looked at
//! before the unit is chosen.

use std::{collections::BTreeMap, sync::Arc};

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::{
    basic::Type,
    column::reader::{ColumnReader, get_column_reader},
    data_type::Int96,
    errors::ParquetError,
    file::{metadata::ParquetMetaData, serialized_reader::SerializedPageReader},
};

use psijoin_key::panics;

use crate::source::section::Section;

/// Values that are looked at at once.
const BATCH_ROWS: usize = 1 << 13;

const JULIAN_DAY_OF_EPOCH: i128 = 2_440_588;
const NANOSECONDS_OF_A_DAY: i128 = 86_400_000_000_000;

/// The units of timestamps in which all values of a column are exact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExactUnits([bool; 4]);

const UNITS: [(TimeUnit, i128); 4] = [
    (TimeUnit::Second, 1_000_000_000),
    (TimeUnit::Millisecond, 1_000_000),
    (TimeUnit::Microsecond, 1_000),
    (TimeUnit::Nanosecond, 1),
];

impl ExactUnits {
    fn has(self, unit: TimeUnit) -> bool {
        let mut units = UNITS.iter().zip(self.0);
        units.any(|((known, _), is_exact)| *known == unit && is_exact)
    }

    fn see(&mut self, value: &Int96) {
        let [low, high, day] = *value.data() else {
            unreachable!("three words of 32 bits");
        };
        // As the library's reader takes them.
        let day = i128::from(day as i32) - JULIAN_DAY_OF_EPOCH;
        let of_day = i128::from((i64::from(high) << 32) + i64::from(low));
        let nanoseconds = day * NANOSECONDS_OF_A_DAY + of_day;
        for ((_, length), is_exact) in UNITS.iter().zip(&mut self.0) {
            *is_exact &= nanoseconds % length == 0 && i64::try_from(nanoseconds / length).is_ok();
        }
    }
}

/// Of each column of such timestamps, by the number of its leaf: the exact units.
pub(crate) type Found = BTreeMap<usize, ExactUnits>;

/// Looks at all values of such columns. One that cannot be read is left to whoever needs it.
pub(super) fn find(section: &Section, file: &ParquetMetaData) -> Found {
    let leaves = file.file_metadata().schema_descr().columns().iter();
    let leaves = leaves.enumerate();
    leaves
        .filter(|(_, leaf)| leaf.physical_type() == Type::INT96)
        .map(|(leaf, _)| {
            let read = panics::contained(|| exact_units(section, file, leaf));
            (
                leaf,
                read.and_then(Result::ok).unwrap_or(ExactUnits([true; 4])),
            )
        })
        .collect()
}

fn exact_units(
    section: &Section,
    file: &ParquetMetaData,
    leaf: usize,
) -> Result<ExactUnits, ParquetError> {
    let section = Arc::new(section.clone());
    let mut units = ExactUnits([true; 4]);
    for group in file.row_groups() {
        let chunk = group.column(leaf);
        let rows = group.num_rows().max(0) as usize;
        let pages = SerializedPageReader::new(section.clone(), chunk, rows, None)?;
        let reader = get_column_reader(chunk.column_descr_ptr(), Box::new(pages));
        let ColumnReader::Int96ColumnReader(mut reader) = reader else {
            continue;
        };
        let (mut nulls, mut lists, mut values) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            nulls.clear();
            lists.clear();
            values.clear();
            let (records, ..) =
                reader.read_records(BATCH_ROWS, Some(&mut nulls), Some(&mut lists), &mut values)?;
            values.iter().for_each(|value| units.see(value));
            if records == 0 {
                break;
            }
        }
    }
    Ok(units)
}

/// Returns the columns, with a unit for each that holds all of its values: the one that the schema
/// `told`, if it did; else microseconds, as Spark has them, before nanoseconds. Adds to `beyond`
/// the top-level columns for which there is none.
pub(super) fn with_units(
    schema: &SchemaRef,
    found: &Found,
    is_told: bool,
    beyond: &mut Vec<usize>,
) -> SchemaRef {
    let mut chosen = Chosen {
        found,
        is_told,
        leaf: 0,
        is_beyond: false,
    };
    let fields = schema.fields().iter().enumerate().map(|(index, field)| {
        chosen.is_beyond = false;
        let field = chosen.field(field);
        if chosen.is_beyond {
            beyond.push(index);
        }
        field
    });
    let fields: Vec<Field> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// A walk over the leaves of columns.
struct Chosen<'a> {
    found: &'a Found,
    is_told: bool,
    leaf: usize,
    is_beyond: bool,
}

impl Chosen<'_> {
    fn field(&mut self, field: &Field) -> Field {
        let data_type = self.data_type(field.data_type());
        field.clone().with_data_type(data_type)
    }

    fn data_type(&mut self, data_type: &DataType) -> DataType {
        use DataType::*;
        let mut inner = |field: &Arc<Field>| Arc::new(self.field(field));
        match data_type {
            List(items) => List(inner(items)),
            LargeList(items) => LargeList(inner(items)),
            FixedSizeList(items, length) => FixedSizeList(inner(items), *length),
            Map(entries, is_sorted) => Map(inner(entries), *is_sorted),
            Struct(fields) => Struct(fields.iter().map(inner).collect()),
            leaf => {
                self.leaf += 1;
                match (leaf, self.found.get(&(self.leaf - 1))) {
                    (Timestamp(unit, zone), Some(exact)) => {
                        Timestamp(self.unit(*unit, *exact), zone.clone())
                    }
                    _ => leaf.clone(),
                }
            }
        }
    }

    fn unit(&mut self, told: TimeUnit, exact: ExactUnits) -> TimeUnit {
        let others = [TimeUnit::Microsecond, TimeUnit::Nanosecond];
        let told_first = self.is_told.then_some(told).into_iter().chain(others);
        let fits = told_first.into_iter().find(|unit| exact.has(*unit));
        self.is_beyond |= fits.is_none();
        fits.unwrap_or(told)
    }
}
