//! Reproductions of the papers' comparisons.

use std::{collections::BTreeSet, fs, thread, time::Duration};

use serde_json::{Value, json};

use crate::support::{Ended, Folder, Process, all_exit, assert_said, exists, objects, run};

/// Six protocols, which are measured in less than a second.
const EXPERIMENT: &str = "cm20-figure-6";
const PROTOCOLS: usize = 6;

/// Measures the smallest sets only.
fn measure(results: &str) -> Ended {
    measure_campaigns(results, "1")
}

fn measure_campaigns(results: &str, campaigns: &str) -> Ended {
    let options = [
        "--seconds",
        "0",
        "--campaigns",
        campaigns,
        "--results",
        results,
    ];
    run(&[&["run", EXPERIMENT], &options[..]].concat())
}

fn report(results: &str, more: &[&str]) -> Ended {
    run(&[&["report", "--results", results], more].concat())
}

/// Returns lines of runs that nobody made: a protocol, a version of psijoin, and microseconds per
/// item.
fn made_up(lines: &[(&str, &str, f64)]) -> String {
    let line = |(protocol, version, microseconds): &(&str, &str, f64)| {
        let line = |items: u64| {
            let seconds = 1e-6 * microseconds * items as f64;
            let send = json!({"send": [1.0, 100 * items, seconds]});
            let receive = json!({"receive": [1.0, 100 * items, 0.0]});
            let run = json!({
                "items": [items, items],
                "scripts": [[send, receive], [receive, send]],
                "memory_bytes": [null, null],
            });
            let machine = json!({"processor": "Abacus", "cores": 2, "instructions": ["beads"]});
            json!({
                "session": {"machine": machine, "version": version, "date": "2026-11-23"},
                "protocol": protocol, "output": "rows", "threads": 1, "run": run,
                "measuring_seconds": seconds,
            })
        };
        [line(256), line(4096)]
            .map(|line| format!("{line}\n"))
            .concat()
    };
    lines.iter().map(line).collect()
}

#[test]
fn experiments_are_listed_once_each() {
    let listed = run(&["list"]);
    let names = listed.stdout.lines().skip(1).map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap();
        let paper = words.next().unwrap().to_lowercase();
        assert!(name.starts_with(&paper) && words.next().is_some(), "{line}");
        name
    });
    let names = Vec::from_iter(names);
    assert_eq!(BTreeSet::from_iter(&names).len(), names.len());
    assert!(names.len() > 20);
    assert_said!([listed]);
}

#[test]
fn what_was_measured_is_reported_in_every_form() {
    let folder = Folder::new();
    let results = folder.path("results.jsonl");
    measure(&results).says(0, &["6 runs measured now, 6 in all"]);
    for run in objects(&folder.read("results.jsonl")) {
        assert_eq!(run["run"]["items"], json!([256, 256]));
        assert!(run["measuring_seconds"].as_f64().unwrap() > 0.0);
        assert!(run["session"]["version"].is_string() && run["session"]["date"].is_string());
    }
    let of = |more: &[&str]| {
        let reported = report(&results, more);
        reported.says(0, &[]);
        reported.stdout
    };
    assert!(of(&[EXPERIMENT]).starts_with("<!doctype html>"));
    let markdown = of(&["--form", "md", EXPERIMENT]);
    assert!(
        markdown.contains(&format!("(`{EXPERIMENT}`)")),
        "{markdown}"
    );
    assert!(!markdown.contains("(`cm20-table-3`)"));
    let csv = of(&["--form", "csv", "cm20-table-2"]);
    let mut lines = csv::Reader::from_reader(csv.as_bytes());
    let extrapolated = |line: csv::StringRecord| {
        &line[1] == "rr22" && &line[7] == "seconds" && &line[12] == "extrapolated far"
    };
    assert!(
        lines.records().any(|line| extrapolated(line.unwrap())),
        "{csv}"
    );
    let json: Value = serde_json::from_str(&of(&["--form", "json", EXPERIMENT])).unwrap();
    assert_eq!(json["experiments"][0]["name"], EXPERIMENT);
}

#[test]
fn a_files_ending_says_its_form() {
    let folder = Folder::new();
    let lines = made_up(&[("kkrt", "1.0.0", 1.0), ("cm20", "1.0.0", 2.0)]);
    let results = folder.file("results.jsonl", lines);
    for (name, start) in [
        ("page.html", "<!doctype html>"),
        ("report.md", "# The papers' comparisons"),
        ("cells.csv", "experiment,protocol,"),
        ("report.json", "{"),
        ("report", "<!doctype html>"),
    ] {
        report(&results, &[EXPERIMENT, "--out", &folder.path(name)]).says(0, &[]);
        assert!(folder.read(name).starts_with(start), "{name}");
    }
    let table = folder.path("report.md");
    report(&results, &[EXPERIMENT, "--form", "csv", "--out", &table]).says(0, &[]);
    assert!(folder.read("report.md").starts_with("experiment,"));

    let pictures = folder.path("pictures");
    let args = ["cm20-table-2", "--form", "svg", "--out", &pictures];
    report(&results, &args).says(0, &[]);
    for number in 1..=3 {
        let picture = format!("{pictures}/cm20-table-2-{number}.svg");
        assert!(fs::read_to_string(picture).unwrap().starts_with("<svg "));
    }
}

#[test]
fn bytes_and_parameters_need_no_runs() {
    let folder = Folder::new();
    let results = folder.path("results.jsonl");
    let args = ["run", "kkrt16-table-2", "--results", &results];
    let measured = run(&args);
    assert!(!exists(&results));
    let reported = report(
        &results,
        &["kkrt16-table-1", "kkrt16-table-2", "--form", "csv"],
    );
    all_exit(std::slice::from_ref(&reported), 0);
    assert_said!([measured, reported]);
}

