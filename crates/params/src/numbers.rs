//! The fingerprint of an item that is a number: the number can be read back from it.
//!
//! Tables put keys into partitions by the first byte of their fingerprints. So the number is
//! scrambled: numbers in arithmetic progression fill all partitions alike.

/// The most bits of an item that is a number.
pub const MAX_BITS: u32 = u64::BITS;

/// The odd number next to 2^64 over the golden ratio: its multiples are spread well.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The inverse of [`FACTOR`], modulo 2^64.
const INVERSE: u64 = {
    // Each step of Newton's method doubles the bits that are right; three of them are at first.
    let (mut inverse, mut step) = (FACTOR, 0);
    while step < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(FACTOR.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
};

/// Returns the fingerprint of a number.
pub fn fingerprint(number: u64) -> [u8; 32] {
    let mut fingerprint = [0; 32];
    fingerprint[..8].copy_from_slice(&number.wrapping_mul(FACTOR).to_be_bytes());
    fingerprint
}

/// Returns the number that has this fingerprint, if there is one.
pub fn of_fingerprint(fingerprint: &[u8; 32]) -> Option<u64> {
    let (scrambled, rest) = fingerprint.split_first_chunk()?;
    let number = u64::from_be_bytes(*scrambled).wrapping_mul(INVERSE);
    rest.iter().all(|byte| *byte == 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_back_and_nothing_else() {
        for number in [0, 1, 255, 256, u64::MAX / 3, u64::MAX] {
            let mut fingerprint = fingerprint(number);
            assert_eq!(of_fingerprint(&fingerprint), Some(number));
            for byte in [8, 15, 16, 31] {
                fingerprint[byte] = 1;
                assert_eq!(of_fingerprint(&fingerprint), None);
                fingerprint[byte] = 0;
            }
        }
    }

    #[test]
    fn progressions_are_spread() {
        for step in [1, 2, 10, 256, 1 << 16, 1 << 24] {
            let mut counts = [0_u32; 256];
            for i in 0..1 << 14 {
                counts[usize::from(fingerprint(i * step)[0])] += 1;
            }
            // 64 in the mean.
            assert!(
                counts.iter().all(|count| *count < 160),
                "{step}: {counts:?}"
            );
        }
    }
}
