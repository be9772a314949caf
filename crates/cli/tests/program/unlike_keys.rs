//! Key columns that differ, though the settings agree, and checks that stop before data moves.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Int64Array, TimestampMicrosecondArray,
};

use crate::support::{Folder, Joined, join};

const COMMON: [&str; 4] = ["--insecure-plaintext", "--key", "k", "--input"];

/// Joins two tables whose key is `k`, each with more arguments.
#[track_caller]
fn joined(receiver: (&str, &[&str]), sender: (&str, &[&str])) -> Joined {
    join(
        &[&COMMON[..], &[receiver.0], receiver.1].concat(),
        &[&COMMON[..], &[sender.0], sender.1].concat(),
    )
}

/// Both sides are warned, in these words, and go on, unless one of them is strict.
#[track_caller]
fn warns(receiver: (&str, &[&str]), sender: (&str, &[&str]), here: &str, there: &str) {
    let both = joined(receiver, sender);
    both.receiver.says(0, &["WARNING", here]);
    both.sender.says(0, &["WARNING", there]);
    assert!(both.receiver.stdout.starts_with('k'), "{:?}", both.receiver);
    for strict in [true, false] {
        let mut ours = receiver.1.to_vec();
        let mut theirs = sender.1.to_vec();
        if strict { &mut ours } else { &mut theirs }.push("--strict");
        let refused = joined((receiver.0, &ours), (sender.0, &theirs));
        refused.receiver.says(5, &[here, "--strict"]);
        refused.sender.says(5, &[there, "--strict"]);
        assert_eq!(refused.receiver.stdout, "");
    }
}

#[track_caller]
fn is_silent(receiver: (&str, &[&str]), sender: (&str, &[&str])) {
    let both = joined(receiver, sender);
    for ended in [&both.receiver, &both.sender] {
        ended.says(0, &[]);
        let plaintext = "WARNING: --insecure-plaintext";
        assert_eq!(
            ended.stderr.matches("WARNING").count(),
            ended.stderr.matches(plaintext).count(),
            "{ended:#?}"
        );
    }
}

fn column(array: impl arrow_array::Array + 'static) -> Vec<(&'static str, ArrayRef)> {
    vec![("k", Arc::new(array))]
}

#[test]
fn kinds_that_differ_are_told_on_both_sides() {
    let folder = Folder::new();
    let second = 1_706_963_696_000_000; // 2024-02-03 12:34:56
    let zoned = TimestampMicrosecondArray::from(vec![second]).with_timezone("UTC");
    let plain = TimestampMicrosecondArray::from(vec![second]);
    let number = folder.parquet("number.parquet", column(Int64Array::from(vec![1])));
    let flag = folder.parquet("flag.parquet", column(BooleanArray::from(vec![true])));
    let date = folder.parquet("date.parquet", column(Date32Array::from(vec![19_756])));
    let zoned = folder.parquet("zoned.parquet", column(zoned));
    let plain = folder.parquet("plain.parquet", column(plain));
    let text = folder.file("text.csv", "k\n01\n");
    for (typed, kind, advice) in [
        (&number, "number", "COLUMN=number"),
        (&flag, "boolean", "COLUMN=bool"),
        (&date, "date", "COLUMN=date"),
        (&zoned, "timestamp in universal time", "COLUMN=timestamp"),
    ] {
        warns(
            (&text, &[]),
            (typed, &[]),
            &format!("key column 1 (`k` here) is text here and {kind} on the other side"),
            &format!("key column 1 (`k` here) is {kind} here and text on the other side"),
        );
        let both = joined((&text, &[]), (typed, &[]));
        both.receiver.says(0, &[advice, "here reads the text"]);
        both.sender
            .says(0, &[advice, "on the other side reads the text"]);
    }
    warns(
        (&plain, &[]),
        (&zoned, &[]),
        "is timestamp without a zone here and timestamp in universal time on the other side",
        "COLUMN=timestamp:ZONE",
    );
}

#[test]
fn one_value_in_two_types_needs_no_word() {
    let folder = Folder::new();
    let wide = Decimal128Array::from(vec![1_000_000_000]);
    let wide = wide.with_precision_and_scale(38, 9).unwrap();
    let wide = folder.parquet("wide.parquet", column(wide));
    let number = folder.parquet("number.parquet", column(Int64Array::from(vec![1])));
    let text = folder.file("text.csv", "k\n01.0\n");
    is_silent((&wide, &[]), (&number, &[]));
    is_silent((&text, &["--normalize", "k=trim+number"]), (&wide, &[]));
    is_silent(
        (&text, &["--normalize", "k=email"]),
        (&text, &["--normalize", "k=trim+lowercase"]),
    );
}

