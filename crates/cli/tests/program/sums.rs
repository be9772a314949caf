//! Sums of columns over the shared keys, compared with a plain join.

use std::{collections::HashSet, sync::Arc};

use arrow_array::{Decimal128Array, Float64Array, Int64Array};
use serde_json::Value;

use crate::{
    line::{Cheat, join_over_a_line},
    support::{
        Ended, Folder, all_exit, all_exit_without_result, assert_said, join, run, start_pair,
    },
};

/// A row: the key, which may be missing, and two cells.
type Row = (&'static str, &'static str, &'static str);

const RECEIVERS: &[Row] = &[
    ("ann", "12.5", "1"),
    ("bob", "-100.25", "2"),
    ("cid", "", "3"),
    ("ann", " -0.125 ", "-40"),
    ("", "not read", "not read"),
    ("dan", "1000000", "5"),
    ("eve", "+7", ""),
];

const SENDERS: &[Row] = &[
    ("bob", "0.01", "9"),
    ("ann", "-3", "8"),
    ("fay", "1000000", "7"),
    ("eve", "0.02", ""),
    ("eve", "-0.5", "6"),
    ("cid", "4.40", "5"),
];

/// Returns a CSV file of these rows, whose columns are `id` and these.
fn csv(folder: &Folder, name: &str, columns: [&str; 2], rows: &[Row]) -> String {
    let mut text = format!("id,{},{}\n", columns[0], columns[1]);
    for (key, first, second) in rows {
        text += &format!("{key},{first},{second}\n");
    }
    folder.file(name, text)
}

/// Returns a number as an integer of `scale` decimals.
fn scaled(cell: &str, scale: usize) -> i128 {
    let (whole, fraction) = cell.trim().split_once('.').unwrap_or((cell.trim(), ""));
    let digits = format!("{whole}{fraction:0<scale$}");
    digits.parse().unwrap()
}

/// Returns the sum of a cell over all rows whose key is among `others`, by a plain join.
fn plain(rows: &[Row], cell: fn(&Row) -> &'static str, others: &[Row]) -> String {
    let keys: HashSet<_> = others.iter().map(|row| row.0).collect();
    let cells = |shared: bool| {
        let numbers = rows.iter().filter(|row| !row.0.is_empty());
        numbers
            .filter(move |row| !shared || keys.contains(row.0))
            .map(cell)
            .filter(|cell| !cell.trim().is_empty())
    };
    let decimals = |cell: &str| cell.trim().split_once('.').map_or(0, |parts| parts.1.len());
    let scale = cells.clone()(false).map(decimals).max().unwrap_or(0);
    let sum: i128 = cells(true).map(|cell| scaled(cell, scale)).sum();
    let digits = format!("{:0>1$}", sum.abs(), scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if sum < 0 { "-" } else { "" };
    let point = if scale > 0 { "." } else { "" };
    format!("{sign}{whole}{point}{fraction}")
}

/// Runs both parties with these tables, the key `id`, and these options; the receiver first.
fn added(tables: [&str; 2], options: &[&str]) -> [Ended; 2] {
    let options = [&["--key", "id", "--insecure-plaintext"], options].concat();
    let args = |table| [&["--input", table][..], &options].concat();
    let sender = [&args(tables[1])[..], &[ALLOW]].concat();
    join(&args(tables[0]), &sender).both()
}

/// Without this, a sender refuses sums of the receiver's columns.
const ALLOW: &str = "--allow-sums-that-reveal-keys";

#[test]
fn columns_of_either_side_are_added_up_as_by_a_plain_join() {
    let folder = Folder::new();
    let mine = csv(&folder, "mine.csv", ["amount", "qty"], RECEIVERS);
    let theirs = csv(&folder, "theirs.csv", ["price", "qty"], SENDERS);
    let amount = plain(RECEIVERS, |row| row.1, SENDERS);
    let price = plain(SENDERS, |row| row.1, RECEIVERS);
    let quantities = [
        plain(SENDERS, |row| row.2, RECEIVERS),
        plain(RECEIVERS, |row| row.2, SENDERS),
    ];
    assert_eq!([&amount, &price, &quantities[0]], ["-80.875", "0.93", "28"]);

    for (columns, expected) in [
        ("amount", format!("{amount}\n")),
        ("price", format!("{price}\n")),
        ("receiver.amount", format!("{amount}\n")),
        (
            "sender.qty,amount,receiver.qty,price",
            format!(
                "sender.qty\t{}\namount\t{amount}\nreceiver.qty\t{}\nprice\t{price}\n",
                quantities[0], quantities[1]
            ),
        ),
    ] {
        let kind = format!("sum:{columns}");
        let [receiver, sender] = added([&mine, &theirs], &["--output-kind", &kind]);
        receiver.says(0, &["rr22-circuit: 5 keys of the sender"]);
        assert_eq!(receiver.stdout, expected);
        sender.says(0, &[]);
        assert_eq!(sender.stdout, "");
    }
    assert_eq!(folder.names(), ["mine.csv", "theirs.csv"]);
}

#[test]
fn both_are_told_what_was_learned() {
    let folder = Folder::new();
    let mine = csv(&folder, "mine.csv", ["amount", "qty"], RECEIVERS);
    let theirs = csv(&folder, "theirs.csv", ["price", "unused"], SENDERS);
    let said = ["sum:price,receiver.qty", "sum:price"].map(|kind| {
        let both = added([&mine, &theirs], &["--output-kind", kind]);
        all_exit(&both, 0);
        both
    });
    assert_said!(said.as_flattened());
}

#[test]
fn numbers_in_parquet_are_added_up() {
    let folder = Folder::new();
    let prices = Decimal128Array::from(vec![Some(1050), Some(-7), None, Some(1)])
        .with_precision_and_scale(12, 3)
        .unwrap();
    let theirs = folder.parquet(
        "theirs.parquet",
        vec![
            ("id", Arc::new(Int64Array::from(vec![1, 2, 3, 9]))),
            ("price", Arc::new(prices)),
        ],
    );
    let weights = Float64Array::from(vec![0.5, 0.25, -1e-3, 8.0]);
    let mine = folder.parquet(
        "mine.parquet",
        vec![
            ("id", Arc::new(Int64Array::from(vec![2, 1, 2, 7]))),
            ("weight", Arc::new(weights)),
        ],
    );
    let [receiver, _] = added([&mine, &theirs], &["--output-kind", "sum:price,weight"]);
    receiver.says(0, &[]);
    assert_eq!(receiver.stdout, "price\t1.043\nweight\t0.749\n");
    let csv = csv(
        &folder,
        "mine.csv",
        ["weight", "x"],
        &[("2", "0.5", ""), ("1", "-3", "")],
    );
    let [receiver, _] = added([&csv, &theirs], &["--output-kind", "sum:weight,price"]);
    assert_eq!(receiver.stdout, "weight\t-2.5\nprice\t1.043\n");
}

#[test]
fn sums_reach_the_ends_of_their_range() {
    let folder = Folder::new();
    let mine = folder.file(
        "mine.csv",
        "id,n\n1,9223372036854775806\n2,1\n3,-9223372036854775808\n",
    );
    for (theirs, sum) in [
        ("id\n1\n2\n4\n", "9223372036854775807"),
        ("id\n3\n", "-9223372036854775808"),
        ("id\n1\n2\n3\n", "-1"),
        ("id\n4\n", "0"),
        ("id\n", "0"),
    ] {
        let theirs = folder.file("theirs.csv", theirs);
        for tables in [[&mine, &theirs], [&theirs, &mine]] {
            let [receiver, _] = added(tables.map(String::as_str), &["--output-kind", "sum:n"]);
            assert_eq!(receiver.stdout, format!("{sum}\n"), "{receiver:#?}");
        }
    }
}

#[test]
fn scripts_read_sums_in_the_report() {
    let folder = Folder::new();
    let mine = csv(&folder, "mine.csv", ["amount", "qty"], RECEIVERS);
    let theirs = csv(&folder, "theirs.csv", ["price", "unused"], SENDERS);
    let kind = "sum:price,receiver.qty";
    let reports = added([&mine, &theirs], &["--output-kind", kind, "--report", "-"]);
    assert_said!(reports.map(|ended| {
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        format!("{report:#}\n")
    }));
}

/// Checks that both end with these codes, and nothing is written.
#[track_caller]
fn failed(tables: [&str; 2], kind: &str, codes: [i32; 2]) -> [Ended; 2] {
    let folder = Folder::new();
    let [mine, theirs] = [("mine.csv", tables[0]), ("theirs.csv", tables[1])]
        .map(|(name, text)| folder.file(name, text));
    let both = added([&mine, &theirs], &["--output-kind", kind]);
    for (ended, code) in both.iter().zip(codes) {
        ended.says(code, &[]);
        assert_eq!(ended.stdout, "");
    }
    assert_eq!(folder.names(), ["mine.csv", "theirs.csv"]);
    both
}

#[test]
fn a_name_that_does_not_say_whose_column_is_refused_on_both_sides() {
    let said = [
        failed(["id,n\n1,1\n", "id,n\n1,1.5\n"], "sum:n", [2, 2]),
        failed(["id,n\n1,1\n", "id\n1\n"], "sum:n,m", [2, 2]),
    ];
    assert_said!(said.as_flattened());
}

#[test]
fn what_cannot_be_added_up_ends_both() {
    let nines = "9".repeat(18);
    let overflow = format!("id,n\n1,{nines}\n2,0.01\n");
    let many = "0.".to_owned() + &"0".repeat(18) + "1";
    let many = format!("id,n\n1,{many}\n");
    let said = ["id,n\n1,5\n2,1 000\n", &many, &overflow].map(|table| {
        let of_receiver = failed([table, "id\n1\n"], "sum:n", [3, 7]);
        let of_sender = failed(["id\n1\n", table], "sum:n", [7, 3]);
        [of_receiver, of_sender]
    });
    assert_said!(said.as_flattened().as_flattened());
}

#[test]
fn other_columns_are_a_disagreement() {
    let folder = Folder::new();
    let table = folder.file("table.csv", "id,a,b\n1,2,3\n");
    let args = |kind| {
        let kind = ["--output-kind", kind];
        let rest = ["--input", &table, "--key", "id", "--insecure-plaintext"];
        [&kind[..], &rest].concat()
    };
    let both = join(&args("sum:sender.a"), &args("sum:sender.b")).both();
    all_exit_without_result(&both, 5);
    assert_said!(both);
}

/// kk20 multiplies columns of the receiver only: noticed at once if the name has its holder, and
/// otherwise by both when they have met.
#[test]
fn a_protocol_that_has_no_room_for_a_column_is_refused() {
    let folder = Folder::new();
    let mine = csv(&folder, "mine.csv", ["amount", "qty"], RECEIVERS);
    let theirs = csv(&folder, "theirs.csv", ["price", "qty"], SENDERS);
    let kk20 = |kind| ["--output-kind", kind, "--protocol", "kk20-silent"];
    let together = added([&mine, &theirs], &kk20("sum:price"));
    all_exit(&together, 2);
    let alone = refused("send", &theirs, &kk20("sum:sender.qty")[1..], 2);
    let [receiver, _] = added([&mine, &theirs], &kk20("sum:amount"));
    receiver.says(0, &[]);
    assert_eq!(receiver.stdout, "-80.875\n");
    let [mine, theirs] = together;
    assert_said!([mine, theirs, alone]);
}

/// One side's message about its column reaches the other changed.
#[test]
fn a_peer_that_tells_other_decimals_is_refused() {
    let folder = Folder::new();
    let with = folder.file("with.csv", "id,n\n1,0.000000000000000001\n");
    let without = folder.file("without.csv", "id\n1\n");
    let args = |table| {
        let rest = [
            "--key",
            "id",
            "--insecure-plaintext",
            "--output-kind",
            "sum:n",
        ];
        [&["--input", table], &rest[..]].concat()
    };
    let told = b"decimals of column 1\x0218";
    let mut said = Vec::new();
    for lie in [b"17", b"19"] {
        for cheat in [Cheat::Sender, Cheat::Receiver] {
            let tables = match cheat {
                Cheat::Sender => [&without, &with],
                Cheat::Receiver => [&with, &without],
            };
            let mut lies = 0;
            let [receiver, mut sender] = tables.map(|table| args(table));
            sender.push(ALLOW);
            let joined = join_over_a_line(&receiver, &sender, cheat, |message| {
                let at = message.windows(told.len()).position(|part| part == told);
                if let Some(at) = at {
                    message[at + told.len() - 2..][..2].copy_from_slice(lie);
                    lies += 1;
                }
            });
            assert_eq!(lies, 1);
            let both = joined.both();
            all_exit_without_result(&both, 5);
            said.extend(both);
        }
    }
    assert_said!(said);
}

/// Refused before the other party is looked for.
#[track_caller]
fn refused(command: &str, input: &str, options: &[&str], code: i32) -> Ended {
    let args = [
        &[command, "--connect", "127.0.0.1:1", "--input", input][..],
        &["--key", "id", "--insecure-plaintext", "--output-kind"],
        options,
        &["--wait", "1"],
    ];
    let ended = run(&args.concat());
    ended.says(code, &[]);
    assert_eq!(ended.stdout, "");
    ended
}

#[test]
fn what_one_side_can_see_alone_is_said_at_once() {
    let folder = Folder::new();
    let table = folder.file("table.csv", "id,n,twice,twice\n1,2,3,4\n");
    let flags = Arc::new(arrow_array::BooleanArray::from(vec![true]));
    let parquet = folder.parquet("table.parquet", vec![("id", flags)]);
    let long = format!("sum:{}", "n".repeat(200));
    assert_said!([
        refused("send", &table, &["sum:sender.m"], 3),
        refused("receive", &table, &["sum:receiver.m"], 3),
        refused("send", &table, &["sum:twice"], 3),
        refused("receive", &parquet, &["sum:receiver.id"], 3),
        refused("send", &table, &["sum"], 2),
        refused("send", &table, &["sum:"], 2),
        refused("send", &table, &["sum:n,n"], 2),
        refused("send", &table, &["average:n"], 2),
        refused("send", &table, &[&long], 2),
        refused("send", &table, &["sum:n", "--protocol", "kkrt"], 2),
        refused("receive", &table, &["sum:n", "--output", "x.csv"], 2),
    ]);
}

#[test]
#[cfg(unix)]
fn a_peer_that_stops_midway_leaves_nothing() {
    let folder = Folder::new();
    let rows: String = (0..100_000).map(|key| format!("{key},{key}.5\n")).collect();
    let mine = folder.file("mine.csv", format!("id,n\n{rows}"));
    let theirs = folder.file("theirs.csv", format!("id,m\n{rows}"));
    let report = folder.path("report.json");
    let options = [
        "--key",
        "id",
        "--insecure-plaintext",
        "--output-kind",
        "sum:n,m",
    ];
    let (mut receiver, sender) = start_pair(
        &[&["--input", &mine, "--report", &report], &options[..]].concat(),
        &[&["--input", &theirs, ALLOW], &options[..]].concat(),
    );
    receiver.wait_for("rr22-circuit: 100,000 keys of the sender");
    sender.signal("KILL");
    let receiver = receiver.end();
    receiver.says(4, &["the other party"]);
    assert_eq!((receiver.stdout.as_str(), sender.end().code), ("", None));
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    assert_eq!(report["exit_code"], 4);
    assert_eq!(report.get("result"), None);
}
