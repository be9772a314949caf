//! `--job`: a join that broke off is resumed.

use std::{
    collections::HashSet,
    fs,
    io::BufReader,
    mem,
    ops::Range,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use psijoin::{share_file::File, spill::Spill};
use psijoin_source::{Format, Source};
use psijoin_table::TableKeys;
use serde_json::Value;

use crate::support::{
    Ended, Folder, Joined, Process, Trust, exists, free_address, lines, run, trust,
};

/// Two parties that keep jobs in parts.
pub(crate) struct Parties {
    pub(crate) folder: Folder,
    pub(crate) trust: Trust,
    address: String,
    pub(crate) receiver: Vec<String>,
    pub(crate) sender: Vec<String>,
}

impl Parties {
    /// Parties with these arguments beside those of who they are and where they meet.
    pub(crate) fn new(common: &[&str]) -> Self {
        let folder = Folder::new();
        let trust = trust(&folder);
        folder.file("mine", lines(0..3000));
        folder.file("theirs", lines(1000..5000));
        let party = |own: &[String; 4], input: &str, job: &str| {
            let rest =
                ["--input", &folder.path(input), "--job", &folder.path(job)].map(str::to_owned);
            let common = common.iter().map(|word| (*word).to_owned());
            own.iter().cloned().chain(rest).chain(common).collect()
        };
        Self {
            receiver: party(&trust.receiver, "mine", "receiver-job"),
            sender: party(&trust.sender, "theirs", "sender-job"),
            address: free_address(),
            trust,
            folder,
        }
    }

    pub(crate) fn receiver(&self, more: &[&str]) -> Process {
        self.receiver_with(more, |command| command.stdout(Stdio::piped()))
    }

    fn receiver_with(
        &self,
        more: &[&str],
        streams: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Process {
        let own: Vec<&str> = self.receiver.iter().map(String::as_str).collect();
        let args = [&["receive", "--listen", &self.address], &own[..], more].concat();
        Process::start_with(&args, |command| streams(command.stdin(Stdio::null())))
    }

    pub(crate) fn sender(&self, more: &[&str]) -> Process {
        let own: Vec<&str> = self.sender.iter().map(String::as_str).collect();
        Process::start(&[&["send", "--connect", &self.address], &own[..], more].concat())
    }

    pub(crate) fn join(&self, receiver: &[&str], sender: &[&str]) -> Joined {
        let receiver = self.receiver(receiver);
        let sender = self.sender(sender);
        Joined {
            receiver: receiver.end(),
            sender: sender.end(),
        }
    }

    fn status(&self, job: &str) -> Value {
        let said = run(&["jobs", &self.folder.path(job), "--json"]);
        serde_json::from_str(&said.says(0, &[]).stdout).unwrap()
    }

    /// Returns the number of parts done, if a job has begun.
    fn parts_done(&self, job: &str) -> u64 {
        let said = run(&["jobs", &self.folder.path(job), "--json"]);
        let status: Result<Value, _> = serde_json::from_str(&said.stdout);
        status.map_or(0, |status| status["parts_done"].as_u64().unwrap())
    }
}

const PARTS: [&str; 2] = ["--parts", "7"];

#[test]
fn a_job_that_is_done_is_done() {
    let parties = Parties::new(&PARTS);
    let output = parties.folder.path("shared");
    let joined = parties.join(&["--output", &output], &[]);
    joined.receiver.says(0, &["2,000 shared keys"]);
    joined.sender.says(0, &["The receiver learned which"]);
    assert_eq!(parties.folder.read("shared"), lines(1000..3000));
    for job in ["receiver-job", "sender-job"] {
        let status = parties.status(job);
        assert_eq!(status["state"], "done");
        assert_eq!(status["parts_done"], 7);
        assert_eq!(status["bytes_left"], 0);
        assert_eq!(status["command"], Value::Null);
        let mut names: Vec<_> = fs::read_dir(parties.folder.path(job))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["job", "lock"]);
    }
    // Alone: nobody is met any more. It is said even where nothing else is.
    fs::remove_file(&output).unwrap();
    let report = parties.folder.path("report.json");
    let more = ["--output", &output, "--report", &report];
    let again = parties.receiver_with(&more, |command| {
        command.stdout(Stdio::piped()).env("PSIJOIN_LOG", "off")
    });
    let again = again.end();
    again.says(
        0,
        &["already done, of this very table: nothing was done now"],
    );
    let report: Value = serde_json::from_str(&parties.folder.read("report.json")).unwrap();
    assert_eq!(report["outcome"], "already done");
    parties.sender(&[]).end().says(0, &["already done"]);
    assert!(!exists(&output));
}

/// An identity may be kept there later.
#[cfg(unix)]
#[test]
fn the_users_own_folder_is_made_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let parties = Parties::new(&["--parts", "3"]);
    let home = parties.folder.path("own/home");
    let receiver = parties.receiver_with(&[], |command| {
        command.stdout(Stdio::piped()).env("PSIJOIN_HOME", &home)
    });
    parties.sender(&[]).end().says(0, &[]);
    receiver.end().says(0, &[]);
    for made in [home.clone(), home + "/jobs"] {
        let mode = fs::metadata(&made).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{made}");
    }
}

