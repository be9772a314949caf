//! `psijoin jobs`: how far a job is.

use std::collections::BTreeMap;

use jiff::Timestamp;
use psijoin_job::{Ended, Folder, Status, Term};
use psijoin_printable::Escaped;
use serde::Serialize;

use crate::{args, exit::Failure, humanize, output};

pub(super) fn run(args: &args::Jobs) -> Result<(), Failure> {
    let status = Folder::status(&args.folder)?;
    match args.json {
        true => {
            let folder = args.folder.to_string_lossy().into_owned();
            output::json(&Shown::new(folder, &status))
        }
        false => output::text(&text(&psijoin_printable::path(&args.folder), &status)),
    }
}

/// The output of `--json`.
#[derive(Serialize)]
struct Shown {
    folder: String,
    /// `under way`, `failed` if it cannot go on, `done`, or `too few` if fewer keys are shared than
    /// `--min-intersection` demands.
    state: &'static str,
    /// The settings that must not change when it is resumed, as far as they can be shown.
    terms: BTreeMap<String, String>,
    protocol: String,
    sender_keys: u64,
    receiver_keys: u64,
    begun: Option<String>,
    last_changed: Option<String>,
    parts: u32,
    parts_done: u32,
    /// Of this side; parts that only one side has done run again.
    bytes_left: u64,
    /// The command that resumes the job. `null` if nothing is left to do.
    command: Option<String>,
}

impl Shown {
    fn new(folder: String, status: &Status) -> Self {
        let job = &status.job;
        let shown = job.terms.iter().filter(|term| !term.secret);
        let term = |term: &Term| (term.name.clone(), term.value.clone());
        let [sender_keys, receiver_keys] = job.items;
        Self {
            folder,
            state: match job.ended {
                None if status.is_spoilt => "failed",
                None => "under way",
                Some(Ended::Done) => "done",
                Some(Ended::TooFew) => "too few",
            },
            terms: shown.map(term).collect(),
            protocol: job.protocol.clone(),
            sender_keys,
            receiver_keys,
            begun: time(job.begun),
            last_changed: time(status.changed),
            parts: job.parts,
            parts_done: status.parts_done,
            bytes_left: bytes_left(status),
            command: status.command.clone(),
        }
    }
}

fn bytes_left(status: &Status) -> u64 {
    let job = &status.job;
    let [of_a_part, of_the_end] = job.bytes;
    let parts = u64::from(job.parts - status.parts_done);
    match job.ended.is_some() || status.done == job.steps {
        true => 0,
        false => parts * of_a_part + of_the_end,
    }
}

fn text(folder: &str, status: &Status) -> String {
    let job = &status.job;
    let mut lines = vec![match job.ended {
        None if status.is_spoilt => {
            format!("{folder}: failed, and cannot go on: begin anew on both sides with new folders")
        }
        None => format!("{folder}: under way"),
        Some(Ended::Done) => format!("{folder}: done"),
        Some(Ended::TooFew) => {
            format!("{folder}: over; fewer keys are shared than --min-intersection demands")
        }
    }];
    let mut say = |name: &str, value: String| {
        lines.push(format!("  {}: {}", Escaped(name), Escaped(&value)));
    };
    for term in job.terms.iter().filter(|term| !term.secret) {
        say(&term.name, term.value.clone());
    }
    say("the protocol that was taken", job.protocol.clone());
    let [senders, receivers] = job.items.map(humanize::count);
    say(
        "keys",
        format!("{senders} of the sender, {receivers} of the receiver"),
    );
    let shown = |seconds| time(seconds).unwrap_or_else(|| "(unknown)".to_owned());
    say("begun", shown(job.begun));
    say("last changed", shown(status.changed));
    let parts = humanize::counted(job.parts.into(), "part");
    say(
        "done on this side",
        format!("{} of {parts}", status.parts_done),
    );
    if let Some(command) = &status.command {
        say("left to move", humanize::bytes(bytes_left(status)));
        say(
            "to go on, on both sides the same again, here",
            command.clone(),
        );
    }
    lines.join("\n") + "\n"
}

fn time(seconds: u64) -> Option<String> {
    let time = Timestamp::from_second(seconds.try_into().ok()?).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
