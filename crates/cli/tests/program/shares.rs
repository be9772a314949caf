//! Shares of one bit per key, and of the keys' numbers, put together again.

use std::{collections::BTreeMap, fs};

use psijoin::{Role, Shares, share_file::File};
use psijoin_circuit::Bits;

use crate::support::{
    Ended, Folder, Process, all_exit, assert_said, closed_pipe, exists, join, run,
};

const RECEIVERS: &str = "id,paid\nann,1.25\nbob,-2\n,9\nann,0.5\ncid,7\n";
const SENDERS: &str = "id,qty\nann,3\ndan,4\ncid,-5\n";

/// The files of a test, and both parties' outputs.
struct Shared {
    folder: Folder,
    outputs: [String; 2],
}

impl Shared {
    fn new() -> Self {
        let folder = Folder::new();
        let outputs = ["mine.shares", "theirs.shares"].map(|name| folder.path(name));
        Self { folder, outputs }
    }

    /// Runs both parties; the receiver first.
    fn joined(&self, kind: &str) -> [Ended; 2] {
        let mine = self.folder.file("mine.csv", RECEIVERS);
        let theirs = self.folder.file("theirs.csv", SENDERS);
        let args = |table, output| {
            let common = ["--key", "id", "--insecure-plaintext", "--output-kind", kind];
            [&["--input", table, "--output", output], &common[..]].concat()
        };
        let [receiver, sender] = &self.outputs;
        join(&args(&mine, receiver), &args(&theirs, sender)).both()
    }

    fn files(&self) -> [File; 2] {
        let read = |path: &String| File::read(&*fs::read(path).unwrap()).unwrap();
        [read(&self.outputs[0]), read(&self.outputs[1])]
    }
}

/// For each row that has a place: whether its key is shared, and its numbers.
fn together([mine, theirs]: &[File; 2]) -> BTreeMap<u64, (bool, Vec<i64>)> {
    let numbers = |place: usize| {
        let columns = mine.shares.columns().iter().zip(theirs.shares.columns());
        columns
            .map(|(mine, theirs)| mine[place].wrapping_add(theirs[place]) as i64)
            .collect()
    };
    let shared = |place| {
        let members = [mine, theirs].map(|file| file.shares.membership().get(place));
        members[0] ^ members[1]
    };
    let rows = mine.rows.iter().flatten().enumerate();
    rows.filter_map(|(place, row)| Some(((*row)?, (shared(place), numbers(place)))))
        .collect()
}

#[test]
fn both_shares_make_what_a_plain_join_finds() {
    let mut said = Vec::new();
    for (kind, ann, cid) in [
        ("shares", vec![], vec![]),
        ("shares:paid", vec![175], vec![700]),
        ("shares:paid,sender.qty", vec![3, 175], vec![-5, 700]),
    ] {
        let shared = Shared::new();
        for party in shared.joined(kind) {
            party.says(0, &[]);
            assert_eq!(party.stdout, "");
            said.push(party);
        }
        let files = shared.files();
        assert_eq!(files[0].session, files[1].session);
        assert_eq!(files[1].rows, None);
        let nothing = vec![0; ann.len()];
        let expected = [(0, (true, ann)), (1, (false, nothing)), (4, (true, cid))];
        assert_eq!(together(&files), BTreeMap::from(expected), "{kind}");
        let names = files[0]
            .columns
            .iter()
            .map(|column| (&*column.name, column.scale));
        let all = [("qty", 0), ("paid", 2)];
        assert_eq!(names.collect::<Vec<_>>(), all[2 - files[0].columns.len()..]);
    }
    assert_said!(said);
}

#[test]
fn a_file_is_shown_as_csv() {
    let shared = Shared::new();
    shared.joined("shares:paid");
    let [mine, theirs] = &shared.outputs;
    for (path, head) in [
        (mine, "place,row,shared,receiver.paid"),
        (theirs, "place,shared,receiver.paid"),
    ] {
        let shown = run(&["shares", path]);
        shown.says(0, &[]);
        let lines: Vec<&str> = shown.stdout.lines().collect();
        assert_eq!(lines[0], head);
        assert_eq!(lines.len() - 1, shared.files()[0].shares.places());
        assert!(lines[1].starts_with("0,"));
    }
    let table = shared.folder.path("mine.csv");
    let said = [&*table, "missing"].map(|file| run(&["shares", file]));
    all_exit(&said, 3);
    assert_said!(said);
}

#[test]
fn a_reader_that_wants_no_more_is_no_failure() {
    let folder = Folder::new();
    let file = File {
        session: [7; 32],
        role: Role::Sender,
        columns: Vec::new(),
        shares: Shares::new(Bits::zeros(100_000), Vec::new(), None),
        rows: None,
    };
    let mut bytes = Vec::new();
    file.write(&mut bytes).unwrap();
    let path = folder.file("shares", bytes);
    let shown = Process::start_with(&["shares", &path], |command| command.stdout(closed_pipe()));
    shown.end().says(0, &[]);
}

#[test]
fn what_cannot_be_written_is_said_before_the_parties_meet() {
    let folder = Folder::new();
    let table = folder.file("table.csv", SENDERS);
    let common = ["--input", &table, "--key", "id", "--insecure-plaintext"];
    let refused = |party: &str, args: &[&str]| {
        let connect = [party, "--connect", "127.0.0.1:9", "--wait", "1"];
        run(&[&connect, &common[..], args].concat())
    };
    let report = folder.path("report");
    let mut said = Vec::new();
    for party in ["send", "receive"] {
        let kind = ["--output-kind", "shares"];
        let shares = |more: &[&str], code| {
            let ended = refused(party, &[&kind, more].concat());
            ended.says(code, &[]);
            ended
        };
        let missing = folder.path("missing/shares");
        said.extend([
            shares(&[], 2),
            shares(&["--output", &report, "--report", &report], 2),
            shares(&["--output", &missing], 3),
            shares(&["--output", &table], 3),
            shares(&["--output", &report, "--min-intersection", "1"], 2),
        ]);
    }
    let rows = refused("send", &["--output", &report]);
    rows.says(2, &[]);
    said.push(rows);
    assert_said!(said);
    assert!(!exists(&report));
    assert_eq!(folder.read("table.csv"), SENDERS);
}

#[test]
fn an_empty_set_has_no_places() {
    let folder = Folder::new();
    let (mine, theirs) = (folder.file("mine", ""), folder.file("theirs", "a\nb\n"));
    let args = |table, output| {
        let common = ["--insecure-plaintext", "--output-kind", "shares"];
        [&["--input", table, "--output", output], &common[..]].concat()
    };
    let outputs = ["a", "b"].map(|name| folder.path(name));
    let both = join(&args(&mine, &outputs[0]), &args(&theirs, &outputs[1])).both();
    all_exit(&both, 0);
    assert_said!(both);
}
