//! Distributed point functions whose point and values are shared: sums per point, which neither
//! party can attribute.
//!
//! **Functionality.** In each *lane* the parties share, by XOR, a bit b and a point α below P, and
//! additively modulo 2^64 some values. They get additive shares of the sum of each value over the
//! lanes with b = 1 and α = g, for every point g. A lane with b = 0 counts nowhere, and its point
//! and values may be anything.
//!
//! **Source.** Boyle, Gilboa and Ishai (CCS 2016) for the function; Doerner and shelat, *Scaling
//! ORAM for Secure Computation* (CCS 2017), for making both keys jointly in a domain that both
//! expand; Guo, Yang, Wang, Zhang, Xie, Liu and Zhao, *Half-Tree* (EUROCRYPT 2023), for trees over
//! one correlation Δ.
//!
//! Δ is the XOR of Δ of either party, those of correlated OTs in both directions, with lowest bit
//! 1: that of the sender's is cleared. In each lane both parties grow a tree. A node of one party
//! equals the other's, unless it is on the path to the lane's point: there they differ by Δ. The
//! lowest bit t of a node so is a share of whether it is on the path. With k = ⌈log2 P⌉:
//!
//! *Offline.* 1 + k correlated OTs of random choices per lane in either direction, and an OT of
//! each for the products of step 5.
//!
//! *Online.*
//! 1. The OTs are turned to the party's share of b. Then both have shares of b·Δ.
//! 2. Their hashes multiply b by the bits of α, as shares p_1, …, p_k, the highest first. The other
//!    OTs are turned to these, which gives shares of p_j·Δ.
//! 3. There are three nodes on the first level: the *sink* (1 ⊕ b)·Δ, to which lanes with b = 0
//!    lead, the left node (b ⊕ p_1)·Δ and the right node p_1·Δ. No message is needed.
//! 4. For each further level j, the parties open C = (1 ⊕ p_j)·Δ ⊕ Σ H(x) over both parties' nodes
//!    x. All nodes off the path cancel out. A node x has the left child H(x) ⊕ t·C, and the right
//!    child is the left one ⊕ x. The sink has a left child only.
//! 5. A leaf is hashed to a word per value. R is the difference of the parties' sums over all
//!    leaves, that of their words on the path; it hides a value v. They open D = ±(v − R), with the
//!    sign of the difference of their t on the path. Modulo 4 that is the difference of their
//!    numbers of ones, so both have a share of whether it is negative, and products of it with
//!    their shares of v − R by OT (`products`).
//! 6. A leaf's share of the function is ±(word + t·D): + for the sender, − for the receiver. Each
//!    adds up its shares over all lanes.
//!
//! **Deviations.** The first level comes from OTs, without a correction. Lanes with b = 0 lead to
//! the sink, so that nothing is multiplied by b but the bits of α, a value may be known or constant
//! (so it counts), and no leaf is needed beyond P. Trees are grown again for each level, from their
//! roots, so that memory does not depend on P, at twice the AES calls.
//!
//! **Security.** Semi-honest. Of the peer's nodes a party knows those off the path, which are its
//! own, and those on the path up to Δ, 127 bits of which are secret. H is circular correlation
//! robust in the random-permutation model ([`crhf::circular`](psijoin_block::crhf::circular)), so C
//! is uniform to it, as H of one node on the path is its mask. That holds as long as nodes on paths
//! are distinct over all lanes, levels and the trees of silent OT under the same Δ, which may share
//! H: they are pseudorandom, so two of N are equal with probability N²/2^129, below 2^-80 for 2^20
//! lanes of 16 levels. Like the advantage of p computed permutations, about p·N/2^127, that belongs
//! to the computational assumption and takes no part of the failure budget: it does not make the
//! result wrong. No leaf is hashed elsewhere, so R is uniform, and D hides v and the sign. If a
//! leaf has more than two words, they are hashes of H of the leaf, none of which tells another.
//!
//! Every lane does the same, whatever its point: no branch and no index depends on a share.
//!
//! **Cost** per lane: 1 + 2k bits and (k − 1)·128 bits from either party for the path, and
//! 1 + 64·v + 64·v bits for v values; k + 6 flights. Either party calls AES about 6·P times for up
//! to two values.

mod paths;
mod tree;

use psijoin_block::{Block, Prg};
use psijoin_channel::Channel;
use psijoin_circuit::Bits;
use psijoin_psi::{BaseOts, Conversation, Error, Role};
use zeroize::Zeroizing;

use crate::products::{self, Multiplier, WHOLE};
use paths::Paths;
use tree::Tree;

/// Bytes that travel together: 64 KiB.
const BYTES_PER_MESSAGE: usize = 1 << 16;

/// The sizes of the functions, which both parties know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The number of lanes.
    pub lanes: usize,
    /// P, the number of points: 1 to [`MAX_POINTS`](Self::MAX_POINTS).
    pub points: usize,
    /// The number of values in a lane, 1 at least.
    pub values: usize,
}

impl Shape {
    /// The most points of a function.
    pub const MAX_POINTS: usize = 1 << 10;

    /// Returns k, the number of bits of a point.
    fn depth(self) -> usize {
        assert!((1..=Self::MAX_POINTS).contains(&self.points), "some points");
        assert!(self.values > 0, "a value");
        self.points.next_power_of_two().ilog2().max(1) as usize
    }

