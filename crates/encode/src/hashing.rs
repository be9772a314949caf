use psijoin_block::{Block, aes::Aes128};
use psijoin_params::cuckoo::MAX_BINS;

use crate::Digests;

/// Bins of an item: the number of hash functions.
pub const CHOICES: usize = 3;

/// Items that are hashed together, so that AES runs at full speed from L1.
pub(crate) const BATCH: usize = 64;

/// Maps digests of items to three distinct bins each. Where two are enough (balanced
/// allocations), the first two serve.
///
/// With h the digest (of 16 bytes) or AES_k0(first half) ⊕ second half (of 32), the bins
/// come from the 64-bit words of AES_k1(h) and AES_k2(h): a pseudorandom function of the
/// digest under keys expanded from the seed. The first word, as a fraction of 2^64, picks
/// among b bins, the second among the b - 1 that are left, the third among b - 2. Each
/// ordered choice of three bins is at most 1 + 2^-34 times as likely as any other, up to
/// 2^28 bins; [`psijoin_params::cuckoo::failure`] allows for that.
///
/// Bound and placement assume that the seed was drawn after both sets were fixed.
#[derive(Clone)]
pub struct BinHasher {
    fold: Aes128,
    draws: [Aes128; 2],
    bins: u32,
}

impl BinHasher {
    /// Expands the seed into hash functions for `bins` bins.
    ///
    /// # Panics
    /// If there are fewer than three bins, or more than [`MAX_BINS`].
    pub fn new(seed: [u8; 16], bins: u32) -> Self {
        assert!(
            (CHOICES as u32..=MAX_BINS).contains(&bins),
            "3 to 2^28 bins are supported"
        );
        let mut keys = [Block(0), Block(1), Block(2)];
        Aes128::new(Block::from_bytes(seed)).encrypt(&mut keys);
        let [fold, first, second] = keys.map(Aes128::new);
        Self {
            fold,
            draws: [first, second],
            bins,
        }
    }

    /// Returns the number of bins.
    pub fn bins(&self) -> u32 {
        self.bins
    }

    /// Computes the bins of each digest: `choices[i][t]` is the bin of item i under hash
    /// function t.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn hash(&self, digests: Digests<'_>, choices: &mut [[u32; CHOICES]]) {
        assert_eq!(
            digests.len(),
            choices.len(),
            "one choice of bins for each digest"
        );
        for (digests, choices) in digests.chunks(BATCH).zip(choices.chunks_mut(BATCH)) {
            let mut first = [Block::ZERO; BATCH];
            let first = &mut first[..digests.len()];
            digests.fold(&self.fold, first);
            let mut second = [Block::ZERO; BATCH];
            let second = &mut second[..digests.len()];
            second.copy_from_slice(first);
            self.draws[0].encrypt(first);
            self.draws[1].encrypt(second);
            for ((choice, first), second) in choices.iter_mut().zip(first).zip(second) {
                let words = [first.0 as u64, (first.0 >> 64) as u64, second.0 as u64];
                *choice = distinct(words, self.bins);
            }
        }
    }
}

/// Picks three distinct bins of `bins`: each word picks one of those not taken yet.
#[inline]
fn distinct(words: [u64; CHOICES], bins: u32) -> [u32; CHOICES] {
    let pick = |word: u64, from: u32| ((u128::from(word) * u128::from(from)) >> 64) as u32;
    among_others([
        pick(words[0], bins),
        pick(words[1], bins - 1),
        pick(words[2], bins - 2),
    ])
}

