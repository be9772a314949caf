//! Keys out of tables, and matching rows back out of them: `cargo bench -p psijoin-table`.
//!
//! Tables are generated in a temporary folder. Behind `--`, in any order: `rows=10000000`,
//! `threads=2`, `repeat=5`, and the names of the tables, as `csv` or `parquet-plain`; without
//! names, all of them. `frame` is in memory, in one batch with views, as a data frame of polars has
//! it; its rows stay in memory when they are written. Beside `csv`, the crates `csv` and
//! `arrow-csv` read the column of the key, on one thread, and the same hashing makes keys of it.
//! The fastest of the repeated passes is printed. Half of the keys match when rows are written, in
//! the table's order and in the one that both parties have in common.

#![allow(clippy::print_stdout)]

use std::{
    env,
    fs::{self, File},
    io::{self, BufWriter, Write},
    iter,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use arrow_array::{
    ArrayRef, Date32Array, Int64Array, RecordBatch, StringArray, StringViewArray,
    builder::{ArrayBuilder, StringBuilder},
    cast::AsArray,
};
use arrow_select::concat::concat_batches;
use parquet::{arrow::ArrowWriter, basic::Compression, file::properties::WriterProperties};
use psijoin_files::spill::Spill;
use psijoin_runtime::parallel::Pool;
use psijoin_source::{Dialect, Progress, Source};
use psijoin_table::{Destination, Error, Existing, KeySpec, SharedKeys, TableKeys};

/// The number of keys of a table whose keys fit into the dictionary of a row group.
const FEW_KEYS: usize = 20_000;
const BATCH_ROWS: usize = 1 << 16;

/// A table's name, the ending of its file, and what writes its rows.
type Table = (&'static str, &'static str, fn(&Path, usize));

const TABLES: [Table; 3] = [
    ("csv", "csv", write_csv),
    ("parquet-plain", "parquet", |path, rows| {
        write_parquet(path, rows, usize::MAX, false)
    }),
    ("parquet-dictionary", "parquet", |path, rows| {
        write_parquet(path, rows, FEW_KEYS, true)
    }),
];

const FRAME: &str = "frame";

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let number = |name: &str, default| {
        let value = |word: &String| word.strip_prefix(name)?.strip_prefix('=')?.parse().ok();
        words.iter().find_map(value).unwrap_or(default)
    };
    let (rows, repeat) = (number("rows", 1_000_000), number("repeat", 3));
    let pool = Pool::new(number("threads", 1)).expect("threads");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let is_named = |name: &str| words.iter().any(|word| word == name);
    let names = TABLES.iter().map(|(name, ..)| *name);
    let all = !names.chain([FRAME]).any(is_named);
    println!("{rows} rows, {} threads", pool.threads());
    for (name, ending, write) in TABLES {
        if all || is_named(name) {
            let path = folder.path().join("table").with_extension(ending);
            write(&path, rows);
            let progress = Progress::default();
            let source = Source::open(&path, None, &Dialect::default(), true, &progress);
            let source = source.expect("a table");
            let output = folder.path().join("output").with_extension(ending);
            let destination = || Destination::prepare(Some(&output), &source, Existing::Replace);
            pool.run(|| measure(name, &source, &destination, repeat));
            if ending == "csv" {
                pool.run(|| measure_peers(&path, source.bytes(), repeat));
            }
            fs::remove_file(path).expect("it was written");
        }
    }
    if all || is_named(FRAME) {
        let batch = frame(rows);
        let source = Source::of_batches(FRAME, batch.schema(), vec![batch]).expect("a table");
        let destination = || Destination::in_memory(&source);
        pool.run(|| measure(FRAME, &source, &destination, repeat));
    }
}

