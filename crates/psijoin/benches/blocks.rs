//! The building blocks, both parties in one process, one thread each, over memory, base OTs
//! included: `cargo bench -p psijoin --bench blocks`. OT extension, base OT and vector OLE have
//! benches of their own in `psijoin-ot`, the key-value store's parts in `psijoin-encode`.

use std::thread;

use divan::{Bencher, counter::ItemsCount};
use psijoin::{
    BaseOts, Context, JointSeed, Log2Prob, Pool, Security, Sizes,
    blocks::{
        DigestVec, Digests, Element, Gf64, MaskLength, Prg, batched_oprf, dh_oprf,
        multi_point_oprf,
        okvs::{self, RowHasher, Store},
        ot::{
            iknp::SemiHonest,
            silent,
            vole::{self, Base},
        },
        vole_oprf,
    },
    channel::{Channel, memory},
};

const SIZES: [u64; 2] = [1 << 16, 1 << 20];

fn main() {
    divan::main();
}

fn share() -> Log2Prob {
    Log2Prob::from_log2(-40.0)
}

fn digests(count: u64) -> DigestVec {
    let mut rng = Prg::from_os();
    DigestVec::Short((0..count).map(|_| rng.bytes()).collect())
}

/// Runs both parties, one thread each.
fn both(
    bencher: Bencher,
    items: u64,
    sender: impl Fn(&mut Channel) + Sync,
    receiver: impl Fn(&mut Channel) + Sync,
) {
    let pools = [0, 1].map(|_| Pool::new(1).expect("the system gives a thread"));
    bencher.counter(ItemsCount::new(items)).bench_local(|| {
        let (mut a, mut b) = memory::pair();
        thread::scope(|scope| {
            let (sender, [pool, _]) = (&sender, &pools);
            scope.spawn(move || pool.run(|| sender(&mut a)));
            pools[1].run(|| receiver(&mut b));
        });
    });
}

fn seed(channel: &mut Channel, first: bool) -> JointSeed {
    JointSeed::agree(channel, first).expect("an honest peer")
}

/// A function each, evaluated once by either party.
#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn batched(bencher: Bencher, count: u64) {
    let values = MaskLength { bits: 64 };
    let params = batched_oprf::Params::new(count as usize, count, values, share());
    let params = params.expect("parameters");
    let items = digests(count);
    let input = |i: usize| batched_oprf::Input::new(items.as_digests().words(i), 0);
    both(
        bencher,
        count,
        |channel| {
            let mut context = Context::new(channel);
            let sender = batched_oprf::Sender::setup(&params, &mut context).expect("OTs");
            let seed = seed(context.channel, true);
            let functions = sender.receive(&seed, context.channel.halves().1);
            let queries = (0..count as u32).map(|i| (i, input(i as usize)));
            divan::black_box(functions.expect("functions").evaluate(queries));
        },
        |channel| {
            let mut context = Context::new(channel);
            let receiver = batched_oprf::Receiver::setup(&params, &mut context).expect("OTs");
            let seed = seed(context.channel, false);
            let outbound = context.channel.halves().0;
            let values = receiver.evaluate(&|i| Some(input(i as usize)), &seed, outbound);
            divan::black_box(values.expect("values"));
        },
    );
}

/// As many items of either party.
#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn multi_point(bencher: Bencher, count: u64) {
    let sizes = Sizes::new(count, count).expect("a size");
    let rows = multi_point_oprf::default_rows(count);
    let params = multi_point_oprf::Params::new(rows, sizes, false, share()).expect("parameters");
    let items = [digests(count), digests(count)];
    both(
        bencher,
        count,
        |channel| {
            let mut context = Context::new(channel);
            let sender = multi_point_oprf::Sender::setup(&params, &mut context).expect("OTs");
            let seed = seed(context.channel, true);
            let values = sender.evaluate(items[0].as_digests(), &seed, &mut context);
            divan::black_box(values.expect("values"));
        },
        |channel| {
            let mut context = Context::new(channel);
            let receiver = multi_point_oprf::Receiver::setup(&params, &mut context).expect("OTs");
            let seed = seed(context.channel, false);
            let values = receiver.evaluate(items[1].as_digests(), &seed, &mut context);
            divan::black_box(values.expect("values"));
        },
    );
}

