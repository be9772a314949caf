//! Fingerprints of many rows at once.

use std::{borrow::Cow, mem};

use psijoin_block::blake3_rows::derive_key;

use crate::{
    KeyFault,
    columns::KeyColumns,
    fingerprint::{CONTEXT, fingerprint_of_number},
    observed::Observed,
    rules::normalize,
    suspicion::Suspicion,
};

/// As many joined keys are hashed at once.
const BATCH: usize = 256;

/// The longest joined key that is hashed with others, one in each lane.
const SHORT: usize = 64;

/// Turns the key fields of one row after the other into fingerprints.
pub struct Fingerprinter<'a> {
    key: &'a KeyColumns<'a>,
    observed: Vec<Observed>,
    /// The fields of the row so far, each after its length, and how many bytes that is.
    block: [u8; SHORT],
    used: usize,
    /// The fields, once they are longer than a block.
    joined: Vec<u8>,
    complete: bool,
    /// The joined keys whose fingerprints are still to be made.
    blocks: Vec<[u8; SHORT]>,
    lengths: Vec<u8>,
    /// The fingerprints of those among them that are longer than a block, and their places.
    long: Vec<(usize, [u8; 32])>,
    hasher: blake3::Hasher,
    fingerprints: Vec<[u8; 32]>,
}

impl<'a> Fingerprinter<'a> {
    /// Makes fingerprints of keys of these columns.
    pub fn new(key: &'a KeyColumns<'a>) -> Self {
        Self {
            key,
            observed: key.observed(),
            block: [0; SHORT],
            used: 0,
            joined: Vec::new(),
            complete: true,
            blocks: Vec::with_capacity(BATCH),
            lengths: Vec::with_capacity(BATCH),
            long: Vec::new(),
            hasher: blake3::Hasher::new_derive_key(CONTEXT),
            fingerprints: Vec::new(),
        }
    }

    /// Makes room for the fingerprints of so many rows.
    pub fn reserve(&mut self, rows: usize) {
        self.fingerprints.reserve(rows);
    }

    /// Appends the row's field at this position of the key, and tells what is suspicious about it.
    /// A null is the empty text. So is the `country` that goes with the field, if the key has no
    /// column for it.
    #[inline]
    pub fn field(
        &mut self,
        position: usize,
        text: Cow<'_, str>,
        country: &str,
    ) -> Result<Option<Suspicion>, KeyFault> {
        let suspicion = self.key.suspicion(position, &text);
        let rules = &self.key.columns[position].rules;
        let text = match rules.is_empty() {
            true => text,
            false => normalize(rules, text, country)?,
        };
        let is_zero_led = self.observed[position].see(&text);
        self.complete &= !text.is_empty();
        self.join(&text);
        if text.is_empty() {
            return Ok(None);
        }
        if is_zero_led {
            return Ok(suspicion.or(Some(Suspicion::ZeroLed)));
        }
        Ok(suspicion.or_else(|| Suspicion::is_unseen(&text).then_some(Suspicion::Unseen)))
    }

    /// Appends the row's field at this position of the key if there is nothing to do for it, and
    /// nothing to report. Returns whether that is so; otherwise nothing has happened.
    #[inline]
    pub fn passing_field(&mut self, position: usize, text: &str) -> bool {
        let glance = self.key.columns[position].glance.as_ref();
        let passes = glance.is_some_and(|glance| glance.passes(text))
            && self.observed[position].has_seen_enough();
        if passes {
            self.join(text);
        }
        passes
    }

    /// Takes a field that cannot be read for a null.
    #[inline]
    pub fn bad_field(&mut self) {
        self.complete = false;
    }

    /// Appends a field. The length before each makes the joined key unambiguous.
    #[inline]
    fn join(&mut self, text: &str) {
        const LENGTH: usize = size_of::<u64>();
        let length = (text.len() as u64).to_le_bytes();
        let before = self.used;
        self.used += LENGTH + text.len();
        if let Some(room) = self.block.get_mut(before..self.used) {
            let (of_length, of_text) = room.split_at_mut(LENGTH);
            of_length.copy_from_slice(&length);
            of_text.copy_from_slice(text.as_bytes());
            return;
        }
        if before <= SHORT {
            self.joined.extend_from_slice(&self.block[..before]);
        }
        self.joined.extend_from_slice(&length);
        self.joined.extend_from_slice(text.as_bytes());
    }

    /// Ends a row, and returns whether it has a key: it has none if a field of its key is empty.
    #[inline]
    pub fn finish_row(&mut self) -> bool {
        let complete = mem::replace(&mut self.complete, true);
        if complete {
            self.queue();
        }
        self.block = [0; SHORT];
        self.used = 0;
        self.joined.clear();
        complete
    }

    /// Ends a row with the key that another one has, whose fingerprint this is.
    #[inline]
    pub fn finish_known_row(&mut self, fingerprint: [u8; 32]) {
        if !self.blocks.is_empty() {
            self.hash();
        }
        self.fingerprints.push(fingerprint);
    }

    /// Adds what was seen of fields at each position.
    pub fn observe(&mut self, seen: Vec<Observed>) {
        for (observed, seen) in self.observed.iter_mut().zip(seen) {
            observed.merge(seen);
        }
    }

