//! Key columns that differ, though the settings agree, and checks that stop before data moves.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Int64Array, TimestampMicrosecondArray,
};
use serde_json::Value;

use crate::support::{Ended, Folder, Joined, Process, all_exit, assert_said, join, run};

const COMMON: [&str; 4] = ["--insecure-plaintext", "--key", "k", "--input"];

/// Joins two tables whose key is `k`, each with more arguments.
#[track_caller]
fn joined(receiver: (&str, &[&str]), sender: (&str, &[&str])) -> Joined {
    join(
        &[&COMMON[..], &[receiver.0], receiver.1].concat(),
        &[&COMMON[..], &[sender.0], sender.1].concat(),
    )
}

/// Checks, or joins, by these words before the options of the receiver and of the sender.
#[track_caller]
fn met(words: [&[&str]; 2], receiver: (&str, &[&str]), sender: (&str, &[&str])) -> Joined {
    let options = |(table, more)| [&COMMON[..], &[table], more].concat();
    let listen = ["--listen", "127.0.0.1:0"];
    let mut listening = Process::start(&[words[0], &listen, &options(receiver)].concat());
    let connect = ["--connect", &listening.address()];
    let sender = run(&[words[1], &connect, &options(sender)].concat());
    let receiver = listening.end();
    Joined { receiver, sender }
}

#[track_caller]
fn checked(receiver: (&str, &[&str]), sender: (&str, &[&str])) -> Joined {
    met(
        [&["check", "receive"], &["check", "send"]],
        receiver,
        sender,
    )
}

/// Checks that both sides are warned and continue, unless one of them is strict. Returns their ends
/// if neither is, then if the receiver is, and last if the sender is.
#[track_caller]
fn warned(receiver: (&str, &[&str]), sender: (&str, &[&str])) -> [[Ended; 2]; 3] {
    let both = joined(receiver, sender);
    for ended in [&both.receiver, &both.sender] {
        ended.says(0, &["WARNING: key column 1 (`k` here) is "]);
    }
    assert!(both.receiver.stdout.starts_with('k'), "{:?}", both.receiver);
    let refused = [true, false].map(|strict| {
        let mut ours = receiver.1.to_vec();
        let mut theirs = sender.1.to_vec();
        if strict { &mut ours } else { &mut theirs }.push("--strict");
        let refused = joined((receiver.0, &ours), (sender.0, &theirs)).both();
        for ended in &refused {
            ended.says(5, &["WARNING: key column 1 (`k` here) is ", "--strict"]);
        }
        assert_eq!(refused[0].stdout, "");
        refused
    });
    let [by_receiver, by_sender] = refused;
    [both.both(), by_receiver, by_sender]
}