/// Next week's table is not taken for last week's, though the folder is, on either side.
#[test]
fn a_job_that_is_done_is_done_for_its_table_only() {
    let parties = Parties::trading(&["--parts", "3"]);
    parties.trade();
    let table = "a table (its keys, their order, and its numbers)";
    let values = "the values of the columns that are given";
    for (changed, said) in [(rows(0..3001, "m"), table), (rows(0..3000, "n"), values)] {
        parties.folder.file("mine", changed);
        let refused = parties.receiver(&[]).end();
        assert_eq!(refused.says(2, &[said, "new folders"]).stdout, "");
    }
    parties.folder.file("mine", rows(0..3000, "m"));
    parties.receiver(&[]).end().says(0, &["already done"]);
    parties.folder.file("theirs", rows(1000..5000, "u"));
    parties.sender(&[]).end().says(2, &[values]);
    // Nor for another command.
    let [rows, other] = [&["--rows", "all"][..], &["--give-bytes", "40"]];
    parties.receiver(rows).end().says(2, &["what is written"]);
    parties
        .receiver(other)
        .end()
        .says(2, &["--give and --take say it"]);
}

/// Each kind of output, with what its receiver prints.
#[test]
fn every_output_can_be_kept() {
    for (kind, printed) in [
        (&["--output-kind", "count"][..], "2000\n"),
        (&["--output-kind", "threshold:2000"], "reached\n"),
        // More than the smaller set has: nothing is sent.
        (&["--output-kind", "threshold:3001"], "not reached\n"),
        (&["--min-intersection", "2000"], ""),
        (
            &["--output-kind", "count", "--min-intersection", "7"],
            "2000\n",
        ),
    ] {
        for parts in [&PARTS[..], &[]] {
            // On a busy machine `auto` may take the network for slow, and a protocol that cannot
            // count in parts.
            let protocol = ["--protocol", "rr22-circuit"];
            let parties = Parties::new(&[kind, parts, &protocol].concat());
            let joined = parties.join(&[], &[]);
            joined.sender.says(0, &[]);
            joined.receiver.says(0, &[]);
            match printed {
                "" => assert_eq!(joined.receiver.stdout, lines(1000..3000)),
                printed => assert_eq!(joined.receiver.stdout, printed),
            }
            assert_eq!(parties.status("sender-job")["state"], "done");
        }
    }
}

#[test]
fn a_minimum_that_is_not_reached_ends_a_job() {
    for (least, said) in [
        ("2001", "fewer than 2,001 keys"),
        ("3001", "fewer than 3,001 keys"),
    ] {
        let parties = Parties::new(&["--min-intersection", least, "--parts", "3"]);
        for _ in 0..2 {
            for ended in parties.join(&[], &[]).both() {
                ended.says(6, &[said]);
            }
            assert_eq!(parties.status("receiver-job")["state"], "too few");
        }
    }
}

/// The result is kept while it cannot be written.
#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_written_alone_later() {
    for parts in [&PARTS[..], &[]] {
        let parties = Parties::new(parts);
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let receiver = parties.receiver_with(&[], |command| command.stdout(full));
        let sender = parties.sender(&[]);
        sender.end().says(0, &[]);
        receiver.end().says(3, &["standard output"]);
        let kept = parties.status("receiver-job");
        assert_eq!(kept["state"], "under way");
        assert_eq!(
            (&kept["bytes_left"], &kept["parts_done"]),
            (&0.into(), &kept["parts"])
        );
        let alone = parties.receiver(&[]).end();
        alone.says(
            0,
            &[
                "the other party is not needed any more",
                "2,000 shared keys",
            ],
        );
        assert_eq!(alone.stdout, lines(1000..3000));
        assert_eq!(parties.status("receiver-job")["state"], "done");
    }
}

