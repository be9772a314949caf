//! Masks: the pseudorandom strings of a few dozen bits that represent items at the end of a
//! protocol. The sender's masks travel bit-packed, and the receiver looks them up among its own.

use psijoin_block::blake3_rows;
use psijoin_channel::Inbound;
use psijoin_params::{Error, FailureBudget, mask};
use psijoin_runtime::memory::{Buffer, prefetch};

use psijoin_channel::stream::Chunks;

use crate::sorted_masks::sort;

/// A mask, right-aligned.
pub type Mask = u128;

/// The length of a run's masks.
#[derive(Debug, Clone, Copy)]
pub struct MaskLength {
    /// Bits of a mask.
    pub bits: u32,
}

impl MaskLength {
    /// Returns the shortest masks that agree by chance in none of `comparisons` pairs of different
    /// items, within half of the failure budget.
    pub fn derive(comparisons: u128, budget: &mut FailureBudget) -> Result<Self, Error> {
        let bits = mask::bits(comparisons, budget.share(0.5))?;
        budget.charge("mask collision", mask::collision(comparisons, bits))?;
        Ok(Self { bits })
    }

    /// Cuts a 128-bit hash to a mask.
    pub fn cut(self, hash: u128) -> Mask {
        hash & (u128::MAX >> (128 - self.bits))
    }

    /// Returns masks in ascending order.
    pub fn sort(self, mut masks: Vec<Mask>) -> Buffer<Mask> {
        // As what is sorted by its topmost bits: uniform hashes.
        let shift = 128 - self.bits;
        masks.iter_mut().for_each(|mask| *mask <<= shift);
        let mut sorted = sort(&masks);
        sorted.iter_mut().for_each(|mask| *mask >>= shift);
        sorted
    }

    /// Returns the masks of these rows: a keyed hash of each, cut.
    pub fn hash<const ROW: usize>(
        self,
        key: &[u8; 32],
        rows: &[[u64; ROW]],
    ) -> impl Iterator<Item = Mask> + use<ROW> {
        let mut hashes = vec![[0_u64; 2]; rows.len()];
        blake3_rows::keyed_hash(key, rows, &mut hashes);
        hashes
            .into_iter()
            .map(move |hash| self.cut(bytemuck::cast(hash)))
    }

    /// Returns the number of bytes of `count` masks, packed.
    pub fn packed_bytes(self, count: usize) -> usize {
        (count * self.bits as usize).div_ceil(8)
    }

    /// Appends masks without gaps; the last byte is filled up with zeros.
    pub fn pack(self, masks: impl Iterator<Item = Mask>, message: &mut Vec<u8>) {
        let mut pending: u64 = 0;
        let mut pending_bits = 0;
        let mut push = |mut value: u128, mut bits: u32| {
            while bits > 0 {
                let taken = bits.min(64 - pending_bits);
                pending |= (value as u64) << pending_bits;
                pending_bits += taken;
                value = value.checked_shr(taken).unwrap_or(0);
                bits -= taken;
                if pending_bits == 64 {
                    message.extend_from_slice(&pending.to_le_bytes());
                    (pending, pending_bits) = (0, 0);
                }
            }
        };
        for mask in masks {
            push(mask, self.bits);
        }
        message.extend_from_slice(&pending.to_le_bytes()[..pending_bits.div_ceil(8) as usize]);
    }

    /// Returns the `count` masks at the start of what [`pack`](Self::pack) wrote.
    ///
    /// # Panics
    /// If the bytes are fewer.
    pub fn unpack(self, packed: &[u8], count: usize) -> impl Iterator<Item = Mask> {
        let packed = &packed[..self.packed_bytes(count)];
        (0..count).map(move |i| {
            let first_bit = i * self.bits as usize;
            let (first_byte, shift) = (first_bit / 8, first_bit % 8);
            let bytes = &packed[first_byte..packed.len().min(first_byte + 17)];
            let mut window = [0; 32];
            window[..bytes.len()].copy_from_slice(bytes);
            let (low, high) = window.split_at(16);
            let low = u128::from_le_bytes(low.try_into().expect("16 bytes"));
            let high = u128::from(high[0]);
            self.cut(low >> shift | high.checked_shl(128 - shift as u32).unwrap_or(0))
        })
    }

    /// Receives masks that travel packed, a message for each chunk.
    pub fn receive(
        self,
        inbound: &mut dyn Inbound,
        chunks: Chunks,
    ) -> Result<Vec<Mask>, crate::Error> {
        let mut masks = Vec::with_capacity(chunks.total);
        let mut message = Vec::new();
        for range in chunks.ranges() {
            message.resize(self.packed_bytes(range.len()), 0);
            inbound.recv(&mut message)?;
            masks.extend(self.unpack(&message, range.len()));
        }
        Ok(masks)
    }
}

/// The receiver's masks, to be found again: open addressing with linear probing, at most
/// half full. A slot holds 32 bits of a mask beside its position, so that a lookup mostly
/// takes one cache line; a candidate is then compared in full.
pub struct MaskIndex<'a> {
    masks: &'a [Mask],
    length: MaskLength,
    slots: Buffer<Slot>,
}

