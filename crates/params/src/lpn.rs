//! Noise for dual LPN (syndrome decoding) over a binary code of rate 1/2, under silent OT and
//! VOLE.
//!
//! **Assumption.** H is the public m × N matrix over GF(2) of a block-accumulate code, N = 2m,
//! and e is *regular* noise: N positions in t blocks of equal length, one point in each, at a
//! uniform position. Then H·e looks uniform. The values at the points are all 1
//! ([`NoiseValues::Ones`]), or uniform in a vector space over GF(2) of dimension b > 1, such as a
//! field of 2^b elements ([`NoiseValues::Uniform`]); H stays binary.
//!
//! # How many points
//!
//! All known attacks on dual LPN over a code without algebraic structure are *linear tests*
//! (Boyle et al., CRYPTO 2022, ePrint 2022/1014): find a vector v in the row space of H and look at
//! ⟨v, e⟩, which H·e gives away. Let ω_i be the fraction of ones in block i of v: the probability
//! that v hits the point there.
//!
//! - **Ones**: ⟨v, e⟩ is a sum of t independent bits, each 1 with probability ω_i: its bias is Π |1
//!   − 2ω_i|. A block that v fills serves the attacker as well as one that v leaves alone: a word
//!   that fills 35 of 174 blocks has 0.20·N ones, and is 1 for every e. So it is not the weight of
//!   v that counts, but its distance from the span of the t vectors that each fill one block, none
//!   of which tells anything about e. Let that distance be ω·N: ω is the mean of ω'_i = min(ω_i, 1
//!   − ω_i), and the bias is Π (1 − 2ω'_i) ≤ (1 − 2ω)^t, the geometric mean being at most the
//!   arithmetic one. It must be at most 2^-κ.
//! - **Uniform values**: ⟨v, e⟩ = 0 where v misses every point, and uniform otherwise: bias Π (1 −
//!   ω_i). A full block does not help the attacker here. Moreover, since H is binary, each of the b
//!   bit planes of H·e is a syndrome of the same support, and so is each of their 2^b − 1 sums,
//!   which the attacker may choose among. A point survives in a sum with probability 1/2, so over
//!   all sums the biases, Π |1 − 2ω_i| over the surviving points, sum to at most 2^b·Π (1 − ω'_i) ≤
//!   2^b·(1 − ω)^t. This must be at most 2^-κ, which is the stronger condition.
//!
//! The second condition also covers the decoding of interleaved codes. With t ≤ b points the
//! planes span the space of all syndromes of the support, which then falls to linear algebra
//! (Metzner and Kapturowski, 1990), however long the code. With more points an attacker
//! shortens the code: it hopes that half of the positions, those that it eliminates, hold all
//! points but b. That happens with probability P(Bin(t, 1/2) ≤ b), which a test below keeps far
//! under 2^-κ.
//!
//! # The distance that can be found
//!
//! Words at about 0.11·N (the Gilbert-Varshamov bound) exist, but are not known to be findable.
//! The rows of a systematic form of H, and sums of a few, have weight N/4. They are closer than
//! that to the span of full blocks if a block has many random bits: by about 0.4·√L of its L
//! positions if it has nothing else. An attacker that chooses the form puts them in as few blocks
//! as possible. Even so, and at the smallest N that is used, 2^16, none of 2^64 rows is nearer than
//! 0.228·N with the blocks for ones, 0.216·N with those for 64 bits and 0.213·N with those for 128,
//! which are the shortest (no row is lighter than 0.235·N; all tested below). Merging lists
//! of 2^64 rows cancels at most a few hundred positions more, which leaves 0.220·N, 0.208·N and
//! 0.205·N. Longer codes have longer blocks, and lose less. The rest is a margin for weaknesses of
//! the code itself: **ω = 0.20** ([`PSEUDO_DISTANCE`]). libOTe now takes the same value for the
//! code with blocks of 32 (it took 0.25 at first).
//!
//! One trait of the code deserves a look here. It first adds up neighbours in e, so its words
//! consist of runs of ones, and a block in which no run begins or ends is full or empty. Words of
//! few runs would be near the span whatever their weight. There are none: at N = 2^16 a code has on
//! average 2^-14 words of at most 250 ends of runs, and 2^-4 of at most 1,000, five for each block
//! (tested below, from the code's weight enumerators).
//!
//! That makes t = 174 for ones, 578 for 58 bits, 588 for 61, 597 for 64, 603 for 66, 609 for 68,
//! 622 for 72, 647 for 80 and 796 for 128. Published code takes 128 to 248 for all of them: it does
//! not count the 2^b sums of planes.

