//! 1-out-of-256 random OT extension of Kolesnikov and Kumaresan (CRYPTO 2013), as PSZ14 (§C.3)
//! uses it: 256 columns, whatever the length of the strings.
//!
//! The receiver encodes each *letter* by the Walsh-Hadamard code: bit i of the code word of a is
//! the parity of a ∧ i. Any two of the 256 words differ in 128 places. The word of all ones also
//! differs from each of them in 128 places or more: from that of letter 0 in all 256. It is a 257th
//! letter, the [*blank*](Choice::BLANK), for OTs from which the receiver wants no string.
//!
//! 1. The sender draws Δ ∈ {0,1}^256. By 256 random OTs (IKNP, on 128 base OTs) it gets one seed
//!    of each pair of the receiver's.
//! 2. The receiver expands column i of T from its seed (i, 0) and sends
//!    u_i = T_i ⊕ G(seed (i, 1)) ⊕ C_i, where C_i is column i of the code words.
//! 3. The sender expands the seed that it has and adds Δ_i·u_i: column i of Q. So row j of Q is
//!    q_j = t_j ⊕ (C(a_j) ∧ Δ).
//! 4. The string of letter a in OT j is H(j, q_j ⊕ (C(a) ∧ Δ)); the receiver's is H(j, t_j).
//!
//! **Security.** Semi-honest. For every other letter the receiver lacks 128 bits of Δ;
//! H (keyed BLAKE3) is correlation robust for differences C(a) ∧ Δ (KK13, Definition 1).
//!
//! **Cost.** 32 bytes per OT from the receiver; before that [`setup_sender_bytes`] and
//! [`setup_receiver_bytes`] in two flights, by Diffie-Hellman.

use psijoin_block::{
    Block, Prg, blake3_rows,
    transpose::{ROW_GROUP, transpose},
};
use psijoin_channel::Channel;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::{
    BaseOts, Error,
    iknp::{self, SemiHonest},
};

#[cfg(test)]
mod tests;

/// Columns of the matrix: the length of the code words.
pub const COLUMNS: usize = 256;

/// N: how many strings an OT has.
pub const LETTERS: usize = 256;

const ROW_WORDS: usize = COLUMNS / 64;

/// A row of the matrix.
pub type Row = [u64; ROW_WORDS];

/// The input of H: a row, and its number.
pub type HashInput = [u64; ROW_WORDS + 1];

/// Returns the number of bytes that the sender sends before the first OT.
pub fn setup_sender_bytes(base: BaseOts) -> u64 {
    iknp::setup_receiver_bytes(base) + iknp::receiver_bytes::<SemiHonest>(COLUMNS)
}

/// Returns the number of bytes that the receiver sends before the first OT.
pub fn setup_receiver_bytes(base: BaseOts) -> u64 {
    iknp::setup_sender_bytes(base) + iknp::sender_bytes::<SemiHonest>(COLUMNS)
}

/// Returns the number of bytes of the receiver's message for `count` OTs.
pub const fn message_bytes(count: usize) -> usize {
    COLUMNS * count.div_ceil(8)
}

/// The receiver's choice in an OT.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Choice(u16);

impl Choice {
    /// None of the strings.
    pub const BLANK: Self = Self(1 << 8);

    /// Returns the string of this letter.
    pub fn letter(letter: u8) -> Self {
        Self(letter.into())
    }
}

/// H, under a key that both have.
pub struct Hash([u8; 32]);

impl Hash {
    /// Makes the hash with this key.
    pub fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// Computes the string of each input.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn strings(&self, inputs: &[HashInput], strings: &mut [Block]) {
        let out: &mut [[u64; 2]] = bytemuck::cast_slice_mut(strings);
        blake3_rows::keyed_hash(&self.0, inputs, out);
    }
}

/// Returns a row with its number.
#[inline]
fn numbered(row: Row, number: u64) -> HashInput {
    let [a, b, c, d] = row;
    [a, b, c, d, number]
}

/// The party with all strings.
pub struct Sender {
    secrets: Secrets,
    columns: Vec<Prg>,
}

/// Wiped when they are dropped.
#[derive(ZeroizeOnDrop)]
struct Secrets {
    delta: [Block; COLUMNS / Block::BITS],
    /// C(a) ∧ Δ for each letter a.
    differences: Vec<Row>,
}

/// The party that chooses.
pub struct Receiver {
    columns: Vec<[Prg; 2]>,
}

/// Room for the columns of a message. Wiped when it is dropped.
#[derive(Default, ZeroizeOnDrop)]
pub struct Scratch {
    columns: Vec<Block>,
    other: Vec<Block>,
    planes: Vec<Block>,
}

impl Scratch {
    /// Blocks of a column of `rows` rows.
    fn start(&mut self, rows: usize) -> usize {
        let stride = rows.next_multiple_of(ROW_GROUP) / Block::BITS;
        self.columns.resize(COLUMNS * stride, Block::ZERO);
        self.other.resize(stride, Block::ZERO);
        stride
    }

    fn write_rows(&self, rows: &mut Vec<Row>, count: usize) {
        rows.resize(count.next_multiple_of(ROW_GROUP), [0; ROW_WORDS]);
        transpose(bytemuck::cast_slice(&self.columns), rows);
        rows.truncate(count);
    }
}

/// Returns the block of each column with which rows from `first` on begin.
fn first_block(first: u64) -> u128 {
    assert!(
        first.is_multiple_of(Block::BITS as u64),
        "a message starts with a whole block"
    );
    u128::from(first) / Block::BITS as u128
}

