//! Sealing payloads under keys that are used once: encrypt, then authenticate.
//!
//! An item's key stream is BLAKE3, under a public key, of the item's key and the number of a block
//! of 64 bytes. Its first 16 bytes are a point r of GF(2^128), the next 16 a pad s, and all others
//! encrypt. The tag of a ciphertext c of l blocks of 16 bytes, the last one filled up with zeros,
//! is s + c_1·r^l + … + c_l·r: for another ciphertext of this length it is right with a probability
//! of at most l/2^128 (Carter and Wegman), whatever else is known.
//!
//! An authenticated cipher of a library would do the same. But with a key for each item it takes
//! longer than hashing one item per lane: `cargo bench -p psijoin-psi --bench payloads` has both.

use bytemuck::{cast_slice, cast_slice_mut};
use psijoin_block::{Block, blake3_rows, gf128};
use zeroize::Zeroizing;

/// Bytes of a block: what is multiplied.
const BLOCK: usize = Block::BYTES;

/// Bytes of a block of the key stream: what is hashed.
const STREAM_BLOCK: usize = 64;

/// Bytes of r and s, which the key stream begins with.
const POINT_AND_PAD: usize = 32;

/// Blocks of key streams that are hashed at a time, about: what has been in these buffers is wiped
/// afterwards.
const BATCH: usize = 64;

/// Items of a batch, at least.
const MIN_ITEMS: usize = 4;

/// Seals and opens payloads of one length.
pub(super) struct Seal {
    /// Of BLAKE3, public.
    key: [u8; 32],
    /// Bytes of a payload.
    bytes: usize,
}

/// Returns the number of bytes of a sealed payload of this length.
pub(super) fn sealed_bytes(payload_bytes: usize) -> usize {
    payload_bytes + BLOCK
}

impl Seal {
    pub(super) fn new(key: [u8; 32], bytes: usize) -> Self {
        Self { key, bytes }
    }

    /// Appends the payloads of items with these keys, sealed, to a message.
    pub(super) fn seal<'p>(
        &self,
        keys: &[u128],
        payload: impl Fn(usize) -> &'p [u8],
        message: &mut Vec<u8>,
    ) {
        message.reserve(keys.len() * sealed_bytes(self.bytes));
        self.for_each_batch(keys, |first, batch| {
            batch.put(|item| payload(first + item));
            batch.add_streams();
            batch.authenticate();
            for (_, ciphertext, tag) in batch.items() {
                message.extend_from_slice(ciphertext);
                message.extend_from_slice(&tag.to_le_bytes());
            }
        });
    }

    /// Appends the payloads of items with these keys to `opened`, and returns whether all are what
    /// was sealed. Whatever they are, that takes the same time.
    pub(super) fn open<'s>(
        &self,
        keys: &[u128],
        sealed: impl Fn(usize) -> &'s [u8],
        opened: &mut Vec<u8>,
    ) -> bool {
        opened.reserve(keys.len() * self.bytes);
        let mut difference = 0;
        self.for_each_batch(keys, |first, batch| {
            batch.put(|item| &sealed(first + item)[..self.bytes]);
            batch.authenticate();
            batch.add_streams();
            for (item, payload, tag) in batch.items() {
                let sent = &sealed(first + item)[self.bytes..];
                let sent = sent.first_chunk().expect("a tag is behind each payload");
                difference |= tag ^ u128::from_le_bytes(*sent);
                opened.extend_from_slice(payload);
            }
        });
        difference == 0
    }

    /// Gives the items to `work`, some at a time, with the number of the first.
    fn for_each_batch(&self, keys: &[u128], mut work: impl FnMut(usize, &mut Batch)) {
        let blocks = (POINT_AND_PAD + self.bytes).div_ceil(STREAM_BLOCK);
        let at_once = (BATCH / blocks).max(MIN_ITEMS);
        let mut batch = Batch::new(self.bytes, blocks, at_once.min(keys.len()));
        for (first, keys) in (0..).step_by(at_once).zip(keys.chunks(at_once)) {
            batch.begin(&self.key, keys);
            work(first, &mut batch);
        }
    }
}

