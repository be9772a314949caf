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

/// `sums[i]` = Σ `rows[j]` over the bits j of `selectors[i]`. The places that are looked up depend
/// on the selectors.
///
/// # Panics
/// If there are not [`ROWS`] rows, or not as many sums as selectors. Rows of other than whole
/// groups of eight words do not compile.
pub fn sums<const WORDS: usize>(
    rows: &[[u64; WORDS]],
    selectors: &[Block],
    sums: &mut [[u64; WORDS]],
) {
    const { assert!(WORDS.is_multiple_of(8)) };
    assert_eq!(rows.len(), ROWS, "a row for each bit");
    assert_eq!(selectors.len(), sums.len(), "a sum for each selector");
    on_backend(cpu::best(), rows, selectors, sums);
}

multiversion! {
    fn on_backend<const WORDS: usize>(
        rows: &[[u64; WORDS]], selectors: &[Block], sums: &mut [[u64; WORDS]],
    )
    portable all(rows, selectors, sums, add_portable);
    avx2 all(rows, selectors, sums, |a, b| x86::add_avx2(a, b));
    avx512 all(rows, selectors, sums, |a, b| x86::add_avx512(a, b));
}

#[inline(always)]
fn all<const WORDS: usize>(
    rows: &[[u64; WORDS]],
    selectors: &[Block],
    sums: &mut [[u64; WORDS]],
    add: impl Fn(&mut [u64; WORDS], &[u64; WORDS]),
) {
    let mut tables = [[[0; WORDS]; 1 << STEP]; ROWS / STEP];
    for (table, rows) in tables.iter_mut().zip(rows.chunks_exact(STEP)) {
        for (bit, row) in rows.iter().enumerate() {
            let (without, with) = table.split_at_mut(1 << bit);
            for (with, without) in with.iter_mut().zip(without) {
                *with = *without;
                add(with, row);
            }
        }
    }
    for (sum, selector) in sums.iter_mut().zip(selectors) {
        let mut total = [0; WORDS];
        let mut bits = selector.0;
        for table in &tables {
            add(&mut total, &table[bits as usize % (1 << STEP)]);
            bits >>= STEP;
        }
        *sum = total;
    }
}

#[inline(always)]
fn add_portable<const WORDS: usize>(a: &mut [u64; WORDS], b: &[u64; WORDS]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a ^= b;
    }
}

/// The same in vectors: the compiler does not find them.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add_avx512<const WORDS: usize>(a: &mut [u64; WORDS], b: &[u64; WORDS]) {
        let (a, _) = a.as_chunks_mut::<8>();
        for (a, b) in a.iter_mut().zip(b.as_chunks::<8>().0) {
            *a = bytemuck::cast(_mm512_xor_si512(bytemuck::cast(*a), bytemuck::cast(*b)));
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn add_avx2<const WORDS: usize>(a: &mut [u64; WORDS], b: &[u64; WORDS]) {
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
            on_backend(backend, &rows, &selectors, &mut sums);
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
