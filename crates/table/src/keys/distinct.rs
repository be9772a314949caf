//! Finds the distinct keys, partition by partition.

use std::cmp::Reverse;

use psijoin_runtime::parallel;

use super::{
    Counts,
    partitions::{Partitions, Records},
};
use psijoin_source::Doubt;

use crate::{Error, LabelColumn};

/// Distinct keys, in an order that follows from the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Items {
    /// Their fingerprints: BLAKE3 in key derivation mode over the normalised fields, each after its
    /// length.
    pub fingerprints: Vec<[u8; 32]>,
    /// The first row of each.
    pub first_rows: Vec<u32>,
    /// For each column of numbers, the number of each, the sum over its rows: `value · 10^-scale`.
    /// Behind them, if there are columns of labels, the place of its labels in the sorted list, or
    /// of their combination, those of the last column side by side.
    pub numbers: Vec<Vec<i64>>,
}

impl Items {
    /// Returns the items of a partition, in ascending order of their fingerprints.
    pub(super) fn of(records: &Records<'_>) -> Self {
        let Sorted { order, repeats } = Sorted::of(records);
        let items = order.len() - repeats.len();
        let mut distinct = Self {
            fingerprints: Vec::with_capacity(items),
            first_rows: Vec::with_capacity(items),
            numbers: vec![Vec::with_capacity(items); records.columns()],
        };
        let mut repeats = repeats.into_iter().peekable();
        for (place, record) in (0..).zip(order) {
            let is_repeat = repeats.next_if_eq(&place).is_some();
            if !is_repeat {
                distinct.fingerprints.push(*records.fingerprint(record));
                distinct.first_rows.push(records.row(record));
            }
            for (column, sums) in distinct.numbers.iter_mut().enumerate() {
                let number = records.number(record, column);
                match sums.last_mut().filter(|_| is_repeat) {
                    // All rows of a key have one label.
                    Some(_) if records.is_of_labels(column) => {}
                    Some(sum) => *sum += number,
                    None => sums.push(number),
                }
            }
        }
        distinct
    }

    /// Returns the items of a partition in which no key is repeated, in the order of rows: there is
    /// nothing to sort.
    pub(super) fn of_different(records: &Records<'_>) -> Self {
        let all = || 0..records.len() as u32;
        let numbers = |column| all().map(move |record| records.number(record, column));
        Self {
            fingerprints: all().map(|record| *records.fingerprint(record)).collect(),
            first_rows: all().map(|record| records.row(record)).collect(),
            numbers: (0..records.columns())
                .map(|column| numbers(column).collect())
                .collect(),
        }
    }

    /// Returns the items of all partitions, which are empty then, in ascending order of their
    /// fingerprints.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn of_all(partitions: &Partitions) -> Result<Self, Error> {
        let parts = parallel::map(partitions.len(), &|partition| {
            Ok(Self::of(&partitions.take(partition)?))
        });
        Ok(Self::joined(
            parts.into_iter().collect::<Result<_, Error>>()?,
        ))
    }

    /// Returns all of them, one part after the other.
    fn joined(parts: Vec<Self>) -> Self {
        let items = parts.iter().map(|part| part.fingerprints.len()).sum();
        let columns = parts.first().map_or(0, |part| part.numbers.len());
        let mut all = Self {
            // Pages that nobody has written to take no memory: partitions go while these come.
            fingerprints: bytemuck::zeroed_vec(items),
            first_rows: vec![0; items],
            numbers: vec![vec![0; items]; columns],
        };
        let mut room = Room::all(&mut all);
        let mut tasks: Vec<_> = parts
            .into_iter()
            .map(|part| {
                let room = room.split_off(part.fingerprints.len());
                (part, room)
            })
            .collect();
        parallel::each_mut(&mut tasks, &|_, (part, room)| {
            // Given back to the operating system as soon as it is not needed any more.
            room.fill(std::mem::take(part));
        });
        all
    }
}

