//! Encodings of the group ristretto255 (RFC 9496), one element per lane.

use zeroize::Zeroize;

use crate::{
    edwards::{Extended, Projective},
    field::{Constant, Element, Mask},
    lanes::{Lanes, MAX_LANES},
};

/// Returns the one-way map of RFC 9496 §4.3.4: from 64 uniform bytes to a uniform element, such
/// that nobody knows its discrete logarithm. Lanes beyond the slice are unspecified points.
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

/// Returns MAP of RFC 9496 §4.3.4 of two vectors of 32 bytes, at once to hide the latency of the
/// square roots: elements such that nobody knows their discrete logarithms. Lanes beyond a slice
/// are unspecified points.
#[inline(always)]
pub(crate) fn map<L: Lanes>(lanes: L, bytes: [&[[u8; 32]]; 2]) -> [Extended<L>; 2] {
    elligator([
        Element::from_bytes(lanes, bytes[0]),
        Element::from_bytes(lanes, bytes[1]),
    ])
}

/// Computes MAP of RFC 9496 §4.3.4 (Elligator 2 for the Jacobi quartic), twice at once to hide the
/// latency of the square roots.
#[inline(always)]
fn elligator<L: Lanes>(t: [Element<L>; 2]) -> [Extended<L>; 2] {
    let lanes = t[0].lanes();
    let sqrt_m1 = Element::splat(lanes, Constant::SQRT_M1);
    let r = [&t[0].square() * &sqrt_m1, &t[1].square() * &sqrt_m1];
    let [(u0, v0), (u1, v1)] = [elligator_ratio(&r[0]), elligator_ratio(&r[1])];
    let [root0, root1] = Element::sqrt_ratios([(&u0, &v0), (&u1, &v1)]);
    [
        elligator_point(&t[0], &r[0], &v0, root0),
        elligator_point(&t[1], &r[1], &v1, root1),
    ]
}

/// Returns MAP's u and v.
#[inline(always)]
fn elligator_ratio<L: Lanes>(r: &Element<L>) -> (Element<L>, Element<L>) {
    let lanes = r.lanes();
    let one = Element::splat(lanes, Constant::ONE);
    let d = Element::splat(lanes, Constant::D);
    let u = &(r + &one) * &Element::splat(lanes, Constant::ONE_MINUS_D_SQ);
    let minus_one_minus_rd = (-&(&one + &(r * &d))).reduce();
    (u, &minus_one_minus_rd * &(r + &d))
}

/// Returns the rest of MAP, from SQRT_RATIO_M1(u, v) on.
#[inline(always)]
fn elligator_point<L: Lanes>(
    t: &Element<L>,
    r: &Element<L>,
    v: &Element<L>,
    (was_square, root): (Mask<L>, Element<L>),
) -> Extended<L> {
    let lanes = t.lanes();
    let one = Element::splat(lanes, Constant::ONE);
    let s = Element::select(was_square, &root, &-&(&root * t).abs());
    let c = Element::select(was_square, &-&one, r);
    let n = &(&c * &(r - &one)) * &Element::splat(lanes, Constant::D_MINUS_ONE_SQ);
    let n = (&n - v).reduce();
    let ss = s.square();
    let w0 = &(&s + &s) * v;
    let w1 = &n * &Element::splat(lanes, Constant::SQRT_AD_MINUS_ONE);
    let w2 = (&one - &ss).reduce();
    let w3 = &one + &ss;
    Extended {
        x: &w0 * &w3,
        y: &w2 * &w1,
        z: &w1 * &w3,
        t: &w0 * &w2,
    }
}

/// A vector of decoded points, and the lanes without one.
pub(crate) type Decoded<L> = (Extended<L>, [bool; MAX_LANES]);

/// Decodes two vectors of encodings at once (DECODE of RFC 9496 §4.3.1), to hide the latency of the
/// square roots. The caller checks that the encodings are canonical and non-negative. Lanes beyond
/// a slice are the identity.
#[inline(always)]
pub(crate) fn decode<L: Lanes>(lanes: L, encoded: [&[[u8; 32]]; 2]) -> [Decoded<L>; 2] {
    let [s0, s1] = [
        Element::from_bytes(lanes, encoded[0]),
        Element::from_bytes(lanes, encoded[1]),
    ];
    let [half0, half1] = [HalfDecoded::new(&s0), HalfDecoded::new(&s1)];
    let one = Element::splat(lanes, Constant::ONE);
    let [root0, root1] = Element::sqrt_ratios([(&one, &half0.radicand), (&one, &half1.radicand)]);
    [half0.finish(root0), half1.finish(root1)]
}

/// DECODE up to the square root.
struct HalfDecoded<L: Lanes> {
    s: Element<L>,
    u1: Element<L>,
    u2: Element<L>,
    v: Element<L>,
    radicand: Element<L>,
}

impl<L: Lanes> HalfDecoded<L> {
    /// Returns u₁ = 1 − s², u₂ = 1 + s², v = −d·u₁² − u₂².
    #[inline(always)]
    fn new(s: &Element<L>) -> Self {
        let one = Element::splat(s.lanes(), Constant::ONE);
        let d = Element::splat(s.lanes(), Constant::D);
        let ss = s.square();
        let u1 = (&one - &ss).reduce();
        let u2 = (&one + &ss).reduce();
        let u2_squared = u2.square();
        let v = (-&(&(&d * &u1.square()) + &u2_squared)).reduce();
        Self {
            s: *s,
            u1,
            u2,
            v,
            radicand: &v * &u2_squared,
        }
    }

    #[inline(always)]
    fn finish(&self, (was_square, root): (Mask<L>, Element<L>)) -> Decoded<L> {
        let Self { s, u1, u2, v, .. } = self;
        let den_x = &root * u2;
        let den_y = &(&root * &den_x) * v;
        let x = (&(s + s) * &den_x).abs();
        let y = u1 * &den_y;
        let t = &x * &y;
        let invalid = was_square.not().or(t.is_negative()).or(y.is_zero());
        let z = Element::splat(s.lanes(), Constant::ONE);
        (Extended { x, y, z, t }, invalid.to_bools())
    }
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
    /// Returns a value to be replaced.
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

    /// Returns e·f·g·h, zero exactly if 2P is the identity of the group.
    #[inline(always)]
    pub(crate) fn denominator(&self) -> Element<L> {
        &(&self.e * &self.f) * &(&self.g * &self.h)
    }

    /// Returns ENCODE of 2P, given the inverse of the denominator, or zero for zero: then the
    /// result is zero, which encodes the identity. Size 1.
    #[inline(always)]
    pub(crate) fn finish(&self, inverse: &Element<L>) -> Element<L> {
        let Self { e, f, g, h } = self;
        let lanes = e.lanes();
        let sqrt_m1 = Element::splat(lanes, Constant::SQRT_M1);
        let eg = e * g;
        let z_inverse = &eg * inverse;
        let t_inverse = &(f * h) * inverse;
        let rotate: Mask<L> = (&eg * &z_inverse).is_negative();

        let minus_e = -e;
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
