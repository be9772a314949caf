//! Masks that travel sorted, as differences: their order tells nothing, and log2(n!) bits are
//! saved.
//!
//! The sender hashes each item to 128 bits, and its mask is that hash scaled to 0..M
//! ([`SortedMasks::mask`]). Scaling keeps the order, so the sender sorts the hashes. On the
//! wire a mask is split at bit l (Elias and Fano). First come the upper parts, which never
//! decrease, as one vector of n + (M − 1)/2^l bits: that of the i-th mask is u if bit u + i is
//! one (`upper_parts.rs`). Then come the lower parts, l bits each (`lower_parts.rs`). That takes
//! n·(l + 1) + M/2^l bits, whatever the masks, about log2(M/n) + 2 per mask; and where each part
//! of a mask begins is known without the others, so all threads have something to do.
//!
//! The receiver sorts its own masks, and walks through both sorted lists, one message at a time
//! (`own.rs`).

use psijoin_channel::{
    Inbound, Outbound,
    stream::{self, Chunks},
};

use crate::{Error, Parameter, parameters};

mod lower_parts;
mod own;
mod sort;
mod upper_parts;

use lower_parts::LowerParts;
pub use own::Own;
pub use sort::{order, sort};
use upper_parts::{Masks, UpperParts};

/// The number of masks that are sent, and their range.
#[derive(Debug, Clone, Copy)]
pub struct SortedMasks {
    /// n.
    count: usize,
    /// M.
    range: u128,
    /// l.
    low_bits: u32,
}

/// Bytes of a message of upper parts.
const UPPER_BYTES: usize = 1 << 16;

/// Masks in a message of lower parts: whole bytes, whatever l is.
const MASKS_PER_MESSAGE: usize = 1 << 15;

impl SortedMasks {
    /// Returns `count` masks of the range 0..`range`, coded as shortly as possible.
    ///
    /// # Panics
    /// If there are none, or the range is empty.
    pub fn new(count: usize, range: u128) -> Self {
        assert!(count > 0 && range > 0, "there is something to send");
        let with = |low_bits| Self {
            count,
            range,
            low_bits,
        };
        // The upper parts take as many bits as there are masks when M/2^l is about n.
        let middle = (range / count as u128).max(1).ilog2();
        (middle.saturating_sub(1)..=middle + 1)
            .map(with)
            .min_by_key(|masks| masks.coded_bytes())
            .expect("there are candidates")
    }

    /// Returns M, in halves: both parties must agree on it.
    pub fn parameters(self) -> Vec<Parameter> {
        parameters(&[
            ("mask range, low half", self.range as u64),
            ("mask range, high half", (self.range >> 64) as u64),
        ])
    }

    /// Returns the number of bytes on the wire.
    pub fn coded_bytes(self) -> u64 {
        let lower_bits = self.count as u128 * u128::from(self.low_bits);
        (self.upper_bits().div_ceil(8) + lower_bits.div_ceil(8)) as u64
    }

    /// Returns the number of bits of all upper parts.
    fn upper_bits(self) -> u128 {
        let highest = (self.range - 1).checked_shr(self.low_bits).unwrap_or(0);
        self.count as u128 + highest
    }

    /// Returns the messages of the upper parts, byte by byte.
    fn upper_messages(self) -> Chunks {
        Chunks {
            total: self.upper_bits().div_ceil(8) as usize,
            per_message: UPPER_BYTES,
        }
    }

    /// Returns the messages of the lower parts, mask by mask. They are empty, and not sent, if l
    /// is 0.
    fn lower_messages(self) -> Chunks {
        Chunks {
            total: self.count,
            per_message: MASKS_PER_MESSAGE,
        }
    }

    /// Returns the mask of a hash: ⌊hash·M / 2^128⌋.
    #[inline]
    pub fn mask(self, hash: u128) -> u128 {
        let halves = |number: u128| (number as u64, (number >> 64) as u64);
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        let ((a0, a1), (b0, b1)) = (halves(hash), halves(self.range));
        let middle = product(a1, b0) + (product(a0, b0) >> 64);
        let (middle, carry) = middle.overflowing_add(product(a0, b1));
        product(a1, b1) + (middle >> 64) + (u128::from(carry) << 64)
    }

    /// Returns the upper part of a mask.
    #[inline]
    fn upper(self, mask: u128) -> usize {
        mask.checked_shr(self.low_bits).unwrap_or(0) as usize
    }

    /// Returns the first 32 bits of a mask, where each has as many bits as M.
    #[inline]
    fn prefix(self, mask: u128) -> u32 {
        (mask << self.range.leading_zeros() >> 96) as u32
    }

