//! Positions in tables, eight from each pseudorandom block.

use crate::{
    Block,
    cpu::{self, multiversion},
};

#[cfg(target_arch = "x86_64")]
mod x86;

/// Positions that a block makes.
pub const POSITIONS: usize = 8;

/// Scales the 16-bit words of each block (little endian, lowest first) to positions below
/// `range`: ⌊word·range / 2^16⌋. `rows` holds [`POSITIONS`] rows of the same length, one after the
/// other; position k of block i is written to place `first` + i of row k.
///
/// # Panics
/// If `rows` is not a whole number of rows, or they are too short.
pub fn scale(blocks: &[Block], range: u16, first: usize, rows: &mut [u16]) {
    assert!(rows.len().is_multiple_of(POSITIONS), "eight whole rows");
    let length = rows.len() / POSITIONS;
    assert!(
        first <= length && blocks.len() <= length - first,
        "a row is too short"
    );
    on_backend(cpu::best(), blocks, range, first, rows);
}

multiversion! {
    fn on_backend(blocks: &[Block], range: u16, first: usize, rows: &mut [u16])
    portable one_by_one(blocks, range, first, rows);
    avx2 in_groups(blocks, range, first, rows, |b, r| x86::group_avx2(b, r));
    avx512 in_groups(blocks, range, first, rows, |b, r| x86::group_avx512(b, r));
}

#[inline(always)]
fn one_by_one(blocks: &[Block], range: u16, first: usize, rows: &mut [u16]) {
    let length = rows.len() / POSITIONS;
    for (i, block) in blocks.iter().enumerate() {
        let words: [u16; POSITIONS] = bytemuck::cast(block.to_bytes());
        for (k, word) in words.into_iter().enumerate() {
            let scaled = u32::from(u16::from_le(word)) * u32::from(range);
            rows[k * length + first + i] = (scaled >> 16) as u16;
        }
    }
}

/// As many blocks at a time as `group` takes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn in_groups<const GROUP: usize>(
    blocks: &[Block],
    range: u16,
    mut first: usize,
    rows: &mut [u16],
    group: impl Fn(&[Block; GROUP], u16) -> [[u16; GROUP]; POSITIONS],
) {
    let length = rows.len() / POSITIONS;
    let (whole, rest) = blocks.as_chunks::<GROUP>();
    for blocks in whole {
        for (k, positions) in group(blocks, range).iter().enumerate() {
            rows[k * length + first..][..GROUP].copy_from_slice(positions);
        }
        first += GROUP;
    }
    one_by_one(rest, range, first, rows);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prg;

    #[test]
    fn every_backend_scales_words_to_rows() {
        for backend in cpu::available() {
            for (count, first, length) in [(0, 0, 0), (1, 2, 4), (16, 0, 16), (77, 5, 90)] {
                let mut blocks = vec![Block::ZERO; count];
                Prg::from_seed(Block(count as u128)).fill(&mut blocks);
                for range in [1, 3, 8192, 10_000, u16::MAX] {
                    let mut rows = vec![u16::MAX; POSITIONS * length];
                    on_backend(backend, &blocks, range, first, &mut rows);
                    for (k, row) in rows.chunks(length.max(1)).enumerate() {
                        for (i, position) in row.iter().enumerate() {
                            let block = i.checked_sub(first).and_then(|i| blocks.get(i));
                            let expected = block.map_or(u16::MAX, |block| {
                                let word = (block.0 >> (16 * k)) as u16;
                                ((u32::from(word) * u32::from(range)) >> 16) as u16
                            });
                            assert_eq!(*position, expected, "{backend:?}, {range}, {k}, {i}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "a row is too short")]
    fn too_short_rows() {
        scale(&[Block::ZERO; 3], 5, 2, &mut [0; 32]);
    }
}
