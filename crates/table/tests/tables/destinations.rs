//! Outputs that cannot be, and what is left of a run that fails.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::Path,
    sync::Arc,
};

use arrow_array::{Int32Array, StringArray, StructArray};
use arrow_schema::{DataType, Field};
use psijoin_source::{Dialect, ErrorKind, Progress, Source, SourceError};
use psijoin_table::{Destination, Error, Existing, WriteError};

use crate::{
    Files, array, assert_ends_with, assert_starts_with,
    held::{Keys, WriteMatched as _},
    in_order_of_rows, join, key, open,
};

fn refused(files: &Files, input: &Path, output: &str) -> String {
    let error = Destination::prepare(Some(&files.path(output)), &open(input), Existing::Replace)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    error
        .to_string()
        .replace(&files.path(output).display().to_string(), "OUT")
}

#[test]
fn outputs_that_cannot_be_are_refused_at_the_start() {
    let files = Files::new();
    let input = files.text("t.csv", "id,b\n1,2\n");
    fs::create_dir(files.path("directory.csv")).unwrap();
    let before = files.names();
    assert_eq!(
        refused(&files, &input, "t.csv"),
        "cannot write OUT: it is the input"
    );
    assert_eq!(
        refused(&files, &input, "directory.csv/../t.csv"),
        "cannot write OUT: it is the input"
    );
    assert_eq!(
        refused(&files, &input, "directory.csv"),
        "cannot write OUT: it is a directory"
    );
    assert!(refused(&files, &input, "missing/out.csv").starts_with("cannot create OUT: "));
    for name in ["out", "out.xlsx"] {
        assert_eq!(
            refused(&files, &input, name),
            "cannot tell the format of OUT from its name: the endings known are .csv, .tsv, \
             .txt, .parquet and .arrow (or .feather, .ipc), and of texts also with .gz or .zst \
             behind, as in .csv.gz"
        );
    }
    assert_eq!(
        refused(&files, &input, "out.txt"),
        "cannot write OUT: a .txt file holds one column; write .csv or .parquet"
    );
    let twice = files.text("twice.csv", "id,b,b\n");
    assert_eq!(
        refused(&files, &twice, "out.parquet"),
        "cannot write OUT: its columns 2 and 3 would have the same name; write .csv"
    );
    fs::remove_file(twice).unwrap();
    assert_eq!(files.names(), before);
}

#[test]
fn nested_columns_go_to_no_text() {
    let files = Files::new();
    let field = Arc::new(Field::new("x", DataType::Int32, true));
    let nested = StructArray::from(vec![(field, array(Int32Array::from(vec![1])))]);
    let input = files.parquet(
        "t.parquet",
        &[
            ("id", array(StringArray::from(vec!["a"]))),
            ("point", array(nested)),
        ],
    );
    let message = refused(&files, &input, "out.csv");
    assert_starts_with(
        &message,
        "cannot write OUT: the column `point` holds Struct(",
    );
    assert_ends_with(&message, "which is not text; write .parquet or .arrow");
    assert!(
        Destination::prepare(
            Some(&files.path("out.parquet")),
            &open(&input),
            Existing::Replace
        )
        .is_ok()
    );
}

#[test]
fn a_value_with_a_line_break_is_no_line() {
    let files = Files::new();
    let input = files.text("t.csv", "id\n\"a\nb\"\nc\n");
    let key = key(&["id"], &[]);
    let output = files.path("out.txt");
    let error = join(&input, &key, |_| true, &output).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("a value holds a line break; write .csv or .parquet")
    );
    assert_eq!(files.names(), ["t.csv"]);
    join(&input, &key, |item| item == 1, &output).unwrap();
    assert_eq!(fs::read_to_string(&output).unwrap(), "c\n");
}

#[test]
fn lines_stay_lines_without_an_ending() {
    let files = Files::new();
    let input = files.text("words", "a\nb\n");
    let progress = Progress::default();
    let source = Source::open(&input, None, &Dialect::default(), false, &progress).unwrap();
    let destination =
        Destination::prepare(Some(&files.path("shared")), &source, Existing::Replace).unwrap();
    let keys = Keys::read(&source, &key(&[], &[]), &[], &progress).unwrap();
    destination
        .write(&source, &keys, &[false, true], &progress)
        .unwrap();
    assert_eq!(files.read("shared"), "b\n");
    assert_eq!(progress.bytes(), (4, 4));
}

