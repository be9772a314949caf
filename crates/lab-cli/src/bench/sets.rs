//! Random sets with columns of numbers.

use psijoin::{Columns, Fingerprint, items};
use psijoin_block::Prg;
use psijoin_frontend::sizes::SetSizes;

use super::Setting;

/// The parties' sets. The sender's first items are the shared ones.
pub(super) struct Sets {
    pub(super) sender: Own,
    pub(super) receiver: Own,
    /// The place of each shared item in the receiver's set.
    shared: Vec<u32>,
}

/// The input of one party.
pub(super) struct Own {
    pub(super) items: Vec<Fingerprint>,
    /// Each with a number per item.
    pub(super) columns: Vec<Vec<i64>>,
}

/// The positions of an item that both have: in the sender's set, and in the receiver's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) sender: usize,
    pub(super) receiver: usize,
}

/// Returns how many items of sets of these sizes are shared.
pub(super) fn shared_items(SetSizes { sender, receiver }: SetSizes) -> u64 {
    sender.min(receiver) / 2
}

impl Sets {
    /// Returns random sets of this setting.
    pub(super) fn random(setting: &Setting) -> Self {
        Self::of(setting.sizes, setting.item_bits, setting.columns)
    }

    /// Returns random sets. The shared items are at random places of the receiver's.
    pub(super) fn of(sizes: SetSizes, item_bits: Option<u32>, columns: Columns) -> Self {
        let mut rng = Prg::from_os();
        let mut items = Items::new(item_bits, &mut rng);
        let sender = Own::random(sizes.sender, columns.sender, &mut items, &mut rng);
        let mut receiver = Own::random(sizes.receiver, columns.receiver, &mut items, &mut rng);
        let mut shared = rng.permutation(sizes.receiver as u32);
        shared.truncate(shared_items(sizes) as usize);
        for (&place, item) in shared.iter().zip(&sender.items) {
            receiver.items[place as usize] = *item;
        }
        Self {
            sender,
            receiver,
            shared,
        }
    }

    /// Returns the number of shared items.
    pub(super) fn shared_items(&self) -> u64 {
        self.shared.len() as u64
    }

    /// Returns the shared items.
    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        (0..).zip(&self.shared).map(|(sender, &receiver)| Pair {
            sender,
            receiver: receiver as usize,
        })
    }

    /// Returns the receiver's positions of shared items, ascending.
    pub(super) fn shared_rows(&self) -> Vec<u32> {
        let mut rows = self.shared.clone();
        rows.sort_unstable();
        rows
    }

    /// Returns the numbers of a shared item: the sender's columns, then the receiver's.
    pub(super) fn numbers(&self, pair: Pair) -> impl Iterator<Item = i64> {
        let senders = self.sender.columns.iter();
        let receivers = self.receiver.columns.iter();
        (senders.map(move |column| column[pair.sender]))
            .chain(receivers.map(move |column| column[pair.receiver]))
    }
}

impl Own {
    /// Draws items, and numbers of 32 bits, so that no sum overflows.
    fn random(count: u64, columns: usize, items: &mut Items, rng: &mut Prg) -> Self {
        let mut number = || i64::from(i32::from_le_bytes(rng.bytes()));
        let mut column = || (0..count).map(|_| number()).collect();
        Self {
            columns: (0..columns).map(|_| column()).collect(),
            items: (0..count).map(|_| items.next(rng)).collect(),
        }
    }
}

/// Distinct items, one after the other.
enum Items {
    /// Of any sort.
    Any,
    /// Numbers: a random permutation of all of these bits, from 0 on.
    Numbers {
        mask: u64,
        factors: [u64; 2],
        next: u64,
    },
}

impl Items {
    fn new(bits: Option<u32>, rng: &mut Prg) -> Self {
        bits.map_or(Self::Any, |bits| Self::Numbers {
            mask: u64::MAX >> (u64::BITS - bits),
            factors: [0, 1].map(|_| u64::from_le_bytes(rng.bytes()) | 1),
            next: 0,
        })
    }

    fn next(&mut self, rng: &mut Prg) -> Fingerprint {
        match self {
            Self::Any => rng.bytes(),
            Self::Numbers {
                mask,
                factors: [first, second],
                next,
            } => {
                // Each step can be undone.
                let product = next.wrapping_mul(*first) & *mask;
                let folded = product ^ product >> mask.count_ones().div_ceil(2);
                *next = next.wrapping_add(1);
                items::number(folded.wrapping_mul(*second) & *mask)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn half_of_the_smaller_set_is_shared() {
        for (sender, receiver, shared) in [(10, 10, 5), (7, 100, 3), (100, 7, 3), (0, 5, 0)] {
            let sets = Sets::of(SetSizes { sender, receiver }, None, Columns::default());
            assert_eq!(sets.shared_items(), shared);
            let senders: HashSet<_> = sets.sender.items.iter().collect();
            let expected: Vec<_> = (0..receiver as u32)
                .filter(|&place| senders.contains(&sets.receiver.items[place as usize]))
                .collect();
            assert_eq!(sets.shared_rows(), expected);
            assert!(sets.pairs().all(|pair| {
                sets.sender.items[pair.sender] == sets.receiver.items[pair.receiver]
            }));
        }
    }

    #[test]
    fn numbers_are_distinct_and_short() {
        for bits in [2, 3, 5, 8, 13] {
            let half = 1 << (bits - 1);
            let sizes = SetSizes {
                sender: half,
                receiver: half,
            };
            let sets = Sets::of(sizes, Some(bits), Columns::default());
            let all: HashSet<_> = (sets.sender.items.iter())
                .chain(&sets.receiver.items)
                .copied()
                .collect();
            assert_eq!(all.len() as u64, 2 * half - sets.shared_items());
            let short: HashSet<_> = (0..1 << bits).map(items::number).collect();
            assert!(all.is_subset(&short), "{bits}");
        }
    }

    #[test]
    fn each_party_has_its_columns() {
        let sizes = SetSizes {
            sender: 4,
            receiver: 6,
        };
        let columns = Columns {
            sender: 1,
            receiver: 2,
        };
        let sets = Sets::of(sizes, None, columns);
        let lengths = |own: &Own| own.columns.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(&sets.sender), [4]);
        assert_eq!(lengths(&sets.receiver), [6, 6]);
        for pair in sets.pairs() {
            let numbers: Vec<_> = sets.numbers(pair).collect();
            let expected = [
                sets.sender.columns[0][pair.sender],
                sets.receiver.columns[0][pair.receiver],
                sets.receiver.columns[1][pair.receiver],
            ];
            assert_eq!(numbers, expected);
        }
    }
}
