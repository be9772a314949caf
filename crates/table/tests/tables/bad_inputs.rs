//! Every kind of input that cannot be read, and what is said of it: file, place, what is wrong,
//! what to do.

use std::fmt::Write;

use arrow_array::*;
use psijoin_source::{Dialect, Format, Progress, Source, check_numbers};
use psijoin_table::{Error, KeySpec};

use crate::{Files, array, held::Keys, key};

/// An option for the form of a table.
type Say = fn(Dialect) -> Result<Dialect, Error>;

/// A table, what is said of it, its key, the rules, and a column of numbers.
struct Case<'a> {
    name: &'a str,
    bytes: &'a [u8],
    format: Option<Format>,
    say: Say,
    key: &'a [&'a str],
    rule: &'a str,
    numbers: &'a [&'a str],
}

impl<'a> Case<'a> {
    fn new(name: &'a str, bytes: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Self {
            name,
            bytes: bytes.as_ref(),
            format: None,
            say: Ok,
            key: &["id"],
            rule: "",
            numbers: &[],
        }
    }

    fn key(self, key: &'a [&'a str]) -> Self {
        Self { key, ..self }
    }

    fn rule(self, rule: &'a str) -> Self {
        Self { rule, ..self }
    }

    fn number(self) -> Self {
        Self {
            numbers: &["n"],
            ..self
        }
    }

    fn say(self, say: Say) -> Self {
        Self { say, ..self }
    }

    fn format(self, format: Format) -> Self {
        Self {
            format: Some(format),
            ..self
        }
    }

    /// Returns what is said of it.
    fn message(&self, files: &Files) -> String {
        let path = files.text(self.name, self.bytes);
        let error = self.read(&path).unwrap_err().to_string();
        let folder = format!("{}/", path.parent().unwrap().display());
        error.replace(&folder, "")
    }

    fn read(&self, path: &std::path::Path) -> Result<Keys, Error> {
        let progress = Progress::default();
        let dialect = (self.say)(Dialect::default())?;
        let rules: Vec<String> = match self.rule {
            "" => vec![],
            rule => vec![format!("id={rule}")],
        };
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        let key: KeySpec = key(self.key, &rules);
        let source = Source::open(path, self.format, &dialect, !self.key.is_empty(), &progress)?;
        source.check_key(&key)?;
        let numbers: Vec<String> = self.numbers.iter().map(|&name| name.to_owned()).collect();
        check_numbers(&source, &numbers)?;
        Keys::read(&source, &key, &numbers, &progress)
    }
}

fn encoded(label: &str) -> impl Fn(Dialect) -> Result<Dialect, Error> {
    move |dialect| Ok(dialect.with_encoding(label.parse()?))
}

/// Returns a table with a cell that a rule cannot read.
fn cell<'a>(text: &'a str, rule: &'a str) -> Case<'a> {
    Case::new("t.csv", text).rule(rule)
}

fn texts() -> Vec<Case<'static>> {
    vec![
        Case::new("t.csv", ""),
        Case::new("t.csv", "\n\r\n"),
        Case::new("t.csv", "\u{feff}"),
        Case::new("t.csv", "id,name\n1,a\n").key(&["mail"]),
        Case::new("t.csv", "id,name\n1,a\n").key(&[]),
        Case::new("t.csv", "id;name\n1;a\n"),
        Case::new("t.csv", "ID,name\n1,a\n"),
        Case::new("t.csv", "id\tname\n1\ta\n"),
        Case::new("t.csv", "id,id\n1,a\n"),
        Case::new("t.csv", "id,name\n1,a,b\n"),
        Case::new("t.csv", "id,name\n1,a\n2\n"),
        Case::new("t.csv", "id,name\n1,\"a\n2,b\n"),
        Case::new("t.csv", "id,name\n\"1\"x,a\n"),
        Case::new("t.csv", "id,name\r1,a\r"),
        Case::new("t.csv", "id,name\n1,a\rb\n"),
        Case::new("t.csv", b"id,name\n1,a\n2,\xe9\n"),
        Case::new("t.csv", b"i\xe9,name\n1,a\n"),
        Case::new("t.tsv", "id\tname\n1\ta\tb\n"),
        Case::new("t.tsv", "id,name\n1,a\n"),
        Case::new("t.txt", b"a\nb\xff\n").key(&[]),
        Case::new("t.txt", "a\n"),
        Case::new("t.csv", "1,a\n2\n")
            .key(&["1"])
            .say(|dialect| Ok(dialect.without_header())),
        Case::new("t.csv", "")
            .key(&["1"])
            .say(|dialect| Ok(dialect.without_header())),
        Case::new("t.csv", "id\n1\n").say(|dialect| Ok(dialect.with_delimiter(b'"')?)),
        Case::new("t.csv", "id\n1\n").say(|dialect| Ok(dialect.with_delimiter(b'\n')?)),
        Case::new("t.txt", "id\n1\n").say(|dialect| Ok(dialect.with_delimiter(b';')?)),
        Case::new("t.tsv", "id\n1\\q\n").say(|dialect| Ok(dialect.with_escapes())),
        Case::new("t.csv", "id\n1\n").say(|dialect| Ok(dialect.with_escapes())),
    ]
}

