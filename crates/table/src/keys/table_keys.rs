//! One holder of a table's keys, from when they are read until rows are written.
//!
//! - *Read*: keys lie in 256 partitions, by what their fingerprints begin with, within a budget of
//!   memory and beyond it on disk. What has no limit of memory is the budget without a limit. The
//!   rows that repeat a key are known, and the number of distinct keys.
//! - *Partition by partition*: whoever needs not all items at once [reads](TableKeys::items) the
//!   partitions, or [takes](TableKeys::take_items) them, and they are gone.
//! - *Gathered*: whoever needs all items at once [gathers](TableKeys::gather) them. They leave the
//!   partitions for one list in memory, in ascending order of fingerprints, and are the only
//!   partition from then on. Nothing is there twice, and what is not needed any more, such as the
//!   fingerprints once a protocol has digested them, can be taken out of the list.
//! - *Back to rows*: a protocol's result names first rows of shared keys ([`SharedKeys`]). Further
//!   rows of these keys follow from the rows that repeat one, which are kept apart from the items.
//!   So rows are found in the same way whether items were gathered, taken or neither.

mod back_to_rows;

use std::{borrow::Cow, fmt, io::Read};

use psijoin_files::spill::{Spill, Store};
use psijoin_key::{BadCellsOfKey, KeySpec, Look, Meaning};
use psijoin_runtime::parallel;

use super::{
    Counts, Wanted,
    collected::{Collected, Position},
    distinct::{Items, MostFrequent, Repeats, UnlikeLabels},
    identity::Recogniser,
    inspector::{Findings, Kept},
    partitions::{Partitions, Records},
    read,
    stretch::PARTITIONS,
};
use psijoin_source::{Dialect, Doubt, Progress, Source};

use crate::{Error, LabelColumn, Labels, MAX_ITEMS, Numbers, numbers::Totals};

/// Bytes of a row that repeats a key, and of the first row that has it.
const REPEAT: usize = 2 * size_of::<u32>();

/// What is seen of a partition when it is gone through for the first time.
struct Seen<T> {
    items: u64,
    frequent: MostFrequent,
    unlike: Option<UnlikeLabels>,
    looked: T,
}

/// The columns that are read beside the key.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// Columns of numbers.
    pub numbers: &'a [String],
    /// Columns of labels, by which keys are grouped: two at most.
    pub labels: &'a [LabelColumn],
}

impl Beside<'_> {
    /// Returns whether a key has labels.
    pub(crate) fn brings_label(self) -> bool {
        !self.labels.is_empty()
    }

    /// Returns the names of the columns of labels.
    pub(crate) fn label_names(self) -> Vec<String> {
        let labels = self.labels.iter();
        labels.map(|column| column.name.clone()).collect()
    }
}

/// The keys of a table: what a protocol needs from the table, and what is needed to find the
/// matching rows again.
///
/// Takes the memory of the budget, and per thread a few MiB, or a partition if that is more: one of
/// 256. In the budget, or on disk, each row with a key takes 36 bytes, and 8 more for each column
/// of numbers, and for labels; each row whose key an earlier row has takes 8 more. If all are
/// [gathered](Self::gather), each distinct key takes these bytes in memory.
pub struct TableKeys {
    collected: Collected,
    /// All items, if they were gathered. The partitions are empty then.
    gathered: Option<Items>,
    /// The rows whose key an earlier row has, each with the first row that has it, by partitions of
    /// keys.
    repeats: Store,
    counts: Counts,
}

impl TableKeys {
    /// Reads the keys of a table and, for each key, the numbers in these columns. The excess over
    /// the budget goes to a temporary file in the folder. The threads of the caller's pool do the
    /// work.
    ///
    /// # Errors
    /// If the table cannot be read, breaks its format, lacks a column, or has more than
    /// [`MAX_ROWS`](crate::MAX_ROWS) rows; if cells of the key have no canonical text, or a rule
    /// cannot read them, and may not count as null; if there is something else than numbers in a
    /// column of numbers, or their sum may be too large; and if what is beyond the budget cannot be
    /// written, or not be read back.
    pub fn read(
        source: &Source,
        key: &KeySpec,
        numbers: &[String],
        spill: &Spill,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let beside = Beside {
            numbers,
            labels: &[],
        };
        Self::read_beside(source, key, beside, spill, progress)
    }

