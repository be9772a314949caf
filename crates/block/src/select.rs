//! Sums of rows that bits select: the product of a bit vector and a matrix over GF(2).

use crate::{
    Block,
    cpu::{self, multiversion},
};

/// Rows that one selector picks from.
pub const ROWS: usize = Block::BITS;

/// Bits of a selector that are looked up together, in a table of all sums of as many rows (the
/// method of the four Russians).
const STEP: usize = 4;

/// Words that are added at once.
const PART: usize = 8;

type Part = [u64; PART];

/// Computes `sums[i]` = Σ `rows[j]` over the bits j of `selectors[i]`, where rows and sums have
/// `row_words` words and follow each other. The places that are looked up depend on the selectors.
///
/// # Panics
/// If there are not [`ROWS`] rows, or not as many sums as selectors, or rows are not whole groups
/// of eight words.
pub fn sums(row_words: usize, rows: &[u64], selectors: &[Block], sums: &mut [u64]) {
    assert!(row_words.is_multiple_of(PART), "rows of whole parts");
    assert_eq!(rows.len(), ROWS * row_words, "a row for each bit");
    assert_eq!(
        selectors.len() * row_words,
        sums.len(),
        "a sum for each selector"
    );
    on_backend(cpu::best(), row_words, rows, selectors, sums);
}

multiversion! {
    fn on_backend(row_words: usize, rows: &[u64], selectors: &[Block], sums: &mut [u64])
    portable all(row_words, rows, selectors, sums, add_portable);
    avx2 all(row_words, rows, selectors, sums, |a, b| x86::add_avx2(a, b));
    avx512 all(row_words, rows, selectors, sums, |a, b| x86::add_avx512(a, b));
}

#[inline(always)]
fn all(
    row_words: usize,
    rows: &[u64],
    selectors: &[Block],
    sums: &mut [u64],
    add: impl Fn(&mut Part, &Part),
) {
    for first in (0..row_words).step_by(PART) {
        let mut tables = [[[0; PART]; 1 << STEP]; ROWS / STEP];
        for (table, rows) in (tables.iter_mut()).zip(rows.chunks_exact(STEP * row_words)) {
            for (bit, row) in rows.chunks_exact(row_words).enumerate() {
                let part = row[first..].first_chunk().expect("whole parts");
                let (without, with) = table.split_at_mut(1 << bit);
                for (with, without) in with.iter_mut().zip(without) {
                    *with = *without;
                    add(with, part);
                }
            }
        }
        for (sum, selector) in sums.chunks_exact_mut(row_words).zip(selectors) {
            let mut total = [0; PART];
            let mut bits = selector.0;
            for table in &tables {
                add(&mut total, &table[bits as usize % (1 << STEP)]);
                bits >>= STEP;
            }
            sum[first..first + PART].copy_from_slice(&total);
        }
    }
}

#[inline(always)]
fn add_portable(a: &mut Part, b: &Part) {
    for (a, b) in a.iter_mut().zip(b) {
        *a ^= b;
    }
}

/// The kernel in vectors: the compiler does not find them.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Part;

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add_avx512(a: &mut Part, b: &Part) {
        *a = bytemuck::cast(_mm512_xor_si512(bytemuck::cast(*a), bytemuck::cast(*b)));
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn add_avx2(a: &mut Part, b: &Part) {
        let (a, _) = a.as_chunks_mut::<4>();
        for (a, b) in a.iter_mut().zip(b.as_chunks::<4>().0) {
            *a = bytemuck::cast(_mm256_xor_si256(bytemuck::cast(*a), bytemuck::cast(*b)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prg;

    fn check<const WORDS: usize>() {
        let mut prg = Prg::from_seed(Block(WORDS as u128));
        let rows: Vec<[u64; WORDS]> = (0..ROWS)
            .map(|_| [(); WORDS].map(|()| u64::from_le_bytes(prg.bytes())))
            .collect();
        let selectors = [Block::ZERO, Block(1 << 127), Block::ONES, prg.block()];
        for backend in cpu::available() {
            let mut sums = [[1; WORDS]; 4];
            let (flat, into) = (rows.as_flattened(), sums.as_flattened_mut());
            on_backend(backend, WORDS, flat, &selectors, into);
            for (selector, sum) in selectors.iter().zip(&sums) {
                let selected = rows.iter().zip(0..).filter(|(_, j)| selector.bit(*j));
                let expected = selected.fold([0; WORDS], |mut sum, (row, _)| {
                    sum.iter_mut().zip(row).for_each(|(sum, word)| *sum ^= word);
                    sum
                });
                assert_eq!(*sum, expected, "{backend:?}");
            }
        }
    }

    #[test]
    fn selects_by_the_definition() {
        check::<8>();
        check::<16>();
    }
}
