//! Measures the rate of messages over a connection between two parties of this machine, over one
//! stream and over several: `cargo bench -p psijoin-transport --bench throughput`.

use std::thread;

use divan::{Bencher, counter::BytesCount};
use psijoin_channel::{Channel, Error, joint_seed::JointSeed};
use psijoin_transport::{Connection, Identity, Listener, Options, Security};

const TOTAL_BYTES: usize = 256 << 20;

/// Messages as a protocol streams them, and short ones.
const MESSAGE_BYTES: [usize; 3] = [1 << 20, 64 << 10, 64];

/// Streams that share `TOTAL_BYTES`.
const STREAMS: [u8; 3] = [1, 2, 4];

fn main() {
    divan::main();
}

#[divan::bench(args = MESSAGE_BYTES, sample_count = 5, sample_size = 1)]
fn plaintext_one_way(bencher: Bencher<'_, '_>, message_bytes: usize) {
    one_way(bencher, connected(plaintext_pair(), 1), message_bytes);
}

#[divan::bench(args = MESSAGE_BYTES, sample_count = 5, sample_size = 1)]
fn tls_one_way(bencher: Bencher<'_, '_>, message_bytes: usize) {
    one_way(bencher, connected(tls_pair(), 1), message_bytes);
}

#[divan::bench(args = STREAMS, sample_count = 5, sample_size = 1)]
fn tls_streams_one_way(bencher: Bencher<'_, '_>, streams: u8) {
    one_way(bencher, connected(tls_pair(), streams), 1 << 20);
}

#[divan::bench(args = STREAMS, sample_count = 5, sample_size = 1)]
fn plaintext_both_ways(bencher: Bencher<'_, '_>, streams: u8) {
    both_ways(bencher, connected(plaintext_pair(), streams));
}

#[divan::bench(args = STREAMS, sample_count = 5, sample_size = 1)]
fn tls_both_ways(bencher: Bencher<'_, '_>, streams: u8) {
    both_ways(bencher, connected(tls_pair(), streams));
}

fn plaintext_pair() -> [Options; 2] {
    [(); 2].map(|()| Options::new(Security::InsecurePlaintext))
}

fn tls_pair() -> [Options; 2] {
    let [a, b] = std::array::from_fn(|_| Identity::generate().unwrap());
    let options = |identity: &Identity, peer: &Identity| {
        let (identity, peer) = (identity.clone(), peer.fingerprint());
        Options::new(Security::PinnedTls { identity, peer })
    };
    [options(&a, &b), options(&b, &a)]
}

/// A party, and what it speaks over.
struct Party {
    _connection: Connection,
    streams: Vec<Channel>,
}

impl Party {
    fn open((mut connection, channel): (Connection, Channel), streams: u8) -> Self {
        let seed = JointSeed::insecure_fixed([0; 32]);
        let further = connection.open_streams(streams - 1, &seed).unwrap();
        Self {
            _connection: connection,
            streams: [channel].into_iter().chain(further).collect(),
        }
    }
}

fn connected([mut a, b]: [Options; 2], streams: u8) -> [Party; 2] {
    a.streams = true;
    let listener = Listener::bind(&"127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.address().clone();
    thread::scope(|scope| {
        let connected =
            scope.spawn(move || Party::open(Connection::connect(&address, &b).unwrap(), streams));
        [
            Party::open(Connection::accept(listener, &a).unwrap(), streams),
            connected.join().unwrap(),
        ]
    })
}

/// Runs two parties on all their streams at once, each stream with a thread on either side.
fn run(
    bencher: Bencher<'_, '_>,
    [mut a, mut b]: [Party; 2],
    [one, other]: [&(dyn Fn(&mut Channel) + Sync); 2],
) {
    bencher
        .counter(BytesCount::new(TOTAL_BYTES))
        .bench_local(|| {
            thread::scope(|scope| {
                for stream in &mut a.streams {
                    scope.spawn(|| one(stream));
                }
                for stream in &mut b.streams {
                    scope.spawn(|| other(stream));
                }
            });
        });
}

/// Carries `TOTAL_BYTES` one way, and a word back on each stream that all has arrived.
fn one_way(bencher: Bencher<'_, '_>, parties: [Party; 2], bytes: usize) {
    let message = vec![7; bytes];
    let messages = TOTAL_BYTES / bytes / parties[0].streams.len();
    let send = |stream: &mut Channel| {
        for _ in 0..messages {
            stream.send(&message).unwrap();
        }
        stream.recv_array::<0>().unwrap();
    };
    let receive = |stream: &mut Channel| {
        let mut received = vec![0; bytes];
        for _ in 0..messages {
            stream.recv(&mut received).unwrap();
        }
        stream.send(&[]).unwrap();
    };
    run(bencher, parties, [&send, &receive]);
}

/// Carries half of `TOTAL_BYTES` each way.
fn both_ways(bencher: Bencher<'_, '_>, parties: [Party; 2]) {
    let message = vec![7; 1 << 20];
    let messages = TOTAL_BYTES / 2 / message.len() / parties[0].streams.len();
    let exchange = |stream: &mut Channel| {
        let exchanged = stream.exchange(
            |outbound| (0..messages).try_for_each(|_| outbound.send(&message)),
            |inbound| {
                let mut received = vec![0; message.len()];
                (0..messages).try_for_each(|_| inbound.recv(&mut received))
            },
        );
        exchanged.map_err(|error: Error| error.to_string()).unwrap();
    };
    run(bencher, parties, [&exchange, &exchange]);
}
