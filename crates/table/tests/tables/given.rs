//! Columns of the other party: from its table into payloads, and behind the rows of this one.

use std::{
    fs,
    num::NonZeroU16,
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use arrow_array::{cast::AsArray, types::*, *};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use proptest::prelude::*;
use psijoin_files::spill::{Budget, Folder, Spill};
use psijoin_runtime::parallel::Pool;
use psijoin_source::{Dialect, ErrorKind, Progress, Source};
use psijoin_table::{
    Destination, Error, Existing, SharedKeys, TableKeys, WhichRows,
    share::{GivenColumns, PartitionedPayloads, PayloadLayout, Payloads, RepeatedKeys},
};

use crate::{
    Files, array, assert_contains,
    held::{Keys, WriteMatched as _},
    key, open,
    ranges::InRanges,
    typed_columns,
};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn list(most: u16) -> RepeatedKeys {
    RepeatedKeys::List(NonZeroU16::new(most).unwrap())
}

/// The sender's gift: its keys, the layout, and the payloads of all keys.
pub(crate) struct Gift {
    keys: Keys,
    layout: PayloadLayout,
    pub(crate) payloads: Vec<u8>,
}

/// Gives columns of a table whose key is `id`.
pub(crate) fn give(path: &Path, columns: &[&str], repeated: RepeatedKeys) -> Result<Gift, Error> {
    let progress = Progress::default();
    let source = open(path).in_blocks_of(16);
    let columns = GivenColumns::of(&source, &names(columns))?;
    let keys = Keys::read(&source, &key(&["id"], &[]), &[], &progress)?;
    let rows = keys.holder.given(repeated)?;
    let row_bytes = rows.longest_row(&source, &columns, &progress)?;
    let layout = PayloadLayout::new(columns, row_bytes, repeated)?;
    let payloads = rows.payloads(&source, &layout, &progress)?;
    assert_eq!(progress.bytes(), (source.bytes(), source.bytes()));
    let told = PayloadLayout::from_bytes(&layout.to_bytes()).unwrap();
    assert_eq!(told, layout);
    Ok(Gift {
        keys,
        layout: told,
        payloads,
    })
}

impl Gift {
    /// Returns the payload of the key with this fingerprint, if there is one.
    fn payload(&self, fingerprint: &[u8; 32]) -> Option<&[u8]> {
        let item = self.keys.fingerprints.binary_search(fingerprint).ok()?;
        let length = self.layout.payload_bytes();
        Some(&self.payloads[item * length..][..length])
    }

    /// Writes a table whose key is `id` with what it gets.
    fn join(&self, mine: &Path, which: WhichRows, output: &Path) -> Result<u64, Error> {
        Payloads::new(self.layout.clone(), self.payloads.clone()).check()?;
        self.write(mine, output, |to, source| to.choosing(which, source))
    }

    /// Writes the table in a way that `prepare` sets, without a look at the payloads before.
    pub(crate) fn write(
        &self,
        mine: &Path,
        output: &Path,
        prepare: impl Fn(Destination, &Source) -> Result<Destination, Error>,
    ) -> Result<u64, Error> {
        let source = open(mine).in_blocks_of(16);
        let (rows, progress) = (key(&["id"], &[]), Progress::default());
        let keys = Keys::read(&source, &rows, &[], &progress)?;
        let found = keys.fingerprints.iter().zip(0..);
        let found = found.filter_map(|(key, item)| Some((item, self.payload(key)?)));
        let (shared, payloads): (Vec<u32>, Vec<&[u8]>) = found.unzip();
        let (partners, payloads) = keys.partners(&shared, &self.layout, payloads.concat());
        let destination = Destination::prepare(Some(output), &source, Existing::Replace)?;
        let destination =
            prepare(destination, &source)?.adding(self.layout.columns(), "partner_", &source)?;
        let staged = destination.stage_joined(&source, &partners, &payloads, &progress)?;
        assert_eq!(progress.bytes(), (source.bytes(), source.bytes()));
        staged.commit()
    }
}

/// Returns a column of each type that can be given, of three rows, the last one null where there
/// are nulls.
fn all_types() -> Vec<(&'static str, ArrayRef)> {
    fn of<T: ArrowPrimitiveType>(values: [Option<T::Native>; 3]) -> PrimitiveArray<T> {
        PrimitiveArray::from_iter(values)
    }
    let wide = arrow_buffer::i256::from_i128(-12_345);
    let mut columns = typed_columns();
    columns.retain(|(name, _)| *name != "list");
    columns.extend([
        ("i8", array(of::<Int8Type>([Some(-128), Some(127), None]))),
        ("i16", array(of::<Int16Type>([Some(-1), Some(1), None]))),
        (
            "i32",
            array(of::<Int32Type>([Some(i32::MIN), Some(1), None])),
        ),
        ("u8", array(of::<UInt8Type>([Some(255), Some(1), None]))),
        (
            "u16",
            array(of::<UInt16Type>([Some(65_535), Some(1), None])),
        ),
        (
            "u32",
            array(of::<UInt32Type>([Some(u32::MAX), Some(1), None])),
        ),
        (
            "u64",
            array(of::<UInt64Type>([Some(u64::MAX), Some(1), None])),
        ),
        (
            "f32",
            array(of::<Float32Type>([Some(0.1), Some(f32::INFINITY), None])),
        ),
        (
            "f64",
            array(of::<Float64Type>([Some(-0.0), Some(f64::MAX), None])),
        ),
        (
            "date64",
            array(of::<Date64Type>([Some(86_400_000), Some(0), None])),
        ),
        (
            "second",
            array(of::<TimestampSecondType>([Some(-1), Some(1 << 33), None])),
        ),
        (
            "micro",
            array(of::<TimestampMicrosecondType>([Some(1), Some(2), None]).with_timezone("+02:00")),
        ),
        (
            "nano",
            array(of::<TimestampNanosecondType>([Some(1), Some(2), None])),
        ),
        (
            "time32",
            array(of::<Time32SecondType>([Some(59), Some(0), None])),
        ),
        (
            "time32ms",
            array(of::<Time32MillisecondType>([Some(59), Some(0), None])),
        ),
        (
            "time64",
            array(of::<Time64MicrosecondType>([Some(59), Some(0), None])),
        ),
        (
            "time64ns",
            array(of::<Time64NanosecondType>([Some(59), Some(0), None])),
        ),
        (
            "d32",
            array(
                of::<Decimal32Type>([Some(-999), Some(1), None])
                    .with_precision_and_scale(3, 2)
                    .unwrap(),
            ),
        ),
        (
            "d64",
            array(
                of::<Decimal64Type>([Some(-999), Some(1), None])
                    .with_precision_and_scale(12, 2)
                    .unwrap(),
            ),
        ),
        (
            "d256",
            array(
                of::<Decimal256Type>([Some(wide), None, None])
                    .with_precision_and_scale(60, 4)
                    .unwrap(),
            ),
        ),
        (
            "large",
            array(LargeStringArray::from(vec![
                Some("a, \"b\""),
                Some(""),
                None,
            ])),
        ),
        (
            "large bytes",
            array(LargeBinaryArray::from(vec![
                Some(&b"\xff"[..]),
                Some(b""),
                None,
            ])),
        ),
        (
            "view bytes",
            array(BinaryViewArray::from(vec![
                Some(&b"longer than twelve bytes"[..]),
                Some(b""),
                None,
            ])),
        ),
        (
            "fixed",
            array(
                FixedSizeBinaryArray::try_from_sparse_iter_with_size(
                    [Some(b"\0\x01\xff"), Some(b"abc"), None].into_iter(),
                    3,
                )
                .unwrap(),
            ),
        ),
    ]);
    columns
}

pub(crate) fn arrow_file(path: &Path, columns: &[(&str, ArrayRef)]) {
    let columns = columns
        .iter()
        .map(|(name, array)| (*name, array.clone(), true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let file = fs::File::create(path).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

fn read_arrow(path: &Path) -> RecordBatch {
    let file = fs::File::open(path).unwrap();
    let reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
    crate::only_batch(reader)
}

/// Numbers, texts, bytes and flags, each of which may be null.
type Values = (Option<i64>, Option<String>, Option<Vec<u8>>, Option<bool>);

/// Returns columns of every type that arrives as it is, made of values.
fn columns_of(rows: &[Values]) -> Vec<(&'static str, ArrayRef)> {
    fn of<T: ArrowPrimitiveType>(
        rows: &[Values],
        value: impl Fn(i64) -> T::Native,
    ) -> PrimitiveArray<T> {
        rows.iter().map(|(number, ..)| number.map(&value)).collect()
    }
    let of_a_day = |n: i64, per_second: i64| n.rem_euclid(86_400 * per_second + 1);
    let d32 = of::<Decimal32Type>(rows, |n| (n % 1_000) as i32);
    let d64 = of::<Decimal64Type>(rows, |n| n % 1_000_000_000);
    let d128 = of::<Decimal128Type>(rows, |n| i128::from(n) * 1_000_003);
    let d256 = of::<Decimal256Type>(rows, |n| arrow_buffer::i256::from_i128(n.into()));
    let widths = rows.iter().map(|(number, ..)| number.map(i64::to_be_bytes));
    vec![
        ("i8", array(of::<Int8Type>(rows, |n| n as i8))),
        ("i16", array(of::<Int16Type>(rows, |n| n as i16))),
        ("i32", array(of::<Int32Type>(rows, |n| n as i32))),
        ("i64", array(of::<Int64Type>(rows, |n| n))),
        ("u8", array(of::<UInt8Type>(rows, |n| n as u8))),
        ("u16", array(of::<UInt16Type>(rows, |n| n as u16))),
        ("u32", array(of::<UInt32Type>(rows, |n| n as u32))),
        ("u64", array(of::<UInt64Type>(rows, |n| n as u64))),
        ("f32", array(of::<Float32Type>(rows, |n| n as f32 / 7.0))),
        ("f64", array(of::<Float64Type>(rows, |n| n as f64 / 7.0))),
        ("d32", array(d32.with_precision_and_scale(3, 3).unwrap())),
        ("d64", array(d64.with_precision_and_scale(9, -2).unwrap())),
        ("d128", array(d128.with_precision_and_scale(38, 7).unwrap())),
        ("d256", array(d256.with_precision_and_scale(76, 0).unwrap())),
        ("day", array(of::<Date32Type>(rows, |n| n as i32))),
        ("date", array(of::<Date64Type>(rows, |n| n))),
        ("s", array(of::<TimestampSecondType>(rows, |n| n))),
        (
            "ms",
            array(of::<TimestampMillisecondType>(rows, |n| n).with_timezone("Europe/Berlin")),
        ),
        ("us", array(of::<TimestampMicrosecondType>(rows, |n| n))),
        (
            "ns",
            array(of::<TimestampNanosecondType>(rows, |n| n).with_timezone("UTC")),
        ),
        (
            "time s",
            array(of::<Time32SecondType>(rows, |n| of_a_day(n, 1) as i32)),
        ),
        (
            "time ms",
            array(of::<Time32MillisecondType>(rows, |n| {
                of_a_day(n, 1_000) as i32
            })),
        ),
        (
            "time us",
            array(of::<Time64MicrosecondType>(rows, |n| {
                of_a_day(n, 1_000_000)
            })),
        ),
        (
            "time ns",
            array(of::<Time64NanosecondType>(rows, |n| {
                of_a_day(n, 1_000_000_000)
            })),
        ),
        (
            "fixed",
            array(FixedSizeBinaryArray::try_from_sparse_iter_with_size(widths, 8).unwrap()),
        ),
        (
            "text",
            array(
                rows.iter()
                    .map(|(_, text, ..)| text.clone())
                    .collect::<StringArray>(),
            ),
        ),
        (
            "bytes",
            array(
                rows.iter()
                    .map(|(.., bytes, _)| bytes.clone())
                    .collect::<BinaryArray>(),
            ),
        ),
        (
            "flag",
            array(
                rows.iter()
                    .map(|(.., flag)| *flag)
                    .collect::<BooleanArray>(),
            ),
        ),
    ]
}

#[test]
fn every_type_arrives_as_it_was() {
    let files = Files::new();
    let ids = array(StringArray::from(vec!["a", "b", "c"]));
    let columns: Vec<_> = [("id", ids)].into_iter().chain(all_types()).collect();
    let (theirs, output) = (files.path("theirs.arrow"), files.path("out.arrow"));
    arrow_file(&theirs, &columns);
    let all: Vec<&str> = columns[1..].iter().map(|(name, _)| *name).collect();
    let gift = give(&theirs, &all, RepeatedKeys::Refuse).unwrap();
    let mine = files.text("mine.csv", "id,n\nc,1\nx,2\na,3\nb,4\n");
    assert_eq!(gift.join(&mine, WhichRows::Shared, &output).unwrap(), 3);
    let rows = read_arrow(&output);
    let order = UInt64Array::from(vec![2, 0, 1]);
    for (name, sent) in &columns[1..] {
        let got = rows.column_by_name(name).unwrap();
        let sent = arrow_select::take::take(sent, &order, None).unwrap();
        match sent.data_type() {
            DataType::Utf8View | DataType::LargeUtf8 | DataType::Dictionary(..) => {
                assert_eq!(got.data_type(), &DataType::Utf8, "{name}");
            }
            DataType::BinaryView | DataType::LargeBinary => {
                assert_eq!(got.data_type(), &DataType::Binary, "{name}");
            }
            _ => assert_eq!(got, &sent, "{name}"),
        }
        assert_eq!(
            got.logical_null_count(),
            sent.logical_null_count(),
            "{name}"
        );
    }
    let text = |name: &str, row: usize| {
        rows.column_by_name(name)
            .unwrap()
            .as_string::<i32>()
            .value(row)
            .to_owned()
    };
    assert_eq!(
        ["large", "view", "word"].map(|name| text(name, 1)),
        ["a, \"b\"", "a", "x"]
    );
    let bytes = |name: &str, row: usize| {
        rows.column_by_name(name)
            .unwrap()
            .as_binary::<i32>()
            .value(row)
            .to_owned()
    };
    assert_eq!(
        ["large bytes", "view bytes"].map(|name| bytes(name, 1)),
        [&b"\xff"[..], b"longer than twelve bytes"]
    );
    // Parquet's form of them is its writer's affair.
    assert_eq!(
        gift.join(&mine, WhichRows::All, &files.path("out.parquet"))
            .unwrap(),
        4
    );
    let error = gift
        .join(&mine, WhichRows::Shared, &files.path("out.csv"))
        .unwrap_err();
    assert_contains(
        &error.to_string(),
        "the column `bytes` holds Binary, which is not text",
    );
}

type Theirs = (Option<String>, Option<String>, Option<i64>);

/// Returns what is written for a row of this party, given the rows of the other one that have its
/// key.
fn expected(
    mine: &[(Option<String>, i64)],
    theirs: &[Theirs],
    repeated: RepeatedKeys,
    which: WhichRows,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (id, n) in mine {
        let partners = theirs.iter().filter(|(key, ..)| id.is_some() && key == id);
        let partners: Vec<&Theirs> = match repeated {
            RepeatedKeys::List(_) => partners.collect(),
            _ => partners.take(1).collect(),
        };
        let own = format!("{},{n}", id.as_deref().unwrap_or_default());
        let flag = match which {
            WhichRows::All => format!(",{}", !partners.is_empty()),
            _ => String::new(),
        };
        let shown = |(_, text, number): &&Theirs| {
            let number = number.map(|number| number.to_string()).unwrap_or_default();
            format!(
                "{own}{flag},{},{number}",
                text.as_deref().unwrap_or_default()
            )
        };
        match (which, partners.is_empty()) {
            (WhichRows::Shared, _) | (WhichRows::All, false) => {
                lines.extend(partners.iter().map(shown))
            }
            (WhichRows::Unshared | WhichRows::All, true) => lines.push(format!("{own}{flag},,")),
            (WhichRows::Unshared, false) => {}
        }
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The result is that of a join by hand, from typed columns and from texts, to both, with any
    /// number of threads.
    #[test]
    fn rows_are_those_of_a_plain_join(
        mine in prop::collection::vec((prop::option::of("[a-f]"), any::<i64>()), 1..40),
        theirs in prop::collection::vec((prop::option::of("[c-h]"), prop::option::of("[a-z]{1,9}"), prop::option::of(any::<i64>())), 1..30),
        repeated in prop::sample::select(vec![RepeatedKeys::First, list(40)]),
        which in prop::sample::select(WhichRows::EACH.to_vec()),
        threads in 1..4_usize,
    ) {
        let files = Files::new();
        let column = |values: Vec<Option<&str>>| array(StringArray::from(values));
        let their_columns = [
            ("id", column(theirs.iter().map(|(id, ..)| id.as_deref()).collect())),
            ("word", column(theirs.iter().map(|(_, word, _)| word.as_deref()).collect())),
            ("n", array(theirs.iter().map(|(.., n)| *n).collect::<Int64Array>())),
        ];
        let typed = files.parquet("theirs.parquet", &their_columns);
        let text: String = theirs.iter().map(|(id, word, n)| {
            let n = n.map(|n| n.to_string()).unwrap_or_default();
            format!("{},{},{n}\n", id.as_deref().unwrap_or_default(), word.as_deref().unwrap_or_default())
        }).collect();
        let texts = files.text("theirs.csv", format!("id,word,n\n{text}"));
        let my_columns = [
            ("id", column(mine.iter().map(|(id, _)| id.as_deref()).collect())),
            ("n", array(Int64Array::from_iter_values(mine.iter().map(|(_, n)| *n)))),
        ];
        let my_typed = files.parquet("mine.parquet", &my_columns);
        let text: String = mine.iter().map(|(id, n)| format!("{},{n}\n", id.as_deref().unwrap_or_default())).collect();
        let my_texts = files.text("mine.csv", format!("id,n\n{text}"));

        let lines = expected(&mine, &theirs, repeated, which);
        let flag = if which == WhichRows::All { ",shared" } else { "" };
        let header = format!("id,n{flag},word,partner_n\n");
        let all: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let pool = Pool::new(threads).unwrap();
        for theirs in [&typed, &texts] {
            let gift = pool.run(|| give(theirs, &["word", "n"], repeated)).unwrap();
            for mine in [&my_typed, &my_texts] {
                for name in ["out.csv", "out.parquet"] {
                    let output = files.path(name);
                    let rows = pool.run(|| gift.join(mine, which, &output)).unwrap();
                    prop_assert_eq!(rows, lines.len() as u64);
                }
                prop_assert_eq!(files.read("out.csv"), format!("{header}{all}"));
                // Then as texts.
                let typed = open(&files.path("out.parquet"));
                let back = files.path("back.csv");
                let keys = Keys::read(&typed, &key(&["id"], &[]), &[], &Progress::default()).unwrap();
                let every = Destination::prepare(Some(&back), &typed, Existing::Replace).unwrap();
                let none = vec![false; keys.fingerprints.len()];
                every
                    .choosing(WhichRows::Unshared, &typed)
                    .and_then(|every| every.write(&typed, &keys, &none, &Progress::default()))
                    .unwrap();
                prop_assert_eq!(files.read("back.csv"), format!("{header}{all}"));
            }
        }
    }

    /// Whatever the values are.
    #[test]
    fn values_arrive_as_they_were(
        rows in prop::collection::vec(
            (
                prop::option::of(any::<i64>()),
                prop::option::of(any::<String>()),
                prop::option::of(prop::collection::vec(any::<u8>(), 0..20)),
                prop::option::of(any::<bool>()),
            ),
            1..20,
        ),
        threads in 1..3_usize,
    ) {
        let files = Files::new();
        let ids = array(StringArray::from_iter_values((0..rows.len()).map(|row| row.to_string())));
        let columns: Vec<_> = [("id", ids)].into_iter().chain(columns_of(&rows)).collect();
        let (theirs, output) = (files.path("theirs.arrow"), files.path("out.arrow"));
        arrow_file(&theirs, &columns);
        let all: Vec<&str> = columns[1..].iter().map(|(name, _)| *name).collect();
        let lines: String = (0..rows.len()).rev().map(|row| format!("{row}\n")).collect();
        let mine = files.text("mine.csv", format!("id\n{lines}"));
        let pool = Pool::new(threads).unwrap();
        pool.run(|| {
            let gift = give(&theirs, &all, RepeatedKeys::Refuse).unwrap();
            gift.join(&mine, WhichRows::Shared, &output).unwrap();
        });
        let got = read_arrow(&output);
        let reversed = UInt64Array::from_iter_values((0..rows.len() as u64).rev());
        for (name, sent) in &columns {
            let sent = arrow_select::take::take(sent, &reversed, None).unwrap();
            prop_assert_eq!(got.column_by_name(name).unwrap(), &sent, "{}", name);
        }
    }

    /// Whatever is told of columns is an error, or is told so again.
    #[test]
    fn what_is_told_is_in_one_form(bytes in prop::collection::vec(0..48_u8, 0..60)) {
        for bytes in [bytes.clone(), [&[1, 1, 0][..], &bytes].concat()] {
            if let Ok(columns) = GivenColumns::from_bytes(&bytes) {
                prop_assert_eq!(columns.to_bytes(), bytes);
            }
        }
        for bytes in [bytes.clone(), [&[9, 0, 0, 0, 1, 1, 0][..], &bytes].concat()] {
            if let Ok(layout) = PayloadLayout::from_bytes(&bytes) {
                prop_assert_eq!(layout.to_bytes(), bytes);
            }
        }
    }

    /// Whatever is in payloads is an error, or is written.
    #[test]
    fn payloads_are_checked(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        most in 0..3_u16,
        as_text: bool,
    ) {
        let files = Files::new();
        let ids = array(StringArray::from(vec!["a", "b", "c"]));
        let columns: Vec<_> = [("id", ids)].into_iter().chain(all_types()).collect();
        let theirs = files.path("theirs.arrow");
        arrow_file(&theirs, &columns);
        let is_text = |array: &ArrayRef| {
            use DataType::*;
            !matches!(array.data_type(), Binary | LargeBinary | BinaryView | FixedSizeBinary(_))
        };
        let given = columns[1..].iter().filter(|(_, array)| !as_text || is_text(array));
        let all: Vec<&str> = given.map(|(name, _)| *name).collect();
        let repeated = if most == 0 { RepeatedKeys::First } else { list(most) };
        let mut gift = give(&theirs, &all, repeated).unwrap();
        for (at, byte) in changes {
            let at = at.index(gift.payloads.len());
            gift.payloads[at] = byte;
        }
        let mine = files.text("mine.csv", "id\nb\na\n");
        let output = files.path(if as_text { "out.csv" } else { "out.arrow" });
        match gift.join(&mine, WhichRows::All, &output) {
            Ok(rows) => prop_assert!((2..=4).contains(&rows)),
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::Peer, "{}", error),
        }
    }
}

/// Returns the layout of one nullable and one other column of these types, with room for lists of
/// this many rows.
fn layout(types: [DataType; 2], row_bytes: usize, repeated: RepeatedKeys) -> PayloadLayout {
    let [first, second] = types;
    let files = Files::new();
    let path = files.path("t.arrow");
    let fields = vec![Field::new("a", first, true), Field::new("b", second, false)];
    let schema = Arc::new(Schema::new(fields));
    let file = fs::File::create(&path).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &schema).unwrap();
    writer.write(&RecordBatch::new_empty(schema)).unwrap();
    writer.finish().unwrap();
    let columns = GivenColumns::of(&open(&path), &names(&["a", "b"])).unwrap();
    PayloadLayout::new(columns, row_bytes, repeated).unwrap()
}

#[test]
fn malformed_payloads_are_errors() {
    let text_and_flag = [DataType::Utf8, DataType::Boolean];
    for (repeated, payload, fault) in [
        (RepeatedKeys::First, &[0, 1, 0, b'x', 1, 0][..], None),
        (RepeatedKeys::First, &[1, 0, 0, 0, 0, 0], None),
        (
            RepeatedKeys::First,
            &[0, 1, 0, b'x', 2, 0],
            Some("a boolean that is none"),
        ),
        (
            RepeatedKeys::First,
            &[0, 1, 0, 0xff, 1, 0],
            Some("not UTF-8"),
        ),
        (RepeatedKeys::First, &[0, 4, 0, b'x', 1, 0], Some("cut off")),
        (RepeatedKeys::First, &[0, 3, 0, b'x', 1, 0], Some("cut off")),
        (
            RepeatedKeys::First,
            &[0, 1, 0, b'x', 1, 1],
            Some("behind its end"),
        ),
        (
            RepeatedKeys::First,
            &[2, 1, 0, b'x', 0, 0],
            Some("where there are none"),
        ),
        (
            RepeatedKeys::First,
            &[4, 1, 0, b'x', 1, 0],
            Some("null in no column"),
        ),
        (list(1), &[1, 0, 0, 1, 0, b'x', 1, 0], None),
        (
            list(1),
            &[0, 0, 0, 1, 0, b'x', 1, 0],
            Some("a number of rows"),
        ),
        (
            list(1),
            &[2, 0, 0, 1, 0, b'x', 1, 0],
            Some("a number of rows"),
        ),
        (
            list(2),
            &[1, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            Some("a boolean that is none"),
        ),
        (
            list(2),
            &[1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0],
            Some("behind its end"),
        ),
    ] {
        let layout = layout(text_and_flag.clone(), 6, repeated);
        let payloads = Payloads::new(layout, payload.to_vec());
        match (payloads.check(), fault) {
            (Ok(()), None) => {}
            (Err(error), Some(fault)) => {
                assert_contains(&error.to_string(), fault);
                assert_eq!(error.kind(), ErrorKind::Peer);
            }
            (checked, _) => panic!("{payload:?}: {checked:?}"),
        }
    }
    let digits = [
        DataType::Decimal64(3, 1),
        DataType::Time32(TimeUnit::Second),
    ];
    let payload = |decimal: i64| [&[0][..], &decimal.to_le_bytes(), &[0; 4]].concat();
    for (decimal, fits) in [(999, true), (1000, false), (-1000, false)] {
        let layout = layout(digits.clone(), 13, RepeatedKeys::Refuse);
        let checked = Payloads::new(layout, payload(decimal)).check();
        assert_eq!(checked.is_ok(), fits, "{decimal}");
    }
}

#[test]
fn malformed_offers_are_errors() {
    let files = Files::new();
    let source = open(&files.text("t.csv", "id,b\n1,2\n"));
    let columns = GivenColumns::of(&source, &names(&["b", "id"])).unwrap();
    let bytes = columns.to_bytes();
    assert_eq!(bytes, b"\x01\x02\0\x01\0b\0\0\x02\0id\0\0");
    for cut in 0..bytes.len() {
        let error = GivenColumns::from_bytes(&bytes[..cut]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Peer);
    }
    for wrong in [
        &b"\x02\x02\0\x01\0b\0\0\x02\0id\0\0"[..],
        b"\x01\x02\0\x01\0b\0\0\x01\0b\0\0",
        b"\x01\0\0",
        b"\x01\x01\0\x01\0\n\0\0",
        b"\x01\x01\0\x01\0\xff\0\0",
        b"\x01\x01\0\x01\0b\0\x02",
        b"\x01\x01\0\x01\0b\x1f\0",
        b"\x01\x01\0\x01\0b\x20\x0a\0\0",
        b"\x01\x01\0\x01\0b\x25\x02\0",
        b"\x01\x01\0\x01\0b\x27\0\0\0",
        b"\x01\x01\0\x01\0b\0\0 ",
        b"\x01\x01\0\x01\x04b\0\0",
    ] {
        assert!(GivenColumns::from_bytes(wrong).is_err(), "{wrong:?}");
    }
    let told = PayloadLayout::new(columns, 9, list(3)).unwrap().to_bytes();
    assert_eq!(told[..4], [9, 0, 3, 0]);
    // Rows without room for flags, and payloads that are too long.
    for numbers in [[0, 0, 0, 0], [0xff, 0xff, 2, 0]] {
        let wrong = [&numbers[..], &told[4..]].concat();
        assert!(PayloadLayout::from_bytes(&wrong).is_err());
    }
}

#[test]
fn columns_are_taken_by_name() {
    let files = Files::new();
    let source = open(&files.text("t.csv", "id,a,b\n1,2,3\n"));
    let offered = GivenColumns::of(&source, &names(&["a", "b"])).unwrap();
    let taken = offered.take(&names(&["b"])).unwrap();
    assert_eq!(taken.names().collect::<Vec<_>>(), ["b"]);
    let error = |wanted: &[&str]| offered.take(&names(wanted)).unwrap_err().to_string();
    assert_contains(
        &error(&["id"]),
        "does not offer the column `id`; it offers `a`, `b`",
    );
    assert_contains(&error(&["a", "a"]), "`a` is given twice");
    assert_contains(&error(&[]), "between 1 and 256 columns");

    let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1)])]);
    let nested = files.path("nested.arrow");
    arrow_file(
        &nested,
        &[
            ("list", array(list)),
            ("tab\t", array(Int8Array::from(vec![1]))),
            ("txt\u{202e}", array(Int8Array::from(vec![1]))),
        ],
    );
    let error = |wanted: &str| {
        let offered = GivenColumns::of(&open(&nested), &names(&[wanted]));
        offered.unwrap_err().to_string()
    };
    assert_contains(
        &error("list"),
        "the column `list` cannot be shared with the partner: it holds List",
    );
    for name in ["tab\t", "txt\u{202e}"] {
        assert_contains(&error(name), "control, format or separator character");
    }
    assert_contains(&error("other"), "no column `other`");
}

