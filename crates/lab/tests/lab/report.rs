//! Reports in all forms, and comparisons.

use std::{collections::BTreeMap, path::Path};

use psijoin::OutputKind;
use psijoin_lab::{
    compare::{ComparedVerdict, compare},
    experiments::{self, EXPERIMENTS, NOT_COMPARED},
    measurements::{Journal, grouped, latest},
    report::Report,
    verdicts::{self, Outcome},
};

use crate::made_up::{line, measured, run};

const PROTOCOLS: [(&str, f64); 6] = [
    ("naive", 0.1),
    ("dh", 40.0),
    ("kkrt", 1.0),
    ("spot-fast", 5.0),
    ("spot-low", 40.0),
    ("cm20", 2.0),
];

fn only(name: &str) -> [&'static experiments::Experiment; 1] {
    [experiments::find(name).unwrap()]
}

#[test]
fn csv_has_a_line_per_cell() {
    let measured = measured(&PROTOCOLS);
    let report = Report::new(&measured, only("cm20-table-2"));
    let csv = report.csv();
    let lines = Vec::from_iter(csv.lines());
    assert_eq!(lines.len(), 1 + report.experiments[0].cells.len());
    assert!(lines[0].starts_with("experiment,protocol,paper_name,sender_items"));
    let start = "cm20-table-2,kkrt,KKRT,1048576,1048576,\"10mbps,80ms\",1,seconds,,122,";
    let line = lines.iter().find(|line| line.starts_with(start)).unwrap();
    assert!(line.contains(",measured,"), "{line}");
}

#[test]
fn json_says_what_was_measured_and_what_holds() {
    let measured = measured(&PROTOCOLS);
    let json = Report::new(&measured, only("cm20-table-2")).json();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let experiment = &value["experiments"][0];
    assert_eq!(value["session"]["machine"]["processor"], "Abacus");
    assert_eq!(experiment["name"], "cm20-table-2");
    assert_eq!(experiment["verdicts"][0]["id"], "CM20-1");
    assert_eq!(experiment["verdicts"][0]["on_printed"], "holds");
    assert_eq!(experiment["cells"][0]["kind"], "exact");
}

