//! A table's keys, all at once, for tests to look at.

use std::collections::HashMap;

use psijoin_files::spill::Spill;
use psijoin_source::{Dialect, Doubt, Progress, Source};
use psijoin_table::{
    AlignedRows, BadCellsOfKey, Counts, Destination, Error, KeySpec, MatchingRows, Meaning,
    SharedKeys, StagedRows, TableKeys,
    share::{PartnerRows, PayloadLayout, Payloads},
};

/// The content of a [`TableKeys`] when all is gathered. Two are equal if the rows of their tables
/// hold equal keys, wherever the rows are in their files.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) holder: TableKeys,
    pub(crate) fingerprints: Vec<[u8; 32]>,
    /// The first row of each.
    pub(crate) first_rows: Vec<u32>,
    /// Each further row, and its item.
    pub(crate) repeated: Vec<(u32, u32)>,
    pub(crate) numbers: Vec<Column>,
    pub(crate) counts: Counts,
    pub(crate) meanings: Vec<Meaning>,
    pub(crate) bad_cells: BadCellsOfKey,
    pub(crate) doubts: Vec<Doubt>,
}

/// A column of numbers.
#[derive(Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) values: Vec<i64>,
    pub(crate) scale: u32,
    pub(crate) empty: u64,
}

impl Keys {
    pub(crate) fn read(
        source: &Source,
        key: &KeySpec,
        numbers: &[String],
        progress: &Progress,
    ) -> Result<Self, Error> {
        TableKeys::read(source, key, numbers, &Spill::in_memory(), progress).and_then(Self::of)
    }

    pub(crate) fn read_csv(
        input: &[u8],
        name: &str,
        dialect: &Dialect,
        key: &KeySpec,
        numbers: &[String],
    ) -> Result<Self, Error> {
        TableKeys::read_csv(input, name, dialect, key, numbers).and_then(Self::of)
    }

    pub(crate) fn of(mut holder: TableKeys) -> Result<Self, Error> {
        let items = holder.gather()?.clone();
        let known = holder.numbers().into_iter().zip(items.numbers);
        let numbers = known.map(|(known, values)| Column {
            values,
            scale: known.scale,
            empty: known.empty,
        });
        let item_of: HashMap<u32, u32> = items.first_rows.iter().copied().zip(0..).collect();
        let mut repeated = Vec::new();
        holder.each_repeat(|row, first| {
            repeated.push((row, item_of[&first]));
            Ok(())
        })?;
        Ok(Self {
            fingerprints: items.fingerprints,
            first_rows: items.first_rows,
            repeated,
            numbers: numbers.collect(),
            counts: holder.counts(),
            meanings: holder.meanings().to_vec(),
            bad_cells: holder.bad_cells().clone(),
            doubts: holder.doubts().to_vec(),
            holder,
        })
    }

    /// Returns these items as a protocol finds them, with the other party's payload for each.
    pub(crate) fn shared(&self, items: &[u32], payloads: Vec<u8>) -> SharedKeys {
        let first_row = |item: &u32| self.first_rows[*item as usize];
        SharedKeys::InMemory {
            first_rows: items.iter().map(first_row).collect(),
            payloads,
        }
    }

    pub(crate) fn matching(&self, matched: &[bool]) -> MatchingRows<'_> {
        assert_eq!(matched.len(), self.first_rows.len());
        let items = (0..).zip(matched).filter(|(_, matched)| **matched);
        let items: Vec<u32> = items.map(|(item, _)| item).collect();
        self.holder
            .matching(self.shared(&items, Vec::new()))
            .unwrap()
    }

    pub(crate) fn partners(
        &self,
        items: &[u32],
        layout: &PayloadLayout,
        payloads: Vec<u8>,
    ) -> (PartnerRows<'_>, Payloads) {
        let shared = self.shared(items, payloads);
        let partners = self.holder.partners(shared, layout, &Spill::in_memory());
        partners.unwrap()
    }

    pub(crate) fn aligned(&self, items: &[u32], key: &[u8; 32]) -> AlignedRows<'_> {
        let shared = self.shared(items, Vec::new());
        let aligned = self.holder.aligned(shared, None, key, &Spill::in_memory());
        aligned.unwrap().0
    }
}

impl PartialEq for Keys {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            holder: _,
            fingerprints,
            first_rows,
            repeated,
            numbers,
            counts,
            meanings,
            bad_cells,
            doubts,
        } = self;
        (fingerprints, first_rows, repeated, numbers, counts)
            == (
                &other.fingerprints,
                &other.first_rows,
                &other.repeated,
                &other.numbers,
                &other.counts,
            )
            && (meanings, bad_cells, doubts) == (&other.meanings, &other.bad_cells, &other.doubts)
    }
}

/// Writes the rows of a table whose items are matched.
pub(crate) trait WriteMatched {
    fn stage(
        &self,
        source: &Source,
        keys: &Keys,
        matched: &[bool],
        progress: &Progress,
    ) -> Result<StagedRows, Error>;

    fn write(
        &self,
        source: &Source,
        keys: &Keys,
        matched: &[bool],
        progress: &Progress,
    ) -> Result<u64, Error> {
        self.stage(source, keys, matched, progress)?.commit()
    }
}

impl WriteMatched for Destination {
    fn stage(
        &self,
        source: &Source,
        keys: &Keys,
        matched: &[bool],
        progress: &Progress,
    ) -> Result<StagedRows, Error> {
        self.stage_rows(source, &keys.matching(matched), progress)
    }
}
