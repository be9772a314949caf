//! Oblivious transfer of a garbled Bloom filter, which `gbf` and `kk20` share.
//!
//! The strings in the cells of each of the sender's items sum up (XOR) to a value of ℓ bits. The
//! sender adds the filter to the strings of [`FilterOt`], and sends the first ℓ bits of these sums.
//! So the receiver gets the filter in the cells of its items, and adds it up.

use psijoin_block::{Block, Prg};
use psijoin_channel::{
    Channel, Inbound, Outbound,
    stream::{self, Chunks},
};
use psijoin_encode::{Digests, bloom::Cells, garbled_bloom::GarbledBloomFilter};
use psijoin_ot::extension::{Receiver, Sender};
use psijoin_psi::{Conversation, Error, masks::MaskLength};

use crate::filter_ot::FilterOt;

/// Strings in a message.
const STRINGS_PER_MESSAGE: usize = 1 << 13;

/// The transfer of a garbled filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GarbledTransfer {
    /// Its cells.
    pub(crate) filter: FilterOt,
    /// ℓ: bits of a string.
    pub(crate) strings: MaskLength,
}

impl GarbledTransfer {
    /// Returns what is said.
    pub(crate) fn conversation(self) -> Conversation {
        let bytes = |cells| messages(cells).bytes(|strings| self.strings.packed_bytes(strings));
        self.filter.conversation(bytes)
    }

    /// Returns the filter in which the strings of each item sum up to its value. `sigma` is for the
    /// error, which tells how unlikely it is that there is none.
    ///
    /// # Errors
    /// [`Error::BadLuck`] if there is none.
    pub(crate) fn garble(
        self,
        cells: &Cells,
        items: Digests<'_>,
        values: Vec<Block>,
        sigma: u32,
        rng: &mut Prg,
    ) -> Result<GarbledBloomFilter, Error> {
        let bands = self.filter.bands();
        GarbledBloomFilter::new(cells, items, values, bands, rng).map_err(|_| {
            let what = "some items share all their cells of the filter";
            Error::BadLuck(what, sigma)
        })
    }

    /// Runs the sender.
    ///
    /// # Errors
    /// If the channel breaks.
    pub(crate) fn send(
        self,
        filter: &GarbledBloomFilter,
        ots: &mut Sender,
        channel: &mut Channel,
    ) -> Result<(), Error> {
        self.filter
            .send(ots, channel, &mut |band, strings, channel| {
                filter.add(band, strings);
                self.send_strings(strings, channel.halves().0)
            })
    }

    /// Runs the receiver: the sum of the filter's strings in the cells of each item.
    ///
    /// # Errors
    /// If the channel breaks.
    pub(crate) fn receive(
        self,
        cells: &Cells,
        items: Digests<'_>,
        ots: &mut Receiver,
        channel: &mut Channel,
    ) -> Result<Vec<Block>, Error> {
        (self.filter).receive(cells, items, ots, channel, &mut |_, strings, channel| {
            self.receive_strings(strings, channel.halves().1)
        })
    }

    /// Sends the first ℓ bits of these.
    fn send_strings(self, strings: &[Block], outbound: &mut dyn Outbound) -> Result<(), Error> {
        let chunks = messages(strings.len());
        stream::send(outbound, chunks, &|range, message| {
            let cut = strings[range].iter().map(|sum| self.strings.cut(sum.0));
            self.strings.pack(cut, message);
        })?;
        Ok(())
    }

    /// Adds what arrives to these.
    fn receive_strings(
        self,
        strings: &mut [Block],
        inbound: &mut dyn Inbound,
    ) -> Result<(), Error> {
        stream::receive_into(
            inbound,
            messages(strings.len()),
            &|count| self.strings.packed_bytes(count),
            strings,
            &|| (),
            &|range, message, strings, ()| {
                let sent = self.strings.unpack(message, range.len());
                (strings.iter_mut().zip(sent)).for_each(|(string, sent)| *string ^= Block(sent));
            },
        )?;
        Ok(())
    }

    /// Returns whether two sums have the same first ℓ bits.
    pub(crate) fn are_equal(self, one: Block, other: Block) -> bool {
        self.strings.cut(one.0 ^ other.0) == 0
    }
}

fn messages(strings: usize) -> Chunks {
    Chunks {
        total: strings,
        per_message: STRINGS_PER_MESSAGE,
    }
}
