//! Keys that are the values of a dictionary: each is read, normalised and hashed once.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, cast::AsArray};

use super::super::stretch::Builder;
use psijoin_key::{Fingerprinter, KeyColumns, KeyFault, Suspicion};
use psijoin_source::typed::{KeyColumn, Stored};

/// A value as a key of one column: its fingerprint, or none if it is null or empty, and what is
/// suspicious about it.
type Key = Result<(Option<[u8; 32]>, Option<Suspicion>), KeyFault>;

/// The keys of a dictionary that rows have had so far. A dictionary may hold others, even faulty
/// ones, which are of no concern.
pub(super) struct DictionaryKeys<'a> {
    key: &'a KeyColumns<'a>,
    stored: Stored,
    values: Option<ArrayRef>,
    keys: Vec<Option<Key>>,
}

impl<'a> DictionaryKeys<'a> {
    pub(super) fn new(key: &'a KeyColumns<'a>, stored: Stored) -> Self {
        Self {
            key,
            stored,
            values: None,
            keys: Vec::new(),
        }
    }

    /// Reads the keys that an array of a dictionary has, as far as they are not known, and gives
    /// the place of each row's key. The stretch is to take the rows.
    pub(super) fn learn(
        &mut self,
        array: &ArrayRef,
        stretch: &mut Builder<'_>,
    ) -> Vec<Option<u32>> {
        let values = array.as_any_dictionary().values();
        let is_known = |known: &ArrayRef| Arc::ptr_eq(known, values);
        if !self.values.as_ref().is_some_and(is_known) {
            self.values = Some(values.clone());
            self.keys = vec![None; values.len()];
        }
        let places = places(array);
        let values = KeyColumn::new(values, self.stored).expect("the type was checked");
        let mut fingerprinter = Fingerprinter::new(self.key);
        let (mut buffer, mut hashed) = (String::new(), Vec::new());
        for place in places.iter().flatten().map(|&place| place as usize) {
            if self.keys[place].is_some() {
                continue;
            }
            let text = values.text(place, &mut buffer);
            let field = text.and_then(|text| fingerprinter.field(0, text.into(), ""));
            if field.is_ok() && fingerprinter.finish_row() {
                hashed.push(place);
            }
            self.keys[place] = Some(field.map(|suspicion| (None, suspicion)));
        }
        let (fingerprints, observed) = fingerprinter.finish();
        for (place, fingerprint) in hashed.into_iter().zip(fingerprints) {
            if let Some(Ok((known, _))) = &mut self.keys[place] {
                *known = Some(fingerprint);
            }
        }
        stretch.observe(observed);
        places
    }

    /// Returns the key at a place that was learnt.
    pub(super) fn key(&self, place: Option<u32>) -> &Key {
        match place {
            Some(place) => self.keys[place as usize].as_ref().expect("it was learnt"),
            None => &Ok((None, None)),
        }
    }
}

/// Returns where the value of each row is in the dictionary; `None` where there is none.
fn places(array: &ArrayRef) -> Vec<Option<u32>> {
    let dictionary = array.as_any_dictionary();
    if dictionary.values().is_empty() {
        return vec![None; array.len()];
    }
    let nulls = array.nulls();
    let places = dictionary.normalized_keys().into_iter().enumerate();
    let place = |(row, place)| match nulls {
        Some(nulls) if nulls.is_null(row) => None,
        _ => Some(place as u32),
    };
    places.map(place).collect()
}
