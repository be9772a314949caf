//! Budgets of a sender: what one receiver may have of a table.

use std::{
    fs,
    ops::Range,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{
    Ended, Folder, PATIENCE, Process, Trust, all_exit, all_exit_without_result, assert_said, join,
    run, trust,
};

/// The noise is 0, but for a probability below 2^-10,000.
const NOISE: [&str; 6] = [
    "--output-kind",
    "counts",
    "--group-by",
    "receiver.segment",
    "--noise",
    "laplace:epsilon=100000",
];

struct Tables {
    folder: Folder,
    trust: Trust,
    mine: String,
    theirs: String,
    budget: String,
}

impl Tables {
    /// Makes two tables, and a budget with these limits.
    fn new(limits: &[&str]) -> Self {
        let folder = Folder::new();
        let budget = folder.path("theirs.budget");
        run(&[&["budget", "create", &budget], limits].concat()).says(0, &[]);
        Self {
            trust: trust(&folder),
            mine: folder.file("mine.csv", "id,segment\n1,test\n2,control\n3,test\n"),
            theirs: folder.file("theirs.csv", "id\n1\n3\n9\n"),
            budget,
            folder,
        }
    }

    /// Returns the options of the receiver and of the sender, with these of both.
    fn args<'a>(&'a self, both: &[&'a str]) -> [Vec<&'a str>; 2] {
        let args = |trust: &'a [String; 4], table| {
            let own = ["--input", table, "--key", "id"];
            let trust = trust.iter().map(String::as_str);
            trust
                .chain(own)
                .chain(both.iter().copied())
                .collect::<Vec<_>>()
        };
        let receiver = args(&self.trust.receiver, &self.mine);
        let mut sender = args(&self.trust.sender, &self.theirs);
        sender.extend(["--budget", &self.budget]);
        [receiver, sender]
    }

    fn join(&self, both: &[&str]) -> [Ended; 2] {
        let [receiver, sender] = self.args(both);
        join(&receiver, &sender).both()
    }

    fn spent(&self) -> usize {
        self.folder.read("theirs.budget").lines().count() - 1
    }
}

