//! Sources of tables, and destinations of rows.

use std::{fs, process::Stdio, sync::Arc};

use arrow_array::{ArrayRef, Int64Array};
use serde_json::Value;

use crate::support::{Folder, Joined, Process, assert_said, join, join_with, lines, run};

/// Joins these inputs with lines of theirs.
#[track_caller]
fn joined(folder: &Folder, inputs: &[&str], more: &[&str]) -> Joined {
    let theirs = folder.file("theirs", lines(5..50));
    join(
        &[&["--input"], inputs, more, &["--insecure-plaintext"]].concat(),
        &["--input", &theirs, "--insecure-plaintext"],
    )
}

fn ids(range: std::ops::Range<i64>) -> Vec<(&'static str, ArrayRef)> {
    vec![("id", Arc::new(Int64Array::from_iter_values(range)))]
}

#[test]
fn several_files_are_one_table() {
    let folder = Folder::new();
    let second = folder.file("part-2.txt", lines(8..12));
    let first = folder.file("part-1.txt", lines(0..8).trim_end());
    let report = folder.path("report.json");
    let pattern = folder.path("part-*.txt");
    let mut said = Vec::new();
    for inputs in [
        &[&*second, &*first][..],
        &[&second, "--input", &first],
        &[&pattern],
    ] {
        let joined = joined(&folder, inputs, &["--report", &report]);
        joined.sender.says(0, &[]);
        joined.receiver.says(0, &[]);
        assert_eq!(joined.receiver.stdout, lines(5..12));
        let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
        let named: Vec<_> = inputs.iter().filter(|input| **input != "--input").collect();
        match &*named {
            [only] => assert_eq!(report["files"]["input"], **only),
            several => assert_eq!(report["files"]["input"], serde_json::json!(several)),
        }
        said.push(joined.receiver);
    }
    assert_said!(said);
}

#[test]
fn files_that_differ_are_told_before_the_other_party_is_met() {
    let folder = Folder::new();
    let first = folder.file("a.csv", "id,n\n1,2\n");
    let other = folder.file("b.csv", "id\n1\n");
    let refused = |inputs: &[&str], code| {
        let receive = ["receive", "--connect", "127.0.0.1:1", "--wait", "1"];
        let more = ["--key", "id", "--insecure-plaintext"];
        let ended = run(&[&receive[..], &["--input"], inputs, &more].concat());
        ended.says(code, &[]);
        ended
    };
    let pattern = folder.path("*.tsv");
    assert_said!([
        refused(&[&first, &other], 3),
        refused(&[&first, &first], 3),
        refused(&[&first, "-"], 2),
        refused(&[&pattern], 3),
        refused(&[&first, "--output", &first], 3),
    ]);
}

#[test]
fn a_folder_of_parquet_files_is_a_table() {
    let folder = Folder::new();
    for day in ["2024-02-03", "2024-02-04"] {
        fs::create_dir_all(folder.path(&format!("t/day={day}"))).unwrap();
    }
    folder.parquet("t/day=2024-02-03/a.parquet", ids(0..4));
    folder.parquet("t/day=2024-02-04/a.parquet", ids(4..8));
    folder.file("t/_SUCCESS", "");
    let table = folder.path("t");
    let theirs = folder.file("theirs.csv", "id\n3\n4\n9\n");
    let joined = join(
        &["--input", &table, "--key", "id", "--insecure-plaintext"],
        &["--input", &theirs, "--key", "id", "--insecure-plaintext"],
    );
    joined.sender.says(0, &[]);
    joined.receiver.says(0, &[": 8 rows"]);
    assert_eq!(
        joined.receiver.stdout,
        "id,day\n3,2024-02-03\n4,2024-02-04\n"
    );
    let columns = run(&["columns", &table]);
    columns.says(0, &[]);
    assert_eq!(columns.stdout, "id\nday\n");
}