/// The number of a partition's items, and the rows that repeat one.
pub(super) struct Repeats {
    pub(super) items: usize,
    /// Each row whose key an earlier row has, and the first row that has it, in the order of items.
    pub(super) rows: Vec<[u32; 2]>,
    /// Nothing if all rows of each key have one label.
    pub(super) unlike_labels: Option<UnlikeLabels>,
}

/// Rows with another label than the row before with the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnlikeLabels {
    rows: u64,
    /// The first column of labels in which some differ.
    column: usize,
}

impl UnlikeLabels {
    /// Returns both.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            column: self.column.min(other.column),
        }
    }

    /// Returns the error of a table with such rows, and with these columns of labels.
    pub(super) fn error(self, file: &str, columns: &[LabelColumn]) -> Error {
        Error::UnlikeLabels {
            file: file.to_owned(),
            column: columns[self.column].name.clone(),
            rows: self.rows,
        }
    }
}

/// The key that most rows have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MostFrequent {
    /// The number of rows that have it, two at least; or 0, if no key is repeated.
    pub(super) rows: u64,
    /// The first one.
    pub(super) first: u32,
}

impl MostFrequent {
    /// Makes one of keys that are repeated, each given with its first row, and how many rows repeat
    /// it.
    fn of(repeated: impl Iterator<Item = (u32, usize)>) -> Self {
        let keys = repeated.map(|(first, repeats)| Self {
            rows: repeats as u64 + 1,
            first,
        });
        keys.fold(Self::default(), Self::or)
    }

    /// Returns the doubt that it is a key, in a table with these counts: more than a percent of the
    /// rows have it, and far more than have each of the others.
    pub(super) fn doubt(self, counts: &Counts) -> Option<Doubt> {
        const FAR_MORE: u64 = 5;
        let all = counts.duplicates + counts.distinct;
        let others = all.checked_sub(self.rows)?;
        let is_far_more = self.rows >= FAR_MORE
            && self.rows * (counts.distinct - 1) >= FAR_MORE * others
            && self.rows * 100 > all;
        is_far_more.then(|| Doubt::Frequent {
            rows: self.rows,
            of: all,
            first: u64::from(self.first) + 1,
        })
    }

    /// Returns the more frequent one; if they are equal, the one that comes first.
    pub(super) fn or(self, other: Self) -> Self {
        let rank = |key: &Self| (key.rows, Reverse(key.first));
        std::cmp::max_by_key(self, other, rank)
    }
}

impl Repeats {
    pub(super) fn of(records: &Records<'_>) -> Self {
        let Sorted { order, repeats } = Sorted::of(records);
        let mut rows: Vec<[u32; 2]> = Vec::with_capacity(repeats.len());
        let mut last = None;
        let mut unlike_labels: Option<UnlikeLabels> = None;
        for place in &repeats {
            let place = *place as usize;
            let row = |place: usize| records.row(order[place]);
            // A key that is there more than twice has several places in a row.
            let first = match (last, rows.last()) {
                (Some(last), Some([_, first])) if place == last + 1 => *first,
                _ => row(place - 1),
            };
            rows.push([row(place), first]);
            if let Some(column) = records.first_different_label(order[place], order[place - 1]) {
                let unlike = UnlikeLabels { rows: 1, column };
                unlike_labels = Some(unlike_labels.map_or(unlike, |before| before.and(unlike)));
            }
            last = Some(place);
        }
        Self {
            items: order.len() - repeats.len(),
            rows,
            unlike_labels,
        }
    }

    pub(super) fn most_frequent(&self) -> MostFrequent {
        let keys = self.rows.chunk_by(|[_, a], [_, b]| a == b);
        MostFrequent::of(keys.map(|rows| (rows[0][1], rows.len())))
    }
}

/// The order of a partition's keys.
struct Sorted {
    /// Their records, in ascending order of fingerprints, and of rows where these are equal.
    order: Vec<u32>,
    /// The places in that order of keys that are equal to the one before, in ascending order.
    repeats: Vec<u32>,
}

