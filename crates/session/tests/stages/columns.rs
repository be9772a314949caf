//! Columns that are given and taken where parts run.

use std::{collections::BTreeSet, fs, iter, path::Path, thread, time::Duration};

use arrow_array::{RecordBatch, cast::AsArray};
use psijoin::{Fingerprint, Role, Router};
use psijoin_relay::Relay;
use psijoin_session::{
    Agreed, Error, FoundKeys, Give, JoinSpec, Lane, LaneInOrder, LaneReport, LaneTicket, Outcome,
    Stop, TableFacts, Taken, Trade,
};
use psijoin_source::{Dialect, Progress, Source};
use psijoin_table::{
    Beside, Error as TableError, ShareError,
    portions::{self, PortionFacts, PortionKeys},
    share::{PayloadLayout, RepeatedKeys, Unpacking},
};
use psijoin_transport::{AtRelay, Endpoint, Proxies, Security};

use crate::{LANES, Listens, key, listening, specs, to};

/// The rows of a key that are given.
const REPEATED: &str = "list:2";

/// The portions in which a table is read.
const PORTIONS: usize = 3;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Writes tables of both parties, with two rows for each fifth key.
fn write_tables(folder: &Path) {
    for (file, keys, column) in [
        ("sender.csv", 0..3000, "plan"),
        ("receiver.csv", 2000..4000, "city"),
    ] {
        let again = keys.clone().step_by(5);
        let rows = keys.chain(again).enumerate().map(|(row, key)| {
            let text = "x".repeat(row % 7);
            format!("{key},{column} {text}{row},{row}\n")
        });
        let rows: String = rows.collect();
        fs::write(folder.join(file), format!("id,{column},row\n{rows}")).unwrap();
    }
}

/// Returns a join in which the sender gives columns, and the receiver does, too, if both learn.
fn trading(folder: &Path, both: bool) -> [JoinSpec; 2] {
    let mut specs = specs(folder, "rows", 0);
    write_tables(folder);
    let gives = |column: &str| Give {
        columns: names(&[column, "row"]),
        row_bytes: None,
        repeated: REPEATED.parse().unwrap(),
    };
    let trade = |gives, takes| Trade {
        gives,
        takes,
        ..Trade::default()
    };
    specs[0].trade = trade(Some(gives("plan")), both.then_some(Taken::All));
    specs[1].trade = trade(both.then(|| gives("city")), Some(Taken::All));
    for (spec, file) in specs.iter_mut().zip(["sent.csv", "received.csv"]) {
        if both {
            spec.question.learners = "both".parse().unwrap();
        }
        let learns = both || spec.role == Role::Receiver;
        spec.written.output = learns.then(|| folder.join(file));
    }
    specs
}

/// Reads a table in portions.
fn read(path: &Path, given: Option<&Give>) -> Result<(PortionKeys, TableFacts), TableError> {
    let table = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    let (header, rows) = lines.split_first().unwrap();
    let (mut keys, mut facts) = (PortionKeys::none(0), Vec::new());
    keys.rows = given.map(|_| portions::KeyRows::default());
    for rows in rows.chunks(rows.len().div_ceil(PORTIONS)) {
        let lines: Vec<&str> = iter::once(header).chain(rows).copied().collect();
        let source =
            Source::csv_in_memory(lines.join("\n").as_bytes(), "t.csv", &Dialect::default())?;
        let given = given.map(|give| (&give.columns[..], give.repeated));
        let (spill, progress) = (psijoin::spill::Spill::in_memory(), Progress::default());
        let (of_portion, about) =
            portions::read(&source, &key(), Beside::default(), given, &spill, &progress)?;
        keys.extend(of_portion)?;
        facts.push(about);
    }
    let keys = keys.merged(&[])?;
    let whole = PortionFacts::of_all(facts)?.whole(&key(), keys.fingerprints.len() as u64)?;
    Ok((keys, whole.into()))
}