#[test]
fn rows_that_repeat_a_key_are_refused_unless_it_is_said_what_to_do() {
    let files = Files::new();
    let theirs = files.text("t.csv", "id,b\n1,u\n2,v\n,w\n2,x\n1,y\n2,z\n");
    let error = |repeated| give(&theirs, &["b"], repeated).map(drop).unwrap_err();
    assert_contains(
        &error(RepeatedKeys::Refuse).to_string(),
        "3 of the rows repeat a key, the first of them row 4 of the table",
    );
    let refused = error(list(2));
    assert_contains(
        &refused.to_string(),
        "row 6 of the table has a key that 2 rows before have",
    );
    assert_eq!(refused.kind(), ErrorKind::Input);
    let mine = files.text("mine.csv", "id\n2\n3\n1\n2");
    let join = |repeated| {
        let gift = give(&theirs, &["b"], repeated).unwrap();
        gift.join(&mine, WhichRows::Shared, &files.path("out.csv"))
            .unwrap();
        files.read("out.csv")
    };
    assert_eq!(join(RepeatedKeys::First), "id,b\n2,v\n1,u\n2,v");
    assert_eq!(
        join(list(3)),
        "id,b\n2,v\n2,x\n2,z\n1,u\n1,y\n2,v\n2,x\n2,z"
    );
}

