//! Both parties of `psz-balanced`, `psz-cuckoo` and `pssz` on short items, one thread each, from base OTs to
//! rows. Digests, which stand for long items, are measured by `psijoin bench`.

use std::thread;

use divan::Bencher;
use psijoin_channel::memory;
use psijoin_psi::{
    Context, Input, Items, Output, Request, Role, pair,
    protocol::run,
    psz::{Params, Scheme},
};

fn main() {
    divan::main();
}

#[divan::bench(args = [(32, 16), (32, 20), (64, 16), (64, 20)], sample_count = 3, sample_size = 1)]
fn pssz(bencher: Bencher, (bits, log_n): (u32, u32)) {
    both_parties(bencher, Scheme::Permutation, bits, log_n);
}

#[divan::bench(args = [(32, 16), (32, 20)], sample_count = 3, sample_size = 1)]
fn psz_cuckoo(bencher: Bencher, (bits, log_n): (u32, u32)) {
    both_parties(bencher, Scheme::Cuckoo, bits, log_n);
}

#[divan::bench(args = [(32, 16), (32, 20)], sample_count = 3, sample_size = 1)]
fn psz_balanced(bencher: Bencher, (bits, log_n): (u32, u32)) {
    both_parties(bencher, Scheme::Balanced, bits, log_n);
}

/// Consecutive numbers, half of them shared.
fn both_parties(bencher: Bencher, scheme: Scheme, bits: u32, log_n: u32) {
    let n = 1_u64 << log_n;
    let request = Request::rows(n, n).expect("a set of this size");
    let plan = Params::short(&request, scheme, bits).expect("parameters");
    let items = |first| Items::numbers(&(first..first + n).collect::<Vec<_>>());
    let (sender, receiver) = (items(0), items(n / 2));
    let pools = [pair::single_thread(), pair::single_thread()];
    bencher.bench(|| {
        let (mut a, mut b) = memory::pair();
        let party = |role, items, channel: &mut _| {
            let input = Input {
                items,
                columns: &[],
                joint_seed: &[5; 32],
            };
            run(&plan, role, input, channel, &mut Context::new()).expect("a run")
        };
        let output = thread::scope(|scope| {
            scope.spawn(|| pools[0].run(|| party(Role::Sender, &sender, &mut a)));
            pools[1].run(|| party(Role::Receiver, &receiver, &mut b))
        });
        let half = (n / 2) as usize;
        assert!(matches!(output, Output::Rows(rows) if rows.len() == half));
    });
}