use crate::Security;

/// ω: a bound on the distance, over N, of the words of the row space that can be found from those
/// that fill whole blocks.
pub const PSEUDO_DISTANCE: f64 = 0.20;

/// N is a multiple of this: codes compress to whole blocks of 32.
pub const LEN_UNIT: usize = 64;

/// The smallest N: below it, blocks are so short that their structure would matter.
pub const MIN_LEN: usize = 1 << 16;

/// The values at the noise points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseValues {
    /// 1 in all of them.
    Ones,
    /// Elements drawn uniformly from a vector space over GF(2).
    Uniform {
        /// b: its dimension.
        bits: u32,
    },
}

/// Returns t: the fewest noise points that keep all linear tests under 2^-κ.
pub fn noise_points(values: NoiseValues) -> usize {
    let security = f64::from(Security::COMPUTATIONAL_BITS);
    let (demanded, bits_a_point) = match values {
        NoiseValues::Ones => (security, -(1.0 - 2.0 * PSEUDO_DISTANCE).log2()),
        NoiseValues::Uniform { bits } => {
            (security + f64::from(bits), -(1.0 - PSEUDO_DISTANCE).log2())
        }
    };
    (demanded / bits_a_point).ceil() as usize
}

/// Regular noise, laid out so that each block is the leaves of a tree: 2^depth nodes of
/// `fanout` leaves each.
///
/// The blocks have length fanout·2^depth with fanout from 5 to 8. They have the longest such length
/// for which [`noise_points`] blocks fit into the positions asked for, and there are as many blocks
/// as cover these: up to a quarter more than needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegularNoise {
    points: usize,
    depth: u32,
    fanout: usize,
}

impl RegularNoise {
    /// The most leaves of a node, and a power of two.
    pub const MAX_FANOUT: usize = 8;

    /// Returns noise over `len` positions, or a few more: at least [`MIN_LEN`], and a multiple of
    /// [`LEN_UNIT`].
    pub fn new(len: usize, values: NoiseValues) -> Self {
        let len = len.max(MIN_LEN);
        let longest = len / noise_points(values);
        // 4·2^depth < longest ≤ 8·2^depth, except for rounding.
        let depth = (longest / (Self::MAX_FANOUT / 2 + 1)).ilog2();
        let fanout = (longest >> depth).min(Self::MAX_FANOUT);
        let unit = LEN_UNIT >> depth.min(LEN_UNIT.ilog2());
        Self {
            points: len.div_ceil(fanout << depth).next_multiple_of(unit),
            depth,
            fanout,
        }
    }

    /// Returns N, the number of positions.
    pub fn positions(self) -> usize {
        self.points * self.block_len()
    }

    /// Returns t, the number of noise points and of blocks.
    pub fn points(self) -> usize {
        self.points
    }

    /// Returns the number of positions of a block.
    pub fn block_len(self) -> usize {
        self.fanout << self.depth
    }

    /// Returns log2 of the nodes whose children are the positions of a block.
    pub fn depth(self) -> usize {
        self.depth as usize
    }

    /// Returns the number of positions under each of these nodes: 5 to 8.
    pub fn fanout(self) -> usize {
        self.fanout
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        binomial::{self, ln_choose},
        ln_sum::LnSum,
    };
    use proptest::prelude::*;
    use std::f64::consts::LN_2;

    /// dim B.
    const BITS: [u32; 8] = [58, 61, 64, 66, 68, 72, 80, 128];

    #[test]
    fn points() {
        assert_eq!(noise_points(NoiseValues::Ones), 174);
        let uniform = BITS.map(|bits| noise_points(NoiseValues::Uniform { bits }));
        assert_eq!(uniform, [578, 588, 597, 603, 609, 622, 647, 796]);
    }

    /// A row of a systematic form: N/2 uniform bits, and a one among the rest.
    #[test]
    fn rows_are_heavier_than_the_pseudo_distance() {
        let len = MIN_LEN as f64;
        let lucky = binomial::tail(MIN_LEN as u32 / 2, (0.235 * len) as u32);
        assert!(lucky.log2() < -64.0, "{lucky}");
        assert!(0.235 * len - 500.0 > PSEUDO_DISTANCE * len);
    }

