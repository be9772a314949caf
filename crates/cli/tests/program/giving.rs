//! `--give` and `--take`: columns of the sender beside the receiver's rows, against joins by hand.

use std::{fs::File, sync::Arc};

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DurationSecondArray, Float64Array,
    Int64Array, StringArray, TimestampSecondArray,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use crate::support::{Ended, Folder, Joined, assert_said, exists, join, run, trust};

const MINE: &str = "email,name,plan\nann@x.org,Ann,old\nbob@x.org,Bob,\ncid@x.org,Cid,new\n\
    ann@x.org,Ann again,older\n,Nobody,none\n";
const THEIRS: &str =
    "mail,plan,since\nbob@x.org,gold,2020\nzoe@x.org,basic,2019\nann@x.org,\"sil,ver\",\n";

/// The receiver's rows with all of the sender's columns.
const JOINED: &str = "email,name,plan,partner_plan,since\nann@x.org,Ann,old,\"sil,ver\",\n\
    bob@x.org,Bob,,gold,2020\nann@x.org,Ann again,older,\"sil,ver\",\n";

fn tables(folder: &Folder) -> [String; 2] {
    [
        folder.file("mine.csv", MINE),
        folder.file("theirs.csv", THEIRS),
    ]
}

fn joined(folder: &Folder, receiver: &[&str], sender: &[&str]) -> Joined {
    let [mine, theirs] = tables(folder);
    let receive = ["--insecure-plaintext", "--input", &mine, "--key", "email"];
    let send = ["--insecure-plaintext", "--input", &theirs, "--key", "mail"];
    join(
        &[&receive[..], receiver].concat(),
        &[&send[..], sender].concat(),
    )
}

#[test]
fn columns_stand_beside_the_rows_that_are_shared() {
    let folder = Folder::new();
    let [output, report] = ["out.csv", "report.json"].map(|name| folder.path(name));
    let all = joined(
        &folder,
        &["--take", "all", "--output", &output, "--report", &report],
        &["--give", "plan,since"],
    );
    assert_said!(all.both());
    assert_eq!(folder.read("out.csv"), JOINED);
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    // A byte of flags, and two bytes for the length of each text. The longest row is not shared.
    let bytes = 1 + 2 + "basic".len() + 2 + "2019".len();
    let given = serde_json::json!([{"giver": "sender", "columns": ["plan", "since"], "bytes_per_key": bytes}]);
    assert_eq!(report["given"], given);
    assert_eq!(report["protocol"]["name"], "dh");

    joined(
        &folder,
        &["--take", "since", "--output", &output, "--rows", "all"],
        &["--give", "plan,since", "--give-bytes", "40"],
    );
    assert_eq!(
        folder.read("out.csv"),
        "email,name,plan,shared,since\nann@x.org,Ann,old,true,\nbob@x.org,Bob,,true,2020\n\
         cid@x.org,Cid,new,false,\nann@x.org,Ann again,older,true,\n,Nobody,none,false,\n"
    );
}

#[test]
fn all_protocols_that_carry_columns_give_the_same() {
    let folder = Folder::new();
    let output = folder.path("out.csv");
    for protocol in ["rr22", "rr22-malicious", "dh"] {
        for parts in [
            &[][..],
            &["--parts", "3"],
            &["--parts", "3", "--table-memory", "0kB"],
        ] {
            let common = [&["--protocol", protocol], parts].concat();
            let joined = joined(
                &folder,
                &[&common[..], &["--take", "plan,since", "--output", &output]].concat(),
                &[&common[..], &["--give", "plan,since"]].concat(),
            );
            joined.receiver.says(0, &["Wrote 3 rows"]);
            joined
                .sender
                .says(0, &["the receiver got your columns `plan` and `since`"]);
            assert_eq!(folder.read("out.csv"), JOINED, "{protocol} {parts:?}");
        }
    }
}

