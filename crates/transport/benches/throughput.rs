//! How fast a connection carries messages between two parties of this machine:
//! `cargo bench -p psijoin-transport`.

use std::thread;

use divan::{Bencher, counter::BytesCount};
use psijoin_channel::{Channel, Error};
use psijoin_transport::{Connection, Identity, Listener, Options, Security};

const TOTAL_BYTES: usize = 256 << 20;

/// Messages as a protocol streams them, and short ones.
const MESSAGE_BYTES: [usize; 3] = [1 << 20, 64 << 10, 64];

fn main() {
    divan::main();
}

#[divan::bench(args = MESSAGE_BYTES, sample_count = 5, sample_size = 1)]
fn plaintext_one_way(bencher: Bencher<'_, '_>, message_bytes: usize) {
    let options = Options::new(Security::InsecurePlaintext);
    one_way(bencher, connected(&options, &options), message_bytes);
}

#[divan::bench(args = MESSAGE_BYTES, sample_count = 5, sample_size = 1)]
fn tls_one_way(bencher: Bencher<'_, '_>, message_bytes: usize) {
    let (a, b) = tls_pair();
    one_way(bencher, connected(&a, &b), message_bytes);
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn plaintext_both_ways(bencher: Bencher<'_, '_>) {
    let options = Options::new(Security::InsecurePlaintext);
    both_ways(bencher, connected(&options, &options));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn tls_both_ways(bencher: Bencher<'_, '_>) {
    let (a, b) = tls_pair();
    both_ways(bencher, connected(&a, &b));
}

type Party = (Connection, Channel);

fn tls_pair() -> (Options, Options) {
    let [a, b] = std::array::from_fn(|_| Identity::generate().unwrap());
    let options = |identity: &Identity, peer: &Identity| {
        let (identity, peer) = (identity.clone(), peer.fingerprint());
        Options::new(Security::PinnedTls { identity, peer })
    };
    (options(&a, &b), options(&b, &a))
}

fn connected(a: &Options, b: &Options) -> (Party, Party) {
    let listener = Listener::bind(&"127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.address().clone();
    thread::scope(|scope| {
        let connected = scope.spawn(move || Connection::connect(&address, b).unwrap());
        (
            Connection::accept(listener, a).unwrap(),
            connected.join().unwrap(),
        )
    })
}

/// Carries `TOTAL_BYTES` one way, and a word back that all has arrived.
fn one_way(bencher: Bencher<'_, '_>, ((_a, mut a), (_b, mut b)): (Party, Party), bytes: usize) {
    let message = vec![7; bytes];
    let mut received = vec![0; bytes];
    bencher
        .counter(BytesCount::new(TOTAL_BYTES))
        .bench_local(|| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..TOTAL_BYTES / bytes {
                        a.send(&message).unwrap();
                    }
                    a.recv_array::<0>().unwrap();
                });
                for _ in 0..TOTAL_BYTES / bytes {
                    b.recv(&mut received).unwrap();
                }
                b.send(&[]).unwrap();
            });
        });
}

/// Carries half of `TOTAL_BYTES` each way.
fn both_ways(bencher: Bencher<'_, '_>, ((_a, mut a), (_b, mut b)): (Party, Party)) {
    let message = vec![7; 1 << 20];
    let messages = TOTAL_BYTES / 2 / message.len();
    let run = |channel: &mut Channel| {
        channel
            .exchange(
                |outbound| (0..messages).try_for_each(|_| outbound.send(&message)),
                |inbound| {
                    let mut received = vec![0; message.len()];
                    (0..messages).try_for_each(|_| inbound.recv(&mut received))
                },
            )
            .map_err(|error: Error| error.to_string())
            .unwrap();
    };
    bencher
        .counter(BytesCount::new(TOTAL_BYTES))
        .bench_local(|| {
            thread::scope(|scope| {
                scope.spawn(|| run(&mut a));
                run(&mut b);
            });
        });
}
