//! A join by stages, as a cluster calls them, with a party that does all in one.

use std::{
    fs,
    num::{NonZeroU32, NonZeroUsize},
    path::Path,
    sync::{Mutex, mpsc},
    thread,
    time::Duration,
};

use psijoin::{
    Fingerprint, Input, JointSeed, Role,
    parts::{InMemory, Table},
    spill::Spill,
};
use psijoin_relay::{Options, Relay};
use psijoin_session::{
    Agreed, Error, Event, GroupColumn, JoinSpec, Joined, Lane, LaneReport, LaneTicket, Meeting,
    Outcome, Received, RequestedOutput, Stop, TableFacts, TableSpec, Watcher,
};
use psijoin_source::{Dialect, Progress, Source};
use psijoin_table::{Beside, KeySpec, LabelColumn, Numbers, TableKeys};
use psijoin_transport::{AtRelay, Endpoint, Identity, Proxies, Security, endpoint::Address};

mod columns;
mod ends;
mod in_order;
mod refusals;
mod results;

/// A table of a party: its keys, and a number and the place of a label for each.
struct Keys {
    fingerprints: Vec<Fingerprint>,
    numbers: Vec<i64>,
    labels: Vec<i64>,
    facts: TableFacts,
}

impl Keys {
    /// Reads them from a file, as something else than the join does it.
    fn read(path: &Path) -> Self {
        let progress = Progress::default();
        let source = Source::open(path, None, &Dialect::default(), true, &progress).unwrap();
        let spill = Spill::in_memory();
        let amount = ["amount".to_owned()];
        let kind = [LabelColumn {
            name: "kind".to_owned(),
            listed: None,
        }];
        let beside = Beside {
            numbers: &amount,
            labels: &kind,
        };
        let read = TableKeys::read_beside(&source, &key(), beside, &spill, &progress).unwrap();
        let mut keys = Self {
            fingerprints: Vec::new(),
            numbers: Vec::new(),
            labels: Vec::new(),
            facts: TableFacts {
                counts: read.counts(),
                meanings: read.meanings().to_vec(),
                ..TableFacts::default()
            },
        };
        for partition in 0..read.partitions() {
            let items = read.items(partition).unwrap();
            keys.fingerprints.extend(&items.fingerprints);
            keys.numbers.extend(&items.numbers[0]);
            keys.labels.extend(&items.numbers[1]);
        }
        let facts: Vec<Numbers> = read.numbers();
        keys.facts.numbers = vec![("amount".to_owned(), facts[0].clone())];
        keys.facts.labels = kind
            .into_iter()
            .zip(read.labels().iter().cloned())
            .collect();
        keys
    }
}

fn key() -> KeySpec {
    KeySpec::new(vec!["id".into()], vec![]).unwrap()
}

/// Writes a table of these keys, each with twice its number, and with its kind.
fn table(path: &Path, keys: impl Iterator<Item = u64>) {
    let row = |key| format!("{key},{},{}\n", 2 * key, kind(key).unwrap_or_default());
    let rows: String = keys.map(row).collect();
    fs::write(path, format!("id,amount,kind\n{rows}")).unwrap();
}

/// Returns the label of a key.
fn kind(key: u64) -> Option<&'static str> {
    [Some("a"), None, Some("b")][key as usize % 3]
}

/// As many as five parts can use, and more than a party of two threads runs at once.
const LANES: NonZeroU32 = NonZeroU32::new(5).unwrap();

/// Returns a join of both parties in parts, the sender's first.
fn specs(folder: &Path, asked: &str, min_intersection: u64) -> [JoinSpec; 2] {
    table(&folder.join("sender.csv"), 0..3000);
    table(&folder.join("receiver.csv"), 2000..4000);
    let identities = [(); 2].map(|()| Identity::generate().unwrap());
    let peers = identities.clone().map(|identity| identity.fingerprint());
    let [sender, receiver] = identities;
    let [its_peer, own_peer] = [peers[1], peers[0]];
    // Another is known once one of them listens.
    let endpoint = Endpoint::Connect("127.0.0.1:1".parse().unwrap());
    let spec = |role, identity, peer, file: &str| {
        let meeting = Meeting::new(endpoint.clone(), Security::PinnedTls { identity, peer });
        let mut spec = JoinSpec::new(role, meeting, TableSpec::file(folder.join(file)), key());
        spec.question.asked = asked.parse::<RequestedOutput>().unwrap();
        spec.question.min_intersection = min_intersection;
        // Not by the network, which may be slow on a busy machine: one that runs in parts.
        let protocol = match (asked, min_intersection) {
            ("rows", 0) => "rr22",
            _ => "rr22-circuit",
        };
        spec.protocol = psijoin::registry::find(protocol).unwrap();
        spec.consent.receiver_sums = true;
        spec.parts = Some(5);
        spec.resources.threads = NonZeroUsize::new(2);
        spec
    };
    [
        spec(Role::Sender, sender, its_peer, "sender.csv"),
        spec(Role::Receiver, receiver, own_peer, "receiver.csv"),
    ]
}

