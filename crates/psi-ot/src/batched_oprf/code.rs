//! The pseudorandom code C, the hash H, and rows of the matrix: the code word, zeros, and in the
//! topmost 32 bits, once it is [tagged](tag), the row's number.
//!
//! The number of words of a row is a value: rows are processed in parts of eight words.

use psijoin_block::blake3_rows;
use psijoin_psi::masks::{Mask, MaskLength};

use super::{Input, ROW_WORDS, WIDE_ROW_WORDS};

/// Words that are combined at once.
const PART: usize = 8;

type Part = [u64; PART];

/// C: inputs to words of w bits.
pub(super) struct Code {
    key: [u8; 32],
    /// The bits of a code word, in a row.
    kept: Vec<u64>,
}

impl Code {
    pub(super) fn new(key: [u8; 32], bits: usize, row_words: usize) -> Self {
        let kept = (0..row_words).map(|i| {
            let kept = bits.saturating_sub(64 * i).min(64) as u32;
            u64::MAX.checked_shr(64 - kept).unwrap_or(0)
        });
        Self {
            key,
            kept: kept.collect(),
        }
    }

    /// Returns the number of words of a row.
    pub(super) fn row_words(&self) -> usize {
        self.kept.len()
    }

    /// Computes the code words of these inputs, which are lost, in rows: BLAKE3 under a key that
    /// was drawn after the inputs were fixed, a pseudorandom function as Lemma 1 asks for. The
    /// second eight words come from a second call.
    pub(super) fn encode(&self, inputs: &mut [Input], code_words: &mut [u64]) {
        let row_words = self.row_words();
        let inputs: &mut [[u64; 5]] = bytemuck::cast_slice_mut(inputs);
        if row_words == PART {
            blake3_rows::keyed_hash(&self.key, inputs, parts_mut(code_words));
        } else {
            let mut half = vec![[0_u64; PART]; inputs.len()];
            for first in (0..row_words).step_by(PART) {
                blake3_rows::keyed_hash(&self.key, inputs, &mut half);
                for (word, half) in code_words.chunks_exact_mut(row_words).zip(&half) {
                    word[first..first + PART].copy_from_slice(half);
                }
                inputs.iter_mut().for_each(|input| input[4] += 1 << 8);
            }
        }
        for word in code_words.chunks_exact_mut(row_words) {
            for (part, kept) in parts_mut(word).iter_mut().zip(parts(&self.kept)) {
                *part = std::array::from_fn(|i| part[i] & kept[i]);
            }
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

    pub(super) fn masks(&self, rows: &[u64], masks: &mut [Mask]) {
        let hashes: &mut [[u64; 2]] = bytemuck::cast_slice_mut(masks);
        if rows.len() == hashes.len() * ROW_WORDS {
            blake3_rows::keyed_hash(&self.key, rows.as_chunks::<ROW_WORDS>().0, hashes);
        } else {
            blake3_rows::keyed_hash(&self.key, rows.as_chunks::<WIDE_ROW_WORDS>().0, hashes);
        }
        masks
            .iter_mut()
            .for_each(|mask| *mask = self.length.cut(*mask));
    }
}

/// Returns the parts of a row.
pub(super) fn parts(row: &[u64]) -> &[Part] {
    row.as_chunks().0
}

fn parts_mut(row: &mut [u64]) -> &mut [Part] {
    row.as_chunks_mut().0
}

/// Computes row ⊕ other.
pub(super) fn add(row: &mut [u64], other: &[u64]) {
    for (part, other) in parts_mut(row).iter_mut().zip(parts(other)) {
        *part = std::array::from_fn(|i| part[i] ^ other[i]);
    }
}

/// Computes row ⊕ (other ∧ delta).
pub(super) fn add_masked(row: &mut [u64], other: &[u64], delta: &[u64]) {
    let others = parts(other).iter().zip(parts(delta));
    for (part, (other, delta)) in parts_mut(row).iter_mut().zip(others) {
        *part = std::array::from_fn(|i| part[i] ^ (other[i] & delta[i]));
    }
}

/// Turns the code word of an item into the input of H: q ⊕ (code word ∧ Δ), tagged.
pub(super) fn evaluate(word: &mut [u64], q: &[u64], delta: &[u64], number: u32) {
    let others = parts(q).iter().zip(parts(delta));
    for (part, (q, delta)) in parts_mut(word).iter_mut().zip(others) {
        *part = std::array::from_fn(|i| q[i] ^ (part[i] & delta[i]));
    }
    tag(word, number);
}

/// Writes the row's number, the tweak of H, into the row.
pub(super) fn tag(row: &mut [u64], number: u32) {
    let last = row.len() - 1;
    row[last] |= u64::from(number) << 32;
}

/// Appends the first bytes of each row.
pub(super) fn append_bytes(
    rows: &[u64],
    row_words: usize,
    row_bytes: usize,
    message: &mut Vec<u8>,
) {
    for row in rows.chunks_exact(row_words) {
        message.extend_from_slice(&bytemuck::cast_slice(row)[..row_bytes]);
    }
}

/// Returns the words of the row whose first bytes these are, and zeros.
pub(super) fn from_bytes(bytes: &[u8]) -> [u64; WIDE_ROW_WORDS] {
    let mut row = [0; WIDE_ROW_WORDS];
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
    ) -> Vec<[u64; R]> {
        let input = |(digest, more): &([u8; D], u8)| Input::new(words(digest), *more);
        let mut inputs: Vec<Input> = inputs.iter().map(input).collect();
        let mut words = vec![[0; R]; inputs.len()];
        Code::new([1; 32], bits, R).encode(&mut inputs, words.as_flattened_mut());
        words
    }

    #[test]
    fn words_are_cut_and_depend_on_every_input() {
        let inputs: Vec<_> = (0..8).map(|i| ([i / 4; 16], i % 4)).collect();
        let mut words: Vec<[u64; 8]> = encode(440, &inputs);
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
        let words: Vec<[u64; 16]> = encode(536, &[([7; 32], 0)]);
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
        let rows: [[u64; 8]; 2] = [[1, 2, 3, 4, 5, 6, 0xff, 0], [u64::MAX; 8]];
        let mut bytes = Vec::new();
        append_bytes(rows.as_flattened(), 8, 49, &mut bytes);
        assert_eq!(bytes.len(), 98);
        assert_eq!(from_bytes(&bytes[..49])[..8], rows[0]);
        assert_eq!(from_bytes(&bytes[49..])[6], 0xff);
    }
}