#[test]
fn rules_on_one_side_only_are_told_on_both() {
    let folder = Folder::new();
    let text = folder.file("text.csv", "k\nann 1\n");
    warns(
        (&text, &["--normalize", "k=trim"]),
        (&text, &[]),
        "key column 1 (`k` here) is normalised by `trim` here and by no rule on the other side",
        "by no rule here and by `trim` on the other side",
    );
    warns(
        (&text, &["--normalize", "k=digits"]),
        (&text, &["--normalize", "k=phone"]),
        "is digits here and telephone number without a country code on the other side",
        "is telephone number without a country code here and digits on the other side",
    );
}

#[test]
fn columns_in_another_order_are_told_on_both_sides() {
    let folder = Folder::new();
    let table = folder.file("table.csv", "k,v\nann,1\n");
    let common = ["--insecure-plaintext", "--input", &table, "--key"];
    let run = |receiver: &[&str], sender: &[&str]| {
        join(
            &[&common[..], receiver].concat(),
            &[&common[..], sender].concat(),
        )
    };
    let words = "the same key columns in another order";
    let both = run(&["k,v"], &["v,k"]);
    both.receiver.says(0, &[words, "no key is shared"]);
    both.sender.says(0, &[words]);
    let both = run(&["k,v", "--strict"], &["v,k"]);
    both.receiver.says(5, &[words]);
    both.sender.says(5, &[words]);
    let both = run(&["k,v", "--strict"], &["k,v", "--strict"]);
    both.receiver.says(0, &["1 shared key"]);
}

#[test]
fn a_table_that_cannot_match_is_refused_by_the_strict() {
    let folder = Folder::new();
    let mixed = folder.file(
        "mixed.csv",
        "k\n2024-02-03 12:00:00\n2024-02-03 12:00:00Z\n",
    );
    let plain = folder.file("plain.csv", "k\n2024-02-03 12:00:00\n");
    let rule = ["--normalize", "k=timestamp"];
    let both = joined((&mixed, &rule), (&plain, &rule));
    both.receiver
        .says(0, &["timestamps with a zone and others without"]);
    both.sender.says(0, &["some with a zone and some without"]);
    let strict = [&rule[..], &["--strict"]].concat();
    let both = joined((&mixed, &strict), (&plain, &rule));
    both.receiver
        .says(3, &["timestamps with a zone and others without"]);
    both.sender.says(7, &["cannot use its own input"]);
}

#[test]
fn a_check_compares_and_moves_nothing() {
    let folder = Folder::new();
    let text = folder.file("text.csv", "k\n1\n2\n");
    let number = folder.parquet("number.parquet", column(Int64Array::from(vec![1])));
    let (output, report) = (folder.path("shared.csv"), folder.path("report.json"));
    let receive = ["--check", "--output", &output, "--report", &report];

    let both = joined((&text, &receive), (&text, &["--check"]));
    for ended in [&both.receiver, &both.sender] {
        ended.says(
            0,
            &[
                "2 keys of the sender, 2 keys of the receiver",
                "checked: the two sides can join",
                "Nothing was joined",
            ],
        );
        assert_eq!(ended.stdout, "");
    }
    let reported = folder.read("report.json");
    assert!(reported.contains("\"outcome\": \"checked\""), "{reported}");
    assert!(!folder.names().contains(&"shared.csv".to_owned()));

    let both = joined((&text, &receive), (&number, &["--check"]));
    both.receiver
        .says(0, &["is text here and number", "with 2 warnings above"]);
    let both = joined((&text, &receive), (&number, &["--check", "--strict"]));
    both.receiver.says(5, &["is text here and number"]);

    let both = joined(
        (&text, &["--check", "--protocol", "dh"]),
        (&text, &["--check", "--output-kind", "count"]),
    );
    let all = ["the protocol:", "and on the output:"];
    both.receiver.says(5, &all);
    both.sender.says(5, &all);

    let both = joined(
        (&text, &["--check", "--protocol", "dh"]),
        (&number, &["--check", "--protocol", "kkrt"]),
    );
    let all = ["the protocol:", "is text here and number on the other side"];
    both.receiver.says(5, &all);
}

#[test]
fn whoever_joins_with_somebody_who_checks_is_told() {
    let folder = Folder::new();
    let text = folder.file("text.csv", "k\n1\n");
    let both = joined((&text, &["--check"]), (&text, &[]));
    both.receiver.says(0, &["checked"]);
    both.sender.says(5, &["the other party only checks"]);
    let both = joined((&text, &[]), (&text, &["--check"]));
    both.receiver.says(5, &["the other party only checks"]);
    both.sender.says(0, &["checked"]);
    assert_eq!(both.receiver.stdout, "");
}
