//! Both parties of `psz-balanced`, `psz-cuckoo` and `pssz` on short items, one thread each, from
//! base OTs to rows.

use divan::Bencher;
use psijoin_channel::{joint_seed::JointSeed, memory};
use psijoin_psi::{
    Input, Items, Output, Request,
    pair::{self, Side},
};
use psijoin_psi_ot::{
    pssz::PERMUTATION,
    psz::{BALANCED, CUCKOO, Params, Scheme},
};

fn main() {
    divan::main();
}

#[divan::bench(args = [(32, 16), (32, 20), (64, 16), (64, 20)], sample_count = 3, sample_size = 1)]
fn pssz(bencher: Bencher, (bits, log_n): (u32, u32)) {
    both_parties(bencher, &PERMUTATION, bits, log_n);
}

#[divan::bench(args = [(32, 16), (32, 20)], sample_count = 3, sample_size = 1)]
fn psz_cuckoo(bencher: Bencher, (bits, log_n): (u32, u32)) {
    both_parties(bencher, &CUCKOO, bits, log_n);
}

#[divan::bench(args = [(32, 16), (32, 20)], sample_count = 3, sample_size = 1)]
fn psz_balanced(bencher: Bencher, (bits, log_n): (u32, u32)) {
    both_parties(bencher, &BALANCED, bits, log_n);
}

/// Consecutive numbers, half of them shared.
fn both_parties(bencher: Bencher, scheme: &'static Scheme, bits: u32, log_n: u32) {
    let n = 1_u64 << log_n;
    let request = Request::rows(n, n).and_then(|request| request.numbers(bits));
    let plan = Params::new(&request.expect("a set of this size"), scheme)
        .expect("parameters")
        .plan();
    let items = |first| Items::numbers(&(first..first + n).collect::<Vec<_>>());
    let (sender, receiver) = (items(0), items(n / 2));
    let joint_seed = &JointSeed::insecure_fixed([5; 32]);
    let pools = [pair::single_thread(), pair::single_thread()];
    bencher.bench(|| {
        let (sending, receiving) = memory::pair();
        let side = |items, channel, pool| {
            let input = Input {
                items,
                columns: &[],
                payloads: &[],
                joint_seed,
            };
            let side = Side {
                channel,
                streams: Vec::new(),
                rng: None,
                pool,
                noise: &[],
            };
            (input, side)
        };
        let (sent, received) = pair::run_sides(
            &plan,
            side(&sender, sending, &pools[0]),
            side(&receiver, receiving, &pools[1]),
        );
        sent.expect("a run");
        let half = (n / 2) as usize;
        assert!(matches!(received, Ok(Output::Rows(rows)) if rows.len() == half));
    });
}
