//! Nothing secret passes over the wire, and nothing is ever sent twice.

use psijoin_block::{Block, Prg};
use psijoin_channel::{joint_seed::JointSeed, memory, transcript::recorded};
use psijoin_psi::{OutputKind, Payloads, Request, Role};

use crate::{
    JOINT_SEED, Sets, Setup, Subject,
    run::{assert_output, fingerprints, run_pair},
    sets::payloads,
};

fn sets(subject: &Subject) -> Sets {
    subject.sized(Sets::new(700, 600, 300))
}

/// Returns what shows most of the items that the protocol can show.
fn request(subject: &Subject, sets: &Sets) -> Request {
    let payloads = sets.request(OutputKind::Payloads(Payloads {
        from_sender: 24,
        back: None,
    }));
    match subject.serves(&payloads) {
        true => payloads,
        false => sets.request(OutputKind::Rows),
    }
}

/// Returns the messages of the sender and of the receiver.
fn transcript(subject: &Subject, sets: &Sets, setup: &Setup) -> [Vec<u8>; 2] {
    let (sender, receiver) = memory::pair();
    let (sender, senders) = recorded(sender);
    let (receiver, receivers) = recorded(receiver);
    let request = request(subject, sets);
    let plan = subject.plan(&request);
    let results = run_pair(&plan, sets, (sender, receiver), setup);
    assert_output(subject, sets, &request, results);
    [senders.messages().concat(), receivers.messages().concat()]
}

/// All runs of eight bytes, at any offset, in ascending order: millions, which a hash table would
/// take seconds for.
struct Windows(Vec<[u8; 8]>);

impl Windows {
    fn of(bytes: &[u8]) -> Self {
        let windows = bytes.windows(8);
        let mut windows: Vec<[u8; 8]> = windows.map(|window| window.try_into().unwrap()).collect();
        windows.sort_unstable();
        Self(windows)
    }

    fn contains(&self, window: &[u8; 8]) -> bool {
        self.0.binary_search(window).is_ok()
    }

    fn are_disjoint(&self, other: &Self) -> bool {
        let mut other = other.0.iter().peekable();
        self.0.iter().all(|window| {
            while other.next_if(|next| *next < window).is_some() {}
            other.peek() != Some(&window)
        })
    }
}

/// No digest of an item, no payload, and nothing that a party drew.
pub fn no_item_and_no_randomness_is_sent(subject: &Subject) {
    let seeds = [11, 12];
    let sets = sets(subject);
    let setup = Setup {
        seeds: Some(seeds),
        ..Setup::default()
    };
    let plan = subject.plan(&request(subject, &sets));
    let messages = transcript(subject, &sets, &setup);
    for (party, bytes) in messages.iter().enumerate() {
        let sent = Windows::of(bytes);
        // The party's own randomness: Δ, seeds and exponents are drawn from it. Seeds
        // of generators that it forks are among these blocks too.
        let mut drawn = vec![Block::ZERO; 1 << 14];
        Prg::from_seed(Block(seeds[party])).fill(&mut drawn);
        for block in drawn {
            for half in block.to_bytes().as_chunks().0 {
                assert!(!sent.contains(half), "own randomness");
            }
        }
        let senders = payloads(Role::Sender, &sets.sender, &plan.request().output);
        for payload in senders.as_chunks().0 {
            assert!(!sent.contains(payload), "a payload");
        }
        for numbers in [&sets.sender, &sets.receiver] {
            let joint_seed = JointSeed::insecure_fixed(JOINT_SEED);
            let items = plan.items(&fingerprints(&plan, numbers), &joint_seed);
            let digests = items.rows(0..numbers.len() as u32);
            let mut starts = digests.iter().map(|digest| digest[0].to_le_bytes());
            assert!(starts.all(|start| !sent.contains(&start)), "a digest");
        }
    }
}

/// Another seed, and other randomness: other messages.
pub fn two_runs_share_no_bytes(subject: &Subject) {
    let sets = sets(subject);
    let first = transcript(subject, &sets, &Setup::default());
    let setup = Setup {
        joint_seed: JointSeed::insecure_fixed([43; 32]),
        ..Setup::default()
    };
    let second = transcript(subject, &sets, &setup);
    for (first, second) in first.iter().zip(&second) {
        assert!(Windows::of(first).are_disjoint(&Windows::of(second)));
    }
}