/// Some items at a time: their key streams, their texts, and what comes of these.
struct Batch {
    /// Bytes of a text.
    bytes: usize,
    /// Blocks of a key stream that are hashed.
    stream_blocks: usize,
    /// The hash's input.
    rows: Zeroizing<Vec<[u64; 3]>>,
    streams: Zeroizing<Vec<[Block; STREAM_BLOCK / BLOCK]>>,
    /// Payloads or ciphertexts, each filled up with zeros to whole blocks.
    texts: Zeroizing<Vec<Block>>,
    /// r of each item.
    points: Zeroizing<Vec<Block>>,
    tags: Vec<Block>,
}

impl Batch {
    /// Makes buffers for up to this many items.
    fn new(bytes: usize, stream_blocks: usize, items: usize) -> Self {
        let text_blocks = items * bytes.div_ceil(BLOCK);
        Self {
            bytes,
            stream_blocks,
            rows: Zeroizing::new(Vec::with_capacity(items * stream_blocks)),
            streams: Zeroizing::new(vec![Default::default(); items * stream_blocks]),
            texts: Zeroizing::new(vec![Block::ZERO; text_blocks]),
            points: Zeroizing::new(vec![Block::ZERO; items]),
            tags: vec![Block::ZERO; items],
        }
    }

    /// Computes the key streams of items with these keys.
    fn begin(&mut self, key: &[u8; 32], keys: &[u128]) {
        let text_blocks = keys.len() * self.text_blocks();
        self.rows.clear();
        for key in keys {
            let [low, high] = [*key as u64, (*key >> 64) as u64];
            let blocks = 0..self.stream_blocks as u64;
            self.rows.extend(blocks.map(|block| [low, high, block]));
        }
        self.streams.truncate(self.rows.len());
        self.texts.truncate(text_blocks);
        self.points.truncate(keys.len());
        self.tags.truncate(keys.len());
        let streams: &mut [[u64; STREAM_BLOCK / 8]] = cast_slice_mut(&mut self.streams);
        blake3_rows::keyed_hash(key, &self.rows, streams);
    }

    /// Blocks of a text.
    fn text_blocks(&self) -> usize {
        self.bytes.div_ceil(BLOCK)
    }

    /// Returns the blocks of an item's key stream.
    fn stream(&self, item: usize) -> &[Block] {
        self.streams[item * self.stream_blocks..][..self.stream_blocks].as_flattened()
    }

