//! Rows in the order that both parties have in common.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    io::{Read, Write},
    num::NonZeroU16,
    path::Path,
    sync::Arc,
};

use arrow_array::{
    cast::AsArray,
    types::{Int8Type, Int32Type, Int64Type},
    *,
};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::{concat::concat_batches, take::take_record_batch};
use parquet::arrow::{
    ArrowWriter,
    arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
};
use proptest::prelude::*;
use psijoin_files::spill::{Budget, Folder, Spill};
use psijoin_runtime::parallel::Pool;
use psijoin_source::{Dialect, ErrorKind, Progress, Source, SourceError};
use psijoin_table::{
    AlignedRows, Destination, Error, Existing, KeySpec, SharedKeys, TableKeys, WhichRows,
    share::{GivenColumns, PayloadLayout, Payloads, RepeatedKeys},
};

use crate::{
    Files, array, assert_contains, held::Keys, key, open, ranges::InRanges, typed_columns,
};

/// The agreement of both parties.
const ORDER: [u8; 32] = [7; 32];

type Fingerprint = [u8; 32];

/// A party's table, once its keys are read.
struct Side {
    source: Source,
    keys: Keys,
    partitions: TableKeys,
    folder: Folder,
}

impl Side {
    /// Reads a table. The excess over the budget lies in the folder.
    fn read(source: Source, key: &KeySpec, budget: u64, folder: &Path) -> Self {
        let progress = Progress::default();
        let folder = Folder::new(folder);
        let spill = Spill::new(Budget::new(budget), folder.clone());
        Self {
            keys: Keys::read(&source, key, &[], &progress).unwrap(),
            partitions: TableKeys::read(&source, key, &[], &spill, &progress).unwrap(),
            source,
            folder,
        }
    }

    fn fingerprints(&self) -> HashSet<Fingerprint> {
        self.keys.fingerprints.iter().copied().collect()
    }

    /// Returns the items that are among these, each with its first row.
    fn shared(&self, theirs: &HashSet<Fingerprint>) -> Vec<(u32, u32)> {
        let first_rows = self.keys.first_rows.iter().copied();
        let items = (0..).zip(first_rows).zip(&self.keys.fingerprints);
        let shared = items.filter(|(_, key)| theirs.contains(*key));
        shared.map(|(item, _)| item).collect()
    }

    /// Returns the first rows of these keys in the order that they are to have, by plain code.
    fn expected(&self, theirs: &HashSet<Fingerprint>) -> Vec<usize> {
        let rank = |(item, row): (u32, u32)| {
            let fingerprint = &self.keys.fingerprints[item as usize];
            let hash = *blake3::keyed_hash(&ORDER, fingerprint).as_bytes();
            let words: [[u8; 8]; 2] = [
                hash[..8].try_into().unwrap(),
                hash[8..16].try_into().unwrap(),
            ];
            (words.map(u64::from_le_bytes), row as usize)
        };
        let mut ranked: Vec<_> = self.shared(theirs).into_iter().map(rank).collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, row)| row).collect()
    }

    /// Writes the shared rows, as keys in partitions and keys in memory find them, which is the
    /// same file.
    fn align(
        &self,
        theirs: &HashSet<Fingerprint>,
        budget: u64,
        output: &Path,
    ) -> Result<u64, Error> {
        let shared = self.shared(theirs);
        let first_rows = shared.iter().map(|(_, row)| *row);
        let items: Vec<u32> = shared.iter().map(|(item, _)| *item).collect();
        let in_memory = self.keys.aligned(&items, &ORDER);
        let bits = InRanges::new(1, first_rows.map(|row| (row, Vec::new())));
        let bits = bits.bits(self.partitions.counts().rows);
        let found = SharedKeys::ByRows {
            first_rows: bits,
            payloads: None,
        };
        let spill = Spill::in_memory();
        let (in_partitions, _) = self.partitions.aligned(found, None, &ORDER, &spill)?;
        let write = |rows| -> Result<_, Error> {
            let rows = self.write(rows, budget, output)?;
            Ok((rows, fs::read(output).unwrap()))
        };
        let (rows, file) = write(&in_memory)?;
        assert_eq!(in_partitions.count(), rows);
        assert!(write(&in_partitions)? == (rows, file));
        Ok(rows)
    }

    fn write(&self, rows: &AlignedRows<'_>, budget: u64, output: &Path) -> Result<u64, Error> {
        let progress = Progress::default();
        let spill = Spill::new(Budget::new(budget), self.folder.clone());
        let rows = Destination::prepare(Some(output), &self.source, Existing::Replace)?
            .aligning()?
            .stage_aligned(&self.source, rows, None, &spill, &progress)?
            .commit()?;
        // All is read, and all is written.
        let bytes = 2 * self.source.bytes();
        assert_eq!(progress.bytes(), (bytes, bytes));
        assert_eq!(spill.budget.used(), 0);
        Ok(rows)
    }
}