    /// Returns ln E(e^(−s·d)) for the distance d = min(w, L − w) of a block of length L, w of whose
    /// bits are ones, from an empty or a full one: `random` bits are, and the others are zero.
    fn ln_moment(s: f64, block_len: usize, random: usize) -> f64 {
        let of_weight = |ones: usize| {
            let distance = ones.min(block_len - ones) as f64;
            ln_choose(random as f64, ones as f64) - random as f64 * LN_2 - s * distance
        };
        LnSum::of((0..=random).map(of_weight)).ln()
    }

    /// Checks the rows with any blocks filled up: of the code together with these, which leaves t
    /// fewer random bits.
    #[test]
    fn rows_are_farther_from_full_blocks_than_the_pseudo_distance() {
        // Any s gives a bound (Chernoff). These give about the best.
        for (values, distance, s) in [
            (NoiseValues::Ones, 0.228, 0.145),
            (NoiseValues::Uniform { bits: 4 }, 0.220, 0.15),
            (NoiseValues::Uniform { bits: 64 }, 0.216, 0.16),
            (NoiseValues::Uniform { bits: 72 }, 0.215, 0.16),
            (NoiseValues::Uniform { bits: 80 }, 0.215, 0.16),
            (NoiseValues::Uniform { bits: 128 }, 0.213, 0.165),
        ] {
            let noise = RegularNoise::new(MIN_LEN, values);
            let (len, block_len) = (noise.positions() as f64, noise.block_len());
            let random = len / 2.0 - noise.points() as f64;
            // However many of the random bits a block has: they cannot do more than to fill it.
            let full = ln_moment(s, block_len, block_len) / block_len as f64;
            for bits in 0..=block_len {
                assert!(ln_moment(s, block_len, bits) <= full * bits as f64 + 1e-9);
            }
            let lucky = (full * random + s * distance * len) / LN_2;
            assert!(lucky < -64.0, "2^{lucky} for {values:?}");
            assert!(distance * len - 500.0 > 1.02 * PSEUDO_DISTANCE * len);
        }
    }

    /// In longer ones random bits deviate less from one half.
    #[test]
    fn blocks_are_shortest_in_the_shortest_code() {
        for values in [NoiseValues::Ones, NoiseValues::Uniform { bits: 128 }] {
            let block_len = |len| RegularNoise::new(len, values).block_len();
            let shortest = block_len(MIN_LEN);
            assert!((MIN_LEN..4 * MIN_LEN).all(|len| block_len(len) >= shortest));
        }
    }

    /// Returns Π |1 − 2ω_i|.
    fn bias_of_ones(filled: &[f64]) -> f64 {
        filled.iter().map(|part| (1.0 - 2.0 * part).abs()).product()
    }

    #[test]
    fn full_blocks_hide_nothing() {
        let mut filled = vec![0.0; 174];
        filled[..35].fill(1.0);
        let weight = filled.iter().sum::<f64>() / 174.0;
        assert!(weight > PSEUDO_DISTANCE);
        assert_eq!(bias_of_ones(&filled), 1.0);
    }