/// As many items of either party.
#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn from_vector_ole(bencher: Bencher, count: u64) {
    let sizes = Sizes::new(count, count).expect("a size");
    let params = vole_oprf::Params::new(sizes, 16, Security::default()).expect("parameters");
    let items = [digests(count), digests(count)];
    both(
        bencher,
        count,
        |channel| {
            let (seed, items) = (seed(channel, true), items[0].as_digests());
            let values = vole_oprf::send(&params, items, &seed, &mut Context::new(channel));
            divan::black_box(values.expect("values"));
        },
        |channel| {
            let (seed, items) = (seed(channel, false), items[1].as_digests());
            let values = vole_oprf::receive(&params, items, &seed, &mut Context::new(channel));
            divan::black_box(values.expect("values"));
        },
    );
}

/// As many items of either party.
#[divan::bench(args = [1 << 12, 1 << 16], sample_count = 3, sample_size = 1)]
fn from_diffie_hellman(bencher: Bencher, count: u64) {
    let items = [digests(count), digests(count)];
    both(
        bencher,
        count,
        |channel| {
            let seed = seed(channel, true);
            let key = dh_oprf::Key::random(&mut Prg::from_os());
            divan::black_box(key.values(items[0].as_digests(), &seed));
            let (outbound, inbound) = channel.halves();
            let blinded = dh_oprf::Blinded::receive(count as usize, inbound).expect("elements");
            key.answer(&blinded, outbound).expect("elements");
        },
        |channel| {
            let seed = seed(channel, false);
            let mut context = Context::new(channel);
            let receiver = dh_oprf::Receiver::random(&mut context.rng);
            let values = receiver.evaluate(items[1].as_digests(), &seed, &mut context);
            divan::black_box(values.expect("values"));
        },
    );
}

#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn store_encode(bencher: Bencher, count: u64) {
    let (shape, rows, keys, values) = store(count);
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        let keys: Digests<'_> = keys.as_digests();
        let store = Store::encode(shape, &rows, keys, &values, &mut Prg::from_os());
        divan::black_box(store.expect("a store"))
    });
}

#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn store_decode(bencher: Bencher, count: u64) {
    let (shape, rows, keys, values) = store(count);
    let keys = keys.as_digests();
    let store = Store::encode(shape, &rows, keys, &values, &mut Prg::from_os());
    let store = store.expect("a store");
    let decode = || divan::black_box(store.decode(&rows, keys));
    bencher.counter(ItemsCount::new(count)).bench_local(decode);
}

fn store(count: u64) -> (okvs::Shape, RowHasher, DigestVec, Vec<Gf64>) {
    let shape = okvs::smallest(count, share()).expect("parameters");
    let mut rng = Prg::from_os();
    let mut values = vec![Gf64::default(); count as usize];
    Gf64::fill(&mut values, &mut rng);
    let rows = RowHasher::pseudorandom(rng.bytes(), shape);
    (shape, rows, digests(count), values)
}

/// Random OTs.
#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn silent_ot(bencher: Bencher, count: u64) {
    both(
        bencher,
        count,
        |channel| {
            let mut rng = Prg::from_os();
            let sender = silent::Sender::<SemiHonest>::setup(BaseOts::default(), channel, &mut rng);
            let pairs = sender.expect("base OTs").random(count as usize, channel);
            divan::black_box(pairs.expect("OTs"));
        },
        |channel| {
            let mut rng = Prg::from_os();
            let receiver =
                silent::Receiver::<SemiHonest>::setup(BaseOts::default(), channel, &mut rng);
            let chosen = receiver.expect("base OTs").random(count as usize, channel);
            divan::black_box(chosen.expect("OTs"));
        },
    );
}

/// With a over GF(2^64).
#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn vector_ole(bencher: Bencher, count: u64) {
    fn run<B: Base>(bencher: Bencher, count: u64) {
        both(
            bencher,
            count,
            |channel| {
                let sender = vole::Sender::<SemiHonest>::setup(
                    BaseOts::default(),
                    channel,
                    &mut Prg::from_os(),
                );
                let granted = sender.expect("OTs").begin::<B>(count as usize, channel);
                divan::black_box(granted.expect("a half").finish(channel).expect("the other"));
            },
            |channel| {
                let receiver = vole::Receiver::<SemiHonest>::setup(
                    BaseOts::default(),
                    channel,
                    &mut Prg::from_os(),
                );
                let planted = receiver.expect("OTs").begin::<B>(count as usize, channel);
                divan::black_box(planted.expect("a half").finish(channel).expect("the other"));
            },
        );
    }
    run::<Gf64>(bencher, count);
}