impl Sender {
    /// Step 1; the peer calls [`Receiver::setup`].
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn setup(base: BaseOts, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        let mut ots = iknp::Receiver::<SemiHonest>::setup(base, channel, rng)?;
        let mut secrets = Secrets {
            delta: [Block::ZERO; COLUMNS / Block::BITS],
            differences: Vec::new(),
        };
        rng.fill(&mut secrets.delta);
        let mut seeds = Zeroizing::new(vec![Block::ZERO; COLUMNS]);
        ots.random(&secrets.delta, &mut seeds, channel)?;
        let columns = seeds.iter().map(|seed| Prg::from_seed(*seed)).collect();
        let delta: &[u64] = bytemuck::cast_slice(&secrets.delta);
        secrets.differences = (0..LETTERS)
            .map(|letter| {
                let word = code_word(letter as u8);
                std::array::from_fn(|i| word[i] & delta[i])
            })
            .collect();
        Ok(Self { secrets, columns })
    }

    /// Step 3 for `count` OTs from number `first` on: their rows q_j, from the receiver's
    /// message. `message` has [`message_bytes`] bytes.
    ///
    /// # Panics
    /// If `first` is not a multiple of 128, or the message has another length.
    pub fn rows(
        &self,
        first: u64,
        count: usize,
        message: &[u8],
        scratch: &mut Scratch,
        rows: &mut Vec<Row>,
    ) {
        assert_eq!(message.len(), message_bytes(count), "a whole message");
        let start = first_block(first);
        let stride = scratch.start(count);
        let sent = message.chunks_exact(count.div_ceil(8).max(1));
        for (i, ((column, prg), sent)) in (scratch.columns.chunks_exact_mut(stride.max(1)))
            .zip(&self.columns)
            .zip(sent)
            .enumerate()
        {
            prg.fill_at(start, column);
            let mask = Block::splat(self.secrets.delta[i / Block::BITS].bit(i % Block::BITS));
            bytemuck::cast_slice_mut(&mut scratch.other)[..sent.len()].copy_from_slice(sent);
            for (own, sent) in column.iter_mut().zip(&scratch.other) {
                *own ^= *sent & mask;
            }
        }
        scratch.write_rows(rows, count);
    }

    /// Returns what H makes a letter's string of, given the row and the number of the OT.
    #[inline]
    pub fn input(&self, row: &Row, letter: u8, number: u64) -> HashInput {
        let difference = &self.secrets.differences[usize::from(letter)];
        numbered(std::array::from_fn(|i| row[i] ^ difference[i]), number)
    }
}

impl Receiver {
    /// Step 1; the peer calls [`Sender::setup`].
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn setup(base: BaseOts, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        let mut ots = iknp::Sender::<SemiHonest>::setup(base, channel, rng)?;
        let mut seeds = Zeroizing::new(vec![[Block::ZERO; 2]; COLUMNS]);
        ots.random(&mut seeds, channel)?;
        let columns = seeds.iter().map(|pair| pair.map(Prg::from_seed)).collect();
        Ok(Self { columns })
    }

    /// Step 2 for the OTs from number `first` on: appends the message, and writes the rows t_j.
    ///
    /// # Panics
    /// If `first` is not a multiple of 128.
    pub fn choose(
        &self,
        first: u64,
        choices: &[Choice],
        scratch: &mut Scratch,
        message: &mut Vec<u8>,
        rows: &mut Vec<Row>,
    ) {
        let start = first_block(first);
        let stride = scratch.start(choices.len());
        write_planes(choices, stride, &mut scratch.planes);
        let column_bytes = choices.len().div_ceil(8);
        for (i, (column, [zero, one])) in (scratch.columns.chunks_exact_mut(stride.max(1)))
            .zip(&self.columns)
            .enumerate()
        {
            zero.fill_at(start, column);
            one.fill_at(start, &mut scratch.other);
            // The code words' columns: sums of bits of the letters.
            for plane in planes_of(i) {
                let plane = &scratch.planes[plane * stride..][..stride];
                add(&mut scratch.other, plane);
            }
            add(&mut scratch.other, column);
            message.extend_from_slice(&bytemuck::cast_slice(&scratch.other)[..column_bytes]);
        }
        scratch.write_rows(rows, choices.len());
    }

    /// Returns what H makes the chosen string of, given the row and the number of the OT.
    #[inline]
    pub fn input(&self, row: &Row, number: u64) -> HashInput {
        numbered(*row, number)
    }
}

fn add(to: &mut [Block], other: &[Block]) {
    to.iter_mut()
        .zip(other)
        .for_each(|(to, other)| *to ^= *other);
}

/// Returns C(a).
fn code_word(letter: u8) -> Row {
    std::array::from_fn(|word| {
        (0..64).fold(0, |bits, bit| {
            let column = (64 * word + bit) as u8;
            let parity = (letter & column).count_ones() & 1;
            bits | u64::from(parity) << bit
        })
    })
}

/// Returns the bits of a letter whose sum is bit i of its code word, and the one that marks blanks.
fn planes_of(column: usize) -> impl Iterator<Item = usize> {
    (0..8).filter(move |bit| column >> bit & 1 == 1).chain([8])
}

/// Writes bit p of every choice, for p = 0..9: nine columns of `stride` blocks.
fn write_planes(choices: &[Choice], stride: usize, planes: &mut Vec<Block>) {
    planes.clear();
    planes.resize(9 * stride, Block::ZERO);
    let words: &mut [u64] = bytemuck::cast_slice_mut(planes);
    let words_per_plane = 2 * stride;
    for (i, choices) in choices.chunks(64).enumerate() {
        let mut bits = [0_u64; 9];
        for (position, choice) in choices.iter().enumerate() {
            for (plane, bits) in bits.iter_mut().enumerate() {
                *bits |= u64::from(choice.0 >> plane & 1) << position;
            }
        }
        for (plane, bits) in bits.into_iter().enumerate() {
            words[plane * words_per_plane + i] = bits;
        }
    }
}