    /// Reads the keys of a table and, for each key, what is in the columns beside it.
    ///
    /// # Errors
    /// As [`read`](Self::read); and if a cell of a column of labels has none, or rows with one key
    /// have several.
    ///
    /// # Panics
    /// If there are more than two columns of labels.
    pub fn read_beside(
        source: &Source,
        key: &KeySpec,
        beside: Beside<'_>,
        spill: &Spill,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let wanted = Wanted::new(key, beside, spill);
        let (keys, ..) = Self::read_with(source, &wanted, progress, &|_| ())?;
        Ok(keys)
    }

    /// As [`read_beside`](Self::read_beside), and returns a tag by which whoever has this secret
    /// recognises the table: which rows have which keys, numbers and labels.
    ///
    /// # Errors
    /// As that.
    pub fn read_identified(
        source: &Source,
        key: &KeySpec,
        beside: Beside<'_>,
        spill: &Spill,
        progress: &Progress,
        secret: &[u8; 32],
    ) -> Result<(Self, blake3::Hash), Error> {
        let columns = beside.numbers.len() + usize::from(beside.brings_label());
        let recogniser = Recogniser::new(secret, columns);
        let tag = |records: &Records<'_>| recogniser.tag(records);
        let wanted = Wanted::new(key, beside, spill);
        let (keys, _, tags) = Self::read_with(source, &wanted, progress, &tag)?;
        let Collected { totals, labels, .. } = &keys.collected;
        let identity = recogniser.finish(&tags, keys.counts.rows, (&totals[..], &labels[..]));
        Ok((keys, identity))
    }

    /// Reads the keys and numbers of a CSV text from memory or a stream into memory, for use
    /// without a file, as by a fuzzer. `name` stands for the file in errors.
    ///
    /// # Errors
    /// As [`read`](Self::read), and if the dialect's delimiter is its quote.
    pub fn read_csv(
        input: impl Read,
        name: &str,
        dialect: &Dialect,
        key: &KeySpec,
        numbers: &[String],
    ) -> Result<Self, Error> {
        let source = Source::csv_in_memory(input, name, dialect)?;
        let spill = Spill::in_memory();
        Self::read(&source, key, numbers, &spill, &Progress::default())
    }

    /// Reads the keys into memory, and looks at them on the way.
    pub(crate) fn inspect(
        source: &Source,
        key: &KeySpec,
        kept: Kept,
        progress: &Progress,
    ) -> Result<(Self, Findings), Error> {
        let spill = Spill::in_memory();
        let wanted = Wanted {
            inspected: Some(kept),
            ..Wanted::new(key, Beside::default(), &spill)
        };
        let (keys, findings, _) = Self::read_with(source, &wanted, progress, &|_| ())?;
        Ok((keys, findings))
    }

