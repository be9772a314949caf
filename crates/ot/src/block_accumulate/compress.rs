//! The last round, on one block.

use super::{Words, plus};

/// Elements of x and of z, and of the output.
pub(super) const BLOCK: usize = 32;

/// Bits that are looked up at once.
const NIBBLE: usize = 4;

/// Computes out = x + R·z, as many outputs as there is room for; row i of R is `rows[i]`.
///
/// By the method of four Russians: all sums of four elements of z are made once, so that a row
/// takes eight additions in place of sixteen.
pub(super) fn block<const W: usize>(
    rows: &[u32],
    x: &[Words<W>],
    z: &[Words<W>],
    out: &mut [Words<W>],
) {
    let mut sums = [[[0; W]; 1 << NIBBLE]; BLOCK / NIBBLE];
    for (sums, z) in sums.iter_mut().zip(z.chunks_exact(NIBBLE)) {
        for (bit, z) in z.iter().enumerate() {
            let (known, new) = sums.split_at_mut(1 << bit);
            for (new, known) in new.iter_mut().zip(known) {
                *new = plus(*known, z);
            }
        }
    }
    for ((out, x), row) in out.iter_mut().zip(x).zip(rows) {
        let mut sum = *x;
        for (number, sums) in sums.iter().enumerate() {
            let nibble = row >> (NIBBLE * number) & ((1 << NIBBLE) - 1);
            sum = plus(sum, &sums[nibble as usize]);
        }
        *out = sum;
    }
}
