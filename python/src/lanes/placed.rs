//! Keys of rows that a minimum withholds: where they were compared, and which of them are shared.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, RecordBatch, UInt16Array, UInt32Array,
    cast::AsArray,
    types::{Int32Type, Int64Type, UInt16Type, UInt32Type},
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use psijoin::parts::SharedPlaces;
use psijoin_frontend::Failure;
use psijoin_table::portions::PortionKeys;
use pyo3::prelude::*;

use super::{Places, portions::caused, with_one_thread};
use crate::frames::{self, Rows};

/// The columns that tell where a key was compared.
const PART: &str = "part";
const PLACE: &str = "place";

/// Returns the keys of a part, with these places, as Arrow data.
pub(super) fn placed(
    part: u32,
    places: &[u32],
    keys: &PortionKeys,
) -> (SchemaRef, Vec<RecordBatch>) {
    let (of_keys, batches) = keys.to_batches(&[]);
    let part = u16::try_from(part).expect("a number of a part");
    let mut fields = vec![
        Arc::new(Field::new(PART, DataType::UInt16, false)),
        Arc::new(Field::new(PLACE, DataType::UInt32, false)),
    ];
    fields.extend(of_keys.fields().iter().cloned());
    let schema = Arc::new(Schema::new(fields));
    let mut rest = places;
    let batches = batches.into_iter().map(|batch| {
        let (places, after) = rest.split_at(batch.num_rows());
        rest = after;
        let parts = UInt16Array::from(vec![part; places.len()]);
        let places = UInt32Array::from(places.to_vec());
        let mut columns: Vec<ArrayRef> = vec![Arc::new(parts), Arc::new(places)];
        columns.extend_from_slice(batch.columns());
        RecordBatch::try_new(schema.clone(), columns).expect("columns of the schema")
    });
    let batches = batches.collect();
    (schema, batches)
}

/// Returns those of the keys that are shared, as these places tell. Keys may be any values here, as
/// an engine may have veiled them.
#[pyfunction]
pub(crate) fn shared(
    py: Python<'_>,
    places: &Bound<'_, PyAny>,
    kept: &Bound<'_, PyAny>,
) -> PyResult<Rows> {
    let places = Places::given(places)?;
    let (rows, cause) = frames::rows(kept, "the keys")?;
    let found = py.detach(|| {
        with_one_thread(|| {
            let mut found = PortionKeys::none(0);
            for batch in rows {
                let why =
                    "the keys cannot be read: they are no Arrow data, or their iterator has failed";
                let batch = batch.map_err(|_| Failure::Usage(why.to_owned()))?;
                let shared = shared_of(&places, &batch)?;
                found.extend(shared).expect("keys without rows");
            }
            Ok(found)
        })
    });
    let found = found.map_err(|failure| caused(py, failure.into(), &cause))?;
    let (schema, batches) = found.to_batches(&[]);
    Ok(Rows::new(schema, batches))
}

/// Returns the shared keys of a batch.
fn shared_of(places: &[SharedPlaces], batch: &RecordBatch) -> Result<PortionKeys, Failure> {
    let fault = || {
        let why = "these are no keys that lanes of this session gave, with the columns `part`, `place` \
                   and `key`";
        Failure::Usage(why.to_owned())
    };
    let column = |name| {
        batch
            .column_by_name(name)
            .and_then(numbers_of)
            .ok_or_else(fault)
    };
    let (parts, at) = (column(PART)?, column(PLACE)?);
    let keys = PortionKeys::of_batch(batch, &[]);
    let keys = keys.map_err(|error| Failure::Session(error.into()))?;
    let mut found = Vec::new();
    for ((key, part), place) in keys.fingerprints.into_iter().zip(parts).zip(at) {
        let of_part = places.get(part as usize).ok_or_else(fault)?;
        if of_part.has(place).ok_or_else(fault)? {
            found.push(key);
        }
    }
    Ok(PortionKeys::from(found))
}

/// Returns whole numbers, of any type that an engine may have made of them; `None` if there are
/// others.
fn numbers_of(column: &ArrayRef) -> Option<Vec<u32>> {
    fn of<T: ArrowPrimitiveType>(column: &ArrayRef) -> Option<Vec<u32>>
    where
        u32: TryFrom<T::Native>,
    {
        let numbers = column.as_primitive::<T>().values().iter();
        numbers.map(|number| u32::try_from(*number).ok()).collect()
    }
    if column.null_count() > 0 {
        return None;
    }
    match column.data_type() {
        DataType::UInt16 => of::<UInt16Type>(column),
        DataType::UInt32 => of::<UInt32Type>(column),
        DataType::Int32 => of::<Int32Type>(column),
        DataType::Int64 => of::<Int64Type>(column),
        _ => None,
    }
}
