//! Encodings of the group ristretto255 (RFC 9496), one element a lane.

use zeroize::Zeroize;

use crate::{
    edwards::{Extended, Projective},
    field::{Constant, Element, Mask},
    lanes::{Lanes, MAX_LANES},
};

/// The one-way map of RFC 9496 §4.3.4: from 64 uniform bytes to a uniform element, such that
/// nobody knows its discrete logarithm. Lanes beyond the slice are unspecified points.
#[inline(always)]
pub(crate) fn hash<L: Lanes>(lanes: L, uniform: &[[u8; 64]]) -> Extended<L> {
    let mut halves = [[[0; 32]; MAX_LANES]; 2];
    for (lane, bytes) in uniform.iter().take(L::COUNT).enumerate() {
        halves[0][lane].copy_from_slice(&bytes[..32]);
        halves[1][lane].copy_from_slice(&bytes[32..]);
    }
    let [first, second] = elligator([
        Element::from_bytes(lanes, &halves[0]),
        Element::from_bytes(lanes, &halves[1]),
    ]);
    first.plus(&second)
}

/// MAP of RFC 9496 §4.3.4 (Elligator 2 for the Jacobi quartic), twice at once.
#[inline(always)]
fn elligator<L: Lanes>(t: [Element<L>; 2]) -> [Extended<L>; 2] {
    let lanes = t[0].lanes();
    let constant = |value| Element::splat(lanes, value);
    let one = constant(Constant::ONE);

    let r = t.map(|t| &t.square() * &constant(Constant::SQRT_M1));
    let u = r.map(|r| &(&r + &one) * &constant(Constant::ONE_MINUS_D_SQ));
    // The RFC's v is (−1 − r·d)·(r + d).
    let v = r.map(|r| {
        let d = constant(Constant::D);
        let minus = &constant(Constant::ZERO) - &(&one + &(&r * &d));
        &minus.reduce() * &(&r + &d)
    });
    let roots = Element::sqrt_ratios([(&u[0], &v[0]), (&u[1], &v[1])]);

    let point = |k: usize| {
        let (was_square, root) = roots[k];
        // s' = −|s·t|
        let other = &constant(Constant::ZERO) - &(&root * &t[k]).abs();
        let s = Element::select(was_square, &root, &other);
        let minus_one = &constant(Constant::ZERO) - &one;
        let c = Element::select(was_square, &minus_one, &r[k]);
        let n = &(&c * &(&r[k] - &one)) * &constant(Constant::D_MINUS_ONE_SQ);
        let n = (&n - &v[k]).reduce();
        let ss = s.square();
        let w0 = &(&s + &s) * &v[k];
        let w1 = &n * &constant(Constant::SQRT_AD_MINUS_ONE);
        let w2 = (&one - &ss).reduce();
        let w3 = &one + &ss;
        Extended {
            x: &w0 * &w3,
            y: &w2 * &w1,
            z: &w1 * &w3,
            t: &w0 * &w2,
        }
    };
    [point(0), point(1)]
}

/// DECODE of RFC 9496 §4.3.1 for N times `COUNT` encodings, and which lanes hold a square
/// root, a non-negative t and a y that is not zero. Whether the encodings are canonical and
/// non-negative is the caller's to check. Lanes beyond a slice are the identity.
#[inline(always)]
pub(crate) fn decode<L: Lanes, const N: usize>(
    lanes: L,
    encoded: [&[[u8; 32]]; N],
) -> [(Extended<L>, [bool; MAX_LANES]); N] {
    let one = Element::splat(lanes, Constant::ONE);
    let d = Element::splat(lanes, Constant::D);
    let s = encoded.map(|encoded| Element::from_bytes(lanes, encoded));
    // u₁ = 1 − s², u₂ = 1 + s², v = −d·u₁² − u₂²
    let u = s.map(|s| {
        let ss = s.square();
        ((&one - &ss).reduce(), (&one + &ss).reduce())
    });
    let v = u.map(|(u1, u2)| {
        let sum = &(&d * &u1.square()) + &u2.square();
        (&Element::splat(lanes, Constant::ZERO) - &sum).reduce()
    });
    let mut radicands = v;
    for k in 0..N {
        radicands[k] = &v[k] * &u[k].1.square();
    }
    let roots = Element::sqrt_ratios(radicands.each_ref().map(|radicand| (&one, radicand)));

    std::array::from_fn(|k| {
        let (was_square, root) = roots[k];
        let (u1, u2) = u[k];
        let den_x = &root * &u2;
        let den_y = &(&root * &den_x) * &v[k];
        let x = (&(&s[k] + &s[k]) * &den_x).abs();
        let y = &u1 * &den_y;
        let t = &x * &y;
        let invalid = was_square.not().or(t.is_negative()).or(y.is_zero());
        (Extended { x, y, z: one, t }, invalid.to_bools())
    })
}