#[test]
fn a_budget_is_spent_answer_by_answer_and_refuses_the_next() {
    let tables = Tables::new(&["--epsilon", "250000", "--answers", "9"]);
    let said = [
        tables.join(&NOISE),
        tables.join(&NOISE),
        tables.join(&NOISE),
    ];
    all_exit(said[..2].as_flattened(), 0);
    all_exit_without_result(&said[2], 6);
    let exact = tables.join(&["--output-kind", "count"]);
    all_exit_without_result(&exact, 6);
    let shown = run(&["budget", "show", &tables.budget]);
    shown.says(0, &[]);
    assert!(
        shown
            .stdout
            .starts_with("ε = 250000 and 9 answers for each receiver\n")
    );
    assert!(shown.stdout.contains(" 2        200000 "), "{shown:#?}");
    assert_eq!(tables.spent(), 2);
    let [third, exact] = [&said[2], &exact];
    assert_said!([&said[0][1], &third[0], &third[1], &exact[0], &exact[1],]);
    let json = run(&["budget", "show", &tables.budget, "--json"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["receivers"][0]["epsilon_spent"], "200000");
    assert_eq!(json["receivers"][0]["answers"], 2);
    assert_eq!(json["answers"], 9);
}

/// Any answer is one, with a job as without: an attempt that goes on is not another.
#[test]
fn answers_are_counted_of_every_kind() {
    let tables = Tables::new(&["--answers", "2"]);
    let count = ["--output-kind", "count", "--report", "-"];
    let both = tables.join(&count);
    all_exit(&both, 0);
    let report: Value = serde_json::from_str(&both[1].stdout).unwrap();
    assert_eq!(report["budget"]["answers_left"], 1);
    assert_eq!(report["budget"]["epsilon"], Value::Null);
    let receivers: Value = serde_json::from_str(&both[0].stdout).unwrap();
    assert_eq!(receivers["budget"], Value::Null);
    all_exit(&tables.join(&["--output-kind", "count"]), 0);
    all_exit_without_result(&tables.join(&[]), 6);
}

/// Whoever is killed has spent an answer before it could be sent: ten of them are ten.
#[test]
fn who_is_killed_has_spent_the_answer() {
    let tables = Tables::new(&["--answers", "10"]);
    let [receiver, sender] = tables.args(&["--output-kind", "count"]);
    let mut answered = 0;
    for spent in 1..=10 {
        let (sender, address) = Process::listen("send", &sender);
        let receiver = [&["receive", "--connect", &address], &receiver[..]].concat();
        let receiver = Process::start(&receiver);
        let deadline = Instant::now() + PATIENCE;
        while tables.spent() < spent {
            assert!(Instant::now() < deadline, "nothing is spent");
            thread::sleep(Duration::from_millis(1));
        }
        sender.signal("KILL");
        sender.end();
        answered += usize::from(!receiver.end().stdout.is_empty());
        assert_eq!(tables.spent(), spent);
    }
    assert!(answered <= 10);
    all_exit_without_result(&tables.join(&["--output-kind", "count"]), 6);
    assert_eq!(tables.spent(), 10);
}

/// Two answers whose difference would tell about a few keys of the sender's: of all its keys, or of
/// a group. What has not changed may be asked again, and much may change at once.
#[test]
fn what_changed_by_a_few_keys_is_refused() {
    let tables = Tables::new(&["--least-change", "20"]);
    let table = |keys: Range<u32>, plan: &dyn Fn(u32) -> bool| {
        let rows = keys.map(|key| format!("{key},{},{key}\n", if plan(key) { "gold" } else { "" }));
        let rows = format!("id,plan,spent\n{}", rows.collect::<String>());
        tables.folder.file("theirs.csv", rows);
    };
    let counts = [
        "--output-kind",
        "counts,sum:sender.spent",
        "--group-by",
        "sender.plan",
    ];
    let rows: [&str; 0] = [];
    let is_even = &|key: u32| key.is_multiple_of(2);
    table(0..100, is_even);
    all_exit(&tables.join(&counts), 0);
    all_exit(&tables.join(&counts), 0);
    all_exit(&tables.join(&rows), 0);
    table(1..100, is_even);
    let fewer = tables.join(&rows);
    all_exit_without_result(&fewer, 6);
    assert!(
        fewer[1].stderr.contains("differ in fewer than 20 keys"),
        "{fewer:#?}"
    );
    table(0..100, &|key| key == 1 || is_even(key));
    all_exit_without_result(&tables.join(&counts), 6);
    table(0..200, is_even);
    all_exit(&tables.join(&counts), 0);
    assert_eq!(tables.spent(), 4);
    let kept = tables.folder.read("theirs.budget");
    assert!(!kept.contains("gold"));
    let shown = run(&["budget", "show", &tables.budget]);
    let limit = "a least change of 20 keys for each receiver\n";
    assert!(shown.stdout.starts_with(limit), "{shown:#?}");
}

/// Which changes there were is only known to the identity that gave the answers.
#[test]
fn another_identity_cannot_compare() {
    let mut tables = Tables::new(&["--least-change", "5"]);
    all_exit(&tables.join(&[]), 0);
    let folder = Folder::new();
    let other = trust(&folder);
    tables.trust.receiver[3].clone_from(&other.receiver[3]);
    tables.trust.sender[1].clone_from(&other.sender[1]);
    let ended = tables.join(&[]);
    ended[1].says(6, &["were given by another identity"]);
    ended[0].says(6, &["its budget"]);
}

#[test]
fn what_cannot_be_a_budget_is_said() {
    let folder = Folder::new();
    let budget = folder.path("a.budget");
    let create = |limits: &[&str]| run(&[&["budget", "create", &budget], limits].concat());
    let table = folder.file("table.csv", "id\n1\n");
    let send = |budget: &str, report: &str| {
        let to = ["send", "--connect", "127.0.0.1:1", "--wait", "1"];
        let own = ["--input", &table, "--key", "id", "--insecure-plaintext"];
        run(&[&to[..], &own, &["--budget", budget, "--report", report]].concat())
    };
    assert_said!([
        create(&[]),
        create(&["--epsilon", "0"]),
        create(&["--epsilon", "1.5"]),
        create(&["--answers", "2"]),
        run(&["budget", "show", &folder.path("none.budget")]),
        run(&["budget", "show", &table]),
        send(&budget, "x.json"),
    ]);
    fs::metadata(&budget).unwrap();
}