#[test]
fn markdown_has_verdicts_and_tables() {
    let measured = measured(&PROTOCOLS);
    let text = Report::new(&measured, only("spot19-table-2")).markdown();
    for part in [
        "# The papers' comparisons, made again\n",
        "psijoin 0.1.0 on Abacus, 2 cores, 2026-11-23. Instruction sets: beads.",
        "## SpOT19: Time and bytes on four networks, with one and four threads (`spot19-table-2`)",
        "- **Holds** (SpOT19-4): On a fast network, `spot-fast` takes several times as long as `kkrt`.",
        "| `kkrt` | 2^20 | 10mbps,80ms | 1 | seconds | 120 s | ",
        "## What is not compared",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_page_has_every_experiment_with_all_figures() {
    let measured = measured(&PROTOCOLS);
    let report = Report::new(&measured, EXPERIMENTS);
    let html = report.page().html();
    for experiment in EXPERIMENTS {
        assert!(
            html.contains(&format!("({})</h3>", experiment.name)),
            "{}",
            experiment.name
        );
    }
    for (table, _) in NOT_COMPARED {
        assert!(html.contains(table), "{table}");
    }
    for text in [
        "The cheapest of the papers' protocols",
        "The fastest of the papers' protocols, a round trip of 80 ms",
        "dollars for 1,000 runs",
        "Time and bytes at 10mbps,80ms",
        "CM20, seconds: to the left, ours takes less",
    ] {
        assert!(html.contains(text), "{text}");
    }
    let verdicts = report
        .experiments
        .iter()
        .flat_map(|section| &section.verdicts);
    assert_eq!(verdicts.count(), verdicts::claims().count());
}

#[test]
fn conclusions_alone_are_a_document() {
    let measured = measured(&PROTOCOLS);
    let text = Report::new(&measured, EXPERIMENTS).conclusions();
    assert!(text.starts_with("# What the papers conclude, and whether it holds here\n\nA paper"));
    for claim in verdicts::claims() {
        assert!(
            text.contains(&format!("| {} | {} | ", claim.id, claim.says)),
            "{}",
            claim.id
        );
    }
    let prose = text.lines().filter(|line| !line.starts_with('|'));
    assert!(prose.clone().count() > 15);
    for line in prose {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn campaigns_that_differ_contradict_each_other_or_are_too_close() {
    let verdict = |outcomes| ComparedVerdict {
        id: "SpOT19-4",
        outcomes,
    };
    use Outcome::{DoesNotHold, Holds, NotMeasured, OtherFactor, TooClose};
    for other in [OtherFactor, DoesNotHold] {
        assert!(verdict([Holds, other]).is_contradiction());
    }
    for other in [Holds, TooClose, NotMeasured] {
        assert!(!verdict([Holds, other]).is_contradiction());
    }
    let with = |fast: f64| measured(&[("kkrt", 1.0), ("spot-fast", fast)]);
    let text = compare(&with(5.0), &with(2.02)).markdown();
    let row = "| SpOT19-4 | Holds | Too close to call |";
    assert!(text.contains(row), "{text}");
    assert!(text.contains(" verdicts ") && text.contains("contradict each other."));
}

#[test]
fn a_page_says_what_a_reader_needs_to_judge_it() {
    let measured = measured(&PROTOCOLS);
    let html = Report::new(&measured, EXPERIMENTS).page().html();
    let (top, _) = html.split_once("</header>").unwrap();
    for text in [
        "Machine: psijoin 0.1.0 on Abacus, 2 cores",
        "Runs: ",
        "one campaign, once each",
        "Networks are ",
        "extrapolated",
        "too close to call",
        "nine in ten",
    ] {
        assert!(top.contains(text), "{text}");
    }
    let half =
        "Networks: half duplex, as both parties of the authors ran on one machine; without TCP";
    assert!(html.contains(half));
    assert!(
        html.contains("Money: prices <code>cm20</code> (2020) of m5.large, which has Intel Xeon")
    );
}

#[test]
fn nothing_measured_is_a_report_too() {
    let nothing = measured(&[]);
    let report = Report::new(&nothing, EXPERIMENTS);
    assert!(report.page().html().contains("</html>"));
    assert!(report.markdown().contains("| – | – |"));
}

#[test]
fn the_fastest_of_made_up_protocols_is_found() {
    // Both are slow, so bytes do not matter at 10 Gbit/s; at 1 Mbit/s nothing else does.
    let measured = measured(&[("kkrt", 1.0), ("cm20", 50.0)]);
    let html = Report::new(&measured, only("cm20-table-2")).page().html();
    let shares = html.split("kkrt wins in ").nth(1).unwrap();
    let shares = shares.split('<').next().unwrap();
    assert!(shares.contains("cm20 wins in "), "{shares}");
}

#[test]
fn protocols_break_even_where_bytes_outweigh_computing() {
    let measured = measured(&[("kkrt", 1.0), ("spot-fast", 5.0)]);
    let report = Report::new(&measured, only("spot19-figure-12"));
    let [one] = &report.experiments[0].break_evens[..] else {
        panic!("{:?}", report.experiments[0].break_evens)
    };
    assert_eq!((&*one.above, &*one.below), ("kkrt", "spot-fast"));
    // Four more seconds of computing, for as many bytes less.
    let [kkrt, fast] = ["kkrt", "spot-fast"].map(|name| {
        let request = psijoin::Request::rows(1 << 20, 1 << 20).unwrap();
        let plan = psijoin::registry::find(name)
            .unwrap()
            .plan(&request)
            .unwrap();
        plan.cost().total.total_bytes() as f64
    });
    let expected = (kkrt - fast) * 8.0 / 4.0 / 1e6;
    assert!(
        (one.mbps / expected - 1.0).abs() < 0.02,
        "{one:?} {expected}"
    );
    assert!(
        report
            .markdown()
            .contains("Break-even, at a round trip of 80 ms:")
    );
}

#[test]
fn versions_are_compared_where_both_have_runs() {
    let run = |items, seconds: f64| run("kkrt", &OutputKind::Rows, items, [seconds; 2]);
    let lines = [
        line("0.1.0", "kkrt", 1, run(256, 1.0)),
        line("0.1.0", "kkrt", 1, run(1024, 2.0)),
        line("0.2.0", "kkrt", 1, run(1024, 1.5)),
        line("0.2.0", "kkrt", 2, run(256, 1.0)),
    ];
    let groups = grouped(&lines);
    let comparison = compare(&groups[0], &groups[1]);
    assert_eq!(comparison.rows.len(), 1);
    let row = &comparison.rows[0];
    assert_eq!(
        (row.items, row.seconds, row.ratio()),
        ([1024; 2], [4.0, 3.0], 0.75)
    );
    let text = comparison.markdown();
    let expected = "| `kkrt` | rows | 1 | 1024 | 1024 | 4.00 | 3.00 | 0.750 |";
    assert!(text.contains(expected), "{text}");
    let alone = compare(&groups[0], &grouped(&lines[3..])[0]).markdown();
    assert!(alone.contains("\nThey have no run in common.\n"), "{alone}");
}

#[test]
fn all_experiments_by_name() {
    let mut names = BTreeMap::new();
    for experiment in EXPERIMENTS {
        assert!(names.insert(experiment.name, experiment).is_none());
        assert!(std::ptr::eq(
            experiments::find(experiment.name).unwrap(),
            experiment
        ));
    }
    assert!(experiments::find("cm20-table-4").is_none());
}

/// `.ci/run` opens this report in a browser.
#[test]
fn the_sample_has_every_kind_of_chart() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sample.jsonl");
    let measured = latest(&Journal::read(&sample).unwrap()).unwrap();
    let html = Report::new(&measured, EXPERIMENTS).page().html();
    for caption in [
        "cm20-table-2, seconds: to the left, ours takes less",
        "seconds, 10gbps,0.2ms: the paper's protocols",
        "Seconds over the rate, 2^20 items: later ones",
        "Money, business to business",
        "Time and bytes at 10mbps,80ms, with lines of equal money",
        "The cheapest of all, 2^20 items",
        "Cost by the price of traffic, 2^20 items, 30mbps,80ms: the paper's protocols",
        "The fastest of all, a round trip of 80 ms",
    ] {
        let caption = format!("<figcaption>{caption}");
        assert!(html.contains(&caption), "{caption}");
    }
}
