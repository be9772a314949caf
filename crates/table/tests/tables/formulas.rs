//! Texts that a spreadsheet would take for formulas.

use std::path::Path;

use arrow_array::*;
use proptest::prelude::*;
use psijoin_source::{Dialect, ErrorKind, Progress, Source};
use psijoin_table::{Destination, Error, Existing, WhichRows, share::RepeatedKeys};

use crate::{
    Files, array, assert_contains,
    given::{arrow_file, give},
    held::{Keys, WriteMatched as _},
    key, open,
};

/// Writes all rows of a table, whose key is `id`.
fn write(source: &Source, output: &Path) -> Result<u64, Error> {
    let progress = Progress::default();
    let keys = Keys::read(source, &key(&["id"], &[]), &[], &progress)?;
    let all = vec![true; keys.fingerprints.len()];
    Destination::prepare(Some(output), source, Existing::Replace)?
        .quoting_formulas()?
        .write(source, &keys, &all, &progress)
}

fn with_dialect(path: &Path, dialect: &Dialect) -> Source {
    Source::open(path, None, dialect, true, &Progress::default()).unwrap()
}

#[test]
fn rows_of_a_text_keep_their_bytes_but_for_formulas() {
    let files = Files::new();
    let output = files.path("out.csv");
    let csv = files.text(
        "t.csv",
        "\"id\",=name,\"-n\"\r\n1,\"x\",-5\r\n2,=cmd|'/c calc'!A1,+49\n3,\"@a\"\"b\",\"=1\n\"\n4,a=b,",
    );
    write(&open(&csv), &output).unwrap();
    assert_eq!(
        files.read("out.csv"),
        "\"id\",\"'=name\",\"'-n\"\r\n1,\"x\",-5\r\n2,\"'=cmd|'/c calc'!A1\",+49\n3,\"'@a\"\"b\",\"'=1\n\"\n4,a=b,"
    );

    let semicolons = Dialect::default().with_delimiter(b';').unwrap();
    let semicolons = semicolons.with_quote(Some(b'~')).unwrap();
    let text = files.text("t.csv", "id;n\n~1~;=x\n");
    write(&with_dialect(&text, &semicolons), &output).unwrap();
    assert_eq!(files.read("out.csv"), "id;n\n~1~;~'=x~\n");

    let escapes = Dialect::default().with_delimiter(b'|').unwrap();
    let escapes = escapes.with_quote(None).unwrap().with_escapes();
    let text = files.text("t.csv", "id|n|m\n1|=x\\|y|\\N\n");
    write(&with_dialect(&text, &escapes.without_header()), &output).unwrap_err();
    write(&with_dialect(&text, &escapes), &output).unwrap();
    assert_eq!(files.read("out.csv"), "id|n|m\n1|'=x\\|y|\\N\n");

    let tsv = files.text("t.tsv", "id\t@n\n1\t=x\n\"=2\"\t-7\n");
    write(&open(&tsv), &files.path("out.tsv")).unwrap();
    assert_eq!(files.read("out.tsv"), "id\t'@n\n1\t'=x\n'\"=2\"\t-7\n");

    let utf_16 = "\u{feff}id,n\n1,=é\n";
    let bytes =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let text = files.text("t.csv", bytes(utf_16));
    write(&open(&text), &output).unwrap();
    assert_eq!(
        std::fs::read(&output).unwrap(),
        bytes("\u{feff}id,n\n1,\"'=é\"\n")
    );
}

#[test]
fn columns_without_texts_stay_as_they_are() {
    let files = Files::new();
    let typed = files.path("t.arrow");
    let words: DictionaryArray<types::Int32Type> = vec!["+x", "-5"].into_iter().collect();
    arrow_file(
        &typed,
        &[
            ("id", array(StringArray::from(vec!["=1", "-2"]))),
            ("+n", array(Int64Array::from(vec![-5, 5]))),
            (
                "f",
                array(Float64Array::from(vec![f64::NEG_INFINITY, -1e300])),
            ),
            ("d", array(Date32Array::from(vec![-800_000, 0]))),
            ("w", array(words)),
        ],
    );
    write(&open(&typed), &files.path("out.csv")).unwrap();
    assert_eq!(
        files.read("out.csv"),
        "id,\"'+n\",f,d,w\n\"'=1\",-5,-inf,-0221-09-04,\"'+x\"\n-2,5,-1e300,1970-01-01,-5\n"
    );
    write(&open(&typed), &files.path("out.tsv")).unwrap();
    assert_eq!(
        files.read("out.tsv"),
        "id\t'+n\tf\td\tw\n'=1\t-5\t-inf\t-0221-09-04\t'+x\n-2\t5\t-1e300\t1970-01-01\t-5\n"
    );
    let csv = files.text("t.csv", "id;\"@n\"\n1;=2\n");
    let semicolons = Dialect::default().with_delimiter(b';').unwrap();
    write(&with_dialect(&csv, &semicolons), &files.path("out.tsv")).unwrap();
    assert_eq!(files.read("out.tsv"), "id\t'@n\n1\t'=2\n");
}