    fn queue(&mut self) {
        if self.key.is_number {
            // Behind its length.
            let text = str::from_utf8(&self.block[size_of::<u64>()..self.used]);
            let text = text.expect("the rule leaves ASCII digits");
            return self.fingerprints.push(fingerprint_of_number(text));
        }
        if self.used <= SHORT {
            self.lengths.push(self.used as u8);
        } else {
            let hash = self.hasher.reset().update(&self.joined).finalize();
            self.long.push((self.blocks.len(), hash.into()));
            self.lengths.push(0);
        }
        // Unused bytes are zero. The block of a long key is not used.
        self.blocks.push(self.block);
        if self.blocks.len() == BATCH {
            self.hash();
        }
    }

    /// Makes the fingerprints of the keys that wait.
    fn hash(&mut self) {
        let before = self.fingerprints.len();
        self.fingerprints
            .resize(before + self.blocks.len(), [0; 32]);
        let made = &mut self.fingerprints[before..];
        derive_key(&self.key.context, &self.blocks, &self.lengths, made);
        for (place, fingerprint) in self.long.drain(..) {
            made[place] = fingerprint;
        }
        self.blocks.clear();
        self.lengths.clear();
    }

    /// Returns the fingerprints of the rows that have a key, in their order, and what was seen of
    /// the fields at each position.
    pub fn finish(mut self) -> (Vec<[u8; 32]>, Vec<Observed>) {
        self.hash();
        (self.fingerprints, self.observed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeySpec, Kind, fingerprint::CONTEXT};
    use proptest::prelude::*;

    fn owned(columns: &[&str]) -> Vec<String> {
        columns.iter().map(|&column| column.to_owned()).collect()
    }

    /// Returns the fingerprints of rows with equally many fields; `None` for a row without a key.
    fn fingerprints(rows: &[Vec<String>]) -> Vec<Option<[u8; 32]>> {
        let width = rows[0].len();
        let columns: Vec<_> = (0..width).map(|index| index.to_string()).collect();
        let key = KeySpec::new(columns.clone(), vec![]).unwrap();
        let columns = columns.into_iter().map(|name| (name, Kind::Text));
        let key = KeyColumns::new(&key, columns);
        let mut fingerprinter = Fingerprinter::new(&key);
        let has_key = |row: &Vec<String>| {
            for (position, field) in row.iter().enumerate() {
                fingerprinter.field(position, field.into(), "").unwrap();
            }
            fingerprinter.finish_row()
        };
        let have_keys: Vec<bool> = rows.iter().map(has_key).collect();
        let mut made = fingerprinter.finish().0.into_iter();
        have_keys
            .into_iter()
            .map(|has_key| has_key.then(|| made.next().unwrap()))
            .collect()
    }

    fn fingerprint(fields: &[String]) -> Option<[u8; 32]> {
        fingerprints(&[fields.to_vec()])[0]
    }

    #[test]
    fn fingerprint_is_the_documented_one() {
        let expected = blake3::derive_key(
            "psijoin 2026-01 table key fingerprint v1",
            b"\x02\0\0\0\0\0\0\0ab\x01\0\0\0\0\0\0\0c",
        );
        assert_eq!(fingerprint(&owned(&["ab", "c"])), Some(expected));
        assert_eq!(fingerprint(&owned(&["ab", ""])), None);
    }

    /// Also with known keys between.
    #[test]
    fn numbers_are_not_hashed() {
        let key = KeySpec::new(vec!["n".into()], vec!["n=number:64".parse().unwrap()]).unwrap();
        let columns = KeyColumns::new(&key, [("n".to_owned(), Kind::Text)]);
        let mut fingerprinter = Fingerprinter::new(&columns);
        for text in ["7", "", "18446744073709551615"] {
            fingerprinter.field(0, text.into(), "").unwrap();
            assert_eq!(fingerprinter.finish_row(), !text.is_empty());
        }
        fingerprinter.finish_known_row([9; 32]);
        let made = fingerprinter.finish().0;
        let [seven, most] = [7, u64::MAX].map(psijoin_params::numbers::fingerprint);
        assert_eq!(made, [seven, most, [9; 32]]);
        assert_eq!(columns.fingerprint(&["7".to_owned()]), seven);
    }

    proptest! {
        /// Short keys and long ones, in batches: each as it would be alone.
        #[test]
        fn fingerprints_do_not_depend_on_their_batch(
            lengths in prop::collection::vec(prop_oneof![0..100_usize, 50..60_usize], 1..600),
        ) {
            let rows: Vec<_> = lengths.iter().map(|&length| vec!["x".repeat(length)]).collect();
            for (row, made) in rows.iter().zip(fingerprints(&rows)) {
                let mut joined = (row[0].len() as u64).to_le_bytes().to_vec();
                joined.extend_from_slice(row[0].as_bytes());
                let expected = blake3::derive_key(CONTEXT, &joined);
                prop_assert_eq!(made, (!row[0].is_empty()).then_some(expected));
            }
        }

        #[test]
        fn joined_keys_are_unambiguous(
            a in prop::collection::vec("[ab\0]{1,3}", 1..4),
            b in prop::collection::vec("[ab\0]{1,3}", 1..4),
        ) {
            prop_assert_eq!(fingerprint(&a) == fingerprint(&b), a == b);
        }

        #[test]
        fn moving_a_boundary_changes_the_key(text in "[a-c]{3,8}", at in 1usize..7, to in 1usize..7) {
            let cut = |at: usize| {
                let (left, right) = text.split_at(at.min(text.len() - 1));
                owned(&[left, right])
            };
            prop_assert_eq!(fingerprint(&cut(at)) == fingerprint(&cut(to)), cut(at) == cut(to));
        }
    }
}