/// Nor need the other side come back for shares that it has, too.
#[test]
fn shares_that_both_have_are_written_alone_later() {
    let parties = Parties::new(&["--output-kind", "shares", "--parts", "3"]);
    let there = parties.folder.path("there");
    let (mine, theirs) = (
        parties.folder.path("mine.shares"),
        there.clone() + "/shares",
    );
    fs::create_dir(&there).unwrap();
    let mut receiver = parties.receiver(&["--output", &mine]);
    receiver.address();
    // It will miss its folder when it is done.
    let mut sender = parties.sender(&["--output", &theirs]);
    sender.wait_for("read ");
    fs::remove_dir_all(&there).unwrap();
    sender.end().says(3, &["cannot use the file of shares"]);
    receiver.end().says(0, &[]);
    fs::create_dir(&there).unwrap();
    let alone = parties.sender(&["--output", &theirs]).end();
    alone.says(0, &["the other party is not needed any more"]);
    let session = |path: &str| {
        File::read(BufReader::new(fs::File::open(path).unwrap()))
            .unwrap()
            .session
    };
    assert_eq!(session(&mine), session(&theirs));
}

#[test]
fn sums_that_cannot_be_printed_are_printed_later() {
    let parties = Parties::new(&["--key", "id", "--output-kind", "sum:b,a", "--parts", "3"]);
    parties.folder.file("mine", "id,a\n1,0.5\n2,1.25\n3,7\n");
    parties.folder.file("theirs", "id,b\n2,-3\n3,10\n4,100\n");
    let more = ["--delimiter", ","];
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let receiver = parties.receiver_with(&more, |command| command.stdout(full));
    let sender = parties.sender(&[&more[..], &["--allow-sums-that-reveal-keys"]].concat());
    sender.end().says(0, &[]);
    receiver.end().says(3, &["standard output"]);
    let alone = parties.receiver(&more).end();
    assert_eq!(
        alone.says(0, &["not needed any more"]).stdout,
        "b\t7\na\t8.25\n"
    );
}

/// Named on both sides, before anything is kept.
#[test]
fn another_number_of_parts_is_refused() {
    let parties = Parties::new(&[]);
    let joined = parties.join(&["--parts", "7"], &["--parts", "8"]);
    for ended in joined.both() {
        ended.says(5, &["the derived parameters", "install the same release"]);
    }
    for job in ["receiver-job", "sender-job"] {
        run(&["jobs", &parties.folder.path(job)]).says(3, &["there is no job in"]);
    }
}

/// Takes long enough to be broken off.
pub(crate) const LONG: [&str; 8] = [
    "--parts",
    "61",
    "--protocol",
    "dh",
    "--threads",
    "1",
    "--wait",
    "30",
];

impl Parties {
    /// Lets a job begin, and kills both parties once they have done some parts.
    fn broken_off(common: &[&str]) -> Self {
        let parties = Self::new(&[&LONG, common].concat());
        parties.break_off();
        parties
    }

    pub(crate) fn break_off(&self) {
        let both = [self.receiver(&[]), self.sender(&[])];
        self.wait_for(3);
        for party in &both {
            party.signal("KILL");
        }
        for party in both {
            assert_eq!(party.end().code, None);
        }
    }