/// A row's key of two columns, one of which may be null, and a number.
type Row = (Option<String>, i64, i64);

const FORMATS: [&str; 6] = [
    "t.csv",
    "t.tsv",
    "t.csv.gz",
    "t.parquet",
    "t.arrow",
    "parts",
];

/// Returns the rows as lines of CSV.
fn lines(rows: &[Row]) -> Vec<String> {
    let line = |(word, number, n): &Row| {
        let word = word.as_deref().unwrap_or_default();
        format!("{word},{number},{n}\n")
    };
    rows.iter().map(line).collect()
}

fn batch(rows: &[Row]) -> RecordBatch {
    let words = rows.iter().map(|(word, ..)| word.as_deref());
    let columns = [
        ("word", array(StringArray::from_iter(words)), true),
        (
            "number",
            array(Int64Array::from_iter_values(rows.iter().map(|row| row.1))),
            false,
        ),
        (
            "n",
            array(Int64Array::from_iter_values(rows.iter().map(|row| row.2))),
            false,
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// Writes rows in a format, and opens them.
fn table(files: &Files, side: &str, format: &str, rows: &[Row]) -> Source {
    let name = format!("{side}-{format}");
    let path = files.path(&name);
    let text = format!("word,number,n\n{}", lines(rows).concat());
    let opened = match format {
        "t.csv" => open(&files.text(&name, text)),
        "t.tsv" => open(&files.text(&name, text.replace(',', "\t"))),
        "t.csv.gz" => {
            let file = fs::File::create(&path).unwrap();
            let mut writer = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
            writer.write_all(text.as_bytes()).unwrap();
            writer.finish().unwrap();
            open(&path)
        }
        "t.parquet" => {
            write_parquet(&path, &batch(rows), 50);
            open(&path)
        }
        "t.arrow" => {
            write_arrow(&path, &batch(rows), 30);
            open(&path)
        }
        "parts" => {
            // The first file has no end of its last line.
            let (first, second) = rows.split_at(rows.len() / 2);
            let parts = [("a", first), ("b", second)].map(|(part, rows)| {
                let text = format!("word,number,n\n{}", lines(rows).concat());
                files.text(&format!("{name}-{part}.csv"), text.trim_end())
            });
            let (dialect, progress) = (Dialect::default(), Progress::default());
            Source::open_all(&parts, None, &dialect, true, &progress).unwrap()
        }
        other => panic!("{other}"),
    };
    opened.in_blocks_of(64)
}

fn write_parquet(path: &Path, rows: &RecordBatch, group_rows: usize) {
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_max_row_group_row_count(Some(group_rows))
        .build();
    let file = fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties)).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
}

fn write_arrow(path: &Path, rows: &RecordBatch, batch_rows: usize) {
    let file = fs::File::create(path).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &rows.schema()).unwrap();
    for start in (0..rows.num_rows()).step_by(batch_rows) {
        let count = batch_rows.min(rows.num_rows() - start);
        writer.write(&rows.slice(start, count)).unwrap();
    }
    writer.finish().unwrap();
}

fn read_typed(path: &Path) -> RecordBatch {
    let file = fs::File::open(path).unwrap();
    let (schema, batches): (_, Vec<RecordBatch>) = match path.extension().unwrap().to_str() {
        Some("parquet") => {
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            let schema = reader.schema().clone();
            (
                schema,
                reader.build().unwrap().map(Result::unwrap).collect(),
            )
        }
        _ => {
            let reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
            (reader.schema(), reader.map(Result::unwrap).collect())
        }
    };
    concat_batches(&schema, &batches).unwrap()
}

