//! The pseudorandom code C, the hash H, and rows of the matrix: the code word, zeros, and in the
//! topmost 32 bits, once it is [tagged](tag), the row's number.

use psijoin_block::blake3_rows;
use psijoin_ot::matrix::Row;
use psijoin_psi::masks::{Mask, MaskLength};

/// C: a digest and the list that it is looked for in, to a word of w bits.
pub(super) struct Code<const R: usize> {
    key: [u8; 32],
    /// The bits of a word.
    kept: Row<R>,
}

/// The input of C for a digest and a list.
pub(super) type CodeInput = [u64; 5];

pub(super) fn code_input([a, b, c, d]: [u64; 4], list: u8) -> CodeInput {
    [a, b, c, d, list.into()]
}

impl<const R: usize> Code<R> {
    pub(super) fn new(key: [u8; 32], bits: usize) -> Self {
        let kept = std::array::from_fn(|i| {
            let kept = bits.saturating_sub(64 * i).min(64) as u32;
            u64::MAX.checked_shr(64 - kept).unwrap_or(0)
        });
        Self { key, kept }
    }

    /// The code words of these inputs: BLAKE3 under a key that was drawn after the inputs were
    /// fixed, a pseudorandom function as Lemma 1 asks for. The second eight words come from a
    /// second call.
    pub(super) fn encode(&self, inputs: &mut [CodeInput], code_words: &mut [Row<R>]) {
        if R == 8 {
            let halves: &mut [Row<8>] = bytemuck::cast_slice_mut(code_words);
            blake3_rows::keyed_hash(&self.key, inputs, halves);
        } else {
            let mut half = vec![[0_u64; 8]; inputs.len()];
            for part in 0..R / 8 {
                blake3_rows::keyed_hash(&self.key, inputs, &mut half);
                for (word, half) in code_words.iter_mut().zip(&half) {
                    word[8 * part..8 * (part + 1)].copy_from_slice(half);
                }
                inputs.iter_mut().for_each(|input| input[4] += 1 << 8);
            }
        }
        for word in code_words {
            word.iter_mut()
                .zip(&self.kept)
                .for_each(|(word, kept)| *word &= kept);
        }
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

    pub(super) fn masks<const R: usize>(&self, rows: &[Row<R>], masks: &mut [Mask]) {
        let hashes: &mut [[u64; 2]] = bytemuck::cast_slice_mut(masks);
        blake3_rows::keyed_hash(&self.key, rows, hashes);
        masks
            .iter_mut()
            .for_each(|mask| *mask = self.length.cut(*mask));
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

/// Appends the first bytes of each row.
pub(super) fn append_bytes<const R: usize>(
    rows: &[Row<R>],
    row_bytes: usize,
    message: &mut Vec<u8>,
) {
    for row in rows {
        message.extend_from_slice(&bytemuck::cast_slice(row)[..row_bytes]);
    }
}

/// The row whose first bytes these are.
pub(super) fn from_bytes<const R: usize>(bytes: &[u8]) -> Row<R> {
    let mut row = [0; R];
    bytemuck::cast_slice_mut(&mut row)[..bytes.len()].copy_from_slice(bytes);
    row
}

#[cfg(test)]
mod tests {
    use psijoin_encode::digests::words;

    use super::*;

    fn encode<const D: usize, const R: usize>(
        bits: usize,
        inputs: &[([u8; D], u8)],
    ) -> Vec<Row<R>> {
        let mut inputs: Vec<CodeInput> = inputs
            .iter()
            .map(|(digest, list)| code_input(words(digest), *list))
            .collect();
        let mut words = vec![[0; R]; inputs.len()];
        Code::new([1; 32], bits).encode(&mut inputs, &mut words);
        words
    }

    #[test]
    fn words_are_cut_and_depend_on_every_input() {
        let inputs: Vec<_> = (0..8).map(|i| ([i / 4; 16], i % 4)).collect();
        let mut words: Vec<Row<8>> = encode(440, &inputs);
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
        let words: Vec<Row<16>> = encode(536, &[([7; 32], 0)]);
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
        let mut bytes = Vec::new();
        append_bytes(&rows, 49, &mut bytes);
        assert_eq!(bytes.len(), 98);
        assert_eq!(from_bytes::<8>(&bytes[..49]), rows[0]);
        assert_eq!(from_bytes::<8>(&bytes[49..])[6], 0xff);
    }
}