#[test]
fn a_row_that_is_too_long_is_named() {
    let files = Files::new();
    let theirs = files.text("t.csv", "id,b\n1,secret\n2,longer secret\n");
    let progress = Progress::default();
    let source = open(&theirs);
    let columns = GivenColumns::of(&source, &names(&["b"])).unwrap();
    let keys = Keys::read(&source, &key(&["id"], &[]), &[], &progress).unwrap();
    let rows = keys.holder.given(RepeatedKeys::Refuse).unwrap();
    // A flag, a length and the text.
    assert_eq!(
        rows.longest_row(&source, &columns, &progress).unwrap(),
        1 + 2 + 13
    );
    let layout = PayloadLayout::new(columns, 15, RepeatedKeys::Refuse).unwrap();
    let error = rows.payloads(&source, &layout, &progress).unwrap_err();
    assert_contains(
        &error.to_string(),
        "row 2 of the table takes more than 15 bytes",
    );
    assert!(!format!("{error} {error:?}").contains("secret"));
    let long = files.text("long.csv", format!("id,b\n1,{}\n", "x".repeat(70_000)));
    let error = give(&long, &["b"], RepeatedKeys::Refuse)
        .map(drop)
        .unwrap_err();
    assert_contains(
        &error.to_string(),
        "row 1 of the table takes more than 65535 bytes",
    );
}

