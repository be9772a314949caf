//! Given its seeds and inputs, a party always sends the same bytes in the same messages, and learns
//! the same, with any number of threads. In a session in parts this holds for each part, over any
//! number of streams.

use std::fmt::Write as _;

use psijoin_channel::{
    Channel, memory,
    transcript::{Recorder, recorded},
};
use psijoin_psi::{Columns, Output, OutputKind, Payloads, Request};
use psijoin_psi_parts as parts;

use crate::{
    Sets, Setup, Subject,
    run::{assert_output, run_streams},
};

/// Enough parts that no stream has as many as all others.
const PARTS: u32 = 5;

/// A few items, of every output; and the bytes are those that they were when a snapshot was taken,
/// whatever instructions the kernels use. After a change of a protocol's messages:
/// `INSTA_UPDATE=always cargo test the_same_bytes`.
pub fn the_same_bytes_of_few_items(subject: &Subject) {
    let sets = Sets::new(70, 100, 30);
    let mut known = String::new();
    for request in subject.requests(&sets) {
        let run = check(subject, &sets, &request, &[[7, 2]], 1);
        let least = request.min_intersection;
        writeln!(known, "{}, {least} or more: {}", request.output, run.hash()).expect("a string");
    }
    insta::assert_snapshot!(subject.name(), known);
}

/// Takes enough items that threads share them.
pub fn the_same_bytes_of_many_items(subject: &Subject) {
    let sets = subject.sized(Sets::new(20_000, 18_000, 5000));
    let (sender, receiver) = (2, 1);
    let sums = OutputKind::Sums(Columns { sender, receiver });
    check_first_served(subject, &sets, sums);
}

/// Takes enough items that work is done in several bands and batches, unless a set of this size is
/// refused.
pub fn the_same_bytes_of_a_million_items(subject: &Subject) {
    const ITEMS: usize = 1 << 20;
    let pairs = (ITEMS as u128).pow(2);
    if subject.takes_a_million && pairs <= subject.most_pairs {
        let sets = Sets::new(ITEMS, ITEMS - 1000, ITEMS / 2);
        // The tests' numbers are so large that sums would not fit.
        check_first_served(subject, &sets, OutputKind::Count);
    }
}

/// Checks this function, or payloads if it is not served, or otherwise rows: what takes more steps
/// comes first.
pub(super) fn check_first_served(subject: &Subject, sets: &Sets, function: OutputKind) {
    let (from_sender, back) = (24, Some(7));
    let kinds = [
        function,
        OutputKind::Payloads(Payloads { from_sender, back }),
        OutputKind::Rows,
    ];
    let mut requests = kinds.into_iter().map(|kind| sets.request(kind));
    let request = requests.find(|request| subject.serves(request));
    let request = request.expect("rows are served");
    check(subject, sets, &request, &[[1, 7], [7, 2]], 1);
}

/// Of every output, over one stream and over three.
pub fn the_same_bytes_of_each_part(subject: &Subject) {
    let subject = &subject.in_parts(PARTS);
    let sets = Sets::new(70, 100, 30);
    for request in subject.requests(&sets) {
        check(subject, &sets, &request, &[[2, 7]], 3);
    }
}

/// Compares a run of one thread per party over one stream with runs of these numbers of threads,
/// the sender's and the receiver's, over this number of streams.
fn check(
    subject: &Subject,
    sets: &Sets,
    request: &Request,
    threads: &[[usize; 2]],
    streams: usize,
) -> Run {
    let expected = run(subject, sets, request, [1, 1], 1);
    for threads in threads {
        let seen = run(subject, sets, request, *threads, streams);
        assert!(
            seen == expected,
            "{}, {}: another run with {threads:?} threads and {streams} streams",
            subject.name(),
            request.output,
        );
    }
    expected
}

/// The visible part of a run: all messages of both parties, and what they learn.
#[derive(PartialEq)]
struct Run {
    said: [Vec<Vec<u8>>; 2],
    learned: [Output; 2],
}

impl Run {
    /// Returns a hash of what was said.
    fn hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        for messages in &self.said {
            hasher.update(&(messages.len() as u64).to_le_bytes());
            for message in messages {
                hasher
                    .update(&(message.len() as u64).to_le_bytes())
                    .update(message);
            }
        }
        hasher.finalize()
    }
}

fn run(
    subject: &Subject,
    sets: &Sets,
    request: &Request,
    threads: [usize; 2],
    streams: usize,
) -> Run {
    let setup = Setup {
        seeds: Some([3, 7]),
        threads,
        ..Setup::default()
    };
    let mut recorders = [Vec::new(), Vec::new()];
    let mut record = |channel: Channel, party: usize| {
        let (channel, recorder) = recorded(channel);
        recorders[party].push(recorder);
        channel
    };
    let pairs = (0..parts::channels(streams)).map(|_| {
        let (sender, receiver) = memory::pair();
        (record(sender, 0), record(receiver, 1))
    });
    let pairs = pairs.collect();
    let (sent, received) = run_streams(&subject.plan(request), sets, pairs, &setup);
    let learned = [sent.unwrap(), received.unwrap()];
    let [sent, received] = learned.clone();
    assert_output(subject, sets, request, (Ok(sent), Ok(received)));
    let said = recorders.map(|channels| by_part(&channels));
    Run { said, learned }
}

/// Returns all messages of a party, one part after the other, and then those after all parts: in
/// the order of one channel. If there are s streams beside it, each has every s-th part, and it has
/// the last messages. Parts have the same number of messages.
fn by_part(channels: &[Recorder]) -> Vec<Vec<u8>> {
    let channels: Vec<_> = channels.iter().map(Recorder::messages).collect();
    let (last, streams) = channels.split_first().expect("a channel");
    let Some(first) = streams.first() else {
        return last.clone();
    };
    let per_part = first.len() / (PARTS as usize).div_ceil(streams.len());
    let of_parts = (0..PARTS as usize).map(|part| {
        let (before, stream) = (part / streams.len(), part % streams.len());
        &streams[stream][before * per_part..][..per_part]
    });
    of_parts.chain([&last[..]]).flatten().cloned().collect()
}
