//! The constants of RFC 9496 §4.1 and the curve's 2d, as field elements.

use super::{LIMB_BITS, LIMB_MASK};

/// A field element that all lanes share.
#[derive(Clone, Copy)]
pub(crate) struct Constant {
    /// Limbs of the number below p.
    pub(super) canonical: [u64; 5],
    /// Limbs with |limb| ≤ 2^50 + 1.
    pub(super) balanced: [f64; 5],
}

impl Constant {
    pub(crate) const ZERO: Self = Self::new([0, 0, 0, 0, 0]);

    pub(crate) const ONE: Self = Self::new([1, 0, 0, 0, 0]);

    /// d = −121665/121666, the curve's coefficient.
    pub(crate) const D: Self = Self::new([
        0x34dca135978a3,
        0x1a8283b156ebd,
        0x5e7a26001c029,
        0x739c663a03cbb,
        0x52036cee2b6ff,
    ]);

    /// 2d.
    pub(crate) const TWO_D: Self = Self::new([
        0x69b9426b2f159,
        0x35050762add7a,
        0x3cf44c0038052,
        0x6738cc7407977,
        0x2406d9dc56dff,
    ]);

    /// The non-negative square root of −1.
    pub(crate) const SQRT_M1: Self = Self::new([
        0x61b274a0ea0b0,
        0x0d5a5fc8f189d,
        0x7ef5e9cbd0c60,
        0x78595a6804c9e,
        0x2b8324804fc1d,
    ]);

    /// 1 − d².
    pub(crate) const ONE_MINUS_D_SQ: Self = Self::new([
        0x409c1945fc176,
        0x719abc6a1fc4f,
        0x1c37f90b20684,
        0x06bccca55eedf,
        0x029072a8b2b3e,
    ]);

    /// (d − 1)².
    pub(crate) const D_MINUS_ONE_SQ: Self = Self::new([
        0x55aaa44ed4d20,
        0x59603c3332635,
        0x26d3baf4a7928,
        0x120a66e6997a9,
        0x5968b37af66c2,
    ]);

    /// √(a·d − 1) with a = −1.
    pub(crate) const SQRT_AD_MINUS_ONE: Self = Self::new([
        0x7f6a0497b2e1b,
        0x1836f0a97afd2,
        0x7d747f6be7638,
        0x456079e7e6498,
        0x376931bf2b834,
    ]);

    /// 1/√(a − d) with a = −1.
    pub(crate) const INVSQRT_A_MINUS_D: Self = Self::new([
        0x0fdaa805d40ea,
        0x2eb482e57d339,
        0x07610274bc58,
        0x6510b613dc8ff,
        0x786c8905cfaff,
    ]);

    /// Balances canonical limbs: those above 2^50 become negative, with a carry into the
    /// next, and from the last into the first, times 19.
    const fn new(canonical: [u64; 5]) -> Self {
        let mut limbs = [0; 5];
        let mut i = 0;
        while i < 5 {
            limbs[i] = canonical[i].cast_signed();
            i += 1;
        }
        let mut i = 0;
        while i < 5 {
            if limbs[i] > 1 << (LIMB_BITS - 1) {
                limbs[i] -= LIMB_MASK.cast_signed() + 1;
                if i < 4 {
                    limbs[i + 1] += 1;
                } else {
                    limbs[0] += 19;
                }
            }
            i += 1;
        }
        let mut balanced = [0.0; 5];
        let mut i = 0;
        while i < 5 {
            balanced[i] = limbs[i] as f64;
            i += 1;
        }
        Self {
            canonical,
            balanced,
        }
    }
}