/// Nobody's keys, and nothing that is shared: the columns are there all the same.
#[test]
fn columns_of_nothing_are_there() {
    let folder = Folder::new();
    let some = folder.file("some.csv", "id,a\n1,x\n");
    let none = folder.file("none.csv", "id,b\n");
    let others = folder.file("others.csv", "id,b\n2,y\n");
    let output = folder.path("out.csv");
    for (mine, theirs, expected) in [
        (&some, &none, "id,a,shared,b\n1,x,false,\n"),
        (&some, &others, "id,a,shared,b\n1,x,false,\n"),
        (&none, &others, "id,b,shared,partner_b\n"),
        (&none, &none, "id,b,shared,partner_b\n"),
    ] {
        let common = ["--insecure-plaintext", "--key", "id"];
        let take = ["--take", "all", "--rows", "all", "--output", &output];
        let both = join(
            &[&common[..], &["--input", mine], &take].concat(),
            &[&common[..], &["--input", theirs, "--give", "b"]].concat(),
        );
        both.receiver.says(0, &["0 shared keys"]);
        both.sender.says(0, &[]);
        assert_eq!(folder.read("out.csv"), expected);
    }
}

/// Typed columns stay what they are, nulls included.
#[test]
fn types_are_kept() {
    let folder = Folder::new();
    let texts = |texts: &[Option<&str>]| Arc::new(StringArray::from(texts.to_vec())) as ArrayRef;
    let mine = texts(&[Some("b"), Some("x"), Some("a")]);
    let mine = folder.parquet("mine.parquet", vec![("id", mine)]);
    let amounts = Decimal128Array::from(vec![Some(150), None, Some(-7)]);
    let amounts = amounts.with_precision_and_scale(20, 2).unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", texts(&[Some("a"), Some("b"), Some("c")])),
        (
            "text",
            texts(&[Some(""), None, Some("long and not shared")]),
        ),
        ("number", Arc::new(Int64Array::from(vec![i64::MIN, 2, 3]))),
        ("amount", Arc::new(amounts)),
        (
            "ratio",
            Arc::new(Float64Array::from(vec![Some(0.1), Some(-0.0), None])),
        ),
        (
            "paid",
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
        ),
        (
            "day",
            Arc::new(Date32Array::from(vec![Some(19_000), Some(-1), None])),
        ),
    ];
    let taken: Vec<ArrayRef> = columns[1..]
        .iter()
        .map(|(_, column)| column.clone())
        .collect();
    let theirs = folder.parquet("theirs.parquet", columns);
    let output = folder.path("out.parquet");
    let common = ["--insecure-plaintext", "--key", "id"];
    let give = ["--give", "text,number,amount,ratio,paid,day"];
    let both = join(
        &[
            &common[..],
            &["--input", &mine, "--take", "all", "--output", &output],
        ]
        .concat(),
        &[&common[..], &["--input", &theirs], &give].concat(),
    );
    both.receiver.says(0, &["2 shared keys"]);
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(output).unwrap());
    let rows = reader.unwrap().build().unwrap().next().unwrap().unwrap();
    assert_eq!(rows.num_columns(), 7);
    for (written, given) in rows.columns()[1..].iter().zip(&taken) {
        assert_eq!(written.data_type(), given.data_type());
        // The receiver has b before a.
        for (row, of_sender) in [(0, 1), (1, 0)] {
            assert_eq!(
                written.slice(row, 1).to_data(),
                given.slice(of_sender, 1).to_data()
            );
        }
    }
}

#[test]
fn repeated_keys_of_the_sender_are_what_was_chosen() {
    let folder = Folder::new();
    let mine = folder.file("mine.csv", "id,name\n1,Ann\n2,Bob\n1,Ann again\n");
    let theirs = folder.file("theirs.csv", "id,visit\n1,May\n3,June\n1,July\n2,August\n");
    let output = folder.path("out.csv");
    let visits = |how: &[&str]| {
        let common = ["--insecure-plaintext", "--key", "id"];
        join(
            &[
                &common[..],
                &["--input", &mine, "--take", "all", "--output", &output],
            ]
            .concat(),
            &[&common[..], &["--input", &theirs, "--give", "visit"], how].concat(),
        )
    };
    let refused = visits(&[]);
    refused.sender.says(
        3,
        &["row 3 of the table", "only one row per key can be given"],
    );
    refused.receiver.says(7, &[]);
    assert!(!exists(&output));

    visits(&["--repeated", "first"])
        .receiver
        .says(0, &["Wrote 3 rows"]);
    assert_eq!(
        folder.read("out.csv"),
        "id,name,visit\n1,Ann,May\n2,Bob,August\n1,Ann again,May\n"
    );
    visits(&["--repeated", "list:2"])
        .receiver
        .says(0, &["Wrote 5 rows"]);
    assert_eq!(
        folder.read("out.csv"),
        "id,name,visit\n1,Ann,May\n1,Ann,July\n2,Bob,August\n1,Ann again,May\n1,Ann again,July\n"
    );
}