fn measure(
    name: &str,
    source: &Source,
    destination: &(dyn Fn() -> Result<Destination, Error> + Sync),
    repeat: usize,
) {
    let progress = Progress::default();
    let spill = &Spill::in_memory();
    let (read, keys) = fastest(repeat, || gathered(source, spill, &progress));
    let (bytes, rows) = (source.bytes(), keys.counts().rows);
    print(name, "reading", rows, bytes, read);

    let items = keys.gathered().expect("all of them");
    let half = || SharedKeys::InMemory {
        first_rows: items.first_rows.iter().step_by(2).copied().collect(),
        payloads: Vec::new(),
    };
    let (written, _) = fastest(repeat, || {
        let destination = destination().expect("rows can be written");
        let rows = keys.matching(half()).expect("rows");
        let staged = destination.stage_rows(source, &rows, &progress);
        staged.expect("rows").commit().expect("rows")
    });
    print(name, "writing half", rows, bytes, written);

    let (written, _) = fastest(repeat, || {
        let aligned = keys.aligned(half(), None, &[7; 32], spill);
        let (rows, _) = aligned.expect("rows");
        let destination = destination().and_then(Destination::aligning);
        let destination = destination.expect("rows can be written");
        let staged = destination.stage_aligned(source, &rows, None, spill, &progress);
        staged.expect("rows").commit().expect("rows")
    });
    print(name, "aligning half", rows, bytes, written);
}

/// Reads the keys of a table, and gathers them.
fn gathered(source: &Source, spill: &Spill, progress: &Progress) -> TableKeys {
    let mut keys = TableKeys::read(source, &key(), &[], spill, progress).expect("keys");
    keys.gather().expect("keys");
    keys
}

/// Takes the key's column of a CSV file into memory.
type Reader = fn(&Path) -> Vec<RecordBatch>;

/// The column of the key.
const KEY: &str = "email";

/// Measures how other readers fare with a CSV file, if the keys are then read from memory.
fn measure_peers(path: &Path, bytes: u64, repeat: usize) {
    let peers: [(&str, Reader); 2] = [("csv crate", by_csv), ("arrow-csv crate", by_arrow_csv)];
    for (name, read) in peers {
        let progress = Progress::default();
        let (time, keys) = fastest(repeat, || {
            let batches = read(path);
            let source = Source::of_batches(name, batches[0].schema(), batches).expect("a table");
            gathered(&source, &Spill::in_memory(), &progress)
        });
        print(name, "reading", keys.counts().rows, bytes, time);
    }
}

fn by_csv(path: &Path) -> Vec<RecordBatch> {
    let mut reader = csv::Reader::from_path(path).expect("a table");
    let place = reader
        .headers()
        .expect("a header")
        .iter()
        .position(|name| name == KEY);
    let place = place.expect("the key's column");
    let mut record = csv::StringRecord::new();
    let mut next = || {
        let mut fields = StringBuilder::new();
        while fields.len() < BATCH_ROWS && reader.read_record(&mut record).expect("a record") {
            fields.append_value(&record[place]);
        }
        (fields.len() > 0).then(|| {
            let fields: ArrayRef = Arc::new(fields.finish());
            RecordBatch::try_from_iter([(KEY, fields)]).expect("one column")
        })
    };
    iter::from_fn(&mut next).collect()
}

fn by_arrow_csv(path: &Path) -> Vec<RecordBatch> {
    let schema = batch(0..0, 1).schema();
    let reader = arrow_csv::ReaderBuilder::new(schema.clone())
        .with_header(true)
        .with_batch_size(BATCH_ROWS)
        .with_projection(vec![schema.index_of(KEY).expect("the key's column")])
        .build(File::open(path).expect("a table"))
        .expect("a table");
    reader.collect::<Result<_, _>>().expect("records")
}

fn key() -> KeySpec {
    KeySpec::new(vec![KEY.to_owned()], vec![]).expect("a key")
}

/// Of both passes the rate is that of the rows and bytes of the input.
fn print(name: &str, pass: &str, rows: u64, bytes: u64, time: Duration) {
    let per_second = |count: u64| count as f64 / time.as_secs_f64() / 1e6;
    println!(
        "{name:<20} {pass:<13} {:>8.3} s {:>8.1} MB/s {:>8.2} million rows/s",
        time.as_secs_f64(),
        per_second(bytes),
        per_second(rows),
    );
}

fn fastest<T>(repeat: usize, pass: impl Fn() -> T) -> (Duration, T) {
    let timed = || {
        let start = Instant::now();
        let result = pass();
        (start.elapsed(), result)
    };
    let runs = (0..repeat.max(1)).map(|_| timed());
    runs.min_by_key(|(time, _)| *time)
        .expect("one run at least")
}

