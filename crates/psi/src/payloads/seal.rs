//! Sealing payloads under keys that are used once: encrypt, then authenticate.
//!
//! An item's key stream is BLAKE3, under a public key, of F(x) and the number of a block of 64 bytes. Its first 16 bytes are a
//! point r of GF(2^128), the next 16 a pad s, and all others encrypt. The tag of a ciphertext c of l blocks of 16
//! bytes, the last one filled up with zeros, is s + c_1·r^l + … + c_l·r: for another ciphertext of this length it is right
//! with a probability of at most l/2^128 (Carter and Wegman), whatever else is known.
//!
//! An authenticated cipher of a library would do the same. But with a key for each item it takes longer than hashing one
//! item per lane: `cargo bench -p psijoin-psi --bench payloads` has both.

use psijoin_block::{Block, blake3_rows, gf128};
use zeroize::Zeroizing;

/// Bytes of a tag.
const TAG: usize = 16;

/// Bytes of a block of the key stream.
const BLOCK: usize = 64;

/// Bytes of r and s, which the key stream begins with.
const POINT_AND_PAD: usize = 32;

/// Blocks that are hashed at a time, about.
const BATCH: usize = 256;

/// Seals and opens payloads of one length.
pub(super) struct Seal {
    /// Of BLAKE3, public.
    key: [u8; 32],
    /// Bytes of a payload.
    bytes: usize,
}

/// Bytes of a sealed payload of this length.
pub(super) fn sealed_bytes(payload_bytes: usize) -> usize {
    payload_bytes + TAG
}

impl Seal {
    pub(super) fn new(key: [u8; 32], bytes: usize) -> Self {
        Self { key, bytes }
    }

    /// Appends the payloads of items with these outputs, sealed, to a message.
    pub(super) fn seal<'p>(
        &self,
        outputs: &[u128],
        payload: impl Fn(usize) -> &'p [u8],
        message: &mut Vec<u8>,
    ) {
        message.reserve(outputs.len() * sealed_bytes(self.bytes));
        self.for_each_stream(outputs, |item, stream| {
            let start = message.len();
            message.extend_from_slice(payload(item));
            add(&mut message[start..], stream);
            let tag = tag(stream, &message[start..]);
            message.extend(tag.to_le_bytes());
        });
    }

    /// Appends the payloads of items with these outputs to `opened`, and returns which of them are what was sealed; the
    /// others are left out.
    pub(super) fn open<'s>(
        &self,
        outputs: &[u128],
        sealed: impl Fn(usize) -> &'s [u8],
        opened: &mut Vec<u8>,
    ) -> Vec<bool> {
        let mut is_right = Vec::with_capacity(outputs.len());
        self.for_each_stream(outputs, |item, stream| {
            let (bytes, sent) = sealed(item).split_at(self.bytes);
            let right = tag(stream, bytes).to_le_bytes() == *sent;
            if right {
                let start = opened.len();
                opened.extend_from_slice(bytes);
                add(&mut opened[start..], stream);
            }
            is_right.push(right);
        });
        is_right
    }

    /// Gives the key stream of each item to `each`, with its number.
    fn for_each_stream(&self, outputs: &[u128], mut each: impl FnMut(usize, &[u8])) {
        let blocks = (POINT_AND_PAD + self.bytes).div_ceil(BLOCK);
        let at_once = (BATCH / blocks).max(1);
        let mut rows = Zeroizing::new(Vec::with_capacity(at_once * blocks));
        let mut streams = Zeroizing::new(vec![[0_u64; BLOCK / 8]; at_once * blocks]);
        for (first, outputs) in (0..).step_by(at_once).zip(outputs.chunks(at_once)) {
            rows.clear();
            for output in outputs {
                let [low, high] = [*output as u64, (*output >> 64) as u64];
                rows.extend((0..blocks as u64).map(|block| [low, high, block]));
            }
            let streams = &mut streams[..rows.len()];
            blake3_rows::keyed_hash(&self.key, &rows, streams);
            for (item, stream) in streams.chunks_exact(blocks).enumerate() {
                each(first + item, bytemuck::cast_slice(stream));
            }
        }
    }
}

/// Adds the pad of a key stream to a payload.
fn add(payload: &mut [u8], stream: &[u8]) {
    for (byte, pad) in payload.iter_mut().zip(&stream[POINT_AND_PAD..]) {
        *byte ^= pad;
    }
}

/// The tag of a ciphertext, given its key stream.
fn tag(stream: &[u8], ciphertext: &[u8]) -> u128 {
    let [point, pad] = [0, 16].map(|start| block(&stream[start..start + 16]));
    let sum = (ciphertext.chunks(16)).fold(Block(0), |sum, bytes| {
        gf128::multiply(sum ^ Block(block(bytes)), Block(point))
    });
    sum.0 ^ pad
}

/// Up to 16 bytes as a block.
fn block(bytes: &[u8]) -> u128 {
    let mut whole = [0; 16];
    whole[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: [u8; 32] = [3; 32];

    fn sealed(outputs: &[u128], payloads: &[u8], bytes: usize) -> Vec<u8> {
        let mut message = Vec::new();
        Seal::new(KEY, bytes).seal(outputs, |i| &payloads[i * bytes..][..bytes], &mut message);
        message
    }

    fn opened(outputs: &[u128], sealed: &[u8], bytes: usize) -> (Vec<bool>, Vec<u8>) {
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
                let expected = (vec![true; items], payloads);
                assert_eq!(opened(&outputs, &sealed, bytes), expected);
            }
        }
    }

    /// As the header says it, with the `blake3` crate and one product after the other.
    #[test]
    fn it_is_what_the_header_says() {
        let (bytes, output) = (50, 0x0123_4567_89ab_cdef_u128 << 60);
        let block = |number: u64| {
            let row = [&output.to_le_bytes()[..], &number.to_le_bytes()].concat();
            let mut hasher = blake3::Hasher::new_keyed(&KEY);
            hasher.update(&row);
            let mut block = [0; BLOCK];
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
            let (right, rest) = opened(&outputs, &sealed, bytes);
            prop_assert!(right.iter().enumerate().all(|(i, right)| *right == (i != item)));
            let mut left = payloads;
            left.drain(item * bytes..(item + 1) * bytes);
            prop_assert_eq!(rest, left);
        }
    }

    #[test]
    fn another_output_opens_nothing() {
        let sealed = sealed(&[5], b"secret", 6);
        assert_eq!(opened(&[4], &sealed, 6), (vec![false], Vec::new()));
    }
}