#[test]
fn what_cannot_be_given_or_taken_is_refused_on_both_sides() {
    let folder = Folder::new();
    let output = folder.path("out.csv");
    let ends = |take: &[&str], give: &[&str]| {
        let take = [take, &["--output", &output]].concat();
        joined(&folder, &take, give).both()
    };
    let said = [
        ends(&["--take", "all"], &["--give", "plan", "--give-bytes", "3"]),
        ends(&["--take", "age"], &["--give", "plan,since"]),
        ends(&["--take", "all"], &["--give", "age"]),
        ends(&[], &["--give", "plan"]),
        ends(&["--take", "all"], &[]),
        ends(&["--take", "all", "--take-bytes", "6"], &["--give", "plan"]),
        ends(
            &["--take", "all", "--take-rows", "2"],
            &["--give", "plan", "--repeated", "list:3"],
        ),
    ];
    let said: Vec<Ended> = said.into_iter().flatten().collect();
    assert!(!exists(&output));
    assert_said!(said);
}

/// Both sides end at once, as they do where a column cannot be a key.
#[test]
fn a_type_that_cannot_be_given_is_told_to_both_sides() {
    let folder = Folder::new();
    let mine = folder.file("mine.csv", "id\n1\n");
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(StringArray::from(vec!["1"]))),
        ("took", Arc::new(DurationSecondArray::from(vec![7]))),
    ];
    let theirs = folder.parquet("theirs.parquet", columns);
    let common = ["--insecure-plaintext", "--key", "id"];
    let both = join(
        &[&common[..], &["--input", &mine, "--take", "all"]].concat(),
        &[&common[..], &["--input", &theirs, "--give", "took"]].concat(),
    );
    both.receiver.says(7, &[]);
    both.sender.says(
        3,
        &["the column `took` cannot be shared with the partner: it holds Duration"],
    );
}

#[test]
fn columns_come_with_rows_only() {
    let folder = Folder::new();
    let [mine, _] = tables(&folder);
    let refused = |more: &[&str]| -> Ended {
        let send = ["send", "--connect", "127.0.0.1:1", "--wait", "1"];
        let common = ["--input", &mine, "--key", "email", "--insecure-plaintext"];
        run(&[&send[..], &common, &["--give", "plan"], more].concat())
    };
    let said = [
        refused(&["--output-kind", "count"]),
        refused(&["--protocol", "kkrt"]),
        refused(&["--min-intersection", "2"]),
        refused(&["--repeated", "list:0"]),
        run(&[
            "receive",
            "--connect",
            "127.0.0.1:1",
            "--wait",
            "1",
            "--input",
            &mine,
            "--key",
            "email",
            "--insecure-plaintext",
            "--take",
            "all",
            "--rows",
            "unshared",
        ]),
    ];
    assert_said!(said);
}

/// The record that both sides sign has the shared columns.
#[test]
fn a_record_says_what_is_given() {
    let folder = Folder::new();
    let [mine, theirs] = tables(&folder);
    let [output, ours, others] = ["out.csv", "r.json", "s.json"].map(|name| folder.path(name));
    let trust = trust(&folder);
    let [receiver, sender] =
        [&trust.receiver, &trust.sender].map(|own| own.each_ref().map(String::as_str));
    let take = [
        "--input", &mine, "--key", "email", "--take", "all", "--output", &output,
    ];
    let give = ["--input", &theirs, "--key", "mail", "--give", "plan,since"];
    let both = join(
        &[&receiver[..], &take, &["--record", &ours]].concat(),
        &[&sender[..], &give, &["--record", &others]].concat(),
    );
    both.receiver.says(0, &[]);
    let learns = "it was to learn the columns plan,since of the sender for the shared keys, in 14 bytes per key";
    let verified = run(&["verify", &ours, "--against", &others]);
    assert!(verified.stdout.contains(learns), "{}", verified.stdout);
}

