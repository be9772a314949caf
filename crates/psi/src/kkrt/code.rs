//! The pseudorandom code C, the hash H, and rows of the matrix.

use psijoin_block::blake3_rows;

use crate::{
    items::words,
    masks::{Mask, MaskLength},
};

/// A row of the matrix in 64-bit words: the code word, zeros, and in the topmost 32 bits, once
/// it is [tagged](tag), the row's number.
pub(super) type Row<const R: usize> = [u64; R];

/// C: a digest and the list that it is looked for in, to a word of w bits.
pub(super) struct Code {
    key: [u8; 32],
    bits: usize,
}

impl Code {
    pub(super) fn new(key: [u8; 32], bits: usize) -> Self {
        Self { key, bits }
    }

    /// The code words of these inputs: BLAKE3 under a key that was drawn after the inputs were
    /// fixed, a pseudorandom function as Lemma 1 asks for. Words of more than 512 bits come
    /// from two calls.
    pub(super) fn words<'a, const D: usize, const R: usize>(
        &self,
        inputs: impl Iterator<Item = (&'a [u8; D], u8)>,
    ) -> Vec<Row<R>> {
        let mut inputs: Vec<[u64; 5]> = inputs
            .map(|(digest, list)| {
                let [a, b, c, d] = words(digest);
                [a, b, c, d, list.into()]
            })
            .collect();
        let mut code_words = vec![[0; R]; inputs.len()];
        let mut half = vec![[0_u64; 8]; inputs.len()];
        for part in 0..R / 8 {
            blake3_rows::keyed_hash(&self.key, &inputs, &mut half);
            for (word, half) in code_words.iter_mut().zip(&half) {
                word[8 * part..8 * (part + 1)].copy_from_slice(half);
            }
            inputs.iter_mut().for_each(|input| input[4] += 1 << 8);
        }
        code_words.iter_mut().for_each(|word| cut(word, self.bits));
        code_words
    }
}

/// Sets all bits from `bits` on to zero.
fn cut<const R: usize>(row: &mut Row<R>, bits: usize) {
    for (i, word) in row.iter_mut().enumerate() {
        let kept = bits.saturating_sub(64 * i).min(64) as u32;
        *word &= u64::MAX.checked_shr(64 - kept).unwrap_or(0);
    }
}

/// H: tagged rows to masks.
pub(super) struct RowHash {
    key: [u8; 32],
    length: MaskLength,
}

impl RowHash {
    pub(super) fn new(key: [u8; 32], length: MaskLength) -> Self {
        Self { key, length }
    }

    pub(super) fn masks<const R: usize>(&self, rows: &[Row<R>]) -> Vec<Mask> {
        let mut hashes = vec![[0_u64; 2]; rows.len()];
        blake3_rows::keyed_hash(&self.key, rows, &mut hashes);
        hashes
            .into_iter()
            .map(|hash| self.length.cut(bytemuck::cast(hash)))
            .collect()
    }
}

/// row ⊕ other.
pub(super) fn add<const R: usize>(row: &mut Row<R>, other: &Row<R>) {
    row.iter_mut()
        .zip(other)
        .for_each(|(word, other)| *word ^= other);
}

/// row ⊕ (other ∧ delta).
pub(super) fn add_masked<const R: usize>(row: &mut Row<R>, other: &Row<R>, delta: &Row<R>) {
    for ((word, other), delta) in row.iter_mut().zip(other).zip(delta) {
        *word ^= other & delta;
    }
}

/// Turns the code word of an item into the input of H: q ⊕ (code word ∧ Δ), tagged.
pub(super) fn evaluate<const R: usize>(word: &mut Row<R>, q: &Row<R>, delta: &Row<R>, number: u32) {
    for ((word, q), delta) in word.iter_mut().zip(q).zip(delta) {
        *word = q ^ (*word & delta);
    }
    tag(word, number);
}

/// Writes the row's number, the tweak of H, into the row.
pub(super) fn tag<const R: usize>(row: &mut Row<R>, number: u32) {
    row[R - 1] |= u64::from(number) << 32;
}

/// The first bytes of each row, one after the other.
pub(super) fn to_bytes<const R: usize>(rows: &[Row<R>], row_bytes: usize) -> Vec<u8> {
    let mut message = Vec::with_capacity(rows.len() * row_bytes);
    for row in rows {
        message.extend_from_slice(&bytemuck::cast_slice(row)[..row_bytes]);
    }
    message
}

/// The row whose first bytes these are.
pub(super) fn from_bytes<const R: usize>(bytes: &[u8]) -> Row<R> {
    let mut row = [0; R];
    bytemuck::cast_slice_mut(&mut row)[..bytes.len()].copy_from_slice(bytes);
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_and_depend_on_every_input() {
        let code = Code::new([1; 32], 440);
        let digests = [[0_u8; 16], [1; 16]];
        let inputs = digests
            .iter()
            .flat_map(|digest| (0..4).map(move |list| (digest, list)));
        let mut words: Vec<Row<8>> = code.words(inputs);
        assert!(words.iter().all(|word| word[6] >> 56 == 0 && word[7] == 0));
        assert!(
            words
                .iter()
                .all(|word| word[..7].iter().all(|word| *word != 0))
        );
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 8);
    }

    #[test]
    fn wide_words_fill_both_halves() {
        let words: Vec<Row<16>> = Code::new([1; 32], 536).words([(&[7; 32], 0)].into_iter());
        assert!(words[0][..8].iter().all(|word| *word != 0));
        assert!(words[0][8] != 0 && words[0][8] >> 24 == 0 && words[0][9..] == [0; 7]);
        assert_ne!(
            words[0][0] & 0xff_ffff,
            words[0][8],
            "the halves are independent"
        );
    }

    #[test]
    fn bytes_round_trip() {
        let rows: [Row<8>; 2] = [[1, 2, 3, 4, 5, 6, 0xff, 0], [u64::MAX; 8]];
        let bytes = to_bytes(&rows, 49);
        assert_eq!(bytes.len(), 98);
        assert_eq!(from_bytes::<8>(&bytes[..49]), rows[0]);
        assert_eq!(from_bytes::<8>(&bytes[49..])[6], 0xff);
    }
}