#[test]
fn an_existing_output_is_replaced_only_in_the_end() {
    let files = Files::new();
    let input = files.text("t.csv", "id\n1\n");
    let output = files.text("out.csv", "old");
    let progress = Progress::default();
    let source = open(&input);
    let destination = Destination::prepare(Some(&output), &source, Existing::Replace).unwrap();
    let keys = Keys::read(&source, &key(&[], &[]), &[], &progress).unwrap();

    progress.interrupt();
    let error = destination
        .write(&source, &keys, &[true], &progress)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert_eq!(fs::read_to_string(&output).unwrap(), "old");
    assert_eq!(files.names(), ["out.csv", "t.csv"]);

    destination
        .write(&source, &keys, &[true], &Progress::default())
        .unwrap();
    assert_eq!(fs::read_to_string(&output).unwrap(), "id\n1\n");
    assert_eq!(files.names(), ["out.csv", "t.csv"]);
}

#[test]
fn a_changed_input_is_noticed() {
    let files = Files::new();
    let key = key(&["id"], &[]);
    let progress = Progress::default();
    for change in ["3\n", "3,4,5\n"] {
        let input = files.text("t.csv", "id\n1\n2\n");
        let source = open(&input);
        let destination =
            Destination::prepare(Some(&files.path("out.csv")), &source, Existing::Replace).unwrap();
        let keys = Keys::read(&source, &key, &[], &progress).unwrap();
        let mut file = OpenOptions::new().append(true).open(&input).unwrap();
        file.write_all(change.as_bytes()).unwrap();
        let error = destination
            .write(&source, &keys, &[true; 2], &progress)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{} was changed while it was in use: run again",
                input.display()
            )
        );
        assert_eq!(error.kind(), ErrorKind::Input);
        assert_eq!(files.names(), ["t.csv"]);
        assert!(matches!(
            Keys::read(&source, &key, &[], &progress),
            Err(Error::Source(SourceError::Changed { .. }))
        ));
    }
}

#[test]
fn replacing_the_input_by_another_file_does_no_harm() {
    let files = Files::new();
    let input = files.text("t.csv", "id\n1\n2\n");
    let progress = Progress::default();
    let source = open(&input);
    let destination =
        Destination::prepare(Some(&files.path("out.csv")), &source, Existing::Replace).unwrap();
    let keys = Keys::read(&source, &key(&["id"], &[]), &[], &progress).unwrap();
    fs::rename(files.text("new.csv", "other\n"), &input).unwrap();
    let mut matched = [false; 2];
    matched[in_order_of_rows(&keys)[1]] = true;
    destination
        .write(&source, &keys, &matched, &progress)
        .unwrap();
    assert_eq!(files.read("out.csv"), "id\n2\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let files = Files::new();
    let full = Path::new("/dev/full");
    let rows: String = (0..5_000).map(|row| format!("{row}\n")).collect();
    let text = files.text("t.csv", format!("id\n{rows}"));
    let parquet = files.parquet("t.parquet", &[("id", array(Int32Array::from(vec![1, 2])))]);
    for input in [text, parquet] {
        let error = join(&input, &key(&["id"], &[]), |_| true, full).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot write /dev/full: No space left on device (os error 28)"
        );
        assert_eq!(error.kind(), ErrorKind::Output);
    }
}

