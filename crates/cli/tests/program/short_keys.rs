//! Keys that are whole numbers of few bits, by the rule `number:BITS`.

use crate::support::{Folder, Joined, join, run};

const OURS: &str = "id,name\n4000000000,a\n7,b\n,none\n+7.0,again\n0,zero\n12,other\n";

const THEIRS: &str = "id\n7\n0\n4e9\n99\n";

const SHARED: &str = "id,name\n4000000000,a\n7,b\n+7.0,again\n0,zero\n";

/// Joins by these rules of the receiver's key and of the sender's, with these options of both.
#[track_caller]
fn joined(folder: &Folder, [ours, theirs]: [&str; 2], options: &[&str]) -> Joined {
    let (receiver, sender) = (
        folder.file("ours.csv", OURS),
        folder.file("theirs.csv", THEIRS),
    );
    let (ours, theirs) = (format!("id={ours}"), format!("id={theirs}"));
    let common = ["--insecure-plaintext", "--key", "id", "--normalize"];
    join(
        &[&common[..], &[&ours, "--input", &receiver], options].concat(),
        &[&common[..], &[&theirs, "--input", &sender], options].concat(),
    )
}

#[test]
fn every_sort_of_protocol_finds_the_shared_rows() {
    let folder = Folder::new();
    for protocol in [
        "auto",
        "pssz",
        "psz-cuckoo",
        "circuit-yao",
        "kkrt-pssz",
        "rr22",
        "dh",
    ] {
        let options = ["--protocol", protocol];
        let Joined { receiver, sender } = joined(&folder, ["number:32"; 2], &options);
        sender.says(0, &[]);
        receiver.says(0, &[]);
        assert_eq!(receiver.stdout, SHARED, "{protocol}");
    }
}

#[test]
fn another_length_is_named_on_both_sides() {
    let folder = Folder::new();
    for (rules, theirs) in [
        (["number:32", "number:33"], "33"),
        (["number:32", "number"], "(nothing)"),
    ] {
        for ended in joined(&folder, rules, &[]).both() {
            ended.says(5, &["the bits of an item", "32", theirs, "number:BITS"]);
        }
    }
}

#[test]
fn the_row_of_a_key_that_is_too_long_is_named_and_not_the_key() {
    let folder = Folder::new();
    let table = folder.file("ours.csv", OURS);
    let words = ["keys", &table, "--key", "id", "--normalize", "id=number:31"];
    let ended = run(&words);
    ended.says(3, &["line 2", "below 2^31"]);
    assert!(!ended.stderr.contains("4000000000"), "{ended:#?}");
}
