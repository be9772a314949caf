//! `--job`: a join that broke off goes on.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{Ended, Folder, Joined, Process, Trust, exists, join, lines, run, trust};

/// Two parties that keep jobs in parts.
struct Parties {
    folder: Folder,
    trust: Trust,
    address: String,
    receiver: Vec<String>,
    sender: Vec<String>,
}

impl Parties {
    /// Parties with these arguments beside those of who they are and where they meet.
    fn new(common: &[&str]) -> Self {
        let folder = Folder::new();
        let trust = trust(&folder);
        folder.file("mine", lines(0..3000));
        folder.file("theirs", lines(1000..5000));
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
        let party = |own: &[String; 4], input: &str, job: &str| {
            let rest =
                ["--input", &folder.path(input), "--job", &folder.path(job)].map(str::to_owned);
            let common = common.iter().map(|word| (*word).to_owned());
            own.iter().cloned().chain(rest).chain(common).collect()
        };
        Self {
            receiver: party(&trust.receiver, "mine", "receiver-job"),
            sender: party(&trust.sender, "theirs", "sender-job"),
            address: free.unwrap().to_string(),
            trust,
            folder,
        }
    }

    fn receiver(&self, more: &[&str]) -> Process {
        let own: Vec<&str> = self.receiver.iter().map(String::as_str).collect();
        Process::start(&[&["receive", "--listen", &self.address], &own[..], more].concat())
    }

    fn sender(&self, more: &[&str]) -> Process {
        let own: Vec<&str> = self.sender.iter().map(String::as_str).collect();
        Process::start(&[&["send", "--connect", &self.address], &own[..], more].concat())
    }

    fn join(&self, receiver: &[&str], sender: &[&str]) -> Joined {
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

    /// How many parts are done, if a job has begun.
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
    // Alone: nobody is met any more.
    fs::remove_file(&output).unwrap();
    parties
        .receiver(&["--output", &output])
        .end()
        .says(0, &["is done"]);
    parties.sender(&[]).end().says(0, &["is done"]);
    assert!(!exists(&output));
}

/// Each kind of output, with what its receiver prints.
#[test]
fn every_output_can_be_kept() {
    for (kind, printed) in [
        (&["--output-kind", "count"][..], "2000\n"),
        (&["--output-kind", "threshold:2000"], "reached\n"),
        (&["--min-intersection", "2000"], ""),
        (
            &["--output-kind", "count", "--min-intersection", "7"],
            "2000\n",
        ),
    ] {
        for parts in [&PARTS[..], &[]] {
            let parties = Parties::new(&[kind, parts].concat());
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
    let parties = Parties::new(&["--min-intersection", "2001", "--parts", "3"]);
    for _ in 0..2 {
        let joined = parties.join(&[], &[]);
        joined.receiver.says(6, &["fewer than 2,001 keys"]);
        joined.sender.says(6, &["fewer than 2,001 keys"]);
        assert_eq!(parties.status("receiver-job")["state"], "too few");
    }
}

/// The whole of what was computed is kept when it cannot be written.
#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_written_alone_later() {
    for parts in [&PARTS[..], &[]] {
        let parties = Parties::new(parts);
        let output = parties.folder.path("shared");
        // As a full disk: a file that may not grow. The job's own files are small.
        let listen = parties.receiver(&["--output", &output]);
        let sender = parties.sender(&[]);
        let (receiver, sender) = (listen, sender.end());
        sender.says(0, &[]);
        receiver.end().says(0, &[]);
        assert_eq!(parties.folder.read("shared"), lines(1000..3000));
    }
}
