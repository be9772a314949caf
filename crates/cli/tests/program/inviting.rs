//! Two parties that know each other by name, from the invitation on.

use std::{fs, process::Stdio};

use serde_json::Value;

use crate::support::{Ended, Folder, Process, free_address};

/// A party with a folder of its own for its identity.
pub(crate) struct Party(pub(crate) String);

impl Party {
    pub(crate) fn start(&self, args: &[&str]) -> Process {
        Process::start_with(args, |command| {
            let piped = command.stdin(Stdio::null()).stdout(Stdio::piped());
            piped.env("PSIJOIN_HOME", &self.0)
        })
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.start(args).end()
    }

    /// Runs the program, and returns its output.
    #[track_caller]
    pub(crate) fn prints(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        ended.says(0, &[]);
        ended.stdout.trim().to_owned()
    }

    /// Returns what this one keeps of the party with this name.
    pub(crate) fn known(&self, name: &str) -> Value {
        serde_json::from_str(&self.prints(&["peers", "show", name, "--json"])).unwrap()
    }
}

pub(crate) fn parties<const N: usize>(folder: &Folder, names: [&str; N]) -> [Party; N] {
    names.map(|name| Party(folder.path(name)))
}

/// Lets two parties join by name; the first receives.
pub(crate) fn join(parties: [&Party; 2], names: [&str; 2], table: &str) -> [Ended; 2] {
    join_with(parties, names, table, &[])
}

/// Lets two parties join by name, with more options.
pub(crate) fn join_with(
    [ann, bob]: [&Party; 2],
    [anns, bobs]: [&str; 2],
    table: &str,
    options: &[&str],
) -> [Ended; 2] {
    let common = [&["--wait", "20", "--input", table], options].concat();
    let receives = ann.start(&[&["receive", "--peer", anns], &common[..]].concat());
    let sends = bob.start(&[&["send", "--peer", bobs], &common[..]].concat());
    [receives.end(), sends.end()]
}

#[test]
fn five_commands_from_an_invitation_to_a_result() {
    let folder = Folder::new();
    let [ann, bob] = parties(&folder, ["ann", "bob"]);
    let table = folder.file("table", "x\ny\n");
    let address = free_address();
    let link = ann.prints(&["invite", "bob", "--listen", &address, "--as", "ann"]);
    let accepted = bob.run(&["accept", &link]);
    accepted.says(0, &["ann is the party with the fingerprint psi1-"]);
    assert_eq!(ann.known("bob")["state"], "invited");
    assert_eq!(bob.known("ann")["state"], "accepted");

    let [received, sent] = join([&ann, &bob], ["bob", "ann"], &table);
    received.says(0, &["bob is psi1-", "from now on you know each other"]);
    sent.says(0, &["ann is psi1-", "from now on you know each other"]);
    assert_eq!(received.stdout, "x\ny\n");
    let (of_bob, of_ann) = (ann.known("bob"), bob.known("ann"));
    assert_eq!([&of_bob["state"], &of_ann["state"]], ["known", "known"]);
    assert_eq!(of_bob["fingerprint"], bob.prints(&["fingerprint"]));
    assert_eq!(of_ann["fingerprint"], ann.prints(&["fingerprint"]));

    // The second time, there is no news.
    let [received, sent] = join([&ann, &bob], ["bob", "ann"], &table);
    for ended in [received, sent] {
        ended.says(0, &[]);
        assert!(!ended.stderr.contains("from now on"), "{ended:#?}");
    }
}