/// Whichever way it comes: to the receiver, to the sender, in a common order, and when a job is
/// finished alone.
#[test]
fn a_value_that_the_output_cannot_hold_is_named() {
    let folder = Folder::new();
    let far = TimestampSecondArray::from(vec![Some(0), None, Some(i64::MAX / 999)]);
    let ids = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let given = folder.parquet("given.parquet", vec![("id", ids), ("far", Arc::new(far))]);
    let taking = folder.file("taking.csv", "id,n\n9,x\n3,x\n1,x\n");
    let output = folder.path("out.parquet");
    let jobs = ["job", "other-job"].map(|name| folder.path(name));
    let trust = trust(&folder);
    let [receiver, sender] =
        [&trust.receiver, &trust.sender].map(|own| own.each_ref().map(String::as_str));
    let [give, take] = [
        ["--input", &given, "--key", "id", "--give", "far"],
        ["--input", &taking, "--key", "id", "--take", "far"],
    ];
    let said = "out.parquet: in row 2 of the table, the column `far` is a timestamp that Parquet cannot hold; write .arrow, or";
    let both = ["--learn", "both", "--align"];
    let mut told = Vec::new();
    for (receiver_takes, common) in [
        (true, &[][..]),
        (true, &["--parts", "3"]),
        (true, &both),
        (false, &both[..2]),
        (false, &both),
    ] {
        let to = [&take[..], &["--output", &output], common].concat();
        let from = [&give[..], common].concat();
        let joined = match receiver_takes {
            true => join(
                &[&receiver[..], &to].concat(),
                &[&sender[..], &from].concat(),
            ),
            false => join(
                &[&receiver[..], &from].concat(),
                &[&sender[..], &to].concat(),
            ),
        };
        let [taker, giver] = match receiver_takes {
            true => [joined.receiver, joined.sender],
            false => [joined.sender, joined.receiver],
        };
        giver.says(0, &[]);
        told.push(
            taker
                .says(3, &[said])
                .stderr
                .contains(&(i64::MAX / 999).to_string()),
        );
        assert!(!exists(&output));
    }
    assert_eq!(told, [false; 5]);

    let to = [
        &receiver[..],
        &take,
        &["--output", &output, "--job", &jobs[0]],
    ]
    .concat();
    let from = [&sender[..], &give, &["--job", &jobs[1]]].concat();
    let joined = join(&to, &from);
    joined.receiver.says(3, &[said]);
    joined.sender.says(0, &[]);
    let alone = run(&[&["receive", "--listen", "127.0.0.1:0"], &to[..]].concat());
    alone.says(3, &["the other party is not needed any more", said]);
}

/// A row that the other side wrote, and a name of its column.
#[test]
fn what_a_spreadsheet_would_compute_is_written_as_a_text() {
    let folder = Folder::new();
    let theirs = folder.file("theirs.csv", "id,@n\n1,=cmd|' /C calc'!A0\n2,-5\n");
    let mine = folder.file("mine.csv", "id;+a\n2;-1\n1;-x\n");
    let give = ["--insecure-plaintext", "--input", &theirs, "--key", "id"];
    let give = [&give[..], &["--give", "@n"]].concat();
    let take = ["--insecure-plaintext", "--input", &mine, "--key", "id"];
    let take = [&take[..], &["--delimiter", ";", "--take", "all"]].concat();
    let joined = |more: &[&str]| {
        let joined = join(&[&take[..], more].concat(), &give);
        joined.sender.says(0, &[]);
        joined.receiver
    };
    let quoted = "id;\"'+a\";\"'@n\"\n2;-1;-5\n1;\"'-x\";\"'=cmd|' /C calc'!A0\"\n";
    let printed = joined(&["--quote-formulas"]);
    assert_eq!(printed.says(0, &[]).stdout, quoted);
    let output = folder.path("out.tsv");
    joined(&["--quote-formulas", "--output", &output]).says(0, &[]);
    let in_tsv = quoted.replace(';', "\t").replace('"', "");
    assert_eq!(folder.read("out.tsv"), in_tsv);
    let as_it_is = joined(&[]);
    assert_eq!(
        as_it_is.says(0, &[]).stdout,
        "id;+a;@n\n2;-1;-5\n1;-x;=cmd|' /C calc'!A0\n"
    );
}
