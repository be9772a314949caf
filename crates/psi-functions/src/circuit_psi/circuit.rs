//! The circuits: sort, compare, and shuffle or count.

use psijoin_circuit::{
    Backend, Lanes,
    arithmetic::{add, count_ones, sum},
    compare,
    count::{Count, Width},
    duplicates::{duplicates, equal_neighbours, neighbours, on_either_side},
    merge, select, waksman,
};
use psijoin_psi::{Columns, OutputKind, Totals};

/// The output that a circuit reveals to the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reveals {
    /// The shared numbers. If zero may be an item, a further bit tells it from no item.
    Rows {
        /// Whether zero may be an item.
        with_zero: bool,
    },
    /// Their number.
    Count,
    /// One bit: 1 if at least this many items are shared.
    Threshold(u64),
    /// Their number, with a random number of the sender's added to it.
    Total,
    /// The sum of each of so many columns of the receiver.
    Sums(usize),
}

/// Bits of shares of a total, and of the numbers in a column.
pub(super) const TOTAL_BITS: usize = u64::BITS as usize;

impl Reveals {
    /// Returns the kind for this output; `None` if there is no circuit for it.
    pub(super) fn of(output: &OutputKind, with_zero: bool) -> Option<Self> {
        match output {
            OutputKind::Rows => Some(Self::Rows { with_zero }),
            OutputKind::Count => Some(Self::Count),
            OutputKind::Threshold(least) => Some(Self::Threshold(*least)),
            OutputKind::Totals(Totals {
                columns: Columns::NONE,
                counted: true,
            }) => Some(Self::Total),
            OutputKind::Sums(Columns {
                sender: 0,
                receiver,
            }) if *receiver > 0 => Some(Self::Sums(*receiver)),
            _ => None,
        }
    }

    /// Returns the bits of the numbers that each item of the receiver brings along.
    pub(super) fn column_bits(self) -> usize {
        match self {
            Self::Sums(columns) => columns * TOTAL_BITS,
            Self::Rows { .. } | Self::Count | Self::Threshold(_) | Self::Total => 0,
        }
    }
}

/// The inputs of a circuit.
pub(super) struct Inputs<W> {
    /// The sender's numbers, ascending: one wire per bit, the lowest first.
    pub(super) sender: Vec<W>,
    /// The receiver's, and behind each the numbers of its columns.
    pub(super) receiver: Vec<W>,
    /// The sender's switches, one wire per layer; none where nothing is shuffled.
    pub(super) switches: Vec<W>,
    /// The sender's number that is added to a total: one lane.
    pub(super) blind: Vec<W>,
}

/// Returns what the receiver learns: shared numbers and zeros in the order of the sender's
/// permutation, with a one above each shared number if zero may be an item; or the bits of a count,
/// or one bit; or sums, one per lane.
///
/// # Errors
/// As [`Backend::products`].
pub(super) fn outputs<B: Backend>(
    backend: &mut B,
    reveals: Reveals,
    inputs: Inputs<B::Wires>,
) -> Result<Vec<B::Wires>, B::Error> {
    let bits = inputs.sender.len();
    let sorted = {
        let (mut sender, receiver) = (inputs.sender, inputs.receiver);
        // Items of the sender bring zeros along.
        let zero = backend.constant(false, sender[0].lanes());
        sender.resize(receiver.len(), zero);
        merge::merge(backend, bits, &sender, &receiver)?
    };
    if let Reveals::Sums(_) = reveals {
        let (numbers, columns) = sorted.split_at(bits);
        let equal = equal_neighbours(backend, numbers)?;
        let (ones, others): (Vec<u32>, Vec<u32>) =
            neighbours(equal.lanes() + 1).into_iter().unzip();
        // One of two that are equal is the receiver's, the other one has zeros.
        let both = columns
            .iter()
            .map(|wire| backend.xor(&wire.gather(&ones), &wire.gather(&others)));
        let both = Vec::from_iter(both);
        return sums(backend, &equal, &both);
    }
    let found = duplicates(backend, &sorted)?;
    let Reveals::Rows { with_zero } = reveals else {
        return counted(backend, reveals, &found, &inputs.blind);
    };
    let seconds: Vec<u32> = (1..).step_by(2).take(found.lanes()).collect();
    let numbers: Vec<_> = sorted.iter().map(|wire| wire.gather(&seconds)).collect();
    drop(sorted);
    // Zero if it was not found.
    let mut numbers = select::mask(backend, &found, &numbers)?;
    let layers = waksman::layers(found.lanes() as u32);
    if with_zero {
        numbers.push(found);
    }
    waksman::permute(backend, &layers, &inputs.switches, &mut numbers)?;
    Ok(numbers)
}

