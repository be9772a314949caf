//! Garbling and evaluating, against the hash calls that they cannot do without; a whole circuit of
//! either size in the same memory, which `/usr/bin/time -v` shows; and the making of triples. One
//! thread a party: `cargo bench -p psijoin-circuit`.

use std::thread;

use divan::{Bencher, counter::ItemsCount};
use psijoin_block::{Block, Prg, crhf, tower::Gf64};
use psijoin_channel::{AbortCode, Channel, Error, Inbound, Outbound, memory};
use psijoin_circuit::{
    Bits, Side, TwoParty, equality,
    garble::{Evaluator, Garbler, evaluator, garbler},
    gmw::{self, triples::Multiplication},
    plain::Gates,
};
use psijoin_ot::{BaseOts, extension::Extension};
use psijoin_runtime::parallel::Pool;

fn main() {
    divan::main();
}

/// AND gates, in layers of as many lanes as circuits compute at once.
const GATES: usize = 1 << 16;
const LANES: usize = 1 << 12;

/// A peer that takes everything, and whose messages are zeros.
struct Nobody;

impl Outbound for Nobody {
    fn send(&mut self, _message: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn abort(&mut self, _code: AbortCode) {}
}

impl Inbound for Nobody {
    fn recv(&mut self, _message: &mut [u8]) -> Result<(), Error> {
        Ok(())
    }
}

fn single_thread() -> Pool {
    Pool::new(1).expect("the system gives a thread")
}

/// Hashes alone, a batch that stays in the first-level cache at a time: four per gate for the
/// garbler, two for the evaluator.
#[divan::bench(args = [4, 2])]
fn hashes(bencher: Bencher, hashes: usize) {
    const BATCH: usize = 256;
    let mut blocks = [Block(1); BATCH];
    bencher.counter(ItemsCount::new(GATES)).bench_local(|| {
        for gate in (0..GATES).step_by(BATCH) {
            for _ in 0..hashes {
                crhf::tweakable(gate as u64, &mut blocks);
            }
        }
        blocks
    });
}

fn set_up() -> (garbler::Setup, evaluator::Setup) {
    let (mut a, mut b) = memory::pair();
    thread::scope(|scope| {
        let garbler =
            scope.spawn(move || garbler::Setup::new(Extension::IKNP, &mut a, &mut Prg::from_os()));
        let evaluator = evaluator::Setup::new(Extension::IKNP, &mut b, &mut Prg::from_os());
        let garbler = garbler.join().expect("no panic").expect("an honest peer");
        (garbler, evaluator.expect("an honest peer"))
    })
}

/// The square of these bits, again and again.
fn bench_gates<P>(bencher: Bencher, mut party: P, bits: &P::Wires)
where
    P: TwoParty + Send,
    P::Wires: Sync,
{
    let pool = single_thread();
    let mut layers = || {
        for _ in 0..GATES / LANES {
            party.and(bits, bits).expect("nobody objects");
        }
    };
    bencher
        .counter(ItemsCount::new(GATES))
        .bench_local(|| pool.run(&mut layers));
}

#[divan::bench]
fn garble(bencher: Bencher) {
    let (mut setup, _) = set_up();
    let mut nobody = Channel::new(Nobody, Nobody);
    let mut party = Garbler::new(&mut setup, &mut nobody);
    let bits = party.own(&[Bits::ones(LANES)]).expect("labels");
    bench_gates(bencher, party, &bits[0]);
}

#[divan::bench]
fn evaluate(bencher: Bencher) {
    let (_, mut setup) = set_up();
    let mut nobody = Channel::new(Nobody, Nobody);
    let mut party = Evaluator::new(&mut setup, &mut nobody);
    let bits = party.theirs(1, LANES).expect("labels");
    bench_gates(bencher, party, &bits[0]);
}

/// `gates` AND gates in a row, both parties, base OTs and all.
#[divan::bench(args = [10_000_000, 100_000_000], sample_count = 1, sample_size = 1)]
fn streamed(bencher: Bencher, gates: usize) {
    fn layers<P: TwoParty>(mut party: P, gates: usize) -> Result<(), psijoin_circuit::Error> {
        let bits = [Bits::ones(LANES)];
        let (own, theirs) = match party.side() {
            Side::First => (party.own(&bits)?, party.theirs(1, LANES)?),
            Side::Second => (party.theirs(1, LANES)?, party.own(&bits)?),
        };
        let mut product = own[0].clone();
        for _ in 0..gates.div_ceil(LANES) {
            product = party.and(&product, &theirs[0])?;
        }
        match party.side() {
            Side::First => party.reveal(&[product]),
            Side::Second => party
                .learn(&[product])
                .map(|learned| assert!(learned == bits)),
        }
    }
    let pools = [single_thread(), single_thread()];
    bencher.counter(ItemsCount::new(gates)).bench_local(|| {
        let (mut a, mut b) = memory::pair();
        let mut garbler = || {
            let mut setup = garbler::Setup::new(Extension::IKNP, &mut a, &mut Prg::from_os())?;
            layers(Garbler::new(&mut setup, &mut a), gates)
        };
        let mut evaluator = || {
            let mut setup = evaluator::Setup::new(Extension::IKNP, &mut b, &mut Prg::from_os())?;
            layers(Evaluator::new(&mut setup, &mut b), gates)
        };
        thread::scope(|scope| {
            scope.spawn(|| pools[0].run(&mut garbler).expect("an honest peer"));
            pools[1].run(&mut evaluator).expect("an honest peer");
        });
    });
}

/// Multiplication triples of bits, both parties, base OTs and all.
#[divan::bench(
    args = [
        (Extension::IKNP, 1 << 16),
        (Extension::IKNP, 1 << 20),
        (Extension::SILENT, 1 << 16),
        (Extension::SILENT, 1 << 20),
    ],
    sample_count = 3,
    sample_size = 1,
)]
fn triples(bencher: Bencher, (extension, lanes): (Extension, u64)) {
    let gates = Gates {
        products: [(1, lanes)].into(),
        layers: 1,
    };
    let pools = [single_thread(), single_thread()];
    bencher.counter(ItemsCount::new(lanes)).bench_local(|| {
        let (mut a, mut b) = memory::pair();
        let party = |side, channel: &mut Channel| {
            let rng = &mut Prg::from_os();
            let mut setup =
                gmw::Setup::new(side, extension, Multiplication::Vectors, channel, rng)?;
            setup.triples().prepare(&gates, channel)
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                pools[0]
                    .run(|| party(Side::First, &mut a))
                    .expect("triples")
            });
            pools[1]
                .run(|| party(Side::Second, &mut b))
                .expect("triples");
        });
    });
}

