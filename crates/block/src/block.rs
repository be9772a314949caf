use std::{
    fmt,
    ops::{BitAnd, BitAndAssign, BitXor, BitXorAssign},
};

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::DefaultIsZeroes;

/// 128 bits: an AES block, a key, a row of an OT matrix, an element of GF(2^128).
///
/// Bit `i` of the block is bit `i` of the integer, and byte `j` of its wire form is bits
/// `8j..8j+8` (little endian).
///
/// ```
/// use psijoin_block::Block;
///
/// let row = Block(0b1010);
/// assert!(row.bit(1) && !row.bit(0));
/// assert!((row ^ Block::ONES).bit(0));
/// assert_eq!(row.to_bytes()[0], 0b1010);
///
/// // One of two, without a branch on the bit that chooses.
/// let (left, right, choice) = (Block(3), Block(5), true);
/// assert!(left ^ (Block::splat(choice) & (left ^ right)) == right);
/// ```
#[derive(
    Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable,
)]
#[repr(transparent)]
pub struct Block(pub u128);

impl Block {
    /// Bytes of a block.
    pub const BYTES: usize = 16;
    /// Bits of a block.
    pub const BITS: usize = 128;
    /// All bits zero.
    pub const ZERO: Self = Self(0);
    /// All bits one.
    pub const ONES: Self = Self(u128::MAX);

    /// Returns the block whose wire form is `bytes`.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }

    /// Returns the wire form.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// Returns bit `index` (0 to 127).
    pub const fn bit(self, index: usize) -> bool {
        self.0 >> index & 1 == 1
    }

    /// Returns all ones if `bit`, else all zeros, without a branch.
    pub const fn splat(bit: bool) -> Self {
        Self((bit as u128).wrapping_neg())
    }
}

/// Shows nothing: a block may be a secret.
impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Block(…)")
    }
}

impl BitXor for Block {
    type Output = Self;
    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl BitXorAssign for Block {
    fn bitxor_assign(&mut self, other: Self) {
        self.0 ^= other.0;
    }
}

impl BitAnd for Block {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitAndAssign for Block {
    fn bitand_assign(&mut self, other: Self) {
        self.0 &= other.0;
    }
}

impl From<u128> for Block {
    fn from(value: u128) -> Self {
        Self(value)
    }
}

impl ConstantTimeEq for Block {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl ConditionallySelectable for Block {
    fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
        Self(u128::conditional_select(&a.0, &b.0, choice))
    }
}

impl DefaultIsZeroes for Block {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_form_is_little_endian() {
        let block = Block(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100);
        assert_eq!(block.to_bytes(), std::array::from_fn(|i| i as u8));
        assert_eq!(Block::from_bytes(block.to_bytes()), block);
        assert!(block.bit(8) && !block.bit(9));
    }

    #[test]
    fn debug_shows_no_bits() {
        assert_eq!(format!("{:?}", Block(42)), "Block(…)");
    }
}
