//! The labels of a table in portions.
//!
//! Facts about a portion have its labels, as the other party may be told of them. A key has
//! *hashes*, one of its label in each column. So all keys take as many bytes, and whoever merges
//! equal keys, or sorts them, learns no label. A lane has the hashes of the list of labels on which
//! both parties have agreed, and so finds the place of a key's label in it.
//!
//! Hashes have 64 bits. Two labels of a list that have one are refused, for [`LabelPlaces`] could
//! not tell them apart: among 256 that happens with a probability of 2^-49.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use arrow_array::{ArrayRef, FixedSizeBinaryArray, RecordBatch};
use arrow_buffer::Buffer;
use psijoin_source::MAX_LABEL_BYTES;

use super::{
    PortionKeys,
    binary::each_value,
    bytes::{Unread, write_text},
    fault::PortionFault,
};
use crate::{
    Error, LabelColumn, Labels, MAX_LABELS, OTHER,
    labels::{MAX_LABEL_COLUMNS, hash_of},
};

/// The column of hashes.
pub const LABELS: &str = "labels_of_key";

/// Bytes of the hashes of a key.
pub(super) const HASHES_BYTES: i32 = (MAX_LABEL_COLUMNS * size_of::<u64>()) as i32;

/// The hash of a key's label in each column. It is 0 where there is no column, or where the portion
/// has more labels than are kept: then there is no join.
pub(super) type LabelHashes = [u64; MAX_LABEL_COLUMNS];

/// Returns the hashes of labels in this order; null is one, too.
pub fn hashes_of(labels: &[Option<String>]) -> Vec<u64> {
    let labels = labels.iter();
    labels
        .map(|label| hash_of(label.as_deref().unwrap_or_default()))
        .collect()
}

/// Returns the hashes of keys, given the labels of each column, and each key's place among all
/// combinations.
pub(super) fn hashes_of_places(labels: &[Labels], places: &[i64]) -> Vec<LabelHashes> {
    let hashes = |labels: &Labels| match &labels.texts[..] {
        [] => vec![0; MAX_LABELS],
        texts => hashes_of(texts),
    };
    let columns: Vec<Vec<u64>> = labels.iter().map(hashes).collect();
    let of_place = |place: &i64| {
        let (mut rest, mut of_key) = (*place as usize, LabelHashes::default());
        for (hash, column) in of_key.iter_mut().zip(&columns).rev() {
            *hash = column[rest % column.len()];
            rest /= column.len();
        }
        of_key
    };
    places.iter().map(of_place).collect()
}

/// Returns the hashes of a key whose rows in several portions have these; `None` if they differ.
pub(super) fn one_of(rows: impl Iterator<Item = LabelHashes>) -> Option<LabelHashes> {
    let mut of_key = LabelHashes::default();
    for row in rows {
        for (known, hash) in of_key.iter_mut().zip(row) {
            match (*known, hash) {
                (_, 0) => {}
                (0, hash) => *known = hash,
                (known, hash) if known == hash => {}
                _ => return None,
            }
        }
    }
    Some(of_key)
}

/// Returns hashes as Arrow data.
pub(super) fn to_array(hashes: &[LabelHashes]) -> ArrayRef {
    let bytes = hashes.iter().flatten().flat_map(|hash| hash.to_le_bytes());
    let values = Buffer::from(bytes.collect::<Vec<u8>>());
    Arc::new(FixedSizeBinaryArray::new(HASHES_BYTES, values, None))
}

/// Returns the hashes in a batch with a column [`LABELS`].
///
/// # Errors
/// [`PortionFault::Labels`].
pub(super) fn of_batch(batch: &RecordBatch) -> Result<Vec<LabelHashes>, PortionFault> {
    let column = batch.column_by_name(LABELS).ok_or(PortionFault::Labels)?;
    let mut hashes = Vec::with_capacity(column.len());
    let read = each_value(column, &mut |value| {
        let (words, []) = value.as_chunks::<{ size_of::<u64>() }>() else {
            return None;
        };
        let words: &LabelHashesBytes = words.try_into().ok()?;
        hashes.push(words.map(u64::from_le_bytes));
        Some(())
    });
    read.ok_or(PortionFault::Labels)?;
    Ok(hashes)
}

/// [`LabelHashes`], as they are in a column.
type LabelHashesBytes = [[u8; size_of::<u64>()]; MAX_LABEL_COLUMNS];

/// Finds the places of keys' labels in the lists on which both parties have agreed.
pub struct LabelPlaces(Vec<HashMap<u64, i64>>);

impl LabelPlaces {
    /// Makes one of the [hashes](hashes_of) of the list of each of a party's columns; `None` if two
    /// of a list are equal, or there are too many columns.
    pub fn new(lists: &[Vec<u64>]) -> Option<Self> {
        let places =
            |list: &Vec<u64>| -> HashMap<u64, i64> { list.iter().copied().zip(0..).collect() };
        let places: Vec<_> = lists.iter().map(places).collect();
        let mut lengths = places.iter().zip(lists);
        let are_different = lengths.all(|(places, list)| places.len() == list.len());
        (are_different && places.len() <= MAX_LABEL_COLUMNS).then_some(Self(places))
    }

