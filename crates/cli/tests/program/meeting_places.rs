//! `--relay`, `--via` and `--proxy`: where both sides go, and ways that lead there.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use crate::support::{Ended, Folder, PATIENCE, Process, Trust, lines, run, trust};

/// Two parties with tables of lines, of which they share the lines from 1,000 to 2,999.
struct Parties {
    folder: Folder,
    trust: Trust,
}

impl Parties {
    fn new() -> Self {
        let folder = Folder::new();
        let trust = trust(&folder);
        folder.file("mine", lines(0..3000));
        folder.file("theirs", lines(1000..5000));
        Self { folder, trust }
    }

    fn start(&self, role: &str, args: &[&str]) -> Process {
        let (own, input) = match role {
            "receive" => (&self.trust.receiver, "mine"),
            _ => (&self.trust.sender, "theirs"),
        };
        let own = own.each_ref().map(String::as_str);
        let input = self.folder.path(input);
        Process::start(&[&[role, "--input", &input], &own[..], args].concat())
    }

    /// Lets both join with these arguments.
    fn join(&self, args: &[&str]) -> [Ended; 2] {
        let [receiver, sender] = ["receive", "send"].map(|role| self.start(role, args));
        [receiver.end(), sender.end()]
    }
}

/// Asserts that the receiver has its rows, and that both say where they met.
#[track_caller]
fn assert_joined([receiver, sender]: &[Ended; 2], place: &str) {
    receiver.says(0, &["2,000 shared keys", "going to ", place]);
    sender.says(0, &["going to ", place]);
    assert_eq!(receiver.stdout, lines(1000..3000));
}

#[test]
fn parties_that_both_go_out_meet_at_a_relay() {
    let (_relay, address) = Process::listen("relay", &[]);
    let parties = Parties::new();
    let ended = parties.join(&["--relay", &address, "--wait", "60"]);
    assert_joined(&ended, &format!("the relay {address}"));
    // Without TLS, as behind a web server on its machine.
    let web = format!("ws://{address}/anything");
    let ended = parties.join(&["--relay", &web]);
    assert_joined(&ended, &format!("the relay {web}"));
}

#[test]
fn whoever_comes_first_to_a_relay_says_for_whom_it_waits_and_notices_when_it_comes() {
    let (_relay, address) = Process::listen("relay", &[]);
    let parties = Parties::new();
    let args = ["--relay", &*address];
    let mut receiver = parties.start("receive", &args);
    receiver.wait_for("the other party is not there yet");
    let sender = parties.start("send", &args);
    receiver.wait_for("connected to psi1-");
    assert_joined(&[receiver.end(), sender.end()], &address);
}

#[test]
fn a_relay_with_access_keys_wants_one() {
    let parties = Parties::new();
    let key = "5a".repeat(32);
    let keys = parties.folder.file("keys", format!("ann {key}\n"));
    let (_relay, address) = Process::listen("relay", &["--access", &keys]);
    let file = parties.folder.file("relay.key", format!("{key}\n"));
    let ended = parties.join(&["--relay", &address, "--relay-key", &file]);
    assert_joined(&ended, &address);
    let without = parties.start("receive", &["--relay", &address]);
    let without = without.end();
    without.says(2, &["access key", "--relay-key FILE"]);
    assert!(!without.stderr.contains(&key));
}

#[test]
fn parties_that_share_a_folder_alone_meet_in_it() {
    let parties = Parties::new();
    let shared = parties.folder.path("shared");
    fs::create_dir(&shared).unwrap();
    let ended = parties.join(&["--via", &shared]);
    assert_joined(&ended, "the folder ");
    let deadline = Instant::now() + PATIENCE;
    while !files(Path::new(&shared)).is_empty() {
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// After so many files have been seen.
#[test]
#[cfg(unix)]
fn after_a_kill_at_any_file_both_end_exactly_when_started_again() {
    for seen in [1, 3, 6, 10, 15] {
        for killed in ["receive", "send"] {
            let parties = Parties::new();
            let shared = parties.folder.path("shared");
            fs::create_dir(&shared).unwrap();
            let job = |role: &str| parties.folder.path(&format!("job-{role}"));
            let args =
                |job: &str| ["--via", &shared, "--job", job, "--parts", "3"].map(str::to_owned);
            let start = |role: &str| {
                let args = args(&job(role));
                parties.start(role, &args.each_ref().map(String::as_str))
            };
            let [receiver, sender] = ["receive", "send"].map(start);
            let mut known = std::collections::HashSet::new();
            let deadline = Instant::now() + Duration::from_secs(20);
            while known.len() < seen && Instant::now() < deadline {
                known.extend(files(Path::new(&shared)));
                thread::sleep(Duration::from_millis(1));
            }
            let (dies, stays) = match killed {
                "receive" => (receiver, sender),
                _ => (sender, receiver),
            };
            dies.signal("KILL");
            // The other may go on by itself, with the job, when this one is there again.
            let other = if killed == "receive" {
                "send"
            } else {
                "receive"
            };
            dies.end();
            let again = start(killed).end();
            let stays = stays.end();
            let [receiver, sender] = match killed {
                "receive" => [again, stays],
                _ => [stays, again],
            };
            let exact = |ended: &Ended| ended.code == Some(0);
            if !exact(&receiver) || !exact(&sender) {
                // Both are started again.
                let [one, two] = ["receive", "send"].map(start);
                one.end().says(0, &[]);
                two.end().says(0, &[]);
            } else {
                assert_eq!(
                    receiver.stdout,
                    lines(1000..3000),
                    "{seen} {killed} {other}"
                );
            }
        }
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let parties = Parties::new();
    let input = parties.folder.path("mine");
    for args in [
        &["--relay", "127.0.0.1:1", "--insecure-plaintext"][..],
        &["--via", "shared", "--insecure-plaintext"],
        &["--relay", "127.0.0.1:1", "--via", "shared"],
        &["--relay", "nonsense://x"],
        &[
            "--connect",
            "127.0.0.1:1",
            "--proxy",
            "socks5://ann:secret@p:1",
        ],
        &["--listen", "127.0.0.1:0", "--proxy", "http://p:1"],
        &["--connect", "127.0.0.1:1", "--relay-key", "relay.key"],
    ] {
        let ended = run(&[&["receive", "--input", &input], args].concat());
        ended.says(2, &[]);
        assert!(!ended.stderr.contains("secret"), "{ended:?}");
    }
}

#[test]
fn a_proxy_of_the_environment_is_used_unless_it_is_exempt() {
    let parties = Parties::new();
    let proxy = "http://127.0.0.1:1";
    let input = parties.folder.path("mine");
    let own = parties.trust.receiver.each_ref().map(String::as_str);
    let connect = |address: &str, exempt: &str| {
        let args = [
            &[
                "receive",
                "--input",
                &input,
                "--wait",
                "3",
                "--connect",
                address,
            ],
            &own[..],
        ]
        .concat();
        let process = Process::start_with(&args, |command| {
            command.env("https_proxy", proxy).env("no_proxy", exempt)
        });
        process.end()
    };
    connect("192.0.2.1:7", "").says(4, &["the proxy 127.0.0.1:", "cannot be reached"]);
    for (address, exempt) in [("192.0.2.1:7", "192.0.2.0/24"), ("127.0.0.1:1", "")] {
        let ended = connect(address, exempt);
        ended.says(4, &["nobody listened at"]);
        assert!(!ended.stderr.contains("the proxy"), "{ended:?}");
    }
}
