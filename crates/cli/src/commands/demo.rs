//! `psijoin demo`: a join of two sample tables, both parties in one process.

use std::{fs, path::Path, thread, time::Duration};

use psijoin::{Protocol, Role, pair::single_thread};
use psijoin_table::{Destination, Dialect, KeySpec, Progress, Source, atomic_file::Existing};

use crate::{
    allowance::{Allowance, Said},
    args, closing_statement,
    console::{self, Console},
    exit::Failure,
    grid::{Align, Grid},
    humanize,
    limits::MaxPeerKeys,
    loopback::Loopback,
    output,
    question::{Learners, Question},
    record::Record,
    requested_output::RequestedOutput,
    session::{Consent, Mode, Party, Task, Trade},
    summary::{Received, Summary},
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
    let folder = tempfile::tempdir().map_err(Failure::Temporary)?;
    let joined = folder.path().join("shared.csv");
    let (sent, received) = join(args.protocol, folder.path(), &joined)?;
    let shared = fs::read_to_string(&joined).map_err(Failure::Temporary)?;
    output::text(&story(&shared, &sent, &received))
}

/// Runs both parties over TLS, each as `send` and `receive` would.
fn join(
    protocol: &'static Protocol,
    folder: &Path,
    joined: &Path,
) -> Result<(Summary, Summary), Failure> {
    let [senders_end, receivers_end] = Loopback::tls()?.meet()?;
    let (sender_pool, receiver_pool) = (single_thread(), single_thread());
    let progress = Progress::default();
    let record = Record::default();
    let party = |role, sample: &Sample, pool| -> Result<_, Failure> {
        let path = folder.join(sample.file);
        fs::write(&path, sample.text).map_err(Failure::Temporary)?;
        Ok(Party {
            protocol,
            question: Question {
                asked: RequestedOutput::Rows,
                min_intersection: 0,
                learners: Learners::Receiver,
            },
            consent: Consent {
                max_peer_keys: MaxPeerKeys::ByMemory,
                receiver_sums: false,
                strict: false,
            },
            terms: None,
            recording: None,
            key: KeySpec::new(vec![KEY.into()], vec![NORMALIZATION.parse()?])?,
            source: Source::open(&path, None, &Dialect::default(), true, &progress)?,
            role,
            task: Task::Help,
            trade: Trade::default(),
            aligned: None,
            mode: Mode::Join,
            parts: None,
            wait: Duration::ZERO,
            pool,
            allowance: Allowance::new(Said::Nothing, None, 1)?,
            progress: &progress,
            console: &Console::Silent,
            record: &record,
        })
    };
    let sender = party(Role::Sender, &SENDER, &sender_pool)?;
    let mut receiver = party(Role::Receiver, &RECEIVER, &receiver_pool)?;
    receiver.task = Task::Write(Destination::prepare(
        Some(joined),
        &receiver.source,
        Existing::Replace,
    )?);
    let (sender, receiver) = (sender.ready(None)?, receiver.ready(None)?);
    thread::scope(|scope| {
        let sender = scope.spawn(|| sender.join(once(senders_end)));
        let received = receiver.join(once(receivers_end));
        let sent = match sender.join() {
            Ok(sent) => sent,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        // Nobody keeps a job.
        let ((sent, _), (received, _)) = (sent?, received?);
        Ok((sent, received))
    })
}

/// Meets a party that is there already.
fn once<T>(met: T) -> impl FnMut() -> Result<T, Failure> {
    let mut met = Some(met);
    move || Ok(met.take().expect("without a job, parties meet once"))
}

fn story(shared: &str, sent: &Summary, received: &Summary) -> String {
    let info = received.plan.info();
    let keys = match received.received {
        Some(Received::Rows { shared_keys, .. }) => shared_keys,
        _ => 0,
    };
    let mut text =
        String::from("Two parties, two private tables, one question: whom do we share?\n\n");
    for (sample, summary) in [(&SENDER, sent), (&RECEIVER, received)] {
        let rows = records(sample.text);
        text += &format!(
            "{}: {}, {}\n\n{}  …\n\n",
            sample.party,
            sample.file,
            humanize::counted(summary.counts.rows, "row"),
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
    text += &match closing_statement::insecurity(info) {
        Some(warning) => format!("\n{}\n", console::warning(warning)),
        None => "\nNeither learned anything else about the other's keys.\n".to_owned(),
    };
    text + "\nYour own tables: psijoin keygen, then psijoin receive --help and psijoin send --help.\n"
}

/// The records of a CSV text without quotes, as the samples are.
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