/// In five commands: the second tutorial of the README.
#[test]
fn parties_that_both_dial_out_get_from_a_relay_and_an_invitation_to_a_result() {
    let folder = Folder::new();
    let [ann, bob] = parties(&folder, ["ann", "bob"]);
    let table = folder.file("table", "x\ny\n");
    let (_relay, address) = Process::listen("relay", &[]);
    let link = ann.prints(&["invite", "bob", "--relay", &address, "--as", "ann"]);
    bob.prints(&["accept", &link]);
    let [received, sent] = join([&ann, &bob], ["bob", "ann"], &table);
    received.says(0, &["to meet bob", "bob is psi1-", "you know each other"]);
    sent.says(0, &["to meet ann", "ann is psi1-", "you know each other"]);
    assert_eq!(received.stdout, "x\ny\n");

    // From now on, they meet under another name, also where the parts of both are swapped; and
    // behind a web server, if it is said.
    let [received, sent] = join([&bob, &ann], ["ann", "bob"], &table);
    for ended in [received, sent] {
        ended.says(0, &["the relay "]);
        assert!(!ended.stderr.contains("from now on"), "{ended:#?}");
    }
    let web = ["--relay", &format!("ws://{address}/")];
    for ended in join_with([&ann, &bob], ["bob", "ann"], &table, &web) {
        ended.says(0, &[&format!("ws://{address}/")]);
    }

    // Both want to receive. They meet, and are told so.
    let receives = ["receive", "--wait", "20", "--input", &table];
    let both = [(&ann, "bob"), (&bob, "ann")]
        .map(|(party, peer)| party.start(&[&receives[..], &["--peer", peer]].concat()));
    for ended in both.map(Process::end) {
        ended.says(5, &["both"]);
    }

    // A key is replaced, and the link comes to light.
    let [old, new] = [&["fingerprint"][..], &["keygen", "--replace"]].map(|args| bob.prints(args));
    let [received, sent] = join([&ann, &bob], ["bob", "ann"], &table);
    received.says(0, &["bob has replaced its key", &old, &new]);
    sent.says(0, &[]);
    let [thief] = parties(&folder, ["thief"]);
    thief.prints(&["accept", &link]);
    let [received, sent] = join([&ann, &thief], ["bob", "ann"], &table);
    let of_thief = thief.prints(&["fingerprint"]);
    received.says(4, &["turned away", &of_thief]);
    sent.says(5, &["was used before, on ", &old, &of_thief]);
}

#[test]
fn parties_that_share_a_folder_get_from_an_invitation_to_a_result() {
    let folder = Folder::new();
    let [ann, bob] = parties(&folder, ["ann", "bob"]);
    let table = folder.file("table", "x\ny\n");
    let shared = folder.path("shared");
    std::fs::create_dir(&shared).unwrap();
    let link = ann.prints(&["invite", "bob", "--via", &shared, "--as", "ann"]);
    bob.prints(&["accept", &link, "--via", &shared]);
    for _ in 0..2 {
        let [received, sent] = join([&ann, &bob], ["bob", "ann"], &table);
        received.says(0, &["the folder "]);
        sent.says(0, &["the folder "]);
        assert_eq!(received.stdout, "x\ny\n");
    }
}

#[test]
fn whoever_waits_at_a_relay_with_access_keys_shows_one() {
    let folder = Folder::new();
    let [ann, bob] = parties(&folder, ["ann", "bob"]);
    let key = "5a".repeat(32);
    let keys = folder.file("keys", format!("both {key}\n"));
    let (_relay, address) = Process::listen("relay", &["--access", &keys]);
    let invite = [
        "invite", "bob", "--as", "ann", "--relay", &address, "--wait",
    ];
    ann.run(&invite)
        .says(2, &["access key", "--relay-key FILE"]);
    let missing = folder.path("missing");
    let unreadable = ann.run(&[&invite[..], &["--relay-key", &missing]].concat());
    unreadable.says(2, &["missing cannot be read"]);
    assert_eq!(unreadable.stdout, "");

    let shows = ["--relay-key", &folder.file("relay.key", &key)];
    let link = fs::File::create(folder.path("link")).unwrap();
    let mut inviting = Process::start_with(&[&invite[..], &shows].concat(), |command| {
        let piped = command.stdin(Stdio::null()).stdout(link);
        piped.env("PSIJOIN_HOME", &ann.0)
    });
    inviting.wait_for("to meet bob");
    let link = folder.read("link");
    let accepting = bob.start(&[&["accept", link.trim(), "--wait"], &shows[..]].concat());
    for ended in [inviting.end(), accepting.end()] {
        ended.says(0, &["from now on you know each other"]);
        assert!(!ended.stderr.contains(&key));
    }
}

