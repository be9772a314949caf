//! Oblivious transfers for the cells of a Bloom filter, one band at a time.
//!
//! For each cell there is a random string, by the oblivious PRG of [`psijoin_ot::oprg`]. The sender
//! gets all of them, and the receiver those in the cells of its items. Elsewhere it gets random
//! strings that tell nothing.

use std::ops::Range;

use psijoin_block::Block;
use psijoin_channel::{Channel, stream::Chunks};
use psijoin_encode::{Digests, bloom::Cells};
use psijoin_ot::{
    extension::{Extension, Receiver, Sender},
    oprg,
};
use psijoin_params::bloom::Shape;
use psijoin_psi::{
    Context, Conversation, Error, Info, Input, Parameter, Role, ots::Ots, parameters,
};
use psijoin_runtime::memory::Buffer;

/// Cells whose strings a party holds at once: 64 MiB. Larger bands cost silent OT fewer bytes in
/// all, and fewer flights.
const BAND_CELLS: usize = 1 << 22;

/// The transfers for the cells of a filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilterOt {
    /// The receiver's filter.
    pub(crate) shape: Shape,
    /// The OT extension.
    pub(crate) extension: Extension,
    /// Cells of earlier filters on these OTs: strings are numbered after theirs.
    earlier: usize,
}

/// A party's use of the strings of a band.
pub(crate) type Use<'a> =
    dyn FnMut(&Range<usize>, &mut [Block], &mut Channel) -> Result<(), Error> + 'a;

impl FilterOt {
    /// Returns the transfers for a filter, the first on its OTs.
    pub(crate) fn new(shape: Shape, extension: Extension) -> Self {
        Self {
            shape,
            extension,
            earlier: 0,
        }
    }

    /// Returns those after this many filters of this shape.
    pub(crate) fn after(self, filters: usize) -> Self {
        Self {
            earlier: filters * self.shape.cells() as usize,
            ..self
        }
    }

    /// Returns the cells whose strings are made at once.
    pub(crate) fn bands(self) -> impl Iterator<Item = Range<usize>> + Clone {
        self.chunks().ranges()
    }

    fn chunks(self) -> Chunks {
        let pair = 2 * self.shape.slice_cells as usize;
        Chunks {
            total: self.shape.cells() as usize,
            // Whole pairs of slices, if one fits: a party then finds the cells of each item once.
            per_message: match BAND_CELLS / pair {
                0 => BAND_CELLS,
                pairs => pairs * pair,
            },
        }
    }

    /// Cells of the longest band.
    fn longest_band(self) -> usize {
        let Chunks { total, per_message } = self.chunks();
        total.min(per_message)
    }

    /// Returns what both must agree on; `functions` is the name of the number of hash functions.
    pub(crate) fn parameters(self, functions: &'static str) -> Vec<Parameter> {
        parameters(&[
            (functions, self.shape.slices.into()),
            ("cells a hash function", self.shape.slice_cells.into()),
            ("cells a band", self.longest_band() as u64),
        ])
    }

    /// Returns, of two protocols that differ in their OTs, the one on these.
    pub(crate) fn info(self, iknp: &'static Info, silent: &'static Info) -> &'static Info {
        match self.extension.is_silent() {
            false => iknp,
            true => silent,
        }
    }

    /// Returns what is said in the base OTs.
    pub(crate) fn setup(self) -> Conversation {
        self.ots().setup()
    }

    fn ots(self) -> Ots {
        Ots {
            extension: self.extension,
            sender: Role::Sender,
        }
    }

    /// Returns the messages for all cells. After the OTs of each band, the sender sends as many
    /// bytes as `after` gives for its cells.
    pub(crate) fn conversation(self, after: impl Fn(usize) -> u64) -> Conversation {
        self.bands().fold(Conversation::default(), |talk, band| {
            talk.then(self.ots().chosen(band.len()))
                .sender(after(band.len()))
        })
    }

    /// Returns the cells of items, whose hash functions come from the joint seed.
    pub(crate) fn cells(self, purpose: &str, input: &Input) -> Cells {
        let seed = input.joint_seed.key(purpose);
        Cells::new(*seed.first_chunk().expect("16 of 32 bytes"), self.shape)
    }

    /// Returns the sender's base OTs.
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid public key.
    pub(crate) fn set_up_sender(self, context: &mut Context) -> Result<Sender, Error> {
        context.phases.begin("base OT");
        Ok(self
            .extension
            .set_up_sender(context.channel, &mut context.rng)?)
    }

    /// Returns the receiver's base OTs.
    ///
    /// # Errors
    /// As [`set_up_sender`](Self::set_up_sender).
    pub(crate) fn set_up_receiver(self, context: &mut Context) -> Result<Receiver, Error> {
        context.phases.begin("base OT");
        Ok(self
            .extension
            .set_up_receiver(context.channel, &mut context.rng)?)
    }

    /// Runs the sender. It uses the strings of each band before those of the next one are made.
    ///
    /// # Errors
    /// If the channel breaks, and as `use_band`.
    pub(crate) fn send(
        self,
        ots: &mut Sender,
        channel: &mut Channel,
        use_band: &mut Use<'_>,
    ) -> Result<(), Error> {
        let mut strings = Buffer::zeroed(self.longest_band());
        for band in self.bands() {
            let strings = &mut strings[..band.len()];
            oprg::send(ots, self.earlier + band.start, strings, channel)?;
            use_band(&band, strings, channel)?;
        }
        Ok(())
    }

    /// Runs the receiver, which chooses the cells of these items: the sum of the strings in the
    /// cells of each item. `use_band` may change the strings of a band before they are added.
    ///
    /// # Errors
    /// If the channel breaks, and as `use_band`.
    pub(crate) fn receive(
        self,
        cells: &Cells,
        items: Digests<'_>,
        ots: &mut Receiver,
        channel: &mut Channel,
        use_band: &mut Use<'_>,
    ) -> Result<Vec<Block>, Error> {
        let mut sums = vec![Block::ZERO; items.len()];
        let mut strings = Buffer::zeroed(self.longest_band());
        let mut choices = Vec::new();
        for band in self.bands() {
            choices.clear();
            choices.resize(band.len().div_ceil(Block::BITS), Block::ZERO);
            cells.mark(&band, items, &mut choices);
            let strings = &mut strings[..band.len()];
            oprg::receive(ots, self.earlier + band.start, &choices, strings, channel)?;
            use_band(&band, strings, channel)?;
            cells.add(&band, items, strings, &mut sums);
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use psijoin_params::bloom;

    use super::*;

    /// Bands are whole pairs of slices as long as these fit, cover all cells, and are never longer
    /// than what a party is to hold.
    #[test]
    fn bands_are_bounded() {
        for items in [1, 1000, 1 << 16, 1 << 20, 1 << 21, 1 << 26] {
            let filter = FilterOt::new(bloom::smallest(items), Extension::IKNP);
            let pair = 2 * filter.shape.slice_cells as usize;
            let mut end = 0;
            for band in filter.bands() {
                assert_eq!(band.start, end);
                assert!(!band.is_empty() && band.len() <= filter.longest_band());
                assert!(pair > BAND_CELLS || band.start % pair == 0);
                end = band.end;
            }
            assert_eq!(end as u64, filter.shape.cells());
            assert!(filter.longest_band() <= BAND_CELLS);
        }
    }
}
