//! The result of rows that a minimum withholds until the end.

use std::fmt;

use psijoin_circuit::{Bits, Lanes};

/// The places of one part whose items are shared, as the receiver learns them in the end.
///
/// A place is one at which a part compares items ([`Done::places`](crate::Done::places)). Whoever
/// has run the part knows the item that stands there.
#[derive(Clone, PartialEq, Eq)]
pub struct SharedPlaces(Bits);

impl SharedPlaces {
    /// Returns those whose bits are one.
    pub(crate) fn new(bits: Bits) -> Self {
        Self(bits)
    }

    /// Returns the number of shared items.
    pub fn count(&self) -> u64 {
        self.0.count_ones() as u64
    }

    /// Returns the positions of the shared items, in ascending order, by the position of the item
    /// at each place of the part; `None` if these are the places of another part.
    pub fn rows(&self, places: &[Option<u32>]) -> Option<Vec<u32>> {
        if places.len() != self.0.lanes() {
            return None;
        }
        let shared = places.iter().zip(self.0.iter());
        let mut rows: Vec<u32> = shared
            .filter_map(|(item, is_shared)| item.filter(|_| is_shared))
            .collect();
        rows.sort_unstable();
        Some(rows)
    }

    /// Returns whether the item at this place is shared; `None` if there is no such place.
    pub fn has(&self, place: u32) -> Option<bool> {
        let place = usize::try_from(place).ok()?;
        (place < self.0.lanes()).then(|| self.0.get(place))
    }

    /// Returns them as bytes: the number of places, and a bit for each, lowest first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let places = self.0.lanes() as u64;
        [&places.to_le_bytes()[..], &self.0.to_bytes()].concat()
    }

    /// Reads what [`Self::to_bytes`] has written; `None` if it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (places, bits) = bytes.split_first_chunk()?;
        let places = usize::try_from(u64::from_le_bytes(*places)).ok()?;
        (bits.len() == places.div_ceil(8)).then(|| Self(Bits::from_bytes(bits, places)))
    }
}

/// The number of places only: which are shared is the receiver's result.
impl fmt::Debug for SharedPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedPlaces")
            .field("places", &self.0.lanes())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_the_places_finds_the_rows() {
        let shared = SharedPlaces::new(Bits::from_bytes(&[0b1000_1001, 0b11], 10));
        let mut places = vec![None; 10];
        (places[0], places[1], places[3]) = (Some(7), Some(1), Some(2));
        (places[7], places[8], places[9]) = (Some(9), Some(0), None);
        assert_eq!(shared.count(), 5);
        assert_eq!(shared.rows(&places).unwrap(), [0, 2, 7, 9]);
        assert!(shared.rows(&places[1..]).is_none());
        assert_eq!(
            [2, 3, 9, 10].map(|place| shared.has(place)),
            [Some(false), Some(true), Some(true), None]
        );
        let bytes = shared.to_bytes();
        assert!(SharedPlaces::from_bytes(&bytes) == Some(shared));
        for other in [&bytes[..9], &bytes[..7], &[&bytes[..], &[0]].concat()] {
            assert!(SharedPlaces::from_bytes(other).is_none());
        }
        let overflows = [0xff; 8];
        assert!(SharedPlaces::from_bytes(&overflows).is_none());
    }
}
