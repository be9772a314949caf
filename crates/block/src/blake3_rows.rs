//! BLAKE3 of many short rows at once.
//!
//! Every row is hashed on its own, in BLAKE3's keyed mode, exactly as the `blake3` crate
//! would ([`keyed_hash`] = `blake3::keyed_hash(key, row)`, cut or extended to the asked
//! length), but with one row in each SIMD lane. That makes a random oracle, PRF or
//! pseudorandom code of a few words as cheap as a handful of AES calls. The `blake3` crate
//! has this kernel for whole chunks of *one* input only.
//!
//! [`derive_key`] does the same for short messages of different lengths, in BLAKE3's key
//! derivation mode.
//!
//! Source: the BLAKE3 specification (O'Connor, Aumasson, Neves, Wilcox-O'Hearn, 2020), §2.

#![expect(
    clippy::needless_range_loop,
    reason = "iterators would be compiled for each pair of lengths, and be most of the code"
)]

use crate::cpu::{self, multiversion};

pub use derive_key::{ContextKey, derive_key};
use lanes::Lanes;

mod derive_key;
mod lanes;

/// The longest row, in 64-bit words: one chunk of BLAKE3.
pub const MAX_ROW_WORDS: usize = 128;
/// The longest output, in 64-bit words: one block of BLAKE3's extendable output.
pub const MAX_OUTPUT_WORDS: usize = 8;

const BLOCK_WORDS: usize = 16;
const BLOCK_BYTES: usize = 64;

const IV: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];
const PERMUTATION: [usize; BLOCK_WORDS] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const ROUNDS: usize = 7;

/// The order in which each round takes the message words.
const SCHEDULE: [[usize; BLOCK_WORDS]; ROUNDS] = {
    let mut schedule = [[0; BLOCK_WORDS]; ROUNDS];
    let mut word = 0;
    while word < BLOCK_WORDS {
        schedule[0][word] = word;
        word += 1;
    }
    let mut round = 1;
    while round < ROUNDS {
        let mut word = 0;
        while word < BLOCK_WORDS {
            schedule[round][word] = schedule[round - 1][PERMUTATION[word]];
            word += 1;
        }
        round += 1;
    }
    schedule
};

const CHUNK_START: u32 = 1 << 0;
const CHUNK_END: u32 = 1 << 1;
const ROOT: u32 = 1 << 3;
const KEYED_HASH: u32 = 1 << 4;

/// Hashes each of `rows` (words little endian) under `key` into the first `OUT` words of
/// BLAKE3's extendable output.
///
/// # Panics
/// If the slices differ in length. Rows longer than [`MAX_ROW_WORDS`] and outputs longer
/// than [`MAX_OUTPUT_WORDS`] do not compile.
pub fn keyed_hash<const ROW: usize, const OUT: usize>(
    key: &[u8; 32],
    rows: &[[u64; ROW]],
    out: &mut [[u64; OUT]],
) {
    const { assert!(ROW <= MAX_ROW_WORDS && OUT <= MAX_OUTPUT_WORDS) };
    assert_eq!(rows.len(), out.len(), "one output for each row");
    on_backend(cpu::best(), key, rows, out);
}

multiversion! {
    fn on_backend<const ROW: usize, const OUT: usize>(
        key: &[u8; 32], rows: &[[u64; ROW]], out: &mut [[u64; OUT]],
    )
    portable all_rows::<[u32; 4], 4, ROW, OUT>(key, rows, out);
    avx2 all_rows::<lanes::Avx2, 8, ROW, OUT>(key, rows, out);
    avx512 all_rows::<lanes::Avx512, 16, ROW, OUT>(key, rows, out);
}

