//! Texts that are compressed, in and out.

use std::{
    fs,
    io::{Read, Write},
    path::Path,
};

use arrow_array::{Int32Array, StringArray};
use psijoin_source::{Compression, Dialect, ErrorKind, Format, Progress, Source, SourceError};
use psijoin_table::{Destination, Error, Existing, WriteError};

use crate::{
    Files, array, assert_contains,
    held::{Keys, WriteMatched as _},
    in_order_of_rows, join, join_dialect, key, open, read, read_bytes,
};

const TABLE: &str = "\u{feff}id,b\r\n7,\"x\"\"\n,\"\r\n8,y\n\n7,\"w\"";
const MATCHING: &str = "\u{feff}id,b\r\n7,\"x\"\"\n,\"\r\n7,\"w\"";

fn gzip(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_ref()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// Returns the content of a file, decompressed as its name tells.
fn text(path: &Path) -> String {
    let bytes = fs::read(path).unwrap();
    let mut text = String::new();
    match path.extension().unwrap().to_str().unwrap() {
        "gz" => flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text),
        "zst" => zstd::Decoder::new(&bytes[..])
            .unwrap()
            .read_to_string(&mut text),
        _ => (&bytes[..]).read_to_string(&mut text),
    }
    .unwrap();
    text
}

fn try_open(path: &Path) -> Result<Source, Error> {
    let (dialect, progress) = (Dialect::default(), Progress::default());
    Ok(Source::open(path, None, &dialect, true, &progress)?)
}

#[test]
fn every_container_keeps_the_bytes() {
    let files = Files::new();
    let id = key(&["id"], &[]);
    let expected = read_bytes(Format::Csv, TABLE, &id).unwrap();
    for (name, bytes) in [
        ("t.csv", TABLE.into()),
        ("t.csv.gz", gzip(TABLE)),
        ("t.CSV.ZST", zstd(TABLE)),
    ] {
        let input = files.text(name, &bytes);
        assert_eq!(read(&input, &id).unwrap(), expected, "{name}");
        for output in ["o.csv", "o.csv.gz", "o.csv.zst"] {
            let output = files.path(output);
            assert_eq!(join(&input, &id, |item| item == 0, &output).unwrap(), 2);
            assert_eq!(text(&output), MATCHING, "{name}");
        }
    }
    let tabs = files.text("t.tsv.zst", zstd("id\tb\n\"\tx\n1\ty\n"));
    join(&tabs, &id, |item| item == 0, &files.path("o.tsv.gz")).unwrap();
    assert_eq!(text(&files.path("o.tsv.gz")), "id\tb\n\"\tx\n");
    let lines = files.text("t.txt.gz", gzip("b\r\na\n\nb"));
    let value = key(&[], &[]);
    join(&lines, &value, |item| item == 0, &files.path("o.txt.zst")).unwrap();
    assert_eq!(text(&files.path("o.txt.zst")), "b\r\nb");
    let dialect = Dialect::default().with_delimiter(b';').unwrap();
    let dialect = dialect.without_header();
    let semicolons = files.text("s.csv.gz", gzip("1;x\n2;y\n"));
    let output = files.path("s-out.csv.gz");
    join_dialect(
        &semicolons,
        &dialect,
        &key(&["1"], &[]),
        |item| item == 1,
        &output,
    )
    .unwrap();
    assert_eq!(text(&output), "2;y\n");
}

#[test]
fn formats_change_with_and_without_compression() {
    let files = Files::new();
    let id = key(&["id"], &[]);
    let parquet = files.parquet(
        "t.parquet",
        &[
            ("id", array(Int32Array::from(vec![1, 2]))),
            ("b", array(StringArray::from(vec!["x", "y\tz"]))),
        ],
    );
    join(&parquet, &id, |_| true, &files.path("o.csv.zst")).unwrap();
    assert_eq!(text(&files.path("o.csv.zst")), "id,b\n1,x\n2,y\tz\n");
    join(
        &files.path("o.csv.zst"),
        &id,
        |_| true,
        &files.path("o.parquet"),
    )
    .unwrap();
    assert_eq!(
        open(&files.path("o.parquet")).columns().unwrap(),
        ["id", "b"]
    );

    // A failure leaves nothing behind.
    let before = files.names();
    let error = join(&parquet, &id, |_| true, &files.path("o.tsv.gz")).unwrap_err();
    assert!(error.to_string().contains("row 2 of the input has a tab"));
    assert_eq!(files.names(), before);
    for name in ["o.parquet.gz", "o.gz", "o.csv.bz2"] {
        let error = join(&parquet, &id, |_| true, &files.path(name)).unwrap_err();
        assert!(
            matches!(error, Error::Write(WriteError::OutputEnding { .. })),
            "{name}"
        );
    }
}