/// Returns the keys of these fingerprints.
fn picked(keys: &PortionKeys, wanted: impl Fn(&Fingerprint) -> bool) -> PortionKeys {
    let (_, batches) = keys.to_batches(&[]);
    let mut picked = PortionKeys::none(0);
    picked.rows = keys.rows.as_ref().map(|_| portions::KeyRows::default());
    for batch in batches {
        for row in 0..batch.num_rows() {
            let key = PortionKeys::whole_of_batch(&batch.slice(row, 1), &[]).unwrap();
            if wanted(&key.fingerprints[0]) {
                picked.extend(key).unwrap();
            }
        }
    }
    picked
}

/// Runs all lanes, each as a process of its own would. Returns what they found, and their reports.
fn run(agreed: &Agreed<'_>, keys: &PortionKeys) -> Vec<(Vec<FoundKeys>, LaneReport)> {
    let router = &agreed.router();
    let tickets = (0..agreed.lanes()).map(|lane| agreed.ticket(lane));
    let tickets: Vec<LaneTicket> = tickets.collect();
    thread::scope(|scope| {
        let start = |ticket| scope.spawn(move || run_lane(ticket, keys, router));
        let running: Vec<_> = tickets.iter().map(start).collect();
        running
            .into_iter()
            .map(|lane| lane.join().unwrap())
            .collect()
    })
}

fn run_lane(
    ticket: &LaneTicket,
    keys: &PortionKeys,
    router: &Router,
) -> (Vec<FoundKeys>, LaneReport) {
    let ticket = LaneTicket::from_bytes(ticket.as_bytes().to_vec());
    let lane = Lane::open(&ticket, Proxies::default(), &Stop::default()).unwrap();
    let parts: Vec<u32> = lane.parts().collect();
    let mut lane = LaneInOrder::new(lane);
    let mut found = Vec::new();
    for part in parts {
        let own = picked(keys, |key| u32::from(router.place(&[*key])[0]) == part);
        let payloads = lane
            .packing()
            .map(|packing| packing.payloads(&own).unwrap());
        let payloads = payloads.unwrap_or_default();
        found.extend(lane.take(&own.fingerprints, &[], &payloads).unwrap());
    }
    let (rest, report) = lane.finish().unwrap();
    found.extend(rest);
    (found, report)
}

/// Joins the table in this file by stages. Returns what the other party gave: rows of keys, as CSV.
fn by_stages(spec: JoinSpec, table: &Path) -> Result<(Outcome, BTreeSet<String>), Error> {
    let role = spec.role;
    let (keys, facts) = read(table, spec.trade.gives.as_ref())?;
    let mut agreed = spec.agree(facts, (LANES, None), &(), &Stop::default())?;
    let mut all = Vec::new();
    for (found, report) in run(&agreed, &keys) {
        agreed.take(&LaneReport::from_bytes(&report.to_bytes())?)?;
        all.extend(found);
    }
    let outcome = agreed.finish()?;
    let layout = outcome.given.by(role.other());
    let taken = layout.map(|layout| unpacked(layout, all, &names_of(table)));
    Ok((outcome, taken.unwrap_or_default()))
}

/// Returns the texts of the keys in this table.
fn names_of(table: &Path) -> Vec<(Fingerprint, String)> {
    let rows = fs::read_to_string(table).unwrap();
    let rows = rows.lines().skip(1).map(|row| {
        let id = row.split(',').next().unwrap();
        (key().fingerprint(&[id]).unwrap().unwrap(), id.to_owned())
    });
    rows.collect()
}

fn unpacked(
    layout: &PayloadLayout,
    found: Vec<FoundKeys>,
    names: &[(Fingerprint, String)],
) -> BTreeSet<String> {
    let name = |key: &[u8]| &names.iter().find(|(known, _)| known[..] == *key).unwrap().1;
    let rows_of = |batch: RecordBatch| {
        let row = |row| {
            let texts = [1, 2].map(|column| batch.column(column).as_string::<i32>().value(row));
            let key = batch.column(0).as_fixed_size_binary().value(row);
            format!("{},{}", name(key), texts.join(","))
        };
        (0..batch.num_rows()).map(row).collect::<Vec<_>>()
    };
    let batches = found.into_iter().flat_map(|found| {
        Unpacking::new(layout.clone(), found.fingerprints, found.payloads).unwrap()
    });
    batches.flat_map(|batch| rows_of(batch.unwrap())).collect()
}

