use psijoin_block::parallel;
use psijoin_files::spill::{Spill, Store};

use super::{
    Counts, KeyTable, MatchingRows, Wanted,
    bitmap::Bitmap,
    collected::Collected,
    distinct::{Distinct, MostFrequent, Repeats},
    identity::Recogniser,
    partitions::{Partitions, Records},
    read,
    stretch::PARTITIONS,
};
use psijoin_key::{BadCellsOfKey, KeySpec, Look, Meaning};

use crate::{
    AlignedRows, Doubt, Error, Numbers, Progress, Source,
    share::{
        GivenRows, PartnerRows, PayloadLayout, PayloadOfRow, PayloadRanges, Payloads, RepeatedKeys,
        RowPayloads,
    },
    write::alignment::{self, Ranked},
};

/// Bytes of a row that repeats a key, and of the first row that has it.
const REPEAT: usize = 2 * size_of::<u32>();

/// The keys of a table that need not fit into memory: as a [`KeyTable`](super::KeyTable) has them,
/// partition by partition.
///
/// Takes the memory of the budget, and per thread a few MiB, or a partition if that is more: one
/// of 256. In the budget, or on disk, each row with a key takes 36 bytes, and 8 more for each
/// column of numbers; each row whose key an earlier row has takes 8 more.
pub struct KeyPartitions {
    collected: Collected,
    /// The rows whose key an earlier row has, each with the first row that has it, by partitions of
    /// keys.
    repeats: Store,
    counts: Counts,
}

/// Distinct keys, in an order that follows from the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Items {
    /// Their fingerprints.
    pub fingerprints: Vec<[u8; 32]>,
    /// The first row of each.
    pub first_rows: Vec<u32>,
    /// For each column of numbers, the number of each: `value · 10^-scale`.
    pub numbers: Vec<Vec<i64>>,
}

impl KeyPartitions {
    /// Reads the keys of a table and, for each key, the numbers in these columns. The excess over
    /// the budget goes to a temporary file in the folder. The threads of the caller's pool do the
    /// work.
    ///
    /// # Errors
    /// As [`KeyTable::read`](super::KeyTable::read), except that there is no limit to distinct
    /// keys; and if what is beyond the budget cannot be written, or not be read back.
    pub fn read(
        source: &Source,
        key: &KeySpec,
        numbers: &[String],
        spill: &Spill,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let (keys, _) = Self::read_with(source, (key, numbers), spill, progress, &|_| ())?;
        Ok(keys)
    }

