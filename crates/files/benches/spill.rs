//! Measures the rate at which a store takes records and gives them back, and at which chunks are
//! sealed: `cargo bench -p psijoin-files`.

use divan::{Bencher, counter::BytesCount};
use psijoin_files::spill::{Budget, Folder, Spill, Store};
use ring::aead::{self, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

const TOTAL_BYTES: usize = 256 << 20;
const PARTITIONS: usize = 64;
/// The records of a thread for a partition when it has scattered 2^16 records of 20 bytes.
const AT_ONCE: usize = 20 << 10;

/// The part of it that may be held in memory.
const HELD: [&str; 2] = ["all", "a sixteenth"];

fn main() {
    divan::main();
}

fn store(held: &str) -> Store {
    let budget = match held {
        "all" => Budget::unlimited(),
        _ => Budget::new(TOTAL_BYTES as u64 / 16),
    };
    Store::new(PARTITIONS, 20, &Spill::new(budget, Folder::temporary()))
}

fn fill(store: &Store) {
    let records = vec![0x5a; AT_ONCE];
    for turn in 0..TOTAL_BYTES / AT_ONCE {
        let appended = store.append(turn % PARTITIONS, &records);
        appended.expect("room in the folder for temporary files");
    }
}

#[divan::bench(args = HELD, sample_count = 9, sample_size = 1)]
fn append(bencher: Bencher<'_, '_>, held: &str) {
    let bencher = bencher.counter(BytesCount::new(TOTAL_BYTES));
    bencher
        .with_inputs(|| store(held))
        .bench_refs(|store| fill(store));
}

#[divan::bench(args = HELD, sample_count = 9, sample_size = 1)]
fn read(bencher: Bencher<'_, '_>, held: &str) {
    let bencher = bencher.counter(BytesCount::new(TOTAL_BYTES));
    let store = store(held);
    fill(&store);
    bencher.bench_local(|| {
        for partition in 0..PARTITIONS {
            divan::black_box(store.read(partition).expect("what was written"));
        }
    });
}

/// A chunk, by what it may be sealed with.
#[divan::bench(args = [&AES_256_GCM, &CHACHA20_POLY1305])]
fn seal(bencher: Bencher<'_, '_>, algorithm: &'static aead::Algorithm) {
    let mut chunk = vec![0x5a; 256 << 10];
    let key = UnboundKey::new(algorithm, &[7; 32]).expect("32 bytes are a key");
    let key = LessSafeKey::new(key);
    let bencher = bencher.counter(BytesCount::new(chunk.len()));
    bencher.bench_local(|| {
        let nonce = Nonce::assume_unique_for_key([0; 12]);
        key.seal_in_place_separate_tag(nonce, Aad::empty(), &mut chunk)
    });
}
