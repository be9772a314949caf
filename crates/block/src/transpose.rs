//! Bit-matrix transposition: columns of an OT matrix to rows.
//!
//! The kernel works on tiles of 64 columns by 512 rows: one 512-bit vector per column, eight
//! 64 × 64-bit squares side by side, each transposed by six rounds of exchanging
//! off-diagonal squares (Eklundh; Warren, *Hacker's Delight*, §7-3).

use crate::cpu::{self, multiversion};

/// Rows are transposed in groups of this many.
pub const ROW_GROUP: usize = 512;

const SQUARE: usize = 64;
const SQUARES: usize = ROW_GROUP / SQUARE;

/// One column's share of a tile. Aligned, so that no vector straddles two cache lines.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Column([u64; SQUARES]);

type Tile = [Column; SQUARE];

/// Transposes a bit matrix.
///
/// `columns` holds the columns one after the other, each of as many bits as there are
/// rows; row r is bit r mod 64 of word r / 64. Row r of the result is `rows[r]`, in which
/// column c is bit c mod 64 of word c / 64; bits beyond the last column are set to zero.
///
/// # Panics
/// If `rows.len()` is not a multiple of [`ROW_GROUP`], if `columns` is not a whole number
/// of columns, or if a row has no room for them.
pub fn transpose<const WORDS: usize>(columns: &[u64], rows: &mut [[u64; WORDS]]) {
    transpose_flat(columns, WORDS, rows.as_flattened_mut());
}

/// As [`transpose`], for rows of `row_words` words that follow each other. The width is a value and
/// no type, so that the kernel is compiled once.
///
/// # Panics
/// As [`transpose`].
pub fn transpose_flat(columns: &[u64], row_words: usize, rows: &mut [u64]) {
    let count = rows.len() / row_words;
    assert!(
        count.is_multiple_of(ROW_GROUP) && rows.len().is_multiple_of(row_words),
        "rows come in groups of {ROW_GROUP}"
    );
    if count == 0 {
        return;
    }
    let words_per_column = count / 64;
    assert!(
        columns.len().is_multiple_of(words_per_column),
        "a column is incomplete"
    );
    assert!(
        columns.len() / words_per_column <= 64 * row_words,
        "a row is too short"
    );
    on_backend(cpu::best(), columns, row_words, rows);
}

multiversion! {
    fn on_backend(columns: &[u64], row_words: usize, rows: &mut [u64])
    portable all_tiles(columns, row_words, rows, exchange_portable);
    avx2 all_tiles(columns, row_words, rows, |a, b, size, low| x86::exchange_avx2(a, b, size, low));
    avx512 all_tiles(columns, row_words, rows, |a, b, size, low| x86::exchange_avx512(a, b, size, low));
}

#[inline(always)]
fn all_tiles(
    columns: &[u64],
    row_words: usize,
    rows: &mut [u64],
    exchange: impl Fn(&mut Column, &mut Column, u32, u64) + Copy,
) {
    let words_per_column = rows.len() / row_words / 64;
    let group_words = ROW_GROUP * row_words;
    let mut tile = [Column([0; SQUARES]); SQUARE];
    for (group, rows) in rows.chunks_exact_mut(group_words).enumerate() {
        for word in 0..row_words {
            let first = (word * SQUARE * words_per_column).min(columns.len());
            load(
                &columns[first..],
                words_per_column,
                group * SQUARES,
                &mut tile,
            );
            transpose_squares(&mut tile, exchange);
            store(&tile, word, row_words, rows);
        }
    }
}

/// Fills a tile from up to 64 columns, from word `first_word` of each on; columns that are
/// not there are zero.
#[inline(always)]
fn load(columns: &[u64], words_per_column: usize, first_word: usize, tile: &mut Tile) {
    let mut columns = columns.chunks_exact(words_per_column);
    for part in tile {
        match columns.next() {
            Some(column) => part
                .0
                .copy_from_slice(&column[first_word..first_word + SQUARES]),
            None => part.0.fill(0),
        }
    }
}

/// Writes word `word` of 512 rows.
///
/// Not compiled for wide vectors, on purpose: the compiler would use scatter instructions,
/// which measured slower than plain stores.
#[inline(never)]
fn store(tile: &Tile, word: usize, row_words: usize, rows: &mut [u64]) {
    for (square, rows) in rows.chunks_exact_mut(SQUARE * row_words).enumerate() {
        for (row, part) in rows.chunks_exact_mut(row_words).zip(tile) {
            row[word] = part.0[square];
        }
    }
}

