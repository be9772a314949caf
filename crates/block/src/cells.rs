//! Bits that are read at random, spread out to one byte per bit.
//!
//! Access to a bit of a packed table costs a shift, a mask and, for a write, a dependent load.
//! Access to a cell costs a load or a store. Spreading and packing take 64 bits per instruction
//! with AVX-512, so it pays as soon as a bit is touched about once, and the cells fit the
//! first-level cache.

use crate::cpu::{self, multiversion};

#[cfg(target_arch = "x86_64")]
mod x86;

/// Cells of a table: as many as 16 bits can address, so that no address needs a check.
pub const MAX_CELLS: usize = 1 << 16;

/// Bits of a word, and so cells of a word.
const WORD: usize = 64;

/// A table of bits, one in each byte. Only the cells that are in use cost cache.
pub struct Cells(Box<[u8; MAX_CELLS]>);

impl Cells {
    /// Returns all zero.
    pub fn new() -> Self {
        let cells = vec![0; MAX_CELLS].into_boxed_slice();
        Self(cells.try_into().expect("the length of the array"))
    }

    /// Sets the first cells to these bits, lowest first.
    ///
    /// # Panics
    /// If there are more bits than cells.
    pub fn spread(&mut self, bits: &[u64]) {
        spread_on(cpu::best(), bits, &mut self.0[..WORD * bits.len()]);
    }

    /// Sets the first `count` cells to one.
    ///
    /// # Panics
    /// If there are fewer cells.
    pub fn set(&mut self, count: usize) {
        self.0[..count].fill(1);
    }

    /// Sets `bits` to the first cells.
    ///
    /// # Panics
    /// If there are more bits than cells.
    pub fn pack(&self, bits: &mut [u64]) {
        pack_on(cpu::best(), &self.0[..WORD * bits.len()], bits);
    }

    /// Sets `bits` to the cells at `positions`, the first in the lowest bit; bits without a
    /// position become zero.
    ///
    /// # Panics
    /// If there are fewer bits than positions.
    pub fn read(&self, positions: &[u16], bits: &mut [u64]) {
        for_each_word(positions, bits, |position| self.0[usize::from(position)]);
    }

    /// As [`read`](Self::read), and sets the cells of `other` at the same positions to zero.
    ///
    /// # Panics
    /// If there are fewer bits than positions.
    pub fn read_and_clear(&self, other: &mut Self, positions: &[u16], bits: &mut [u64]) {
        for_each_word(positions, bits, |position| {
            other.0[usize::from(position)] = 0;
            self.0[usize::from(position)]
        });
    }
}

impl Default for Cells {
    fn default() -> Self {
        Self::new()
    }
}

/// Packs the cells that `cell` looks up.
///
/// Not compiled for wide vectors, on purpose: the compiler would use gather instructions.
#[inline(always)]
fn for_each_word(positions: &[u16], bits: &mut [u64], mut cell: impl FnMut(u16) -> u8) {
    assert!(
        positions.len() <= WORD * bits.len(),
        "a bit for each position"
    );
    // Doubling and adding is one instruction; the first position is added last.
    let mut word = |positions: &[u16]| {
        (positions.iter().rev()).fold(0, |word, position| 2 * word + u64::from(cell(*position)))
    };
    let (whole, rest) = positions.as_chunks::<WORD>();
    let (filled, empty) = bits.split_at_mut(whole.len());
    for (bits, positions) in filled.iter_mut().zip(whole) {
        *bits = word(positions);
    }
    empty.fill(0);
    if let Some(bits) = empty.first_mut() {
        *bits = word(rest);
    }
}

multiversion! {
    fn spread_on(bits: &[u64], cells: &mut [u8])
    portable spread_portable(bits, cells);
    avx2 spread_portable(bits, cells);
    avx512 x86::spread_avx512(bits, cells);
}

multiversion! {
    fn pack_on(cells: &[u8], bits: &mut [u64])
    portable pack_portable(cells, bits);
    avx2 pack_portable(cells, bits);
    avx512 x86::pack_avx512(cells, bits);
}

/// The lowest bit of each byte.
const LOWEST: u64 = 0x0101_0101_0101_0101;

/// Spreads eight bits to eight cells at a time.
#[inline(always)]
fn spread_portable(bits: &[u64], cells: &mut [u8]) {
    let bytes: &[u8] = bytemuck::cast_slice(bits);
    for (byte, cells) in bytes.iter().zip(cells.as_chunks_mut::<8>().0) {
        // Bit i in byte i, and then in its highest bit.
        let selected = (u64::from(*byte) * LOWEST) & 0x8040_2010_0804_0201;
        let highest = (selected + 0x7f * LOWEST) | selected;
        *cells = (highest >> 7 & LOWEST).to_le_bytes();
    }
}

#[inline(always)]
fn pack_portable(cells: &[u8], bits: &mut [u64]) {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(bits);
    for (byte, cells) in bytes.iter_mut().zip(cells.as_chunks::<8>().0) {
        // Byte i is added to the topmost byte at bit i.
        let cells = u64::from_le_bytes(*cells);
        *byte = (cells.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Prg};

    fn random(words: usize) -> Vec<u64> {
        let mut bits = vec![0; words];
        Prg::from_seed(Block(words as u128)).fill_bytes(bytemuck::cast_slice_mut(&mut bits));
        bits
    }

    fn bit(bits: &[u64], i: usize) -> u8 {
        (bits[i / WORD] >> (i % WORD) & 1) as u8
    }

    #[test]
    fn every_backend_spreads_and_packs() {
        for backend in cpu::available() {
            for words in [0, 1, 2, 3, 17] {
                let bits = random(words);
                let mut cells = vec![9; WORD * words];
                spread_on(backend, &bits, &mut cells);
                assert!((0..WORD * words).all(|i| cells[i] == bit(&bits, i)));
                let mut packed = vec![7; words];
                pack_on(backend, &cells, &mut packed);
                assert_eq!(packed, bits, "{backend:?}");
            }
        }
    }

    #[test]
    fn reads_what_stands_at_the_positions_and_clears_it_elsewhere() {
        let bits = random(4);
        let mut cells = Cells::new();
        cells.spread(&bits);
        for count in [0, 1, 63, 64, 65, 200] {
            let positions: Vec<u16> = (0..count).map(|i| (i * i + 5) % 256).collect();
            let mut read = [3; 5];
            cells.read(&positions, &mut read);
            for i in 0..WORD * read.len() {
                let expected = positions
                    .get(i)
                    .map_or(0, |at| bit(&bits, usize::from(*at)));
                assert_eq!(bit(&read, i), expected, "{count} positions, {i}");
            }

            let (mut other, mut again) = (Cells::default(), [4; 5]);
            other.set(256);
            cells.read_and_clear(&mut other, &positions, &mut again);
            assert_eq!(again, read);
            let mut left = [0; 4];
            other.pack(&mut left);
            assert!((0..256).all(|i| (bit(&left, i) == 0) == positions.contains(&(i as u16))));
        }
    }

    #[test]
    #[should_panic(expected = "a bit for each position")]
    fn too_few_bits() {
        Cells::new().read(&[0; 65], &mut [0]);
    }
}
