//! Tables whose texts are written in different ways.

use std::fs;

use crate::support::{Folder, assert_said, join, run};

/// Returns a text in UTF-16, little-endian, with a byte order mark.
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
    assert_eq!(
        fs::read(&shared).unwrap(),
        b"name;n\r\nZo\xeb;\x80 1\r\nZo\xeb;3\r\n"
    );
    assert_said!(joined.both());
}

#[test]
fn words_that_seem_to_be_missing_are_named() {
    let folder = Folder::new();
    let names = folder.file("names.csv", "name;n\nAnn;2\n");
    let people = folder.file("people.tsv", "name\tn\n\"Ann\"\t1\nEve\t2\n");
    let joined = join(&args(&names, &[]), &args(&people, &["--key", "name"]));
    assert!(!joined.sender.stderr.contains("Ann"));
    let [receiver, sender] = joined.both();
    let columns = run(&["columns", &names]);
    for ended in [&receiver, &sender, &columns] {
        ended.says(0, &["WARNING: "]);
    }
    assert_said!([receiver, sender, columns]);
}

#[test]
fn columns_are_listed_in_any_encoding() {
    let folder = Folder::new();
    let latin = folder.file("latin.csv", b"gr\xf6\xdfe,\xa4\n");
    let said = [
        run(&["columns", &latin, "--encoding", "iso-8859-15"]),
        run(&["columns", &latin]),
        run(&["columns", &latin, "--encoding", "shift_jis"]),
        run(&["columns", &latin, "--escapes"]),
    ];
    for (ended, code) in said.iter().zip([0, 3, 2, 2]) {
        ended.says(code, &[]);
    }
    assert_said!(said);
}
