//! Finds the distinct keys, partition by partition.

use std::mem;

use psijoin_block::parallel;

/// The keys whose fingerprints begin alike, in the order of their rows.
#[derive(Clone)]
pub(super) struct Partition {
    fingerprints: Vec<[u8; 32]>,
    rows: Vec<u32>,
    /// The numbers of each column.
    numbers: Vec<Vec<i64>>,
}

impl Partition {
    /// A partition with this many columns of numbers.
    pub(super) fn new(columns: usize) -> Self {
        Self {
            fingerprints: Vec::new(),
            rows: Vec::new(),
            numbers: vec![Vec::new(); columns],
        }
    }

    /// Adds keys and their rows.
    pub(super) fn extend(
        &mut self,
        fingerprints: &[[u8; 32]],
        rows: impl ExactSizeIterator<Item = u32>,
    ) {
        self.fingerprints.extend_from_slice(fingerprints);
        self.rows.extend(rows);
    }

    /// Adds the numbers that the added keys have in a column.
    pub(super) fn extend_numbers(&mut self, column: usize, values: impl Iterator<Item = i64>) {
        self.numbers[column].extend(values);
    }

    /// Multiplies the numbers of a column.
    pub(super) fn scale(&mut self, column: usize, factor: i64) {
        for value in &mut self.numbers[column] {
            *value *= factor;
        }
    }

    /// The keys in ascending order of fingerprints, and of rows where these are equal.
    fn sorted(&self) -> Sorted {
        // All begin with the same byte, and four more seldom leave two different keys equal.
        let keys = (0_u32..).zip(&self.fingerprints);
        let mut keys: Vec<u64> = keys
            .map(|(index, fingerprint)| {
                let bytes = fingerprint[1..5].try_into().expect("four bytes");
                u64::from(u32::from_be_bytes(bytes)) << 32 | u64::from(index)
            })
            .collect();
        keys.sort_unstable();
        let mut order: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
        let mut repeats = Vec::new();
        let mut start = 0;
        for run in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
            if run.len() > 1 {
                let order = &mut order[start..start + run.len()];
                let fingerprint = |index: &u32| &self.fingerprints[*index as usize];
                // Stable, so rows stay in order.
                order.sort_by_key(fingerprint);
                let pairs = (start + 1..).zip(order.windows(2));
                let is_repeat = |pair: &[u32]| fingerprint(&pair[0]) == fingerprint(&pair[1]);
                let found = pairs.filter(|(_, pair)| is_repeat(pair));
                repeats.extend(found.map(|(place, _)| place as u32));
            }
            start += run.len();
        }
        Sorted { order, repeats }
    }
}

impl Default for Partition {
    fn default() -> Self {
        Self::new(0)
    }
}

/// The order of a partition's keys.
#[derive(Default)]
struct Sorted {
    /// Their indices.
    order: Vec<u32>,
    /// The places in that order of keys that are equal to the one before, in ascending order.
    repeats: Vec<u32>,
}

/// The distinct keys of a table: its items, in ascending order of their fingerprints.
#[derive(Default)]
pub(super) struct Distinct {
    pub(super) fingerprints: Vec<[u8; 32]>,
    /// The first row of each item.
    pub(super) first_rows: Vec<u32>,
    /// All other rows, and the items that they hold.
    pub(super) repeated: Vec<(u32, u32)>,
    /// Each column's number of each item: the sum over its rows.
    pub(super) numbers: Vec<Vec<i64>>,
}

impl Distinct {
    /// The items of these partitions, which are in ascending order of what their fingerprints begin
    /// with, and have equally many columns of numbers; `None` if there are more than `most`.
    pub(super) fn of(partitions: Vec<Partition>, most: usize) -> Option<Self> {
        let mut parts: Vec<Part> = partitions.into_iter().map(Part::of).collect();
        parallel::each_mut(&mut parts, &|_, part| part.sorted = part.keys.sorted());
        let items = parts.iter().map(Part::items).sum();
        if items > most {
            return None;
        }
        let repeated = parts.iter().map(|part| part.sorted.repeats.len()).sum();
        let columns = parts.first().map_or(0, |part| part.keys.numbers.len());
        let mut distinct = Self {
            // Pages that nobody has written to take no memory: partitions go while these come.
            fingerprints: bytemuck::zeroed_vec(items),
            first_rows: vec![0; items],
            repeated: vec![(0, 0); repeated],
            numbers: vec![vec![0; items]; columns],
        };
        let mut room = Room::all(&mut distinct);
        let mut tasks: Vec<_> = parts
            .into_iter()
            .map(|part| {
                let room = room.split_off(part.items(), part.sorted.repeats.len());
                (part, room)
            })
            .collect();
        parallel::each_mut(&mut tasks, &|_, (part, room)| {
            // Given back to the operating system as soon as it is not needed any more.
            mem::take(part).write(room);
        });
        Some(distinct)
    }
}

