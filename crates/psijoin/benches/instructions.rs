//! Instructions of the kernels and of two small runs, as callgrind counts them: the same on any
//! x86-64 machine with AVX2, however busy it is, so that a regression shows in review.
//!
//! `cargo bench -p psijoin --bench instructions` compares with `benches/instructions.txt`, and
//! `… -- --update` writes it again. It needs valgrind. Counts depend on the compiler, whose version
//! the file names. Those that differ by at most 1 % are equal, since what waits for a message
//! counts, too. Whole joins by the program are in the bench of that name of `psijoin-cli`.

#![allow(clippy::print_stdout)]

mod callgrind;

use std::{env, hint::black_box, process::ExitCode};

use psijoin::{
    Fingerprint, Input, JointSeed, Output, Pool, Request, channel::memory, pair, registry,
};
use psijoin_block::{Block, Prg, blake3_rows, crhf, gf128, transpose};

/// Under callgrind nothing else is counted but what one of these does, and starting the program,
/// which the first one does alone.
const CASES: [(&str, fn()); 8] = [
    ("nothing", || ()),
    ("prg: 2^16 blocks", || {
        Prg::from_seed(Block(1)).fill(&mut blocks())
    }),
    ("crhf: 2^16 blocks", || {
        crhf::correlation_robust(&mut blocks())
    }),
    ("blake3_rows: 2^14 rows of 4 words", hash_rows),
    ("gf128: inner product of 2^16", || {
        black_box(gf128::inner_product(&blocks(), &blocks()));
    }),
    ("transpose: 512 columns of 2^13", transpose_columns),
    ("kkrt: 2^11 items per party", || run("kkrt")),
    ("rr22: 2^11 items per party", || run("rr22")),
];

fn blocks() -> Vec<Block> {
    black_box(vec![Block(7); 1 << 16])
}

fn hash_rows() {
    let rows = black_box(vec![[3_u64; 4]; 1 << 14]);
    let mut hashes = vec![[0_u64; 2]; rows.len()];
    blake3_rows::keyed_hash(&[1; 32], &rows, &mut hashes);
    black_box(hashes);
}

fn transpose_columns() {
    const ROWS: usize = 1 << 13;
    let columns = black_box(vec![5_u64; 512 * ROWS / 64]);
    let mut rows = vec![[0_u64; 8]; ROWS];
    transpose::transpose(&columns, &mut rows);
    black_box(rows);
}

/// Both parties, with the same randomness every time.
fn run(name: &str) {
    const ITEMS: u32 = 1 << 11;
    let protocol = registry::find(name).expect("it is registered");
    let request = Request::rows(ITEMS.into(), ITEMS.into()).expect("few items");
    let plan = protocol.plan(&request).expect("a plan");
    let joint_seed = &JointSeed::insecure_fixed([1; 32]);
    let items = |first: u32| {
        let number = |i: u32| {
            let mut fingerprint: Fingerprint = [0; 32];
            fingerprint[..4].copy_from_slice(&i.to_le_bytes());
            fingerprint
        };
        let fingerprints: Vec<Fingerprint> = (first..first + ITEMS).map(number).collect();
        plan.items(&fingerprints, joint_seed)
    };
    let (senders, receivers) = (items(0), items(ITEMS / 2));
    let (sending, receiving) = memory::pair();
    let pools = [0, 1].map(|_| Pool::new(1).expect("a thread"));
    let side = |items, channel, party: usize| {
        let input = Input {
            items,
            columns: &[],
            payloads: &[],
            joint_seed,
        };
        let side = pair::Side {
            channel,
            streams: Vec::new(),
            rng: Some(Prg::from_seed(Block(party as u128))),
            pool: &pools[party],
            noise: &[],
        };
        (input, side)
    };
    let (_, found) = pair::run_sides(
        &plan,
        side(&senders, sending, 0),
        side(&receivers, receiving, 1),
    );
    assert!(matches!(found, Ok(Output::Rows(rows)) if rows.len() as u32 == ITEMS / 2));
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [flag, name] = &arguments[..]
        && flag == "--case"
    {
        let case = CASES.iter().find(|(known, _)| known == name);
        case.expect("one of the cases").1();
        return ExitCode::SUCCESS;
    }
    let start = count(CASES[0].0);
    let counts = CASES[1..].iter().map(|(name, _)| {
        let more = count(name).saturating_sub(start);
        ((*name).to_owned(), more)
    });
    callgrind::compare(&counts.collect::<Vec<_>>())
}

/// Returns callgrind's count for a case.
fn count(name: &str) -> u64 {
    let program = env::current_exe().expect("the program knows where it is");
    let output = callgrind::command(program)
        .args(["--case", name])
        .output()
        .expect("valgrind is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    callgrind::count(&said)
}
