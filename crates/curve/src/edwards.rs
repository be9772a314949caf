//! The group of the curve −x² + y² = 1 + d·x²·y², one point a lane, and multiplication by a
//! scalar that all lanes share.
//!
//! Formulas are those of Hisil, Wong, Carter and Dawson, "Twisted Edwards curves revisited"
//! (ASIACRYPT 2008), under their names in the Explicit-Formulas Database. They are complete
//! here: there is no exceptional point. Sizes are those of [`crate::field`].

use zeroize::Zeroize;

use crate::{
    field::{Constant, Element, Mask},
    lanes::Lanes,
    scalar::Digits,
};

/// (X : Y : Z), x = X/Z, y = Y/Z; size 1.
pub(crate) struct Projective<L: Lanes> {
    pub(crate) x: Element<L>,
    pub(crate) y: Element<L>,
    pub(crate) z: Element<L>,
}

/// (X : Y : Z : T), x = X/Z, y = Y/Z, x·y = T/Z; size 1.
pub(crate) struct Extended<L: Lanes> {
    pub(crate) x: Element<L>,
    pub(crate) y: Element<L>,
    pub(crate) z: Element<L>,
    pub(crate) t: Element<L>,
}

/// What an addition leaves before its last products: x = E/G, y = H/F, each pair of a
/// product EF, GH, FG, EH with sizes whose product is at most 2.
pub(crate) struct Completed<L: Lanes> {
    e: Element<L>,
    f: Element<L>,
    g: Element<L>,
    h: Element<L>,
}

/// A point prepared to be added: (Y + X, Y − X, 2Z, 2d·T); size 1.
#[derive(Clone, Copy)]
struct Addend<L: Lanes> {
    y_plus_x: Element<L>,
    y_minus_x: Element<L>,
    z2: Element<L>,
    t2d: Element<L>,
}

impl<L: Lanes> Projective<L> {
    /// 2P: `dbl-2008-hwcd` with F and H negated, which negates all four coordinates.
    #[inline(always)]
    fn double(&self) -> Completed<L> {
        let xx = self.x.square();
        let yy = self.y.square();
        let zz = self.z.square();
        let h = (&xx + &yy).reduce();
        let e = &(&self.x + &self.y).reduce().square() - &h;
        let g = &yy - &xx;
        let f = (&(&zz + &zz) - &g).reduce();
        Completed { e, f, g, h }
    }
}

impl<L: Lanes> Extended<L> {
    /// P + Q: `add-2008-hwcd-3`.
    #[inline(always)]
    fn add(&self, addend: &Addend<L>) -> Completed<L> {
        let a = &(&self.y - &self.x) * &addend.y_minus_x;
        let b = &(&self.y + &self.x) * &addend.y_plus_x;
        let c = &self.t * &addend.t2d;
        let d = &self.z * &addend.z2;
        Completed {
            e: (&b - &a).reduce(),
            f: &d - &c,
            g: (&d + &c).reduce(),
            h: &b + &a,
        }
    }

    /// P + Q.
    #[inline(always)]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        self.add(&other.to_addend()).to_extended()
    }

    #[inline(always)]
    fn to_addend(&self) -> Addend<L> {
        let two_d = Element::splat(self.lanes(), Constant::TWO_D);
        Addend {
            y_plus_x: (&self.y + &self.x).reduce(),
            y_minus_x: (&self.y - &self.x).reduce(),
            z2: (&self.z + &self.z).reduce(),
            t2d: &self.t * &two_d,
        }
    }

    #[inline(always)]
    fn lanes(&self) -> L {
        self.x.lanes()
    }
}

impl<L: Lanes> Completed<L> {
    #[inline(always)]
    fn to_projective(&self) -> Projective<L> {
        Projective {
            x: &self.e * &self.f,
            y: &self.g * &self.h,
            z: &self.f * &self.g,
        }
    }

    #[inline(always)]
    fn to_extended(&self) -> Extended<L> {
        let Projective { x, y, z } = self.to_projective();
        Extended {
            x,
            y,
            z,
            t: &self.e * &self.h,
        }
    }
}