/// A partition, and the order of its keys once that is known.
#[derive(Default)]
struct Part {
    keys: Partition,
    sorted: Sorted,
}

impl Part {
    fn of(keys: Partition) -> Self {
        Self {
            keys,
            sorted: Sorted::default(),
        }
    }

    /// How many distinct keys it has, once it is sorted.
    fn items(&self) -> usize {
        self.sorted.order.len() - self.sorted.repeats.len()
    }

    /// Writes the items to the room that is theirs.
    fn write(self, room: &mut Room<'_>) {
        let Partition {
            fingerprints,
            rows,
            numbers,
        } = &self.keys;
        let (mut items, mut repeated) = (0, 0);
        for (place, &index) in (0..).zip(&self.sorted.order) {
            let index = index as usize;
            if self.sorted.repeats.get(repeated) == Some(&place) {
                room.repeated[repeated] = (rows[index], room.first_item + items as u32 - 1);
                repeated += 1;
            } else {
                room.fingerprints[items] = fingerprints[index];
                room.first_rows[items] = rows[index];
                items += 1;
            }
            for (sums, numbers) in room.numbers.iter_mut().zip(numbers) {
                sums[items - 1] += numbers[index];
            }
        }
    }
}

/// Where items are written.
struct Room<'a> {
    /// The number of the first item.
    first_item: u32,
    fingerprints: &'a mut [[u8; 32]],
    first_rows: &'a mut [u32],
    repeated: &'a mut [(u32, u32)],
    numbers: Vec<&'a mut [i64]>,
}

impl<'a> Room<'a> {
    fn all(distinct: &'a mut Distinct) -> Self {
        Self {
            first_item: 0,
            fingerprints: &mut distinct.fingerprints,
            first_rows: &mut distinct.first_rows,
            repeated: &mut distinct.repeated,
            numbers: distinct
                .numbers
                .iter_mut()
                .map(|sums| &mut sums[..])
                .collect(),
        }
    }

    /// The first part of the room: for this many items and further rows.
    fn split_off(&mut self, items: usize, repeated: usize) -> Self {
        let first = Self {
            first_item: self.first_item,
            fingerprints: first_of(&mut self.fingerprints, items),
            first_rows: first_of(&mut self.first_rows, items),
            repeated: first_of(&mut self.repeated, repeated),
            numbers: (self.numbers.iter_mut())
                .map(|sums| first_of(sums, items))
                .collect(),
        };
        self.first_item += items as u32;
        first
    }
}

fn first_of<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    slice.split_off_mut(..count).expect("there is as much room")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// A fingerprint that begins with bytes of which few keys share all.
    fn fingerprint([a, b, c]: [u8; 3]) -> [u8; 32] {
        let mut fingerprint = [7; 32];
        (fingerprint[0], fingerprint[4], fingerprint[30]) = (a, b, c);
        fingerprint
    }

    proptest! {
        #[test]
        fn items_are_those_of_a_map(
            rows in prop::collection::vec(([0..3_u8, 0..3_u8, 0..3_u8], -9..9_i64), 0..60),
        ) {
            let mut partitions = vec![Partition::new(1); 3];
            let mut expected: BTreeMap<[u8; 32], (Vec<u32>, i64)> = BTreeMap::new();
            for (row, &(bytes, number)) in (10..).zip(&rows) {
                let key = fingerprint(bytes);
                let partition = &mut partitions[usize::from(bytes[0])];
                partition.extend(&[key], [row].into_iter());
                partition.extend_numbers(0, [number].into_iter());
                let (rows, sum) = expected.entry(key).or_default();
                rows.push(row);
                *sum += number;
            }
            prop_assert!(expected.is_empty() || Distinct::of(partitions.clone(), expected.len() - 1).is_none());
            let distinct = Distinct::of(partitions, expected.len()).unwrap();
            let keys: Vec<_> = expected.keys().copied().collect();
            prop_assert_eq!(&distinct.fingerprints, &keys);
            let rows: Vec<_> = expected.values().map(|(rows, _)| rows[0]).collect();
            prop_assert_eq!(&distinct.first_rows, &rows);
            let sums: Vec<_> = expected.values().map(|(_, sum)| *sum).collect();
            prop_assert_eq!(&distinct.numbers[0], &sums);
            let repeated: Vec<_> = (0..)
                .zip(expected.values())
                .flat_map(|(item, (rows, _))| rows[1..].iter().map(move |&row| (row, item)))
                .collect();
            prop_assert_eq!(&distinct.repeated, &repeated);
        }
    }
}
