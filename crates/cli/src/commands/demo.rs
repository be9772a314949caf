//! `psijoin demo`: a join of two sample tables, both parties in one process.

use std::{fs, num::NonZeroUsize, path::Path, sync::mpsc, thread};

use psijoin::{Protocol, Role};
use psijoin_frontend::{
    grid::{Align, Grid},
    sentences::{insecurity, warning},
};
use psijoin_session::{
    Error, Event, JoinSpec, Joined, Meeting, Outcome, Received, Stop, TableSpec, Watcher,
};
use psijoin_table::KeySpec;
use psijoin_transport::{Endpoint, Identity, Security, endpoint::Address};

use crate::{
    args,
    exit::{Failure, ProgramFault},
    humanize, output,
};

/// A sample table.
struct Sample {
    party: &'static str,
    file: &'static str,
    text: &'static str,
}

const SENDER: Sample = Sample {
    party: "A newspaper (the sender)",
    file: "subscribers.csv",
    text: include_str!("../../samples/subscribers.csv"),
};

const RECEIVER: Sample = Sample {
    party: "A shop (the receiver)",
    file: "customers.csv",
    text: include_str!("../../samples/customers.csv"),
};

const KEY: &str = "email";
const NORMALIZATION: &str = "email=email";

/// Rows of a sample that are shown.
const HEAD: usize = 4;

pub(super) fn run(args: &args::Demo) -> Result<(), Failure> {
    let folder = tempfile::tempdir().map_err(ProgramFault::Temporary)?;
    let joined = folder.path().join("shared.csv");
    let (sent, received) = join(args.protocol, folder.path(), &joined)?;
    let shared = fs::read_to_string(&joined).map_err(ProgramFault::Temporary)?;
    output::text(&story(&shared, &sent, &received))
}

/// Runs both parties over TLS, each as `send` and `receive` would.
fn join(
    protocol: &'static Protocol,
    folder: &Path,
    joined: &Path,
) -> Result<(Outcome, Outcome), Failure> {
    let [sender, receiver] = [Identity::generate()?, Identity::generate()?];
    let [sender_is, receiver_is] = [sender.fingerprint(), receiver.fingerprint()];
    let spec = |role, sample: &Sample, endpoint, security| -> Result<_, Failure> {
        let path = folder.join(sample.file);
        fs::write(&path, sample.text).map_err(ProgramFault::Temporary)?;
        let key = KeySpec::new(vec![KEY.into()], vec![NORMALIZATION.parse()?])?;
        let meeting = Meeting::new(endpoint, security);
        let mut spec = JoinSpec::new(role, meeting, TableSpec::file(path), key);
        spec.protocol = protocol;
        spec.resources.threads = Some(NonZeroUsize::MIN);
        if role == Role::Receiver {
            spec.written.output = Some(joined.to_owned());
        }
        Ok(spec)
    };
    let (tell, told) = mpsc::channel();
    let listening = spec(
        Role::Receiver,
        &RECEIVER,
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
            let connecting = spec(Role::Sender, &SENDER, Endpoint::Connect(address), security)?;
            outcome(connecting.join(&(), &Stop::default()))
        });
        let received = match received.join() {
            Ok(received) => received?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        Ok((sent.expect("the receiver was met")?, received))
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

fn story(shared: &str, sent: &Outcome, received: &Outcome) -> String {
    let info = received.plan.info();
    let keys = match received.received {
        Some(Received::Rows { shared_keys, .. }) => shared_keys,
        _ => 0,
    };
    let mut text =
        String::from("Two parties, two private tables, one question: whom do we share?\n\n");
    for (sample, outcome) in [(&SENDER, sent), (&RECEIVER, received)] {
        let rows = records(sample.text);
        text += &format!(
            "{}: {}, {}\n\n{}  …\n\n",
            sample.party,
            sample.file,
            humanize::counted(outcome.counts.rows, "row"),
            grid(&rows[..=HEAD]),
        );
    }
    text += &format!(
        "They meet over TLS 1.3 and run {} ({}), on the column `{KEY}`, trimmed and in lower \
         case.\nThe shop now holds its rows of {}, and nobody else's:\n\n{}\n",
        info.name,
        info.paper,
        humanize::counted(keys, "shared customer"),
        grid(&records(shared)),
    );
    text += &format!(
        "{}, {} of traffic, {}.\n\n",
        humanize::time(received.time),
        humanize::bytes(received.traffic.total_bytes()),
        humanize::counted(received.traffic.flights, "flight"),
    );
    let sizes = received.plan.request().sizes;
    text += &format!(
        "The shop learned {} and that the newspaper has {}.\n\
         The newspaper learned that the shop has {}.",
        humanize::counted(keys, "shared key"),
        humanize::counted(sizes.sender(), "distinct key"),
        humanize::counted(sizes.receiver(), "distinct key"),
    );
    text += &match insecurity(info) {
        Some(leaks) => format!("\n{}\n", warning(leaks)),
        None => "\nNeither learned anything else about the other's keys.\n".to_owned(),
    };
    text + "\nYour own tables: psijoin keygen, then psijoin receive --help and psijoin send --help.\n"
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
        for sample in [SENDER, RECEIVER] {
            assert!(!sample.text.contains('"'));
            let records = records(sample.text);
            assert!(records.len() > HEAD);
            assert!(records.iter().all(|record| record.len() == 4));
        }
    }
}