/// Returns the rows of one table whose key another one has.
fn expected(of: &Path, shared_with: &Path) -> BTreeSet<String> {
    let [of, others] = [of, shared_with].map(|path| fs::read_to_string(path).unwrap());
    let id = |row: &str| row.split(',').next().unwrap().to_owned();
    let ids: BTreeSet<String> = others.lines().skip(1).map(id).collect();
    let rows = of.lines().skip(1).filter(|row| ids.contains(&id(row)));
    rows.map(str::to_owned).collect()
}

/// Joins a party by stages with one that does all in one.
fn joined(
    [sender, receiver]: [JoinSpec; 2],
    folder: &Path,
    staged: Role,
) -> [Result<BTreeSet<String>, Error>; 2] {
    let (listens, address) = Listens::new();
    let (whole, parts, table) = match staged {
        Role::Sender => (receiver, sender, "sender.csv"),
        Role::Receiver => (sender, receiver, "receiver.csv"),
    };
    thread::scope(|scope| {
        let whole =
            scope.spawn(move || listening(whole).join(&listens, &Stop::default()).map(drop));
        let parts = by_stages(to(address, parts), &folder.join(table)).map(|(_, taken)| taken);
        [whole.join().unwrap().map(|()| BTreeSet::new()), parts]
    })
}

#[test]
fn columns_are_given_by_stages_as_by_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for both in [false, true] {
        // By one process each.
        let [sender, receiver] = trading(folder.path(), both);
        let (listens, address) = Listens::new();
        thread::scope(|scope| {
            let sent =
                scope.spawn(move || listening(sender).join(&listens, &Stop::default()).map(drop));
            to(address, receiver)
                .join(&(), &Stop::default())
                .map(drop)
                .unwrap();
            sent.join().unwrap().unwrap();
        });
        let expected = fs::read(path("received.csv")).unwrap();
        fs::remove_file(path("received.csv")).unwrap();
        let [received, _] = joined(trading(folder.path(), both), folder.path(), Role::Sender);
        received.unwrap();
        assert!(expected == fs::read(path("received.csv")).unwrap());
    }
}

#[test]
fn columns_are_taken_by_stages() {
    let folder = tempfile::tempdir().unwrap();
    let tables = ["sender.csv", "receiver.csv"].map(|name| folder.path().join(name));
    for both in [false, true] {
        let specs = trading(folder.path(), both);
        let [sent, received] = joined(specs, folder.path(), Role::Receiver);
        sent.unwrap();
        let received = received.unwrap();
        assert_eq!(received.len(), 1200);
        assert_eq!(received, expected(&tables[0], &tables[1]));
        let specs = trading(folder.path(), both);
        let [received, sent] = joined(specs, folder.path(), Role::Sender);
        received.unwrap();
        let of_receiver = expected(&tables[1], &tables[0]);
        assert_eq!(
            sent.unwrap(),
            if both { of_receiver } else { BTreeSet::new() }
        );
    }
}

#[test]
fn both_parties_give_and_take_by_stages() {
    let folder = tempfile::tempdir().unwrap();
    let tables = ["sender.csv", "receiver.csv"].map(|name| folder.path().join(name));
    let relay = Relay::bind(psijoin_relay::Options::new("127.0.0.1:0".parse().unwrap())).unwrap();
    let (address, drain) = (relay.address(), relay.drain());
    let [sender, receiver] = trading(folder.path(), true).map(|mut spec| {
        let Security::PinnedTls { identity, peer } = &spec.meeting.security else {
            panic!("parties that know each other");
        };
        let relay = address.to_string().parse().unwrap();
        spec.meeting.endpoint =
            Endpoint::Relay(AtRelay::first_meeting(relay, identity.fingerprint(), *peer));
        spec
    });
    thread::scope(|scope| {
        scope.spawn(|| relay.run().unwrap());
        let sent = scope.spawn(|| by_stages(sender, &tables[0]));
        let received = by_stages(receiver, &tables[1]);
        let sent = sent.join().unwrap();
        drain.begin(Duration::ZERO);
        assert_eq!(sent.unwrap().1, expected(&tables[1], &tables[0]));
        assert_eq!(received.unwrap().1, expected(&tables[0], &tables[1]));
    });
}