#[test]
fn fields_are_written_in_the_tables_dialect() {
    let files = Files::new();
    let theirs = files.parquet(
        "theirs.parquet",
        &[
            ("id", array(StringArray::from(vec!["1", "2"]))),
            ("b|", array(StringArray::from(vec![Some("x|\"\n"), None]))),
        ],
    );
    let gift = give(&theirs, &["b|"], RepeatedKeys::Refuse).unwrap();
    let join = |text: &str, dialect: &Dialect, name: &str, output: &str| {
        let input = files.text(name, text);
        let progress = Progress::default();
        let source = Source::open(&input, None, dialect, true, &progress).unwrap();
        let keys = Keys::read(&source, &key(&["id"], &[]), &[], &progress).unwrap();
        let payloads = keys
            .fingerprints
            .iter()
            .map(|key| gift.payload(key).unwrap());
        let payloads = payloads.collect::<Vec<_>>().concat();
        let all: Vec<u32> = (0..keys.fingerprints.len() as u32).collect();
        let (partners, payloads) = keys.partners(&all, &gift.layout, payloads);
        let output = files.path(output);
        Destination::prepare(Some(&output), &source, Existing::Replace)?
            .adding(gift.layout.columns(), "partner_", &source)?
            .stage_joined(&source, &partners, &payloads, &progress)?
            .commit()
    };
    let pipes = Dialect::default().with_delimiter(b'|').unwrap();
    join("id|c\n2|\r\n1|y\n", &pipes, "t.csv", "out.csv").unwrap();
    assert_eq!(
        files.read("out.csv"),
        "id|c|\"b|\"\n2||\r\n1|y|\"x|\"\"\n\"\n"
    );
    let escapes = pipes.with_quote(None).unwrap().with_escapes();
    join("id|c\n2|\n1|y\n", &escapes, "t.csv", "out.csv").unwrap();
    assert_eq!(files.read("out.csv"), "id|c|b\\|\n2||\\N\n1|y|x\\|\"\\n\n");
    let plain = Dialect::default().with_quote(None).unwrap();
    let error = join("id,c\n2,\n1,y\n", &plain, "t.csv", "out.csv").unwrap_err();
    assert_contains(
        &error.to_string(),
        "row 2 of the table gets, in the column `b|`, a delimiter or a line break",
    );
    let error = join("id\tc\n1\ty\n", &Dialect::default(), "t.tsv", "out.tsv").unwrap_err();
    assert_contains(&error.to_string(), "write .parquet");
}