impl Sorted {
    fn of(records: &Records<'_>) -> Self {
        // All begin with the same byte, and four more seldom leave two different keys equal.
        let mut keys: Vec<u64> = (0..records.len() as u32)
            .map(|record| {
                let bytes = records.fingerprint(record)[1..5].try_into();
                u64::from(u32::from_be_bytes(bytes.expect("four bytes"))) << 32 | u64::from(record)
            })
            .collect();
        keys.sort_unstable();
        let mut order: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
        let mut repeats = Vec::new();
        let mut start = 0;
        for run in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
            if run.len() > 1 {
                let order = &mut order[start..start + run.len()];
                let fingerprint = |record: &u32| records.fingerprint(*record);
                // Stable, so rows stay in order.
                order.sort_by_key(fingerprint);
                let pairs = (start + 1..).zip(order.windows(2));
                let is_repeat = |pair: &[u32]| fingerprint(&pair[0]) == fingerprint(&pair[1]);
                let found = pairs.filter(|(_, pair)| is_repeat(pair));
                repeats.extend(found.map(|(place, _)| place as u32));
            }
            start += run.len();
        }
        Self { order, repeats }
    }
}

/// The place where items are written.
struct Room<'a> {
    fingerprints: &'a mut [[u8; 32]],
    first_rows: &'a mut [u32],
    numbers: Vec<&'a mut [i64]>,
}

impl<'a> Room<'a> {
    fn all(items: &'a mut Items) -> Self {
        Self {
            fingerprints: &mut items.fingerprints,
            first_rows: &mut items.first_rows,
            numbers: items.numbers.iter_mut().map(|sums| &mut sums[..]).collect(),
        }
    }

    /// Returns the first part of the room: for this many items.
    fn split_off(&mut self, items: usize) -> Self {
        Self {
            fingerprints: first_of(&mut self.fingerprints, items),
            first_rows: first_of(&mut self.first_rows, items),
            numbers: (self.numbers.iter_mut())
                .map(|sums| first_of(sums, items))
                .collect(),
        }
    }

    /// Writes items that have just this room.
    fn fill(&mut self, items: Items) {
        self.fingerprints.copy_from_slice(&items.fingerprints);
        self.first_rows.copy_from_slice(&items.first_rows);
        for (sums, numbers) in self.numbers.iter_mut().zip(items.numbers) {
            sums.copy_from_slice(&numbers);
        }
    }
}