#[inline(always)]
fn all_rows<L: Lanes<COUNT>, const COUNT: usize, const ROW: usize, const OUT: usize>(
    key: &[u8; 32],
    rows: &[[u64; ROW]],
    out: &mut [[u64; OUT]],
) {
    let key = key_words(key);
    let (groups, rows) = rows.as_chunks::<COUNT>();
    let (outputs, out) = out.as_chunks_mut::<COUNT>();
    for i in 0..groups.len() {
        one_group::<L, COUNT, ROW, OUT>(&key, &groups[i], &mut outputs[i]);
    }
    if !rows.is_empty() {
        let mut padded = [[0; ROW]; COUNT];
        let mut hashes = [[0; OUT]; COUNT];
        padded[..rows.len()].copy_from_slice(rows);
        one_group::<L, COUNT, ROW, OUT>(&key, &padded, &mut hashes);
        out.copy_from_slice(&hashes[..rows.len()]);
    }
}

fn key_words(key: &[u8; 32]) -> [u32; 8] {
    std::array::from_fn(|i| {
        u32::from_le_bytes(key[4 * i..4 * i + 4].try_into().expect("four bytes"))
    })
}

#[inline(always)]
fn one_group<L: Lanes<COUNT>, const COUNT: usize, const ROW: usize, const OUT: usize>(
    key: &[u32; 8],
    rows: &[[u64; ROW]; COUNT],
    out: &mut [[u64; OUT]; COUNT],
) {
    let mut chaining = splat_all::<L, COUNT>(key);
    let block_count = (8 * ROW).div_ceil(BLOCK_BYTES).max(1);
    for block in 0..block_count {
        let last = block + 1 == block_count;
        let block_bytes = if last {
            8 * ROW - block * BLOCK_BYTES
        } else {
            BLOCK_BYTES
        };
        let start_flag = if block == 0 { CHUNK_START } else { 0 };
        let end_flags = if last { CHUNK_END | ROOT } else { 0 };
        let message = load_block(rows, block * BLOCK_WORDS / 2);
        let flags = KEYED_HASH | start_flag | end_flags;
        let state = compress(&chaining, &message, L::splat(block_bytes as u32), flags);
        if last {
            store(&chaining, &state, out);
        } else {
            chaining = chained(&state);
        }
    }
}

#[inline(always)]
fn splat_all<L: Lanes<COUNT>, const COUNT: usize>(key: &[u32; 8]) -> [L; 8] {
    std::array::from_fn(|i| L::splat(key[i]))
}

/// Returns what goes from a block to the next.
#[inline(always)]
fn chained<L: Lanes<COUNT>, const COUNT: usize>(state: &[L; BLOCK_WORDS]) -> [L; 8] {
    std::array::from_fn(|i| state[i].xor(state[i + 8]))
}

/// Gathers the sixteen message words of one block, from word `first` of each row on.
#[inline(always)]
fn load_block<L: Lanes<COUNT>, const COUNT: usize, const ROW: usize>(
    rows: &[[u64; ROW]; COUNT],
    first: usize,
) -> [L; BLOCK_WORDS] {
    let mut message = [L::splat(0); BLOCK_WORDS];
    for word in 0..(ROW - first).min(BLOCK_WORDS / 2) {
        let mut bits = [0; COUNT];
        for lane in 0..COUNT {
            bits[lane] = rows[lane][first + word];
        }
        (message[2 * word], message[2 * word + 1]) = L::split(&bits);
    }
    message
}

/// Finishes the output block and writes its first words.
#[inline(always)]
fn store<L: Lanes<COUNT>, const COUNT: usize, const OUT: usize>(
    chaining: &[L; 8],
    state: &[L; BLOCK_WORDS],
    out: &mut [[u64; OUT]; COUNT],
) {
    for pair in 0..OUT {
        let bits = output_words(chaining, state, pair);
        for lane in 0..COUNT {
            out[lane][pair] = bits[lane];
        }
    }
}

/// Returns two words of the output block, of each row.
#[inline(always)]
fn output_words<L: Lanes<COUNT>, const COUNT: usize>(
    chaining: &[L; 8],
    state: &[L; BLOCK_WORDS],
    pair: usize,
) -> [u64; COUNT] {
    let word = |i: usize| state[i].xor(if i < 8 { state[i + 8] } else { chaining[i - 8] });
    L::join(word(2 * pair), word(2 * pair + 1))
}