/// Counts the gates of [`outputs`] for the numbers of both parties together, and the bits that the
/// receiver learns. Nothing is as long as the sets, so this works for any sizes.
pub(super) fn count(
    mut count: Count,
    reveals: Reveals,
    numbers: usize,
    bits: usize,
) -> (Count, usize) {
    let wide = |lanes| vec![Width(lanes); bits];
    let column_bits = reveals.column_bits();
    for comparators in merge::comparators_by_layer(numbers) {
        let numbers = vec![Width(comparators); bits + column_bits];
        let Ok(_) = merge::compare_and_swap(&mut count, bits, &numbers, &numbers);
    }
    let neighbours = wide(numbers - 1);
    let Ok(equal) = compare::equal(&mut count, &neighbours, &neighbours);
    if let Reveals::Sums(_) = reveals {
        let both = vec![Width(numbers - 1); column_bits];
        let Ok(learned) = sums(&mut count, &equal, &both);
        return (count, learned.iter().map(Lanes::lanes).sum());
    }
    let Ok(found) = on_either_side(&mut count, &equal);
    let Reveals::Rows { with_zero } = reveals else {
        let blind = [Width(1); TOTAL_BITS];
        let Ok(learned) = counted(&mut count, reveals, &found, &blind);
        return (count, learned.iter().map(Lanes::lanes).sum());
    };
    let Ok(_) = select::mask(&mut count, &found, &wide(found.lanes()));
    let bits = bits + usize::from(with_zero);
    for switches in waksman::switches_by_layer(found.lanes() as u32) {
        let numbers = vec![Width(switches); bits];
        let Ok(_) = select::swap(&mut count, &Width(switches), &numbers, &numbers);
    }
    (count, bits * found.lanes())
}

/// Returns the sum of each column over the lanes that are equal: a lane of 64 bits per column.
fn sums<B: Backend>(
    backend: &mut B,
    equal: &B::Wires,
    columns: &[B::Wires],
) -> Result<Vec<B::Wires>, B::Error> {
    let shared = select::mask(backend, equal, columns)?;
    let mut sums = vec![backend.constant(false, 0); TOTAL_BITS];
    for column in shared.chunks(TOTAL_BITS) {
        let total = sum(backend, column, TOTAL_BITS)?;
        sums.iter_mut()
            .zip(&total)
            .for_each(|(sums, total)| sums.append(total));
    }
    Ok(sums)
}

