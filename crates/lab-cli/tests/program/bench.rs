//! `psijoin-lab bench`: its measurements, and their form.

use psijoin::{Columns, OutputKind, Request, registry};
use serde_json::{Value, json};

use crate::support::{Ended, assert_said, objects, run};

/// A single quick run of each protocol.
const QUICK: [&str; 5] = ["bench", "--warm-up", "0", "--runs", "1"];

/// Half of the sender's items are shared.
const SHARED: u64 = 20;
const ITEMS: [&str; 2] = ["--items", "40:60"];

fn quick(options: &[&str]) -> Ended {
    run(&[&QUICK[..], &ITEMS, options].concat())
}

/// Returns the only object that is printed.
#[track_caller]
fn object(options: &[&str]) -> Value {
    let ended = quick(&[options, &["--json"]].concat());
    ended.says(0, &[]);
    let [object] = &objects(&ended.stdout)[..] else {
        panic!("{ended:#?}");
    };
    object.clone()
}

#[test]
fn bench_prints_a_table_for_people_and_lines_for_scripts() {
    let args = [
        "bench",
        "--protocol",
        "naive,kkrt",
        "--items",
        "1000:2000",
        "--runs",
        "2",
    ];
    let table = run(&args);
    table.says(0, &[]);
    for text in [
        "1,000 items of the sender, 2,000 of the receiver",
        "median",
        "base OT",
    ] {
        assert!(table.stdout.contains(text), "{text:?} in {}", table.stdout);
    }
    let request = Request::rows(1000, 2000).unwrap();
    for transport in ["memory", "tcp", "tls"] {
        let more = [
            "--json",
            "--transport",
            transport,
            "--network",
            "wan:1gbps,4ms",
        ];
        let bench = run(&[&args[..], &more].concat());
        bench.says(0, &[]);
        let objects = objects(&bench.stdout);
        assert_eq!(objects.len(), 2);
        for object in objects {
            assert_eq!(object["network"], "wan:1gbps,4ms");
            let protocol = registry::find(object["protocol"].as_str().unwrap()).unwrap();
            let cost = psijoin::plan(protocol, &request).unwrap().cost().total;
            for (figure, planned) in [
                ("sender_bytes", cost.sender_bytes),
                ("receiver_bytes", cost.receiver_bytes),
                ("flights", cost.flights),
            ] {
                assert_eq!(object[figure], planned, "{figure} over {transport}");
            }
            let milliseconds = object["minimum_seconds"].as_f64().unwrap() * 1000.0;
            let waiting = cost.flights as f64 * 2.0;
            assert!(milliseconds >= waiting, "{milliseconds} < {waiting}");
        }
    }
}

/// The program checks every result, so an exit code of 0 means that it was right.
#[test]
fn auto_goes_by_the_network() {
    for (network, taken) in [("lan", "kkrt"), ("wan:100mbps,40ms", "dh")] {
        let options = ["--protocol", "auto", "--items", "600", "--network", network];
        let bench = run(&[&QUICK[..], &options, &["--json"]].concat());
        bench.says(0, &[]);
        assert_eq!(objects(&bench.stdout)[0]["protocol"], taken, "{network}");
    }
}

