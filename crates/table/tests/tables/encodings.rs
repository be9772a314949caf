//! Texts that are not UTF-8.

use std::{
    fs,
    io::{Read, Write},
    path::Path,
};

use proptest::prelude::*;
use psijoin_source::{Dialect, Encoding, ErrorKind, Format, Progress, Source, SourceError};
use psijoin_table::Error;

use crate::{
    Files, assert_starts_with, held::Keys, items, join_dialect, key, read, read_bytes, read_dialect,
};

const LABELS: [&str; 6] = [
    "utf-8",
    "utf-16le",
    "utf-16be",
    "windows-1252",
    "iso-8859-15",
    "koi8-r",
];

fn said(label: &str) -> Dialect {
    Dialect::default().with_encoding(label.parse().unwrap())
}

/// Returns a text in an encoding, by another way than that of the library.
fn encoded(text: &str, label: &str) -> Vec<u8> {
    let units = text.encode_utf16();
    match label {
        "utf-8" => text.into(),
        "utf-16le" => units.flat_map(u16::to_le_bytes).collect(),
        "utf-16be" => units.flat_map(u16::to_be_bytes).collect(),
        "windows-1252" => latin(text, 0x80),
        "iso-8859-15" => latin(text, 0xa4),
        _ => panic!("no such encoding here"),
    }
}

/// Returns a text in an encoding that differs from Latin-1 in the place of the euro sign.
fn latin(text: &str, euro: u8) -> Vec<u8> {
    text.chars()
        .map(|c| match c {
            '€' => euro,
            c => u8::try_from(c).unwrap(),
        })
        .collect()
}

fn open(path: &Path, dialect: &Dialect) -> Result<Source, Error> {
    let progress = Progress::default();
    Ok(Source::open(path, None, dialect, true, &progress)?)
}

