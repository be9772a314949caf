//! AES-128 under one key, many blocks at a time.
//!
//! The cipher itself is RustCrypto's, which dispatches at run time to VAES, AES-NI or a
//! constant-time software version, and keeps enough blocks in flight to reach one AES round per
//! cycle.

use aes::{
    Aes128Enc,
    cipher::{Array, BlockCipherEncrypt, KeyInit},
};

use crate::Block;

/// The number of blocks that a kernel gathers before it calls the cipher: enough to hide the
/// latency of AES, few enough to stay in L1.
pub(crate) const BATCH: usize = 64;

/// An AES-128 key schedule, wiped when dropped.
#[derive(Clone)]
pub struct Aes128(Aes128Enc);

impl Aes128 {
    /// Expands `key`.
    pub fn new(key: Block) -> Self {
        Self(Aes128Enc::new(&key.to_bytes().into()))
    }

    /// Encrypts each block in place. Calls with 16 blocks or more run at full speed.
    pub fn encrypt(&self, blocks: &mut [Block]) {
        let bytes: &mut [[u8; 16]] = bytemuck::cast_slice_mut(blocks);
        self.0
            .encrypt_blocks(Array::cast_slice_from_core_mut(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fips_197_appendix_b() {
        let key = 0x2b7e1516_28aed2a6_abf71588_09cf4f3c_u128.to_be_bytes();
        let plain = 0x3243f6a8_885a308d_313198a2_e0370734_u128.to_be_bytes();
        let cipher = 0x3925841d_02dc09fb_dc118597_196a0b32_u128.to_be_bytes();
        let mut blocks = [Block::from_bytes(plain); 3];
        Aes128::new(Block::from_bytes(key)).encrypt(&mut blocks);
        assert_eq!(blocks, [Block::from_bytes(cipher); 3]);
    }
}
