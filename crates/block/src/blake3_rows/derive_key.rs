//! Key derivation from many messages of different lengths, each at most one block.

use super::{
    BLOCK_BYTES, BLOCK_WORDS, CHUNK_END, CHUNK_START, Lanes, ROOT, compress, key_words,
    output_words, splat_all,
};
use crate::cpu::{self, multiversion};

const DERIVE_KEY_MATERIAL: u32 = 1 << 6;

/// The key that BLAKE3 in key derivation mode derives from its context string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextKey([u8; 32]);

impl ContextKey {
    /// Hashes a context string, which should be hardcoded, globally unique and specific to its use.
    pub fn new(context: &str) -> Self {
        Self(blake3::hazmat::hash_derive_key_context(context))
    }
}

/// Derives 32 bytes from each message, exactly as [`blake3::derive_key`] would.
///
/// A message is the first bytes of its block, their number in `lengths`. The block's other bytes
/// must be zero, or the output is another one.
///
/// # Panics
/// If the slices differ in length, or a message is longer than its block.
pub fn derive_key(
    context: &ContextKey,
    blocks: &[[u8; BLOCK_BYTES]],
    lengths: &[u8],
    out: &mut [[u8; 32]],
) {
    assert_eq!(blocks.len(), lengths.len(), "one length for each message");
    assert_eq!(blocks.len(), out.len(), "one output for each message");
    let longest = lengths.iter().copied().max().unwrap_or(0);
    assert!(usize::from(longest) <= BLOCK_BYTES, "at most a block");
    on_backend(cpu::best(), context, blocks, lengths, out);
}

multiversion! {
    fn on_backend(
        context: &ContextKey, blocks: &[[u8; BLOCK_BYTES]], lengths: &[u8], out: &mut [[u8; 32]],
    )
    portable all_messages::<[u32; 4], 4>(context, blocks, lengths, out);
    avx2 all_messages::<super::lanes::Avx2, 8>(context, blocks, lengths, out);
    avx512 all_messages::<super::lanes::Avx512, 16>(context, blocks, lengths, out);
}

#[inline(always)]
fn all_messages<L: Lanes<COUNT>, const COUNT: usize>(
    context: &ContextKey,
    blocks: &[[u8; BLOCK_BYTES]],
    lengths: &[u8],
    out: &mut [[u8; 32]],
) {
    let key = key_words(&context.0);
    let (groups, blocks) = blocks.as_chunks::<COUNT>();
    let (group_lengths, lengths) = lengths.as_chunks::<COUNT>();
    let (outputs, out) = out.as_chunks_mut::<COUNT>();
    for i in 0..groups.len() {
        one_group::<L, COUNT>(&key, &groups[i], &group_lengths[i], &mut outputs[i]);
    }
    if !blocks.is_empty() {
        let mut padded = [[0; BLOCK_BYTES]; COUNT];
        let mut padded_lengths = [0; COUNT];
        let mut keys = [[0; 32]; COUNT];
        padded[..blocks.len()].copy_from_slice(blocks);
        padded_lengths[..lengths.len()].copy_from_slice(lengths);
        one_group::<L, COUNT>(&key, &padded, &padded_lengths, &mut keys);
        out.copy_from_slice(&keys[..blocks.len()]);
    }
}

#[inline(always)]
fn one_group<L: Lanes<COUNT>, const COUNT: usize>(
    key: &[u32; 8],
    blocks: &[[u8; BLOCK_BYTES]; COUNT],
    lengths: &[u8; COUNT],
    out: &mut [[u8; 32]; COUNT],
) {
    let chaining = splat_all::<L, COUNT>(key);
    let (lengths, _) = L::split(&lengths.map(u64::from));
    let flags = DERIVE_KEY_MATERIAL | CHUNK_START | CHUNK_END | ROOT;
    let state = compress(&chaining, &load_block(blocks), lengths, flags);
    for pair in 0..4 {
        let bits = output_words(&chaining, &state, pair);
        for lane in 0..COUNT {
            out[lane][8 * pair..8 * pair + 8].copy_from_slice(&bits[lane].to_le_bytes());
        }
    }
}

/// Gathers the sixteen words of each message.
#[inline(always)]
fn load_block<L: Lanes<COUNT>, const COUNT: usize>(
    blocks: &[[u8; BLOCK_BYTES]; COUNT],
) -> [L; BLOCK_WORDS] {
    let mut message = [L::splat(0); BLOCK_WORDS];
    for pair in 0..BLOCK_WORDS / 2 {
        let mut bits = [0; COUNT];
        for lane in 0..COUNT {
            let (words, _) = blocks[lane].as_chunks();
            bits[lane] = u64::from_le_bytes(words[pair]);
        }
        (message[2 * pair], message[2 * pair + 1]) = L::split(&bits);
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Prg};

    const CONTEXT: &str = "psijoin test of key derivation";

    /// Messages whose lengths go through 0..=64 again and again, from `first` on.
    fn check(first: usize, count: usize) {
        let mut prg = Prg::from_seed(Block((first * 1000 + count) as u128));
        let lengths: Vec<u8> = (first..).map(|i| (i % 65) as u8).take(count).collect();
        let message = |&length: &u8| {
            let mut block: [u8; BLOCK_BYTES] = prg.bytes();
            block[length.into()..].fill(0);
            block
        };
        let blocks: Vec<_> = lengths.iter().map(message).collect();
        for backend in cpu::available() {
            let mut out = vec![[0; 32]; count];
            on_backend(
                backend,
                &ContextKey::new(CONTEXT),
                &blocks,
                &lengths,
                &mut out,
            );
            for ((block, &length), out) in blocks.iter().zip(&lengths).zip(&out) {
                let expected = blake3::derive_key(CONTEXT, &block[..length.into()]);
                assert_eq!(
                    *out, expected,
                    "{backend:?}, {length} bytes of {count} messages"
                );
            }
        }
    }

    #[test]
    fn agrees_with_the_blake3_crate() {
        if cfg!(miri) {
            return check(60, 7);
        }
        check(0, 65);
        for count in [0, 1, 3, 4, 15, 16, 17, 50] {
            check(13, count);
        }
        check(64, 1);
    }

    #[test]
    #[should_panic(expected = "at most a block")]
    fn longer_messages_are_refused() {
        let mut out = [[0; 32]];
        derive_key(&ContextKey::new(CONTEXT), &[[0; 64]], &[65], &mut out);
    }
}
