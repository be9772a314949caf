//! A value is one key, whatever type, format and rule it comes from, and another value is another
//! key.

use std::sync::Arc;

use arrow_array::{types::*, *};
use arrow_buffer::i256;
use psijoin_source::{Format, Progress};
use psijoin_table::Inspection;

use crate::{Files, array, held::Keys, items, key, open, read, read_bytes};

/// One way to have a value: its name, or `""` for none, and where it stands.
type Spelling = (&'static str, Cell, &'static str);

/// A table of one column and one row.
enum Cell {
    Csv(&'static str),
    Tsv(&'static str),
    Line(&'static str),
    Parquet(ArrayRef),
}

use Cell::*;

fn typed(column: impl Array + 'static) -> Cell {
    Parquet(array(column))
}

fn text(value: &'static str) -> Cell {
    typed(StringArray::from(vec![value]))
}

fn word(value: &'static str) -> Cell {
    let words: DictionaryArray<Int32Type> = [Some(value)].into_iter().collect();
    typed(words)
}

fn decimal(value: i128, precision: u8, scale: i8) -> Cell {
    let column = Decimal128Array::from(vec![value]);
    typed(column.with_precision_and_scale(precision, scale).unwrap())
}

fn keys(files: &Files, (_, cell, rule): &Spelling) -> Keys {
    let rules = format!("value={rule}");
    let rules = match *rule {
        "" => vec![],
        _ => vec![&*rules],
    };
    let key = key(&["value"], &rules);
    match cell {
        Csv(text) => read_bytes(Format::Csv, format!("value\n\"{text}\"\n"), &key),
        Tsv(text) => read_bytes(Format::Tsv, format!("value\n{text}\n"), &key),
        Line(text) => read_bytes(Format::Lines, format!("{text}\n"), &key),
        Parquet(column) => read(
            &files.parquet("t.parquet", &[("value", column.clone())]),
            &key,
        ),
    }
    .unwrap()
}

fn numbers() -> Vec<Spelling> {
    let dictionary = DictionaryArray::new(
        Int8Array::from(vec![0]),
        Arc::new(Int64Array::from(vec![12])),
    );
    let half = <Float16Type as ArrowPrimitiveType>::Native::from_f32(12.0);
    let wide = Decimal256Array::from(vec![i256::from_i128(1_200)]);
    let narrow = Decimal32Array::from(vec![150]);
    vec![
        ("12", Csv("12"), ""),
        ("12", Csv(" 012.00"), "number"),
        ("12", Tsv("1.2e1"), "number"),
        ("12", Line("+12"), "number"),
        ("12", text("12."), "number"),
        ("12", word("12.0"), "number"),
        ("12", typed(Int8Array::from(vec![12])), ""),
        ("12", typed(UInt16Array::from(vec![12])), "number"),
        ("12", typed(Int64Array::from(vec![12])), ""),
        ("12", typed(UInt64Array::from(vec![12])), ""),
        ("12", typed(dictionary), ""),
        ("12", typed(Float16Array::from(vec![half])), ""),
        ("12", typed(Float32Array::from(vec![12.0])), ""),
        ("12", typed(Float64Array::from(vec![12.0])), "number"),
        ("12", decimal(1_200, 12, 2), ""),
        ("12", decimal(12_000_000_000, 38, 9), "number"),
        (
            "12",
            typed(wide.with_precision_and_scale(76, 2).unwrap()),
            "",
        ),
        // Text without a rule is as it stands.
        ("text 12.0", Csv("12.0"), ""),
        ("text 12.0", text("12.0"), ""),
        ("text 012", word("012"), ""),
        ("-12", Csv("-12.0"), "number"),
        ("-12", typed(Int32Array::from(vec![-12])), ""),
        ("-12", decimal(-1_200, 12, 2), ""),
        ("1.5", Csv("1.5"), ""),
        ("1.5", Csv("1.50"), "number"),
        ("1.5", Line("15e-1"), "number"),
        ("1.5", decimal(150, 12, 2), ""),
        ("1.5", decimal(1_500_000_000, 38, 9), ""),
        (
            "1.5",
            typed(narrow.with_precision_and_scale(9, 2).unwrap()),
            "number",
        ),
        ("0", Csv("0"), ""),
        ("0", Csv("-0.00"), "number"),
        ("0", typed(Float64Array::from(vec![-0.0])), ""),
        ("0", decimal(0, 12, 2), ""),
        (
            "2^53-1",
            typed(Float64Array::from(vec![9_007_199_254_740_991.0])),
            "",
        ),
        (
            "2^53-1",
            typed(Int64Array::from(vec![9_007_199_254_740_991])),
            "",
        ),
        (
            "2^53+1",
            typed(Int64Array::from(vec![9_007_199_254_740_993])),
            "",
        ),
        ("2^53+1", Csv("9007199254740993.0"), "number"),
        ("", Csv(""), "number"),
        ("", Csv("  "), "number"),
        ("", typed(Float64Array::from(vec![f64::NAN])), ""),
        ("", typed(Float64Array::from(vec![None])), "number"),
        ("", typed(NullArray::new(1)), "number"),
    ]
}

fn truths() -> Vec<Spelling> {
    vec![
        ("true", Csv("true"), ""),
        ("true", Csv("True"), "bool"),
        ("true", Tsv("T"), "bool"),
        ("true", Line("YES"), "bool"),
        ("true", word("y"), "bool"),
        ("true", typed(Int8Array::from(vec![1])), "bool"),
        ("true", typed(Float64Array::from(vec![1.0])), "bool"),
        ("true", typed(BooleanArray::from(vec![true])), ""),
        ("true", typed(BooleanArray::from(vec![true])), "bool"),
        ("false", Csv("FALSE"), "bool"),
        ("false", text(" no "), "bool"),
        ("false", decimal(0, 9, 2), "bool"),
        ("false", typed(BooleanArray::from(vec![false])), ""),
        ("text True", Csv("True"), ""),
        ("text 1", Csv("1"), ""),
        ("", Csv(""), "bool"),
        ("", typed(BooleanArray::from(vec![None])), "bool"),
    ]
}

fn dates() -> Vec<Spelling> {
    let dictionary = DictionaryArray::new(
        Int8Array::from(vec![0]),
        Arc::new(Date32Array::from(vec![19_756])),
    );
    vec![
        ("2024-02-03", Csv("2024-02-03"), ""),
        ("2024-02-03", Csv("2024-02-03"), "date"),
        ("2024-02-03", Csv("20240203"), "date"),
        ("2024-02-03", Csv("03.02.2024"), "date:%d.%m.%Y"),
        ("2024-02-03", Tsv("3.2.24"), "date:%d.%m.%y"),
        ("2024-02-03", Line("02/03/2024"), "date:%m/%d/%Y"),
        ("2024-02-03", text("3 Feb 2024 "), "date:%d %b %Y"),
        ("2024-02-03", word("d=3 m=2 y=2024"), "date:d=%d m=%m y=%Y"),
        (
            "2024-02-03",
            typed(Int32Array::from(vec![20_240_203])),
            "date",
        ),
        ("2024-02-03", typed(Date32Array::from(vec![19_756])), ""),
        ("2024-02-03", typed(Date32Array::from(vec![19_756])), "date"),
        (
            "2024-02-03",
            typed(Date32Array::from(vec![19_756])),
            "date:%d.%m.%Y",
        ),
        (
            "2024-02-03",
            typed(Date64Array::from(vec![19_756 * 86_400_000])),
            "",
        ),
        ("2024-02-03", typed(dictionary), "date:%d.%m.%Y"),
        (
            "2024-02-03",
            typed(TimestampMicrosecondArray::from(vec![
                19_756 * 86_400_000_000,
            ])),
            "date:%d.%m.%Y",
        ),
        ("2024-02-03", Csv("2024-02-03 00:00:00"), "date"),
        ("2024-03-02", Csv("02/03/2024"), "date:%d/%m/%Y"),
        ("2024-03-02", typed(Date32Array::from(vec![19_784])), ""),
        ("text 20240203", Csv("20240203"), ""),
        (
            "text 20240203",
            typed(Int32Array::from(vec![20_240_203])),
            "",
        ),
        ("1969-12-31", typed(Date32Array::from(vec![-1])), "date"),
        ("1969-12-31", Csv("19691231"), "date"),
        ("", Csv(""), "date:%d.%m.%Y"),
        ("", typed(Date32Array::from(vec![None])), "date:%d.%m.%Y"),
    ]
}

fn timestamps() -> Vec<Spelling> {
    // 2024-02-03 12:34:56
    let second = 1_706_963_696;
    let midnight = 19_756 * 86_400;
    vec![
        ("plain", Csv("2024-02-03 12:34:56"), ""),
        ("plain", Csv("2024-02-03T12:34:56"), "timestamp"),
        ("plain", Tsv("2024-02-03 12:34:56.000000"), "timestamp"),
        ("plain", text("20240203 12:34:56"), "timestamp"),
        ("plain", typed(TimestampSecondArray::from(vec![second])), ""),
        (
            "plain",
            typed(TimestampMillisecondArray::from(vec![second * 1_000])),
            "timestamp",
        ),
        (
            "plain",
            typed(TimestampMicrosecondArray::from(vec![second * 1_000_000])),
            "",
        ),
        (
            "plain",
            typed(TimestampNanosecondArray::from(vec![second * 1_000_000_000])),
            "timestamp",
        ),
        ("zoned", Csv("2024-02-03 12:34:56Z"), ""),
        ("zoned", Csv("2024-02-03T13:34:56+01:00"), "timestamp"),
        ("zoned", Line("2024-02-03 12:34:56 UTC"), "timestamp"),
        ("zoned", word("2024-02-03 07:34:56-05"), "timestamp"),
        (
            "zoned",
            typed(TimestampMillisecondArray::from(vec![second * 1_000]).with_timezone("UTC")),
            "",
        ),
        (
            "zoned",
            typed(
                TimestampNanosecondArray::from(vec![second * 1_000_000_000])
                    .with_timezone("+02:00"),
            ),
            "timestamp",
        ),
        ("quarter", Csv("2024-02-03 12:34:56.250"), "timestamp"),
        (
            "quarter",
            typed(TimestampMillisecondArray::from(vec![second * 1_000 + 250])),
            "",
        ),
        (
            "quarter",
            typed(TimestampNanosecondArray::from(vec![
                second * 1_000_000_000 + 250_000_000,
            ])),
            "",
        ),
        ("text T", Csv("2024-02-03T12:34:56"), ""),
        ("midnight", Csv("2024-02-03"), "timestamp"),
        ("midnight", Csv("03.02.2024"), "date:%d.%m.%Y+timestamp"),
        (
            "midnight",
            typed(Date32Array::from(vec![19_756])),
            "timestamp",
        ),
        (
            "midnight",
            typed(TimestampSecondArray::from(vec![midnight])),
            "",
        ),
        ("date", Csv("2024-02-03"), ""),
        (
            "before 1970",
            Csv("1969-12-31T23:59:59.999999"),
            "timestamp",
        ),
        (
            "before 1970",
            typed(TimestampMicrosecondArray::from(vec![-1])),
            "",
        ),
        ("time", Csv("12:34:56.25"), ""),
        (
            "time",
            typed(Time32MillisecondArray::from(vec![45_296_250])),
            "",
        ),
        (
            "time",
            typed(Time64NanosecondArray::from(vec![45_296_250_000_000])),
            "",
        ),
        ("time", Csv("12:34:56.250"), "time"),
        ("time", text("12:34:56.25 PM"), "time"),
        (
            "time",
            typed(Time64MicrosecondArray::from(vec![45_296_250_000])),
            "time",
        ),
        ("short time", Csv("9:05"), "time"),
        ("short time", Tsv("9:05:00 AM"), "time"),
        (
            "short time",
            typed(Time32SecondArray::from(vec![9 * 3600 + 5 * 60])),
            "",
        ),
        ("", Csv(""), "time"),
        ("", typed(Time32SecondArray::from(vec![None])), "time"),
        (
            "zoned",
            Csv("2024-02-03 13:34:56"),
            "timestamp:Europe/Berlin",
        ),
        (
            "zoned",
            Tsv("2024-02-03T07:34:56.0"),
            "timestamp:America/New_York",
        ),
        ("zoned", text("2024-02-03 12:34:56"), "timestamp:UTC"),
        (
            "zoned",
            word("2024-02-03 13:34:56+01:00"),
            "timestamp:America/New_York",
        ),
        (
            "zoned",
            typed(TimestampSecondArray::from(vec![second + 3600])),
            "timestamp:Europe/Berlin",
        ),
        (
            "zoned",
            typed(TimestampMicrosecondArray::from(vec![second * 1_000_000]).with_timezone("UTC")),
            "timestamp:Europe/Berlin",
        ),
        ("midnight in Berlin", Csv("2024-02-02 23:00:00Z"), ""),
        (
            "midnight in Berlin",
            Csv("2024-02-03"),
            "timestamp:Europe/Berlin",
        ),
        (
            "midnight in Berlin",
            Line("03.02.2024"),
            "date:%d.%m.%Y+timestamp:Europe/Berlin",
        ),
        (
            "midnight in Berlin",
            typed(Date32Array::from(vec![19_756])),
            "timestamp:Europe/Berlin",
        ),
        (
            "midnight in Berlin",
            typed(TimestampSecondArray::from(vec![midnight])),
            "timestamp:Europe/Berlin",
        ),
        ("", Csv(" "), "timestamp:Europe/Berlin"),
        ("", Csv(" "), "timestamp"),
        ("", typed(TimestampSecondArray::from(vec![None])), ""),
    ]
}

fn texts_and_bytes() -> Vec<Spelling> {
    let uuid = 0xf81d4fae_7dec_11d0_a765_00a0c91e6bf6_u128.to_be_bytes();
    let sixteen = || typed(FixedSizeBinaryArray::try_from_iter([uuid].iter()).unwrap());
    vec![
        ("uuid", Csv("f81d4fae-7dec-11d0-a765-00a0c91e6bf6"), ""),
        ("uuid", Csv("F81D4FAE7DEC11D0A76500A0C91E6BF6"), "uuid"),
        (
            "uuid",
            Tsv("{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}"),
            "uuid",
        ),
        (
            "uuid",
            text("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
            "uuid",
        ),
        ("uuid", sixteen(), "uuid"),
        ("hex", sixteen(), ""),
        ("hex", typed(BinaryArray::from(vec![&uuid[..]])), ""),
        (
            "hex",
            typed(LargeBinaryArray::from(vec![&uuid[..]])),
            "lowercase",
        ),
        ("hex", Csv("F81D4FAE7DEC11D0A76500A0C91E6BF6"), "lowercase"),
        ("hex", Line("f81d4fae7dec11d0a76500a0c91e6bf6"), ""),
        ("é", Csv("é"), ""),
        ("é", text("é"), "nfc"),
        ("é", Csv("e\u{301}"), "nfc"),
        ("é", word("e\u{301}"), "nfkc"),
        ("decomposed", Csv("e\u{301}"), ""),
        ("fi", Csv("\u{fb01}"), "nfkc"),
        ("fi", typed(StringViewArray::from(vec!["fi"])), ""),
        ("ligature", Csv("\u{fb01}"), "nfc"),
        ("", typed(BinaryArray::from(vec![&b""[..]])), ""),
        ("", typed(LargeStringArray::from(vec![""])), "uuid"),
    ]
}

fn telephones() -> Vec<Spelling> {
    vec![
        ("Berlin", Csv("030 1234567"), "phone:DE"),
        ("Berlin", Tsv("+49 (0)30 1234567"), "phone:DE"),
        ("Berlin", Line("+49301234567"), "phone:DE"),
        ("Berlin", Csv("+49301234567"), ""),
        ("Berlin", Csv("0049 30 1234567"), "phone"),
        ("Berlin", text("(030) 123-4567"), "phone:de"),
        ("Berlin", word("011 49 30 1234567"), "phone:US"),
        (
            "Berlin",
            typed(Int64Array::from(vec![301_234_567])),
            "phone:DE",
        ),
        ("digits", Csv("030 1234567"), "phone"),
        ("extension", Csv("030 1234567 x12"), "phone:DE"),
        ("extension", Csv("+49 30 1234567 ext. 12"), "phone:FR"),
        ("extension", Csv("+49301234567;ext=12"), ""),
        ("Paris", Csv("01 23 45 67 89"), "phone:FR"),
        ("Paris", text("+33 (0)1 23 45 67 89"), "phone:DE"),
        ("", Csv(""), "phone:DE"),
        ("", typed(StringArray::from(vec![None::<&str>])), "phone:DE"),
    ]
}

fn letters() -> Vec<Spelling> {
    vec![
        ("strasse", Csv("Straße"), "casefold"),
        ("strasse", text("STRASSE"), "casefold"),
        ("strasse", Line("strasse"), ""),
        ("strasse", word("STRA\u{1e9e}E"), "casefold"),
        ("straße", Csv("Straße"), "lowercase"),
        ("odos", Tsv("ΟΔΟΣ"), "casefold"),
        ("odos", Csv("οδος"), "casefold"),
        ("i", Csv("I"), "casefold"),
        ("dotless i", Csv("ı"), "casefold"),
        ("", Csv(""), "casefold"),
    ]
}

/// Each spelling of a table is held against each other one: two match if and only if they have one
/// name, and none matches that has no value.
#[test]
fn one_value_has_one_key_whatever_its_type_format_and_rule() {
    let files = Files::new();
    let (mut pairs, mut matches) = (0, 0);
    for spellings in [
        numbers(),
        truths(),
        dates(),
        timestamps(),
        texts_and_bytes(),
        telephones(),
        letters(),
    ] {
        let tables: Vec<_> = spellings
            .iter()
            .map(|spelling| keys(&files, spelling))
            .collect();
        for (index, (value, cell, rule)) in spellings.iter().enumerate() {
            let counts = tables[index].counts;
            assert_eq!(
                (counts.rows, counts.distinct),
                (1, u64::from(!value.is_empty())),
                "{value}"
            );
            for (other, table) in tables[..index].iter().enumerate() {
                let expected = !value.is_empty() && spellings[other].0 == *value;
                let fingerprints = &tables[index].fingerprints;
                let shared = fingerprints
                    .iter()
                    .any(|key| table.fingerprints.contains(key));
                let shown = |cell: &Cell| match cell {
                    Csv(text) | Tsv(text) | Line(text) => format!("text {text:?}"),
                    Parquet(column) => column.data_type().to_string(),
                };
                assert_eq!(
                    shared,
                    expected,
                    "{value} as {} by {rule:?}, and {} as {} by {:?}",
                    shown(cell),
                    spellings[other].0,
                    shown(&spellings[other].1),
                    spellings[other].2
                );
                pairs += 1;
                matches += usize::from(expected);
            }
        }
    }
    assert!(pairs > 1_000 && matches > 250, "{pairs} {matches}");
}

/// Typed columns and text, with the same rules on both sides, as a session has them.
#[test]
fn keys_of_several_columns_match_too() {
    let files = Files::new();
    let parquet = files.parquet(
        "t.parquet",
        &[
            (
                "id",
                array(Float64Array::from(vec![Some(7.0), Some(8.0), None])),
            ),
            (
                "day",
                array(Date32Array::from(vec![19_756, 19_757, 19_758])),
            ),
        ],
    );
    let rules = ["id=number", "day=date:%d.%m.%Y"];
    let key = key(&["id", "day"], &rules);
    let csv = "id,day\n7.0,03.02.2024\n08,04.02.2024\n,05.02.2024\n";
    assert_eq!(
        read(&parquet, &key).unwrap(),
        read_bytes(Format::Csv, csv, &key).unwrap()
    );
}

#[test]
fn each_number_is_of_the_country_in_its_row() {
    let files = Files::new();
    let rows = [
        ("030 1234567", "DE"),
        ("(202) 555-0123", "us"),
        ("+49301234567", ""),
        ("030 1234567", ""),
        ("", "DE"),
    ];
    let text: String = rows
        .map(|(phone, land)| format!("{phone},x,{land}\n"))
        .concat();
    let csv = files.text("t.csv", format!("phone,between,land\n{text}"));
    let column = |values: [&str; 5]| array(StringArray::from(values.to_vec()));
    let phones = column(rows.map(|(phone, _)| phone));
    let lands: DictionaryArray<Int32Type> = rows.iter().map(|(_, land)| Some(*land)).collect();
    let words: DictionaryArray<Int32Type> = rows.iter().map(|(phone, _)| Some(*phone)).collect();
    let columns = [
        ("land", array(lands)),
        ("between", phones.clone()),
        ("phone", phones),
    ];
    let parquet = files.parquet("t.parquet", &columns);
    let columns = [("land", columns[0].1.clone()), ("phone", array(words))];
    let dictionary = files.parquet("d.parquet", &columns);
    let key = key(&["phone"], &["phone=phone:column:land"]);
    let null = key.clone().with_bad_keys("null".parse().unwrap());
    for path in [csv, parquet, dictionary] {
        let told = read(&path, &key).unwrap_err().to_string();
        let expected = "column `phone`: a telephone number without a country code, in a row whose column `land` is not";
        assert!(told.contains(expected), "{told}");
        let keys = read(&path, &null).unwrap();
        assert_eq!(items(&keys), [Some(0), Some(1), Some(0), None, None]);
        let seen = Inspection::read(&open(&path), &null, 9, &Progress::default()).unwrap();
        assert_eq!(seen.first, [["+49301234567"], ["+12025550123"]]);
    }
    // A missing column is seen at once.
    let missing = crate::key(&["phone"], &["phone=phone:column:x"]);
    assert!(open(&files.path("t.csv")).check_key(&missing).is_err());
    assert!(open(&files.path("t.parquet")).check_key(&missing).is_err());
}
