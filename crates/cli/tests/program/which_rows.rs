//! `--rows`: which rows of its table the receiver writes, against joins by hand.

use serde_json::Value;

use crate::support::{Ended, Folder, assert_said, join, run};

const MINE: &str = "id,name\n1,Ann\n,Nobody\n2,Bob\n1,Ann again\n3,Eve\n";
const THEIRS: &str = "id\n1\n3\n1\n4\n";

const SHARED: &str = "id,name\n1,Ann\n1,Ann again\n3,Eve\n";
const UNSHARED: &str = "id,name\n,Nobody\n2,Bob\n";
const ALL: &str =
    "id,name,shared\n1,Ann,true\n,Nobody,false\n2,Bob,false\n1,Ann again,true\n3,Eve,true\n";

const KEYED: [&str; 3] = ["--key", "id", "--insecure-plaintext"];

#[test]
fn the_receiver_chooses_which_rows_it_writes() {
    let folder = Folder::new();
    let (mine, theirs) = (
        folder.file("mine.csv", MINE),
        folder.file("theirs.csv", THEIRS),
    );
    let output = folder.path("out.csv");
    let mut said = Vec::new();
    for (which, expected) in [("shared", SHARED), ("unshared", UNSHARED), ("all", ALL)] {
        let report = folder.path("report.json");
        let files = ["--input", &mine, "--output", &output, "--report", &report];
        let joined = join(
            &[&files[..], &["--rows", which], &KEYED].concat(),
            &[&["--input", &theirs], &KEYED[..]].concat(),
        );
        assert_eq!(folder.read("out.csv"), expected);
        let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
        assert_eq!(report["result"]["shared_keys"], 2);
        assert_eq!(report["result"]["rows"], which);
        assert_eq!(
            report["result"]["rows_written"],
            expected.lines().count() - 1
        );
        said.extend(joined.both());
    }
    assert_said!(said);
}

#[test]
fn typed_rows_and_sessions_in_parts_have_the_same_rows() {
    let folder = Folder::new();
    let theirs = folder.file("theirs.csv", THEIRS);
    let receive = |input: &str, output: &str, more: &[&str]| {
        let files = ["--input", input, "--output", output];
        let common = [&KEYED[..], more].concat();
        let joined = join(
            &[&files[..], &common, &["--rows", "all"]].concat(),
            &[&["--input", &theirs], &common[..]].concat(),
        );
        joined.receiver.says(0, &["all, shared or not"]);
        joined.sender.says(0, &[]);
    };
    let mine = folder.file("mine.csv", MINE);
    let (parquet, again) = (folder.path("all.parquet"), folder.path("again.parquet"));
    receive(&mine, &parquet, &["--parts", "2"]);
    // It has a column of that name by now.
    receive(&parquet, &again, &[]);
    let csv = folder.path("back.csv");
    receive(&again, &csv, &["--parts", "2", "--table-memory", "0kB"]);
    let expected: String = ALL
        .lines()
        .map(|line| match line.rsplit_once(',').unwrap().1 {
            "shared" => format!("{line},psijoin_shared,psijoin_psijoin_shared\n"),
            flag => format!("{line},{flag},{flag}\n"),
        })
        .collect();
    assert_eq!(folder.read("back.csv"), expected);
}

#[test]
fn only_rows_can_be_chosen() {
    let folder = Folder::new();
    let input = folder.file("words", "a\n");
    let refused = |more: &[&str]| -> Ended {
        let receive = ["receive", "--connect", "127.0.0.1:1", "--wait", "1"];
        let common = ["--input", &input, "--insecure-plaintext"];
        run(&[&receive[..], &common, more].concat())
    };
    let said = [
        refused(&["--rows", "all", "--output-kind", "count"]),
        refused(&["--rows", "others"]),
    ];
    for ended in &said {
        ended.says(2, &[]);
    }
    assert_said!(said);
}