fn first_of<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    slice.split_off_mut(..count).expect("there is as much room")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use psijoin_files::spill::{Budget, Folder, Spill};

    use super::*;
    use crate::{
        keys::{
            partitions::BesideKeys,
            stretch::{Cells, Keys},
        },
        labels::{Dictionaries, LabelCells},
        numbers::Totals,
    };
    use psijoin_source::Number;

    /// The labels of keys, by a byte of their fingerprints.
    const LABELS: [&str; 3] = ["gold", "", "basic"];

    /// Returns a fingerprint that begins with bytes that few keys share.
    fn fingerprint([a, b, c]: [u8; 3]) -> [u8; 32] {
        let mut fingerprint = [7; 32];
        (fingerprint[0], fingerprint[4], fingerprint[30]) = (a, b, c);
        fingerprint
    }

    proptest! {
        #[test]
        fn items_are_those_of_a_map(
            stretches in prop::collection::vec(
                (0..3_u32, prop::collection::vec(([0..3_u8, 0..3_u8, 0..3_u8], -9..9_i64), 0..30)),
                0..4,
            ),
            budget in prop_oneof![Just(0), Just(u64::MAX)],
        ) {
            let spill = Spill::new(Budget::new(budget), Folder::temporary());
            let mut partitions = Partitions::new(1, true, &spill);
            let mut dictionaries = Dictionaries::new(&[LabelColumn::default()]);
            let mut totals = [Totals::default()];
            let mut expected: BTreeMap<[u8; 32], (Vec<u32>, i64)> = BTreeMap::new();
            let mut first_row = 0;
            for (decimals, stretch) in &stretches {
                let keys: Vec<_> = stretch.iter().map(|(bytes, _)| fingerprint(*bytes)).collect();
                let rows: Vec<u32> = (0..keys.len() as u32).collect();
                let mut cells = Vec::new();
                let mut labels = LabelCells::default();
                for (&(_, number), (key, row)) in stretch.iter().zip(keys.iter().zip(&rows)) {
                    let cell = Number::parse(&format!("{number}e-{decimals}")).unwrap();
                    totals[0].add(cell).unwrap();
                    cells.push(cell);
                    labels.add(LABELS[usize::from(key[30])]);
                    let (rows, sum) = expected.entry(*key).or_default();
                    rows.push(first_row + row);
                    *sum += number * 10_i64.pow(4 - decimals);
                }
                let cells = Cells { columns: vec![cells], places: Vec::new() };
                let keys = Keys::parted(&keys, &rows);
                let labels = dictionaries.learn(&[labels]);
                let beside = BesideKeys { numbers: &cells, totals: &totals, labels: &labels };
                partitions.extend(&keys, &beside, first_row).unwrap();
                first_row += rows.len() as u32;
            }
            let (labels, ranks) = dictionaries.finish();
            let partitions = partitions.with_ranks(ranks);
            let first = expected.keys().next().map_or(0, |key| usize::from(key[0]));
            let of_partition = |partition| Repeats::of(&partitions.read(partition).unwrap());
            let repeats: Vec<_> = (0..partitions.len()).map(of_partition).collect();
            prop_assert_eq!(repeats.iter().map(|found| found.items).sum::<usize>(), expected.len());
            prop_assert!(repeats.iter().all(|found| found.unlike_labels.is_none()));
            let pairs: Vec<_> = repeats.into_iter().flat_map(|found| found.rows).collect();
            let expected_pairs: Vec<_> = (expected.values())
                .flat_map(|(rows, _)| rows[1..].iter().map(|&row| [row, rows[0]]))
                .collect();
            prop_assert_eq!(pairs, expected_pairs);
            let of_first = Items::of(&partitions.read(first).unwrap()).fingerprints;
            prop_assert!(expected.keys().zip(&of_first).all(|(a, b)| a == b));
            let distinct = Items::of_all(&partitions).unwrap();
            let keys: Vec<_> = expected.keys().copied().collect();
            prop_assert_eq!(&distinct.fingerprints, &keys);
            let rows: Vec<_> = expected.values().map(|(rows, _)| rows[0]).collect();
            prop_assert_eq!(&distinct.first_rows, &rows);
            let scale = 10_i64.pow(4 - totals[0].scale);
            let sums: Vec<_> = expected.values().map(|(_, sum)| *sum / scale).collect();
            prop_assert_eq!(&distinct.numbers[0], &sums);
            for (key, place) in keys.iter().zip(&distinct.numbers[1]) {
                let label = labels[0].texts[*place as usize].as_deref();
                prop_assert_eq!(label.unwrap_or_default(), LABELS[usize::from(key[30])]);
            }
            // They were taken.
            prop_assert_eq!(spill.budget.used(), 0);
            prop_assert!(Items::of_all(&partitions).unwrap().fingerprints.is_empty());
        }
    }

    #[test]
    fn a_key_in_far_more_rows_than_others_is_doubted() {
        let doubted = |rows, of, distinct| {
            let frequent = MostFrequent { rows, first: 6 };
            let counts = Counts {
                duplicates: of - distinct,
                distinct,
                ..Counts::default()
            };
            frequent.doubt(&counts).is_some()
        };
        assert!(doubted(20, 1000, 981));
        assert!(!doubted(4, 100, 97));
        // A percent is not more than a percent.
        assert!(!doubted(10, 1000, 991));
        assert!(doubted(11, 1000, 990));
        // Others have about as many: 19 each.
        assert!(!doubted(50, 1000, 51));
        assert!(doubted(95, 1000, 51));
        // There is no other to compare with, or no key at all.
        assert!(doubted(10, 10, 1));
        assert!(!doubted(0, 10, 10));
    }
}
