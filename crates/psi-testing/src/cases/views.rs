//! A party's view and output hold no bit that tells whether an item is shared, unless rows were
//! asked for.

use psijoin_channel::{memory, transcript::recorded};
use psijoin_psi::{Columns, Groups, Output, OutputKind, Plan, Totals};

use crate::{Sets, Setup, Subject, run_pair};

/// Items of the receiver, and of the sender.
const ITEMS: u64 = 4;

/// Runs of different randomness. A bit that has nothing to do with an item agrees with it in
/// each, or in none, with probability 2^-39; there are up to 10^6 of them.
const RUNS: u64 = 40;

/// Of each kind of output, withheld or not.
pub fn no_view_holds_a_membership_bit(subject: &Subject) {
    let columns = Columns {
        sender: 1,
        receiver: 1,
    };
    let totals = |columns| Totals {
        columns,
        counted: true,
    };
    let groups = Groups {
        columns,
        labels: Columns {
            sender: 2,
            receiver: 2,
        },
        least: 1,
        noisy: false,
    };
    let noisy = Groups {
        noisy: true,
        ..groups
    };
    for (output, min_intersection) in [
        (OutputKind::Count, 0),
        (OutputKind::Count, 2),
        (OutputKind::Threshold(2), 0),
        (OutputKind::Sums(columns), 0),
        (OutputKind::Shares(columns), 0),
        (OutputKind::Totals(totals(Columns::NONE)), 0),
        (OutputKind::Totals(totals(columns)), 0),
        (OutputKind::Groups(groups), 0),
        (OutputKind::Groups(noisy), 0),
        (OutputKind::GroupTotals(groups), 0),
    ] {
        let withholds = min_intersection == 0 || subject.protocol.withholds();
        if subject.protocol.computes(&output) && withholds {
            let request = sets(0).request(output).min_intersection(min_intersection);
            check(&subject.plan(&request));
        }
    }
}

fn check(plan: &Plan) {
    let memberships = memberships();
    let runs: Vec<[Vec<u8>; 2]> = (0..)
        .zip(&memberships)
        .map(|(run, membership)| views(plan, *membership, run))
        .collect();
    for (party, name) in ["sender", "receiver"].into_iter().enumerate() {
        let of_party: Vec<_> = runs.iter().map(|views| views[party].clone()).collect();
        assert!(
            !a_bit_tells(&of_party, &memberships),
            "{}: a bit of the {name}'s view",
            plan.request().output,
        );
    }
}

/// Returns which items are shared, in each run.
fn memberships() -> Vec<u64> {
    (0..RUNS)
        .map(|run| u64::from(blake3::hash(&run.to_le_bytes()).as_bytes()[0]) % (1 << ITEMS))
        .collect()
}

/// The sender has those of the receiver's items whose bit is one, and enough others for all runs
/// to be of the same sizes.
fn sets(membership: u64) -> Sets {
    let is_shared = |item: &u64| membership >> item & 1 == 1;
    let shared = (0..ITEMS).filter(is_shared);
    Sets {
        sender: shared.chain(100..).take(ITEMS as usize).collect(),
        receiver: (0..ITEMS).collect(),
    }
}

/// Returns whether a bit of the views is the same as an item's, or its opposite, in all runs.
fn a_bit_tells(views: &[Vec<u8>], memberships: &[u64]) -> bool {
    (0..ITEMS).any(|item| {
        // Withheld output is not sent: then views are shorter, by their end.
        let bytes = views.iter().map(Vec::len).min().unwrap_or(0);
        // Bits that have been equal, and that have been opposite, so far.
        let mut candidates = vec![[u8::MAX; 2]; bytes];
        for (view, membership) in views.iter().zip(memberships) {
            let member = (membership >> item & 1) as u8 * u8::MAX;
            for ([equal, opposite], byte) in candidates.iter_mut().zip(view) {
                *equal &= !(byte ^ member);
                *opposite &= byte ^ member;
            }
        }
        candidates.concat().into_iter().any(|bits| bits != 0)
    })
}

/// Returns what the sender, and the receiver, see online and get.
fn views(plan: &Plan, membership: u64, run: u64) -> [Vec<u8>; 2] {
    let (sender, receiver) = memory::pair();
    let (sender, sent) = recorded(sender);
    let (receiver, received) = recorded(receiver);
    let setup = Setup {
        seeds: Some([1, 2].map(|party| u128::from(run) << 64 | party)),
        ..Setup::default()
    };
    let results = run_pair(plan, &sets(membership), (sender, receiver), &setup);
    let online =
        |messages: Vec<Vec<u8>>, offline: u64| messages.concat().split_off(offline as usize);
    let offline = plan.cost().offline;
    let of_sender = online(received.messages(), offline.receiver_bytes);
    let of_receiver = online(sent.messages(), offline.sender_bytes);
    [(of_sender, results.0), (of_receiver, results.1)]
        .map(|(seen, output)| [memory_of(&output.unwrap()), seen].concat())
}

/// Returns an output, as it lies in memory: as long whether it is withheld or not.
fn memory_of(output: &Output) -> Vec<u8> {
    match output {
        Output::Nothing => vec![0; 8],
        Output::TooFew => vec![u8::MAX; 8],
        Output::Count(count) => count.to_le_bytes().into(),
        Output::Reached(reached) => vec![u8::from(*reached)],
        // The sums were asked for. The lowest bit of a sum of few numbers may well be that of one
        // of them, and a group may well have one item.
        Output::Sums(_) | Output::Groups(_) => Vec::new(),
        Output::Shares(shares) => {
            let columns = shares.columns().iter().flatten();
            let numbers = columns.flat_map(|share| share.to_le_bytes());
            (shares.membership().to_bytes().into_iter())
                .chain(numbers)
                .collect()
        }
        Output::Totals(totals) => {
            let sums = totals.sums.iter().flat_map(|share| share.to_le_bytes());
            // Modulo 2^40.
            sums.chain(totals.count.to_le_bytes()[..5].iter().copied())
                .collect()
        }
        other => panic!("{other:?} was not asked for"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test would see a bit in the clear, and does not see one under a mask.
    #[test]
    fn a_bit_in_the_clear_is_found() {
        let memberships = memberships();
        let noise = |run: u64, byte: u8| blake3::hash(&[run as u8, byte]).as_bytes()[0];
        let views = |hide: bool| -> Vec<Vec<u8>> {
            let view = |(run, membership): (u64, &u64)| {
                let mut view: Vec<u8> = (0..100).map(|byte| noise(run, byte)).collect();
                let bit = (membership >> 2 & 1) as u8;
                let mask = if hide { noise(run, 200) & 1 } else { 1 };
                view[42] = view[42] & !8 | (bit ^ mask) << 3;
                view
            };
            (0..).zip(&memberships).map(view).collect()
        };
        assert!(a_bit_tells(&views(false), &memberships));
        assert!(!a_bit_tells(&views(true), &memberships));
    }
}
