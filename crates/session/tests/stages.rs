//! A join by stages, as a cluster calls them, with a party that does all in one.

use std::{
    fs,
    num::NonZeroUsize,
    path::Path,
    sync::{Mutex, mpsc},
    thread,
};

use psijoin::{
    Context, Fingerprint, Input, Role, Sizes,
    parts::{self, Gathered, InMemory, Session, Table},
    spill::Spill,
};
use psijoin_session::{
    Agreed, ElsewhereFault, Error, Event, JoinSpec, Joined, Meeting, Outcome, Received,
    RequestedOutput, SpecFault, Stop, TableFacts, TableSpec, Watcher,
};
use psijoin_source::{Dialect, Progress, Source};
use psijoin_table::{KeySpec, Numbers, TableKeys};
use psijoin_transport::{Endpoint, Identity, Security, endpoint::Address};

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

/// Returns a join of both parties in parts, the sender's first, which listens.
fn specs(folder: &Path, asked: &str, min_intersection: u64) -> [JoinSpec; 2] {
    table(&folder.join("sender.csv"), 0..3000);
    table(&folder.join("receiver.csv"), 2000..4000);
    let identities = [(); 2].map(|()| Identity::generate().unwrap());
    let peers = identities.clone().map(|identity| identity.fingerprint());
    let [sender, receiver] = identities;
    let [its_peer, own_peer] = [peers[1], peers[0]];
    // Another is known once the sender listens.
    let endpoint = Endpoint::Listen("127.0.0.1:0".parse().unwrap());
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
        spec.resources.threads = NonZeroUsize::new(1);
        spec
    };
    [
        spec(Role::Sender, sender, its_peer, "sender.csv"),
        spec(Role::Receiver, receiver, own_peer, "receiver.csv"),
    ]
}

/// Runs all parts of a join, one by one, and finishes it. Returns the shared keys' places, if rows
/// are found.
fn run(mut agreed: Agreed<'_>, keys: &Keys) -> (Result<Outcome, Error>, Vec<u32>) {
    let (plan, role, joint_seed) = (agreed.plan(), agreed.role(), *agreed.joint_seed());
    let items = plan.items(&keys.fingerprints, &joint_seed);
    let columns = match plan.request().output.columns().of(role) {
        0 => Vec::new(),
        _ => vec![keys.numbers.clone()],
    };
    let input = Input {
        items: &items,
        columns: &columns,
        payloads: &[],
        joint_seed: &joint_seed,
    };
    let request = plan.request().clone();
    let again = parts::in_parts(
        psijoin::registry::find(plan.info().name).unwrap(),
        &request,
        5,
    );
    let again = again.unwrap();
    assert_eq!(again.digest(), plan.digest(), "a task makes the same plan");
    let session = Session::new(&again, role, &joint_seed);
    let own = InMemory::new(&input, session.parts());
    let [channel] = agreed.streams() else {
        panic!("one thread, one stream");
    };
    let mut gathered = Gathered::new(&session);
    let mut rows = Vec::new();
    for part in 0..session.parts() {
        let own = own.part(part).unwrap();
        let done = session.run_part(part, own, &mut Context::new(channel));
        let done = done.unwrap();
        rows.extend(done.rows().into_iter().flat_map(|(rows, _)| rows));
        gathered.take(part, done).unwrap();
    }
    let output = session.conclude(&gathered, &mut Context::new(channel));
    (agreed.finish(output), rows)
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
        let agreed = spec.agree(keys.facts.clone(), watcher, &Stop::default());
        run(agreed.unwrap(), &keys)
    };
    let (listens, address) = Listens::new();
    thread::scope(|scope| match by_stages {
        Role::Sender => {
            let received = scope.spawn(|| whole(to(address, receiver), &()));
            let (sent, _) = staged(sender, &listens, "sender.csv");
            ([sent, received.join().unwrap()], Vec::new())
        }
        Role::Receiver => {
            let sent = scope.spawn(|| whole(sender, &listens));
            let (received, rows) = staged(to(address, receiver), &(), "receiver.csv");
            ([sent.join().unwrap(), received], rows)
        }
    })
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
        let sent = scope.spawn(move || sender.join(&listens, &Stop::default()).map(drop));
        let agreed = to(address, receiver)
            .agree(keys.facts, &(), &Stop::default())
            .unwrap();
        let failed = agreed.finish(Err(psijoin::Error::Misuse("a task was lost")));
        assert!(matches!(failed, Err(Error::Psi(psijoin::Error::Misuse(_)))));
        let error = sent.join().unwrap().unwrap_err();
        assert!(error.to_string().contains("other party"), "{error}");
    });
}

#[test]
fn what_cannot_be_had_elsewhere_is_refused_before_anybody_is_met() {
    let folder = tempfile::tempdir().unwrap();
    let [_, mut receiver] = specs(folder.path(), "rows", 0);
    receiver.aligned = Some(psijoin_table::share::RepeatedKeys::default());
    let refused = receiver.agree(TableFacts::default(), &(), &Stop::default());
    assert!(matches!(
        refused,
        Err(Error::Elsewhere(ElsewhereFault::JobOrOrder))
    ));
    let [_, mut receiver] = specs(folder.path(), "count", 0);
    receiver.record = Some(folder.path().join("record.json"));
    receiver.meeting.security = Security::InsecurePlaintext;
    let refused = receiver.agree(TableFacts::default(), &(), &Stop::default());
    let expected = SpecFault::RecordWithoutIdentities;
    assert!(matches!(refused, Err(Error::Spec(fault)) if fault == expected));
    let [_, receiver] = specs(folder.path(), "sum:receiver.amount", 0);
    let refused = receiver.agree(TableFacts::default(), &(), &Stop::default());
    assert!(matches!(
        refused,
        Err(Error::Elsewhere(ElsewhereFault::Numbers(_)))
    ));
}