    /// Sends the masks of sorted hashes.
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If their number is not the planned one.
    pub fn send(self, hashes: &[u128], outbound: &mut dyn Outbound) -> Result<(), Error> {
        assert_eq!(hashes.len(), self.count, "as many masks as planned");
        stream::send(outbound, self.upper_messages(), &|bytes, message| {
            upper_parts::pack(self, hashes, bytes, message);
        })?;
        stream::send(outbound, self.lower_messages(), &|range, message| {
            let masks = hashes[range].iter().map(|hash| self.mask(*hash));
            lower_parts::pack(masks, self.low_bits, message);
        })?;
        Ok(())
    }

    /// Sorts hashes, and sends their masks.
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If their number is not the planned one.
    pub fn send_unsorted(
        self,
        hashes: Vec<u128>,
        outbound: &mut dyn Outbound,
    ) -> Result<(), Error> {
        let sorted = sort(&hashes);
        drop(hashes);
        self.send(&sorted, outbound)
    }

    /// Receives the sender's masks, and returns the positions of the own hashes that have one of
    /// them, some perhaps more than once.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    ///
    /// # Panics
    /// If there are more than 2^32 hashes.
    pub fn find(self, own: &[u128], inbound: &mut dyn Inbound) -> Result<Vec<u32>, Error> {
        let own = Own::new(self, own);
        Ok(self.receive(&own, inbound)?.concat())
    }

    /// Receives the sender's masks, and returns which of the own hashes have one of them: their
    /// positions, message by message, some of them perhaps more than once.
    ///
    /// # Errors
    /// If the channel breaks, or the peer sent something that is not masks.
    pub fn receive(self, own: &Own<'_>, inbound: &mut dyn Inbound) -> Result<Vec<Vec<u32>>, Error> {
        self.receive_each(inbound, &|_, masks| {
            let mut found = Vec::new();
            own.find(masks, |_, position| found.push(position));
            found
        })
    }

    /// Receives the sender's masks, and returns which of them own hashes have: the ranks of these
    /// masks, ascending, and the position of the hash for each.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn receive_ranked(
        self,
        own: &Own<'_>,
        inbound: &mut dyn Inbound,
    ) -> Result<(Vec<u32>, Vec<u32>), Error> {
        let most = self.count.min(own.len());
        let (mut ranks, mut positions) = (Vec::with_capacity(most), Vec::with_capacity(most));
        let find = |first: usize, masks: Masks<'_>| {
            let mut found = Vec::new();
            own.find(masks, |number, position| {
                found.push(((first + number) as u32, position));
            });
            found
        };
        self.receive_in_turn(inbound, &find, &mut |found| {
            ranks.extend(found.iter().map(|(rank, _)| *rank));
            positions.extend(found.iter().map(|(_, position)| *position));
        })?;
        Ok((ranks, positions))
    }

    /// Receives the sender's masks, all of them, ascending.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn receive_all(self, inbound: &mut dyn Inbound) -> Result<Vec<u128>, Error> {
        Ok(self
            .receive_each(inbound, &|_, masks| masks.collect())?
            .concat())
    }

    /// Receives the sender's masks, and returns what `inspect` makes of those of each message,
    /// given how many came before; they ascend.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    fn receive_each<T: Send>(
        self,
        inbound: &mut dyn Inbound,
        inspect: &(dyn Fn(usize, Masks<'_>) -> Vec<T> + Sync),
    ) -> Result<Vec<Vec<T>>, Error> {
        let mut inspected = Vec::new();
        self.receive_in_turn(inbound, inspect, &mut |message| inspected.push(message))?;
        Ok(inspected)
    }

    /// As `receive_each`, and hands what `inspect` makes of a message to `take`.
    fn receive_in_turn<T: Send>(
        self,
        inbound: &mut dyn Inbound,
        inspect: &(dyn Fn(usize, Masks<'_>) -> Vec<T> + Sync),
        take: &mut dyn FnMut(Vec<T>),
    ) -> Result<(), Error> {
        let upper_parts = UpperParts::receive(self, inbound)?;
        let length = |masks| lower_parts::bytes(masks, self.low_bits);
        stream::receive_in_turn(
            inbound,
            self.lower_messages(),
            &length,
            &|range, message| {
                let lower_parts = LowerParts::new(message, self.low_bits);
                inspect(range.start, upper_parts.masks(range, lower_parts))
            },
            &mut |_, inspected| take(inspected),
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
