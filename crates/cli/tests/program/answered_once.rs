//! `--job`: what was answered once is answered again only to the same question. One party is
//! honest; the other one has the same program, and forges its folder, drops what it should confirm,
//! and comes back with another table.

use std::{fs, ops::Range, path::Path};

use psijoin::Ledger;
use psijoin_job::{Job, Owner};
use psijoin_transport::Identity;
use serde_json::{Value, json};

use crate::{
    jobs::{LONG, Parties},
    line::{Cheat, join_without_receipt},
    support::{Ended, Folder, HOME, Process, exists, free_address, lines},
};

/// The honest party's message, which the cheat receives, too.
const REFUSED: &str = "this is not the set of the first attempt";

/// Makes a job folder that fits any table, where everything has begun and nothing is done: with the
/// secret of its owner, who is known by this identity, as the cheat has it, or without encryption.
fn forge(folder: &str, identity: Option<&str>) {
    let path = format!("{folder}/job");
    let mut job: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert!(!job["data"].as_array().unwrap().is_empty());
    for (field, value) in [
        ("data", json!([])),
        ("confirmed", json!(false)),
        ("signed", json!(false)),
        ("seal", json!("")),
    ] {
        job[field] = value;
    }
    let mut text = |seal: String| {
        job["seal"] = seal.into();
        // In the order in which the program writes it.
        let job: Job = serde_json::from_value(job.clone()).unwrap();
        serde_json::to_vec(&job).unwrap()
    };
    let unsealed = text(String::new());
    let salt = salt(&unsealed);
    let secret = identity.map_or([0; 32], |identity| {
        let identity = Identity::read(identity).unwrap();
        *identity.secret("psijoin 2026 what jobs are recognised by")
    });
    let owners = [&secret[..], salt.as_bytes()].concat();
    let owners = blake3::derive_key("psijoin 2026 job: key of the owner", &owners);
    let hashing = blake3::derive_key("psijoin 2026 job: hashing", &owners);
    let mut hasher = blake3::Hasher::new_keyed(&hashing);
    hasher.update(b"psijoin 2026 job: seal").update(&unsealed);
    fs::write(&path, text(hasher.finalize().to_hex().to_string())).unwrap();
    fs::write(format!("{folder}/results"), "").unwrap();
    unmark(folder);
    let owner = Owner {
        program: env!("CARGO_PKG_VERSION"),
        secret: &secret,
        marks: None,
    };
    let forged = psijoin_job::Folder::open(Path::new(folder), &owner).unwrap();
    for step in 0..forged.job().unwrap().steps {
        forged.results().unwrap().begin(step, &[]).unwrap();
    }
}

fn salt(job: &[u8]) -> String {
    let job: Value = serde_json::from_slice(job).unwrap();
    job["salt"].as_str().unwrap().to_owned()
}

/// Removes what tells that a folder is an old copy.
fn unmark(folder: &str) {
    let salt = salt(&fs::read(format!("{folder}/job")).unwrap());
    for mark in fs::read_dir(format!("{HOME}/jobs")).unwrap() {
        let mark = mark.unwrap();
        if mark.file_name().to_string_lossy().ends_with(&salt) {
            fs::remove_file(mark.path()).unwrap();
        }
    }
}

fn copy(folder: &Folder, from: &str, to: &str) {
    let (from, to) = (folder.path(from), folder.path(to));
    let _ = fs::remove_dir_all(&to);
    let made = std::process::Command::new("cp")
        .args(["-a", &from, &to])
        .status();
    assert!(made.unwrap().success());
}

/// The honest party has noticed, and the cheat has got nothing.
fn refused(honest: &Ended, cheat: &Ended) {
    honest.says(5, &[REFUSED]);
    cheat.says(5, &[REFUSED]);
    assert_eq!((&*honest.stdout, &*cheat.stdout), ("", ""));
}

/// Two parties that do not encrypt, so that a line may drop their messages.
struct Plain {
    folder: Folder,
    receiver: Vec<String>,
    sender: Vec<String>,
}

impl Plain {
    fn new([mine, theirs]: &[String; 2], common: &[&str]) -> Self {
        let folder = Folder::new();
        folder.file("mine", mine);
        folder.file("theirs", theirs);
        let party = |input: &str, job: &str| {
            let own = ["--input", &folder.path(input), "--job", &folder.path(job)];
            let plain = ["--insecure-plaintext", "--wait", "20", "--threads", "1"];
            let common = [common, &plain].concat();
            let words = own.iter().chain(&common);
            words.map(|word| (*word).to_owned()).collect()
        };
        Self {
            receiver: party("mine", "receiver-job"),
            sender: party("theirs", "sender-job"),
            folder,
        }
    }

