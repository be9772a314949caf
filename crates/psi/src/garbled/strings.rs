//! The strings of a garbled filter on the wire: a few bits of a block each, packed.

use psijoin_block::Block;
use psijoin_channel::{Inbound, Outbound};

use crate::{Error, masks::MaskLength, stream, stream::Chunks};

/// Strings in a message.
const STRINGS_PER_MESSAGE: usize = 1 << 13;

/// Strings of ℓ bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strings(pub(crate) MaskLength);

impl Strings {
    fn messages(count: usize) -> Chunks {
        Chunks {
            total: count,
            per_message: STRINGS_PER_MESSAGE,
        }
    }

    /// Bytes of so many.
    pub(crate) fn bytes(self, count: usize) -> u64 {
        Self::messages(count).bytes(|count| self.0.packed_bytes(count))
    }

    /// Sends their first ℓ bits.
    pub(crate) fn send(self, strings: &[Block], outbound: &mut dyn Outbound) -> Result<(), Error> {
        let chunks = Self::messages(strings.len());
        stream::send(outbound, chunks, &|range, message| {
            let cut = strings[range].iter().map(|string| self.0.cut(string.0));
            self.0.pack(cut, message);
            Ok(())
        })
    }

    /// Adds what comes to these.
    pub(crate) fn receive(
        self,
        strings: &mut [Block],
        inbound: &mut dyn Inbound,
    ) -> Result<(), Error> {
        stream::receive_into(
            inbound,
            Self::messages(strings.len()),
            &|count| self.0.packed_bytes(count),
            strings,
            &|| (),
            &|range, message, strings, ()| {
                for (string, sent) in strings.iter_mut().zip(self.0.unpack(message, range.len())) {
                    *string ^= Block(sent);
                }
            },
        )
    }

    /// Whether two have the same first ℓ bits.
    pub(crate) fn are_equal(self, one: Block, other: Block) -> bool {
        self.0.cut(one.0 ^ other.0) == 0
    }
}
