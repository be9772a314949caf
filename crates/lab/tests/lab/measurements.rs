//! The file of measured runs.

use std::fs;

use psijoin::OutputKind;
use psijoin_lab::{
    Kind, Ours, experiments,
    measurements::{
        self, Budget, Campaign, Journal, JournalError, Machine, Need, Variant, grouped, latest,
    },
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
    let runs = profile.runs.iter().map(|run| (run.items[0], run.times(0)));
    assert_eq!(Vec::from_iter(runs), [(1024, vec![4.0]), (256, vec![5.0])]);
    assert!(groups[0].profile("naive", "rows", 4).is_none());
}

#[test]
fn campaigns_are_pooled_and_can_be_told_apart() {
    let of = |campaign: u32, seconds: [f64; 3]| {
        let mut line = line("0.1.0", "naive", 1, naive(256, seconds[0]));
        line.session.campaign = campaign;
        line.run.seconds = [seconds.to_vec(), vec![1.0]];
        line
    };
    let lines = [
        of(1, [9.0, 9.0, 9.0]),
        of(1, [1.0, 2.0, 3.0]),
        of(2, [4.0, 6.0, 5.0]),
    ];
    let pooled = latest(&lines).unwrap();
    assert_eq!(pooled.campaigns, [1, 2]);
    let run = &pooled.profile("naive", "rows", 1).unwrap().runs[0];
    // The first line was made again in the same campaign.
    assert_eq!(run.times(0), [1.0, 2.0, 3.0, 4.0, 6.0, 5.0]);
    assert!(
        (run.scripts[0].computing() - 3.5).abs() < 1e-9,
        "the median"
    );
    let apart = measurements::by_campaign(&lines);
    let medians = apart.iter().map(|one| {
        let run = &one.profile("naive", "rows", 1).unwrap().runs[0];
        run.scripts[0].computing()
    });
    assert_eq!(Vec::from_iter(medians), [2.0, 5.0]);
    // Old lines have neither a campaign nor the seconds and the phases of each run.
    let old = serde_json::to_string(&line("0.1.0", "naive", 1, naive(256, 1.0))).unwrap();
    let has_none = ["campaign", "\"seconds\"", "phases"].map(|new| !old.contains(new));
    assert_eq!(has_none, [true; 3]);
    let old: measurements::Measurement = serde_json::from_str(&old).unwrap();
    assert_eq!((old.session.campaign, old.run.times(0)), (1, vec![1.0]));
}

#[test]
fn phases_are_pooled_as_runs_are() {
    let of = |campaign: u32, offline: f64| {
        let mut line = line("0.1.0", "naive", 1, naive(256, 5.0));
        line.session.campaign = campaign;
        let phase = |seconds| naive(256, seconds);
        line.run.phases = Some(Box::new([phase(offline), phase(5.0 - offline)]));
        line
    };
    let lines = [of(1, 1.0), of(2, 2.0)];
    let read = lines.each_ref().map(|line| {
        let text = serde_json::to_string(line).unwrap();
        serde_json::from_str::<measurements::Measurement>(&text).unwrap()
    });
    assert_eq!(read, lines);
    let pooled = latest(&lines).unwrap();
    let run = &pooled.profile("naive", "rows", 1).unwrap().runs[0];
    let phases = run.phases.as_ref().unwrap();
    let medians = phases.each_ref().map(|phase| phase.scripts[0].computing());
    assert!((medians[0] - 1.5).abs() < 1e-9 && (medians[1] - 3.5).abs() < 1e-9);
    assert_eq!(phases[0].times(0), [1.0, 2.0]);
}