#[test]
fn what_the_other_party_gives_has_no_formulas() {
    let files = Files::new();
    let theirs = files.path("theirs.arrow");
    arrow_file(
        &theirs,
        &[
            ("id", array(StringArray::from(vec!["1", "2"]))),
            (
                "=name",
                array(StringArray::from(vec![Some("=cmd|' /C calc'!A0"), None])),
            ),
            ("n", array(Int64Array::from(vec![-1, -2]))),
        ],
    );
    let gift = give(&theirs, &["=name", "n"], RepeatedKeys::Refuse).unwrap();
    let csv = files.text("mine.csv", "id\n2\n1\n");
    let parquet = files.parquet(
        "mine.parquet",
        &[("id", array(StringArray::from(vec!["2", "1"])))],
    );
    for mine in [csv, parquet] {
        let output = files.path("out.csv");
        let all = |to: Destination, source: &Source| {
            to.quoting_formulas()?.choosing(WhichRows::All, source)
        };
        gift.write(&mine, &output, all).unwrap();
        assert_eq!(
            files.read("out.csv"),
            "id,shared,\"'=name\",n\n2,true,,-2\n1,true,\"'=cmd|' /C calc'!A0\",-1\n"
        );
    }
}

#[test]
fn what_no_spreadsheet_computes_is_refused() {
    let files = Files::new();
    let source = open(&files.text("t.txt", "id\n"));
    for (name, format) in [
        ("o.txt", "lines"),
        ("o.parquet", "Parquet"),
        ("o.arrow", "Arrow"),
    ] {
        let to = Destination::prepare(Some(&files.path(name)), &source, Existing::Replace).unwrap();
        let error = to.quoting_formulas().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert_contains(
            &error.to_string(),
            &format!("but here the output is {format}: leave them out"),
        );
    }
    assert!(
        Destination::in_memory(&source)
            .unwrap()
            .quoting_formulas()
            .is_err()
    );

    let quotes = Dialect::default().with_delimiter(b'\'').unwrap();
    let quotes = quotes.with_quote(None).unwrap();
    let text = files.text("t.csv", "id'n\n1'x\n2'=y\n");
    let error = write(&with_dialect(&text, &quotes), &files.path("out.csv")).unwrap_err();
    assert_contains(
        &error.to_string(),
        "row 2 of the table gets a single quote, which is the delimiter",
    );
}

proptest! {
    /// Whatever a text is, no cell begins as a formula, and without the single quotes it is the
    /// text.
    #[test]
    fn no_cell_is_a_formula(
        rows in prop::collection::vec("[=+@'\"\t,; x\u{feff}\n5-]{0,5}", 1..6),
        quoted: bool,
    ) {
        let files = Files::new();
        let field = |text: &str| match quoted || text.contains(['"', ',', '\n']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.to_owned(),
        };
        let numbered = rows.iter().enumerate();
        let lines: String = numbered.map(|(id, text)| format!("{id},{}\n", field(text))).collect();
        let input = files.text("t.csv", format!("id,n\n{lines}"));
        write(&open(&input), &files.path("out.csv")).unwrap();
        let written = files.read("out.csv");
        let mut reader = csv::Reader::from_reader(written.as_bytes());
        let read: Vec<String> = reader.records().map(|row| row.unwrap()[1].to_owned()).collect();
        prop_assert_eq!(read.len(), rows.len());
        for (read, text) in read.iter().zip(&rows) {
            let begins = read.trim_start_matches([' ', '"', '\u{feff}']);
            let is_number = begins.starts_with("+5") || begins.starts_with("-5");
            prop_assert!(is_number || !begins.starts_with(['=', '+', '-', '@']), "{:?}", read);
            prop_assert!(!read.starts_with(['\t', '\n']), "{:?}", read);
            let bare = |text: &str| text.replace('\'', "");
            prop_assert_eq!(bare(read), bare(text));
            let unchanged = !text.contains(['=', '+', '-', '@', '\t', '\n', '\u{feff}']);
            prop_assert!(!unchanged || read == text);
        }
    }
}