#[test]
fn an_output_that_is_to_be_kept_is_kept() {
    let files = Files::new();
    let source = open(&files.text("t.csv", "id\n1\n"));
    let path = files.path("out.csv");
    let prepare = || Destination::prepare(Some(&path), &source, Existing::Keep);
    let progress = Progress::default();
    let keys = Keys::read(&source, &key(&[], &[]), &[], &progress).unwrap();
    let rows = prepare().unwrap().stage(&source, &keys, &[true], &progress);
    // It appears while the rows are on their way.
    files.text("out.csv", "other");
    assert_eq!(
        rows.unwrap().commit().unwrap_err().to_string(),
        format!(
            "cannot write {}: it exists already, and is to be kept",
            path.display()
        )
    );
    assert_eq!(files.read("out.csv"), "other");
    assert_eq!(files.names(), ["out.csv", "t.csv"]);
    assert_eq!(
        prepare().unwrap_err().to_string(),
        format!(
            "cannot create {}: it exists already, and is to be kept",
            path.display()
        )
    );
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn access_rights_are_those_of_an_ordinary_file() {
        let files = Files::new();
        let input = files.text("t.csv", "id\n1\n");
        let mode = |name: &str| fs::metadata(files.path(name)).unwrap().permissions().mode();
        let run = || join(&input, &key(&[], &[]), |_| true, &files.path("out.csv")).unwrap();
        run();
        assert_eq!(mode("out.csv"), mode("t.csv"));
        fs::set_permissions(files.path("out.csv"), fs::Permissions::from_mode(0o640)).unwrap();
        run();
        assert_eq!(mode("out.csv") & 0o777, 0o640);
    }

    #[test]
    fn a_link_is_followed() {
        let files = Files::new();
        let input = files.text("t.csv", "id\n1\n");
        files.text("real.csv", "old");
        symlink(files.path("real.csv"), files.path("link.csv")).unwrap();
        symlink(&input, files.path("input.csv")).unwrap();
        assert!(refused(&files, &input, "input.csv").ends_with("it is the input"));
        join(&input, &key(&[], &[]), |_| true, &files.path("link.csv")).unwrap();
        assert_eq!(files.read("real.csv"), "id\n1\n");
        assert!(
            fs::symlink_metadata(files.path("link.csv"))
                .unwrap()
                .is_symlink()
        );
    }

    #[test]
    fn a_link_that_leads_nowhere_is_refused_and_a_device_is_not() {
        let files = Files::new();
        let input = files.text("t.csv", "id\n1\n");
        symlink("nowhere.csv", files.path("dangling.csv")).unwrap();
        assert!(
            refused(&files, &input, "dangling.csv")
                .ends_with(": it is a symbolic link that leads nowhere")
        );
        // A device is written whatever is to become of files.
        Destination::prepare(Some("/dev/null".as_ref()), &open(&input), Existing::Keep).unwrap();
    }
}

#[test]
fn a_pipe_whose_reader_left_is_told_apart() {
    let broken = Error::Write(WriteError::Write {
        file: "standard output".into(),
        cause: std::io::ErrorKind::BrokenPipe.into(),
    });
    assert_eq!(broken.kind(), ErrorKind::BrokenPipe);
}

#[test]
#[should_panic(expected = "words for the bits")]
fn bits_must_fit_the_rows() {
    let files = Files::new();
    let source = open(&files.text("t.txt", "a\nb\n"));
    let progress = Progress::default();
    let keys = Keys::read(&source, &key(&[], &[]), &[], &progress).unwrap();
    let shared = psijoin_table::SharedKeys::ByRows {
        first_rows: vec![1, 0],
        payloads: None,
    };
    let _ = keys.holder.matching(shared);
}

#[test]
fn nulls_and_empty_texts_of_parquet_are_told_apart_on_request() {
    let files = Files::new();
    let input = files.parquet(
        "t.parquet",
        &[
            ("id", array(Int32Array::from(vec![1, 2, 3]))),
            (
                "text",
                array(StringArray::from(vec![Some(""), None, Some("\"")])),
            ),
            ("n", array(Int32Array::from(vec![None, Some(7), None]))),
        ],
    );
    let source = open(&input);
    let progress = Progress::default();
    let keys = Keys::read(&source, &key(&["id"], &[]), &[], &progress).unwrap();
    let prepared = |name: &str| {
        Destination::prepare(Some(&files.path(name)), &source, Existing::Replace).unwrap()
    };
    let write = |destination: Destination| {
        let rows = destination.write(&source, &keys, &[true; 3], &progress);
        assert_eq!(rows.unwrap(), 3);
        files.read("o.csv")
    };
    assert_eq!(
        write(prepared("o.csv").quoting_empty(&source).unwrap()),
        "id,text,n\n1,\"\",\n2,,7\n3,\"\"\"\",\n"
    );
    assert_eq!(
        write(prepared("o.csv")),
        "id,text,n\n1,,\n2,,7\n3,\"\"\"\",\n"
    );

    for (name, format) in [("o.tsv", "TSV"), ("o.parquet", "Parquet")] {
        let error = prepared(name).quoting_empty(&source).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert_eq!(
            error.to_string(),
            format!(
                "quotes around empty texts tell them from nulls when Parquet or Arrow is written as CSV, \
                 but here the table is Parquet and the output {format}: leave them out"
            )
        );
    }
    let text = open(&files.text("t.csv", "id\n1\n"));
    let to_csv = Destination::prepare(Some(&files.path("p.csv")), &text, Existing::Replace);
    assert!(to_csv.unwrap().quoting_empty(&text).is_err());
}