#[test]
fn a_run_that_was_cut_off_is_made_again() {
    let folder = Folder::new();
    let results = folder.path("results.jsonl");
    measure(&results).says(0, &[]);
    let whole = folder.read("results.jsonl");
    folder.file("results.jsonl", &whole[..whole.len() - 100]);
    report(&results, &[EXPERIMENT]).says(0, &[]);
    measure(&results).says(
        0,
        &["results.jsonl was cut off", "1 run measured now, 6 in all"],
    );
    measure(&results).says(0, &["0 runs measured now, 6 in all"]);
    let again = folder.read("results.jsonl");
    assert_eq!(again.lines().count(), PROTOCOLS);
    let kept = |text: &str| Vec::from_iter(text.lines().take(PROTOCOLS - 1).map(String::from));
    assert_eq!(kept(&again), kept(&whole));
}

#[cfg(unix)]
#[test]
fn ctrl_c_loses_nothing_and_nobody_else_writes_meanwhile() {
    let folder = Folder::new();
    let results = folder.path("results.jsonl");
    let long = [
        "run",
        EXPERIMENT,
        "--seconds",
        "3600",
        "--results",
        &results,
    ];
    let process = Process::start(&long);
    let lines = || match exists(&results) {
        true => folder.read("results.jsonl").lines().count(),
        false => 0,
    };
    while lines() <= PROTOCOLS {
        thread::sleep(Duration::from_millis(20));
    }
    measure(&results).says(
        3,
        &["another `psijoin-lab run` writes to", "wait until it ends"],
    );
    process.signal("INT");
    process
        .end()
        .says(1, &["interrupted: ", "goes on from there"]);
    let made = lines();
    measure(&results).says(0, &["0 runs measured now"]);
    assert_eq!(lines(), made);
    assert_eq!(objects(&folder.read("results.jsonl")).len(), made);
}

#[test]
fn machines_and_versions_are_kept_apart() {
    let folder = Folder::new();
    let old = made_up(&[("kkrt", "1.0.0", 2.0), ("dh", "1.0.0", 40.0)]);
    let new = made_up(&[("kkrt", "1.1.0", 1.0)]);
    let both = folder.file("both.jsonl", old.clone() + &new);
    let old = folder.file("old.jsonl", old);
    let compared = [
        run(&["compare", &old, &both]),
        report(
            &both,
            &["kkrt16-table-2", "kkrt16-table-3", "--form", "csv"],
        ),
    ];
    all_exit(&compared, 0);
    // `dh` is of the old version only.
    assert!(!compared[0].stdout.contains("`dh`"));
    assert!(
        compared[1]
            .stderr
            .contains("several machines, versions or commits")
    );
    let unrelated = folder.file("unrelated.jsonl", made_up(&[("rr22", "1.0.0", 1.0)]));
    let unrelated = run(&["compare", &old, &unrelated]);
    let [compared, _] = compared;
    assert_said!([compared, unrelated]);
    // This machine's runs are all missing yet.
    measure(&both).says(0, &["6 runs measured now, 12 in all"]);
}

#[test]
fn campaigns_are_compared_within_a_file() {
    let folder = Folder::new();
    let first = made_up(&[("kkrt", "1.0.0", 1.0)]);
    let campaign = r#""date":"2026-11-23","campaign":2"#;
    let second = first.replace(r#""date":"2026-11-23""#, campaign);
    assert_ne!(first, second);
    let one = folder.file("one.jsonl", first.clone());
    run(&["compare", &one]).says(2, &["has one campaign", "--campaigns"]);
    let both = folder.file("both.jsonl", first + &second);
    let compared = run(&["compare", &both]);
    compared.says(0, &[]);
    for text in [
        "campaign 1. Second: ",
        "campaign 2. ",
        " verdicts ",
        "| 1.00 |",
    ] {
        assert!(
            compared.stdout.contains(text),
            "{text}: {}",
            compared.stdout
        );
    }
}

#[test]
fn another_campaign_makes_the_runs_again() {
    let folder = Folder::new();
    let results = folder.path("results.jsonl");
    measure(&results).says(0, &["6 runs measured now, 6 in all"]);
    measure_campaigns(&results, "2").says(0, &["6 runs measured now, 12 in all"]);
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let folder = Folder::new();
    let results = folder.file("results.jsonl", made_up(&[("kkrt", "1.0.0", 1.0)]));
    let missing = folder.path("missing.jsonl");
    let empty = folder.file("empty.jsonl", "");
    let broken = folder.file("broken.jsonl", made_up(&[("kkrt", "1.0.0", 1.0)]) + "{}\n");
    let nowhere = folder.path("no/folder/page.html");
    let usage = [
        run(&["run", "kkrt16-table-9"]),
        report(&results, &["kkrt16-table-9"]),
        report(&results, &["--form", "svg"]),
        run(&["run", "--seconds", "9", "--full"]),
        run(&["run", "--seconds", "soon"]),
    ];
    all_exit(&usage, 2);
    let files = [
        report(&missing, &[]),
        report(&empty, &[]),
        report(&broken, &[]),
        measure(&broken),
        report(&results, &["--out", &nowhere]),
        run(&["compare", &results, &missing]),
    ];
    all_exit(&files, 3);
    assert!(!exists(&missing));
    let all = usage.into_iter().chain(files);
    assert_said!(Vec::from_iter(all));
}