    /// Returns what is said offline and online.
    ///
    /// # Panics
    /// If there are no points, or too many, or no values.
    pub fn conversations(self, base: BaseOts) -> [Conversation; 2] {
        let Self { lanes, values, .. } = self;
        let [offline, online] = paths::conversations(self, base);
        let blocks = (lanes * Block::BYTES) as u64;
        let corrected = (1..self.depth()).fold(online, |talk, _| talk.both(blocks, blocks));
        let words = (lanes * values * size_of::<u64>()) as u64;
        let extension = products::extension(base);
        let [offline, online] = GIVERS
            .into_iter()
            .fold([offline, corrected], |talk, giver| {
                let [before, after] =
                    products::conversations(extension, giver, lanes, &vec![WHOLE; values]);
                let [offline, online] = talk;
                [offline.then(before), online.then(after)]
            });
        [offline, online.both(words, words)]
    }
}

/// Both parties have shares of the values, in the order of their products.
const GIVERS: [Role; 2] = [Role::Receiver, Role::Sender];

/// One party, after the offline phase.
pub struct Dpf {
    shape: Shape,
    role: Role,
    paths: Paths,
    multipliers: Vec<Multiplier>,
}

/// A party's shares of the lanes.
pub struct Points<'a> {
    /// Of b, by XOR.
    pub selected: &'a Bits,
    /// Of the point, by XOR. Bits beyond those of a point are ignored.
    pub points: &'a [u16],
    /// Of each value, additively: a list of one number per lane.
    pub values: Vec<Vec<u64>>,
}

impl Dpf {
    /// Prepares functions of this shape. The peer calls this too, in the other role: the two are
    /// alike but for the order in which they speak.
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid public key.
    ///
    /// # Panics
    /// If there are no points, or too many, or no values.
    pub fn prepare(
        shape: Shape,
        role: Role,
        base: BaseOts,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let paths = Paths::prepare(shape, role, base, channel, rng)?;
        let givers = GIVERS.into_iter();
        let multipliers = Multiplier::prepare(givers, shape.lanes, base, role, channel, rng)?;
        Ok(Self {
            shape,
            role,
            paths,
            multipliers,
        })
    }

    /// Returns the party's shares of the sums of each value, point by point.
    ///
    /// A point that is not below the number of points, in a lane with b = 1, breaks the privacy of
    /// the lane: both parties vouch for theirs.
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If the shares do not have the shape that was prepared.
    pub fn add_up(self, lanes: Points<'_>, channel: &mut Channel) -> Result<Vec<Vec<u64>>, Error> {
        let Self {
            shape,
            role,
            paths,
            multipliers,
        } = self;
        let values = lanes.values;
        assert_eq!(values.len(), shape.values, "a list for each value");
        assert!(values.iter().all(|list| list.len() == shape.lanes));
        // Steps 1 and 2.
        let shares = paths.turn(lanes.selected, lanes.points, channel)?;
        // Step 3.
        let mut tree = Tree::new(shape, shares);
        // Step 4.
        while !tree.is_grown() {
            let own = tree.correction();
            let correction = opened(&own, |a, b| *a ^= *b, channel)?;
            tree.correct(correction);
        }
        // Step 5.
        let mut grown = tree.leaves();
        let differences = grown.differences(role, values);
        let negative = grown.negative(role);
        let factors = differences.to_vec();
        let widths = vec![WHOLE; shape.values];
        let widths = [&widths[..]; 2];
        let products = products::multiply(multipliers, &negative, factors, widths, channel)?;
        let own = signed(&differences, &Zeroizing::new(products));
        let opened = opened(&own, |a, b| *a = a.wrapping_add(*b), channel)?;
        // Step 6.
        Ok(grown.add_up(role, &opened))
    }
}

/// Returns shares of w, or of −w where the bit is one, list by list, from shares of w and of the
/// products of the bit with w.
fn signed(numbers: &[Vec<u64>], products: &[Vec<u64>]) -> Zeroizing<Vec<u64>> {
    let pairs = (numbers.iter().flatten()).zip(products.iter().flatten());
    let signed = pairs.map(|(w, product)| w.wrapping_sub(product.wrapping_mul(2)));
    Zeroizing::new(signed.collect())
}

/// Returns what both parties open: `add` adds the other's share to one's own.
fn opened<T: bytemuck::Pod>(
    own: &[T],
    add: fn(&mut T, &T),
    channel: &mut Channel,
) -> Result<Vec<T>, Error> {
    let mut theirs = vec![T::zeroed(); own.len()];
    exchange(
        bytemuck::cast_slice(own),
        bytemuck::cast_slice_mut(&mut theirs),
        channel,
    )?;
    theirs
        .iter_mut()
        .zip(own)
        .for_each(|(sum, own)| add(sum, own));
    Ok(theirs)
}

/// Sends bytes, and receives as many at the same time.
fn exchange(own: &[u8], theirs: &mut [u8], channel: &mut Channel) -> Result<(), Error> {
    channel.exchange(
        |outbound| {
            let mut parts = own.chunks(BYTES_PER_MESSAGE);
            parts.try_for_each(|part| outbound.send(part))
        },
        |inbound| {
            let mut parts = theirs.chunks_mut(BYTES_PER_MESSAGE);
            parts.try_for_each(|part| inbound.recv(part))
        },
    )?;
    Ok(())
}

#[cfg(test)]
mod tests;
