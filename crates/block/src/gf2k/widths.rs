//! The moduli of all widths. Found by factoring x^d + r for all short r; the tests check them.

/// A width and its moduli; bit i is the coefficient of x^i.
pub(super) struct Width {
    /// w.
    pub(super) bits: u32,
    /// d, at most 63 for even w: the twist needs a bit.
    pub(super) ring_bits: u32,
    /// r.
    pub(super) fold: u64,
    /// m, irreducible.
    pub(super) modulus: u64,
    /// c = (x^d + r)/m.
    pub(super) cofactor: u64,
}

/// All of them, ascending. (There is none of 61 or 62 bits with d up to 64.)
pub(super) const WIDTHS: &[Width] = &[
    width(48, 54, 0x75, 0x1_96f5_1383_2deb, 0x7b),
    width(49, 51, 0xd, 0x2_aaaa_aaaa_aaa9, 0x5),
    width(50, 56, 0xbb, 0x7_92a6_845b_f5c5, 0x67),
    width(51, 54, 0xb, 0xc_cccc_cccc_cccd, 0xf),
    width(52, 53, 0x1, 0x1f_ffff_ffff_ffff, 0x3),
    width(53, 57, 0x1d, 0x28_a28a_28a2_8a29, 0x15),
    width(54, 60, 0xaf, 0x7e_acdd_a4e2_f28f, 0x61),
    width(55, 57, 0x7, 0xaa_aaaa_aaaa_aaab, 0x5),
    width(56, 62, 0x7d, 0x19c_8339_0672_0ce5, 0x79),
    width(57, 60, 0x1b, 0x2e5_cb97_2e5c_b971, 0xb),
    width(58, 59, 0x1, 0x7ff_ffff_ffff_ffff, 0x3),
    width(59, 62, 0xd, 0x924_9249_2492_4925, 0x9),
    width(60, 61, 0x1, 0x1fff_ffff_ffff_ffff, 0x3),
    width(63, 63, 0x3, 0x8000_0000_0000_0003, 0x1),
];

const fn width(bits: u32, ring_bits: u32, fold: u64, modulus: u64, cofactor: u64) -> Width {
    Width {
        bits,
        ring_bits,
        fold,
        modulus,
        cofactor,
    }
}