#[track_caller]
fn is_silent(receiver: (&str, &[&str]), sender: (&str, &[&str])) {
    let both = joined(receiver, sender);
    for ended in [&both.receiver, &both.sender] {
        ended.says(0, &[]);
        let plaintext = "WARNING: the connection is not encrypted";
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
    let pairs = [
        (&text, &number),
        (&text, &flag),
        (&text, &date),
        (&text, &zoned),
        (&plain, &zoned),
    ];
    let said = pairs.map(|(receiver, sender)| {
        let [by_none, ..] = warned((receiver, &[]), (sender, &[]));
        by_none
    });
    assert_said!(said.as_flattened());
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
    let trim = warned((&text, &["--normalize", "k=trim"]), (&text, &[]));
    let digits = ["--normalize", "k=digits"];
    let phone = ["--normalize", "k=phone"];
    let [kinds, ..] = warned((&text, &digits), (&text, &phone));
    let [neither, by_receiver, by_sender] = trim;
    assert_said!([neither, by_receiver, by_sender, kinds].as_flattened());
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
    let warned = run(&["k,v"], &["v,k"]).both();
    let refused = run(&["k,v", "--strict"], &["v,k"]).both();
    let silent = run(&["k,v", "--strict"], &["k,v", "--strict"]).both();
    for (both, code) in [(&warned, 0), (&refused, 5), (&silent, 0)] {
        for ended in both {
            ended.says(code, &[]);
        }
    }
    assert_said!([warned, refused, silent].as_flattened());
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
    let warned = joined((&mixed, &rule), (&plain, &rule));
    warned.receiver.says(0, &[]);
    warned.sender.says(0, &[]);
    let strict = [&rule[..], &["--strict"]].concat();
    let refused = joined((&mixed, &strict), (&plain, &rule));
    refused.receiver.says(3, &[]);
    refused.sender.says(7, &[]);
    assert_said!([warned.both(), refused.both()].as_flattened());
}

#[test]
fn a_check_compares_and_moves_nothing() {
    let folder = Folder::new();
    let text = folder.file("text.csv", "k\n1\n2\n");
    let number = folder.parquet("number.parquet", column(Int64Array::from(vec![1])));
    let (output, report) = (folder.path("shared.csv"), folder.path("report.json"));
    let receive = ["--output", &output, "--report", &report];

    let agreed = checked((&text, &receive), (&text, &[]));
    for ended in [&agreed.receiver, &agreed.sender] {
        ended.says(0, &[]);
        assert_eq!(ended.stdout, "");
    }
    let reported = folder.read("report.json");
    assert!(!folder.names().contains(&"shared.csv".to_owned()));

    let printed = checked((&text, &["--report", "-"]), (&text, &[])).receiver;
    let printed: Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(printed["outcome"], "checked");

    let warned = checked((&text, &receive), (&number, &[]));
    warned.receiver.says(0, &[]);
    let refused = checked((&text, &receive), (&number, &["--strict"]));
    refused.receiver.says(5, &[]);
    let two_settings = checked(
        (&text, &["--protocol", "dh"]),
        (&text, &["--output-kind", "count"]),
    );
    two_settings.receiver.says(5, &[]);
    let setting_and_kind = checked(
        (&text, &["--protocol", "dh"]),
        (&number, &["--protocol", "kkrt"]),
    );
    setting_and_kind.receiver.says(5, &[]);
    let job = ["--job", &folder.path("job")];
    let listen = [
        "--listen",
        "127.0.0.1:0",
        "--insecure-plaintext",
        "--input",
        &text,
    ];
    let with_job = run(&[&["check", "receive"], &listen[..], &job].concat());
    with_job.says(2, &[]);

    let [receiver, sender] = agreed.both().map(|ended| ended.to_string());
    let mut said = vec![receiver, reported, sender];
    for joined in [warned, refused, two_settings, setting_and_kind] {
        said.extend(joined.both().map(|ended| ended.to_string()));
    }
    said.push(with_job.to_string());
    assert_said!(said);
}

#[test]
fn whoever_joins_with_somebody_who_checks_is_told() {
    let folder = Folder::new();
    let text = folder.file("text.csv", "k\n1\n");
    let by_receiver = met(
        [&["check", "receive"], &["send"]],
        (&text, &[]),
        (&text, &[]),
    );
    by_receiver.receiver.says(0, &[]);
    by_receiver.sender.says(5, &[]);
    let by_sender = met(
        [&["receive"], &["check", "send"]],
        (&text, &[]),
        (&text, &[]),
    );
    by_sender.receiver.says(5, &[]);
    by_sender.sender.says(0, &[]);
    assert_eq!(by_sender.receiver.stdout, "");
    assert_said!([by_receiver.both(), by_sender.both()].as_flattened());
}

/// Plain addresses on one side, hashes on the other: each side's messages, and the advice to a
/// receiver that forgot it.
#[test]
fn hashed_lists_meet_plain_addresses() {
    let folder = Folder::new();
    // Of `ann@x.org` and `bob@x.org`.
    let hashes = "367a1e74302c7324855afeeba387d3c55ca8ab3592a32c0fbdfc939ad80fcaf5\nB752A9A4F7B86F6BDE01E37D2B247661C76B783313B223B7A09B9D2BB125BA18\n";
    let plain = folder.file("plain.csv", "mail\n Ann@X.org\ncid@x.org\n");
    let hashed = folder.file("hashed.csv", format!("hash\n{hashes}"));
    let count = ["--insecure-plaintext", "--output-kind", "count"];
    let plain = |rule| {
        [
            &count[..],
            &["--input", &plain, "--key", "mail", "--normalize", rule],
        ]
        .concat()
    };
    let given = [&count[..], &["--input", &hashed, "--key", "hash"]].concat();
    let read = [&given[..], &["--normalize", "hash=sha256"]].concat();
    let strict = |party: Vec<_>| [&party[..], &["--strict"]].concat();
    let joined = join(&strict(plain("mail=email+sha256")), &strict(read.clone())).both();
    all_exit(&joined, 0);
    assert_eq!(joined[0].stdout, "1\n");
    assert_said!([
        &join(&plain("mail=email"), &given).receiver,
        &join(&given, &plain("mail=email+sha256")).receiver,
        &run(&[
            &["send", "--connect", "127.0.0.1:1"],
            &plain("mail=sha256+trim")[..]
        ]
        .concat()),
        &join(&plain("mail=sha256"), &read).receiver,
        &join(
            &[&given[..], &["--normalize", "hash=email+sha256"]].concat(),
            &read
        )
        .receiver,
    ]);
}