    /// Waits until both have done this many parts.
    pub(crate) fn wait_for(&self, parts: u64) {
        let jobs = ["receiver-job", "sender-job"];
        while jobs.iter().any(|job| self.parts_done(job) < parts) {
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Parties that both learn, and give each other a column.
    fn trading(common: &[&str]) -> Self {
        let trade = ["--key", "id", "--delimiter", ",", "--learn", "both"];
        let columns = ["--give", "own", "--take", "all"];
        let parties = Self::new(&[&trade[..], &columns, common].concat());
        parties.folder.file("mine", rows(0..3000, "m"));
        parties.folder.file("theirs", rows(1000..5000, "t"));
        parties
    }

    /// Joins, and expects what trading parties get.
    fn trade(&self) -> [Ended; 2] {
        let joined = self.join(&[], &[]);
        assert_eq!(joined.receiver.says(0, &[]).stdout, traded("m", "t"));
        assert_eq!(joined.sender.says(0, &[]).stdout, traded("t", "m"));
        joined.both()
    }

    /// Both ask for a record in these files.
    pub(crate) fn record(&mut self, receivers: &str, senders: &str) {
        let asked = |file: &str| ["--record", file].map(str::to_owned);
        self.receiver.extend(asked(receivers));
        self.sender.extend(asked(senders));
    }

    pub(crate) fn goes_on(&self) {
        let done = ["receiver-job", "sender-job"].map(|job| self.parts_done(job));
        assert!(done.iter().all(|done| (2..61).contains(done)), "{done:?}");
        let joined = self.join(&[], &[]);
        joined.sender.says(0, &[" of 61 parts done before"]);
        joined
            .receiver
            .says(0, &[" of 61 parts done before", "2,000 shared keys"]);
        assert_eq!(joined.receiver.stdout, lines(1000..3000));
    }
}

/// Returns a table whose rows have `own` in a second column.
fn rows(ids: Range<u32>, own: &str) -> String {
    let rows = ids.map(|id| format!("{id},{own}{id}\n"));
    "id,own\n".to_owned() + &rows.collect::<String>()
}

/// Returns what a trading party gets.
fn traded(own: &str, partner: &str) -> String {
    let rows = (1000..3000).map(|id| format!("{id},{own}{id},{partner}{id}\n"));
    "id,own,partner_own\n".to_owned() + &rows.collect::<String>()
}

#[test]
fn columns_can_be_kept() {
    for parts in [&PARTS[..], &[]] {
        let parties = Parties::trading(parts);
        parties.trade();
        for job in ["receiver-job", "sender-job"] {
            assert_eq!(parties.status(job)["state"], "done");
        }
    }
}

#[test]
fn a_job_with_columns_goes_on() {
    for more in [&[][..], &["--table-memory", "0kB"]] {
        let parties = Parties::trading(&[&LONG, more].concat());
        parties.break_off();
        for ended in parties.trade() {
            ended.says(0, &[" of 61 parts done before"]);
        }
    }
}

/// Parts that are done have other values, or other columns.
/// A party that lives on has its items in their parts still, and gets everything once.
#[test]
fn a_side_that_lives_on_goes_on_without_its_keys() {
    for dies in 0..2 {
        let parties = Parties::trading(&LONG);
        let start = |party: usize| match party {
            0 => parties.receiver(&[]),
            _ => parties.sender(&[]),
        };
        let mut running = [0, 1].map(start);
        parties.wait_for(3);
        running[dies].signal("KILL");
        assert_eq!(
            mem::replace(&mut running[dies], start(dies)).end().code,
            None
        );
        let [receiver, sender] = running.map(|party| party.end());
        let lost = [&receiver, &sender][1 - dies];
        lost.says(0, &["meeting again, to go on with the job", "done before"]);
        assert_eq!(receiver.says(0, &[]).stdout, traded("m", "t"));
        assert_eq!(sender.says(0, &[]).stdout, traded("t", "m"));
    }
}

/// Killed when the other side has done all, and waits for the receipt or has it.
#[test]
fn a_receiver_that_dies_at_the_end_is_met_again() {
    let parties = Parties::new(&LONG);
    let receiver = parties.receiver(&[]);
    let sender = parties.sender(&[]);
    while parties.parts_done("sender-job") < 61 {
        thread::sleep(Duration::from_millis(1));
    }
    receiver.signal("KILL");
    let killed = receiver.end();
    let again = parties.receiver(&[]).end();
    sender.end().says(0, &[]);
    let printed = killed.stdout + &again.says(0, &[]).stdout;
    assert!(printed.ends_with(&lines(1000..3000)));
}

#[test]
fn a_job_with_columns_goes_on_with_the_same_only() {
    let parties = Parties::trading(&LONG);
    parties.break_off();
    let alone = parties.receiver(&["--give-bytes", "40"]).end();
    alone.says(
        2,
        &["the columns that are given or taken", "--give and --take"],
    );
    let changed = rows(1000..5000, "t").replace("t4999\n", "t4998\n");
    parties.folder.file("theirs", changed);
    let joined = parties.join(&[], &[]);
    joined
        .sender
        .says(2, &["the values of the columns that are given"]);
    joined.receiver.says(7, &[]);
    parties.folder.file("theirs", rows(1000..5000, "t"));
    parties.trade();
}

/// Each side has both its rows and the other's columns, and does not need the other any more.
#[test]
fn columns_that_both_have_are_written_alone_later() {
    for parts in [&PARTS[..], &[]] {
        let parties = Parties::trading(parts);
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let receiver = parties.receiver_with(&[], |command| command.stdout(full));
        let sender = parties.sender(&[]);
        assert_eq!(sender.end().says(0, &[]).stdout, traded("t", "m"));
        receiver.end().says(3, &["standard output"]);
        let alone = parties.receiver(&[]).end();
        alone.says(0, &["the other party is not needed any more"]);
        assert_eq!(alone.stdout, traded("m", "t"));
    }
}

/// It is signed in the session in which all is done, and written before the result is.
#[test]
fn a_job_is_recorded_when_it_is_done() {
    let mut parties = Parties::trading(&LONG);
    let [ours, theirs] = ["ours.json", "theirs.json"].map(|name| parties.folder.path(name));
    parties.record(&ours, &theirs);
    parties.break_off();
    // Neither side continues without it, and both are as they were.
    let recorded = "signing a record `yes`, but this command says `no`";
    let unrecorded = |own: &[String]| own[..own.len() - 2].to_vec();
    let without = unrecorded(&parties.receiver);
    let with = mem::replace(&mut parties.receiver, without);
    parties.receiver(&[]).end().says(2, &[recorded]);
    parties.receiver = with;
    let without = unrecorded(&parties.sender);
    let with = mem::replace(&mut parties.sender, without);
    parties.sender(&[]).end().says(2, &[recorded]);
    parties.sender = with;

    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let receiver = parties.receiver_with(&[], |command| command.stdout(full));
    let sender = parties.sender(&[]).end();
    let again = "of its 61 steps ran more than once. Each said the same again";
    assert_eq!(
        sender.says(0, &["wrote the record", again]).stdout,
        traded("t", "m")
    );
    receiver.end().says(3, &["standard output"]);
    let verified = run(&["verify", &ours, "--against", &theirs]);
    let verified = verified.says(0, &[]);
    assert!(verified.stdout.contains("is the same record"));
    assert!(verified.stdout.contains("of it ran more than once"));
    let written = parties.folder.read("ours.json");
    let alone = parties.receiver(&[]).end();
    alone.says(0, &["the other party is not needed any more", again]);
    assert_eq!(alone.stdout, traded("m", "t"));
    assert_eq!(parties.folder.read("ours.json"), written);
}

/// Rows of parts are kept, whatever of the table lies on disk.
#[test]
fn a_job_goes_on_with_a_table_on_disk() {
    Parties::broken_off(&["--table-memory", "0kB"]).goes_on();
    let parties = Parties::broken_off(&[]);
    let joined = parties.join(&["--table-memory", "0kB"], &[]);
    joined.sender.says(0, &[" of 61 parts done before"]);
    assert_eq!(joined.receiver.says(0, &[]).stdout, lines(1000..3000));
}

/// Both get shares of one run of each part, whichever attempt it was in. A folder that is put back
/// from a copy is refused: what it lacks would be said anew.
#[test]
fn shares_go_on() {
    let common = [
        "--output-kind",
        "shares",
        "--protocol",
        "rr22-circuit",
        "--wait",
        "30",
        // One part after the other, so that some are left.
        "--threads",
        "1",
    ];
    let parties = Parties::new(&[&common[..], &["--parts", "13"]].concat());
    let [mine, theirs] = ["mine.shares", "theirs.shares"].map(|name| parties.folder.path(name));
    let start = || {
        [
            parties.receiver(&["--output", &mine]),
            parties.sender(&["--output", &theirs]),
        ]
    };
    let copy = |from: &str, to: &str| {
        let paths = [from, to].map(|name| parties.folder.path(name));
        let copied = Command::new("cp").arg("-a").args(paths).status();
        assert!(copied.unwrap().success());
    };
    let done = || ["receiver-job", "sender-job"].map(|job| parties.parts_done(job));
    let mut least = 2;
    for victim in [0, 1] {
        let both = start();
        parties.wait_for(least);
        both[victim].signal("KILL");
        both[1 - victim].signal("KILL");
        let _ = both.map(Process::end);
        // The second time, both do more than either had done the first time.
        least = done().into_iter().max().unwrap() + 1;
        if victim == 0 {
            copy("receiver-job", "copy");
        }
    }
    copy("receiver-job", "newest");
    for (name, code) in [("copy", 3), ("newest", 0)] {
        fs::remove_dir_all(parties.folder.path("receiver-job")).unwrap();
        copy(name, "receiver-job");
        if code == 3 {
            let refused = parties.receiver(&["--output", &mine]).end();
            refused.says(3, &["lacks what this side has already said (an old copy"]);
        }
    }
    for ended in start().map(Process::end) {
        ended.says(0, &[" of 13 parts done before"]);
    }
    let read = |path: &str| File::read(BufReader::new(fs::File::open(path).unwrap())).unwrap();
    let [mine, theirs] = [&mine, &theirs].map(|path| read(path));
    assert_eq!(mine.session, theirs.session);
    let shared = mine.shares.membership() ^ theirs.shares.membership();
    let rows = mine.rows.unwrap();
    let shared: HashSet<_> = (0..rows.len())
        .filter(|place| shared.get(*place))
        .map(|place| rows[place])
        .collect();
    assert_eq!(shared, (1000..3000).map(Some).collect());
}

/// Nothing is lost by it, and both go on once there is room.
#[cfg(target_os = "linux")]
#[test]
fn a_job_folder_that_runs_full_is_named() {
    let parties = Parties::new(&LONG);
    let own: Vec<&str> = parties.receiver.iter().map(String::as_str).collect();
    let args = [&["receive", "--listen", &parties.address], &own[..]].concat();
    let receiver = Process::start_with_small_files(16, &args);
    let sender = parties.sender(&[]);
    let job = format!(
        "cannot use the job folder {}",
        parties.folder.path("receiver-job")
    );
    let receiver = receiver.end();
    receiver.says(3, &[&job, "make room there", "the same commands again"]);
    assert_eq!(receiver.stdout, "");
    sender.end().says(7, &[]);
    parties.goes_on();
}

/// Rows are read again when they are written. The result is kept until the table is what it was.
#[test]
fn a_table_that_changes_before_its_rows_are_written_is_refused() {
    let parties = Parties::new(&LONG);
    let mut receiver = parties.receiver(&[]);
    receiver.address();
    let sender = parties.sender(&[]);
    receiver.wait_for("to move");
    parties.folder.file("mine", lines(0..3001));
    receiver
        .end()
        .says(3, &["was changed while it was in use: run again"]);
    sender.end().says(0, &[]);
    let changed = parties.receiver(&[]).end();
    changed.says(2, &["a table (its keys, their order, and its numbers)"]);
    assert_eq!(changed.stdout, "");
    parties.folder.file("mine", lines(0..3000));
    let alone = parties.receiver(&[]).end();
    alone.says(0, &["the other party is not needed any more"]);
    assert_eq!(alone.stdout, lines(1000..3000));
}

/// By name, on this side alone.
#[test]
fn a_job_of_another_version_is_refused() {
    let parties = Parties::broken_off(&[]);
    let job = parties.folder.path("receiver-job/job");
    let whole = fs::read_to_string(&job).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    fs::write(&job, whole.replace(version, "0.0.1")).unwrap();
    let said =
        format!("was begun by psijoin 0.0.1, and this is {version}: go on with that version");
    parties
        .receiver(&[])
        .end()
        .says(2, &[&said, "begin anew on both sides"]);
    fs::write(&job, whole).unwrap();
    parties.goes_on();
}

/// Each by name, with nothing lost.
#[test]
fn what_has_changed_is_refused() {
    let parties = Parties::broken_off(&[]);
    let refused = |more: &[&str], code, text| {
        parties.receiver(more).end().says(code, &[text]);
    };
    refused(
        &["--output-kind", "count"],
        2,
        "the output `rows`, but this command says `count`",
    );
    refused(&["--min-intersection", "5"], 2, "the minimum");
    let terms = parties.folder.file("terms", "as agreed\n");
    refused(&["--terms", &terms], 2, "the terms `none`, but");
    let record = parties.folder.path("record.json");
    let unrecorded = "signing a record `no`, but this command says `yes`";
    refused(&["--record", &record], 2, unrecorded);
    let written = "what is written `shared, in";
    refused(&["--rows", "all"], 2, written);
    let elsewhere = parties.folder.path("out.csv");
    refused(&["--output", &elsewhere], 2, written);
    let elsewhere = Folder::new();
    let stranger = trust(&elsewhere).sender;
    let other = |from: usize, value: &str, text: &str| {
        let mut changed = parties.receiver.clone();
        changed[from] = value.to_owned();
        let changed: Vec<&str> = changed.iter().map(String::as_str).collect();
        let listen = ["receive", "--listen", &parties.address];
        run(&[&listen, &changed[..]].concat()).says(2, &[text]);
    };
    other(1, &stranger[1], "the identity");
    other(3, &stranger[3], "the other party");
    let protocol = parties.receiver.iter().position(|word| word == "dh");
    other(
        protocol.unwrap(),
        "kkrt",
        "the protocol `dh`, but this command says `kkrt`",
    );
    let parts = parties
        .receiver
        .iter()
        .position(|word| word == "61")
        .unwrap();

    // Only the other party can tell that this one has a table of other keys, or in another order.
    for table in [
        lines(1000..5001),
        lines(0..4000),
        lines(3000..5000) + &lines(1000..3000),
    ] {
        parties.folder.file("theirs", table);
        let joined = parties.join(&[], &[]);
        joined
            .sender
            .says(2, &["a table (its keys, their order, and its numbers)"]);
        joined.receiver.says(7, &[]);
    }
    parties.folder.file("theirs", lines(1000..5000));

    // Another number of parts on both sides.
    let seven = |own: &[String]| {
        let mut own = own.to_vec();
        own[parts] = "60".to_owned();
        own
    };
    let other = Parties {
        trust: trust(&Folder::new()),
        folder: Folder::new(),
        address: parties.address.clone(),
        receiver: seven(&parties.receiver),
        sender: seven(&parties.sender),
    };
    for ended in other.join(&[], &[]).both() {
        ended.says(2, &["the derived parameters"]);
    }
    parties.goes_on();
}

/// A folder of another job, or none.
#[test]
fn only_the_same_job_goes_on() {
    let parties = Parties::broken_off(&[]);
    let elsewhere = parties.folder.path("elsewhere");
    let at = parties
        .sender
        .iter()
        .position(|word| word == "--job")
        .unwrap();
    let with = |job: &[&str]| {
        let own: Vec<&str> = parties.sender.iter().map(String::as_str).collect();
        let receiver = parties.receiver(&[]);
        let connect = ["send", "--connect", &parties.address];
        let sender = Process::start(&[&connect, &own[..at], job, &own[at + 2..]].concat());
        [receiver.end(), sender.end()]
    };
    let [receiver, sender] = with(&["--job", &elsewhere]);
    receiver.says(
        5,
        &["the other party does not have the job that goes on here"],
    );
    sender.says(
        5,
        &["the other party goes on with a job that is not the one here"],
    );
    let [receiver, sender] = with(&[]);
    for ended in [receiver, sender] {
        ended.says(5, &["keeping a job", "on both sides"]);
    }
    parties.goes_on();
}

#[test]
fn a_folder_is_one_process_at_a_time_and_whole() {
    let parties = Parties::broken_off(&[]);
    let mut first = parties.receiver(&[]);
    first.address();
    let second = |port: &str| {
        let own: Vec<&str> = parties.receiver.iter().map(String::as_str).collect();
        run(&[
            &["receive", "--connect", port, "--wait", "1"],
            &own[..own.len() - 2],
        ]
        .concat())
    };
    second(&parties.address).says(3, &["another psijoin is at work"]);
    first.signal("TERM");
    first.end().says(1, &["interrupted"]);

    let results = parties.folder.path("receiver-job/results");
    let whole = fs::read(&results).unwrap();
    let mut spoilt = whole.clone();
    spoilt[20] ^= 1;
    fs::write(&results, &spoilt).unwrap();
    // The other side hears of it.
    let joined = parties.join(&[], &[]);
    joined.receiver.says(
        3,
        &["is damaged (a record of its results cannot be opened)"],
    );
    joined.sender.says(7, &[]);
    fs::write(&results, &whole[..whole.len() - 1]).unwrap();
    let joined = parties.join(&[], &[]);
    joined
        .receiver
        .says(3, &["lacks what this side has already said"]);
    joined.sender.says(7, &[]);
    fs::write(&results, &whole).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let folder = parties.folder.path("receiver-job");
        let set = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        set(0o755);
        let joined = parties.join(&[], &[]);
        joined
            .receiver
            .says(3, &["can be read or changed by other users"]);
        joined.sender.says(7, &[]);
        set(0o700);
    }
    parties.goes_on();
}

/// Neither items nor what they are known by without the joint seed.
#[test]
fn nothing_in_the_folder_tells_an_item() {
    let parties = Parties::broken_off(&[]);
    let source = |name: &str| {
        let (dialect, progress) = Default::default();
        let path = parties.folder.path(name);
        Source::open(
            Path::new(&path),
            Some(Format::Lines),
            &dialect,
            false,
            &progress,
        )
        .unwrap()
    };
    for (job, table, items) in [
        ("receiver-job", "mine", 0..3000),
        ("sender-job", "theirs", 1000..5000),
    ] {
        let (key, progress) = Default::default();
        let spill = Spill::in_memory();
        let mut read = TableKeys::read(&source(table), &key, &[], &spill, &progress).unwrap();
        let read = read.gather().unwrap();
        let fingerprints: HashSet<&[u8]> = read.fingerprints.iter().map(|one| &one[..8]).collect();
        for name in ["job", "key", "lock", "results"] {
            let bytes = fs::read(parties.folder.path(job) + "/" + name).unwrap();
            assert!(!bytes.windows(4).any(|window| window == b"word"), "{name}");
            assert!(
                !bytes.windows(8).any(|window| fingerprints.contains(window)),
                "{name}"
            );
        }
        assert_eq!(read.fingerprints.len(), items.len());
    }
    parties.goes_on();
}

/// Either party, ten times, at any moment; the other one meets it again. Only parts that are not
/// done on both sides run again, and the result is exact.
#[test]
fn ten_kills_lose_nothing() {
    let mut random = Random(0x9e37_79b9);
    let mut kills = 0;
    while kills < 5 {
        let parties = Parties::new(&LONG);
        let output = parties.folder.path("shared");
        kills += survive(&parties, &["--output", &output], 0, &mut random).kills;
        assert_eq!(parties.folder.read("shared"), lines(1000..3000));
    }
    // Over several streams, where something is opened in the end.
    let counts = [
        "--protocol",
        "rr22-circuit",
        "--output-kind",
        "count",
        "--parts",
        "23",
    ];
    let counts = [&counts[..], &["--threads", "2", "--wait", "30"]].concat();
    while kills < 10 {
        let parties = Parties::new(&counts);
        let survived = survive(&parties, &[], 3, &mut random);
        kills += survived.kills;
        // It may be killed when it has printed it, and before that is noted.
        let mut printed = survived.printed.lines();
        assert!(printed.all(|line| line == "2000") && !survived.printed.is_empty());
    }
}

/// Protocols against parties that cheat, in parts and in one run.
#[test]
fn ten_kills_lose_nothing_where_parties_may_cheat() {
    let mut random = Random(0x1234_5679);
    let mut kills = 0;
    let common = ["--threads", "2", "--wait", "30", "--protocol"];
    let in_parts = [&common[..], &["rr22-malicious", "--parts", "23"]].concat();
    let in_one = [&common[..], &["cm20-malicious-sender"]].concat();
    for (common, least) in [(&in_parts, 7), (&in_one, 10)] {
        while kills < least {
            let parties = Parties::new(common);
            let output = parties.folder.path("shared");
            kills += survive(&parties, &["--output", &output], 3, &mut random).kills;
            assert_eq!(parties.folder.read("shared"), lines(1000..3000));
        }
    }
}

struct Survived {
    kills: u32,
    /// The output of receivers.
    printed: String,
}

/// Kills parties and starts them again until one has ended. With several streams, up to `slack`
/// parts that both have done are not the same ones.
fn survive(parties: &Parties, receivers: &[&str], slack: u64, random: &mut Random) -> Survived {
    let start = |party: usize| match party {
        0 => parties.receiver(receivers),
        _ => parties.sender(&[]),
    };
    let mut running = [0, 1].map(|party| Some(start(party)));
    // The number of parts that both had done when each was started.
    let mut least = [0; 2];
    let (mut kills, mut printed) = (0, String::new());
    loop {
        thread::sleep(Duration::from_millis(random.below(700)));
        let victim = random.below(2) as usize;
        let killed = running[victim].take().unwrap();
        killed.signal("KILL");
        // Its lock is free when it has ended.
        let killed = killed.end();
        let done = ["receiver-job", "sender-job"].map(|job| parties.parts_done(job));
        running[victim] = Some(start(victim));
        let both = done[0].min(done[1]).saturating_sub(slack);
        goes_on_from(&killed, mem::replace(&mut least[victim], both));
        printed += &killed.stdout;
        if killed.code.is_some() {
            killed.says(0, &[]);
            break;
        }
        kills += 1;
    }
    let [receiver, sender] = running.map(|party| party.unwrap().end());
    goes_on_from(&receiver, least[0]);
    goes_on_from(&sender, least[1]);
    printed += &receiver.stdout;
    receiver.says(0, &[]);
    // It cannot know that the receiver has all, if it was killed before it heard so.
    if sender.code != Some(0) {
        sender.says(
            4,
            &["if the other side has its result, nothing is left to do"],
        );
    }
    assert_eq!(parties.status("receiver-job")["state"], "done");
    Survived { kills, printed }
}

/// Returns whether a party has run no part that both had done.
fn goes_on_from(party: &Ended, least: u64) {
    let begun: Vec<u64> = party.stderr.lines().filter_map(done_before).collect();
    assert!(begun.is_sorted(), "{begun:?}");
    assert!(
        begun.first().is_none_or(|first| *first >= least),
        "{begun:?}, {least}"
    );
}

/// Returns the number of done parts with which a job is resumed, if the line has it.
fn done_before(line: &str) -> Option<u64> {
    let (done, _) = line.strip_prefix("going on: ")?.split_once(' ')?;
    done.parse().ok()
}

/// Xorshift: when to kill whom.
struct Random(u32);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        u64::from(self.0) % bound
    }
}