    fn args(&self) -> [Vec<&str>; 2] {
        [&self.receiver, &self.sender].map(|args| args.iter().map(String::as_str).collect())
    }

    /// Starts the receiver or the sender again.
    fn party(&self, at: usize, address: &str) -> Process {
        let meeting = [
            ["receive", "--listen", address],
            ["send", "--connect", address],
        ];
        Process::start(&[&meeting[at][..], &self.args()[at]].concat())
    }

    /// Runs both again; they meet.
    fn again(&self) -> [Ended; 2] {
        let address = free_address();
        [0, 1].map(|at| self.party(at, &address)).map(Process::end)
    }
}

/// A party has its answer, never confirms it, and asks again for another table. Its true self loses
/// nothing.
fn asks_again(cheat: Cheat, common: &[&str], expected: &str) {
    let tables = [lines(0..300), lines(100..500)];
    asks_again_of(&tables, cheat, common, expected);
}

fn asks_again_of(tables: &[String; 2], cheat: Cheat, common: &[&str], expected: &str) {
    let parties = Plain::new(tables, common);
    let [receiver, sender] = parties.args();
    let joined = join_without_receipt(&receiver, &sender, cheat);
    let (table, job, at) = match cheat {
        Cheat::Receiver => ("mine", "receiver-job", 0),
        Cheat::Sender => ("theirs", "sender-job", 1),
    };
    let honest = &joined.both()[1 - at];
    honest.says(4, &["this side has "]);
    let folder = &parties.folder;
    copy(folder, job, "true-job");
    let true_table = folder.read(table);
    forge(&folder.path(job), None);
    // As many keys, others among them.
    folder.file(table, true_table.replace("word 2", "key 2"));
    let ended = parties.again();
    refused(&ended[1 - at], &ended[at]);
    assert!(!exists(&folder.path("shared")));

    folder.file(table, true_table);
    copy(folder, "true-job", job);
    // It may need the other one, if that has not confirmed either.
    let [itself, _] = match cheat {
        Cheat::Receiver => parties.again(),
        Cheat::Sender => {
            let [receiver, sender] = parties.again();
            [sender, receiver]
        }
    };
    assert_eq!(itself.says(0, &[]).stdout, expected);
}

#[test]
fn a_receiver_gets_no_second_set_of_rows() {
    for (protocol, parts) in [("dh", "3"), ("rr22", "2"), ("rr22-malicious", "2")] {
        let common = ["--protocol", protocol, "--parts", parts];
        asks_again(Cheat::Receiver, &common, &lines(100..300));
    }
    for protocol in ["kkrt", "cm20-malicious-sender"] {
        asks_again(Cheat::Receiver, &["--protocol", protocol], &lines(100..300));
    }
}

/// The difference of two counts would tell single memberships.
#[test]
fn a_receiver_gets_no_second_count() {
    for parts in [&["--parts", "2"][..], &[]] {
        let count = ["--protocol", "rr22-circuit", "--output-kind", "count"];
        asks_again(Cheat::Receiver, &[&count, parts].concat(), "200\n");
    }
    let count = ["--protocol", "dh", "--output-kind", "count"];
    asks_again(Cheat::Receiver, &count, "200\n");
}

/// Counts by a column of the receiver's.
const GROUPS: [&str; 8] = [
    "--key",
    "id",
    "--delimiter",
    ",",
    "--output-kind",
    "counts",
    "--group-by",
    "receiver.segment",
];

/// Returns tables that share 100 keys of either segment.
fn grouped() -> [String; 2] {
    let table = |ids: Range<u32>, name: &str| {
        let rows = ids.map(|id| format!("word {id},{name}{}\n", id % 2));
        format!("id,{name}\n{}", rows.collect::<String>())
    };
    [table(0..300, "segment"), table(100..500, "plan")]
}

/// Nor two answers of groups, which would tell of each key in which group it is.
#[test]
fn a_receiver_gets_no_second_counts_of_groups() {
    let counts = "receiver.segment,shared_keys,withheld\nsegment0,100,false\nsegment1,100,false\n";
    let common = [&GROUPS[..], &["--min-group", "2", "--parts", "2"]].concat();
    asks_again_of(&grouped(), Cheat::Receiver, &common, counts);
}