    /// Sets the text of each item.
    fn put<'t>(&mut self, text: impl Fn(usize) -> &'t [u8]) {
        let filled = BLOCK * self.text_blocks();
        let texts: &mut [u8] = cast_slice_mut(&mut self.texts);
        for item in 0..self.tags.len() {
            texts[item * filled..][..self.bytes].copy_from_slice(text(item));
        }
    }

    /// Encrypts the texts, or decrypts them.
    fn add_streams(&mut self) {
        let (blocks, filling) = (self.text_blocks(), BLOCK * self.text_blocks() - self.bytes);
        let rest = u128::MAX.checked_shr(8 * filling as u32).unwrap_or(0);
        for item in 0..self.tags.len() {
            let text = &mut self.texts[item * blocks..][..blocks];
            let stream = self.streams[item * self.stream_blocks..].as_flattened();
            for (block, pad) in text.iter_mut().zip(&stream[POINT_AND_PAD / BLOCK..]) {
                *block ^= *pad;
            }
            if let Some(last) = text.last_mut() {
                last.0 &= rest;
            }
        }
    }

    /// Computes the tags of the texts, which are encrypted.
    fn authenticate(&mut self) {
        for item in 0..self.tags.len() {
            self.points[item] = self.stream(item)[0];
        }
        gf128::evaluate(&self.texts, &self.points, &mut self.tags);
        for item in 0..self.tags.len() {
            let pad = self.stream(item)[1];
            self.tags[item] ^= pad;
        }
    }

    /// Returns the number, the text and the tag of each item.
    fn items(&self) -> impl Iterator<Item = (usize, &[u8], u128)> {
        let (filled, texts) = (BLOCK * self.text_blocks(), cast_slice(&self.texts));
        let item = move |(item, tag): (usize, &Block)| {
            let text: &[u8] = &texts[item * filled..][..self.bytes];
            (item, text, tag.0)
        };
        self.tags.iter().enumerate().map(item)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use proptest::prelude::*;

    use super::*;

    const KEY: [u8; 32] = [3; 32];

    fn sealed(outputs: &[u128], payloads: &[u8], bytes: usize) -> Vec<u8> {
        let mut message = Vec::new();
        Seal::new(KEY, bytes).seal(outputs, |i| &payloads[i * bytes..][..bytes], &mut message);
        message
    }

    fn opened(outputs: &[u128], sealed: &[u8], bytes: usize) -> (bool, Vec<u8>) {
        let length = sealed_bytes(bytes);
        let mut opened = Vec::new();
        let seal = Seal::new(KEY, bytes);
        let right = seal.open(outputs, |i| &sealed[i * length..][..length], &mut opened);
        (right, opened)
    }

    fn payloads(items: usize, bytes: usize) -> Vec<u8> {
        (0..items * bytes).map(|i| (i * 7) as u8).collect()
    }

    fn outputs(items: usize) -> Vec<u128> {
        (1..=items as u128)
            .map(|i| i * 0x1234_5678_9abc_def1)
            .collect()
    }

    #[test]
    fn what_is_sealed_is_opened() {
        for bytes in [0, 1, 15, 16, 17, 31, 32, 33, 95, 96, 97, 4096] {
            for items in [0, 1, 5, 300] {
                let (outputs, payloads) = (outputs(items), payloads(items, bytes));
                let sealed = sealed(&outputs, &payloads, bytes);
                assert_eq!(sealed.len(), items * (bytes + 16));
                let expected = (true, payloads);
                assert_eq!(opened(&outputs, &sealed, bytes), expected);
            }
        }
    }

    /// Computes it as the header describes, with the `blake3` crate and one product after the
    /// other.
    #[test]
    fn it_is_what_the_header_says() {
        let (bytes, output) = (50, 0x0123_4567_89ab_cdef_u128 << 60);
        let block = |number: u64| {
            let row = [&output.to_le_bytes()[..], &number.to_le_bytes()].concat();
            let mut hasher = blake3::Hasher::new_keyed(&KEY);
            hasher.update(&row);
            let mut block = [0; STREAM_BLOCK];
            hasher.finalize_xof().fill(&mut block);
            block
        };
        let stream = [block(0), block(1)].concat();
        let payload = payloads(1, bytes);
        let ciphertext: Vec<u8> = (payload.iter().zip(&stream[32..]))
            .map(|(byte, pad)| byte ^ pad)
            .collect();
        let element = |bytes: &[u8]| Block(u128::from_le_bytes(bytes.try_into().unwrap()));
        let (r, s) = (element(&stream[..16]), element(&stream[16..32]));
        let power = |exponent| (1..exponent).fold(r, |power, _| gf128::multiply(power, r));
        let mut filled = ciphertext.clone();
        filled.resize(64, 0);
        let tag = (filled.chunks(16).zip([4, 3, 2, 1])).fold(s, |tag, (c, exponent)| {
            tag ^ gf128::multiply(element(c), power(exponent))
        });
        let expected = [&ciphertext[..], &tag.0.to_le_bytes()].concat();
        assert_eq!(sealed(&[output], &payload, bytes), expected);
    }

    proptest! {
        #[test]
        fn any_changed_bit_is_noticed(bytes in 0..70_usize, item in 0..5_usize, bit in any::<prop::sample::Index>()) {
            let (outputs, payloads) = (outputs(5), payloads(5, bytes));
            let mut sealed = sealed(&outputs, &payloads, bytes);
            let length = sealed_bytes(bytes);
            let bit = bit.index(8 * length);
            sealed[item * length + bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!opened(&outputs, &sealed, bytes).0);
            // All others are what they were.
            let others = |items: Range<usize>| {
                let sealed = &sealed[items.start * length..items.end * length];
                let payloads = payloads[items.start * bytes..items.end * bytes].to_vec();
                opened(&outputs[items], sealed, bytes) == (true, payloads)
            };
            prop_assert!(others(0..item) && others(item + 1..5));
        }
    }

    #[test]
    fn another_output_opens_nothing() {
        let sealed = sealed(&[5], b"secret", 6);
        assert!(!opened(&[4], &sealed, 6).0);
    }
}
