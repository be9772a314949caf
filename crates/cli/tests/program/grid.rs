//! One value in every type, format and rule, on either side: which of these match, and which are
//! warned of. The tables that come of it stand in the documentation.

use std::sync::Arc;

use arrow_array::{types::*, *};

use crate::support::{Folder, join};

const TABLES: &str = include_str!("../../../../docs/tables.md");

/// One way to have a value.
struct Spelling {
    /// Its name in the documentation.
    shown: &'static str,
    cell: Cell,
    rule: &'static str,
    /// Its canonical text, and what it means: two match if and only if they have one text, and are
    /// silent if and only if they mean the same.
    text: &'static str,
    meaning: &'static str,
}

/// A table of one column and one row.
enum Cell {
    Csv(&'static str),
    Tsv(&'static str),
    Parquet(ArrayRef),
}

use Cell::*;

fn typed(column: impl Array + 'static) -> Cell {
    Parquet(Arc::new(column))
}

fn decimal(value: i128, precision: u8, scale: i8) -> Cell {
    let column = Decimal128Array::from(vec![value]);
    typed(column.with_precision_and_scale(precision, scale).unwrap())
}

/// A row of a family: how it is shown, the cell, the rule, the canonical text, the meaning.
type Row = (&'static str, Cell, &'static str, &'static str, &'static str);

fn family<const N: usize>(rows: [Row; N]) -> Vec<Spelling> {
    let spelling = |(shown, cell, rule, text, meaning)| Spelling {
        shown,
        cell,
        rule,
        text,
        meaning,
    };
    rows.map(spelling).into()
}

fn numbers() -> Vec<Spelling> {
    family([
        ("text `12`", Csv("12"), "", "12", "text"),
        ("text `12.00`", Csv("12.00"), "", "12.00", "text"),
        (
            "text `012.00`, `number`",
            Csv("012.00"),
            "number",
            "12",
            "number",
        ),
        (
            "text `1.2e1` in TSV, `number`",
            Tsv("1.2e1"),
            "number",
            "12",
            "number",
        ),
        ("int8", typed(Int8Array::from(vec![12])), "", "12", "number"),
        (
            "int64",
            typed(Int64Array::from(vec![12])),
            "",
            "12",
            "number",
        ),
        (
            "uint32, `number`",
            typed(UInt32Array::from(vec![12])),
            "number",
            "12",
            "number",
        ),
        ("decimal(12,2)", decimal(1_200, 12, 2), "", "12", "number"),
        (
            "decimal(38,9)",
            decimal(12_000_000_000, 38, 9),
            "",
            "12",
            "number",
        ),
        (
            "float64",
            typed(Float64Array::from(vec![12.0])),
            "",
            "12",
            "number",
        ),
        (
            "text in Parquet, `trim+number`",
            typed(StringArray::from(vec![" 12.0"])),
            "trim+number",
            "12",
            "number",
        ),
    ])
}

fn booleans() -> Vec<Spelling> {
    family([
        ("text `true`", Csv("true"), "", "true", "text"),
        ("text `True`", Csv("True"), "", "True", "text"),
        (
            "text `True`, `lowercase`",
            Csv("True"),
            "lowercase",
            "true",
            "text: lowercase",
        ),
        (
            "text `True`, `bool`",
            Csv("True"),
            "bool",
            "true",
            "boolean",
        ),
        (
            "text `1` in TSV, `bool`",
            Tsv("1"),
            "bool",
            "true",
            "boolean",
        ),
        ("int8 1", typed(Int8Array::from(vec![1])), "", "1", "number"),
        ("text `1.0`, `bool`", Csv("1.0"), "bool", "true", "boolean"),
        (
            "int8 1, `bool`",
            typed(Int8Array::from(vec![1])),
            "bool",
            "true",
            "boolean",
        ),
        (
            "boolean",
            typed(BooleanArray::from(vec![true])),
            "",
            "true",
            "boolean",
        ),
    ])
}

fn dates() -> Vec<Spelling> {
    let midnight = TimestampMicrosecondArray::from(vec![19_756 * 86_400_000_000]);
    family([
        (
            "text `2024-02-03`",
            Csv("2024-02-03"),
            "",
            "2024-02-03",
            "text",
        ),
        ("text `20240203`", Csv("20240203"), "", "20240203", "text"),
        (
            "text `20240203`, `date`",
            Csv("20240203"),
            "date",
            "2024-02-03",
            "date",
        ),
        (
            "text `03.02.2024`, `date:%d.%m.%Y`",
            Csv("03.02.2024"),
            "date:%d.%m.%Y",
            "2024-02-03",
            "date",
        ),
        (
            "text `02/03/24` in TSV, `date:%m/%d/%y`",
            Tsv("02/03/24"),
            "date:%m/%d/%y",
            "2024-02-03",
            "date",
        ),
        (
            "int32 20240203, `date`",
            typed(Int32Array::from(vec![20_240_203])),
            "date",
            "2024-02-03",
            "date",
        ),
        (
            "text `45325`, `date:excel`",
            Csv("45325"),
            "date:excel",
            "2024-02-03",
            "date",
        ),
        (
            "float64 45325, `date:excel`",
            typed(Float64Array::from(vec![45_325.0])),
            "date:excel",
            "2024-02-03",
            "date",
        ),
        (
            "date32",
            typed(Date32Array::from(vec![19_756])),
            "",
            "2024-02-03",
            "date",
        ),
        (
            "date64, `date:%d.%m.%Y`",
            typed(Date64Array::from(vec![19_756 * 86_400_000])),
            "date:%d.%m.%Y",
            "2024-02-03",
            "date",
        ),
        (
            "timestamp at midnight",
            typed(midnight.clone()),
            "",
            "2024-02-03 00:00:00",
            "timestamp without a zone",
        ),
        (
            "timestamp at midnight, `date`",
            typed(midnight),
            "date",
            "2024-02-03",
            "date",
        ),
    ])
}

fn timestamps() -> Vec<Spelling> {
    // 2024-02-03 12:34:56
    const SECOND: i64 = 1_706_963_696;
    const PLAIN: &str = "timestamp without a zone";
    const UNIVERSAL: &str = "timestamp in universal time";
    let (plain, universal) = ("2024-02-03 12:34:56", "2024-02-03 12:34:56Z");
    let nanoseconds = TimestampNanosecondArray::from(vec![SECOND * 1_000_000_000]);
    let milliseconds = TimestampMillisecondArray::from(vec![SECOND * 1_000]);
    family([
        ("text `2024-02-03 12:34:56`", Csv(plain), "", plain, "text"),
        (
            "text `2024-02-03T12:34:56.000`, `timestamp`",
            Csv("2024-02-03T12:34:56.000"),
            "timestamp",
            plain,
            PLAIN,
        ),
        (
            "timestamp(s)",
            typed(TimestampSecondArray::from(vec![SECOND])),
            "",
            plain,
            PLAIN,
        ),
        (
            "timestamp(ns), `timestamp`",
            typed(nanoseconds.clone()),
            "timestamp",
            plain,
            PLAIN,
        ),
        (
            "text `2024-02-03T13:34:56+01:00` in TSV, `timestamp`",
            Tsv("2024-02-03T13:34:56+01:00"),
            "timestamp",
            universal,
            UNIVERSAL,
        ),
        (
            "text `2024-02-03 13:34:56`, `timestamp:Europe/Berlin`",
            Csv("2024-02-03 13:34:56"),
            "timestamp:Europe/Berlin",
            universal,
            UNIVERSAL,
        ),
        (
            "text `2024-02-03 13:34:56`, `timestamp:GMT+1`",
            Csv("2024-02-03 13:34:56"),
            "timestamp:GMT+1",
            universal,
            UNIVERSAL,
        ),
        (
            "text `1706963696`, `timestamp:unix`",
            Csv("1706963696"),
            "timestamp:unix",
            universal,
            UNIVERSAL,
        ),
        (
            "int64 1706963696000, `timestamp:unix-ms`",
            typed(Int64Array::from(vec![SECOND * 1_000])),
            "timestamp:unix-ms",
            universal,
            UNIVERSAL,
        ),
        (
            "timestamp(ms, UTC)",
            typed(milliseconds.with_timezone("UTC")),
            "",
            universal,
            UNIVERSAL,
        ),
        (
            "timestamp(ns, +02:00), `timestamp`",
            typed(nanoseconds.clone().with_timezone("+02:00")),
            "timestamp",
            universal,
            UNIVERSAL,
        ),
        (
            "timestamp(ns), `timestamp:UTC`",
            typed(nanoseconds),
            "timestamp:UTC",
            universal,
            UNIVERSAL,
        ),
    ])
}

fn times() -> Vec<Spelling> {
    let time = "13:05:00.25";
    family([
        ("text `13:05:00.25`", Csv(time), "", time, "text"),
        (
            "text `1:05:00.250 PM`, `time`",
            Csv("1:05:00.250 PM"),
            "time",
            time,
            "time of day",
        ),
        (
            "time32(ms)",
            typed(Time32MillisecondArray::from(vec![47_100_250])),
            "",
            time,
            "time of day",
        ),
        (
            "time64(ns), `time`",
            typed(Time64NanosecondArray::from(vec![47_100_250_000_000])),
            "time",
            time,
            "time of day",
        ),
    ])
}

fn uuids() -> Vec<Spelling> {
    let uuid = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
    let hex = "f81d4fae7dec11d0a76500a0c91e6bf6";
    let bytes = 0xf81d4fae_7dec_11d0_a765_00a0c91e6bf6_u128.to_be_bytes();
    let fixed = FixedSizeBinaryArray::try_from_iter([bytes].iter()).unwrap();
    family([
        ("text `f81d4fae-7dec-…`", Csv(uuid), "", uuid, "text"),
        (
            "text `F81D4FAE7DEC…`, `uuid`",
            Csv("F81D4FAE7DEC11D0A76500A0C91E6BF6"),
            "uuid",
            uuid,
            "UUID",
        ),
        (
            "text `{f81d4fae-7dec-…}` in TSV, `uuid`",
            Tsv("{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}"),
            "uuid",
            uuid,
            "UUID",
        ),
        (
            "text `F81D4FAE7DEC…`, `lowercase`",
            Csv("F81D4FAE7DEC11D0A76500A0C91E6BF6"),
            "lowercase",
            hex,
            "text: lowercase",
        ),
        (
            "binary",
            typed(BinaryArray::from(vec![&bytes[..]])),
            "",
            hex,
            "binary",
        ),
        (
            "fixed_size_binary(16)",
            typed(fixed.clone()),
            "",
            hex,
            "binary",
        ),
        (
            "fixed_size_binary(16), `uuid`",
            typed(fixed),
            "uuid",
            uuid,
            "UUID",
        ),
    ])
}

fn telephones() -> Vec<Spelling> {
    const E164: &str = "telephone number in E.164";
    let number = "+49301234567";
    family([
        ("text `+49301234567`", Csv(number), "", number, "text"),
        (
            "text `+49 (0)30 1234567`, `phone`",
            Csv("+49 (0)30 1234567"),
            "phone",
            "+490301234567",
            "telephone number",
        ),
        (
            "text `0049 30 1234567`, `phone`",
            Csv("0049 30 1234567"),
            "phone",
            number,
            "telephone number",
        ),
        (
            "text `030 1234567`, `phone`",
            Csv("030 1234567"),
            "phone",
            "0301234567",
            "telephone number without a country code",
        ),
        (
            "text `030 1234567`, `phone:DE`",
            Csv("030 1234567"),
            "phone:DE",
            number,
            E164,
        ),
        (
            "text `+49 (0)30 1234567` in TSV, `phone:de`",
            Tsv("+49 (0)30 1234567"),
            "phone:de",
            number,
            E164,
        ),
        (
            "text `+49301234567`, `phone:FR`",
            Csv(number),
            "phone:FR",
            number,
            E164,
        ),
        (
            "text `030 1234567` beside `DE`, `phone:column:c`",
            Csv("030 1234567,DE"),
            "phone:column:c",
            number,
            E164,
        ),
        (
            "int64 301234567, `phone:DE`",
            typed(Int64Array::from(vec![301_234_567])),
            "phone:DE",
            number,
            E164,
        ),
    ])
}

fn texts() -> Vec<Spelling> {
    let words: DictionaryArray<Int32Type> = [Some("Straße")].into_iter().collect();
    let large = LargeStringArray::from(vec!["STRASSE"]);
    family([
        ("text `Straße`", Csv("Straße"), "", "Straße", "text"),
        ("dictionary", typed(words), "", "Straße", "text"),
        (
            "text ` Straße`, `trim`",
            Csv(" Straße"),
            "trim",
            "Straße",
            "text: trim",
        ),
        (
            "text `Straße` in TSV, `email`",
            Tsv("Straße"),
            "email",
            "straße",
            "text: trim, lowercase",
        ),
        (
            "text `Straße`, `casefold`",
            Csv("Straße"),
            "casefold",
            "strasse",
            "text: casefold",
        ),
        (
            "large text `STRASSE`, `casefold`",
            typed(large),
            "casefold",
            "strasse",
            "text: casefold",
        ),
        (
            "binary `Straße`, `text`",
            typed(BinaryArray::from(vec!["Straße".as_bytes()])),
            "text",
            "Straße",
            "text",
        ),
        (
            "text `Straße`, `null:common`",
            Csv("Straße"),
            "null:common",
            "Straße",
            "text",
        ),
        (
            "text `Straße`, `nfc`",
            Csv("Straße"),
            "nfc",
            "Straße",
            "text: nfc",
        ),
    ])
}

fn hashes() -> Vec<Spelling> {
    const HASH: &str = "SHA-256 hash";
    // Of `ann@x.org`.
    let hex = "367a1e74302c7324855afeeba387d3c55ca8ab3592a32c0fbdfc939ad80fcaf5";
    let hash = [
        0x367a1e74302c7324855afeeba387d3c5_u128,
        0x5ca8ab3592a32c0fbdfc939ad80fcaf5,
    ]
    .map(u128::to_be_bytes)
    .concat();
    family([
        (
            "text `ann@x.org`",
            Csv("ann@x.org"),
            "",
            "ann@x.org",
            "text",
        ),
        ("text `367a1e74…`", Csv(hex), "", hex, "text"),
        ("text `367a1e74…`, `sha256`", Csv(hex), "sha256", hex, HASH),
        (
            "text `367A1E74…` in TSV, `sha256`",
            Tsv("367A1E74302C7324855AFEEBA387D3C55CA8AB3592A32C0FBDFC939AD80FCAF5"),
            "sha256",
            hex,
            HASH,
        ),
        (
            "text `NnoedDAs…` (Base64), `sha256`",
            Csv("NnoedDAscySFWv7ro4fTxVyoqzWSoywPvfyTmtgPyvU="),
            "sha256",
            hex,
            HASH,
        ),
        (
            "binary, `sha256`",
            typed(BinaryArray::from(vec![&hash[..]])),
            "sha256",
            hex,
            HASH,
        ),
        (
            "text ` Ann@X.org`, `email+sha256`",
            Csv(" Ann@X.org"),
            "email+sha256",
            hex,
            HASH,
        ),
        (
            "binary ` Ann@X.org`, `text+email+sha256`",
            typed(BinaryArray::from(vec![&b" Ann@X.org"[..]])),
            "text+email+sha256",
            hex,
            HASH,
        ),
    ])
}

/// Joins each spelling with each, as receiver and as sender, and gives the table of what came of
/// it.
fn joined(title: &str, spellings: &[Spelling]) -> String {
    let folder = Folder::new();
    let arguments: Vec<Vec<String>> = (0..)
        .zip(spellings)
        .map(|(at, one)| arguments(&folder, at, one))
        .collect();
    let mut table = format!("### {title}\n\n| | |");
    for at in 1..=spellings.len() {
        table += &format!(" {at} |");
    }
    table += &format!("\n|--:|---|{}\n", ":-:|".repeat(spellings.len()));
    for (at, ours) in spellings.iter().enumerate() {
        table += &format!("| {} | {} |", at + 1, ours.shown);
        for (theirs, sender) in spellings.iter().zip(&arguments) {
            let (matches, warns) = outcome(&arguments[at], sender);
            let pair = format!("{} and {}", ours.shown, theirs.shown);
            assert_eq!(matches, ours.text == theirs.text, "{pair}");
            assert_eq!(warns, ours.meaning != theirs.meaning, "{pair}");
            let sign = match (matches, warns) {
                (true, false) => "=",
                (true, true) => "(=)",
                (false, true) => "≠",
                (false, false) => "–",
            };
            table += &format!(" {sign} |");
        }
        table.push('\n');
    }
    table
}

/// Returns the arguments of a party that has this table.
fn arguments(folder: &Folder, at: usize, spelling: &Spelling) -> Vec<String> {
    let file = match &spelling.cell {
        Csv(text) if spelling.rule.contains(":column:") => {
            folder.file(&format!("{at}.csv"), format!("k,c\n{text}\n"))
        }
        Csv(text) => folder.file(&format!("{at}.csv"), format!("k\n{text}\n")),
        Tsv(text) => folder.file(&format!("{at}.tsv"), format!("k\n{text}\n")),
        Parquet(column) => folder.parquet(&format!("{at}.parquet"), vec![("k", column.clone())]),
    };
    let rule = format!("k={}", spelling.rule);
    let normalize = match spelling.rule {
        "" => vec![],
        _ => vec!["--normalize", &rule],
    };
    let output = ["--insecure-plaintext", "--output-kind", "count"];
    let key = ["--key", "k", "--input", &file];
    let all = output.into_iter().chain(key).chain(normalize);
    all.map(str::to_owned).collect()
}

/// Returns whether the two tables share their key, and whether both sides were warned.
fn outcome(receiver: &[String], sender: &[String]) -> (bool, bool) {
    let [receiver, sender] = [receiver, sender]
        .map(|arguments| arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let both = join(&receiver, &sender);
    let warned = [&both.receiver, &both.sender].map(|ended| {
        ended.says(0, &[]);
        ended.stderr.contains("may be written in two ways")
    });
    assert_eq!(warned[0], warned[1], "both or none are warned");
    let is_told = both.receiver.stderr.contains("no key is shared");
    let matches = match &*both.receiver.stdout {
        "1\n" => true,
        "0\n" => false,
        other => panic!("{other:?} is no count of one key"),
    };
    assert_ne!(matches, is_told, "no zero without a word");
    assert!(!both.sender.stderr.contains("no key is shared"));
    (matches, warned[0])
}

/// The part of the documentation between these marks is what came of a family.
#[track_caller]
fn documented(title: &str, spellings: Vec<Spelling>) {
    let table = joined(title, &spellings);
    if std::env::var_os("PSIJOIN_SHOW_GRID").is_some() {
        eprintln!("{table}");
    } else {
        assert!(
            TABLES.contains(&table),
            "docs/tables.md should have this table (PSIJOIN_SHOW_GRID=1 prints all):\n{table}"
        );
    }
}

#[test]
fn of_numbers() {
    documented("Numbers", numbers());
}

#[test]
fn of_booleans() {
    documented("Booleans", booleans());
}

#[test]
fn of_dates() {
    documented("Dates", dates());
}

#[test]
fn of_timestamps() {
    documented("Timestamps", timestamps());
}

#[test]
fn of_times_of_day() {
    documented("Times of day", times());
}

#[test]
fn of_uuids_and_bytes() {
    documented("UUIDs and bytes", uuids());
}

#[test]
fn of_telephone_numbers() {
    documented("Telephone numbers", telephones());
}

#[test]
fn of_texts() {
    documented("Texts", texts());
}

#[test]
fn of_hashes() {
    documented("Hashes", hashes());
}