fn encodings() -> Vec<Case<'static>> {
    vec![
        Case::new("t.csv", b"\xff\xfei\0d\0\n\0\0\xd8\n\0"),
        Case::new("t.csv", b"\xff\xfei\0d\0\n\x001"),
        Case::new("t.csv", b"\xff\xfe\0\0i\0\0\0"),
        Case::new("t.csv", b"\xff\xfei\0d\0").say(|dialect| encoded("utf-8")(dialect)),
        Case::new("t.csv", b"id\n\xd2\n").say(|dialect| encoded("windows-1253")(dialect)),
        Case::new("t.csv", b"id\n\x81\n").say(|dialect| encoded("shift_jis")(dialect)),
        Case::new("t.csv", b"id\n1\n").say(|dialect| encoded("klingon")(dialect)),
        Case::new("t.parquet", b"PAR1").say(|dialect| encoded("utf-16")(dialect)),
    ]
}

fn containers() -> Vec<Case<'static>> {
    vec![
        Case::new("t.csv.gz", "id\n1\n"),
        Case::new("t.csv.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03cut"),
        Case::new("t.csv.zst", "id\n1\n"),
        Case::new("t.csv.zst", ""),
        Case::new("t.csv", b"\x1f\x8b\x08\0\0\0\0\0"),
        Case::new("t.csv", b"\x28\xb5\x2f\xfd\0\0"),
        Case::new("t.xlsx", b"PK\x03\x04"),
        Case::new("t.csv", b"PK\x03\x04"),
        Case::new("t.csv", b"BZh91AY&SY"),
        Case::new("t.tsv", b"\xfd7zXZ\0"),
        Case::new("t.csv", b"\xfd7zXZ\0").say(|dialect| encoded("windows-1252")(dialect)),
        Case::new("t.txt", b"7z\xbc\xaf\x27\x1c"),
        Case::new("t.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        Case::new("t.parquet", b"Obj\x01"),
        Case::new("t.feather", b"FEA1\0\0\0\0"),
        Case::new("t.csv", "%PDF-1.7\n"),
        Case::new("t.csv", "<!DOCTYPE html>\n"),
        Case::new("t.csv", "{\"id\": 1}\n"),
        Case::new("t.csv", "version https://git-lfs.github.com/spec/v1\n"),
        Case::new("t.csv", "-----BEGIN PGP MESSAGE-----\n"),
        Case::new("t.csv", b"i\0\0\0d\0\0\0\n\0\0\0"),
        Case::new("t", "id\n1\n"),
        Case::new("t.parquet", ""),
        Case::new("t.parquet", "id\n1\n"),
        Case::new("t.parquet", b"PAR1 and no more"),
        Case::new("t.parquet", b"PAR1....\0\0\0\0PARE"),
        Case::new("t.csv", b"PAR1 and no more"),
        Case::new("t.csv", b"ARROW1\0\0"),
        Case::new("t.arrow", "id\n1\n"),
        Case::new("t.arrow", b"ARROW1\0\0cut off"),
        Case::new("t.feather", b"\xff\xff\xff\xff\x10\0\0\0"),
        Case::new("t.csv", "id\n1\n").format(Format::Parquet),
    ]
}