#[test]
fn every_kind_of_output_is_measured_and_checked() {
    let columns = |sender, receiver| Columns { sender, receiver };
    let [reached, missed] = [SHARED, SHARED + 1];
    for (said, output) in [
        ("rows", OutputKind::Rows),
        ("count", OutputKind::Count),
        ("threshold:20", OutputKind::Threshold(reached)),
        ("threshold:21", OutputKind::Threshold(missed)),
        // More than the sender has.
        ("threshold:41", OutputKind::Threshold(41)),
        ("sum:a", OutputKind::Sums(columns(1, 0))),
        ("sum:receiver.a", OutputKind::Sums(columns(0, 1))),
        ("sum:a,sender.b,receiver.c", OutputKind::Sums(columns(2, 1))),
        ("shares", OutputKind::Shares(columns(0, 0))),
        ("shares:a,receiver.a", OutputKind::Shares(columns(1, 1))),
    ] {
        let object = object(&["--protocol", "rr22-circuit", "--output-kind", said]);
        assert_eq!(object["output"], said);
        assert_eq!(object["min_intersection"], Value::Null);
        assert_eq!(object["shared_items"], SHARED);
        let request = Request::rows(40, 60).unwrap().output(output);
        let protocol = registry::find("rr22-circuit").unwrap();
        let cost = protocol.plan(&request).unwrap().cost().total;
        let bytes = (&object["sender_bytes"], &object["receiver_bytes"]);
        assert_eq!(
            bytes,
            (&json!(cost.sender_bytes), &json!(cost.receiver_bytes)),
            "{said}"
        );
    }
}

#[test]
fn a_minimum_is_measured_whether_it_is_reached_or_not() {
    for kind in ["rows", "count", "sum:a,receiver.b"] {
        let bytes = ["20", "21", "41"].map(|least| {
            let options = ["--output-kind", kind, "--min-intersection", least];
            let object = object(&[&["--protocol", "rr22-circuit"], &options[..]].concat());
            assert_eq!(object["min_intersection"].to_string(), least);
            object["sender_bytes"].as_u64().unwrap()
        });
        // Withheld output is not sent. Nothing is, where the sizes tell all.
        assert!(bytes[0] > bytes[1] && bytes[2] == 0, "{kind}: {bytes:?}");
    }
}

#[test]
fn sets_without_items_have_every_kind_of_output() {
    for items in ["0:5", "5:0"] {
        for kind in ["rows", "count", "threshold:1", "sum:a", "shares:a"] {
            let options = ["--protocol", "rr22-circuit", "--output-kind", kind];
            run(&[&QUICK[..], &["--items", items], &options[..]].concat()).says(0, &[]);
        }
    }
}

#[test]
fn protocols_that_cannot_compute_an_output_are_left_out() {
    let sums = quick(&["--output-kind", "sum:receiver.a", "--json"]);
    sums.says(0, &["rr22-malicious", " and are left out"]);
    let found: Vec<_> = objects(&sums.stdout)
        .iter()
        .map(|object| object["protocol"].as_str().unwrap().to_owned())
        .collect();
    let output = OutputKind::Sums(Columns {
        sender: 0,
        receiver: 1,
    });
    let expected = registry::PROTOCOLS.iter();
    let expected = expected.filter(|protocol| protocol.computes(&output));
    let expected: Vec<_> = expected.map(|protocol| protocol.info().name).collect();
    assert!(expected.len() > 1);
    assert_eq!(found, expected);

    let counts = [
        "--output-kind",
        "count",
        "--protocol",
        "kkrt,dh",
        "--export",
        "csv",
    ];
    let dh = quick(&counts);
    dh.says(
        0,
        &["kkrt cannot compute the output count, and is left out\n"],
    );
    assert_eq!(dh.stdout.lines().count(), 2);
    let withheld = quick(
        &[
            &counts[..3],
            &["kkrt,dh,rr22-circuit", "--min-intersection", "3"],
        ]
        .concat(),
    );
    withheld.says(
        0,
        &["kkrt and dh cannot compute the output count with --min-intersection 3"],
    );
}

#[test]
fn what_cannot_be_measured_is_refused_with_what_to_do() {
    let refused = [
        &["--protocol", "kkrt", "--output-kind", "count"][..],
        &["--protocol", "rr22,kkrt", "--output-kind", "shares"],
        &["--protocol", "kk20", "--output-kind", "sum:a"],
        &[
            "--protocol",
            "dh",
            "--output-kind",
            "count",
            "--min-intersection",
            "2",
        ],
        &["--output-kind", "threshold:3", "--min-intersection", "2"],
        &["--output-kind", "shares", "--min-intersection", "2"],
        &["--output-kind", "sum"],
        &["--min-intersection", "0"],
        &["--protocol", "circuit-yao", "--items", "2^20"],
        &["--json", "--export", "csv"],
        &["--export", "xlsx"],
    ]
    .map(|options| run(&[&["bench"], options].concat()));
    for ended in &refused {
        assert_ne!(ended.code, Some(0));
        assert_eq!(ended.stdout, "");
    }
    assert_said!(refused);
}