/// Computes BLAKE3's compression function, before the final exclusive or.
#[inline(always)]
fn compress<L: Lanes<COUNT>, const COUNT: usize>(
    chaining: &[L; 8],
    message: &[L; BLOCK_WORDS],
    block_bytes: L,
    flags: u32,
) -> [L; BLOCK_WORDS] {
    let mut v: [L; BLOCK_WORDS] = std::array::from_fn(|i| match i {
        0..8 => chaining[i],
        8..12 => L::splat(IV[i - 8]),
        14 => block_bytes,
        15 => L::splat(flags),
        // The number of the chunk, which is the only one.
        _ => L::splat(0),
    });
    for order in &SCHEDULE {
        let m = |i: usize| message[order[i]];
        mix(&mut v, [0, 4, 8, 12], m(0), m(1));
        mix(&mut v, [1, 5, 9, 13], m(2), m(3));
        mix(&mut v, [2, 6, 10, 14], m(4), m(5));
        mix(&mut v, [3, 7, 11, 15], m(6), m(7));
        mix(&mut v, [0, 5, 10, 15], m(8), m(9));
        mix(&mut v, [1, 6, 11, 12], m(10), m(11));
        mix(&mut v, [2, 7, 8, 13], m(12), m(13));
        mix(&mut v, [3, 4, 9, 14], m(14), m(15));
    }
    v
}

/// Does the quarter round G.
#[inline(always)]
fn mix<L: Lanes<COUNT>, const COUNT: usize>(
    v: &mut [L; BLOCK_WORDS],
    [a, b, c, d]: [usize; 4],
    x: L,
    y: L,
) {
    v[a] = v[a].add(v[b]).add(x);
    v[d] = v[d].xor(v[a]).rotate_right::<16>();
    v[c] = v[c].add(v[d]);
    v[b] = v[b].xor(v[c]).rotate_right::<12>();
    v[a] = v[a].add(v[b]).add(y);
    v[d] = v[d].xor(v[a]).rotate_right::<8>();
    v[c] = v[c].add(v[d]);
    v[b] = v[b].xor(v[c]).rotate_right::<7>();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Prg};

    fn check<const ROW: usize, const OUT: usize>(count: usize) {
        let mut prg = Prg::from_seed(Block((ROW * 1000 + count) as u128));
        let key = prg.bytes();
        let rows: Vec<[u64; ROW]> = (0..count)
            .map(|_| std::array::from_fn(|_| u64::from_le_bytes(prg.bytes())))
            .collect();
        for backend in cpu::available() {
            let mut out = vec![[0; OUT]; count];
            on_backend(backend, &key, &rows, &mut out);
            for (row, out) in rows.iter().zip(&out) {
                let mut expected = [[0_u64; OUT]];
                blake3::Hasher::new_keyed(&key)
                    .update(bytemuck::cast_slice(row))
                    .finalize_xof()
                    .fill(bytemuck::cast_slice_mut(&mut expected));
                assert_eq!(*out, expected[0], "{backend:?}, {ROW} words, {count} rows");
            }
        }
    }

    #[test]
    fn agrees_with_the_blake3_crate() {
        // Miri is some thousand times slower, and only runs the portable backend.
        let counts: &[usize] = if cfg!(miri) {
            &[5]
        } else {
            &[0, 1, 3, 4, 15, 16, 17, 50]
        };
        for count in counts {
            check::<0, 4>(*count);
            check::<1, 1>(*count);
            check::<3, 8>(*count);
            check::<8, 2>(*count);
            check::<9, 2>(*count);
            check::<17, 8>(*count);
            if !cfg!(miri) {
                check::<5, 4>(*count);
                check::<16, 2>(*count);
                check::<128, 3>(*count);
            }
        }
    }
}