#[test]
fn a_campaign_makes_what_another_one_made() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(&folder, &[("naive", 256, 1.0)]);
    let next = |campaign: u32| {
        let session = measurements::Session {
            campaign,
            ..session("0.1.0")
        };
        let needs = vec![need("naive", 256)];
        let campaign = Campaign::new(needs, &journal, &session, budget(0.0)).unwrap();
        campaign.next().map(|step| step.items)
    };
    assert_eq!((next(1), next(2)), (None, Some(256)));
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
    drop(journal);
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
fn two_cannot_write_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let first = Journal::open(&path).unwrap();
    let error = Journal::open(&path).unwrap_err();
    assert!(matches!(error, JournalError::Busy { .. }), "{error}");
    assert_eq!(Journal::read(&path).unwrap(), []);
    drop(first);
    Journal::open(&path).unwrap();
}

#[test]
fn machines_versions_and_commits_are_kept_apart() {
    let of = |commit: Option<&str>, cores: usize| {
        let mut line = line("0.1.0", "naive", 1, naive(256, 1.0));
        line.session.commit = commit.map(Into::into);
        line.session.machine.cores = cores;
        line
    };
    let lines = [of(None, 2), of(Some("a"), 2), of(Some("b"), 2), of(None, 4)];
    assert_eq!(grouped(&lines).len(), 4);
    // The session of the last line, though another one was the last to come first.
    let again = [&lines[..], &lines[1..2]].concat();
    let commit = latest(&again).unwrap().session.commit;
    assert_eq!(commit.as_deref(), Some("a"));
    assert!(latest(&[]).is_none());
}

fn need(protocol: &str, most_items: u64) -> Need {
    Need {
        protocol: protocol.into(),
        output: OutputKind::Rows,
        variant: Variant::default(),
        threads: 1,
        most_items,
    }
}

fn budget(seconds: f64) -> Budget {
    Budget {
        seconds,
        repeats: 1,
        memory_bytes: None,
    }
}

/// Returns a journal with a run of each protocol, and the seconds that measuring it took.
fn journal(folder: &tempfile::TempDir, known: &[(&str, u64, f64)]) -> Journal {
    let mut journal = Journal::open(&folder.path().join("results.jsonl")).unwrap();
    for (protocol, items, seconds) in known {
        let run = run(protocol, &OutputKind::Rows, *items, [0.1; 2]);
        let mut line = line("0.1.0", protocol, 1, run);
        line.measuring_seconds = *seconds;
        journal.append(line).unwrap();
    }
    journal
}

#[test]
fn the_cheapest_run_comes_first_and_the_time_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(&folder, &[("kkrt", 256, 2.0), ("dh", 256, 3.0)]);
    let needs = || vec![need("dh", 1 << 20), need("kkrt", 1 << 20)];
    let campaign =
        |seconds| Campaign::new(needs(), &journal, &session("0.1.0"), budget(seconds)).unwrap();
    let next = |seconds| {
        let next = campaign(seconds).next();
        next.map(|step| (step.need.protocol, step.items))
    };
    // 5 s are over, and the next one takes 8.
    assert_eq!(next(12.9), None);
    assert_eq!(next(13.1), Some(("kkrt".into(), 1024)));
    // 8 s, and 12, and 32; the next one would take 48.
    let left = campaign(100.0).left();
    assert_eq!((left.runs, left.seconds), (3, 52.0));
    assert_eq!(campaign(12.9).left().runs, 0);
}

#[test]
fn a_smallest_run_is_made_in_any_case_and_nothing_above_the_largest() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(&folder, &[("kkrt", 1 << 10, 1.0)]);
    let needs = vec![need("kkrt", 1 << 10), need("dh", 1 << 10)];
    let of = |version: &str, seconds| {
        Campaign::new(needs.clone(), &journal, &session(version), budget(seconds)).unwrap()
    };
    let next = of("0.1.0", 0.0).next().unwrap();
    assert_eq!((&*next.need.protocol, next.items), ("dh", 256));
    // Of `dh` 2^8 and 2^10; all of both for another version.
    assert_eq!(of("0.1.0", 1e9).left().runs, 2);
    assert_eq!(of("0.2.0", 1e9).left().runs, 4);
}

