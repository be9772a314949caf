//! The file of measured runs.

use std::fs;

use psijoin::OutputKind;
use psijoin_forecast::Effort;
use psijoin_lab::{
    Kind, Ours, experiments,
    measurements::{self, Journal, JournalError, Machine, Need, grouped},
};

use crate::made_up::{line, run, session};

fn naive(items: u64, seconds: f64) -> psijoin_forecast::Run {
    run("naive", &OutputKind::Rows, items, [seconds; 2])
}

#[test]
fn runs_are_kept_and_the_latest_of_the_same_sizes_wins() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let lines = [
        line("0.1.0", "naive", 1, naive(256, 1.0)),
        line("0.1.0", "naive", 2, naive(256, 2.0)),
        line("0.2.0", "naive", 1, naive(256, 3.0)),
        line("0.1.0", "naive", 1, naive(1024, 4.0)),
        line("0.1.0", "naive", 1, naive(256, 5.0)),
    ];
    for line in &lines {
        Journal::open(&path).unwrap().append(line.clone()).unwrap();
    }
    let read = Journal::read(&path).unwrap();
    assert_eq!(read, lines);
    let groups = grouped(&read);
    let versions = groups.iter().map(|group| &*group.session.version);
    assert_eq!(versions.collect::<Vec<_>>(), ["0.1.0", "0.2.0"]);
    let profile = groups[0].profile("naive", "rows", 1).unwrap();
    assert_eq!(profile.runs, [naive(1024, 4.0), naive(256, 5.0)]);
    assert!(groups[0].profile("naive", "rows", 4).is_none());
}

#[test]
fn a_last_line_that_was_cut_off_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let first = line("0.1.0", "naive", 1, naive(256, 1.0));
    Journal::open(&path).unwrap().append(first.clone()).unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{}", &whole[..whole.len() / 2])).unwrap();
    assert_eq!(Journal::read(&path).unwrap().len(), 1);
    let mut journal = Journal::open(&path).unwrap();
    let warning = journal.warning().unwrap();
    assert!(
        warning.contains("cut off") && warning.contains("results.jsonl"),
        "{warning}"
    );
    journal.append(first.clone()).unwrap();
    assert_eq!(Journal::read(&path).unwrap(), [first.clone(), first]);
    assert!(Journal::open(&path).unwrap().warning().is_none());
}

#[test]
fn another_broken_line_is_an_error_with_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    fs::write(&path, "{}\n").unwrap();
    let error = Journal::read(&path).unwrap_err();
    assert!(matches!(error, JournalError::Line { line: 1, .. }));
    assert!(error.to_string().starts_with("line 1 of "), "{error}");
    let missing = Journal::read(&folder.path().join("no")).unwrap_err();
    assert!(
        missing
            .to_string()
            .starts_with("cannot use the results in "),
        "{missing}"
    );
}

#[test]
fn real_runs_fill_cells_and_nothing_is_measured_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("results.jsonl")).unwrap();
    let session = measurements::Session {
        machine: Machine::this(),
        ..session("0.1.0")
    };
    let effort = Effort {
        seconds: 60.0,
        most_items: 256,
        repeats: 1,
    };
    let need = |protocol: &str| Need {
        protocol: protocol.into(),
        output: OutputKind::Rows,
        threads: 1,
        most_items: 1 << 20,
    };
    let needs = ["naive", "kkrt"].map(need);
    assert_eq!(measurements::missing(&needs, None, effort).unwrap(), needs);
    let mut told = 0;
    for _ in 0..2 {
        for need in &needs {
            measurements::measure(&mut journal, &session, need, effort, |_| told += 1).unwrap();
        }
    }
    assert_eq!((told, journal.measurements().len()), (2, 2));
    let groups = grouped(journal.measurements());
    let missing = measurements::missing(&needs, Some(&groups[0]), effort).unwrap();
    assert_eq!(missing, []);

    let cells = experiments::find("kkrt16-table-3")
        .unwrap()
        .cells(&Ours::new(&groups[0]));
    let mut cells = cells
        .iter()
        .filter(|cell| cell.protocol == "kkrt" && cell.sender_items == 256);
    let wan = cells
        .find(|cell| cell.network.as_deref() == Some("400mbps,96ms"))
        .unwrap();
    assert_eq!(wan.kind, Some(Kind::Measured));
    // Two round trips at least; and it is not slow.
    assert!((0.09..5.0).contains(&wan.ours.unwrap()), "{wan:?}");
    let unknown = need("kkrt17");
    let error = measurements::missing(&[unknown], None, effort).unwrap_err();
    assert_eq!(error.to_string(), "there is no protocol `kkrt17`");
}
