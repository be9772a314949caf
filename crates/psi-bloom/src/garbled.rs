//! What `gbf`, `random-gbf` and `kk20` share: the strings in a filter's cells, a band at a time, and
//! what they say of a party's items.

use std::ops::Range;

use psijoin_block::{Block, memory::Buffer};
use psijoin_channel::Channel;
use psijoin_encode::bloom::Cells;
use psijoin_ot::{extension::Extension, oprg};
use psijoin_params::bloom::Shape;

use crate::{Context, Error, Party, Role, stream::Chunks};

mod strings;

pub(crate) use strings::Strings;

/// Cells whose strings a party holds at once: 64 MiB. Larger bands cost silent OT fewer bytes in
/// all, and fewer rounds.
const BAND_CELLS: usize = 1 << 22;

/// A filter's cells, so many at a time as a party keeps strings for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bands(pub(crate) Shape);

impl Bands {
    fn chunks(self) -> Chunks {
        let pair = 2 * self.0.slice_cells as usize;
        Chunks {
            total: self.0.cells() as usize,
            // Whole pairs of slices, if one fits: a party then finds each item's cells once.
            per_message: match BAND_CELLS / pair {
                0 => BAND_CELLS,
                pairs => pairs * pair,
            },
        }
    }

    /// The cells whose strings are made at once.
    pub(crate) fn ranges(self) -> impl Iterator<Item = Range<usize>> + Clone {
        self.chunks().ranges()
    }

    /// How many there are.
    pub(crate) fn count(self) -> u64 {
        self.chunks().count() as u64
    }

    /// Cells of the longest band.
    pub(crate) fn longest(self) -> usize {
        let Chunks { total, per_message } = self.chunks();
        total.min(per_message)
    }

    /// The bytes of all bands, given those of a band of so many cells.
    pub(crate) fn bytes(self, of: impl Fn(usize) -> u64) -> u64 {
        self.ranges().map(|band| of(band.len())).sum()
    }
}

/// The party that learns nothing, after the offline phase.
pub(crate) struct Sender<O: Extension, P> {
    pub(crate) params: P,
    pub(crate) ots: O::Sender,
}

/// The party that learns the result, after the offline phase.
pub(crate) struct Receiver<O: Extension, P> {
    pub(crate) params: P,
    pub(crate) ots: O::Receiver,
}

/// The offline phase of either.
pub(crate) fn offline<O: Extension, P: Clone + 'static>(
    params: &P,
    role: Role,
    channel: &mut Channel,
    context: &mut Context,
) -> Result<Box<dyn Party>, Error>
where
    Sender<O, P>: Party,
    Receiver<O, P>: Party,
{
    context.phase("base OT");
    let params = params.clone();
    Ok(match role {
        Role::Sender => Box::new(Sender::<O, P> {
            params,
            ots: O::set_up_sender(channel, &mut context.rng)?,
        }),
        Role::Receiver => Box::new(Receiver::<O, P> {
            params,
            ots: O::set_up_receiver(channel, &mut context.rng)?,
        }),
    })
}

/// Sums of the strings in the cells of a party's items, band by band.
pub(crate) struct Sums<'a, const D: usize> {
    cells: Cells,
    items: &'a [[u8; D]],
    /// Those of one band.
    strings: Buffer<Block>,
    choices: Vec<Block>,
    sums: Vec<Block>,
}

impl<'a, const D: usize> Sums<'a, D> {
    pub(crate) fn new(cells: Cells, bands: Bands, items: &'a [[u8; D]]) -> Self {
        Self {
            cells,
            items,
            strings: Buffer::zeroed(bands.longest()),
            choices: Vec::new(),
            sums: vec![Block::ZERO; items.len()],
        }
    }

    /// The strings of a band, as the sender of the OTs gets them.
    pub(crate) fn send<O: Extension>(
        &mut self,
        band: &Range<usize>,
        ots: &mut O::Sender,
        channel: &mut Channel,
    ) -> Result<&mut [Block], Error> {
        let strings = &mut self.strings[..band.len()];
        oprg::send::<O>(ots, band.start, strings, channel)?;
        Ok(strings)
    }

    /// The strings of a band, as the receiver of the OTs gets them: it chooses the cells of its
    /// items.
    pub(crate) fn receive<O: Extension>(
        &mut self,
        band: &Range<usize>,
        ots: &mut O::Receiver,
        channel: &mut Channel,
    ) -> Result<&mut [Block], Error> {
        self.choices.clear();
        let blocks = band.len().div_ceil(Block::BITS);
        self.choices.resize(blocks, Block::ZERO);
        self.cells.mark(band, self.items, &mut self.choices);
        let strings = &mut self.strings[..band.len()];
        oprg::receive::<O>(ots, band.start, &self.choices, strings, channel)?;
        Ok(strings)
    }

    /// Adds the strings that are there for a band.
    pub(crate) fn add(&mut self, band: &Range<usize>) {
        let strings = &self.strings[..band.len()];
        self.cells.add(band, self.items, strings, &mut self.sums);
    }

    /// The sum of each item.
    pub(crate) fn finish(self) -> Vec<Block> {
        self.sums
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
            let bands = Bands(bloom::smallest(items));
            let pair = 2 * bands.0.slice_cells as usize;
            let mut end = 0;
            for band in bands.ranges() {
                assert_eq!(band.start, end);
                assert!(!band.is_empty() && band.len() <= bands.longest());
                assert!(pair > BAND_CELLS || band.start % pair == 0);
                end = band.end;
            }
            assert_eq!(end as u64, bands.0.cells());
            assert!(bands.longest() <= BAND_CELLS);
        }
    }
}