/// The customer in a row: about 76 bytes of CSV.
struct Customer {
    id: i64,
    email: String,
    name: String,
    since: i32,
    points: i64,
    city: &'static str,
}

impl Customer {
    fn new(row: usize, keys: usize) -> Self {
        // Odd, so that all numbers below 2^32 come once, in no order.
        let number = ((row % keys) as u32).wrapping_mul(0x9e37_79b1);
        let [first, last] = [number % 7, number % 11].map(|i| i as usize);
        Self {
            id: row as i64 + 1_000_000,
            email: format!(
                "{number:08x}.{}@example.org",
                LAST_NAMES[last].to_lowercase()
            ),
            name: format!("{} {}", FIRST_NAMES[first], LAST_NAMES[last]),
            since: 10_000 + (number % 9_000) as i32,
            points: number.into(),
            city: CITIES[(number % 5) as usize],
        }
    }
}

const FIRST_NAMES: [&str; 7] = [
    "Ada", "Barbara", "Edsger", "Grace", "Niklaus", "Radia", "Tony",
];
const LAST_NAMES: [&str; 11] = [
    "Dijkstra", "Hamilton", "Hoare", "Hopper", "Knuth", "Lamport", "Liskov", "Lovelace", "Perlman",
    "Rivest", "Wirth",
];
const CITIES: [&str; 5] = ["Amsterdam", "Copenhagen", "Oslo", "Zürich", "Wien"];

fn write_csv(path: &Path, rows: usize) {
    let write = || -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "id,email,name,since,points,city")?;
        for customer in (0..rows).map(|row| Customer::new(row, usize::MAX)) {
            let Customer {
                id,
                email,
                name,
                since,
                points,
                city,
            } = customer;
            writeln!(file, "{id},{email},{name},{since},{points},{city}")?;
        }
        file.flush()
    };
    write().expect("room for a table");
}

/// `keys` tells after how many rows the keys come again.
fn write_parquet(path: &Path, rows: usize, keys: usize, dictionaries: bool) {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(dictionaries)
        .build();
    let file = File::create(path).expect("room for a table");
    let schema = batch(0..0, keys).schema();
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).expect("a writer");
    for first in (0..rows).step_by(BATCH_ROWS) {
        let batch = batch(first..rows.min(first + BATCH_ROWS), keys);
        writer.write(&batch).expect("room for a table");
    }
    writer.close().expect("room for a table");
}

fn frame(rows: usize) -> RecordBatch {
    let batches = (0..rows).step_by(BATCH_ROWS).map(|first| {
        let batch = batch(first..rows.min(first + BATCH_ROWS), usize::MAX);
        let names = batch.schema();
        let names = names.fields().iter().map(|field| field.name().clone());
        let columns = batch
            .columns()
            .iter()
            .map(|column| match column.as_string_opt::<i32>() {
                Some(texts) => Arc::new(StringViewArray::from(texts)) as ArrayRef,
                None => column.clone(),
            });
        RecordBatch::try_from_iter(names.zip(columns)).expect("columns of one length")
    });
    let batches: Vec<RecordBatch> = batches.collect();
    concat_batches(&batches[0].schema(), &batches).expect("columns of one type")
}

fn batch(rows: std::ops::Range<usize>, keys: usize) -> RecordBatch {
    let customers: Vec<_> = rows.map(|row| Customer::new(row, keys)).collect();
    let all = customers.iter();
    let ids: Int64Array = all.clone().map(|customer| Some(customer.id)).collect();
    let emails: StringArray = all.clone().map(|customer| Some(&customer.email)).collect();
    let names: StringArray = all.clone().map(|customer| Some(&customer.name)).collect();
    let since: Date32Array = all.clone().map(|customer| Some(customer.since)).collect();
    let points: Int64Array = all.clone().map(|customer| Some(customer.points)).collect();
    let cities: StringArray = all.map(|customer| Some(customer.city)).collect();
    RecordBatch::try_from_iter([
        ("id", Arc::new(ids) as ArrayRef),
        ("email", Arc::new(emails)),
        ("name", Arc::new(names)),
        ("since", Arc::new(since)),
        ("points", Arc::new(points)),
        ("city", Arc::new(cities)),
    ])
    .expect("columns of one length")
}
