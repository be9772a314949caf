//! Whole protocols, both parties in one process, one thread each, half of the items shared:
//! `cargo bench -p psijoin --bench protocols -- cm20`.

use divan::{Bencher, counter::ItemsCount};
use psijoin::{
    BaseOts, Columns, Fingerprint, Group, Groups, Output, OutputKind, Payloads, Request, Role,
    pair, registry,
};
use psijoin_block::{Block, Prg};

/// Those that take no more than seconds for a million items.
const FAST: [&str; 9] = [
    "kkrt",
    "spot-fast",
    "spot-low",
    "spot-low-malicious-sender",
    "cm20",
    "cm20-malicious-sender",
    "rr22",
    "rr22-malicious",
    "rr22-circuit",
];

/// Those that take 185 oblivious transfers per item.
const ON_BLOOM_FILTERS: [&str; 4] = ["gbf", "gbf-silent", "random-gbf", "random-gbf-silent"];

/// Those that evaluate circuits, of thousands of gates per item.
const CIRCUITS: [&str; 4] = [
    "circuit-yao",
    "circuit-gmw",
    "circuit-gmw-vector",
    "circuit-gmw-vector-silent",
];

/// Those that take a hundred oblivious transfers per item, most of them for equality tests.
const BY_EQUALITY_TESTS: [&str; 3] = ["kk20", "kk20-silent", "psty19"];

fn main() {
    divan::main();
}

fn fingerprints(count: usize) -> Vec<Fingerprint> {
    let mut fingerprints = vec![[0; 32]; count];
    Prg::from_seed(Block(1)).fill_bytes(fingerprints.as_flattened_mut());
    fingerprints
}

#[divan::bench(args = FAST, consts = [65_536, 1_048_576], sample_count = 5, sample_size = 1)]
fn protocol<const ITEMS: usize>(bencher: Bencher, name: &str) {
    measure(bencher, ITEMS, name, OutputKind::Rows);
}

#[divan::bench(args = ON_BLOOM_FILTERS, consts = [16_384, 65_536], sample_count = 5, sample_size = 1)]
fn on_bloom_filter<const ITEMS: usize>(bencher: Bencher, name: &str) {
    measure(bencher, ITEMS, name, OutputKind::Rows);
}

#[divan::bench(args = CIRCUITS, consts = [1024, 4096, 16_384, 65_536], sample_count = 3, sample_size = 1)]
fn circuit<const ITEMS: usize>(bencher: Bencher, name: &str) {
    measure(bencher, ITEMS, name, OutputKind::Rows);
}

#[divan::bench(
    args = BY_EQUALITY_TESTS,
    consts = [256, 1024, 4096, 16_384, 65_536],
    sample_count = 5,
    sample_size = 1
)]
fn count_linear<const ITEMS: usize>(bencher: Bencher, name: &str) {
    measure(bencher, ITEMS, name, OutputKind::Count);
}

#[divan::bench(args = CIRCUITS, consts = [16_384], sample_count = 3, sample_size = 1)]
fn count<const ITEMS: usize>(bencher: Bencher, name: &str) {
    measure(bencher, ITEMS, name, OutputKind::Count);
}

/// Where to count by `dh`, and where by `rr22-circuit`.
#[divan::bench(args = ["dh", "rr22-circuit"], consts = [16, 256, 1024, 4096, 16_384, 65_536], sample_count = 5, sample_size = 1)]
fn counting<const ITEMS: usize>(bencher: Bencher, name: &str) {
    measure(bencher, ITEMS, name, OutputKind::Count);
}

/// Measures each output of `rr22-circuit`.
#[divan::bench(args = ["rows", "count", "threshold", "sum-of-receiver", "sum-of-sender", "shares"], consts = [65_536, 262_144], sample_count = 5, sample_size = 1)]
fn functions<const ITEMS: usize>(bencher: Bencher, output: &str) {
    let columns = |sender, receiver| Columns { sender, receiver };
    let output = match output {
        "rows" => OutputKind::Rows,
        "count" => OutputKind::Count,
        "threshold" => OutputKind::Threshold(ITEMS as u64 / 2),
        "sum-of-receiver" => OutputKind::Sums(columns(0, 1)),
        "sum-of-sender" => OutputKind::Sums(columns(1, 0)),
        _ => OutputKind::Shares(columns(0, 0)),
    };
    measure(bencher, ITEMS, "rr22-circuit", output);
}