/// Tests of numbers of 61 bits, both parties, base OTs and all.
#[divan::bench(args = [1 << 12, 1 << 16], sample_count = 3, sample_size = 1)]
fn equal(bencher: Bencher, lanes: usize) {
    const BITS: usize = 61;
    let count = equality::lookups(BITS, lanes);
    let numbers: Vec<u64> = (0..lanes as u64).collect();
    let numbers = equality::Numbers::new(&numbers, BITS);
    let pools = [single_thread(), single_thread()];
    bencher.counter(ItemsCount::new(lanes)).bench_local(|| {
        let (mut a, mut b) = memory::pair();
        let mut sender = || {
            let mut sender =
                equality::Sender::set_up(BaseOts::DiffieHellman, &mut a, &mut Prg::from_os())?;
            sender.prepare(count, &mut a)?;
            let (_, targets) = sender.targets::<Gf64>(BITS, lanes, &mut Prg::from_os());
            sender.equal(&targets, &mut a)
        };
        let mut receiver = || {
            let mut receiver =
                equality::Receiver::set_up(BaseOts::DiffieHellman, &mut b, &mut Prg::from_os())?;
            receiver.prepare(count, &mut b)?;
            receiver.equal(&numbers, &mut b)
        };
        thread::scope(|scope| {
            scope.spawn(|| pools[0].run(&mut sender).expect("shares"));
            pools[1].run(&mut receiver).expect("shares");
        });
    });
}