#[test]
fn who_comes_second_with_a_link_is_told_and_so_is_the_inviter() {
    let folder = Folder::new();
    let [ann, bob, thief] = parties(&folder, ["ann", "bob", "thief"]);
    let table = folder.file("table", "x\n");
    let address = free_address();
    let link = ann.prints(&["invite", "bob", "--listen", &address]);
    for party in [&bob, &thief] {
        party.prints(&["accept", &link, "--as", "ann"]);
    }
    for ended in join([&ann, &bob], ["bob", "ann"], &table) {
        ended.says(0, &[]);
    }
    let [of_bob, of_thief] = [&bob, &thief].map(|party| party.prints(&["fingerprint"]));
    let [received, sent] = join([&ann, &thief], ["bob", "ann"], &table);
    received.says(4, &["turned away", &of_bob, &of_thief]);
    sent.says(5, &["was used before, on ", &of_bob, &of_thief]);
    let invitation = &ann.known("bob")["invitation"];
    assert_eq!(invitation["used"]["by"], of_bob);
    assert_eq!(invitation["turned_away"]["by"], of_thief);
}

#[test]
fn a_replaced_key_is_taken_over_and_both_say_so() {
    let folder = Folder::new();
    let [ann, bob] = parties(&folder, ["ann", "bob"]);
    let table = folder.file("table", "x\n");
    let address = free_address();
    let link = ann.prints(&["invite", "bob", "--listen", &address]);
    bob.prints(&["accept", &link, "--as", "ann"]);
    join([&ann, &bob], ["bob", "ann"], &table);
    let old = bob.prints(&["fingerprint"]);
    let new = bob.prints(&["keygen", "--replace", "--overlap", "7d"]);
    assert_ne!(old, new);
    let [received, sent] = join([&ann, &bob], ["bob", "ann"], &table);
    received.says(0, &["bob has replaced its key", &old, &new]);
    sent.says(0, &["has replaced", &old, &new]);
    assert_eq!(ann.known("bob")["fingerprint"], new);
    assert_eq!(ann.known("bob")["replaced"][0]["fingerprint"], old);
}

#[test]
fn names_and_places_are_asked_for() {
    let folder = Folder::new();
    let [ann] = parties(&folder, ["ann"]);
    let table = folder.file("table", "x\n");
    let nobody = ann.run(&["receive", "--peer", "bob", "--input", &table]);
    nobody.says(2, &["you know nobody by the name bob"]);
    let fingerprint = "psi1-qcnk-zb81-14cx-f6m3-a530-c9p1-s3kq";
    let nowhere = ann.run(&["receive", "--peer", fingerprint, "--input", &table]);
    nowhere.says(2, &["say where the parties meet"]);
    let damaged = ann.run(&["accept", "psijoin:1:0000", "--as", "bob"]);
    damaged.says(2, &["copy all of it, or ask for it again"]);
}

#[test]
fn a_profile_sets_what_the_command_line_does_not() {
    let folder = Folder::new();
    let table = folder.file("table.csv", "id\nx\n");
    let address = free_address();
    let profile = format!("listen = \"{address}\"\nkey = \"id\"\noutput-kind = \"count\"\n");
    let profile = folder.file("weekly.toml", profile);
    let [ann, bob] = parties(&folder, ["ann", "bob"]);
    let common = ["--insecure-plaintext", "--input", &table];
    let with = [
        &["receive", "--profile", &profile, "--report", "-"],
        &common[..],
    ]
    .concat();
    let receives = ann.start(&with);
    let without = [
        "send",
        "--connect",
        &address,
        "--key",
        "id",
        "--output-kind",
        "count",
    ];
    let sends = bob.start(&[&without, &common[..]].concat());
    let received = receives.end();
    received.says(0, &["weekly.toml sets --key=id, --listen="]);
    sends.end().says(0, &[]);
    let report: Value = serde_json::from_str(&received.stdout).unwrap();
    assert_eq!(report["profile"]["set"][0], "--key=id");
    let wrong = folder.file("wrong.toml", "kye = \"id\"\n");
    let refused = ann.run(&["receive", "--profile", &wrong, "--input", &table]);
    refused.says(3, &["`kye` is no option of `psijoin receive`"]);
}
