//! A join by stages, as a cluster calls them, with a party that does all in one.

use std::{
    fs,
    num::{NonZeroU32, NonZeroUsize},
    path::Path,
    sync::{Mutex, mpsc},
    thread,
};

use psijoin::{
    Fingerprint, Input, JointSeed, Role, Sizes,
    parts::{InMemory, Table},
    spill::Spill,
};
use psijoin_session::{
    Agreed, ElsewhereFault, Error, Event, JoinSpec, Joined, Lane, LaneReport, LaneTicket, Meeting,
    Outcome, Received, RequestedOutput, SpecFault, Stop, TableFacts, TableSpec, Watcher,
};
use psijoin_source::{Dialect, Progress, Source};
use psijoin_table::{KeySpec, Numbers, TableKeys};
use psijoin_transport::{Endpoint, Identity, Proxies, Security, endpoint::Address};

/// A table of a party: its keys, and a number for each.
struct Keys {
    fingerprints: Vec<Fingerprint>,
    numbers: Vec<i64>,
    facts: TableFacts,
}

impl Keys {
    /// Reads them from a file, as something else than the join does it.
    fn read(path: &Path) -> Self {
        let progress = Progress::default();
        let source = Source::open(path, None, &Dialect::default(), true, &progress).unwrap();
        let spill = Spill::in_memory();
        let amount = ["amount".to_owned()];
        let read = TableKeys::read(&source, &key(), &amount, &spill, &progress).unwrap();
        let mut keys = Self {
            fingerprints: Vec::new(),
            numbers: Vec::new(),
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
        }
        let facts: Vec<Numbers> = read.numbers();
        keys.facts.numbers = vec![("amount".to_owned(), facts[0].clone())];
        keys
    }
}

fn key() -> KeySpec {
    KeySpec::new(vec!["id".into()], vec![]).unwrap()
}

