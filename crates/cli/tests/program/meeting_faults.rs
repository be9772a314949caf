//! Meetings with a fault: the same ones over TCP, at a relay and in a folder. Both sides hear what
//! is wrong. Linux only, as parties have clocks of their own.

use std::{
    fs,
    process::{Command, Stdio},
    sync::OnceLock,
};

use crate::{
    inviting::{Party, parties},
    support::{Ended, Folder, Process, free_address, lines},
    valve::Valve,
};

/// The ways to meet, as options.
const WAYS: [&str; 3] = ["--listen", "--relay", "--via"];

/// Parties that meet in one way.
struct Meeting {
    way: &'static str,
    folder: Folder,
    relay: Option<(Process, String)>,
    address: String,
}

impl Meeting {
    fn by(way: &'static str) -> Self {
        let folder = Folder::new();
        fs::create_dir(folder.path("shared")).unwrap();
        folder.file("table", lines(0..9));
        Self {
            way,
            folder,
            relay: (way == "--relay").then(|| Process::listen("relay", &[])),
            address: free_address(),
        }
    }

    fn parties<const N: usize>(&self, names: [&str; N]) -> [Party; N] {
        parties(&self.folder, names)
    }

    /// Returns where a party is met, as it says so; the first listens, if one does.
    fn place(&self, party: usize) -> [String; 2] {
        let (option, place) = match (&self.relay, self.way) {
            (Some((_, address)), _) => ("--relay", address.clone()),
            (None, "--via") => ("--via", self.folder.path("shared")),
            (None, _) => (["--listen", "--connect"][party], self.address.clone()),
        };
        [option.to_owned(), place]
    }

    fn invites(&self, ann: &Party, name: &str) -> String {
        let [option, place] = self.place(0);
        ann.prints(&["invite", name, "--as", "ann", &option, &place])
    }

    fn accepts(&self, bob: &Party, link: &str) {
        let via = match self.place(1) {
            [option, place] if option == "--via" => vec![option, place],
            _ => Vec::new(),
        };
        let via: Vec<_> = via.iter().map(String::as_str).collect();
        bob.prints(&[&["accept", link], &via[..]].concat());
    }

    /// Returns two parties that know each other by an invitation which nobody has used yet.
    fn invited(&self) -> [Party; 2] {
        let [ann, bob] = self.parties(["ann", "bob"]);
        let link = self.invites(&ann, "bob");
        self.accepts(&bob, &link);
        [ann, bob]
    }

    /// Starts a join by name, where both are known to meet.
    fn joins(&self, party: &Party, role: &str, peer: &str, clock: i64) -> Process {
        let input = self.folder.path("table");
        let args = [role, "--peer", peer, "--input", &input, "--wait", "80"];
        party.start_at(&args, clock)
    }

    /// Lets both join, the first of whom receives, with these clocks.
    fn join(&self, [ann, bob]: [&Party; 2], clocks: [i64; 2]) -> [Ended; 2] {
        let receives = self.joins(ann, "receive", "bob", clocks[0]);
        let sends = self.joins(bob, "send", "ann", clocks[1]);
        [receives.end(), sends.end()]
    }

    /// Lets somebody come who is turned away, with these clocks. Returns what the party that waits
    /// says of it, and the end of the other.
    fn turned_away(&self, [ann, bob]: [&Party; 2], clocks: [i64; 2]) -> (String, Ended) {
        let mut receives = self.joins(ann, "receive", "bob", clocks[0]);
        let sends = self.joins(bob, "send", "ann", clocks[1]).end();
        let told = receives.wait_for("turned away");
        receives.signal("INT");
        receives.end();
        (told, sends)
    }

    /// Starts a join with a party that is known by its fingerprint.
    fn joins_by_key(&self, (party, at): (&Party, usize), role: &str, peers: &[&str]) -> Process {
        self.joins_by_key_at((party, at), role, peers, 0)
    }

    fn joins_by_key_at(
        &self,
        (party, at): (&Party, usize),
        role: &str,
        peers: &[&str],
        clock: i64,
    ) -> Process {
        let ([option, place], input) = (self.place(at), self.folder.path("table"));
        let args = [role, "--input", &input, "--wait", "80", &option, &place];
        let peers = peers.iter().flat_map(|peer| ["--peer", peer]);
        let args: Vec<_> = args.into_iter().chain(peers).collect();
        party.start_at(&args, clock)
    }
}

const HOUR: i64 = 3600;

