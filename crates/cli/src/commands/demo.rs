//! `psijoin demo`: joins of sample tables, both parties in one process.

use std::{fs, num::NonZeroUsize, path::Path, sync::mpsc, thread};

use psijoin::Role;
use psijoin_frontend::grid::{Align, Grid};
use psijoin_session::{Error, Event, JoinSpec, Joined, Meeting, Outcome, Stop, TableSpec, Watcher};
use psijoin_table::KeySpec;
use psijoin_transport::{Endpoint, Identity, Security, endpoint::Address};

use crate::{
    args,
    exit::{Failure, ProgramFault},
    humanize,
};

mod lift;
mod lift_page;
mod rows;

/// A sample table.
struct Sample {
    party: &'static str,
    file: &'static str,
    text: &'static str,
}

const KEY: &str = "email";
const NORMALIZATION: &str = "email=email";

/// Rows of a sample that are shown.
const HEAD: usize = 4;

pub(super) fn run(args: &args::Demo) -> Result<(), Failure> {
    match &args.of {
        None => rows::run(args.protocol),
        Some(args::DemoOf::Lift(args)) => lift::run(args),
    }
}

/// Runs both parties over TLS, the sender's table first, each as `send` and `receive` would that
/// are asked for this.
fn join(
    [theirs, mine]: [&Sample; 2],
    folder: &Path,
    ask: impl Fn(&mut JoinSpec),
) -> Result<[Outcome; 2], Failure> {
    let [sender, receiver] = [Identity::generate()?, Identity::generate()?];
    let [sender_is, receiver_is] = [sender.fingerprint(), receiver.fingerprint()];
    let spec = |role, sample: &Sample, endpoint, security| -> Result<_, Failure> {
        let path = folder.join(sample.file);
        fs::write(&path, sample.text).map_err(ProgramFault::Temporary)?;
        let key = KeySpec::new(vec![KEY.into()], vec![NORMALIZATION.parse()?])?;
        let meeting = Meeting::new(endpoint, security);
        let mut spec = JoinSpec::new(role, meeting, TableSpec::file(path), key);
        spec.resources.threads = Some(NonZeroUsize::MIN);
        ask(&mut spec);
        Ok(spec)
    };
    let (tell, told) = mpsc::channel();
    let listening = spec(
        Role::Receiver,
        mine,
        Endpoint::Listen("127.0.0.1:0".parse()?),
        Security::PinnedTls {
            identity: receiver,
            peer: sender_is,
        },
    )?;
    thread::scope(|scope| {
        let received = scope.spawn(|| outcome(listening.join(&Ear(tell), &Stop::default())));
        // Nothing is told if the receiver has failed before.
        let sent = told.recv().ok().map(|address| {
            let security = Security::PinnedTls {
                identity: sender,
                peer: receiver_is,
            };
            let connecting = spec(Role::Sender, theirs, Endpoint::Connect(address), security)?;
            outcome(connecting.join(&(), &Stop::default()))
        });
        let received = match received.join() {
            Ok(received) => received?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        Ok([sent.expect("the receiver was met")?, received])
    })
}

fn outcome(joined: Result<Joined, Error>) -> Result<Outcome, Failure> {
    match joined? {
        Joined::Done(outcome, _) => Ok(*outcome),
        _ => unreachable!("it joins, and keeps no job"),
    }
}

/// Hears nothing but where a party listens.
struct Ear(mpsc::Sender<Address>);

impl Watcher for Ear {
    fn hear(&self, event: Event<'_>) {
        if let Event::Listening { address, .. } = event {
            // If nobody wants to know any more, nobody comes.
            let _ = self.0.send(address.clone());
        }
    }
}

/// Returns the beginnings of both samples, the sender's first, with their numbers of rows.
fn heads(samples: [&Sample; 2], outcomes: &[Outcome; 2]) -> String {
    let mut text = String::new();
    for (sample, outcome) in samples.iter().zip(outcomes) {
        let rows = records(sample.text);
        text += &format!(
            "{}: {}, {}\n\n{}  …\n\n",
            sample.party,
            sample.file,
            humanize::counted(outcome.counts.rows, "row"),
            grid(&rows[..=HEAD]),
        );
    }
    text
}

/// Returns what a run took.
fn cost(outcome: &Outcome) -> String {
    format!(
        "{}, {} of traffic, {}.\n\n",
        humanize::time(outcome.time),
        humanize::bytes(outcome.traffic.total_bytes()),
        humanize::counted(outcome.traffic.flights, "flight"),
    )
}

/// Returns the records of a CSV text without quotes, as the samples are.
fn records(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

/// Records below their header.
fn grid(records: &[Vec<&str>]) -> Grid {
    let header: Vec<_> = records[0].iter().map(|name| (*name, Align::Left)).collect();
    let mut grid = Grid::new(&header);
    for record in &records[1..] {
        grid.row(record.iter().map(|&field| field.to_owned()));
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_plain_tables_of_one_shape() {
        for sample in [rows::SAMPLES, lift::SAMPLES].as_flattened() {
            assert!(!sample.text.contains('"'));
            let records = records(sample.text);
            assert!(records.len() > HEAD);
            assert!(
                records
                    .iter()
                    .all(|record| record.len() == records[0].len())
            );
        }
    }
}