#[test]
fn a_letter_that_the_encoding_lacks_is_told() {
    let files = Files::new();
    let theirs = files.text("theirs.csv", "id,b\n1,\u{3b1}\n2,\u{e9}\n");
    let gift = give(&theirs, &["b"], RepeatedKeys::Refuse).unwrap();
    let dialect = Dialect::default().with_encoding("windows-1252".parse().unwrap());
    let join = |text: &str| {
        let input = files.text("t.csv", text);
        let progress = Progress::default();
        let source = Source::open(&input, None, &dialect, true, &progress).unwrap();
        let keys = Keys::read(&source, &key(&["id"], &[]), &[], &progress).unwrap();
        let payloads = gift.payload(&keys.fingerprints[0]).unwrap().to_vec();
        let (partners, payloads) = keys.partners(&[0], &gift.layout, payloads);
        Destination::prepare(Some(&files.path("out.csv")), &source, Existing::Replace)?
            .adding(gift.layout.columns(), "partner_", &source)?
            .stage_joined(&source, &partners, &payloads, &progress)?
            .commit()
    };
    join("id\n2\n").unwrap();
    assert_eq!(fs::read(files.path("out.csv")).unwrap(), b"id,b\n2,\xe9\n");
    assert_contains(
        &join("id\n1\n").unwrap_err().to_string(),
        "row 1 of the table gets, in the column `b`, a character that its encoding lacks",
    );
}

