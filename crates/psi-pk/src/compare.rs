//! The treatment that items, elements and masks have in common in this crate's protocols.

use std::ops::Range;

use psijoin_channel::{
    Outbound,
    stream::{self, Chunks},
};
use psijoin_psi::{
    Error, Role,
    mask_params::MaskParams,
    masks::{Mask, MaskIndex, MaskLength},
};

/// Returns how the strings that represent a party's items are cut into messages.
pub(crate) fn chunks(params: &MaskParams, owner: Role, per_message: usize) -> Chunks {
    Chunks {
        total: owner.items(params.sizes()) as usize,
        per_message,
    }
}

/// Appends a chunk to an empty message, given the range of its units. It may fail.
pub(crate) type Compute<'a> = dyn Fn(Range<usize>, &mut Vec<u8>) -> Result<(), Error> + Sync + 'a;

/// As [`stream::send`], where computing a chunk may fail.
pub(crate) fn try_send(
    outbound: &mut dyn Outbound,
    chunks: Chunks,
    compute: &Compute<'_>,
) -> Result<(), Error> {
    stream::send_with(
        outbound,
        chunks,
        &mut [(); 0],
        &|| (),
        &|range, _, (), message| compute(range, message),
    )
}

/// Returns the masks of encoded numbers or points that have `WORDS` words each: hashes of all of
/// their bytes.
pub(crate) fn masks<const WORDS: usize>(
    encoded: &[u8],
    key: &[u8; 32],
    length: MaskLength,
) -> Vec<Mask> {
    let words: Vec<u64> = (encoded.as_chunks().0.iter())
        .map(|bytes| u64::from_le_bytes(*bytes))
        .collect();
    length.hash(key, words.as_chunks::<WORDS>().0).collect()
}

/// Returns the positions of those `masks` that are among `others`, in any order.
pub(crate) fn find(masks: &[Mask], others: &[Mask], length: MaskLength) -> Vec<u32> {
    let index = MaskIndex::new(masks, length, 0..masks.len() as u32);
    let mut found = Vec::new();
    index.find_all(others.iter().copied(), |_, position| found.push(position));
    found
}