/// P, 2P, … 8P in each lane. Wiped by [`Zeroize::zeroize`].
pub(crate) struct Table<L: Lanes> {
    multiples: [Addend<L>; 8],
}

impl<L: Lanes> Table<L> {
    /// A table to be filled.
    #[inline(always)]
    pub(crate) fn new(lanes: L) -> Self {
        Self {
            multiples: [Addend::identity(lanes); 8],
        }
    }

    #[inline(always)]
    fn fill(&mut self, point: &Extended<L>) {
        self.multiples[0] = point.to_addend();
        for k in 1..8 {
            self.multiples[k] = point.add(&self.multiples[k - 1]).to_extended().to_addend();
        }
    }

    /// digit·P, −8 ≤ digit ≤ 8, by a scan of the whole table.
    #[inline(always)]
    fn select(&self, lanes: L, digit: i8) -> Addend<L> {
        let (magnitude, is_negative) = Digits::magnitude_and_sign(digit);
        let mut chosen = Addend::identity(lanes);
        for (multiple, candidate) in (1..).zip(&self.multiples) {
            let is_chosen = Mask::splat(lanes, Digits::equal(magnitude, multiple));
            chosen = Addend::select(is_chosen, candidate, &chosen);
        }
        chosen.negate_if(Mask::splat(lanes, is_negative))
    }

    /// s·P for the scalar with these digits, by fixed windows of 4 bits. The table is filled
    /// with multiples of P on the way.
    #[inline(always)]
    pub(crate) fn multiply(&mut self, point: &Extended<L>, digits: &Digits) -> Projective<L> {
        let lanes = point.lanes();
        self.fill(point);
        let mut product = Extended::identity(lanes).add(&self.select(lanes, digits.highest()));
        for digit in digits.lower() {
            let mut multiple = product.to_projective();
            for _ in 0..3 {
                multiple = multiple.double().to_projective();
            }
            product = multiple
                .double()
                .to_extended()
                .add(&self.select(lanes, digit));
        }
        product.to_projective()
    }
}

impl<L: Lanes> Zeroize for Table<L> {
    fn zeroize(&mut self) {
        for Addend {
            y_plus_x,
            y_minus_x,
            z2,
            t2d,
        } in &mut self.multiples
        {
            for coordinate in [y_plus_x, y_minus_x, z2, t2d] {
                coordinate.zeroize();
            }
        }
    }
}

impl<L: Lanes> Extended<L> {
    #[inline(always)]
    fn identity(lanes: L) -> Self {
        let zero = Element::splat(lanes, Constant::ZERO);
        let one = Element::splat(lanes, Constant::ONE);
        Self {
            x: zero,
            y: one,
            z: one,
            t: zero,
        }
    }
}

impl<L: Lanes> Addend<L> {
    #[inline(always)]
    fn identity(lanes: L) -> Self {
        let zero = Element::splat(lanes, Constant::ZERO);
        let one = Element::splat(lanes, Constant::ONE);
        Self {
            y_plus_x: one,
            y_minus_x: one,
            z2: &one + &one,
            t2d: zero,
        }
    }

    #[inline(always)]
    fn select(mask: Mask<L>, yes: &Self, no: &Self) -> Self {
        Self {
            y_plus_x: Element::select(mask, &yes.y_plus_x, &no.y_plus_x),
            y_minus_x: Element::select(mask, &yes.y_minus_x, &no.y_minus_x),
            z2: Element::select(mask, &yes.z2, &no.z2),
            t2d: Element::select(mask, &yes.t2d, &no.t2d),
        }
    }

    /// −P where the mask says so.
    #[inline(always)]
    fn negate_if(&self, mask: Mask<L>) -> Self {
        Self {
            y_plus_x: Element::select(mask, &self.y_minus_x, &self.y_plus_x),
            y_minus_x: Element::select(mask, &self.y_plus_x, &self.y_minus_x),
            z2: self.z2,
            t2d: self.t2d.negate_if(mask),
        }
    }
}
