//! Cuckoo hashing as papers describe it (KKRT16 §5.1): an item that finds its bins taken throws out
//! what lies in one of them, and so on, up to a limit.
//!
//! psijoin does without: `CuckooTable` finds a placement whenever there is one. It is here because
//! published stash sizes come from it.

use psijoin_encode::CHOICES;

/// Returns how many items are left over, if each insertion throws out at most `most_moves`.
pub(crate) fn left_over(
    choices: &[[u32; CHOICES]],
    bins: u32,
    most_moves: usize,
    seed: u64,
) -> usize {
    let mut random = Random(seed);
    let mut slots = vec![None; bins as usize];
    let mut left_over = 0;
    for item in 0..choices.len() {
        let mut homeless = Some(item);
        for _ in 0..=most_moves {
            let Some(item) = homeless else { break };
            let free = |bin: &&u32| slots[**bin as usize].is_none();
            let bin = choices[item].iter().find(free);
            let bin = *bin.unwrap_or(&choices[item][random.below(CHOICES)]);
            homeless = slots[bin as usize].replace(item);
        }
        left_over += usize::from(homeless.is_some());
    }
    left_over
}

/// SplitMix64 (Steele, Lea, Flood 2014): random enough for a walk.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        ((u128::from(word) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuckoo::three;

    #[test]
    fn a_walk_leaves_no_fewer_than_the_best_placement() {
        let (items, bins) = (32, 38);
        let mut more = 0;
        for seed in 0_u64..2000 {
            let choices = three(u128::from(seed).to_le_bytes(), items, bins);
            let best = crate::cuckoo::left_over(&choices, bins);
            let [short, long] = [3, 1000].map(|moves| left_over(&choices, bins, moves, seed));
            assert!(best <= long && best <= short, "{best}, {long}, {short}");
            more += u32::from(long < short);
        }
        assert!(more > 1000, "a short walk gives up: {more}");
    }
}
