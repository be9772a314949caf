//! The masks of words, from the strings of their letters.

use psijoin_block::{Block, crhf};
use psijoin_ot::kk13::{Hash, HashInput};

/// Words of letters to the hashes that are cut to masks, many at a time.
///
/// The XOR of the strings of a word's letters goes through one more hash. Without it the values
/// of words with letters in common would show that: four words that differ in two places have
/// XOR zero. (PSZ14 takes another part of each OT's string for each item of the sender; KKRT16
/// §5.1 hashes as here.)
pub(super) struct Masker<'a> {
    hash: &'a Hash,
    letters: usize,
    inputs: Vec<HashInput>,
    strings: Vec<Block>,
    sums: Vec<Block>,
}

/// Words that are hashed together.
const WORDS: usize = 128;

impl<'a> Masker<'a> {
    pub(super) fn new(hash: &'a Hash, letters: usize) -> Self {
        Self {
            hash,
            letters,
            inputs: Vec::with_capacity(WORDS * letters),
            strings: vec![Block::ZERO; WORDS * letters],
            sums: Vec::with_capacity(WORDS),
        }
    }

    /// Takes the inputs of a word's letters, and appends hashes if it is time.
    #[inline]
    pub(super) fn push(&mut self, word: impl Iterator<Item = HashInput>, hashes: &mut Vec<u128>) {
        self.inputs.extend(word);
        if self.inputs.len() == WORDS * self.letters {
            self.flush(hashes);
        }
    }

    /// Appends the hashes that are missing.
    pub(super) fn flush(&mut self, hashes: &mut Vec<u128>) {
        let strings = &mut self.strings[..self.inputs.len()];
        self.hash.strings(&self.inputs, strings);
        self.inputs.clear();
        self.sums.clear();
        self.sums.extend(
            strings
                .chunks_exact(self.letters)
                .map(|word| word.iter().fold(Block::ZERO, |sum, string| sum ^ *string)),
        );
        crhf::correlation_robust(&mut self.sums);
        hashes.extend(self.sums.iter().map(|sum| sum.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(word: [u64; 2]) -> [HashInput; 2] {
        [[word[0], 0, 0, 0, 1], [word[1], 0, 0, 0, 2]]
    }

    fn hashes(words: &[[u64; 2]]) -> Vec<u128> {
        let hash = Hash::new([1; 32]);
        let mut masker = Masker::new(&hash, 2);
        let mut hashes = Vec::new();
        for word in words {
            masker.push(inputs(*word).into_iter(), &mut hashes);
        }
        masker.flush(&mut hashes);
        hashes
    }

    #[test]
    fn a_word_has_one_hash_wherever_it_stands() {
        let words: Vec<[u64; 2]> = (0..3 * WORDS as u64 + 5).map(|i| [i / 7, i % 7]).collect();
        let all = hashes(&words);
        assert_eq!(all.len(), words.len());
        for (word, hash) in words.iter().zip(&all).step_by(41) {
            assert_eq!(hashes(&[*word]), [*hash]);
        }
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }

    /// The XOR of strings alone would give zero.
    #[test]
    fn words_with_letters_in_common_have_no_relation() {
        let corners = hashes(&[[1, 1], [1, 2], [2, 1], [2, 2]]);
        assert_ne!(corners.iter().fold(0, |sum, hash| sum ^ hash), 0);
    }
}