fn packed(bytes: &[u8], name: &str) -> Vec<u8> {
    match name.rsplit('.').next() {
        Some("gz") => {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Some("zst") => zstd::encode_all(bytes, 1).unwrap(),
        _ => bytes.to_vec(),
    }
}

fn unpacked(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    match path.extension().unwrap().to_str().unwrap() {
        "gz" => {
            let mut unpacked = Vec::new();
            let mut decoder = flate2::read::MultiGzDecoder::new(&bytes[..]);
            decoder.read_to_end(&mut unpacked).unwrap();
            unpacked
        }
        "zst" => zstd::decode_all(&bytes[..]).unwrap(),
        _ => bytes,
    }
}

#[test]
fn every_encoding_has_the_same_keys_and_keeps_its_bytes() {
    let files = Files::new();
    let header = "id,größe";
    let rows = ["é€,\"1\"", "x,\"a\nb\"", "é€,ß"];
    let id = key(&["id"], &[]);
    let whole = |end: &str| {
        format!(
            "{header}{end}{}",
            rows.map(|row| row.to_owned() + end).concat()
        )
    };
    let expected = read_bytes(Format::Csv, whole("\n"), &id).unwrap();
    for label in &LABELS[..5] {
        for (end, mark) in [
            ("\n", ""),
            ("\r\n", ""),
            ("\n", "\u{feff}"),
            ("\r\n", "\u{feff}"),
        ] {
            if !label.starts_with("utf") && !mark.is_empty() {
                continue;
            }
            let text = mark.to_owned() + &whole(end);
            let matching = format!("{mark}{header}{end}{}{end}{}{end}", rows[0], rows[2]);
            let dialects = match mark {
                "" => vec![said(label)],
                _ => vec![said(label), Dialect::default()],
            };
            for name in ["t.csv", "t.csv.gz", "t.csv.zst"] {
                let input = files.text(name, packed(&encoded(&text, label), name));
                for dialect in &dialects {
                    let source = open(&input, dialect).unwrap();
                    assert_eq!(source.columns().unwrap(), ["id", "größe"]);
                    let keys = Keys::read(&source, &id, &[], &Progress::default()).unwrap();
                    assert_eq!(keys, expected, "{label}");
                    for output in ["o.csv", "o.csv.gz", "o.csv.zst"] {
                        let output = files.path(output);
                        join_dialect(&input, dialect, &id, |item| item == 0, &output).unwrap();
                        assert!(unpacked(&output) == encoded(&matching, label), "{label}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_end_of_the_text_is_kept_too() {
    let files = Files::new();
    for label in &LABELS[..5] {
        for text in ["id\n1\nï", "id\r\n\r\nï\r\n", "id\nï\n\n", "id"] {
            let input = files.text("t.csv", encoded(text, label));
            let output = files.path("o.csv");
            join_dialect(&input, &said(label), &key(&["id"], &[]), |_| true, &output).unwrap();
            let expected = text.replace("\r\n\r\n", "\r\n").replace("\n\n", "\n");
            assert_eq!(fs::read(&output).unwrap(), encoded(&expected, label));
        }
    }
}

#[test]
fn tsv_lines_and_streams_are_encoded_too() {
    let files = Files::new();
    for label in &LABELS[..5] {
        let input = files.text("t.tsv", encoded("id\tb\né\t\"\n1\t2\n", label));
        let output = files.path("o.tsv");
        let id = key(&["id"], &[]);
        join_dialect(&input, &said(label), &id, |item| item == 0, &output).unwrap();
        assert_eq!(fs::read(&output).unwrap(), encoded("id\tb\né\t\"\n", label));

        let value = key(&[], &[]);
        let lines = encoded("é\r\n\r\nx\r\né", label);
        let input = files.text("t.txt", &lines);
        let output = files.path("o.txt");
        join_dialect(&input, &said(label), &value, |item| item == 0, &output).unwrap();
        assert_eq!(fs::read(&output).unwrap(), encoded("é\r\né", label));

        let keys = read_dialect(Format::Lines, &said(label), &lines, &value).unwrap();
        assert_eq!(items(&keys), [Some(0), None, Some(1), Some(0)]);
        let csv = encoded("id\né\nx\né\n", label);
        let read = Keys::read_csv(&csv[..], "t", &said(label), &id, &[]).unwrap();
        assert_eq!(read.fingerprints, keys.fingerprints);
    }
}

#[test]
fn other_formats_are_utf_8() {
    let files = Files::new();
    let input = files.text("t.csv", b"id,b\n\xe9,\x80\n");
    let id = key(&["id"], &[]);
    let dialect = said("windows-1252");
    let written = |name: &str| {
        let output = files.path(name);
        join_dialect(&input, &dialect, &id, |_| true, &output).unwrap();
        output
    };
    assert_eq!(
        fs::read_to_string(written("o.tsv")).unwrap(),
        "id\tb\né\t€\n"
    );
    let expected = read_bytes(Format::Csv, "id,b\né,€\n", &id).unwrap();
    assert_eq!(read(&written("o.parquet"), &id).unwrap(), expected);
    assert_eq!(read(&written("o.tsv"), &id).unwrap(), expected);
}

#[test]
fn what_is_not_in_the_encoding_is_told_by_line_and_field() {
    let id = key(&["id"], &[]);
    let message = |label: &str, bytes: Vec<u8>| {
        let error = read_dialect(Format::Csv, &said(label), bytes, &id).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        error.to_string()
    };
    for (label, unit) in [
        ("utf-16le", u16::to_le_bytes as fn(u16) -> [u8; 2]),
        ("utf-16be", u16::to_be_bytes),
    ] {
        let name = label.to_uppercase();
        let fault = format!("not {name} (the file is damaged, or encoded in another way)");
        let units: Vec<u16> = "id,b\n1,2\n3,4".encode_utf16().collect();
        let places = [
            (0, 1, 1),
            (3, 1, 2),
            (5, 2, 1),
            (7, 2, 2),
            (9, 3, 1),
            (12, 3, 2),
        ];
        for lone in [0xd800, 0xdbff, 0xdc00, 0xdfff] {
            for (at, line, field) in places {
                let mut units = units.clone();
                units.insert(at, lone);
                let bytes = units.into_iter().flat_map(unit).collect();
                assert_eq!(
                    message(label, bytes),
                    format!("standard input, line {line}, field {field}: {fault}")
                );
            }
        }
        let mut odd: Vec<u8> = units.iter().copied().flat_map(unit).collect();
        odd.push(b'4');
        assert_eq!(
            message(label, odd.clone()),
            format!("standard input, line 3, field 2: {fault}")
        );
        // A byte too many anywhere is found at the latest at the end.
        for at in 0..odd.len() {
            let mut bytes = odd[..odd.len() - 1].to_vec();
            bytes.insert(at, b'1');
            message(label, bytes);
        }
    }
    for (label, byte) in [
        ("windows-1253", 0xaa),
        ("iso-8859-7", 0xff),
        ("windows-874", 0xdb),
    ] {
        let mut bytes = b"id,b\n1,2\n3,4".to_vec();
        bytes[9] = byte;
        let message = message(label, bytes);
        assert_starts_with(&message, "standard input, line 3, field 1: not ");
        assert!(!message.contains("UTF-8"), "{message}");
    }
    let text = [&b"\xff\xfe"[..], &encoded("id\n", "utf-16le"), b"1"].concat();
    let error = read_bytes(Format::Csv, text, &id).unwrap_err();
    assert!(error.to_string().contains("line 2, field 1: not UTF-16LE"));
}

#[test]
fn encodings_that_do_not_fit_are_refused() {
    let files = Files::new();
    let parquet = files.text("t.parquet", "PAR1");
    let refused = open(&parquet, &said("latin1")).unwrap_err();
    assert!(matches!(
        refused,
        Error::Source(SourceError::NoDialect { .. })
    ));
    assert_eq!(refused.kind(), ErrorKind::Usage);
    for label in ["shift_jis", "gbk", "iso-2022-jp", "latin-99", "utf-32"] {
        let refused = label.parse::<Encoding>().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Usage);
        assert!(
            refused
                .to_string()
                .contains("convert the file to UTF-8 first")
        );
    }
    let marked = files.text("t.csv", "\u{feff}id\n1\n");
    for label in ["windows-1252", "utf-16"] {
        let refused = open(&marked, &said(label)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Input);
        assert!(
            refused.to_string().contains(
                "begins with the byte order mark of UTF-8, and its encoding was given as"
            ),
        );
    }
    let utf_32 = files.text("t.csv", b"\xff\xfe\0\0i\0\0\0");
    assert!(matches!(
        open(&utf_32, &Dialect::default()),
        Err(Error::Source(SourceError::Utf32 { .. }))
    ));
}

#[test]
fn a_mark_tells_the_byte_order_of_utf_16() {
    let id = key(&["id"], &[]);
    let expected = read_bytes(Format::Csv, "id\né\n", &id).unwrap();
    for mark in ["utf-16le", "utf-16be"] {
        let text = encoded("\u{feff}id\né\n", mark);
        for label in ["utf-16", "utf-16le", "utf-16be"] {
            let keys = read_dialect(Format::Csv, &said(label), &text, &id);
            assert_eq!(keys.unwrap(), expected);
        }
        let source = Source::spool(
            &text[..],
            "t",
            Format::Csv,
            &Dialect::default().without_header(),
            &Progress::default(),
        );
        let source = source.unwrap();
        let description = format!("CSV, no header, {}", mark.to_uppercase());
        assert_eq!(source.description(), description);
        assert!(!source.is_usual());
    }
}

#[test]
fn progress_is_in_bytes_of_the_file() {
    let files = Files::new();
    let bytes = encoded(&format!("id\n{}", "é\n".repeat(1 << 18)), "utf-16le");
    let input = files.text("t.csv", &bytes);
    let progress = Progress::default();
    let source = Source::open(&input, None, &said("utf-16"), true, &progress).unwrap();
    let length = bytes.len() as u64;
    assert_eq!(progress.bytes(), (length, length));
    assert_eq!(source.bytes(), 3 + (3 << 18));
    let keys = Keys::read(&source, &key(&["id"], &[]), &[], &progress).unwrap();
    assert_eq!((keys.counts.rows, keys.counts.distinct), (1 << 18, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever bytes make up lines of an encoding: all that is read is written back.
    #[test]
    fn random_bytes_are_written_back(
        bytes in prop::collection::vec(any::<u8>(), 1..64),
        index in 1..LABELS.len(),
        zstd: bool,
    ) {
        let files = Files::new();
        let name = if zstd { "t.txt.zst" } else { "t.txt" };
        let input = files.text(name, packed(&bytes, name));
        let value = key(&[], &[]);
        let dialect = said(LABELS[index]);
        let output = files.path("o.txt");
        let Ok(source) = open(&input, &dialect) else { return Ok(()) };
        let Ok(keys) = Keys::read(&source, &value, &[], &Progress::default()) else {
            return Ok(());
        };
        prop_assume!(keys.counts.left_out == 0);
        join_dialect(&input, &dialect, &value, |_| true, &output).unwrap();
        prop_assert_eq!(fs::read(output).unwrap(), bytes);
    }

    /// A table has one set of keys in all encodings that can hold it.
    #[test]
    fn keys_are_equal_across_encodings(rows in prop::collection::vec("[aé€ß,\"\r\n]{1,4}", 1..8)) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["id"]).unwrap();
        for row in &rows {
            writer.write_record([row]).unwrap();
        }
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let id = key(&["id"], &[]);
        let expected = read_bytes(Format::Csv, &text, &id).unwrap();
        for label in &LABELS[1..5] {
            let keys = read_dialect(Format::Csv, &said(label), encoded(&text, label), &id);
            prop_assert_eq!(&keys.unwrap(), &expected);
        }
    }
}