/// Returns how many were found, or whether they are enough, or the number that hides how many they
/// are.
fn counted<B: Backend>(
    backend: &mut B,
    reveals: Reveals,
    found: &B::Wires,
    blind: &[B::Wires],
) -> Result<Vec<B::Wires>, B::Error> {
    let count = count_ones(backend, found)?;
    Ok(match reveals {
        Reveals::Threshold(items) => vec![compare::at_least(backend, &count, items)?],
        Reveals::Total => {
            let mut total = add(backend, &count, blind)?;
            total.truncate(TOTAL_BITS);
            total
        }
        _ => count,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::{collection::btree_set, prelude::*};
    use psijoin_block::{Block, Prg};
    use psijoin_circuit::{Bits, plain::Plain};

    use super::*;

    const BITS: usize = 8;

    const BLIND: u64 = u64::MAX - 2;

    const WITHOUT_ZERO: Reveals = Reveals::Rows { with_zero: false };
    const WITH_ZERO: Reveals = Reveals::Rows { with_zero: true };

    fn evaluated(
        plain: &mut Plain,
        reveals: Reveals,
        sender: &BTreeSet<u128>,
        receiver: &BTreeSet<u128>,
        seed: u128,
    ) -> Vec<Bits> {
        let lanes = (sender.len() + receiver.len()) / 2;
        let permutation = Prg::from_seed(Block(seed)).permutation(lanes as u32);
        let wires = |numbers: &BTreeSet<u128>| {
            Bits::transposed(&numbers.iter().copied().collect::<Vec<_>>(), BITS)
        };
        let inputs = Inputs {
            sender: wires(sender),
            receiver: wires(receiver),
            switches: waksman::settings(&permutation)
                .into_iter()
                .map(Bits::from_iter)
                .collect(),
            blind: Bits::transposed(&[BLIND.into()], TOTAL_BITS),
        };
        let Ok(learned) = outputs(plain, reveals, inputs);
        learned
    }

    proptest! {
        /// Only the output is revealed: no bit of the items that are not shared, and for count and
        /// threshold no bit of any item.
        #[test]
        fn the_output_is_all_that_is_revealed(
            sender in btree_set(1..256_u128, 1..40),
            receiver in btree_set(1..256_u128, 1..40),
            threshold in 0..20_u64,
            seed: u128,
        ) {
            let shared: Vec<u128> = sender.intersection(&receiver).copied().collect();
            for (mut plain, counter) in [
                (Plain::small(), Count::small as fn() -> Count),
                (Plain::shallow(), Count::shallow),
            ] {
                let mut learn = |reveals| {
                    let before = plain.gates().ands();
                    let learned = evaluated(&mut plain, reveals, &sender, &receiver, seed);
                    let (count, bits) = count(counter(), reveals, sender.len() + receiver.len(), BITS);
                    assert_eq!(count.gates().ands(), plain.gates().ands() - before);
                    assert_eq!(bits, learned.iter().map(Lanes::lanes).sum::<usize>());
                    learned
                };
                for (reveals, flag) in [(WITHOUT_ZERO, 0), (WITH_ZERO, 1 << BITS)] {
                    let mut rows = Bits::numbers(&learn(reveals));
                    rows.sort_unstable();
                    let zeros = rows.len() - shared.len();
                    prop_assert!(rows[..zeros].iter().all(|row| *row == 0));
                    let flagged: Vec<u128> = shared.iter().map(|number| number | flag).collect();
                    prop_assert_eq!(&rows[zeros..], &flagged);
                }
                let counted = Bits::numbers(&learn(Reveals::Count));
                prop_assert_eq!(counted, [shared.len() as u128]);
                let total = Bits::numbers(&learn(Reveals::Total));
                prop_assert_eq!(total, [u128::from(BLIND.wrapping_add(shared.len() as u64))]);
                let reached = Bits::numbers(&learn(Reveals::Threshold(threshold)));
                prop_assert_eq!(reached, [u128::from(shared.len() as u64 >= threshold)]);
            }
        }
    }

    proptest! {
        /// A sum is revealed alone, and its gates are counted.
        #[test]
        fn columns_are_added_up_over_shared_items(
            sender in btree_set(1..256_u128, 1..40),
            receiver in btree_set(1..256_u128, 1..40),
            columns in 1..4_usize,
        ) {
            let number = |item: u128, column: usize| (item as i64 - 100) << (13 * column);
            let expected: Vec<i64> = (0..columns)
                .map(|column| sender.intersection(&receiver).map(|item| number(*item, column)).sum())
                .collect();
            let [mut own, theirs] = [&receiver, &sender].map(|numbers| {
                Bits::transposed(&Vec::from_iter(numbers.iter().copied()), BITS)
            });
            for column in 0..columns {
                let numbers = receiver.iter().map(|item| number(*item, column).cast_unsigned().into());
                own.extend(Bits::transposed(&Vec::from_iter(numbers), TOTAL_BITS));
            }
            for (mut plain, counter) in [
                (Plain::small(), Count::small as fn() -> Count),
                (Plain::shallow(), Count::shallow),
            ] {
                let inputs = Inputs {
                    sender: theirs.clone(),
                    receiver: own.clone(),
                    switches: Vec::new(),
                    blind: Vec::new(),
                };
                let reveals = Reveals::Sums(columns);
                let Ok(learned) = outputs(&mut plain, reveals, inputs);
                let (count, bits) = count(counter(), reveals, sender.len() + receiver.len(), BITS);
                prop_assert_eq!(count.gates().ands(), plain.gates().ands());
                prop_assert_eq!(bits, learned.iter().map(Lanes::lanes).sum::<usize>());
                let sums = Bits::numbers(&learned).into_iter();
                let sums = sums.map(|sum| (sum as u64).cast_signed());
                prop_assert_eq!(Vec::from_iter(sums), expected.clone());
            }
        }
    }

    #[test]
    fn a_threshold_may_be_any_number() {
        let set: BTreeSet<u128> = (1..=7).collect();
        for (least, expected) in [(0, 1), (1, 1), (7, 1), (8, 0), (9, 0), (u64::MAX, 0)] {
            let reveals = Reveals::Threshold(least);
            let learned = evaluated(&mut Plain::small(), reveals, &set, &set, 1);
            assert_eq!(Bits::numbers(&learned), [expected], "at least {least}");
        }
    }

    /// The shuffle is that of the permutation, whatever was found.
    #[test]
    fn rows_come_in_the_order_of_the_permutation() {
        let set: BTreeSet<u128> = (1..=16).collect();
        let learned = evaluated(&mut Plain::small(), WITHOUT_ZERO, &set, &set, 7);
        let permutation = Prg::from_seed(Block(7)).permutation(16);
        let expected: Vec<u128> = permutation.iter().map(|i| u128::from(*i) + 1).collect();
        assert_eq!(Bits::numbers(&learned), expected);
    }

    #[test]
    fn zero_may_be_an_item() {
        let sets = [[0, 7], [0, 9]].map(BTreeSet::from);
        let learned = evaluated(&mut Plain::shallow(), WITH_ZERO, &sets[0], &sets[1], 1);
        let mut rows = Bits::numbers(&learned);
        rows.sort_unstable();
        assert_eq!(rows, [0, 1 << BITS]);
    }

    /// PSZ14 App. D.1.
    #[test]
    fn gates_are_as_published() {
        for log2 in [1, 4, 8, 12, 16] {
            let n = 1_u64 << log2;
            for bits in [32, 74] {
                let (count, revealed) = count(Count::small(), WITHOUT_ZERO, 2 << log2, bits);
                let sigma = bits as u64;
                let published = sigma * (3 * n * log2 + 4 * n) - n;
                assert_eq!(count.gates().ands(), published);
                assert_eq!(revealed as u64, sigma * n);
            }
        }
    }
}