/// Lets both parties ask for totals of groups by these columns, of which those of fewer keys are
/// withheld, with noise if it is named.
fn by_groups(specs: [JoinSpec; 2], by: &str, least: u64, noise: Option<&str>) -> [JoinSpec; 2] {
    specs.map(|mut spec| {
        let RequestedOutput::Groups(groups) = &mut spec.question.asked else {
            panic!("groups are asked for");
        };
        groups.by = GroupColumn::list(by).unwrap();
        groups.least = least;
        groups.noise = noise.map(|noise| Box::new(noise.parse().unwrap()));
        spec
    })
}

/// Runs all lanes of a join, each as a process of its own would, and finishes it. Returns the
/// places of shared keys, if rows are found.
fn run(mut agreed: Agreed<'_>, keys: &Keys) -> (Result<Outcome, Error>, Vec<u32>) {
    let watch = agreed.watch();
    let watching = thread::spawn(move || watch.until_over());
    let ran = run_lanes(&mut agreed, keys);
    let mut rows: Vec<u32> = ran.iter().flat_map(|lane| lane.found.clone()).collect();
    let outcome = agreed.finish();
    watching.join().unwrap().unwrap();
    if let Ok(Outcome {
        received: Some(Received::Places(shared)),
        ..
    }) = &outcome
    {
        for (part, places) in ran.iter().flat_map(|lane| &lane.withheld) {
            rows.extend(shared[*part as usize].rows(places).unwrap());
        }
    }
    (outcome, rows)
}

/// Runs all lanes of a join, and takes their reports.
fn run_lanes(agreed: &mut Agreed<'_>, keys: &Keys) -> Vec<RanLane> {
    let tickets = (0..agreed.lanes()).map(|lane| agreed.ticket(lane));
    let tickets: Vec<LaneTicket> = tickets.collect();
    let ran: Vec<RanLane> = thread::scope(|scope| {
        let start = |ticket| scope.spawn(move || run_lane(ticket, keys));
        let running: Vec<_> = tickets.iter().map(start).collect();
        let ended = running.into_iter().map(|lane| lane.join().unwrap());
        ended.collect()
    });
    for lane in &ran {
        let report = LaneReport::from_bytes(&lane.report).unwrap();
        agreed.take(&report).unwrap();
    }
    ran
}

/// A lane that has run.
struct RanLane {
    report: Vec<u8>,
    /// The places of shared keys.
    found: Vec<u32>,
    /// The place in the table of whatever may be shared, for each place of each part.
    withheld: Vec<(u32, Vec<Option<u32>>)>,
}

/// Runs a lane of a party that has these keys.
fn run_lane(ticket: &LaneTicket, keys: &Keys) -> RanLane {
    let ticket = LaneTicket::from_bytes(ticket.as_bytes().to_vec());
    let mut lane = Lane::open(&ticket, Proxies::default(), &Stop::default()).unwrap();
    let items = lane.items(&keys.fingerprints);
    let numbers = (!lane.numbers().is_empty()).then(|| keys.numbers.clone());
    let labels = lane.labels().map(|_| keys.labels.clone());
    let columns: Vec<_> = numbers.into_iter().chain(labels).collect();
    let input = Input {
        items: &items,
        columns: &columns,
        payloads: &[],
        joint_seed: &JointSeed::insecure_fixed([0; 32]),
    };
    let parts = lane.plan().parts().unwrap().shape.parts;
    let own = InMemory::new(&input, parts);
    let (mut found, mut withheld) = (Vec::new(), Vec::new());
    for part in lane.parts() {
        let done = lane.run_part(own.part(part).unwrap()).unwrap();
        found.extend(done.rows().into_iter().flat_map(|(rows, _)| rows));
        withheld.extend(done.places().map(|places| (part, places.to_vec())));
    }
    RanLane {
        report: lane.finish().unwrap().to_bytes().to_vec(),
        found,
        withheld,
    }
}