impl Party {
    /// Starts the program with a clock that is so many seconds ahead.
    fn start_at(&self, args: &[&str], clock: i64) -> Process {
        Process::start_with(args, |command| {
            let piped = command.stdin(Stdio::null()).stdout(Stdio::piped());
            piped.env("PSIJOIN_HOME", &self.0);
            match clock {
                0 => piped,
                ahead => piped
                    .env("LD_PRELOAD", other_clock())
                    .env("PSIJOIN_TEST_CLOCK_AHEAD", ahead.to_string()),
            }
        })
    }
}

/// Returns a library that gives a program another clock. It is made from `other_clock.rs`, once.
fn other_clock() -> &'static str {
    static LIBRARY: OnceLock<String> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/other_clock.rs");
        let library = format!(
            "{}/other_clock_{}.so",
            env!("CARGO_TARGET_TMPDIR"),
            std::process::id()
        );
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut command = Command::new(compiler);
        command.args(["--edition", "2024", "--crate-type", "cdylib", "-o"]);
        let made = command.args([&*library, source]).status();
        assert!(made.unwrap().success());
        library
    })
}

#[test]
fn clocks_may_be_an_hour_apart() {
    for way in WAYS {
        for clocks in [[HOUR, 0], [0, HOUR]] {
            let meeting = Meeting::by(way);
            let [ann, bob] = meeting.invited();
            for told in ["from now on you know each other", ""] {
                for ended in meeting.join([&ann, &bob], clocks) {
                    ended.says(0, &[told]);
                }
            }
            // Whoever replaces its key may do so in the future.
            for party in [&ann, &bob] {
                let replaces = party.start_at(&["keygen", "--replace"], HOUR);
                replaces.end().says(0, &[]);
            }
            let [received, sent] = meeting.join([&ann, &bob], clocks);
            received.says(0, &["bob has replaced its key"]);
            sent.says(0, &["ann has replaced its key"]);
        }
    }
}

/// The inviter's clock decides.
#[test]
fn an_invitation_that_is_over_is_told_on_both_sides() {
    for way in WAYS {
        let meeting = Meeting::by(way);
        let [ann, bob] = meeting.invited();
        let (told, sent) = meeting.turned_away([&ann, &bob], [25 * HOUR, 0]);
        assert!(told.contains("was good until"), "{told}");
        sent.says(5, &["was good until", "ask for a new one"]);
        // The guest's may be ahead.
        for ended in meeting.join([&ann, &bob], [0, 25 * HOUR]) {
            ended.says(0, &["from now on you know each other"]);
        }
    }
}

#[test]
fn a_stolen_link_is_told_on_both_sides() {
    for way in WAYS {
        let meeting = Meeting::by(way);
        let [ann, bob, thief] = meeting.parties(["ann", "bob", "thief"]);
        let link = meeting.invites(&ann, "bob");
        meeting.accepts(&bob, &link);
        meeting.accepts(&thief, &link);
        for ended in meeting.join([&ann, &bob], [0, 0]) {
            ended.says(0, &["from now on you know each other"]);
        }
        let (told, second) = meeting.turned_away([&ann, &thief], [0, 0]);
        for fingerprint in [&bob, &thief].map(|party| party.prints(&["fingerprint"])) {
            assert!(told.contains(&fingerprint), "{told}");
            second.says(5, &["was used before, on ", &fingerprint]);
        }
        // That changes nothing for the guest.
        for ended in meeting.join([&ann, &bob], [0, 0]) {
            ended.says(0, &[]);
        }
    }
}

/// Another link was made since, as when it was changed on its way: where both go, they find each
/// other by it, so each waits in vain.
#[test]
fn another_link_is_told() {
    for way in WAYS {
        let meeting = Meeting::by(way);
        let [ann, bob] = meeting.invited();
        meeting.invites(&ann, "bob");
        if way == "--listen" {
            let (told, sent) = meeting.turned_away([&ann, &bob], [0, 0]);
            assert!(told.contains("another invitation"), "{told}");
            sent.says(5, &["ask for a new one"]);
            continue;
        }
        let input = meeting.folder.path("table");
        let joins = |party: &Party, role, peer| {
            party.start(&[role, "--peer", peer, "--input", &input, "--wait", "1"])
        };
        let receives = joins(&ann, "receive", "bob");
        let sends = joins(&bob, "send", "ann");
        for ended in [receives, sends].map(Process::end) {
            ended.says(4, &["changed on its way, make a new one"]);
        }
    }
}

#[test]
fn two_who_both_receive_are_told() {
    for way in WAYS {
        let meeting = Meeting::by(way);
        let [ann, bob] = meeting.invited();
        let both = [(&ann, "bob"), (&bob, "ann")];
        let both = both.map(|(party, peer)| meeting.joins(party, "receive", peer, 0));
        for ended in both.map(Process::end) {
            ended.says(5, &["both"]);
        }
    }
}