    /// Returns the place of each key's labels among all combinations, those of the last column side
    /// by side.
    ///
    /// # Errors
    /// [`PortionFault::Labels`] if keys come without labels, or one is not on its list.
    pub fn of(&self, keys: &PortionKeys) -> Result<Vec<i64>, Error> {
        let hashes = keys.labels.as_ref().ok_or(PortionFault::Labels)?;
        let place = |of_key: &LabelHashes| {
            let mut columns = self.0.iter().zip(of_key);
            columns.try_fold(0, |place, (places, hash)| {
                Some(place * places.len() as i64 + places.get(hash)?)
            })
        };
        let places: Option<Vec<i64>> = hashes.iter().map(place).collect();
        Ok(places.ok_or(PortionFault::Labels)?)
    }
}

/// The labels of a column in a portion, or in several together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnLabels {
    name: String,
    known: Known,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Known {
    /// Those of a list that is given, whatever is in the portion.
    Listed(BTreeSet<String>),
    /// All of them, in which an empty text is null.
    Kept(BTreeSet<String>),
    /// Hashes of more than are kept.
    Hashed(BTreeSet<u64>),
}

impl ColumnLabels {
    /// Returns those of a portion that was read. If it has no keys, it has no labels.
    pub(super) fn of(column: &LabelColumn, found: &Labels, has_keys: bool) -> Self {
        let texts = found.texts.iter();
        let texts = texts.map(|text| text.clone().unwrap_or_default());
        let known = match &column.listed {
            Some(listed) => Known::Listed(listed.iter().cloned().collect()),
            None if !has_keys => Known::Kept(BTreeSet::new()),
            None if found.texts.is_empty() => Known::Hashed(found.hashes.clone()),
            None => Known::Kept(texts.collect()),
        };
        Self {
            name: column.name.clone(),
            known,
        }
    }

    /// Adds those of other rows.
    ///
    /// # Errors
    /// [`PortionFault::OtherLabels`].
    pub(super) fn merge(&mut self, other: &Self) -> Result<(), PortionFault> {
        if self.name != other.name {
            return Err(PortionFault::OtherLabels);
        }
        match (&mut self.known, &other.known) {
            (Known::Listed(own), Known::Listed(others)) if own == others => return Ok(()),
            (Known::Listed(_), _) | (_, Known::Listed(_)) => return Err(PortionFault::OtherLabels),
            (Known::Kept(own), Known::Kept(others)) => {
                own.extend(others.iter().cloned());
                if own.len() <= MAX_LABELS {
                    return Ok(());
                }
            }
            (Known::Kept(_) | Known::Hashed(_), _) => {}
        }
        let both = &self.known.hashes() | &other.known.hashes();
        self.known = Known::Hashed(both.into_iter().take(Labels::MORE as usize).collect());
        Ok(())
    }

    /// Returns what is known of the column in the whole table.
    pub(super) fn known(&self) -> (LabelColumn, Labels) {
        let mut column = LabelColumn {
            name: self.name.clone(),
            listed: None,
        };
        let mut labels = Labels::default();
        match &self.known {
            Known::Listed(listed) => {
                column.listed = Some(listed.iter().cloned().collect());
                labels.texts.extend(listed.iter().cloned().map(Some));
                labels.texts.extend([Some(OTHER.to_owned()), None]);
            }
            Known::Kept(texts) => {
                let named = texts.iter().filter(|text| !text.is_empty());
                labels.texts.extend(named.cloned().map(Some));
                // A table without keys has it, too.
                let has_null = texts.contains("") || texts.is_empty();
                labels.texts.extend(has_null.then_some(None));
            }
            Known::Hashed(hashes) => labels.hashes.clone_from(hashes),
        }
        labels.count = (labels.texts.len() + labels.hashes.len()) as u64;
        (column, labels)
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        write_text(bytes, &self.name);
        let (kind, count) = match &self.known {
            Known::Listed(texts) => (0, texts.len()),
            Known::Kept(texts) => (1, texts.len()),
            Known::Hashed(hashes) => (2, hashes.len()),
        };
        bytes.push(kind);
        bytes.extend((count as u32).to_le_bytes());
        match &self.known {
            Known::Listed(texts) | Known::Kept(texts) => {
                texts.iter().for_each(|text| write_text(bytes, text));
            }
            Known::Hashed(hashes) => bytes.extend(hashes.iter().flat_map(|it| it.to_le_bytes())),
        }
    }

    pub(super) fn read(unread: &mut Unread<'_>) -> Option<Self> {
        let name = unread.text()?;
        let [kind] = unread.chunk()?;
        let label =
            |unread: &mut Unread<'_>| unread.text().filter(|text| text.len() <= MAX_LABEL_BYTES);
        let texts = |unread: &mut Unread<'_>| {
            let texts: BTreeSet<_> = unread.several(label)?.into_iter().collect();
            Some(texts).filter(|texts| texts.len() <= MAX_LABELS)
        };
        let known = match kind {
            0 => Known::Listed(texts(unread)?),
            1 => Known::Kept(texts(unread)?),
            2 => Known::Hashed(unread.several(Unread::u64)?.into_iter().collect()),
            _ => return None,
        };
        Some(Self { name, known })
    }
}

impl Known {
    fn hashes(&self) -> BTreeSet<u64> {
        match self {
            Self::Listed(texts) | Self::Kept(texts) => {
                texts.iter().map(|text| hash_of(text)).collect()
            }
            Self::Hashed(hashes) => hashes.clone(),
        }
    }
}