/// Transposes the eight squares of a tile.
#[inline(always)]
fn transpose_squares(
    tile: &mut Tile,
    exchange: impl Fn(&mut Column, &mut Column, u32, u64) + Copy,
) {
    for (size, low) in [
        (32, 0x0000_0000_ffff_ffff),
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        for pair in tile.chunks_exact_mut(2 * size) {
            let (upper, lower) = pair.split_at_mut(size);
            for (a, b) in upper.iter_mut().zip(lower) {
                exchange(a, b, size as u32, low);
            }
        }
    }
}

/// Exchanges the high `size` bits of `a` with the low ones of `b`, in every group of
/// 2·`size` bits; `low` masks the low half of each group.
#[inline(always)]
fn exchange_portable(a: &mut Column, b: &mut Column, size: u32, low: u64) {
    for (a, b) in a.0.iter_mut().zip(&mut b.0) {
        let moved = ((*a >> size) ^ *b) & low;
        *b ^= moved;
        *a ^= moved << size;
    }
}

/// Transposition in vectors. Spelled out, since the compiler turns the loop above into gathers
/// and scatters.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Column;

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn exchange_avx512(a: &mut Column, b: &mut Column, size: u32, low: u64) {
        let size = _mm_cvtsi32_si128(size as i32);
        let low = _mm512_set1_epi64(low as i64);
        let (x, y): (__m512i, __m512i) = (bytemuck::cast(a.0), bytemuck::cast(b.0));
        let moved = _mm512_and_si512(_mm512_xor_si512(_mm512_srl_epi64(x, size), y), low);
        b.0 = bytemuck::cast(_mm512_xor_si512(y, moved));
        a.0 = bytemuck::cast(_mm512_xor_si512(x, _mm512_sll_epi64(moved, size)));
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn exchange_avx2(a: &mut Column, b: &mut Column, size: u32, low: u64) {
        let size = _mm_cvtsi32_si128(size as i32);
        let low = _mm256_set1_epi64x(low as i64);
        let (mut xs, mut ys): ([__m256i; 2], [__m256i; 2]) =
            (bytemuck::cast(a.0), bytemuck::cast(b.0));
        for (x, y) in xs.iter_mut().zip(&mut ys) {
            let moved = _mm256_and_si256(_mm256_xor_si256(_mm256_srl_epi64(*x, size), *y), low);
            *y = _mm256_xor_si256(*y, moved);
            *x = _mm256_xor_si256(*x, _mm256_sll_epi64(moved, size));
        }
        (a.0, b.0) = (bytemuck::cast(xs), bytemuck::cast(ys));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Prg, cpu::Backend};

    fn check<const WORDS: usize>(backend: Backend, column_count: usize, row_count: usize) {
        let mut columns = vec![0_u64; column_count * row_count / 64];
        let mut prg = Prg::from_seed(Block(column_count as u128));
        prg.fill_bytes(bytemuck::cast_slice_mut(&mut columns));
        let mut rows = vec![[u64::MAX; WORDS]; row_count];
        on_backend(backend, &columns, WORDS, rows.as_flattened_mut());
        for (r, row) in rows.iter().enumerate() {
            for c in 0..64 * WORDS {
                let expected =
                    c < column_count && columns[c * row_count / 64 + r / 64] >> (r % 64) & 1 == 1;
                assert_eq!(
                    row[c / 64] >> (c % 64) & 1 == 1,
                    expected,
                    "row {r} column {c}"
                );
            }
        }
    }

    #[test]
    fn every_backend_transposes() {
        for backend in cpu::available() {
            check::<1>(backend, 1, 512);
            check::<2>(backend, 65, 512);
            if cfg!(miri) {
                continue;
            }
            check::<2>(backend, 128, 1024);
            check::<8>(backend, 439, 512);
            check::<8>(backend, 512, 1536);
            check::<16>(backend, 540, 512);
        }
    }

    #[test]
    fn nothing_to_do() {
        transpose::<2>(&[], &mut []);
        let mut rows = [[1_u64; 2]; ROW_GROUP];
        transpose(&[], &mut rows);
        assert_eq!(rows, [[0; 2]; ROW_GROUP]);
    }

    #[test]
    #[should_panic(expected = "a row is too short")]
    fn too_many_columns() {
        transpose::<1>(&[0; 65 * 8], &mut [[0]; ROW_GROUP]);
    }
}