/// A report in which the payloads of each part could not be opened.
fn with_wrong_payloads(report: &LaneReport) -> LaneReport {
    let bytes = report.to_bytes();
    let (head, mut rest) = bytes.split_at(28);
    let mut spoilt = head.to_vec();
    while !rest.is_empty() {
        let length = u64::from_le_bytes(rest[4..12].try_into().unwrap()) as usize;
        let (part, done) = (&rest[..4], &rest[12..][..length]);
        rest = &rest[12 + length..];
        // The numbers of items, of shared ones and of columns; and no output.
        let done = [&done[..24], &[0]].concat();
        spoilt.extend([part, &(done.len() as u64).to_le_bytes(), &done].concat());
    }
    LaneReport::from_bytes(&spoilt).unwrap()
}

/// Otherwise it would learn which of the payloads that it spoilt was for a shared key.
#[test]
fn the_other_party_does_not_see_that_its_payload_cannot_be_opened() {
    for signed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let mut specs = trading(folder.path(), false);
        if signed {
            for (spec, record) in specs.iter_mut().zip(["sender.json", "receiver.json"]) {
                spec.record = Some(folder.path().join(record));
            }
        }
        let [sender, receiver] = specs;
        let (keys, facts) = read(&folder.path().join("receiver.csv"), None).unwrap();
        thread::scope(|scope| {
            let (listens, address) = Listens::new();
            let sender = listening(sender);
            let sent = scope.spawn(move || sender.join(&listens, &Stop::default()).map(drop));
            let agreed = to(address, receiver).agree(facts, (LANES, None), &(), &Stop::default());
            let mut agreed = agreed.unwrap();
            for (_, report) in run(&agreed, &keys) {
                agreed.take(&with_wrong_payloads(&report)).unwrap();
            }
            let refused = agreed.finish();
            assert!(matches!(refused, Err(Error::Psi(psijoin::Error::Payload))));
            sent.join().unwrap().unwrap();
        });
    }
}

#[test]
fn rows_that_do_not_fit_are_told_to_the_other_party() {
    let folder = tempfile::tempdir().unwrap();
    let agree = |give: Give, facts: TableFacts| {
        let [mut sender, receiver] = trading(folder.path(), false);
        sender.trade.gives = Some(give);
        let (listens, address) = Listens::new();
        thread::scope(|scope| {
            let receiver = listening(receiver);
            let told = scope.spawn(move || receiver.join(&listens, &Stop::default()).map(drop));
            let refused = to(address, sender).agree(facts, (LANES, None), &(), &Stop::default());
            assert!(told.join().unwrap().is_err());
            refused.map(drop).unwrap_err()
        })
    };
    let give = |row_bytes, repeated: &str| Give {
        columns: names(&["plan", "row"]),
        row_bytes,
        repeated: repeated.parse::<RepeatedKeys>().unwrap(),
    };
    write_tables(folder.path());
    let table = folder.path().join("sender.csv");
    let (_, facts) = read(&table, Some(&give(None, REPEATED))).unwrap();
    let refused = agree(give(Some(10), REPEATED), facts.clone());
    let is_long = |error: &Error| {
        matches!(
            error,
            Error::Table(TableError::Share(ShareError::LongRow {
                most_bytes: 10,
                ..
            }))
        )
    };
    assert!(is_long(&refused), "{refused}");
    // The facts are of other rows: nobody is met.
    let [mut sender, _] = trading(folder.path(), false);
    sender.trade.gives = Some(give(None, "first"));
    let refused = sender.agree(facts, (LANES, None), &(), &Stop::default());
    let refused = refused.map(drop).unwrap_err();
    assert!(
        refused.to_string().contains("same columns to give"),
        "{refused}"
    );
    let refused = read(&table, Some(&give(None, "refuse"))).unwrap_err();
    assert!(matches!(
        refused,
        TableError::Share(ShareError::RepeatedKeys {
            rows: 600,
            first: None
        })
    ));
}