fn cells() -> Vec<Case<'static>> {
    let number = |text| Case::new("t.csv", text).number();
    vec![
        cell("id\n1\n\"1,5\"\n", "number"),
        cell("id\n\"1,000\"\n", "number"),
        cell("id\n1e2000\n", "number"),
        cell("id\nmaybe\n", "bool"),
        cell("id\nf81d4fae-7dec\n", "uuid"),
        cell("id\n2024-02-30\n", "date"),
        cell("id\n2024-02-03\n", "date:%d.%m.%Y"),
        cell("id\n2024-02-03 25:00:00\n", "timestamp"),
        cell("id\n2024-10-27 02:30:00\n", "timestamp:Europe/Berlin"),
        cell("id\n2024-03-31 02:30:00\n", "timestamp:Europe/Berlin"),
        cell("id\n13:60\n", "time"),
        cell("id\n12\n", "phone:DE"),
        number("id,n\n1,x\n"),
        number("id,n\n1,\"1,5\"\n"),
        number("id,n\n1,1e2000\n"),
        number("id,n\n1,0.1234567890123456789\n"),
        number("id,n\n1,9223372036854775807\n2,1\n"),
        number("id,m\n1,2\n"),
    ]
}

/// Makes files of typed columns, where the test runs.
fn typed(files: &Files) -> Vec<(&'static str, Vec<u8>)> {
    let ids = || array(Int64Array::from(vec![1, 2]));
    let lists = ListArray::from_iter_primitive::<types::Int32Type, _, _>([Some([Some(1)]), None]);
    let halves = Float64Array::from(vec![1.0, 2.5]);
    let huge = Float32Array::from(vec![1.0, 16_777_216.0]);
    let flags = BooleanArray::from(vec![true, false]);
    let deep = Decimal128Array::from(vec![1, 2]);
    let deep = deep.with_precision_and_scale(38, 20).unwrap();
    let bytes = |columns: &[(&str, ArrayRef)]| {
        std::fs::read(files.parquet("made.parquet", columns)).unwrap()
    };
    let whole = bytes(&[("id", ids())]);
    vec![
        ("a list as a key", bytes(&[("id", array(lists))])),
        ("a half as a key", bytes(&[("id", array(halves))])),
        ("a rounded number as a key", bytes(&[("id", array(huge))])),
        (
            "a flag as a number",
            bytes(&[("id", ids()), ("n", array(flags))]),
        ),
        (
            "deep decimals as numbers",
            bytes(&[("id", ids()), ("n", array(deep))]),
        ),
        ("without its end", whole[..whole.len() - 1].to_vec()),
        ("without its beginning", whole[4..].to_vec()),
        ("no such column", bytes(&[("x", ids())])),
    ]
}

#[test]
fn each_bad_input_is_told_with_its_place_and_what_to_do() {
    let files = Files::new();
    let mut all = String::new();
    let mut count = 0;
    let mut note = |title: String, message: String| {
        writeln!(all, "{title}\n    {message}\n").unwrap();
        count += 1;
    };
    let cases = [texts(), encodings(), containers(), cells()];
    for case in cases.into_iter().flatten() {
        let shown = String::from_utf8_lossy(case.bytes);
        let rule = match case.rule {
            "" => String::new(),
            rule => format!(" by {rule}"),
        };
        note(
            format!("{} {:?}{rule}", case.name, shown.replace('\u{fffd}', "?")),
            case.message(&files),
        );
    }
    for (title, bytes) in typed(&files) {
        let case = Case::new("t.parquet", &bytes);
        let case = match title.contains("number") && !title.contains("key") {
            true => case.number(),
            false => case,
        };
        note(format!("t.parquet: {title}"), case.message(&files));
    }
    assert!(count >= 60, "{count}");
    insta::assert_snapshot!(all);
}