/// The mean of many draws would have less noise than one. A receiver that was killed before it kept
/// its answer gets the same one, to the last digit.
#[test]
fn a_receiver_gets_no_second_draw_of_noise() {
    for parts in [&["--parts", "2"][..], &[]] {
        let noise = ["--noise", "laplace:epsilon=0.01"];
        let parties = Plain::new(&grouped(), &[&GROUPS[..], &noise, parts].concat());
        let [receiver, sender] = parties.args();
        let joined = join_without_receipt(&receiver, &sender, Cheat::Receiver);
        joined.sender.says(4, &["this side has done what it could"]);
        let folder = &parties.folder;
        copy(folder, "receiver-job", "whole");
        let alone = parties.party(0, "127.0.0.1:0").end();
        alone.says(0, &["the other party is not needed any more"]);
        copy(folder, "whole", "receiver-job");
        unmark(&folder.path("receiver-job"));
        forget_the_answer(&folder.path("receiver-job"));
        let [again, sender] = parties.again();
        sender.says(0, &[]);
        assert_eq!(again.says(0, &[]).stdout, alone.stdout);
    }
}

/// Cuts off the last of what a job has kept: the result of its last step.
fn forget_the_answer(folder: &str) {
    let path = format!("{folder}/results");
    let records = fs::read(&path).unwrap();
    let mut ends = vec![0];
    while let Some(record) = records[ends[ends.len() - 1]..].first_chunk() {
        let sealed = u32::from_le_bytes(*record) as usize;
        ends.push(ends[ends.len() - 1] + 8 + sealed);
    }
    assert_eq!(ends.pop(), Some(records.len()));
    fs::write(&path, &records[..ends[ends.len() - 1]]).unwrap();
}

/// If both learn, each confirms to the other, and each may cheat.
#[test]
fn nobody_gets_a_second_answer_where_both_learn() {
    for cheat in [Cheat::Receiver, Cheat::Sender] {
        let both = ["--learn", "both", "--protocol", "rr22", "--parts", "2"];
        asks_again(cheat, &both, &lines(100..300));
        let both = ["--learn", "both", "--protocol", "rr22-malicious"];
        asks_again(cheat, &both, &lines(100..300));
    }
}

/// In the middle of a job, by either party, with terms and a record: nothing is signed that was not
/// so.
#[test]
fn a_job_that_broke_off_goes_on_with_the_same_only() {
    let mut parties = Parties::new(&LONG);
    let terms = parties.folder.file("terms", "we compare once\n");
    let records = ["ours.json", "theirs.json"].map(|name| parties.folder.path(name));
    parties.record(&records[0], &records[1]);
    for party in [&mut parties.receiver, &mut parties.sender] {
        party.extend(["--terms".to_owned(), terms.clone()]);
    }
    parties.break_off();
    for (cheat, table, job) in [(0, "mine", "receiver-job"), (1, "theirs", "sender-job")] {
        let identity = match cheat {
            0 => &parties.trust.receiver[1],
            _ => &parties.trust.sender[1],
        };
        copy(&parties.folder, job, "true-job");
        let true_table = parties.folder.read(table);
        forge(&parties.folder.path(job), Some(identity));
        parties
            .folder
            .file(table, true_table.replace("word 2", "key 2"));
        let ended = parties.join(&[], &[]).both();
        refused(&ended[1 - cheat], &ended[cheat]);
        assert!(!records.iter().any(|record| exists(record)));
        copy(&parties.folder, "true-job", job);
        unmark(&parties.folder.path(job));
        parties.folder.file(table, true_table);
    }
    parties.goes_on();
    assert!(records.iter().all(|record| exists(record)));
}

/// A folder is its owner's: whoever edits it without the owner's secret is noticed at once.
#[test]
fn an_edited_folder_is_noticed() {
    let parties = Parties::new(&LONG);
    parties.break_off();
    let path = parties.folder.path("receiver-job/job");
    let whole = fs::read(&path).unwrap();
    let mut job: Value = serde_json::from_slice(&whole).unwrap();
    job["data"] = json!([]);
    fs::write(&path, job.to_string()).unwrap();
    parties
        .receiver(&[])
        .end()
        .says(3, &["is damaged (`job` is not what was written)"]);
    fs::write(&path, whole).unwrap();
    parties.goes_on();
}