/// Of more rows than are widened, or read, at once.
#[test]
fn long_tables_are_the_same_file_for_any_number_of_threads() {
    const ROWS: i64 = 20_000;
    let files = Files::new();
    let theirs = files.path("theirs.parquet");
    let ids = Int64Array::from_iter_values((0..ROWS).map(|row| row / 2 * 3));
    let words = StringArray::from_iter_values((0..ROWS).map(|row| format!("word {row}")));
    let batch = RecordBatch::try_from_iter([("id", array(ids)), ("word", array(words))]).unwrap();
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_max_row_group_row_count(Some(3_000))
        .build();
    let file = fs::File::create(&theirs).unwrap();
    let schema = batch.schema();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let line = |row: i64| format!("{row},{}\n", row % 7);
    let text: String = (0..ROWS).map(line).collect();
    let text = files.text("mine.csv", format!("id,n\n{text}"));
    let numbers = |value: fn(i64) -> i64| array(Int64Array::from_iter_values((0..ROWS).map(value)));
    let columns = [("id", numbers(|row| row)), ("n", numbers(|row| row % 7))];
    let typed = files.parquet("mine.parquet", &columns);

    let gift = give(&theirs, &["word"], list(2)).unwrap();
    let expected: String = (0..ROWS)
        .flat_map(|row| {
            let own = format!("{row},{}", row % 7);
            let words = [row / 3 * 2, row / 3 * 2 + 1];
            match row % 3 == 0 && words[0] < ROWS {
                true => words
                    .map(|word| format!("{own},true,word {word}\n"))
                    .to_vec(),
                false => vec![format!("{own},false,\n")],
            }
        })
        .collect();
    for mine in [&text, &typed] {
        for name in ["out.csv", "out.parquet", "out.arrow"] {
            let written = [1, 3].map(|threads| {
                let output = files.path(name);
                let join = || gift.join(mine, WhichRows::All, &output).unwrap();
                let rows = Pool::new(threads).unwrap().run(join);
                assert_eq!(rows as usize, expected.lines().count());
                fs::read(output).unwrap()
            });
            assert!(written[0] == written[1], "{name}");
        }
        assert!(files.read("out.csv") == format!("id,n,shared,word\n{expected}"));
        let file = fs::File::open(files.path("out.parquet")).unwrap();
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
        let mut words = expected
            .lines()
            .map(|line| line.rsplit(',').next().unwrap());
        for batch in reader.unwrap().build().unwrap() {
            let batch = batch.unwrap();
            for word in batch.column(3).as_string::<i32>() {
                assert_eq!(word.unwrap_or_default(), words.next().unwrap());
            }
        }
        assert_eq!(words.next(), None);
    }
}