#[test]
fn all_members_and_frames_are_read() {
    let files = Files::new();
    let id = key(&["id"], &[]);
    let parts = ["id,b\n1,x\n2,", "y\n3,\"", "", "z\"\n"];
    let expected = read_bytes(Format::Csv, parts.concat(), &id).unwrap();
    for (name, bytes) in [
        ("t.csv.gz", parts.map(gzip).concat()),
        (
            "tape.csv.gz",
            [parts.map(gzip).concat(), vec![0; 70_000]].concat(),
        ),
        (
            "tapes.csv.gz",
            parts
                .map(|part| [gzip(part), vec![0; 512]].concat())
                .concat(),
        ),
        ("t.csv.zst", parts.map(zstd).concat()),
    ] {
        assert_eq!(read(&files.text(name, bytes), &id).unwrap(), expected);
    }
}

#[test]
fn what_is_damaged_or_cut_off_is_never_a_shorter_table() {
    let files = Files::new();
    let rows: String = (0..200)
        .map(|row| format!("{row},{}\n", row * row))
        .collect();
    let table = format!("id,b\n{rows}");
    let id = key(&["id"], &[]);
    let expected = read_bytes(Format::Csv, &table, &id).unwrap();
    let (head, tail) = table.split_at(table.len() / 2);
    for (name, pack) in [
        ("t.csv.gz", (|text| gzip(text)) as fn(&str) -> Vec<u8>),
        ("t.csv.zst", |text| zstd(text)),
    ] {
        let halves = [pack(head), pack(tail)];
        let whole = halves.concat();
        let refused = |bytes: &[u8]| {
            let error = try_open(&files.text(name, bytes)).unwrap_err();
            assert!(
                matches!(error, Error::Source(SourceError::Damaged { .. })),
                "{error}"
            );
            assert_eq!(error.kind(), ErrorKind::Input);
            error.to_string()
        };
        // Shorter beginnings are not known to be compressed.
        for end in (4..whole.len()).filter(|&end| end != halves[0].len()) {
            let message = refused(&whole[..end]);
            assert_contains(&message, "damaged or cut off");
            assert_contains(&message, " -t` checks it");
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            let input = files.text(name, &bytes);
            match try_open(&input) {
                Err(error) => {
                    let is_begun =
                        matches!(error, Error::Source(SourceError::NotCompressed { .. })) && at < 4;
                    assert!(
                        is_begun || matches!(error, Error::Source(SourceError::Damaged { .. })),
                        "{error}"
                    );
                }
                // In a header there is more than what is needed, as the time.
                Ok(_) => assert_eq!(read(&input, &id).unwrap(), expected, "{name} {at}"),
            }
        }
        refused(&[&whole[..], b"id,b\n"].concat());
        refused(b"");
    }
}