/// Measures totals of groups, beside a sum without.
#[divan::bench(args = ["none", "16 of receiver", "16 of sender", "256 of both"], consts = [65_536, 1_048_576], sample_count = 5, sample_size = 1)]
fn groups<const ITEMS: usize>(bencher: Bencher, labels: &str) {
    let columns = |sender, receiver| Columns { sender, receiver };
    let groups = |labels| {
        OutputKind::Groups(Groups {
            columns: columns(1, 0),
            labels,
            least: 50,
            noisy: false,
        })
    };
    let output = match labels {
        "none" => OutputKind::Sums(columns(1, 0)),
        "16 of receiver" => groups(columns(0, 16)),
        "16 of sender" => groups(columns(16, 0)),
        _ => groups(columns(16, 16)),
    };
    measure(bencher, ITEMS, "rr22-circuit", output);
}

/// Measures payloads beside rows: none, bytes of the sender, and a sender that learns, too.
#[divan::bench(args = ["rows", "32", "4096", "both"], consts = [1_048_576], sample_count = 5, sample_size = 1)]
fn payloads<const ITEMS: usize>(bencher: Bencher, output: &str) {
    let payloads = |from_sender, back| OutputKind::Payloads(Payloads { from_sender, back });
    let (items, output) = match output {
        "rows" => (ITEMS, OutputKind::Rows),
        "both" => (ITEMS, payloads(0, Some(0))),
        "4096" => (ITEMS / 16, payloads(4096, None)),
        _ => (ITEMS, payloads(32, None)),
    };
    measure(bencher, items, "rr22", output);
}

/// Measures base OTs by ML-KEM beside those by Diffie-Hellman.
#[divan::bench(args = ["diffie-hellman", "ml-kem"], consts = [1024, 1_048_576], sample_count = 7, sample_size = 1)]
fn base_ots<const ITEMS: usize>(bencher: Bencher, base: &str) {
    let request = Request::rows(ITEMS as u64, ITEMS as u64).expect("a valid request");
    let base = match base {
        "ml-kem" => BaseOts::MlKem,
        _ => BaseOts::DiffieHellman,
    };
    measure_request(bencher, "rr22", request.base_ots(base));
}

/// Item digests, base OTs and all.
fn measure(bencher: Bencher, items: usize, name: &str, output: OutputKind) {
    let request = Request::rows(items as u64, items as u64).expect("a valid request");
    measure_request(bencher, name, request.output(output));
}

fn measure_request(bencher: Bencher, name: &str, request: Request) {
    let (items, output) = (request.sizes.sender() as usize, request.output.clone());
    let all = fingerprints(items * 3 / 2);
    let protocol = registry::find(name).expect("it is registered");
    let columns = output.columns();
    let payloads =
        [Role::Sender, Role::Receiver].map(|role| vec![7; items * output.payload_bytes(role)]);
    let plan = protocol.plan(&request).expect("a plan");
    // The sum of a column of ones is the count.
    let [sender, receiver] = [columns.sender, columns.receiver].map(|n| vec![vec![1; items]; n]);
    let sender = pair::Table {
        items: &all[..items],
        columns: &sender,
        payloads: &payloads[0],
    };
    let receiver = pair::Table {
        items: &all[items / 2..],
        columns: &receiver,
        payloads: &payloads[1],
    };
    bencher.counter(ItemsCount::new(items)).bench_local(|| {
        let outcome = pair::run(&plan, sender, receiver).expect("a result");
        let shared = items as u64 / 2;
        match outcome.receiver {
            Output::Rows(rows) => assert_eq!(rows.len() as u64, shared),
            Output::Matched(matched) => assert_eq!(matched.rows.len() as u64, shared),
            Output::Count(count) => assert_eq!(count, shared),
            Output::Sums(sums) => assert_eq!(sums, [shared as i64]),
            // All items have the second label.
            Output::Groups(groups) => {
                let shown: Vec<&Group> = groups.iter().flatten().collect();
                assert!(shown.len() == 1 && shown[0].count == shared as i64);
            }
            Output::Reached(reached) => assert!(reached),
            Output::Shares(shares) => assert!(shares.places() >= items),
            other => panic!("what is {other:?}?"),
        }
    });
}
