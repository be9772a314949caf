//! The assignment of OTs to comparisons: the receiver's places, and the letters of each.

use psijoin_channel::stream::Chunks;
use psijoin_ot::kk13;

/// OTs of a message, about: their columns and rows stay in the second-level cache.
const OTS_PER_MESSAGE: usize = 4096;

/// A message starts with a whole block of every column.
const OT_GROUP: usize = 128;

/// The items that the sender compares with a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Candidates {
    /// The items that have the place's bin.
    OfBin,
    /// All.
    All,
}

/// Places whose items are spelled by equally many letters. Each letter is an OT. Those of a
/// message are numbered one after the other; between messages numbers are left out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    pub(super) candidates: Candidates,
    /// Bins; or places, each a bin of its own, where all items are compared with all places.
    pub(super) bins: u32,
    /// Places of a bin.
    pub(super) capacity: u32,
    pub(super) letters: usize,
    first_ot: u64,
}

impl Section {
    /// Sections one after the other, those without a place left out.
    pub(super) fn sequence(
        sections: impl IntoIterator<Item = (Candidates, u32, u32, usize)>,
    ) -> Vec<Self> {
        let mut first_ot = 0;
        let mut sequence = Vec::new();
        for (candidates, bins, capacity, letters) in sections {
            let section = Self {
                candidates,
                bins,
                capacity,
                letters,
                first_ot,
            };
            if section.places() > 0 {
                first_ot = section.first_ot_of(section.messages().count());
                sequence.push(section);
            }
        }
        sequence
    }

    pub(super) fn places(&self) -> usize {
        self.bins as usize * self.capacity as usize
    }

    /// Returns the number of OTs of this many bins: one per letter of each place.
    pub(super) fn ots(&self, bins: usize) -> usize {
        bins * self.capacity as usize * self.letters
    }

    /// Returns the number of bins of a message.
    pub(super) fn bins_per_message(&self) -> usize {
        (OTS_PER_MESSAGE / self.ots(1)).max(1)
    }

    /// Returns the messages, bin by bin.
    pub(super) fn messages(&self) -> Chunks {
        Chunks {
            total: self.bins as usize,
            per_message: self.bins_per_message(),
        }
    }

    /// Returns the messages, place by place.
    pub(super) fn messages_of_places(&self) -> Chunks {
        Chunks {
            total: self.places(),
            per_message: self.bins_per_message() * self.capacity as usize,
        }
    }

    /// Returns the number of bytes of a message of this many bins.
    pub(super) fn message_bytes(&self, bins: usize) -> usize {
        kk13::message_bytes(self.ots(bins))
    }

    /// Returns the number of the first OT of a message.
    pub(super) fn first_ot_of(&self, message: usize) -> u64 {
        let stride = self.ots(self.bins_per_message()).next_multiple_of(OT_GROUP);
        self.first_ot + (message * stride) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_letters_have_the_same_ot() {
        let sections = Section::sequence([
            (Candidates::OfBin, 3000, 1, 7),
            (Candidates::OfBin, 0, 5, 2),
            (Candidates::OfBin, 20, 311, 3),
            (Candidates::All, 9, 1, 11),
        ]);
        assert_eq!(sections.len(), 3);
        let mut next = 0;
        for section in sections {
            for (message, bins) in section.messages().ranges().enumerate() {
                let first = section.first_ot_of(message);
                assert!(first >= next && first.is_multiple_of(128));
                next = first + section.ots(bins.len()) as u64;
            }
        }
    }
}
