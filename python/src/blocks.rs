//! Blocks: many keys in one value of an engine, which has little to do per key then, and sees
//! nothing of them. A block is Arrow's stream of one batch, sealed for the place where it belongs.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, Int32Array, RecordBatch, RecordBatchReader, UInt32Array};
use arrow_ipc::{reader::StreamReader, writer::StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use arrow_select::{concat::concat_batches, take::take_record_batch};
use psijoin_table::portions::{KEY, PortionKeys};
use pyo3::prelude::*;

use crate::{
    frames::{self, Reader, Rows},
    lanes::Router,
    options::usage,
    sealing::{KEY_BYTES, Sealing, other},
    veil::Veil,
};

/// The most rows of a block: one to two megabytes. Engines hold many blocks in memory at a time.
const MOST_ROWS: usize = 1 << 15;

/// The rows that are brought into order together: as many as the caches hold, but more if the
/// blocks would be very small.
const ROWS_AT_ONCE: std::ops::RangeInclusive<usize> = 1 << 18..=1 << 21;

/// The most bytes of the rows of a block, unless one of them is longer.
const MOST_BYTES: usize = 1 << 22;

/// The bytes of rows that are brought into order together, however few they are.
const BYTES_AT_ONCE: usize = 1 << 27;

/// The rows of a block that is not very small.
const FEW_ROWS: usize = 1 << 12;

/// The bytes of blocks that make a batch.
const BATCH_BYTES: usize = 1 << 22;

/// Brings keys into blocks of one bucket each: equal keys have the same bucket, below `count`.
/// Returns the columns `number`, `rows` and `block`.
#[pyfunction]
pub(crate) fn seal_in_buckets(
    py: Python<'_>,
    sealing: [u8; KEY_BYTES],
    veil: [u8; 16],
    keys: &Bound<'_, PyAny>,
    count: u32,
) -> PyResult<Rows> {
    let (rows, _) = frames::rows(keys, "the keys")?;
    let veil = Veil::new(veil);
    let bucket = |keys: &PortionKeys| veil.buckets(&keys.fingerprints, count);
    sealed(py, &sealing, ("bucket", count), rows, &bucket)
}

/// Brings keys into blocks of one part each. Returns the columns `number`, `rows` and `block`.
#[pyfunction]
pub(crate) fn seal_in_parts(
    py: Python<'_>,
    sealing: [u8; KEY_BYTES],
    router: &Bound<'_, PyAny>,
    keys: &Bound<'_, PyAny>,
) -> PyResult<Rows> {
    let (rows, _) = frames::rows(keys, "the keys")?;
    let router = Router::given(router)?;
    let part = |keys: &PortionKeys| {
        let parts = router.place(&keys.fingerprints).into_iter();
        parts.map(u32::from).collect()
    };
    sealed(py, &sealing, ("part", router.parts()), rows, &part)
}

/// Brings rows into blocks that all have this label. Returns the columns `number`, which is 0,
/// `rows` and `block`.
#[pyfunction]
pub(crate) fn seal_rows(
    py: Python<'_>,
    sealing: [u8; KEY_BYTES],
    label: &str,
    rows: &Bound<'_, PyAny>,
) -> PyResult<Rows> {
    let (rows, _) = frames::rows(rows, "the rows")?;
    py.detach(|| {
        let mut blocks = Blocks::new(&sealing);
        for batch in rows {
            blocks.add(label, 0, &batch?)?;
        }
        blocks.finish()
    })
    .map_err(unreadable)
}

/// Opens a block that was sealed with this label, or with that and a number. Raises `ValueError` if
/// it was not.
#[pyfunction]
pub(crate) fn open_rows(
    py: Python<'_>,
    sealing: [u8; KEY_BYTES],
    label: &str,
    block: &[u8],
) -> PyResult<Rows> {
    let opened = py.detach(|| {
        let text = Sealing::new(&sealing).open(label, block)?;
        let stream = StreamReader::try_new(&*text, None).ok()?;
        let schema = stream.schema();
        let batches = stream.collect::<Result<_, _>>().ok()?;
        Some(Rows::new(schema, batches))
    });
    opened.ok_or_else(other)
}

/// Seals rows under labels of their numbers, which a function tells of their keys, below `count`.
fn sealed(
    py: Python<'_>,
    sealing: &[u8; KEY_BYTES],
    (label, count): (&str, u32),
    rows: Reader,
    numbers: &(dyn Fn(&PortionKeys) -> Vec<u32> + Sync),
) -> PyResult<Rows> {
    let done = py.detach(|| {
        let mut blocks = Blocks::new(sealing);
        let least = (count as usize * FEW_ROWS).clamp(*ROWS_AT_ONCE.start(), *ROWS_AT_ONCE.end());
        for rows in at_least(rows, least) {
            let rows = rows?;
            let keys = PortionKeys::of_batch(&rows, &[]);
            let keys = keys.map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
            let (order, ends) = order(&numbers(&keys), count as usize);
            let ordered = take_record_batch(&rows, &order)?;
            let mut start = 0;
            for (number, end) in ends.into_iter().enumerate() {
                let place = format!("{label} {number}");
                blocks.add(&place, number as i32, &ordered.slice(start, end - start))?;
                start = end;
            }
        }
        blocks.finish()
    });
    done.map_err(unreadable)
}

/// Puts batches together until they have at least so many rows, or bytes enough.
fn at_least(
    mut rows: Reader,
    least: usize,
) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> {
    let schema = rows.schema();
    std::iter::from_fn(move || {
        let (mut batches, mut found, mut bytes) = (Vec::new(), 0, 0);
        while found < least && bytes < BYTES_AT_ONCE {
            match rows.next() {
                Some(Ok(batch)) => {
                    found += batch.num_rows();
                    bytes += bytes_of(&batch);
                    batches.push(batch);
                }
                Some(Err(error)) => return Some(Err(error)),
                None => break,
            }
        }
        (found > 0).then(|| concat_batches(&schema, &batches))
    })
}

/// Returns the bytes of a batch, which may be a slice of a larger one.
fn bytes_of(batch: &RecordBatch) -> usize {
    let columns = batch.columns().iter().map(|column| column.to_data());
    let bytes = columns.map(|column| column.get_slice_memory_size().unwrap_or_default());
    bytes.sum()
}

/// Cuts rows into pieces of a size for blocks.
fn pieces(rows: &RecordBatch) -> Vec<RecordBatch> {
    let count = rows.num_rows();
    if count <= 1 || count <= MOST_ROWS && bytes_of(rows) <= MOST_BYTES {
        return Vec::from_iter((count > 0).then(|| rows.clone()));
    }
    let cut = match count > MOST_ROWS {
        true => MOST_ROWS,
        false => count / 2,
    };
    let (first, rest) = (rows.slice(0, cut), rows.slice(cut, count - cut));
    [pieces(&first), pieces(&rest)].concat()
}

/// Returns the places of all numbers, in the order of numbers, and where each number ends there.
fn order(numbers: &[u32], count: usize) -> (UInt32Array, Vec<usize>) {
    let mut ends = vec![0; count];
    for number in numbers {
        ends[*number as usize] += 1;
    }
    let mut before = 0;
    for end in &mut ends {
        before += std::mem::replace(end, before);
    }
    let mut order = vec![0; numbers.len()];
    for (place, number) in (0..).zip(numbers) {
        let end = &mut ends[*number as usize];
        order[*end] = place;
        *end += 1;
    }
    (order.into(), ends)
}

/// Blocks that are being made.
struct Blocks {
    sealing: Sealing,
    numbers: Vec<i32>,
    rows: Vec<i32>,
    blocks: Vec<Vec<u8>>,
    bytes: usize,
    batches: Vec<RecordBatch>,
}

impl Blocks {
    fn new(sealing: &[u8; KEY_BYTES]) -> Self {
        Self {
            sealing: Sealing::new(sealing),
            numbers: Vec::new(),
            rows: Vec::new(),
            blocks: Vec::new(),
            bytes: 0,
            batches: Vec::new(),
        }
    }

    /// Seals rows of a number under a label.
    fn add(&mut self, label: &str, number: i32, rows: &RecordBatch) -> Result<(), ArrowError> {
        for some in pieces(rows) {
            let mut stream = StreamWriter::try_new(Vec::new(), &some.schema())?;
            stream.write(&some)?;
            let block = self.sealing.seal(label, &stream.into_inner()?);
            self.numbers.push(number);
            self.rows.push(some.num_rows() as i32);
            self.bytes += block.len();
            self.blocks.push(block);
            if self.bytes >= BATCH_BYTES {
                self.end_batch()?;
            }
        }
        Ok(())
    }

    fn end_batch(&mut self) -> Result<(), ArrowError> {
        let blocks = std::mem::take(&mut self.blocks);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int32Array::from(std::mem::take(&mut self.numbers))),
            Arc::new(Int32Array::from(std::mem::take(&mut self.rows))),
            Arc::new(BinaryArray::from_iter_values(blocks)),
        ];
        let batch = RecordBatch::try_new(Self::schema(), columns)?;
        self.bytes = 0;
        self.batches.push(batch);
        Ok(())
    }

    fn schema() -> Arc<Schema> {
        let number = |name| Field::new(name, DataType::Int32, false);
        let block = Field::new("block", DataType::Binary, false);
        Arc::new(Schema::new(vec![number("number"), number("rows"), block]))
    }

    fn finish(mut self) -> Result<Rows, ArrowError> {
        if !self.blocks.is_empty() {
            self.end_batch()?;
        }
        Ok(Rows::new(Self::schema(), self.batches))
    }
}

/// Keys come from this package: whoever calls this has not got them there.
fn unreadable(_: ArrowError) -> PyErr {
    usage(format!(
        "these are no keys of psijoin.lanes, in a column `{KEY}`"
    ))
}