/// Before, within and after the overlap, by fingerprints.
#[test]
fn a_replaced_key_is_found_by_the_old_fingerprint() {
    for way in WAYS {
        for replaces in [0, 1] {
            let meeting = Meeting::by(way);
            let [ann, bob] = meeting.parties(["ann", "bob"]);
            let both = [&ann, &bob];
            let known = both.map(|party| party.prints(&["fingerprint"]));
            let join = |clocks: [i64; 2]| {
                let receives = (&ann, 0);
                let receives =
                    meeting.joins_by_key_at(receives, "receive", &[&known[1]], clocks[0]);
                let sends = meeting.joins_by_key_at((&bob, 1), "send", &[&known[0]], clocks[1]);
                [receives, sends]
            };
            for ended in join([0, 0]).map(Process::end) {
                ended.says(0, &[]);
            }
            let new = both[replaces].prints(&["keygen", "--replace", "--overlap", "7d"]);
            let [received, sent] = join([0, 0]).map(Process::end);
            let (knows, has) = match replaces {
                0 => (sent, received),
                _ => (received, sent),
            };
            knows.says(0, &["has replaced its key", &new]);
            has.says(0, &["whoever knows you by that"]);
            // The clock of the one that pins decides.
            let mut clocks = [8 * 24 * HOUR; 2];
            clocks[replaces] = 0;
            let mut running = join(clocks);
            let told = running[1 - replaces].wait_for("could take the new one over ended");
            assert!(told.contains(&new), "{told}");
            running[replaces].wait_for("refused this side's identity");
            for process in running {
                process.signal("INT");
                process.end();
            }
        }
    }
}

#[test]
fn one_of_several_is_met() {
    for way in WAYS {
        let meeting = Meeting::by(way);
        let [ann, bob, carol] = meeting.parties(["ann", "bob", "carol"]);
        let [anns, bobs, carols] = [&ann, &bob, &carol].map(|it| it.prints(&["fingerprint"]));
        for (other, key) in [(&bob, &bobs), (&carol, &carols)] {
            let receives = meeting.joins_by_key((&ann, 0), "receive", &[&bobs, &carols]);
            let sends = meeting.joins_by_key((other, 1), "send", &[&anns]);
            receives.end().says(0, &[&format!("connected to {key}")]);
            sends.end().says(0, &[&format!("connected to {anns}")]);
        }
    }
}

/// Starts two parties of which the second goes to a relay through a valve, which shuts in
/// mid-session.
fn half_way(meeting: &Meeting, relay: &str, job: bool) -> ([Process; 2], Valve) {
    let [ann, bob] = meeting.parties(["ann", "bob"]);
    let keys = [&ann, &bob].map(|party| party.prints(&["fingerprint"]));
    meeting.folder.file("table", lines(0..3000));
    let valve = Valve::before(relay, 40_000);
    let input = meeting.folder.path("table");
    let start = |party: &Party, role: &str, peer: &str, relay: &str| {
        let own_job = meeting.folder.path(&format!("job-{role}"));
        let mut args = vec![role, "--peer", peer, "--relay", relay, "--input", &input];
        args.extend(["--wait", "80"]);
        if job {
            args.extend(["--job", &own_job]);
        }
        party.start(&args)
    };
    let running = [
        start(&ann, "receive", &keys[1], relay),
        start(&bob, "send", &keys[0], valve.address()),
    ];
    valve.wait();
    (running, valve)
}

#[test]
fn a_relay_that_is_stopped_in_mid_session_is_told_on_both_sides() {
    let (relay, address) = Process::listen("relay", &[]);
    let meeting = Meeting::by("");
    let (running, valve) = half_way(&meeting, &address, false);
    relay.signal("KILL");
    relay.end();
    valve.cut();
    for ended in running.map(Process::end) {
        ended.says(4, &["the relay"]);
    }
}

#[test]
fn a_job_goes_on_at_a_relay_that_is_started_again() {
    let address = free_address();
    let start = || {
        let mut relay = Process::start(&["relay", "--listen", &address]);
        relay.wait_for("listening on ");
        relay
    };
    let relay = start();
    let meeting = Meeting::by("");
    let (running, valve) = half_way(&meeting, &address, true);
    relay.signal("KILL");
    relay.end();
    let _relay = start();
    valve.cut();
    let [received, sent] = running.map(Process::end);
    assert_eq!(received.says(0, &[]).stdout, lines(0..3000));
    sent.says(0, &[]);
}