/// Of lists with so long a row of the table beside each of their rows that one takes more than is
/// widened at once.
#[test]
fn long_lists_are_written_piece_by_piece_and_whole() {
    const KEYS: usize = 12;
    let files = Files::new();
    let lengths = |key: usize| [0, 1, 500][key % 3];
    let words =
        (0..KEYS).flat_map(|key| (0..lengths(key)).map(move |row| format!("{key},{key}.{row}\n")));
    let theirs = files.text(
        "theirs.csv",
        format!("id,word\n{}", words.collect::<String>()),
    );
    let long = |key: usize| "x".repeat(1000 + 1500 * (key % 4));
    let own = |key: usize| format!("{key},{}", long(key));
    let rows: String = (0..KEYS).map(|key| own(key) + "\n").collect();
    let text = files.text("mine.csv", format!("id,text\n{rows}"));
    let ids = array(StringArray::from_iter_values(
        (0..KEYS).map(|key| key.to_string()),
    ));
    let texts = array(StringArray::from_iter_values((0..KEYS).map(long)));
    let typed = files.parquet("mine.parquet", &[("id", ids), ("text", texts)]);

    let gift = give(&theirs, &["word"], list(500)).unwrap();
    let expected: Vec<String> = (0..KEYS)
        .flat_map(|key| match lengths(key) {
            0 => vec![format!("{},false,", own(key))],
            rows => (0..rows)
                .map(|row| format!("{},true,{key}.{row}", own(key)))
                .collect(),
        })
        .collect();
    for mine in [&text, &typed] {
        for (name, threads) in [
            ("out.csv", 1),
            ("out.csv", 3),
            ("out.parquet", 1),
            ("out.parquet", 3),
        ] {
            let output = files.path(name);
            let join = || gift.join(mine, WhichRows::All, &output).unwrap();
            let rows = Pool::new(threads).unwrap().run(join);
            assert_eq!(rows as usize, expected.len());
        }
        let written = files.read("out.csv");
        assert!(written.lines().skip(1).eq(&expected));
        let file = fs::File::open(files.path("out.parquet")).unwrap();
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
        let mut lines = expected.iter();
        for batch in reader.unwrap().build().unwrap() {
            let batch = batch.unwrap();
            let text = |column: usize| batch.column(column).as_string::<i32>();
            for row in 0..batch.num_rows() {
                let shared = batch.column(2).as_boolean().value(row);
                let word = match text(3).is_null(row) {
                    true => "",
                    false => text(3).value(row),
                };
                let (id, own) = (text(0).value(row), text(1).value(row));
                assert!(*lines.next().unwrap() == format!("{id},{own},{shared},{word}"));
            }
        }
        assert_eq!(lines.next(), None);
    }
}