/// Returns three distinct numbers, if the second counts all numbers but the first, and the third
/// all but the first two.
#[inline]
pub(crate) fn among_others([first, mut second, mut third]: [u32; CHOICES]) -> [u32; CHOICES] {
    second += u32::from(second >= first);
    third += u32::from(third >= first.min(second));
    third += u32::from(third >= first.max(second));
    [first, second, third]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digests::numbers;
    use proptest::prelude::*;

    fn hash(hasher: &BinHasher, digests: Digests<'_>) -> Vec<[u32; CHOICES]> {
        let mut choices = vec![[0; CHOICES]; digests.len()];
        hasher.hash(digests, &mut choices);
        choices
    }

    #[test]
    fn words_pick_bins_by_their_fraction() {
        let fraction = |of: f64| (of * 2f64.powi(64)) as u64;
        assert_eq!(distinct([0, 0, 0], 10), [0, 1, 2]);
        assert_eq!(distinct([u64::MAX; 3], 10), [9, 8, 7]);
        assert_eq!(
            distinct([fraction(0.55), fraction(0.6), fraction(0.7)], 10),
            [5, 6, 7]
        );
        assert_eq!(
            distinct([fraction(0.55), fraction(0.1), fraction(0.3)], 10),
            [5, 0, 3]
        );
        assert_eq!(distinct([u64::MAX, 0, 0], 3), [2, 0, 1]);
    }

    /// Both parties must agree on the bins; computed with OpenSSL's AES.
    #[test]
    fn known_answers() {
        let hasher = BinHasher::new(std::array::from_fn(|i| i as u8), 1_000_003);
        let short = [0, 1, 2].map(|i| [i; 16]);
        let bins = [
            [482602, 831879, 598045],
            [822334, 572681, 210481],
            [686865, 554646, 276147],
        ];
        assert_eq!(hash(&hasher, Digests::Short(&short)), bins);
        let long: [[u8; 32]; 3] = [0, 1, 2].map(|i| std::array::from_fn(|j| i + j as u8));
        let bins = [
            [354967, 870937, 985542],
            [51381, 399178, 452771],
            [58647, 686866, 509960],
        ];
        assert_eq!(hash(&hasher, Digests::Long(&long)), bins);
    }

    #[test]
    fn all_choices_of_three_bins_are_as_likely() {
        let hasher = BinHasher::new([7; 16], 5);
        let mut counts = [0u32; 125];
        for [i, j, k] in hash(&hasher, numbers(0..60_000, 16).as_digests()) {
            counts[(25 * i + 5 * j + k) as usize] += 1;
        }
        let used: Vec<u32> = counts.into_iter().filter(|&count| count > 0).collect();
        assert_eq!(used.len(), 5 * 4 * 3);
        // χ² of 59 degrees of freedom is above 110 with probability 6e-5.
        let chi_squared: f64 = used
            .iter()
            .map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0)
            .sum();
        assert!(chi_squared < 110.0, "{chi_squared}");
    }

    #[test]
    fn batches_hash_like_single_items() {
        let hasher = BinHasher::new(*b"an arbitrary key", 1 << 28);
        for len in [0, 1, 63, 64, 65, 200] {
            let digests = numbers(0..len, 16);
            let digests = digests.as_digests();
            let single: Vec<_> = digests
                .chunks(1)
                .map(|digest| hash(&hasher, digest)[0])
                .collect();
            assert_eq!(hash(&hasher, digests), single);
        }
    }

    #[test]
    fn both_halves_of_a_long_digest_count() {
        let hasher = BinHasher::new([1; 16], 1 << 20);
        let mut digests = [[0u8; 32]; 3];
        digests[1][0] = 1;
        digests[2][31] = 1;
        let choices = hash(&hasher, Digests::Long(&digests));
        assert!(choices[0] != choices[1] && choices[0] != choices[2] && choices[1] != choices[2]);
    }

    #[test]
    fn seeds_give_unrelated_functions() {
        let digests = numbers(0..1000, 16);
        let [one, other] =
            [1, 2].map(|seed| hash(&BinHasher::new([seed; 16], 1 << 20), digests.as_digests()));
        assert!(
            one.iter()
                .zip(&other)
                .filter(|(one, other)| one == other)
                .count()
                == 0
        );
    }

    proptest! {
        #[test]
        fn bins_are_distinct_and_in_range(words: [u64; 3], bins in 3u32..=MAX_BINS) {
            let [i, j, k] = distinct(words, bins);
            prop_assert!(i < bins && j < bins && k < bins);
            prop_assert!(i != j && i != k && j != k);
        }
    }
}