#[test]
fn what_has_no_room_in_memory_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder, &[]);
    let mut line = line("0.1.0", "naive", 1, naive(256, 1.0));
    line.run.memory_bytes = [Some(1 << 20), Some(2 << 20)];
    journal.append(line).unwrap();
    let next = |megabytes: u64| {
        let budget = Budget {
            memory_bytes: Some(megabytes << 20),
            ..budget(1e9)
        };
        let needs = vec![need("naive", 1 << 20)];
        let campaign = Campaign::new(needs, &journal, &session("0.1.0"), budget).unwrap();
        campaign.next().map(|step| step.items)
    };
    // Four times as much, and the messages.
    assert_eq!(next(12), None);
    assert_eq!(next(13), Some(1024));
}

#[test]
fn real_runs_fill_cells_and_nothing_is_measured_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder, &[]);
    let session = measurements::Session {
        machine: Machine::this(),
        ..session("0.1.0")
    };
    let needs = vec![need("naive", 1 << 20), need("kkrt", 1 << 20)];
    let mut made = Vec::new();
    for _ in 0..2 {
        let mut campaign = Campaign::new(needs.clone(), &journal, &session, budget(0.0)).unwrap();
        while let Some(step) = campaign.next() {
            campaign.make(&step, &mut journal, &session).unwrap();
            made.push((step.need.protocol, step.items));
        }
    }
    assert_eq!(made, ["naive", "kkrt"].map(|name| (name.into(), 256)));
    assert_eq!(journal.measurements().len(), 2);
    let measured = latest(journal.measurements()).unwrap();
    let experiment = experiments::find("kkrt16-table-3").unwrap();
    let cells = experiment.cells(&Ours::new(&measured));
    let mut cells = cells
        .iter()
        .filter(|cell| cell.protocol == "kkrt" && cell.sender_items == 256);
    let wan = cells
        .find(|cell| cell.network.as_deref() == Some("400mbps,96ms"))
        .unwrap();
    assert_eq!(wan.kind, Some(Kind::Measured));
    // Two round trips at least; and it is not slow.
    assert!((0.09..5.0).contains(&wan.ours.unwrap()), "{wan:?}");
    let unknown = vec![need("kkrt17", 256)];
    let error = Campaign::new(unknown, &journal, &session, budget(0.0)).unwrap_err();
    assert_eq!(error.to_string(), "there is no protocol `kkrt17`");
}

#[test]
fn unusual_runs_are_measured_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder, &[]);
    let session = session("0.1.0");
    let unusual = |variant| Need {
        output: OutputKind::Count,
        variant,
        ..need("kk20-psm", 1 << 16)
    };
    let one_item = Variant {
        one_item: true,
        ..Variant::default()
    };
    let secure = Variant {
        statistical_bits: Some(60),
        ..one_item
    };
    let needs = vec![unusual(one_item), unusual(secure)];
    let mut campaign = Campaign::new(needs.clone(), &journal, &session, budget(0.0)).unwrap();
    while let Some(step) = campaign.next() {
        campaign.make(&step, &mut journal, &session).unwrap();
    }
    let sizes = journal.measurements().iter().map(|line| line.run.items);
    assert_eq!(Vec::from_iter(sizes), [[256, 1]; 2]);
    // They are known, and told apart.
    let again = Campaign::new(needs, &journal, &session, budget(0.0)).unwrap();
    assert!(again.next().is_none());
    let measured = latest(journal.measurements()).unwrap();
    assert_eq!(measured.profiles.len(), 2);
    let experiment = experiments::find("kk20-table-1").unwrap();
    let cells = experiment.cells(&Ours::new(&measured));
    let mut timed = cells.iter().filter(|cell| {
        (&*cell.protocol, &*cell.metric) == ("kk20-psm", "seconds") && cell.sender_items == 1 << 12
    });
    assert!(timed.all(|cell| cell.ours.is_some() && cell.kind == Some(Kind::Far)));
}