#[test]
fn keys_in_partitions_give_and_get_the_same() {
    let files = Files::new();
    let table = |step: u32| -> String {
        let row = |at: u32| format!("{},{}\n", at * step % 700, at);
        (0..1_000).map(row).collect()
    };
    let theirs = files.text("theirs.csv", format!("id,b\n{}", table(3)));
    let mine = files.text("mine.csv", format!("id,c\n{}", table(7)));
    let repeated = list(9);
    let gift = give(&theirs, &["b"], repeated).unwrap();
    gift.join(&mine, WhichRows::All, &files.path("expected.csv"))
        .unwrap();

    let progress = Progress::default();
    let spill = &Spill::new(Budget::new(0), Folder::temporary());
    let partitions = |source: &Source| {
        TableKeys::read(source, &key(&["id"], &[]), &[], spill, &progress).unwrap()
    };
    let items = |keys: &TableKeys| -> (Vec<[u8; 32]>, Vec<u32>) {
        let items =
            (0..keys.partitions()).map(|partition| keys.items(partition).unwrap().into_owned());
        let items = items.flat_map(|items| items.fingerprints.into_iter().zip(items.first_rows));
        items.unzip()
    };
    let source = open(&theirs);
    let keys = partitions(&source);
    let given = keys.given(repeated).unwrap();
    // Items are in another order where no key of a partition is repeated.
    let (fingerprints, _) = items(&keys);
    let all = given.payloads(&source, &gift.layout, &progress).unwrap();
    let spilled = given.partitioned(&source, &gift.layout, &keys, spill, &progress);
    let spilled = spilled.unwrap();
    assert!(spilled.spilled_bytes() > 0);
    type Take = fn(&PartitionedPayloads, usize) -> Result<Vec<u8>, Error>;
    let take: [Take; 2] = [
        PartitionedPayloads::payloads,
        PartitionedPayloads::take_payloads,
    ];
    for take in take {
        let mut taken = Vec::new();
        for partition in 0..keys.partitions() {
            let mut items = 0;
            for stretch in spilled.stretches(partition) {
                let of_partition = spilled.items(partition, stretch);
                assert_eq!(of_partition.start, items);
                items = of_partition.end;
                taken.extend(take(&spilled, stretch).unwrap());
            }
            assert_eq!(items, keys.items_in(partition));
        }
        assert_eq!(taken, all);
    }
    let payloads = all.chunks_exact(gift.layout.payload_bytes());
    assert!(
        fingerprints
            .iter()
            .zip(payloads)
            .all(|(key, payload)| gift.payload(key) == Some(payload))
    );
    assert_eq!(fingerprints.len(), gift.keys.fingerprints.len());
    let error = keys.given(RepeatedKeys::Refuse).unwrap_err().to_string();
    let expected = gift
        .keys
        .holder
        .given(RepeatedKeys::Refuse)
        .unwrap_err()
        .to_string();
    assert_eq!(error, expected);

    let source = open(&mine);
    let keys = partitions(&source);
    let (fingerprints, first_rows) = items(&keys);
    let shared = fingerprints.iter().zip(first_rows);
    let shared = shared.filter_map(|(key, row)| Some((row, gift.payload(key)?.to_vec())));
    let shared: Vec<(u32, Vec<u8>)> = shared.collect();
    for (which, range_rows, threads) in [
        (WhichRows::All, 7, 1),
        (WhichRows::All, 7, 3),
        (WhichRows::Shared, 64, 3),
        (WhichRows::Unshared, 64, 1),
        (WhichRows::All, 1_000_000, 1),
    ] {
        for name in ["out.csv", "out.parquet"] {
            let expected = files.path(&format!("expected.{name}"));
            let expected_rows = gift.join(&mine, which, &expected).unwrap();
            let given = InRanges::new(range_rows, shared.iter().cloned());
            let (reads, ranges) = (
                given.reads.clone(),
                1_000_usize.div_ceil(range_rows as usize),
            );
            let found = SharedKeys::ByRows {
                first_rows: given.bits(keys.counts().rows),
                payloads: Some(Box::new(given)),
            };
            let (partners, payloads) = keys.partners(found, &gift.layout, spill).unwrap();
            assert_eq!(payloads.len(), shared.len());
            payloads.check().unwrap();
            let output = files.path(name);
            let write = || {
                let destination = Destination::prepare(Some(&output), &source, Existing::Replace)?
                    .choosing(which, &source)?
                    .adding(gift.layout.columns(), "partner_", &source)?;
                let staged = destination.stage_joined(&source, &partners, &payloads, &progress)?;
                staged.commit()
            };
            let rows = Pool::new(threads).unwrap().run(write).unwrap();
            assert_eq!(rows, expected_rows);
            assert!(fs::read(&output).unwrap() == fs::read(&expected).unwrap());
            // For repeated keys, to check, to count, and to write.
            assert!(reads.load(Ordering::Relaxed) <= 4 * ranges);
        }
    }
}