    /// Reads the keys, and returns a tag by which whoever has this secret recognises the table:
    /// which rows have which keys and numbers.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_identified(
        source: &Source,
        key: &KeySpec,
        numbers: &[String],
        spill: &Spill,
        progress: &Progress,
        secret: &[u8; 32],
    ) -> Result<(Self, blake3::Hash), Error> {
        let recogniser = Recogniser::new(secret, numbers.len());
        let tag = |records: &Records<'_>| recogniser.tag(records);
        let (keys, tags) = Self::read_with(source, (key, numbers), spill, progress, &tag)?;
        let scales = keys.collected.totals.iter().map(|totals| totals.scale);
        let identity = recogniser.finish(&tags, keys.counts.rows, scales);
        Ok((keys, identity))
    }

    /// Reads, and calls `look` with the records of each partition while they are at hand.
    fn read_with<T: Send>(
        source: &Source,
        (key, numbers): (&KeySpec, &[String]),
        spill: &Spill,
        progress: &Progress,
        look: &(dyn Fn(&Records<'_>) -> T + Sync),
    ) -> Result<(Self, Vec<T>), Error> {
        let wanted = Wanted {
            spill: spill.clone(),
            ..Wanted::in_memory(key, numbers)
        };
        let (mut collected, _) = read(source, &wanted, progress)?;
        let repeats = Store::new(collected.partitions.len(), REPEAT, spill);
        let go_through = |partition| -> Result<(u64, MostFrequent, T), Error> {
            let records = collected.partitions.read(partition)?;
            let found = Repeats::of(&records);
            repeats.append(partition, &written(&found.rows))?;
            Ok((found.items as u64, found.most_frequent(), look(&records)))
        };
        let seen = parallel::map(collected.partitions.len(), &go_through);
        let seen: Vec<(u64, MostFrequent, T)> = seen.into_iter().collect::<Result<_, Error>>()?;
        let counts = collected.counts(seen.iter().map(|(items, ..)| items).sum());
        let frequent = seen.iter().map(|(_, frequent, _)| *frequent);
        let frequent = frequent.fold(MostFrequent::default(), MostFrequent::or);
        collected.doubts.extend(frequent.doubt(&counts));
        let keys = Self {
            collected,
            repeats,
            counts,
        };
        Ok((keys, seen.into_iter().map(|(.., looked)| looked).collect()))
    }

    /// Returns the number of bytes that each row with a key takes, in the budget or on disk, if
    /// there are this many columns of numbers.
    pub fn row_bytes(columns: usize) -> u64 {
        Partitions::record_bytes(columns) as u64
    }

    /// Returns how many bytes of a table with this many rows, all of different keys, lie on disk at
    /// most once it is read with a budget of `limit` bytes.
    pub fn most_spilled(rows: u64, columns: usize, limit: u64) -> u64 {
        Store::most_spilled(PARTITIONS, rows * Self::row_bytes(columns), limit)
    }

    /// Returns how many bytes more lie on disk at most if, while items are
    /// [taken](Self::take_items) partition by partition, another store of this many partitions
    /// fills up in the same budget of `limit` bytes.
    ///
    /// Returns the most that may be displaced. The largest partition is spilled first. A partition
    /// here holds 2/257 of the budget at most; so it is not spilled any more once those of the
    /// other store hold as much.
    pub fn most_displaced(partitions: usize, limit: u64) -> u64 {
        let held = u128::from(limit) * 2 / (PARTITIONS as u128 + 1);
        (held * partitions as u128).min(limit.into()) as u64
    }

    /// Returns all of it in memory, beyond any budget.
    ///
    /// # Errors
    /// If there are more than [`MAX_ITEMS`](crate::MAX_ITEMS) distinct keys, or what was spilled
    /// cannot be read.
    pub fn into_table(self) -> Result<KeyTable, Error> {
        self.collected.into_table()
    }

    /// Returns the number of rows of each sort.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns what the fields at each position of the key mean.
    pub fn meanings(&self) -> &[Meaning] {
        &self.collected.meanings
    }

    /// Returns the looks of the key columns, of those that are known.
    pub fn looks(&self) -> &[Look] {
        &self.collected.looks
    }

    /// Returns the cells of the key that count as null, as they have no canonical text.
    pub fn bad_cells(&self) -> &BadCellsOfKey {
        &self.collected.bad_cells
    }

    /// Returns what the keys, as they are read, suggest about how the table is written.
    pub fn doubts(&self) -> &[Doubt] {
        &self.collected.doubts
    }

    /// Returns what is known of each column of numbers, without the numbers.
    pub fn numbers(&self) -> Vec<Numbers> {
        let known = self.collected.totals.iter().map(|totals| Numbers {
            values: Vec::new(),
            scale: totals.scale,
            empty: totals.empty,
        });
        known.collect()
    }

    /// Returns how many bytes lie on disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.collected.partitions.spilled_bytes() + self.repeats.spilled_bytes()
    }

    /// Returns the number of partitions. The items of each are greater than those of the ones
    /// before.
    pub fn partitions(&self) -> usize {
        self.collected.partitions.len()
    }

    /// Returns how many items a partition has that was not [taken](Self::take_items).
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn items_in(&self, partition: usize) -> usize {
        let records = self.collected.partitions.records_in(partition);
        (records - self.repeats.records(partition)) as usize
    }

    /// Returns the items of a partition, which stays as it is.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn items(&self, partition: usize) -> Result<Items, Error> {
        let records = self.collected.partitions.read(partition)?;
        Ok(self.items_of(partition, &records))
    }

    /// Returns the items of a partition, which has none from then on, and takes no memory. The rows
    /// that [match](Self::matching) are still known.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn take_items(&self, partition: usize) -> Result<Items, Error> {
        let records = self.collected.partitions.take(partition)?;
        Ok(self.items_of(partition, &records))
    }

    fn items_of(&self, partition: usize, records: &Records<'_>) -> Items {
        if self.repeats.records(partition) == 0 {
            return Items::of_different(records);
        }
        let distinct = Distinct::of(records);
        Items {
            fingerprints: distinct.fingerprints,
            first_rows: distinct.first_rows,
            numbers: distinct.numbers,
        }
    }

    /// Returns the rows whose columns are given to the other party, with a payload for each item,
    /// in the order of partitions and of their [`items`](Self::items).
    ///
    /// # Errors
    /// If what was spilled cannot be read, or as [`RowItems::given`](super::RowItems::given).
    pub fn given(&self, repeated: RepeatedKeys) -> Result<GivenRows<'_>, Error> {
        let mut payload_of = PayloadOfRow::new(self.counts.rows);
        let mut payloads = 0;
        for partition in 0..self.partitions() {
            for row in self.items(partition)?.first_rows {
                payload_of.set(row, payloads);
                payloads += 1;
            }
        }
        self.give_repeats(&mut payload_of)?;
        let starts = &self.collected.starts;
        GivenRows::new(payload_of, payloads as usize, starts, repeated)
    }

    /// Returns the rows of shared items, and what the other party gave for each, in this layout:
    /// given the first row of each item, a bit per row, the lowest of a word first, and the
    /// payloads of these rows. For rows that repeat a key, payloads are copied, within the budget
    /// or to the folder.
    ///
    /// # Errors
    /// If what was spilled cannot be read, or what is beyond the budget cannot be written.
    ///
    /// # Panics
    /// Unless there are as many words as the bits of all rows take, and a payload for each of these
    /// rows.
    pub fn partners(
        &self,
        first_rows: Vec<u64>,
        payloads: Box<dyn PayloadRanges>,
        layout: &PayloadLayout,
        spill: &Spill,
    ) -> Result<(PartnerRows<'_>, Payloads), Error> {
        let keys = first_rows
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum();
        let shared = self.matching(first_rows)?;
        let of_rows = (self.counts.rows, layout.payload_bytes());
        let repeated = |pair: &mut dyn FnMut(u32, u32) -> Result<(), Error>| {
            self.each_repeat(|row, first| match shared.rows.get(first.into()) {
                true => pair(row, first),
                false => Ok(()),
            })
        };
        let payloads = RowPayloads::new(payloads, of_rows, repeated, spill)?;
        let payloads = Payloads::by_rows(layout.clone(), payloads, keys);
        Ok((PartnerRows::by_rows(shared, keys), payloads))
    }

    /// Returns the other party's payloads for these [aligned](Self::aligned) rows: those of the
    /// first row of each shared item.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    pub fn aligned_payloads(
        &self,
        keys: u64,
        payloads: Box<dyn PayloadRanges>,
        layout: &PayloadLayout,
        spill: &Spill,
    ) -> Result<Payloads, Error> {
        let of_rows = (self.counts.rows, layout.payload_bytes());
        let payloads = RowPayloads::new(payloads, of_rows, |_| Ok(()), spill)?;
        Ok(Payloads::by_rows(layout.clone(), payloads, keys as usize))
    }

    /// Checks that rows can be [aligned](Self::aligned), as
    /// [`RowItems::check_alignable`](super::RowItems::check_alignable).
    ///
    /// # Errors
    /// As that, and if what was spilled cannot be read.
    pub fn check_alignable(&self, repeated: RepeatedKeys) -> Result<(), Error> {
        alignment::check_repeated(repeated, self.counts.duplicates, || self.first_repeated())
    }

    /// Returns the first of the rows that repeat a key.
    fn first_repeated(&self) -> Result<u32, Error> {
        let mut least = u32::MAX;
        self.each_repeat(|row, _| {
            least = least.min(row);
            Ok(())
        })?;
        Ok(least)
    }

    /// Returns the first rows of shared items, in the order that the other party has, too, given a
    /// bit per row, the lowest of a word first, and a key that both parties know. If the other
    /// party gives payloads, they are [those of these rows](Self::aligned_payloads).
    ///
    /// The threads of the caller's pool do the work, and read all partitions.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// Unless there are as many words as the bits of all rows take, and these are first rows of
    /// items whose partitions were not [taken](Self::take_items).
    pub fn aligned(&self, first_rows: Vec<u64>, key: &[u8; 32]) -> Result<AlignedRows<'_>, Error> {
        let shared_rows = Bitmap::from_words(first_rows, self.counts.rows);
        let of_partition = |partition| -> Result<Vec<Ranked>, Error> {
            let Items {
                fingerprints,
                first_rows,
                ..
            } = self.items(partition)?;
            let items = fingerprints.into_iter().zip(first_rows);
            let shared = items.filter(|(_, row)| shared_rows.get((*row).into()));
            let shared: Vec<([u8; 32], u32)> = shared.collect();
            let mut ranked = vec![Ranked::default(); shared.len()];
            alignment::rank(key, &shared, &mut ranked);
            Ok(ranked)
        };
        let keys = shared_rows.count() as usize;
        let mut ranked = Vec::with_capacity(keys);
        for of_partition in parallel::map(self.partitions(), &of_partition) {
            ranked.append(&mut of_partition?);
        }
        assert_eq!(ranked.len(), keys, "first rows of items that are there");
        let shared = MatchingRows {
            rows: shared_rows,
            starts: &self.collected.starts,
        };
        Ok(AlignedRows::new(PartnerRows::by_rows(shared, keys), ranked))
    }

    /// Gives each row that repeats a key the payload of the first row that has it.
    fn give_repeats(&self, payload_of: &mut PayloadOfRow) -> Result<(), Error> {
        self.each_repeat(|row, first| {
            if let Some(payload) = payload_of.get(first.into()) {
                payload_of.set(row, payload);
            }
            Ok(())
        })
    }

    /// Calls `pair` with each row that repeats a key, and with the first row that has it.
    fn each_repeat(
        &self,
        mut pair: impl FnMut(u32, u32) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for partition in 0..self.repeats.partitions() {
            let bytes = self.repeats.read(partition)?;
            repeats(&bytes).try_for_each(|(row, first)| pair(row, first))?;
        }
        Ok(())
    }

    /// Returns the rows that match, given the first row of each item that does: a bit per row, the
    /// lowest of a word first.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// Unless there are as many words as the bits of all rows take.
    pub fn matching(&self, first_rows: Vec<u64>) -> Result<MatchingRows<'_>, Error> {
        let mut rows = Bitmap::from_words(first_rows, self.counts.rows);
        self.each_repeat(|row, first| {
            if rows.get(first.into()) {
                rows.set(row.into());
            }
            Ok(())
        })?;
        Ok(MatchingRows {
            rows,
            starts: &self.collected.starts,
        })
    }
}

impl Items {
    /// Returns the items of a partition in which no key is repeated: there is nothing to sort.
    fn of_different(records: &Records<'_>) -> Self {
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
}

/// Returns the rows of a partition that repeat a key, and the first rows that have it, as they are
/// kept.
fn written(repeats: &[[u32; 2]]) -> Vec<u8> {
    let rows = repeats.iter().flatten();
    rows.flat_map(|row| row.to_le_bytes()).collect()
}

/// Reads the rows of a partition that repeat a key, and the first rows that have it.
fn repeats(bytes: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    let (rows, _) = bytes.as_chunks::<4>();
    let (pairs, _) = rows.as_chunks::<2>();
    pairs
        .iter()
        .map(|[row, first]| (u32::from_le_bytes(*row), u32::from_le_bytes(*first)))
}