#[test]
fn a_format_is_said_where_no_name_tells_it() {
    let folder = Folder::new();
    folder.parquet("t.parq", ids(0..8));
    let misnamed = folder.parquet("t.csv", ids(0..8));
    let theirs = folder.file("theirs.csv", "id\n3\n4\n9\n");
    let sender = ["--input", &theirs, "--key", "id", "--insecure-plaintext"];
    for name in ["t.parq", "t.csv", "-"] {
        let stdin = fs::File::open(&misnamed).unwrap();
        let path = folder.path(name);
        let input = if name == "-" { name } else { &path };
        let format = ["--input-format", "parquet", "--insecure-plaintext"];
        let joined = join_with(
            &[&["--input", input, "--key", "id"], &format[..]].concat(),
            &sender,
            |command| command.stdin(stdin).stdout(Stdio::piped()),
        );
        joined.sender.says(0, &[]);
        joined.receiver.says(0, &[]);
        assert_eq!(joined.receiver.stdout, "id\n3\n4\n");
    }

    let columns = run(&["columns", &misnamed]);
    let said = run(&["columns", "--input-format", "parquet", &misnamed]);
    assert_eq!(said.stdout, "id\n");
    let from_stdin = Process::start_with(&["columns", "-"], |command| {
        let stdin = fs::File::open(&misnamed).unwrap();
        command.stdin(stdin).stdout(Stdio::piped())
    });
    let from_stdin = from_stdin.end();
    let unknown = run(&["columns", "--input-format", "xlsx", &misnamed]);
    for (ended, code) in [(&columns, 3), (&from_stdin, 3), (&unknown, 2)] {
        ended.says(code, &[]);
    }
    assert_said!([columns, from_stdin, unknown]);
}

#[test]
fn an_output_named_by_a_hyphen_is_standard_output() {
    let folder = Folder::new();
    let mine = folder.file("mine", lines(0..8));
    let joined = joined(&folder, &[&mine], &["--output", "-", "--no-clobber"]);
    joined
        .receiver
        .says(0, &["Wrote 3 rows to standard output."]);
    assert_eq!(joined.receiver.stdout, lines(5..8));
    assert_eq!(folder.names(), ["mine", "theirs"]);

    let both = ["--output", "-", "--report", "-", "--insecure-plaintext"];
    let receive = ["receive", "--connect", "127.0.0.1:1", "--input", &mine];
    run(&[&receive[..], &both].concat()).says(2, &["cannot both go to standard output"]);
}

#[test]
fn rows_go_to_arrow_files_and_come_from_them() {
    let folder = Folder::new();
    let mine = folder.parquet("mine.parquet", ids(0..8));
    let theirs = folder.file("theirs.csv", "id\n3\n4\n9\n");
    let sender = ["--input", &theirs, "--key", "id", "--insecure-plaintext"];
    let arrow = folder.path("shared.arrow");
    let receive = |input: &str, more: &[&str]| {
        let receiver = ["--input", input, "--key", "id", "--insecure-plaintext"];
        let joined = join(&[&receiver[..], more].concat(), &sender);
        joined.receiver.says(0, &[]);
        joined.receiver.stdout
    };
    receive(&mine, &["--output", &arrow]);
    assert_eq!(receive(&arrow, &[]), "id\n3\n4\n");
}

#[cfg(target_os = "linux")]
#[test]
fn thousands_of_files_need_few_descriptors() {
    let folder = Folder::new();
    fs::create_dir(folder.path("t")).unwrap();
    for index in 0..1_000 {
        folder.file(&format!("t/{index:03}.csv"), format!("id\n{index}\n"));
    }
    let mut command = std::process::Command::new("bash");
    let limited = "ulimit -n 80 && exec \"$0\" \"$@\"";
    command.args(["-c", limited, env!("CARGO_BIN_EXE_psijoin"), "columns"]);
    command.arg(folder.path("t/*.csv"));
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let columns = Process::spawn(command).end();
    columns.says(0, &[]);
    assert_eq!(columns.stdout, "id\n");
}