#[test]
fn runs_to_warm_up_are_told_and_not_counted() {
    let bench = ["bench", "--protocol", "naive", "--items", "10"];
    for (options, said, warm_ups, runs) in [
        (&[][..], "3 runs per protocol, after 1 to warm up", 1, 3),
        (&["--warm-up", "2"], "after 2 to warm up", 2, 3),
        (
            &["--warm-up", "0", "--runs", "1"],
            "1 run per protocol, no warm-up",
            0,
            1,
        ),
    ] {
        let table = run(&[&bench, options].concat());
        table.says(0, &[]);
        assert!(table.stdout.contains(said), "{table:#?}");
        let json = run(&[&bench, options, &["--json"]].concat());
        let [object] = &objects(&json.stdout)[..] else {
            panic!("{json:#?}");
        };
        assert_eq!(object["warm_up_runs"], warm_ups);
        assert_eq!(object["runs"], runs);
    }
}

/// Luck decides whether the runs scatter. All messages about it must agree.
#[test]
fn runs_that_scatter_are_marked_and_warned_of() {
    let bench = [
        "bench",
        "--protocol",
        "naive,dh",
        "--items",
        "100",
        "--json",
    ];
    let ended = run(&bench);
    ended.says(0, &[]);
    for object in objects(&ended.stdout) {
        let seconds = |which: &str| object[format!("{which}_seconds")].as_f64().unwrap();
        let [minimum, median, maximum] = ["minimum", "median", "maximum"].map(seconds);
        assert!(minimum <= median && median <= maximum);
        let scatter = object["scatter"].as_f64().unwrap();
        assert!(
            (scatter - (median - minimum) / minimum).abs() < 1e-9,
            "{object}"
        );
        assert_eq!(object["scattered"], scatter > 0.2);
        let warning = format!(
            "the runs of {} scatter",
            object["protocol"].as_str().unwrap()
        );
        assert_eq!(ended.stderr.contains(&warning), scatter > 0.2, "{ended:#?}");
    }
    let single = object(&["--protocol", "naive"]);
    assert_eq!(single["scatter"], Value::Null);
    assert_eq!(single["scattered"], false);
}

#[test]
fn csv_has_a_row_for_each_protocol_under_names_that_stay() {
    let options = [
        "--protocol",
        "rr22-circuit,kk20",
        "--output-kind",
        "sum:receiver.a,receiver.b",
    ];
    let csv = quick(
        &[
            &options[..],
            &["--network", "wan:1gbps,4ms", "--export", "csv"],
        ]
        .concat(),
    );
    csv.says(0, &[]);
    let mut reader = csv::Reader::from_reader(csv.stdout.as_bytes());
    let header: Vec<_> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    assert_eq!(
        header,
        [
            "protocol",
            "output",
            "min_intersection",
            "sender_items",
            "receiver_items",
            "shared_items",
            "transport",
            "network",
            "threads",
            "warm_up_runs",
            "runs",
            "seconds_min",
            "seconds_median",
            "seconds_max",
            "scatter",
            "scattered",
            "sender_bytes",
            "receiver_bytes",
            "bits_per_item",
            "flights",
            "peak_memory_bytes",
            "peak_memory_above_input_bytes",
            "processor_seconds",
            "parts",
            "streams",
            "post_quantum",
            "item_bits",
        ]
    );
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2);
    for (row, protocol) in rows.iter().zip(["rr22-circuit", "kk20"]) {
        let cell = |name: &str| &row[header.iter().position(|other| other == name).unwrap()];
        assert_eq!(cell("protocol"), protocol);
        assert_eq!(cell("output"), "sum:receiver.a,receiver.b");
        assert_eq!((cell("min_intersection"), cell("scatter")), ("", ""));
        assert_eq!(cell("network"), "wan:1gbps,4ms");
        assert_eq!(cell("shared_items"), "20");
        for name in [
            "seconds_min",
            "seconds_median",
            "seconds_max",
            "bits_per_item",
        ] {
            assert!(cell(name).parse::<f64>().unwrap() > 0.0, "{name}");
        }
        for name in ["sender_bytes", "receiver_bytes", "flights"] {
            assert!(cell(name).parse::<u64>().unwrap() > 0, "{name}");
        }
    }
}

