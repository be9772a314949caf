//! Coefficients on the wire: w bits for each half of an element, without gaps.

use psijoin_block::gf2k::{Element, Field};

/// Returns the number of bytes of `count` coefficients.
pub(crate) fn packed_bytes(field_bits: u32, count: usize) -> usize {
    (2 * field_bits as usize * count).div_ceil(8)
}

/// Appends coefficients, the lowest bit of a byte first.
pub(crate) fn pack<'a>(
    field: &Field,
    coefficients: impl Iterator<Item = &'a Element>,
    message: &mut Vec<u8>,
) {
    let (mut pending, mut pending_bits) = (0_u128, 0);
    for coefficient in coefficients {
        for word in field.to_words(*coefficient) {
            pending |= u128::from(word) << pending_bits;
            pending_bits += field.bits();
            if pending_bits >= 64 {
                message.extend_from_slice(&(pending as u64).to_le_bytes());
                pending >>= 64;
                pending_bits -= 64;
            }
        }
    }
    let rest = pending_bits.div_ceil(8) as usize;
    message.extend_from_slice(&pending.to_le_bytes()[..rest]);
}

/// Returns the coefficients of a message that has [as many
/// bytes](super::Extension::coefficient_bytes) as they take.
pub(crate) fn unpack<'a>(
    field: &Field,
    message: &[u8],
    coefficients: impl Iterator<Item = &'a mut Element>,
) {
    let (mut pending, mut pending_bits) = (0_u128, 0);
    let mut rest = message;
    for coefficient in coefficients {
        let words = [(); 2].map(|()| {
            if pending_bits < field.bits() {
                let (word, bits) = next_word(&mut rest);
                pending |= u128::from(word) << pending_bits;
                pending_bits += bits;
            }
            let word = pending as u64;
            pending >>= field.bits();
            pending_bits = pending_bits.saturating_sub(field.bits());
            word
        });
        // The bits above the width belong to the next word, and are ignored.
        *coefficient = field.from_words(words);
    }
}

/// Returns up to eight bytes more, and the number of their bits.
#[inline]
fn next_word(rest: &mut &[u8]) -> (u64, u32) {
    if let Some((word, after)) = rest.split_first_chunk::<8>() {
        *rest = after;
        return (u64::from_le_bytes(*word), 64);
    }
    let mut word = [0; 8];
    word[..rest.len()].copy_from_slice(rest);
    let bits = 8 * rest.len() as u32;
    *rest = &[];
    (u64::from_le_bytes(word), bits)
}

#[cfg(test)]
mod tests {
    use psijoin_block::{Block, Prg};

    use super::*;

    #[test]
    fn coefficients_come_back_at_every_width_and_length() {
        for bits in Field::widths() {
            let field = Field::new(bits);
            let mut prg = Prg::from_seed(Block(bits.into()));
            for count in [0, 1, 2, 3, 4, 7, 41, 164] {
                let sent: Vec<Element> = (0..count)
                    .map(|_| field.from_words([(); 2].map(|()| u64::from_le_bytes(prg.bytes()))))
                    .collect();
                let mut message = vec![7];
                pack(&field, sent.iter(), &mut message);
                assert_eq!(message.len(), 1 + packed_bytes(bits, count));
                let mut received = vec![Element::ZERO; count];
                unpack(&field, &message[1..], received.iter_mut());
                for (sent, received) in sent.iter().zip(&received) {
                    assert_eq!(field.to_words(*sent), field.to_words(*received));
                }
            }
        }
    }
}
