//! Errors about tables that cannot be read.

use psijoin_source::{ErrorKind, Format};

use crate::{assert_contains, key, read_bytes};

fn message(format: Format, text: impl AsRef<[u8]>) -> String {
    let error = read_bytes(format, text, &key(&["id"], &[])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    let message = error.to_string();
    message
        .strip_prefix("standard input")
        .expect("errors begin with the file")
        .to_owned()
}

#[test]
fn ragged_rows_are_named_by_line() {
    let ragged = |format, text| {
        let message = message(format, text);
        let (place, advice) = message.split_once(" (").unwrap();
        assert_contains(advice, "the delimiter");
        place.to_owned()
    };
    let text = "id,name\n1,\"two\nlines\"\n\n3,a,secret\n4,b\n";
    assert_eq!(
        ragged(Format::Csv, text),
        ", line 5: 3 fields where the header has 2"
    );
    assert_eq!(
        ragged(Format::Csv, "id,b\n1\n"),
        ", line 2: 1 field where the header has 2"
    );
    assert_eq!(
        ragged(Format::Tsv, "id\tb\n1,2\n"),
        ", line 2: 1 field where the header has 2"
    );
    assert_eq!(
        ragged(Format::Csv, "id\n1,\n"),
        ", line 2: 2 fields where the header has 1"
    );
}

#[test]
fn broken_fields_are_named_by_line_and_field() {
    for (text, expected) in [
        (
            &b"id,b\n1,\xe9\n"[..],
            ", line 2, field 2: not UTF-8 (say how the file is encoded, or save it as UTF-8)",
        ),
        (
            b"\xffi\0d\0",
            ", line 1, field 1: not UTF-8 (say how the file is encoded, or save it as UTF-8)",
        ),
        (
            b"id,b\n1,x\n2,\"y\n3,z\n",
            ", line 3, field 2: a quote is opened and never closed (if quotes are mere \
             characters in this file, say that it has no quotes)",
        ),
        (
            b"id,b\r\n2,\"x\" y\r\n",
            ", line 2, field 2: text after the closing quote (a quote within quotes is written \
             twice; if quotes are mere characters in this file, say that it has no quotes)",
        ),
        (
            b"id,b\r1,2\r",
            ", line 1, field 2: a carriage return without a line feed (lines must end in LF or \
             CRLF)",
        ),
    ] {
        assert_eq!(message(Format::Csv, text), expected);
    }
    assert_eq!(
        message(Format::Lines, b"a\nb\xff\n".as_slice()),
        " has no column `id`; it is read as lines, and their only column is `value`: if it has \
         several columns, name its format"
    );
    assert_eq!(
        read_bytes(Format::Lines, b"a\nb\xff\n", &key(&[], &[]))
            .unwrap_err()
            .to_string(),
        "standard input, line 2, field 1: not UTF-8 (say how the file is encoded, or save it as UTF-8)"
    );
}

#[test]
fn a_missing_header_or_key_is_named() {
    for nothing in ["", "\n\r\n", "\u{feff}"] {
        assert_eq!(
            message(Format::Csv, nothing),
            " has no header: its first line must name the columns (is it empty?)"
        );
    }
    assert_eq!(
        message(Format::Csv, "ID\n"),
        " has no column `id`; its column 1 differs from that in case only: if it is meant, say column:1, \
         or copy its name"
    );
    for (header, delimiter) in [
        ("ID;name", "semicolon"),
        ("ID\tname", "tab"),
        ("ID|name", "pipe"),
    ] {
        assert_eq!(
            message(Format::Csv, header),
            format!(
                " has no column `id`; it has 1 column, whose name holds a {delimiter}: if that \
                 divides columns, name it as the delimiter"
            )
        );
    }
    assert_eq!(
        message(Format::Csv, "id,id\n"),
        " has more than one column `id`: the name of a column that is read must be unique (rename one of them)"
    );
    assert!(read_bytes(Format::Csv, "id,x,x\n1,2,3\n", &key(&["id"], &[])).is_ok());
}
