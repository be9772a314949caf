//! Nothing secret passes over the wire, and nothing is ever sent twice.

use std::collections::HashSet;

use psijoin_block::{Block, Prg};
use psijoin_channel::{memory, transcript::recorded};
use psijoin_psi::{Items, Protocol, registry::PROTOCOLS};

use crate::harness::{JOINT_SEED, Sets, Setup, assert_result, run_pair, structured};

/// The messages of the sender and of the receiver.
fn transcript(protocol: &dyn Protocol, sets: &Sets, setup: &Setup) -> [Vec<u8>; 2] {
    let (sender, receiver) = memory::pair();
    let (sender, senders) = recorded(sender);
    let (receiver, receivers) = recorded(receiver);
    let results = run_pair(&*sets.plan(protocol), sets, (sender, receiver), setup);
    assert_result(protocol, sets, results);
    [senders.messages().concat(), receivers.messages().concat()]
}

/// All runs of eight bytes, at any offset.
fn windows(bytes: &[u8]) -> HashSet<[u8; 8]> {
    bytes
        .windows(8)
        .map(|window| window.try_into().unwrap())
        .collect()
}

fn start<const D: usize>(digest: &[u8; D]) -> [u8; 8] {
    std::array::from_fn(|i| digest[i])
}

#[test]
fn no_item_and_no_randomness_is_sent() {
    let seeds = [11, 12];
    for protocol in PROTOCOLS {
        let sets = Sets::new(700, 600, 300).sized_for(*protocol);
        let setup = Setup {
            seeds: Some(seeds),
            ..Setup::default()
        };
        let plan = sets.plan(*protocol);
        let messages = transcript(*protocol, &sets, &setup);
        for (party, bytes) in messages.iter().enumerate() {
            let sent = windows(bytes);
            // The party's own randomness: Δ, seeds and exponents are drawn from it. Seeds
            // of generators that it forks are among these blocks too.
            let mut drawn = vec![Block::ZERO; 1 << 14];
            Prg::from_seed(Block(seeds[party])).fill(&mut drawn);
            for block in drawn {
                for half in block.to_bytes().chunks_exact(8) {
                    assert!(
                        !sent.contains(half),
                        "{}: own randomness",
                        protocol.info().name
                    );
                }
            }
            for numbers in [&sets.sender, &sets.receiver] {
                let items = Items::digest(&structured(numbers), &JOINT_SEED, plan.digest_bytes());
                let starts: Vec<[u8; 8]> = match items {
                    Items::Short(digests) => digests.iter().map(start).collect(),
                    Items::Long(digests) => digests.iter().map(start).collect(),
                };
                let name = protocol.info().name;
                assert!(
                    starts.iter().all(|start| !sent.contains(start)),
                    "{name}: a digest"
                );
            }
        }
    }
}

#[test]
fn two_runs_share_no_bytes() {
    for protocol in PROTOCOLS {
        let sets = Sets::new(700, 600, 300).sized_for(*protocol);
        let first = transcript(*protocol, &sets, &Setup::default());
        let joint_seed = [43; 32];
        let second = transcript(
            *protocol,
            &sets,
            &Setup {
                joint_seed,
                seeds: None,
            },
        );
        for (first, second) in first.iter().zip(&second) {
            assert!(
                windows(first).is_disjoint(&windows(second)),
                "{}",
                protocol.info().name
            );
        }
    }
}
