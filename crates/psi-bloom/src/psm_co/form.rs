//! The forms of ciphertexts: what they share, and how they differ.

use std::fmt::Debug;

use psijoin_block::{Block, Prg};
use psijoin_params::Log2Prob;
use psijoin_psi::{Error, masks::MaskLength};

/// A hash: one block masks a label, the other what comes with it.
pub(crate) type Pad = [u64; 4];

/// Both nodes after a bit, as the sender knows them.
#[derive(Clone, Copy)]
pub struct Nodes {
    /// Of "differs", and of "equal".
    pub(super) labels: [Block; 2],
    /// The place of "equal": second, or first.
    pub(super) place: bool,
}

/// The node that the receiver is at.
#[derive(Clone, Copy)]
pub struct Held {
    pub(super) label: Block,
    /// Its place, if that is known.
    pub(super) place: bool,
}

/// The form of ciphertexts: [`Tagged`](super::Tagged) or [`Pointed`](super::Pointed).
///
/// The four pads of a test and a bit are those of "equal" with the sender's bit, "equal" with the
/// other bit, and "differs" with either. On the wire, those of the first node come before those of
/// the second, and the one for 0 of a node before the one for 1.
pub trait Form: Copy + Debug + Send + Sync + 'static {
    /// Returns the form in which none of this many decryptions goes wrong, except with a
    /// probability of at most `share`.
    ///
    /// # Errors
    /// If there is none.
    fn derive(decryptions: u64, share: Log2Prob) -> Result<Self, Error>;

    /// Returns a bound on any of this many decryptions going wrong.
    fn wrong(self, decryptions: u64) -> Log2Prob;

    /// Returns the number of bits of a tag, if there are any.
    fn tag_bits(self) -> u32;

    /// Returns the number of bytes of a bit that is not the last, of this many tests.
    fn inner_bytes(self, lanes: usize) -> usize;

    /// Returns the number of bytes of the last bit, where this many bits are opened.
    fn last_bytes(self, lanes: usize, opened_bits: usize) -> usize;

    /// Returns where "equal" stands after the first bit, given the sender's.
    #[doc(hidden)]
    fn first_place(self, choice: bool, rng: &mut Prg) -> bool;

    /// Appends the ciphertexts of a bit, and moves on to the nodes after it.
    #[doc(hidden)]
    fn seal_inner(
        self,
        pads: &[[Pad; 4]],
        choices: impl Iterator<Item = bool>,
        nodes: &mut [Nodes],
        rng: &mut Prg,
        message: &mut Vec<u8>,
    );

    /// Appends the ciphertexts of the last bit: of λ0 and λ1 for each test, of this many bits.
    #[doc(hidden)]
    fn seal_last(
        self,
        pads: &[[Pad; 4]],
        choices: impl Iterator<Item = bool>,
        nodes: &[Nodes],
        opened: (&[[Block; 2]], usize),
        message: &mut Vec<u8>,
    );

    /// Moves on to the node after a bit.
    #[doc(hidden)]
    fn open_inner(
        self,
        pads: &[Pad],
        choices: impl Iterator<Item = bool>,
        held: &mut [Held],
        message: &[u8],
    );

    /// Opens λ0 or λ1, of this many bits.
    #[doc(hidden)]
    fn open_last(
        self,
        pads: &[Pad],
        choices: impl Iterator<Item = bool>,
        held: &[Held],
        message: (&[u8], usize),
        opened: &mut [Block],
    );
}

/// Returns block 0 of a pad, or block 1.
pub(super) fn block(pad: &Pad, index: usize) -> Block {
    let [low, high] = [pad[2 * index], pad[2 * index + 1]];
    Block(u128::from(low) | u128::from(high) << 64)
}

/// Returns both, the second first if `swapped`, without a branch.
pub(super) fn select(swapped: bool, [first, second]: [Block; 2]) -> [Block; 2] {
    let change = (first ^ second) & Block::splat(swapped);
    [first ^ change, second ^ change]
}

/// Returns what the four pads of a test mask, in the order of the wire.
pub(super) fn arranged(rows: [Block; 4], choice: bool, nodes: &Nodes) -> [Block; 4] {
    let [equal, other] = [[rows[0], rows[1]], [rows[2], rows[3]]].map(|pair| select(choice, pair));
    let [first, third] = select(nodes.place, [equal[0], other[0]]);
    let [second, fourth] = select(nodes.place, [equal[1], other[1]]);
    [first, second, third, fourth]
}

/// Returns the four contents of a test: λ1 for "equal" with the sender's bit, else λ0.
pub(super) fn contents([differs, equal]: [Block; 2]) -> [Block; 4] {
    [equal, differs, differs, differs]
}

/// This many bits of each, packed.
pub(super) fn packed(bits: usize) -> MaskLength {
    MaskLength { bits: bits as u32 }
}

/// Packs four of each test.
pub(super) fn pack_all(bits: usize, tests: &[[Block; 4]], message: &mut Vec<u8>) {
    let length = packed(bits);
    let all = tests.as_flattened().iter();
    length.pack(all.map(|block| length.cut(block.0)), message);
}

/// Returns four of each test.
pub(super) fn unpack_all(bits: usize, tests: usize, message: &[u8]) -> Vec<[Block; 4]> {
    let all: Vec<Block> = packed(bits).unpack(message, 4 * tests).map(Block).collect();
    all.as_chunks().0.to_vec()
}

/// Returns the one of two at a place.
pub(super) fn at(place: bool, pair: [Block; 2]) -> Block {
    select(place, pair)[0]
}