#[test]
fn markdown_is_a_table_below_what_was_measured() {
    let options = [
        "--protocol",
        "naive,kkrt",
        "--output-kind",
        "rows",
        "--export",
        "md",
    ];
    let ended = quick(&options);
    ended.says(0, &[]);
    let mut lines = ended.stdout.lines();
    let first = lines.next().unwrap();
    for text in [
        "`psijoin-lab bench --warm-up 0 --runs 1 --items 40:60 --protocol naive,kkrt --output-kind rows --export md` on ",
        "; 40 items of the sender, 60 of the receiver, 20 of them shared; output rows; ",
        "; over memory, no network emulated; 1 thread per party; 1 run per protocol, no warm-up:",
    ] {
        assert!(first.contains(text), "{text:?} in {first}");
    }
    assert_eq!(lines.next(), Some(""));
    let table: Vec<_> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    assert_eq!(table.len(), 4);
    assert!(table[0].starts_with("| protocol | median | minimum | scatter | sender sends |"));
    assert!(table[1].starts_with("| --- | ---: |"));
    assert!(table[2].starts_with("| naive | ") && table[3].starts_with("| kkrt | "));
    for line in &table {
        assert!(line.ends_with(" |"), "{line}");
        assert_eq!(line.matches('|').count(), 12, "{line}");
    }
    assert!(lines.any(|line| line.starts_with("Scatter: ")));
}

#[test]
fn json_is_short_for_an_export() {
    let keys = |options: &[&str]| -> Vec<String> {
        let ended = quick(&[&["--protocol", "naive"], options].concat());
        let [Value::Object(object)] = &objects(&ended.stdout)[..] else {
            panic!("{ended:#?}");
        };
        object.keys().cloned().collect()
    };
    assert_eq!(keys(&["--json"]), keys(&["--export", "json"]));
}

/// `pssz` spells the rest of a short item by one letter, and that of a digest by six.
#[test]
fn short_items_send_less_where_a_protocol_gains_from_them() {
    let bytes = |options: &[&str]| {
        let options = [options, &["--protocol", "pssz,kkrt", "--json"]].concat();
        let ended = quick(&options);
        ended.says(0, &[]);
        let objects = objects(&ended.stdout);
        let [pssz, kkrt] = [0, 1].map(|at| {
            let bytes = ["sender_bytes", "receiver_bytes"].map(|name| &objects[at][name]);
            bytes
                .map(|bytes| bytes.as_u64().unwrap())
                .iter()
                .sum::<u64>()
        });
        (pssz, kkrt, objects[0]["item_bits"].clone())
    };
    let (digests, kkrt, unknown) = bytes(&[]);
    let (short, same, bits) = bytes(&["--item-bits", "8"]);
    assert!(short < kkrt && kkrt < digests, "{short}, {kkrt}, {digests}");
    assert_eq!((same, unknown, bits), (kkrt, Value::Null, 8.into()));
    let ended = quick(&["--protocol", "pssz", "--item-bits", "6"]);
    ended.says(2, &["than there are numbers of 6 bits"]);
}
