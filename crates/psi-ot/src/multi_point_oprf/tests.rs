use std::thread;

use psijoin_channel::{count::counted, joint_seed::JointSeed, memory};
use psijoin_encode::Digests;
use psijoin_psi::Context;
use psijoin_psi_testing::JOINT_SEED;

use super::*;

/// Items that differ in few bits, as digests of either length.
fn digests<const D: usize>(numbers: std::ops::Range<u64>) -> Vec<[u8; D]> {
    let digest = |number: u64| {
        let mut digest = [0; D];
        digest.copy_from_slice(&blake3::hash(&number.to_le_bytes()).as_bytes()[..D]);
        digest
    };
    numbers.map(digest).collect()
}

fn run(params: Params, senders: Digests<'_>, receivers: Digests<'_>) -> [Vec<u128>; 2] {
    let joint_seed = &JointSeed::insecure_fixed(JOINT_SEED);
    let (sender, mut receiver) = memory::pair();
    let (mut sender, counters) = counted(sender);
    let values = thread::scope(|scope| {
        let sent = scope.spawn(move || {
            let mut context = Context::new(&mut sender);
            let party = Sender::setup(&params, &mut context).unwrap();
            party.evaluate(senders, joint_seed, &mut context).unwrap()
        });
        let mut context = Context::new(&mut receiver);
        let party = Receiver::setup(&params, &mut context).unwrap();
        let received = party.evaluate(receivers, joint_seed, &mut context).unwrap();
        [sent.join().unwrap(), received].map(|values| values.in_order())
    });
    let planned = params.setup().then(params.online()).traffic();
    let traffic = counters.snapshot();
    assert_eq!(traffic.sent.bytes, planned.sender_bytes);
    assert_eq!(traffic.received.bytes, planned.receiver_bytes);
    values
}

#[test]
fn both_get_the_same_values_at_the_same_items_and_only_there() {
    let share = Log2Prob::from_log2(-40.0);
    for (senders, receivers, shared) in [(900, 700, 300), (20_000, 9000, 8999), (1, 1, 1)] {
        for checked in [false, true] {
            let sizes = Sizes::new(senders, receivers).unwrap();
            let rows = cm20::default_rows(receivers);
            let params = Params::new(rows, sizes, checked, share).unwrap();
            let first = senders - shared;
            let theirs = first..first + receivers;
            let [sent, received] = match checked {
                false => run(
                    params,
                    Digests::Short(&digests(0..senders)),
                    Digests::Short(&digests(theirs)),
                ),
                true => run(
                    params,
                    Digests::Long(&digests(0..senders)),
                    Digests::Long(&digests(theirs)),
                ),
            };
            let shared = shared as usize;
            assert_eq!(sent[first as usize..], received[..shared]);
            let all: std::collections::HashSet<_> = sent.iter().chain(&received).collect();
            assert_eq!(all.len(), sent.len() + received.len() - shared);
        }
    }
}

#[test]
fn a_matrix_that_is_too_narrow_for_its_rows_is_refused() {
    let sizes = Sizes::new(1000, 1000).unwrap();
    let share = Log2Prob::from_log2(-40.0);
    assert!(Params::new(500, sizes, false, share).is_err());
    let params = Params::new(1400, sizes, false, share).unwrap();
    assert!(params.few_ones(sizes) <= share && params.repeats(sizes) <= share);
}
