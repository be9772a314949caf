//! Masks that need not fit into memory, and how many two sets of them have in common.

use psijoin_files::spill::Store;
use psijoin_psi::{
    Error,
    masks::{Mask, MaskLength},
    output::ascending,
};

use crate::compare;

/// Masks by their topmost bits. They are uniform, so partitions have about the same size.
pub(super) struct MaskPartitions {
    store: Store,
    length: MaskLength,
    /// The most masks of a partition.
    most: u64,
}

impl MaskPartitions {
    /// Returns the number of bytes that a mask takes.
    pub(super) fn mask_bytes(length: MaskLength) -> usize {
        length.packed_bytes(1)
    }

    /// Makes empty partitions. If there are several partitions, a set of uniform masks fills each
    /// with half of `most` on average, or less.
    pub(super) fn new(store: Store, length: MaskLength, most: u64) -> Self {
        Self {
            store,
            length,
            most,
        }
    }

    /// Adds masks that the peer chose, or could influence.
    ///
    /// # Errors
    /// If one partition gets too many of them for uniform masks, or if what exceeds memory cannot
    /// be written.
    pub(super) fn add(&self, masks: impl IntoIterator<Item = Mask>) -> Result<(), Error> {
        for mask in masks {
            let before = self
                .store
                .append(self.partition(mask), self.record(&mask.to_le_bytes()))?;
            if before >= self.most && self.store.partitions() > 1 {
                return Err(Error::Peer("its masks are not as random ones are"));
            }
        }
        Ok(())
    }

    fn record<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[..self.store.record_bytes()]
    }

    fn partition(&self, mask: Mask) -> usize {
        let topmost = mask >> self.length.bits.saturating_sub(32);
        ((topmost * self.store.partitions() as u128) >> 32) as usize
    }

    /// Returns the masks of a partition, which has none from then on.
    fn take(&self, partition: usize) -> Result<Vec<Mask>, Error> {
        let records = self.store.take(partition)?;
        let mask = |record: &[u8]| {
            let mut bytes = [0; size_of::<Mask>()];
            bytes[..record.len()].copy_from_slice(record);
            Mask::from_le_bytes(bytes)
        };
        Ok(records
            .chunks_exact(self.store.record_bytes())
            .map(mask)
            .collect())
    }

    /// Returns how many of these are among the others, in as many partitions.
    ///
    /// # Errors
    /// If what was written cannot be read.
    pub(super) fn shared(&self, others: &Self) -> Result<u64, Error> {
        let shared = |partition| {
            let (masks, others) = (self.take(partition)?, others.take(partition)?);
            let found = compare::find(&masks, &others, self.length);
            Ok(ascending(found, masks.len()).len() as u64)
        };
        (0..self.store.partitions()).map(shared).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use psijoin_files::spill::{Budget, Folder, Spill};

    use super::*;

    const LENGTH: MaskLength = MaskLength { bits: 41 };

    fn partitions(number: usize, most: u64) -> MaskPartitions {
        let bytes = MaskPartitions::mask_bytes(LENGTH);
        let spill = Spill::new(Budget::new(0), Folder::temporary());
        let store = Store::new(number, bytes, &spill);
        MaskPartitions::new(store, LENGTH, most)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Masks of a small range, so that some are equal, spread over all partitions.
        #[test]
        fn all_that_are_there_are_counted_once(
            ours in prop::collection::btree_set(0_u128..64, 0..60),
            theirs in prop::collection::vec(0_u128..64, 0..60),
            number in 1_usize..9,
        ) {
            let mask = |small: &u128| small << 35 | small;
            let (own, others) = (partitions(number, u64::MAX), partitions(number, u64::MAX));
            own.add(ours.iter().map(mask)).unwrap();
            others.add(theirs.iter().map(mask)).unwrap();
            let expected = ours.iter().filter(|mask| theirs.contains(mask)).count();
            prop_assert_eq!(own.shared(&others).unwrap(), expected as u64);
        }
    }

    #[test]
    fn a_peer_cannot_fill_one_partition() {
        let uniform = || (0..128).map(|mask| mask << (LENGTH.bits - 7));
        let filled = |number, most| partitions(number, most).add(uniform());
        assert!(filled(2, 64).is_ok());
        assert!(matches!(filled(2, 63), Err(Error::Peer(_))));
        assert!(filled(1, 63).is_ok());
    }
}
