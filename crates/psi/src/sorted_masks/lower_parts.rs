//! Numbers of l bits each, one after the other. The lowest bit of a byte comes first.

/// Returns the number of bytes of `count` numbers of `bits` bits each.
pub(super) fn bytes(count: usize, bits: u32) -> usize {
    (count * bits as usize).div_ceil(8)
}

/// Appends the lowest `bits` bits of each number to an empty message, and zeros up to a whole
/// byte.
pub(super) fn pack(numbers: impl ExactSizeIterator<Item = u128>, bits: u32, message: &mut Vec<u8>) {
    let length = bytes(numbers.len(), bits);
    message.resize(length.next_multiple_of(size_of::<u64>()), 0);
    let words = message.chunks_exact_mut(size_of::<u64>());
    match bits {
        0..=64 => pack_words(numbers.map(|number| (number as u64, bits)), words),
        _ => {
            let halves = |number: u128| [(number as u64, 64), ((number >> 64) as u64, bits - 64)];
            pack_words(numbers.flat_map(halves), words);
        }
    }
    message.truncate(length);
}

/// Packs numbers into words, each given with how many of its lowest bits count.
#[inline(always)]
fn pack_words<'a>(
    numbers: impl Iterator<Item = (u64, u32)>,
    mut words: impl Iterator<Item = &'a mut [u8]>,
) {
    let (mut pending, mut pending_bits) = (0_u64, 0);
    let mut push = |word: u64| {
        if let Some(bytes) = words.next() {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    };
    for (number, bits) in numbers {
        let number = number & u64::MAX.checked_shr(64 - bits).unwrap_or(0);
        pending |= number << pending_bits;
        pending_bits += bits;
        if pending_bits >= 64 {
            push(pending);
            pending_bits -= 64;
            pending = number.checked_shr(bits - pending_bits).unwrap_or(0);
        }
    }
    push(pending);
}

/// Packed numbers.
#[derive(Clone, Copy)]
pub(super) struct LowerParts<'a> {
    message: &'a [u8],
    bits: u32,
}

/// A number of 128 bits, and up to seven bits before it.
const WINDOW_BYTES: usize = 17;

impl<'a> LowerParts<'a> {
    pub(super) fn new(message: &'a [u8], bits: u32) -> Self {
        Self { message, bits }
    }

    pub(super) fn bits(self) -> u32 {
        self.bits
    }

    /// Returns the number at `index`.
    #[inline]
    pub(super) fn get(self, index: usize) -> u128 {
        let start = index * self.bits as usize;
        let (byte, skipped) = (start / 8, start as u32 % 8);
        match self.message[byte..].first_chunk() {
            Some(window) => self.extract(window, skipped),
            None => self.extract(&self.last_window(byte), skipped),
        }
    }

    #[inline]
    fn extract(self, window: &[u8; WINDOW_BYTES], skipped: u32) -> u128 {
        let [low @ .., last] = *window;
        let mut number = u128::from_le_bytes(low) >> skipped;
        if skipped + self.bits > 128 {
            number |= u128::from(last) << (128 - skipped);
        }
        number & u128::MAX.checked_shr(128 - self.bits).unwrap_or(0)
    }

    #[cold]
    fn last_window(self, byte: usize) -> [u8; WINDOW_BYTES] {
        let mut window = [0; WINDOW_BYTES];
        let rest = &self.message[byte..];
        window[..rest.len()].copy_from_slice(rest);
        window
    }
}
