//! Masks that travel sorted, as differences: the order says nothing, and log2(n!) bits are
//! saved.
//!
//! The sender hashes each item to 128 bits, and its mask is that hash scaled to 0..M
//! ([`SortedMasks::mask`]). Scaling keeps the order, so both parties sort by the hash. On the
//! wire a mask is split at bit l: the upper parts, which never decrease, are sent as
//! differences in unary, the lower parts as they are (Elias and Fano). That takes
//! n·(l + 1) + M/2^l bits, whatever the masks, about log2(M/n) + 2 a mask. The receiver
//! walks through both sorted lists.

use psijoin_channel::{Inbound, Outbound};

use crate::Error;

mod coding;
mod sort;

use coding::{Reader, Writer};
pub(crate) use sort::sort;

/// What is sorted: has a hash.
pub(crate) trait Hashed: Copy + Default + Send + Sync {
    /// The hash.
    fn hash(&self) -> u128;
}

impl Hashed for u128 {
    fn hash(&self) -> u128 {
        *self
    }
}

/// A hash, and which item it is of. The hash is split for a size of 24 bytes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Placed {
    halves: [u64; 2],
    /// The position of the item.
    pub(crate) position: u32,
}

impl Placed {
    pub(crate) fn new(hash: u128, position: u32) -> Self {
        Self {
            halves: [(hash >> 64) as u64, hash as u64],
            position,
        }
    }
}

impl Hashed for Placed {
    fn hash(&self) -> u128 {
        u128::from(self.halves[0]) << 64 | u128::from(self.halves[1])
    }
}

/// How many masks are sent, and of which range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SortedMasks {
    /// n.
    count: usize,
    /// M.
    range: u128,
    /// l.
    low_bits: u32,
}

/// Bytes of a message.
const MESSAGE_BYTES: usize = 1 << 16;

impl SortedMasks {
    /// `count` masks of the range 0..`range`, coded as shortly as possible.
    ///
    /// # Panics
    /// If there are none, or the range is empty.
    pub(crate) fn new(count: usize, range: u128) -> Self {
        assert!(count > 0 && range > 0, "there is something to send");
        let with = |low_bits| Self {
            count,
            range,
            low_bits,
        };
        // Unary parts take as much as the rest of their mask's when M/2^l is about n.
        let middle = (range / count as u128).max(1).ilog2();
        (middle.saturating_sub(1)..=middle + 1)
            .map(with)
            .min_by_key(|masks| masks.coded_bits())
            .expect("there are candidates")
    }

    fn coded_bits(self) -> u128 {
        let fixed = self.count as u128 * u128::from(self.low_bits + 1);
        fixed + self.highest()
    }

    /// The largest upper part.
    fn highest(self) -> u128 {
        (self.range - 1).checked_shr(self.low_bits).unwrap_or(0)
    }

    /// Bytes on the wire.
    pub(crate) fn coded_bytes(self) -> u64 {
        self.coded_bits().div_ceil(8) as u64
    }

    /// The mask of a hash: ⌊hash·M / 2^128⌋.
    #[inline]
    pub(crate) fn mask(self, hash: u128) -> u128 {
        let halves = |number: u128| (number as u64, (number >> 64) as u64);
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        let ((a0, a1), (b0, b1)) = (halves(hash), halves(self.range));
        let middle = product(a1, b0) + (product(a0, b0) >> 64);
        let (middle, carry) = middle.overflowing_add(product(a0, b1));
        product(a1, b1) + (middle >> 64) + (u128::from(carry) << 64)
    }

    /// Sends the masks of sorted hashes.
    ///
    /// # Errors
    /// If the channel breaks.
    pub(crate) fn send(self, hashes: &[u128], outbound: &mut dyn Outbound) -> Result<(), Error> {
        let mut writer = Writer::new(self.coded_bytes(), outbound);
        let mut last = 0;
        for hash in hashes {
            let mask = self.mask(*hash);
            let upper = mask.checked_shr(self.low_bits).unwrap_or(0);
            writer.unary((upper - last) as u64)?;
            writer.bits(mask, self.low_bits)?;
            last = upper;
        }
        writer.finish()
    }

    /// Receives the sender's masks, and calls `found` for each of the sorted `own` hashes whose
    /// mask is among them.
    ///
    /// # Errors
    /// If the channel breaks, or the peer sent masks out of range.
    pub(crate) fn receive<T: Hashed>(
        self,
        own: &[T],
        inbound: &mut dyn Inbound,
        mut found: impl FnMut(&T),
    ) -> Result<(), Error> {
        let mut own = own
            .iter()
            .map(|own| (self.mask(own.hash()), own))
            .peekable();
        self.receive_each(inbound, |mask| {
            while own.next_if(|(own, _)| *own < mask).is_some() {}
            while let Some((_, own)) = own.next_if(|(own, _)| *own == mask) {
                found(own);
            }
        })
    }

    /// Receives the sender's masks, in ascending order.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub(crate) fn receive_each(
        self,
        inbound: &mut dyn Inbound,
        mut each: impl FnMut(u128),
    ) -> Result<(), Error> {
        let mut reader = Reader::new(self.coded_bytes(), inbound);
        let mut upper = 0;
        for _ in 0..self.count {
            upper += u128::from(reader.unary()?);
            if upper > self.highest() {
                return Err(Error::Peer("its masks are out of range"));
            }
            let low = reader.bits(self.low_bits)?;
            each(upper.checked_shl(self.low_bits).unwrap_or(0) | low);
        }
        reader.finish()
    }
}

#[cfg(test)]
mod tests;