/// Half-way to an encoding of 2P: what is needed of P, and the number to invert.
///
/// # Derivation
///
/// ENCODE (RFC 9496 §4.3.2) takes an inverse square root, which cannot be shared between
/// points. But for a double it is known. With
///
/// - e = 2XY, f = Z² + d·T², g = Y² + X², h = Z² − d·T²,
///
/// 2P is (eh : fg : fh : eg) in extended coordinates. The curve equation Y² − X² = Z² + d·T²
/// with ZT = XY gives f = Y² − X², h = 2Z² − f (so T is not needed), g² = f² + e² and
/// h² = f² − d·e². So ENCODE's
///
/// - u₁ = (Z + Y)(Z − Y) = f²(h² − g²) = (a − d)·(e·f)² with a = −1,
/// - u₁·u₂² = (a − d)·(ef·efgh)², with u₂ = XY = efgh,
///
/// and the inverse square root is c/(ef·efgh), c = 1/√(a − d), up to a sign, which ENCODE's
/// result does not depend on. With i = 1/(efgh), one inversion that many points can share:
/// den₁ = u₁·c/(ef·efgh) = ef·i/c, den₂ = u₂·c/(ef·efgh) = c·gh·i, 1/Z = eg·i, 1/T = fh·i.
///
/// - If T/Z = eg·(eg·i) is not negative, ENCODE returns |den₂·(Z − σY)| = |c·g·fh·i·(h − σg)|,
///   where σ is the sign of X/Z = h·e·(eg·i).
/// - If it is, (X, Y) becomes (√−1·Y, √−1·X) and the result is |c·den₁·(Z − σY)| =
///   |e·fh·i·(f − σ√−1·e)| where σ is the sign of X/Z = √−1·f·g·(eg·i). That is the first
///   case with (√−1·f, −e, √−1) for (h, g, c), and g for e in σ.
///
/// (Hamburg, "Decaf: eliminating cofactors through point compression", CRYPTO 2015; the
/// batched form is also in `curve25519-dalek`.)
pub(crate) struct HalfEncoded<L: Lanes> {
    e: Element<L>,
    f: Element<L>,
    g: Element<L>,
    h: Element<L>,
}

impl<L: Lanes> Clone for HalfEncoded<L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Lanes> Copy for HalfEncoded<L> {}

impl<L: Lanes> Zeroize for HalfEncoded<L> {
    fn zeroize(&mut self) {
        for coordinate in [&mut self.e, &mut self.f, &mut self.g, &mut self.h] {
            coordinate.zeroize();
        }
    }
}

impl<L: Lanes> HalfEncoded<L> {
    /// A value to be replaced.
    #[inline(always)]
    pub(crate) fn zero(lanes: L) -> Self {
        let zero = Element::splat(lanes, Constant::ZERO);
        Self {
            e: zero,
            f: zero,
            g: zero,
            h: zero,
        }
    }

    #[inline(always)]
    pub(crate) fn new(point: &Projective<L>) -> Self {
        let xx = point.x.square();
        let yy = point.y.square();
        let zz = point.z.square();
        let f = (&yy - &xx).reduce();
        Self {
            e: &(&point.x + &point.x) * &point.y,
            f,
            g: (&yy + &xx).reduce(),
            h: (&(&zz + &zz) - &f).reduce(),
        }
    }

    /// e·f·g·h, zero exactly if 2P is the identity of the group.
    #[inline(always)]
    pub(crate) fn denominator(&self) -> Element<L> {
        &(&self.e * &self.f) * &(&self.g * &self.h)
    }

    /// ENCODE of 2P, given the inverse of the denominator, or zero for zero: then the result
    /// is zero, which encodes the identity. Size 1.
    #[inline(always)]
    pub(crate) fn finish(&self, inverse: &Element<L>) -> Element<L> {
        let Self { e, f, g, h } = self;
        let lanes = e.lanes();
        let sqrt_m1 = Element::splat(lanes, Constant::SQRT_M1);
        let eg = e * g;
        let z_inverse = &eg * inverse;
        let t_inverse = &(f * h) * inverse;
        let rotate: Mask<L> = (&eg * &z_inverse).is_negative();

        let minus_e = &Element::splat(lanes, Constant::ZERO) - e;
        let partner = Element::select(rotate, g, e);
        let h = Element::select(rotate, &(f * &sqrt_m1), h);
        let g = Element::select(rotate, &minus_e, g);
        let c = Element::splat(lanes, Constant::INVSQRT_A_MINUS_D);
        let c = Element::select(rotate, &sqrt_m1, &c);

        let sign = (&(&h * &partner) * &z_inverse).is_negative();
        let difference = &h - &g.negate_if(sign);
        (&difference * &(&(&c * &g) * &t_inverse)).abs()
    }
}
