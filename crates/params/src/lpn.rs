//! Noise for dual LPN (syndrome decoding) over a binary code of rate 1/2, under silent OT and
//! VOLE.
//!
//! **Assumption.** H is the public m × N matrix over GF(2) of a block-accumulate code, N = 2m,
//! and e is *regular* noise: N positions in t blocks of equal length, one point in each, at a
//! uniform position. Then H·e looks uniform. The values at the points are all 1
//! ([`NoiseValues::Ones`]), or uniform in a field of 2^b elements, b > 1
//! ([`NoiseValues::Uniform`]); H stays binary.
//!
//! # How many points
//!
//! All known attacks on dual LPN over a code without algebraic structure are *linear tests*
//! (Boyle et al., CRYPTO 2022, ePrint 2022/1014): find a vector v in the row space of H and
//! look at ⟨v, e⟩, which H·e gives away. The fewer ones v has, the better the test. Let ω·N be
//! the weight of the lightest v that can be *found*. If it spreads over the blocks at all, the
//! chance of hitting a point is ω a block (and if unevenly, the products below only shrink:
//! the geometric mean is at most the arithmetic one).
//!
//! - **Ones**: ⟨v, e⟩ is a sum of t independent bits, each 1 with probability ω: its bias is
//!   (1 − 2ω)^t. Demanded: at most 2^-κ.
//! - **Uniform values**: ⟨v, e⟩ = 0 where v misses every point, and uniform otherwise: bias
//!   (1 − ω)^t. Moreover, since H is binary, each of the b bit planes of H·e is a syndrome of
//!   the same support, and so is each of their 2^b − 1 sums, which the attacker may choose
//!   among. A point survives in a sum with probability 1/2, so over all sums the biases
//!   (1 − 2ω)^(surviving points) add up to at most 2^b·(1 − ω)^t. Demanded: at most 2^-κ.
//!
//! The second condition also covers the decoding of interleaved codes. With t ≤ b points the
//! planes span the space of all syndromes of the support, which then falls to linear algebra
//! (Metzner and Kapturowski, 1990), however long the code. With more points an attacker
//! shortens the code: it hopes that half of the positions, those that it eliminates, hold all
//! points but b. That happens with probability P(Bin(t, 1/2) ≤ b), which a test below keeps far
//! under 2^-κ.
//!
//! # The weight that can be found
//!
//! Words of about 0.11·N (the Gilbert-Varshamov bound) exist, but are not known to be
//! findable. The rows of a systematic form of H, and sums of a few, have weight N/4; even at the
//! smallest N that is used, 2^16, none of 2^64 of them is lighter than 0.235·N (tested
//! below), and merging lists of 2^64 rows cancels at most a few hundred positions more. Beyond
//! that stands a margin for weaknesses of the code itself: **ω = 0.20** ([`PSEUDO_DISTANCE`]),
//! which is what libOTe has come to take for the code with blocks of 32 (it took 0.25 at first).
//!
//! That makes t = 174 for ones, 597 for 64 bits and 796 for 128. Published code takes 128 to
//! 248 for all of them: it does not count the 2^b sums of planes.

use crate::Security;

/// ω: a bound on the weight, over N, of the lightest word of the row space that can be found.
pub const PSEUDO_DISTANCE: f64 = 0.20;

/// N is a multiple of this: codes compress to whole blocks of 32.
pub const LEN_UNIT: usize = 64;

/// The smallest N: below it, blocks are so short that their structure would matter.
pub const MIN_LEN: usize = 1 << 16;

/// What stands at the noise points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseValues {
    /// 1 in all of them.
    Ones,
    /// Elements drawn uniformly from a field of characteristic 2.
    Uniform {
        /// b: its elements have this many bits.
        bits: u32,
    },
}

/// t: the fewest noise points that keep all linear tests under 2^-κ.
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
/// The blocks have length fanout·2^depth with fanout from 5 to 8. The longest such length of
/// which [`noise_points`] blocks fit into the positions asked for is taken, and then as many
/// blocks as cover them: up to a quarter more than needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegularNoise {
    points: usize,
    depth: u32,
    fanout: usize,
}

impl RegularNoise {
    /// The most leaves of a node, and a power of two.
    pub const MAX_FANOUT: usize = 8;

    /// Noise over `len` positions, or a few more: at least [`MIN_LEN`], and a multiple of
    /// [`LEN_UNIT`].
    pub fn new(len: usize, values: NoiseValues) -> Self {
        let len = len.max(MIN_LEN);
        let longest = len / noise_points(values);
        // 4·2^depth < longest ≤ 8·2^depth, but for rounding.
        let depth = (longest / (Self::MAX_FANOUT / 2 + 1)).ilog2();
        let fanout = (longest >> depth).min(Self::MAX_FANOUT);
        let unit = LEN_UNIT >> depth.min(LEN_UNIT.ilog2());
        Self {
            points: len.div_ceil(fanout << depth).next_multiple_of(unit),
            depth,
            fanout,
        }
    }

    /// N: positions.
    pub fn positions(self) -> usize {
        self.points * self.block_len()
    }

    /// t: noise points, and blocks.
    pub fn points(self) -> usize {
        self.points
    }

    /// Positions of a block.
    pub fn block_len(self) -> usize {
        self.fanout << self.depth
    }

    /// log2 of the nodes whose children are the positions of a block.
    pub fn depth(self) -> usize {
        self.depth as usize
    }

    /// Positions under each of these nodes: 5 to 8.
    pub fn fanout(self) -> usize {
        self.fanout
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binomial;
    use proptest::prelude::*;

    const FIELDS: [u32; 2] = [64, 128];

    #[test]
    fn points() {
        assert_eq!(noise_points(NoiseValues::Ones), 174);
        let uniform = FIELDS.map(|bits| noise_points(NoiseValues::Uniform { bits }));
        assert_eq!(uniform, [597, 796]);
    }

    /// A row of a systematic form: N/2 uniform bits, and a one among the rest.
    #[test]
    fn rows_are_heavier_than_the_pseudo_distance() {
        let len = MIN_LEN as f64;
        let lucky = binomial::tail(MIN_LEN as u32 / 2, (0.235 * len) as u32);
        assert!(lucky.log2() < -64.0, "{lucky}");
        assert!(0.235 * len - 500.0 > PSEUDO_DISTANCE * len);
    }

    /// Shortening: half of the positions hold all points but as many as there are planes.
    #[test]
    fn interleaved_decoding_is_out_of_reach() {
        for bits in FIELDS {
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
        fn blocks_cover_the_length(
            len in (16.0..28.5f64).prop_map(|log2| log2.exp2() as usize),
            values in prop::sample::select(vec![
                NoiseValues::Ones,
                NoiseValues::Uniform { bits: 64 },
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