/// All zeros is an empty slot.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Slot {
    tag: u32,
    position_plus_one: u32,
}

/// Lookups whose cache lines are fetched at the same time.
const IN_FLIGHT: usize = 32;

impl<'a> MaskIndex<'a> {
    /// Indexes the masks at `positions`.
    pub fn new(
        masks: &'a [Mask],
        length: MaskLength,
        positions: impl ExactSizeIterator<Item = u32>,
    ) -> Self {
        let capacity = (2 * positions.len()).next_power_of_two().max(2);
        let mut index = Self {
            masks,
            length,
            slots: Buffer::zeroed(capacity),
        };
        for_each_group(positions, |positions| {
            for position in positions {
                prefetch(&index.slots[index.home(masks[*position as usize])]);
            }
            for position in positions {
                index.insert(*position);
            }
        });
        index
    }

    fn insert(&mut self, position: u32) {
        let mask = self.masks[position as usize];
        let mut slot = self.home(mask);
        while self.slots[slot].position_plus_one != 0 {
            slot = self.next(slot);
        }
        self.slots[slot] = Slot {
            tag: self.tag(mask),
            position_plus_one: position + 1,
        };
    }

    /// Looks up many masks: calls `found(number of the mask, position)` for each that is
    /// there.
    pub fn find_all(&self, masks: impl Iterator<Item = Mask>, mut found: impl FnMut(usize, u32)) {
        let mut candidates = Vec::with_capacity(IN_FLIGHT);
        for_each_group(masks.enumerate(), |group| {
            for (_, mask) in group {
                prefetch(&self.slots[self.home(*mask)]);
            }
            candidates.clear();
            for (number, mask) in group {
                self.candidates(*mask, |position| {
                    prefetch(&self.masks[position as usize]);
                    candidates.push((*number, *mask, position));
                });
            }
            for (number, mask, position) in &candidates {
                if self.masks[*position as usize] == *mask {
                    found(*number, *position);
                }
            }
        });
    }

    /// Visits the positions of masks with these topmost bits.
    #[inline]
    fn candidates(&self, mask: Mask, mut candidate: impl FnMut(u32)) {
        let tag = self.tag(mask);
        let mut slot = self.home(mask);
        while let Some(position) = self.slots[slot].position_plus_one.checked_sub(1) {
            if self.slots[slot].tag == tag {
                candidate(position);
            }
            slot = self.next(slot);
        }
    }

    /// Returns where the search for a mask begins.
    #[inline]
    fn home(&self, mask: Mask) -> usize {
        mask as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn next(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    /// Returns the topmost bits: the lowest ones give the place where the search begins.
    fn tag(&self, mask: Mask) -> u32 {
        (mask >> self.length.bits.saturating_sub(32)) as u32
    }
}

/// Calls `work` on groups of [`IN_FLIGHT`] elements.
fn for_each_group<T>(elements: impl Iterator<Item = T>, mut work: impl FnMut(&[T])) {
    let mut group = Vec::with_capacity(IN_FLIGHT);
    for element in elements {
        group.push(element);
        if group.len() == IN_FLIGHT {
            work(&group);
            group.clear();
        }
    }
    work(&group);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packing_loses_nothing(
            bits in 1_u32..=128,
            hashes in prop::collection::vec(any::<u128>(), 0..40),
        ) {
            let length = MaskLength { bits };
            let masks: Vec<Mask> = hashes.into_iter().map(|hash| length.cut(hash)).collect();
            let mut packed = Vec::new();
            length.pack(masks.iter().copied(), &mut packed);
            prop_assert_eq!(packed.len(), length.packed_bytes(masks.len()));
            let unpacked: Vec<Mask> = length.unpack(&packed, masks.len()).collect();
            prop_assert_eq!(unpacked, masks);
        }

        /// Short masks, so that there are many duplicates and long probe sequences.
        #[test]
        fn index_finds_what_is_there(
            masks in prop::collection::vec(0_u128..64, 0..100),
            sought in 0_u128..64,
        ) {
            let index = MaskIndex::new(&masks, MaskLength { bits: 41 }, 0..masks.len() as u32);
            let mut found = Vec::new();
            index.find_all([sought].into_iter(), |_, position| found.push(position));
            found.sort_unstable();
            let expected: Vec<u32> =
                (0..masks.len() as u32).filter(|i| masks[*i as usize] == sought).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn masks_that_differ_in_any_bit_are_different() {
        let length = MaskLength { bits: 81 };
        let mask = length.cut(0x1_2345_6789_abcd_ef01_2345_6789);
        let masks = [mask];
        let index = MaskIndex::new(&masks, length, 0..1);
        let changed = (0..81).map(|bit| mask ^ (1 << bit));
        let mut found = Vec::new();
        index.find_all(changed.chain([mask]), |number, position| {
            found.push((number, position))
        });
        assert_eq!(found, [(81, 0)]);
    }
}
