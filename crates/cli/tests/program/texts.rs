//! Tables whose texts are written in different ways.

use std::fs;

use crate::support::{Folder, join, run};

/// A text in UTF-16, little-endian, with a byte order mark.
fn utf_16(text: &str) -> Vec<u8> {
    let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

fn args<'a>(input: &'a str, others: &[&'a str]) -> Vec<&'a str> {
    [&["--insecure-plaintext", "--input", input], others].concat()
}

#[test]
fn encodings_and_escapes_of_both_sides_may_differ() {
    let folder = Folder::new();
    let names = folder.file(
        "names.csv",
        b"name;n\r\nZo\xeb;\x80 1\r\nAnn;2\r\nZo\xeb;3\r\n",
    );
    let people = folder.file(
        "people.tsv",
        utf_16("since\tname\n2001\tZoë\n2002\t\\N\n2003\tEve\n"),
    );
    let shared = folder.path("shared.csv");
    let receiver = [
        &[
            "--key",
            "name",
            "--delimiter",
            ";",
            "--encoding",
            "windows-1252",
        ][..],
        &["--output", &shared],
    ];
    let joined = join(
        &args(&names, &receiver.concat()),
        &args(&people, &["--key", "name", "--escapes"]),
    );
    joined.receiver.says(
        0,
        &[
            "names.csv is read as CSV, semicolons, windows-1252",
            "You learned 1 shared key",
        ],
    );
    joined
        .sender
        .says(0, &["people.tsv is read as TSV, escapes, UTF-16LE"]);
    assert_eq!(
        fs::read(&shared).unwrap(),
        b"name;n\r\nZo\xeb;\x80 1\r\nZo\xeb;3\r\n"
    );
}

#[test]
fn words_that_seem_to_be_missing_are_named() {
    let folder = Folder::new();
    let names = folder.file("names.csv", "name;n\nAnn;2\n");
    let people = folder.file("people.tsv", "name\tn\n\"Ann\"\t1\nEve\t2\n");
    let joined = join(&args(&names, &[]), &args(&people, &["--key", "name"]));
    joined.receiver.says(
        0,
        &[
            "WARNING: ",
            "names.csv: the first line is read as one field, and holds a semicolon",
            "say --delimiter semicolon.",
        ],
    );
    joined.sender.says(
        0,
        &[
            "WARNING: ",
            "people.tsv: 1 key field begins and ends with a quote",
            "say --quote '\"'.",
        ],
    );
    assert!(!joined.sender.stderr.contains("Ann"));
    let columns = run(&["columns", &names]);
    columns.says(0, &["WARNING: ", "say --delimiter semicolon."]);
    assert_eq!(columns.stdout, "name;n\n");
}

#[test]
fn columns_are_listed_in_any_encoding() {
    let folder = Folder::new();
    let latin = folder.file("latin.csv", b"gr\xf6\xdfe,\xa4\n");
    let listed = run(&["columns", &latin, "--encoding", "iso-8859-15"]);
    listed.says(0, &["is read as CSV, ISO-8859-15"]);
    assert_eq!(listed.stdout, "größe\n€\n");
    run(&["columns", &latin]).says(
        3,
        &["line 1, field 1: not UTF-8", "--encoding windows-1252"],
    );
    run(&["columns", &latin, "--encoding", "shift_jis"]).says(
        2,
        &["Shift_JIS may write a text in several ways", "UTF-8 first"],
    );
    run(&["columns", &latin, "--escapes"]).says(2, &["--quote none"]);
}