/// Returns the rows of an output as lines of CSV, the header first.
fn read_back(path: &Path) -> Vec<String> {
    let mut text = String::new();
    match path.extension().unwrap().to_str().unwrap() {
        "gz" => {
            let file = fs::File::open(path).unwrap();
            let mut reader = flate2::read::GzDecoder::new(file);
            reader.read_to_string(&mut text).unwrap();
        }
        "parquet" | "arrow" => {
            let rows = read_typed(path);
            let names = rows.schema_ref().fields().iter();
            let names: Vec<&str> = names.map(|field| field.name().as_str()).collect();
            text = names.join(",") + "\n";
            for row in 0..rows.num_rows() {
                let fields = rows
                    .columns()
                    .iter()
                    .map(|column| match column.data_type() {
                        DataType::Int64 => {
                            column.as_primitive::<Int64Type>().value(row).to_string()
                        }
                        _ => column.as_string::<i32>().value(row).to_owned(),
                    });
                text += &(fields.collect::<Vec<_>>().join(",") + "\n");
            }
        }
        _ => text = fs::read_to_string(path).unwrap().replace('\t', ","),
    }
    text.split_inclusive('\n').map(str::to_owned).collect()
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (
        prop::option::weighted(0.9, "[a-e]{1,2}"),
        0..4_i64,
        any::<i64>(),
    );
    prop::collection::vec(row, 0..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// In all formats, from all formats, with any number of threads, and with and without a place
    /// on disk.
    #[test]
    fn line_i_of_one_side_belongs_to_line_i_of_the_other(
        tables in [rows(), rows()],
        formats in [prop::sample::select(&FORMATS[..]), prop::sample::select(&FORMATS[..])],
        output in prop::sample::select(vec!["out.csv", "out.tsv", "out.csv.gz", "out.parquet", "out.arrow"]),
        budget in prop::sample::select(vec![0, 3_000, u64::MAX]),
        threads in 1..4_usize,
    ) {
        let files = Files::new();
        let key = key(&["word", "number"], &[]);
        let sides = [0, 1].map(|side| {
            let name = ["mine", "theirs"][side];
            let source = table(&files, name, formats[side], &tables[side]);
            Side::read(source, &key, budget, files.0.path())
        });
        let before = files.names();
        let written = [0, 1].map(|side| {
            let theirs = sides[1 - side].fingerprints();
            let expected = sides[side].expected(&theirs);
            let output = files.path(&format!("{side}-{output}"));
            let align = || sides[side].align(&theirs, budget, &output).unwrap();
            let count = Pool::new(threads).unwrap().run(align);
            assert_eq!(count as usize, expected.len());
            let rows: Vec<Row> = expected.iter().map(|&row| tables[side][row].clone()).collect();
            let mut written = read_back(&output);
            assert_eq!(written.remove(0).trim_end(), "word,number,n");
            // Nothing but a line break at the end is missing where the table has none.
            if let Some(last) = written.last_mut() && !last.ends_with('\n') {
                last.push('\n');
            }
            assert_eq!(written, lines(&rows));
            fs::remove_file(&output).unwrap();
            rows
        });
        let [mine, theirs] = written;
        prop_assert_eq!(mine.len(), theirs.len());
        for ((word, number, _), other) in mine.iter().zip(&theirs) {
            prop_assert_eq!((word, number), (&other.0, &other.1));
        }
        let keys: HashSet<_> = mine.iter().map(|(word, number, _)| (word, number)).collect();
        let has = |rows: &[Row]| -> HashSet<(String, i64)> {
            rows.iter().filter_map(|(word, number, _)| Some((word.clone()?, *number))).collect()
        };
        let shared = &has(&tables[0]) & &has(&tables[1]);
        prop_assert_eq!(mine.len(), shared.len());
        prop_assert_eq!(keys.len(), shared.len());
        prop_assert_eq!(files.names(), before);
    }

    /// With the columns of the other party, which are those of the same key.
    #[test]
    fn each_row_gets_the_columns_of_its_partner(
        mine in rows(),
        theirs in rows(),
        format in prop::sample::select(&FORMATS[..]),
        output in prop::sample::select(vec!["out.csv", "out.parquet", "out.arrow"]),
        budget in prop::sample::select(vec![0, u64::MAX]),
        in_partitions: bool,
    ) {
        let files = Files::new();
        let key = key(&["word", "number"], &[]);
        let progress = Progress::default();
        let side = Side::read(table(&files, "mine", format, &mine), &key, budget, files.0.path());
        let sender = Side::read(table(&files, "theirs", "t.parquet", &theirs), &key, u64::MAX, files.0.path());
        let columns = GivenColumns::of(&sender.source, &["n".to_owned()]).unwrap();
        let rows = sender.keys.holder.given(RepeatedKeys::First).unwrap();
        let row_bytes = rows.longest_row(&sender.source, &columns, &progress).unwrap();
        let layout = PayloadLayout::new(columns, row_bytes, RepeatedKeys::First).unwrap();
        let payloads = rows.payloads(&sender.source, &layout, &progress).unwrap();
        let payloads: Vec<&[u8]> = payloads.chunks_exact(layout.payload_bytes()).collect();
        let payload_of: BTreeMap<_, _> = sender.keys.fingerprints.iter().zip(payloads).collect();

        let shared = side.shared(&sender.fingerprints());
        let payload = |item: &u32| payload_of[&side.keys.fingerprints[*item as usize]];
        let spill = &Spill::new(Budget::new(budget), side.folder.clone());
        let (rows, payloads) = if in_partitions {
            let given = shared.iter().map(|(item, row)| (*row, payload(item).to_vec()));
            let given = InRanges::new(3, given);
            let first_rows = given.bits(mine.len() as u64);
            let found = SharedKeys::ByRows { first_rows, payloads: Some(Box::new(given)) };
            side.partitions.aligned(found, Some(&layout), &ORDER, spill).unwrap()
        } else {
            let items: Vec<u32> = shared.iter().map(|(item, _)| *item).collect();
            let payloads: Vec<&[u8]> = items.iter().map(payload).collect();
            let found = side.keys.shared(&items, payloads.concat());
            side.keys.holder.aligned(found, Some(&layout), &ORDER, spill).unwrap()
        };
        let payloads = payloads.unwrap();
        let output = files.path(output);
        layout.check_alignable().unwrap();
        Destination::prepare(Some(&output), &side.source, Existing::Replace)
            .and_then(|destination| destination.adding(layout.columns(), "partner_", &side.source))
            .and_then(Destination::aligning)
            .and_then(|destination| {
                let staged = destination.stage_aligned(&side.source, &rows, Some(&payloads), spill, &progress);
                staged?.commit()
            })
            .unwrap();

        let partner = |(word, number, _): &Row| {
            let found = theirs.iter().find(|other| (&other.0, &other.1) == (word, number));
            found.unwrap().2
        };
        let expected = side.expected(&sender.fingerprints()).into_iter();
        let expected: Vec<String> = expected
            .map(|row| {
                let line = &lines(&mine[row..=row])[0];
                format!("{},{}", line.trim_end(), partner(&mine[row]))
            })
            .collect();
        let written = read_back(&output);
        prop_assert_eq!(written[0].trim_end(), "word,number,n,partner_n");
        let written: Vec<&str> = written[1..].iter().map(|line| line.trim_end()).collect();
        prop_assert_eq!(written, expected);
    }
}

/// Returns rows of all sorts of types, with ids that are their numbers. Nested columns share values
/// and texts.
fn typed(count: usize, nested: bool) -> RecordBatch {
    let repeated = UInt64Array::from_iter_values((0..count).map(|row| (row * 7 % 3) as u64));
    let of_types = typed_columns().into_iter().map(|(name, column)| {
        let column = arrow_select::take::take(&column, &repeated, None).unwrap();
        (name, column)
    });
    let seconds = (0..count).map(|row| (row % 5 != 0).then_some(row as i64 - 100));
    let seconds = TimestampSecondArray::from_iter(seconds).with_timezone("+02:00");
    let lists = (0..count).map(|row| (row % 3 != 0).then(|| vec![Some(row as i64); row % 4]));
    let ids = Int64Array::from_iter_values(0..count as i64);
    let mut columns = vec![("id", array(ids.clone()))];
    columns.extend(of_types);
    columns.extend([
        ("position", array(seconds)),
        (
            "list",
            array(ListArray::from_iter_primitive::<Int64Type, _, _>(lists)),
        ),
        (
            "struct",
            array(StructArray::from(vec![(
                Arc::new(Field::new("inner", DataType::Int64, false)),
                array(ids),
            )])),
        ),
    ]);
    if nested {
        columns.extend(sharing(count));
    }
    let fields = columns.iter().map(|(name, column)| {
        let field = Field::new(*name, column.data_type().clone(), *name != "id");
        field.with_metadata(HashMap::from([("unit".to_owned(), format!("of {name}"))]))
    });
    let metadata = HashMap::from([("made".to_owned(), "by hand".to_owned())]);
    let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata);
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

/// Nested columns whose rows share what they hold.
fn sharing(count: usize) -> Vec<(&'static str, ArrayRef)> {
    let texts = (0..count).map(|row| format!("longer than twelve bytes: {}", row % 50));
    let texts: Vec<String> = texts.collect();
    let words: DictionaryArray<Int32Type> = texts.iter().map(String::as_str).collect();
    let views = StringViewArray::from_iter_values(&texts);
    let ends = arrow_buffer::OffsetBuffer::<i32>::from_lengths(vec![1; count]);
    let field = |data_type: &DataType| Arc::new(Field::new_list_field(data_type.clone(), true));
    let list = ListArray::new(
        field(views.data_type()),
        ends.clone(),
        array(views.clone()),
        None,
    );
    let offsets = (0..count as i32).rev().collect();
    let sizes = vec![1; count].into();
    let backwards = ListViewArray::new(
        field(words.data_type()),
        offsets,
        sizes,
        array(words.clone()),
        None,
    );
    let pair = StructArray::from(vec![
        (
            Arc::new(Field::new("word", words.data_type().clone(), true)),
            array(words),
        ),
        (
            Arc::new(Field::new("view", DataType::Utf8View, true)),
            array(views),
        ),
    ]);
    vec![
        ("views", array(list)),
        ("backwards", array(backwards)),
        ("pair", array(pair)),
    ]
}

/// Aligns the rows of a table with all of them, and compares what is written with what is written
/// in the table's order.
fn assert_kept(files: &Files, input: &Path, output: &str) {
    let (aligned, plain) = (files.path(&format!("aligned-{output}")), files.path(output));
    crate::join(input, &key(&["id"], &[]), |_| true, &plain).unwrap();
    let side = Side::read(open(input), &key(&["id"], &[]), u64::MAX, files.0.path());
    let all = side.fingerprints();
    side.align(&all, 0, &aligned).unwrap();
    let order = side.expected(&all).into_iter().map(|row| row as u64);
    let (written, plain) = (read_typed(&aligned), read_typed(&plain));
    let expected = take_record_batch(&plain, &UInt64Array::from_iter_values(order)).unwrap();
    assert_eq!(written.schema(), plain.schema());
    for (field, (written, expected)) in plain
        .schema()
        .fields()
        .iter()
        .zip(written.columns().iter().zip(expected.columns()))
    {
        assert!(written == expected, "{field} in {output}");
    }
}

#[test]
fn types_and_metadata_are_kept() {
    let files = Files::new();
    let (arrow, parquet) = (files.path("t.arrow"), files.path("t.parquet"));
    for nested in [false, true] {
        let rows = typed(700, nested);
        write_arrow(&arrow, &rows, 300);
        assert_kept(&files, &arrow, "out.parquet");
        if !nested {
            assert_kept(&files, &arrow, "out.arrow");
        }
        write_parquet(&parquet, &rows, 200);
        assert_kept(&files, &parquet, "out.parquet");
        if !nested {
            assert_kept(&files, &parquet, "out.arrow");
        }
    }
}

/// Each row group has as many words as its dictionary can have.
#[test]
fn rows_of_dictionaries_that_do_not_fit_into_one_are_mixed() {
    let files = Files::new();
    let input = files.path("t.parquet");
    let group = |group: i64| {
        let ids = group * 100..(group + 1) * 100;
        let words: Vec<String> = ids.clone().map(|id| format!("word {id}")).collect();
        let words: DictionaryArray<Int8Type> = words.iter().map(|word| Some(&**word)).collect();
        let columns = [
            ("id", array(Int64Array::from_iter_values(ids))),
            ("word", array(words)),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    };
    let file = fs::File::create(&input).unwrap();
    let mut writer = ArrowWriter::try_new(file, group(0).schema(), None).unwrap();
    for number in 0..5 {
        writer.write(&group(number)).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    let side = Side::read(open(&input), &key(&["id"], &[]), u64::MAX, files.0.path());
    let all = side.fingerprints();
    let to_csv = files.path("out.csv");
    side.align(&all, u64::MAX, &to_csv).unwrap();
    let lines = side
        .expected(&all)
        .into_iter()
        .map(|id| format!("{id},word {id}\n"));
    assert_eq!(
        files.read("out.csv"),
        format!("id,word\n{}", lines.collect::<String>())
    );
    side.align(&all, u64::MAX, &files.path("out.parquet"))
        .unwrap();
    let file = fs::File::open(files.path("out.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file.try_clone().unwrap()).unwrap();
    assert_eq!(reader.schema().field(1), group(0).schema().field(1));
    // Readers that insist on that type have no room for the words of a whole row group.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).unwrap();
    let rows = crate::only_batch(reader.build().unwrap());
    let words = rows.column(1).as_string::<i32>().iter().map(Option::unwrap);
    let expected = side
        .expected(&all)
        .into_iter()
        .map(|id| format!("word {id}"));
    assert!(words.eq(expected));
}

/// Of more rows than one group has, and with large ones among them.
#[test]
fn all_numbers_of_threads_and_budgets_write_the_same_file() {
    const ROWS: i64 = 150_000;
    let files = Files::new();
    let text = |row: i64| match row % 100 {
        0 => "long ".repeat(2_000),
        _ => format!("text {row}"),
    };
    let ids = Int64Array::from_iter_values(0..ROWS);
    let texts = StringArray::from_iter_values((0..ROWS).map(text));
    let rows = RecordBatch::try_from_iter([("id", array(ids)), ("text", array(texts))]).unwrap();
    write_parquet(&files.path("t.parquet"), &rows, 40_000);
    let lines: String = (0..ROWS)
        .map(|row| format!("{row},{}\n", text(row)))
        .collect();
    files.text("t.csv", format!("id,text\n{lines}"));
    let theirs: String = (0..ROWS).step_by(2).map(|row| format!("{row}\n")).collect();
    let theirs = files.text("theirs.csv", format!("id\n{theirs}"));
    let key = key(&["id"], &[]);
    let theirs = Side::read(open(&theirs), &key, u64::MAX, files.0.path()).fingerprints();
    for input in ["t.csv", "t.parquet"] {
        let side = Side::read(open(&files.path(input)), &key, u64::MAX, files.0.path());
        let expected = side.expected(&theirs);
        let items: Vec<u32> = side.shared(&theirs).iter().map(|(item, _)| *item).collect();
        let rows = side.keys.aligned(&items, &ORDER);
        for output in ["out.csv", "out.parquet", "out.arrow"] {
            let path = files.path(output);
            let written = [(1, 1 << 20), (4, u64::MAX)].map(|(threads, budget)| {
                let align = || side.write(&rows, budget, &path).unwrap();
                let count = Pool::new(threads).unwrap().run(align);
                assert_eq!(count as usize, expected.len());
                fs::read(&path).unwrap()
            });
            assert!(written[0] == written[1], "{output}");
            if output == "out.csv" {
                let rows = expected
                    .iter()
                    .map(|&row| format!("{row},{}\n", text(row as i64)));
                assert!(files.read(output) == format!("id,text\n{}", rows.collect::<String>()));
            } else {
                let rows = read_typed(&path);
                let ids: Vec<String> = match rows.column(0).data_type() {
                    DataType::Int64 => rows
                        .column(0)
                        .as_primitive::<Int64Type>()
                        .values()
                        .iter()
                        .map(i64::to_string)
                        .collect(),
                    _ => rows
                        .column(0)
                        .as_string::<i32>()
                        .iter()
                        .map(|id| id.unwrap().to_owned())
                        .collect(),
                };
                assert!(
                    ids.iter().eq(expected
                        .iter()
                        .map(usize::to_string)
                        .collect::<Vec<_>>()
                        .iter())
                );
                let texts = rows.column(1).as_string::<i32>().iter().map(Option::unwrap);
                assert!(
                    texts
                        .zip(&expected)
                        .all(|(got, row)| got == text(*row as i64))
                );
            }
        }
    }
}

/// Texts as they are written, with what stands around the rows. The last row has no end of its
/// line, and gets that of its neighbours if another one follows.
#[test]
fn rows_keep_their_bytes() {
    let files = Files::new();
    let plain = Dialect::default();
    let no_header = Dialect::default().without_header();
    let utf16 =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let utf8 = |text: &str| text.as_bytes().to_vec();
    let quoted = ["1,\"a\r\nb\"\r\n", "2 ,x\n", "3,\"\"\r\n", "4,y"];
    let others = ["1,a\n", "2,b\n", "3,\u{e9}\u{1f600}\n", "4,d"];
    let tabs = ["1\t\"\n", "2\t,\n", "3\t\n", "4\t"];
    let lines = ["a\n", "b\r\n", "\u{e9}\r\n", "c"];
    type Encoded<'e> = &'e dyn Fn(&str) -> Vec<u8>;
    let cases: [(_, _, _, Encoded<'_>, _, _, _); 6] = [
        ("t.csv", &plain, "id", &utf8, "id,\"n\"\r\n", quoted, "\r\n"),
        ("t.csv", &plain, "id", &utf8, "\u{feff}id,n\n", others, "\n"),
        ("t.csv", &no_header, "1", &utf8, "", others, "\n"),
        ("t.tsv", &plain, "id", &utf8, "id\tn\n", tabs, "\n"),
        ("t.txt", &plain, "value", &utf8, "", lines, "\r\n"),
        (
            "t.csv",
            &plain,
            "id",
            &utf16,
            "\u{feff}id,n\n",
            others,
            "\n",
        ),
    ];
    for (name, dialect, column, encoded, header, rows, ending) in cases {
        let input = files.text(name, encoded(&format!("{header}{}", rows.concat())));
        let source = Source::open(&input, None, dialect, true, &Progress::default()).unwrap();
        let side = Side::read(source, &key(&[column], &[]), 0, files.0.path());
        let all = side.fingerprints();
        let output = files.path(&format!("out-{name}"));
        side.align(&all, 0, &output).unwrap();
        let mut expected = header.to_owned();
        let order = side.expected(&all);
        for (position, &row) in order.iter().enumerate() {
            expected += rows[row];
            if row == 3 && position < 3 {
                expected += ending;
            }
        }
        assert_eq!(fs::read(&output).unwrap(), encoded(&expected), "{expected}");
    }
}

#[test]
fn no_shared_key_leaves_the_header() {
    let files = Files::new();
    let csv = files.text("t.csv", "id,n\n1,2\n,3\n");
    let parquet = files.path("t.parquet");
    write_parquet(&parquet, &typed(10, false), 10);
    for input in [csv, parquet] {
        let side = Side::read(open(&input), &key(&["id"], &[]), 0, files.0.path());
        for output in ["out.csv", "out.parquet", "out.arrow"] {
            let output = files.path(output);
            if output.extension().unwrap() == "csv" && input.extension().unwrap() == "parquet" {
                continue;
            }
            assert_eq!(side.align(&HashSet::new(), 0, &output).unwrap(), 0);
            match output.extension().unwrap().to_str().unwrap() {
                "csv" => assert_eq!(fs::read_to_string(&output).unwrap(), "id,n\n"),
                _ => {
                    let rows = read_typed(&output);
                    assert_eq!(
                        (rows.num_rows(), rows.schema().field(0).name().as_str()),
                        (0, "id")
                    );
                }
            }
        }
    }
}

#[test]
fn a_table_that_has_changed_is_an_error_and_leaves_nothing() {
    let files = Files::new();
    let lines = |rows: i64| -> String { (0..rows).map(|row| format!("{row},x\n")).collect() };
    let write = |name: &str, rows: i64| match name {
        "t.csv" => drop(files.text(name, format!("id,n\n{}", lines(rows)))),
        _ => write_parquet(&files.path(name), &typed(rows as usize, true), 100),
    };
    for (input, outputs) in [
        ("t.csv", ["out.csv", "out.tsv", "out.parquet", "out.arrow"]),
        ("t.parquet", ["out.parquet"; 4]),
    ] {
        for output in outputs {
            for changed in [199, 201] {
                write(input, 200);
                let key = key(&["id"], &[]);
                let side = Side::read(open(&files.path(input)), &key, 0, files.0.path());
                write(input, changed);
                let before = files.names();
                let error = side
                    .align(&side.fingerprints(), 0, &files.path(output))
                    .unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Input);
                assert!(
                    matches!(error, Error::Source(SourceError::Changed { .. })),
                    "{error}"
                );
                assert_eq!(files.names(), before);
            }
        }
        fs::remove_file(files.path(input)).unwrap();
    }
}

#[test]
fn an_interrupt_leaves_nothing() {
    let files = Files::new();
    let input = files.text("t.csv", "id,n\n1,2\n2,3\n");
    let side = Side::read(open(&input), &key(&["id"], &[]), 0, files.0.path());
    let rows = side.keys.aligned(&[0, 1], &ORDER);
    let progress = Progress::default();
    progress.interrupt();
    for output in ["out.csv", "out.tsv", "out.parquet", "out.arrow"] {
        let destination =
            Destination::prepare(Some(&files.path(output)), &side.source, Existing::Replace);
        let destination = destination.and_then(Destination::aligning).unwrap();
        let spill = &Spill::new(Budget::new(0), side.folder.clone());
        let staged = destination.stage_aligned(&side.source, &rows, None, spill, &progress);
        assert!(matches!(staged, Err(Error::Interrupted)));
        drop((staged, destination));
        assert_eq!(files.names(), ["t.csv"]);
    }
}

#[test]
fn a_folder_that_is_none_is_told() {
    let files = Files::new();
    let input = files.text("t.csv", "id,n\n1,2\n2,3\n");
    let mut side = Side::read(open(&input), &key(&["id"], &[]), u64::MAX, files.0.path());
    side.folder = Folder::new(files.path("missing"));
    let all = side.fingerprints();
    let error = side.align(&all, 0, &files.path("out.csv")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert_contains(&error.to_string(), "missing: No such file or directory");
    side.align(&all, u64::MAX, &files.path("out.csv")).unwrap();
}

#[test]
fn what_cannot_be_aligned_is_refused_before_data_move() {
    let files = Files::new();
    let input = files.text("t.csv", "id,n\n1,u\n2,v\n,w\n2,x\n1,y\n2,z\n");
    let side = Side::read(open(&input), &key(&["id"], &[]), 0, files.0.path());
    let list = RepeatedKeys::List(NonZeroU16::new(3).unwrap());
    for (repeated, reason) in [
        (RepeatedKeys::First, None),
        (
            RepeatedKeys::Refuse,
            Some("3 of the rows repeat a key, the first of them row 4 of the table"),
        ),
        (list, Some("aligned rows are one per key, and no lists")),
    ] {
        let checked = [
            side.keys.holder.check_alignable(repeated),
            side.partitions.check_alignable(repeated),
        ];
        for checked in checked {
            match reason {
                None => checked.unwrap(),
                Some(reason) => assert_contains(&checked.unwrap_err().to_string(), reason),
            }
        }
    }
    let different = files.text("different.csv", "id\n1\n2\n");
    let different = Side::read(open(&different), &key(&["id"], &[]), 0, files.0.path());
    different
        .keys
        .holder
        .check_alignable(RepeatedKeys::Refuse)
        .unwrap();
    different
        .partitions
        .check_alignable(RepeatedKeys::Refuse)
        .unwrap();

    for which in [WhichRows::Unshared, WhichRows::All] {
        let destination = Destination::prepare(
            Some(&files.path("out.csv")),
            &side.source,
            Existing::Replace,
        );
        let destination =
            destination.and_then(|destination| destination.choosing(which, &side.source));
        let error = destination.unwrap().aligning().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert_contains(&error.to_string(), "write these alone");
    }

    let columns = GivenColumns::of(&side.source, &["n".to_owned()]).unwrap();
    let layout = PayloadLayout::new(columns, 10, list).unwrap();
    let error = layout.check_alignable().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Peer);
    assert_contains(&error.to_string(), "has lists of rows");
    // Nor is such a payload written.
    let payloads = Payloads::new(layout.clone(), vec![0; layout.payload_bytes()]);
    let rows = side.keys.aligned(&[0], &ORDER);
    let destination = Destination::prepare(
        Some(&files.path("out.csv")),
        &side.source,
        Existing::Replace,
    )
    .and_then(|destination| destination.adding(layout.columns(), "partner_", &side.source))
    .and_then(Destination::aligning)
    .unwrap();
    let spill = &Spill::new(Budget::new(0), side.folder.clone());
    let staged = destination.stage_aligned(
        &side.source,
        &rows,
        Some(&payloads),
        spill,
        &Progress::default(),
    );
    assert_eq!(staged.unwrap_err().kind(), ErrorKind::Peer);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let files = Files::new();
    let lines: String = (0..20_000).map(|row| format!("{row},x\n")).collect();
    let input = files.text("t.csv", format!("id,n\n{lines}"));
    let side = Side::read(open(&input), &key(&["id"], &[]), 0, files.0.path());
    let all = side.fingerprints();
    for output in [
        "out.csv",
        "out.tsv",
        "out.csv.gz",
        "out.parquet",
        "out.arrow",
    ] {
        let full = files.path(output);
        std::os::unix::fs::symlink("/dev/full", &full).unwrap();
        let align = || side.align(&all, u64::MAX, &full).unwrap_err();
        let error = Pool::new(3).unwrap().run(align);
        assert_contains(&error.to_string(), "No space left on device");
    }
}