    /// Bounds the number of words with at most this many differences that the first accumulation
    /// makes, in the mean over all codes: words of weight h of the blocks of 32 + 32 (x, and z =
    /// R^T·x), permuted and accumulated. (Accumulators: Divsalar, Jin and McEliece, Allerton 1998.)
    #[test]
    fn words_have_many_runs() {
        const LONGEST: usize = 400;
        let blocks = MIN_LEN / 64;
        // Σ_a C(32, a)·C(32, i − a)/2^32 for a > 0: words of weight i of a block.
        let of_block = |i: usize| -> f64 {
            let choose = |n: usize, k: usize| ln_choose(n as f64, k as f64).exp();
            let parts = (1.max(i.saturating_sub(32))..=i.min(32))
                .map(|a| choose(32, a) * choose(32, i - a));
            parts.sum::<f64>() / 32_f64.exp2()
        };
        let of_block: Vec<f64> = (0..=64)
            .map(|i| if i == 0 { 1.0 } else { of_block(i) })
            .collect();
        // Its power: words of weight h of all blocks.
        let mut words = vec![1.0];
        for h in 1..=LONGEST {
            let summand = |i: usize| {
                let factor = (i * (blocks + 1)) as f64 - h as f64;
                factor * of_block[i] * words[h - i]
            };
            words.push((1..=h.min(64)).map(summand).sum::<f64>() / h as f64);
        }
        let len = MIN_LEN as f64;
        let expected = |most: usize| {
            let made = |h: usize, weight: usize| {
                let (runs, weight) = (h.div_ceil(2) as f64, weight as f64);
                let gaps = ln_choose(len - weight, (h / 2) as f64);
                (gaps + ln_choose(weight - 1.0, runs - 1.0) - ln_choose(len, h as f64)).exp()
            };
            let of_weight = |h: usize| {
                let shares = (h.div_ceil(2)..=most).map(|weight| made(h, weight));
                words[h] * shares.sum::<f64>()
            };
            (1..=LONGEST).map(of_weight).sum::<f64>().log2()
        };
        assert!(expected(250) < -13.9, "{}", expected(250));
        assert!(expected(1000) < -4.0, "{}", expected(1000));
    }

    /// Shortening: half of the positions hold all points but as many as there are planes.
    #[test]
    fn interleaved_decoding_is_out_of_reach() {
        for bits in BITS {
            let points = noise_points(NoiseValues::Uniform { bits });
            let lucky = binomial::tail(points as u32, bits + 1);
            assert!(lucky.log2() < -200.0, "{lucky} for {bits} bits");
        }
    }

    /// With all sums of planes: Σ_w C(t, w)·2^(b-t)·(1 − 2ω)^w = 2^b·(1 − ω)^t.
    #[test]
    fn biases_of_sums_of_planes_add_up_as_the_docs_say() {
        let (points, bits) = (40, 7);
        let mut choose = 1.0;
        let mut sum = 0.0;
        for survivors in 0..=points {
            sum += choose * (1.0 - 2.0 * PSEUDO_DISTANCE).powi(survivors);
            choose *= f64::from(points - survivors) / f64::from(survivors + 1);
        }
        let biases = sum * f64::from(bits - points).exp2();
        let bound = f64::from(bits).exp2() * (1.0 - PSEUDO_DISTANCE).powi(points);
        assert!((biases / bound - 1.0).abs() < 1e-9);
    }

    #[test]
    fn short_noise_is_as_long_as_the_shortest() {
        let values = NoiseValues::Ones;
        assert_eq!(
            RegularNoise::new(0, values),
            RegularNoise::new(MIN_LEN, values)
        );
    }

    proptest! {
        #[test]
        fn biases_shrink_where_words_are_uneven(filled in prop::collection::vec(0.0..=1.0, 1..50)) {
            let points = filled.len() as i32;
            let mean = |of: fn(f64) -> f64| {
                filled.iter().map(|part| of(*part)).sum::<f64>() / f64::from(points)
            };
            let distance = mean(|part| part.min(1.0 - part));
            let bound = (1.0 - 2.0 * distance).powi(points);
            prop_assert!(bias_of_ones(&filled) <= bound * (1.0 + 1e-9));
            let missed: f64 = filled.iter().map(|part| 1.0 - part).product();
            let bound = (1.0 - mean(|part| part)).powi(points);
            prop_assert!(missed <= bound * (1.0 + 1e-9));
        }

        #[test]
        fn blocks_cover_the_length(
            len in (16.0..28.5f64).prop_map(|log2| log2.exp2() as usize),
            values in prop::sample::select(vec![
                NoiseValues::Ones,
                NoiseValues::Uniform { bits: 64 },
                NoiseValues::Uniform { bits: 80 },
                NoiseValues::Uniform { bits: 128 },
            ]),
        ) {
            let noise = RegularNoise::new(len, values);
            let needed = noise_points(values);
            prop_assert!((5..=8).contains(&noise.fanout()));
            prop_assert!(noise.block_len() == noise.fanout() << noise.depth());
            prop_assert!(needed * noise.block_len() <= len, "enough blocks lie within");
            prop_assert!(noise.positions() >= len && noise.positions().is_multiple_of(LEN_UNIT));
            prop_assert!(noise.positions() < len + 4 * noise.block_len(), "not many more");
            prop_assert!(noise.points() <= needed * 5 / 4 + 4);
        }
    }
}