/// Joins the receiver by stages, or the sender, with the other one, and returns what each knows,
/// the sender first, and the places of shared keys.
fn joined(
    specs: [JoinSpec; 2],
    folder: &Path,
    by_stages: Role,
) -> ([Result<Outcome, Error>; 2], Vec<u32>) {
    let [sender, receiver] = specs;
    let whole = |spec: JoinSpec, watcher: &dyn Watcher| match spec.join(watcher, &Stop::default()) {
        Ok(Joined::Done(outcome, _)) => Ok(*outcome),
        Ok(_) => panic!("it joins"),
        Err(error) => Err(error),
    };
    let staged = |spec: JoinSpec, file: &str| by_stages_of(spec, &folder.join(file));
    let (listens, address) = Listens::new();
    thread::scope(|scope| match by_stages {
        Role::Sender => {
            let received = scope.spawn(|| whole(listening(receiver), &listens));
            let (sent, _) = staged(to(address, sender), "sender.csv");
            ([sent, received.join().unwrap()], Vec::new())
        }
        Role::Receiver => {
            let sent = scope.spawn(|| whole(listening(sender), &listens));
            let (received, rows) = staged(to(address, receiver), "receiver.csv");
            ([sent.join().unwrap(), received], rows)
        }
    })
}

/// Joins the table in this file by stages.
fn by_stages_of(spec: JoinSpec, table: &Path) -> (Result<Outcome, Error>, Vec<u32>) {
    let keys = Keys::read(table);
    let agreed = spec.agree(keys.facts.clone(), (LANES, None), &(), &Stop::default());
    run(agreed.unwrap(), &keys)
}

/// Joins both parties by stages, which meet at a relay. Returns what [`joined`] does.
fn both_by_stages(specs: [JoinSpec; 2], folder: &Path) -> ([Result<Outcome, Error>; 2], Vec<u32>) {
    at_relay(specs, |[sender, receiver]| {
        thread::scope(|scope| {
            let sent = scope.spawn(|| by_stages_of(sender, &folder.join("sender.csv")));
            let received = scope.spawn(|| by_stages_of(receiver, &folder.join("receiver.csv")));
            let [(sent, _), (received, rows)] = [sent, received].map(|side| side.join().unwrap());
            ([sent, received], rows)
        })
    })
}

/// Lets both parties meet at a relay, as long as this runs.
fn at_relay<T>(specs: [JoinSpec; 2], run: impl FnOnce([JoinSpec; 2]) -> T) -> T {
    let relay = Relay::bind(Options::new("127.0.0.1:0".parse().unwrap())).unwrap();
    let (address, drain) = (relay.address(), relay.drain());
    let specs = specs.map(|mut spec| {
        let Security::PinnedTls { identity, peer } = &spec.meeting.security else {
            panic!("parties that know each other");
        };
        let relay = address.to_string().parse().unwrap();
        let at = AtRelay::first_meeting(relay, identity.fingerprint(), *peer);
        spec.meeting.endpoint = Endpoint::Relay(at);
        spec
    });
    thread::scope(|scope| {
        scope.spawn(|| relay.run().unwrap());
        let ran = run(specs);
        drain.begin(Duration::ZERO);
        ran
    })
}

/// Lets a party listen somewhere.
fn listening(mut spec: JoinSpec) -> JoinSpec {
    spec.meeting.endpoint = Endpoint::Listen("127.0.0.1:0".parse().unwrap());
    spec
}

/// Tells where a party listens.
struct Listens(Mutex<mpsc::Sender<Address>>);

impl Listens {
    fn new() -> (Self, mpsc::Receiver<Address>) {
        let (tell, address) = mpsc::channel();
        (Self(Mutex::new(tell)), address)
    }
}

impl Watcher for Listens {
    fn hear(&self, event: Event<'_>) {
        if let Event::Listening { address, .. } = event {
            self.0.lock().unwrap().send(address.clone()).unwrap();
        }
    }
}

/// Lets a party connect there, once somebody listens.
fn to(address: mpsc::Receiver<Address>, mut spec: JoinSpec) -> JoinSpec {
    spec.meeting.endpoint = Endpoint::Connect(address.recv().unwrap());
    spec
}