/// Writes a table of these keys, each with twice its number.
fn table(path: &Path, keys: impl Iterator<Item = u64>) {
    let rows: String = keys.map(|key| format!("{key},{}\n", 2 * key)).collect();
    fs::write(path, format!("id,amount\n{rows}")).unwrap();
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
        let protocol = if asked == "rows" {
            "rr22"
        } else {
            "rr22-circuit"
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

/// Runs all lanes of a join, each as a process of its own would, and finishes it. Returns the
/// places of shared keys, if rows are found.
fn run(mut agreed: Agreed<'_>, keys: &Keys) -> (Result<Outcome, Error>, Vec<u32>) {
    let tickets = (0..agreed.lanes()).map(|lane| agreed.ticket(lane));
    let tickets: Vec<LaneTicket> = tickets.collect();
    let reported = thread::scope(|scope| {
        let start = |ticket| scope.spawn(move || run_lane(ticket, keys));
        let running: Vec<_> = tickets.iter().map(start).collect();
        running
            .into_iter()
            .map(|lane| lane.join().unwrap())
            .collect::<Vec<_>>()
    });
    let mut rows = Vec::new();
    for (report, of_lane) in reported {
        agreed
            .take(&LaneReport::from_bytes(&report).unwrap())
            .unwrap();
        rows.extend(of_lane);
    }
    (agreed.finish(), rows)
}

/// Runs a lane of a party that has these keys, and returns its report, and the places of shared
/// keys.
fn run_lane(ticket: &LaneTicket, keys: &Keys) -> (Vec<u8>, Vec<u32>) {
    let ticket = LaneTicket::from_bytes(ticket.as_bytes().to_vec());
    let mut lane = Lane::open(&ticket, Proxies::default(), &Stop::default()).unwrap();
    let items = lane.items(&keys.fingerprints);
    let columns = match lane.plan().request().output.columns().of(lane.role()) {
        0 => Vec::new(),
        _ => vec![keys.numbers.clone()],
    };
    let input = Input {
        items: &items,
        columns: &columns,
        payloads: &[],
        joint_seed: &JointSeed::insecure_fixed([0; 32]),
    };
    let parts = lane.plan().parts().unwrap().shape.parts;
    let own = InMemory::new(&input, parts);
    let mut found = Vec::new();
    for part in lane.parts() {
        let done = lane.run_part(own.part(part).unwrap()).unwrap();
        found.extend(done.rows().into_iter().flat_map(|(rows, _)| rows));
    }
    (lane.finish().unwrap().to_bytes().to_vec(), found)
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
    let staged = |spec: JoinSpec, watcher: &dyn Watcher, file: &str| {
        let keys = Keys::read(&folder.join(file));
        let agreed = spec.agree(keys.facts.clone(), LANES, watcher, &Stop::default());
        run(agreed.unwrap(), &keys)
    };
    let (listens, address) = Listens::new();
    thread::scope(|scope| match by_stages {
        Role::Sender => {
            let received = scope.spawn(|| whole(listening(receiver), &listens));
            let (sent, _) = staged(to(address, sender), &(), "sender.csv");
            ([sent, received.join().unwrap()], Vec::new())
        }
        Role::Receiver => {
            let sent = scope.spawn(|| whole(listening(sender), &listens));
            let (received, rows) = staged(to(address, receiver), &(), "receiver.csv");
            ([sent.join().unwrap(), received], rows)
        }
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

#[test]
fn either_party_counts_and_adds_up_by_stages() {
    let folder = tempfile::tempdir().unwrap();
    for by_stages in [Role::Sender, Role::Receiver] {
        let specs = specs(folder.path(), "sum:sender.amount,receiver.amount", 10);
        let ([sent, received], _) = joined(specs, folder.path(), by_stages);
        assert!(sent.unwrap().received.is_none());
        let Some(Received::Sums(sums)) = received.unwrap().received else {
            panic!("sums were asked for");
        };
        let sums: Vec<String> = sums.iter().map(|sum| sum.value.to_string()).collect();
        let sum: u64 = (2000..3000).map(|key| 2 * key).sum();
        assert_eq!(sums, [sum.to_string(), sum.to_string()]);
    }
}

#[test]
fn rows_stay_where_their_parts_ran_and_a_record_is_signed() {
    let folder = tempfile::tempdir().unwrap();
    let mut specs = specs(folder.path(), "rows", 0);
    let records = ["sender.json", "receiver.json"].map(|name| folder.path().join(name));
    for (spec, record) in specs.iter_mut().zip(&records) {
        spec.record = Some(record.clone());
    }
    let keys = Keys::read(&folder.path().join("receiver.csv"));
    let ([sent, received], rows) = joined(specs, folder.path(), Role::Receiver);
    sent.unwrap();
    let received = received.unwrap();
    assert!(received.received.is_none());
    assert_eq!(
        received.plan.request().sizes,
        Sizes::new(3000, 2000).unwrap()
    );
    let mut shared: Vec<i64> = rows.iter().map(|row| keys.numbers[*row as usize]).collect();
    shared.sort_unstable();
    assert_eq!(shared, (2000..3000).map(|key| 2 * key).collect::<Vec<_>>());
    let [sender, receiver] = records.map(|record| fs::read(record).unwrap());
    assert_eq!(sender, receiver);
}

#[test]
fn too_few_shared_keys_are_withheld_on_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let specs = specs(folder.path(), "count", 1001);
    let (both, _) = joined(specs, folder.path(), Role::Receiver);
    for outcome in both {
        assert!(matches!(outcome, Err(Error::TooFew(1001))));
    }
}

#[test]
fn a_run_that_fails_elsewhere_is_told_to_the_other_side() {
    let folder = tempfile::tempdir().unwrap();
    let [sender, receiver] = specs(folder.path(), "count", 0);
    let keys = Keys::read(&folder.path().join("receiver.csv"));
    thread::scope(|scope| {
        let (listens, address) = Listens::new();
        let sender = listening(sender);
        let sent = scope.spawn(move || sender.join(&listens, &Stop::default()).map(drop));
        let agreed = to(address, receiver)
            .agree(keys.facts, LANES, &(), &Stop::default())
            .unwrap();
        let failed = agreed.finish();
        let expected = ElsewhereFault::Lanes {
            missing: 3,
            lanes: 3,
        };
        assert!(matches!(failed, Err(Error::Elsewhere(fault)) if fault == expected));
        let error = sent.join().unwrap().unwrap_err();
        assert!(error.to_string().contains("other party"), "{error}");
    });
}

#[test]
fn what_cannot_be_had_elsewhere_is_refused_before_anybody_is_met() {
    let folder = tempfile::tempdir().unwrap();
    let [_, receiver] = specs(folder.path(), "rows", 0);
    let refused = listening(receiver).agree(TableFacts::default(), LANES, &(), &Stop::default());
    assert!(matches!(
        refused,
        Err(Error::Elsewhere(ElsewhereFault::NoWay))
    ));
    let [_, mut receiver] = specs(folder.path(), "rows", 0);
    receiver.aligned = Some(psijoin_table::share::RepeatedKeys::default());
    let refused = receiver.agree(TableFacts::default(), LANES, &(), &Stop::default());
    assert!(matches!(
        refused,
        Err(Error::Elsewhere(ElsewhereFault::JobOrOrder))
    ));
    let [_, mut receiver] = specs(folder.path(), "count", 0);
    receiver.record = Some(folder.path().join("record.json"));
    receiver.meeting.security = Security::InsecurePlaintext;
    let refused = receiver.agree(TableFacts::default(), LANES, &(), &Stop::default());
    let expected = SpecFault::RecordWithoutIdentities;
    assert!(matches!(refused, Err(Error::Spec(fault)) if fault == expected));
    let [_, receiver] = specs(folder.path(), "sum:receiver.amount", 0);
    let refused = receiver.agree(TableFacts::default(), LANES, &(), &Stop::default());
    assert!(matches!(
        refused,
        Err(Error::Elsewhere(ElsewhereFault::Numbers(_)))
    ));
}