#[test]
fn what_is_not_compressed_as_its_name_says_is_told() {
    let files = Files::new();
    let said = |name: &str, bytes: &[u8]| {
        let error = try_open(&files.text(name, bytes)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        error.to_string()
    };
    for (name, bytes, what) in [
        (
            "t.csv.gz",
            zstd(TABLE),
            "compressed with Zstandard: read it from a file whose name ends in .zst",
        ),
        (
            "t.csv.zst",
            gzip(TABLE),
            "compressed with gzip: read it from a file whose name ends in .gz",
        ),
        (
            "t.csv.gz",
            b"PK\x03\x04\x14\0".to_vec(),
            "a zip archive or an Excel workbook",
        ),
        (
            "t.csv.zst",
            b"\x04\x22\x4d\x18\x64\x40".to_vec(),
            "compressed with LZ4",
        ),
        (
            "t.csv.gz",
            TABLE.into(),
            "not compressed with gzip, as its name says",
        ),
        ("t.csv.gz", b"i".to_vec(), "take .gz off its name"),
    ] {
        assert_contains(&said(name, &bytes), what);
    }
}

#[test]
fn what_is_compressed_and_does_not_say_so_is_told() {
    let files = Files::new();
    for (bytes, compression, ending) in [
        (gzip(TABLE), Compression::Gzip, ".gz"),
        (zstd(TABLE), Compression::Zstandard, ".zst"),
    ] {
        for name in ["t.csv", "t.tsv", "t.txt", "twice.csv.gz"] {
            let stored = match name {
                "twice.csv.gz" => gzip(&bytes),
                _ => bytes.clone(),
            };
            let path = files.text(name, stored);
            assert_eq!(
                try_open(&path).unwrap_err().to_string(),
                format!(
                    "{} holds data compressed with {compression}: read it from a file whose name \
                     ends in {ending}, or decompress it first",
                    path.display()
                )
            );
        }
        let error = read_bytes(Format::Csv, &bytes, &key(&["id"], &[])).unwrap_err();
        assert!(
            matches!(error, Error::Source(SourceError::Compressed { .. })),
            "{error}"
        );
        assert_eq!(error.kind(), ErrorKind::Input);
    }
}

#[test]
fn progress_is_in_compressed_bytes() {
    let files = Files::new();
    let table = format!("id\n{}", "7\n".repeat(1 << 20));
    let input = files.text("t.csv.gz", gzip(&table));
    let compressed = fs::metadata(&input).unwrap().len();
    let progress = Progress::default();
    let source = Source::open(&input, None, &Dialect::default(), true, &progress).unwrap();
    assert_eq!(progress.bytes(), (compressed, compressed));
    assert_eq!(source.bytes(), table.len() as u64);
    assert_eq!(source.description(), "CSV, gzip");
    assert!(source.is_usual());
    let keys = Keys::read(&source, &key(&["id"], &[]), &[], &progress).unwrap();
    assert_eq!(keys.counts.rows, 1 << 20);

    progress.interrupt();
    let interrupted = Source::open(&input, None, &Dialect::default(), true, &progress);
    assert!(matches!(
        interrupted,
        Err(psijoin_source::Error::Interrupted)
    ));
}

#[test]
fn a_compressed_input_is_still_the_input() {
    let files = Files::new();
    let input = files.text("t.csv.gz", gzip(TABLE));
    let refused = Destination::prepare(Some(&input), &open(&input), Existing::Replace);
    assert!(matches!(
        refused,
        Err(Error::Write(WriteError::OutputIsInput { .. }))
    ));
}

#[test]
fn a_staged_file_is_complete_before_it_is_shown() {
    let files = Files::new();
    let input = files.text("t.csv", TABLE);
    let (source, progress) = (open(&input), Progress::default());
    for name in ["o.csv.gz", "o.csv.zst"] {
        let output = files.path(name);
        let destination = Destination::prepare(Some(&output), &source, Existing::Replace).unwrap();
        let keys = Keys::read(&source, &key(&["id"], &[]), &[], &progress).unwrap();
        let mut matched = vec![false; 2];
        matched[in_order_of_rows(&keys)[0]] = true;
        let staged = destination
            .stage(&source, &keys, &matched, &progress)
            .unwrap();
        assert!(!output.exists());
        assert_eq!(staged.commit().unwrap(), 2);
        assert_eq!(text(&output), MATCHING);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn streams_with_a_name_are_compressed_as_it_says() {
    use std::{process::Command, thread};

    let files = Files::new();
    let made = |name: &str| {
        let path = files.path(name);
        assert!(
            Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        path
    };
    let (input, output) = (made("in.csv.gz"), made("out.csv.zst"));
    thread::scope(|scope| {
        scope.spawn(|| fs::write(&input, gzip(TABLE)).unwrap());
        let read = scope.spawn(|| text(&output));
        assert_eq!(
            join(&input, &key(&["id"], &[]), |item| item == 0, &output).unwrap(),
            2
        );
        assert_eq!(read.join().unwrap(), MATCHING);
    });
}