    /// Reads, and calls `look` with the records of each partition while they are at hand.
    fn read_with<T: Send>(
        source: &Source,
        wanted: &Wanted<'_>,
        progress: &Progress,
        look: &(dyn Fn(&Records<'_>) -> T + Sync),
    ) -> Result<(Self, Findings, Vec<T>), Error> {
        let (mut collected, findings) = read(source, wanted, progress)?;
        let repeats = Store::new(collected.partitions.len(), REPEAT, wanted.spill);
        let go_through = |partition| -> Result<Seen<T>, Error> {
            let records = collected.partitions.read(partition)?;
            let found = Repeats::of(&records);
            repeats.append(partition, &back_to_rows::written(&found.rows))?;
            Ok(Seen {
                items: found.items as u64,
                frequent: found.most_frequent(),
                unlike: found.unlike_labels,
                looked: look(&records),
            })
        };
        let seen = parallel::map(collected.partitions.len(), &go_through);
        let seen: Vec<Seen<T>> = seen.into_iter().collect::<Result<_, Error>>()?;
        let unlike = seen.iter().filter_map(|seen| seen.unlike);
        if let Some(unlike) = unlike.reduce(UnlikeLabels::and) {
            return Err(unlike.error(&collected.table, wanted.beside.labels));
        }
        let counts = collected.counts(seen.iter().map(|seen| seen.items).sum());
        let frequent = seen.iter().map(|seen| seen.frequent);
        let frequent = frequent.fold(MostFrequent::default(), MostFrequent::or);
        collected.doubts.extend(frequent.doubt(&counts));
        let keys = Self {
            collected,
            gathered: None,
            repeats,
            counts,
        };
        let looked = seen.into_iter().map(|seen| seen.looked).collect();
        Ok((keys, findings, looked))
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
    /// The largest partition is spilled first. A partition here holds 2/257 of the budget at most;
    /// so it is not spilled any more once those of the other store hold as much.
    pub fn most_displaced(partitions: usize, limit: u64) -> u64 {
        let held = u128::from(limit) * 2 / (PARTITIONS as u128 + 1);
        (held * partitions as u128).min(limit.into()) as u64
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
        self.collected.totals.iter().map(Totals::known).collect()
    }

    /// Returns the labels of each column of labels.
    pub fn labels(&self) -> &[Labels] {
        &self.collected.labels
    }

    /// Returns the totals of each column of numbers.
    pub(crate) fn totals(&self) -> &[Totals] {
        &self.collected.totals
    }

    /// Returns what was found at each position of the key.
    pub(crate) fn positions(&self) -> &[Position] {
        &self.collected.positions
    }

    /// Returns how many bytes lie on disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.collected.partitions.spilled_bytes() + self.repeats.spilled_bytes()
    }

    /// Brings all items into one list in memory, beyond any budget, in ascending order of their
    /// fingerprints, and returns it; if they are there already, it only does that. The list is the
    /// only partition from then on. Whoever takes something out of it does without it later. The
    /// threads of the caller's pool do the work.
    ///
    /// # Errors
    /// If there are more than [`MAX_ITEMS`] distinct keys, or what was spilled cannot be read.
    pub fn gather(&mut self) -> Result<&mut Items, Error> {
        let gathered = match self.gathered.take() {
            Some(gathered) => gathered,
            None if self.counts.distinct > MAX_ITEMS as u64 => {
                let file = self.collected.table.clone();
                return Err(Error::TooManyItems { file });
            }
            None => Items::of_all(&self.collected.partitions)?,
        };
        Ok(self.gathered.insert(gathered))
    }

    /// Returns all items, if they were [gathered](Self::gather).
    pub fn gathered(&self) -> Option<&Items> {
        self.gathered.as_ref()
    }

    /// Returns the number of partitions. The items of each are greater than those of the ones
    /// before.
    pub fn partitions(&self) -> usize {
        match self.gathered {
            Some(_) => 1,
            None => self.collected.partitions.len(),
        }
    }

    /// Returns how many items a partition has that was not [taken](Self::take_items).
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn items_in(&self, partition: usize) -> usize {
        if self.gathered.is_some() {
            assert_eq!(partition, 0, "the only partition");
            return self.counts.distinct as usize;
        }
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
    pub fn items(&self, partition: usize) -> Result<Cow<'_, Items>, Error> {
        if let Some(gathered) = &self.gathered {
            assert_eq!(partition, 0, "the only partition");
            return Ok(Cow::Borrowed(gathered));
        }
        let records = self.collected.partitions.read(partition)?;
        Ok(Cow::Owned(self.items_of(partition, &records)))
    }

    /// Returns the items of a partition, which has none from then on, and takes no memory. The rows
    /// that [match](Self::matching) are still known.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// If there is no such partition, or the items were [gathered](Self::gather).
    pub fn take_items(&self, partition: usize) -> Result<Items, Error> {
        assert!(self.gathered.is_none(), "items in partitions");
        let records = self.collected.partitions.take(partition)?;
        Ok(self.items_of(partition, &records))
    }

    fn items_of(&self, partition: usize, records: &Records<'_>) -> Items {
        match self.repeats.records(partition) {
            0 => Items::of_different(records),
            _ => Items::of(records),
        }
    }
}

/// Without keys.
impl fmt::Debug for TableKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableKeys")
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
