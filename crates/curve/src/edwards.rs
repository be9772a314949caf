//! The group of the curve −x² + y² = 1 + d·x²·y², one point per lane, and multiplication: of one
//! point per lane by a scalar that all lanes share, or of a point that all lanes share by one
//! scalar per lane.
//!
//! Formulas are those of Hisil, Wong, Carter and Dawson, "Twisted Edwards curves revisited"
//! (ASIACRYPT 2008), under their names in the Explicit-Formulas Database. They are complete
//! on this curve: no pair of points is an exception. Sizes are those of [`crate::field`].

use zeroize::Zeroize;

use crate::{
    digits::{DIGITS, Digits, LaneDigits, equal, magnitude_and_sign},
    field::{Constant, Element, Mask, Shared},
    lanes::{Job, Lanes},
};

/// (X : Y : Z), x = X/Z, y = Y/Z; size 1.
#[derive(Clone, Copy)]
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

/// The result of an addition before its last products: x = E/G, y = H/F; size 1.
#[derive(Clone, Copy)]
struct Completed<L: Lanes> {
    e: Element<L>,
    f: Element<L>,
    g: Element<L>,
    h: Element<L>,
}

/// A point prepared to be added: Y + X, Y − X, 2Z, 2d·T; size 1.
#[derive(Clone, Copy)]
struct Addend<L: Lanes> {
    coordinates: [Element<L>; 4],
}

impl<L: Lanes> Projective<L> {
    /// Returns 2P.
    #[inline(always)]
    fn double(&self) -> Extended<L> {
        self.x.lanes().run(Double { point: self })
    }

    /// Returns 2^times·P.
    #[inline(always)]
    fn double_repeatedly(&self, times: u32) -> Self {
        let point = self;
        self.x.lanes().run(DoubleRepeatedly { point, times })
    }

    /// Computes `dbl-2008-hwcd` with F and H negated, which negates all four coordinates.
    #[inline(always)]
    fn doubled(&self) -> Completed<L> {
        let Self { x, y, z } = self;
        let (xx, yy, zz, xy) = (x.squared(), y.squared(), z.squared(), x.times(y));
        Completed {
            e: xy.plus(&xy).reduce(),
            f: zz.plus(&zz).plus(&xx).minus(&yy).reduce(),
            g: yy.minus(&xx).reduce(),
            h: xx.plus(&yy).reduce(),
        }
    }
}

impl<L: Lanes> Completed<L> {
    /// Returns the last products, without the one for T.
    #[inline(always)]
    fn to_projective(self) -> Projective<L> {
        let Self { e, f, g, h } = &self;
        Projective {
            x: e.times(f).reduce(),
            y: g.times(h).reduce(),
            z: f.times(g).reduce(),
        }
    }

    #[inline(always)]
    fn to_extended(self) -> Extended<L> {
        let t = self.e.times(&self.h).reduce();
        let Projective { x, y, z } = self.to_projective();
        Extended { x, y, z, t }
    }
}

/// A point to be doubled.
struct Double<'a, L: Lanes> {
    point: &'a Projective<L>,
}

impl<L: Lanes> Job<L> for Double<'_, L> {
    type Output = Extended<L>;

    #[inline(always)]
    fn run(self, _lanes: L) -> Extended<L> {
        self.point.doubled().to_extended()
    }
}

/// A point to be doubled `times` times over.
struct DoubleRepeatedly<'a, L: Lanes> {
    point: &'a Projective<L>,
    times: u32,
}

impl<L: Lanes> Job<L> for DoubleRepeatedly<'_, L> {
    type Output = Projective<L>;

    #[inline(always)]
    fn run(self, _lanes: L) -> Projective<L> {
        let mut point = *self.point;
        for _ in 0..self.times {
            point = point.doubled().to_projective();
        }
        point
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

    /// Returns P + Q.
    #[inline(always)]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        self.add(&other.to_addend())
    }

    /// Returns P − Q.
    #[inline(always)]
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let everywhere = Mask::splat(self.x.lanes(), 1);
        self.add(&other.to_addend().negate_if(everywhere))
    }

    /// Returns 2P.
    #[inline(always)]
    pub(crate) fn double(&self) -> Self {
        self.to_projective().double()
    }

    #[inline(always)]
    pub(crate) fn to_projective(&self) -> Projective<L> {
        Projective {
            x: self.x,
            y: self.y,
            z: self.z,
        }
    }

    /// Returns P + Q.
    #[inline(always)]
    fn add(&self, addend: &Addend<L>) -> Self {
        let point = self;
        self.x.lanes().run(Sum { point, addend })
    }

    /// Returns P + Q without T.
    #[inline(always)]
    fn add_to_projective(&self, addend: &Addend<L>) -> Projective<L> {
        let point = self;
        self.x.lanes().run(ProjectiveSum { point, addend })
    }

    /// Computes `add-2008-hwcd-3`.
    #[inline(always)]
    fn added(&self, addend: &Addend<L>) -> Completed<L> {
        let Self { x, y, z, t } = self;
        let [y_plus_x, y_minus_x, z2, t2d] = &addend.coordinates;
        let a = (y - x).times(y_minus_x);
        let b = (y + x).times(y_plus_x);
        let (c, d) = (t.times(t2d), z.times(z2));
        Completed {
            e: b.minus(&a).reduce(),
            f: d.minus(&c).reduce(),
            g: d.plus(&c).reduce(),
            h: b.plus(&a).reduce(),
        }
    }

    #[inline(always)]
    fn to_addend(&self) -> Addend<L> {
        let y_plus_x = (&self.y + &self.x).reduce();
        let y_minus_x = (&self.y - &self.x).reduce();
        let z2 = (&self.z + &self.z).reduce();
        let t2d = &self.t * &Element::splat(self.t.lanes(), Constant::TWO_D);
        Addend {
            coordinates: [y_plus_x, y_minus_x, z2, t2d],
        }
    }
}

/// Points to be added.
struct Sum<'a, L: Lanes> {
    point: &'a Extended<L>,
    addend: &'a Addend<L>,
}

impl<L: Lanes> Job<L> for Sum<'_, L> {
    type Output = Extended<L>;

    #[inline(always)]
    fn run(self, _lanes: L) -> Extended<L> {
        self.point.added(self.addend).to_extended()
    }
}

/// Points to be added, whose sum needs no T.
struct ProjectiveSum<'a, L: Lanes> {
    point: &'a Extended<L>,
    addend: &'a Addend<L>,
}

impl<L: Lanes> Job<L> for ProjectiveSum<'_, L> {
    type Output = Projective<L>;

    #[inline(always)]
    fn run(self, _lanes: L) -> Projective<L> {
        self.point.added(self.addend).to_projective()
    }
}

impl<L: Lanes> Addend<L> {
    #[inline(always)]
    fn identity(lanes: L) -> Self {
        let zero = Element::splat(lanes, Constant::ZERO);
        let one = Element::splat(lanes, Constant::ONE);
        Self {
            coordinates: [one, one, (&one + &one).reduce(), zero],
        }
    }

    /// Returns P, as (2X : 2Y : 2Z).
    #[inline(always)]
    fn to_projective(self) -> Projective<L> {
        let [y_plus_x, y_minus_x, z2, _] = self.coordinates;
        Projective {
            x: (&y_plus_x - &y_minus_x).reduce(),
            y: (&y_plus_x + &y_minus_x).reduce(),
            z: z2,
        }
    }

    /// Returns −P in the lanes of the mask, P elsewhere.
    #[inline(always)]
    fn negate_if(&self, mask: Mask<L>) -> Self {
        let [y_plus_x, y_minus_x, z2, t2d] = &self.coordinates;
        Self {
            coordinates: [
                Element::select(mask, y_minus_x, y_plus_x),
                Element::select(mask, y_plus_x, y_minus_x),
                *z2,
                t2d.negate_if(mask),
            ],
        }
    }
}

/// P, 2P, … 8P in each lane. They depend on P, which may be secret: to be wiped.
pub(crate) struct Table<L: Lanes> {
    multiples: [Addend<L>; 8],
}

impl<L: Lanes> Table<L> {
    /// Returns a table to be filled.
    #[inline(always)]
    pub(crate) fn new(lanes: L) -> Self {
        Self {
            multiples: [Addend::identity(lanes); 8],
        }
    }

    /// Returns s·P for the scalar with these digits, by fixed windows of 4 bits. The table is
    /// filled with multiples of P on the way.
    #[inline(always)]
    pub(crate) fn multiply(&mut self, point: &Extended<L>, digits: &Digits) -> Projective<L> {
        let lanes = point.x.lanes();
        self.fill(point);
        let mut product = self.select(lanes, digits.highest()).to_projective();
        for digit in digits.lower() {
            let product16 = product.double_repeatedly(3).double();
            product = product16.add_to_projective(&self.select(lanes, digit));
        }
        product
    }

    #[inline(always)]
    fn fill(&mut self, point: &Extended<L>) {
        self.multiples[0] = point.to_addend();
        for k in 1..8 {
            self.multiples[k] = point.add(&self.multiples[k - 1]).to_addend();
        }
    }

    /// Returns digit·P, −8 ≤ digit ≤ 8.
    #[inline(always)]
    fn select(&self, lanes: L, digit: i8) -> Addend<L> {
        let (magnitude, is_negative) = magnitude_and_sign(digit);
        let mut is_chosen = [Mask::splat(lanes, 0); 9];
        for (multiple, is_chosen) in (0..).zip(&mut is_chosen) {
            *is_chosen = Mask::splat(lanes, equal(magnitude, multiple));
        }
        select(
            lanes,
            &self.multiples,
            &is_chosen,
            Mask::splat(lanes, is_negative),
        )
    }
}

/// Multiples of a point, from 1 to 8.
trait Multiples<L: Lanes> {
    /// Returns coordinate c of multiple k + 1, prepared to be added.
    fn coordinate(&self, lanes: L, k: usize, c: usize) -> Element<L>;
}

impl<L: Lanes> Multiples<L> for [Addend<L>; 8] {
    #[inline(always)]
    fn coordinate(&self, _lanes: L, k: usize, c: usize) -> Element<L> {
        self[k].coordinates[c]
    }
}

impl<L: Lanes> Multiples<L> for [[Shared; 4]; 8] {
    #[inline(always)]
    fn coordinate(&self, lanes: L, k: usize, c: usize) -> Element<L> {
        Element::splat_shared(lanes, self[k][c])
    }
}

/// Returns in each lane the multiple whose mask is set, of those from 0 to 8, by a scan of them
/// all; negated where the last mask is set.
#[inline(always)]
fn select<L: Lanes>(
    lanes: L,
    multiples: &impl Multiples<L>,
    is_chosen: &[Mask<L>; 9],
    is_negative: Mask<L>,
) -> Addend<L> {
    let mut chosen = Addend::identity(lanes);
    for c in 0..4 {
        let mut coordinate = chosen.coordinates[c].keep_if(is_chosen[0]);
        for k in 0..8 {
            let candidate = multiples.coordinate(lanes, k, c).keep_if(is_chosen[k + 1]);
            coordinate = coordinate.or(&candidate);
        }
        chosen.coordinates[c] = coordinate;
    }
    chosen.negate_if(is_negative)
}

impl<L: Lanes> Zeroize for Table<L> {
    fn zeroize(&mut self) {
        for multiple in &mut self.multiples {
            for coordinate in &mut multiple.coordinates {
                coordinate.zeroize();
            }
        }
    }
}

/// Multiples 1 to 8 of 256^k·P, k = 0…31, of one point P for all lanes, which is public:
/// its product with a scalar takes 4 doublings instead of 248.
pub(crate) struct FixedTable(Vec<[[Shared; 4]; 8]>);

impl FixedTable {
    /// Returns the table of the point in the first lane.
    #[inline(always)]
    pub(crate) fn new<L: Lanes>(point: &Extended<L>) -> Self {
        let mut rows = vec![[[Shared::NOTHING; 4]; 8]; 32];
        let mut table = Table::new(point.x.lanes());
        let mut power = point.plus(&Extended::identity(point.x.lanes()));
        for row in &mut rows {
            table.fill(&power);
            for (row, multiple) in row.iter_mut().zip(&table.multiples) {
                for (shared, coordinate) in row.iter_mut().zip(&multiple.coordinates) {
                    *shared = coordinate.first_lane();
                }
            }
            for _ in 0..8 {
                power = power.double();
            }
        }
        Self(rows)
    }

    /// Returns s·P for the scalar s of each lane: the odd digits, times 16, and the even ones.
    #[inline(always)]
    pub(crate) fn multiply<L: Lanes>(&self, lanes: L, digits: &LaneDigits) -> Extended<L> {
        let mut product = Extended::identity(lanes);
        for (k, multiples) in self.0[..DIGITS / 2].iter().enumerate() {
            let chosen = select_by_lane(lanes, multiples, digits, 2 * k + 1);
            product = product.add(&chosen);
        }
        for _ in 0..4 {
            product = product.double();
        }
        for (k, multiples) in self.0.iter().enumerate() {
            let chosen = select_by_lane(lanes, multiples, digits, 2 * k);
            product = product.add(&chosen);
        }
        product
    }
}

/// Returns the product with digit k of each lane.
#[inline(always)]
fn select_by_lane<L: Lanes>(
    lanes: L,
    multiples: &[[Shared; 4]; 8],
    digits: &LaneDigits,
    k: usize,
) -> Addend<L> {
    let [magnitudes, signs] = digits.magnitudes_and_signs(k);
    let mut is_chosen = [Mask::splat(lanes, 0); 9];
    for (multiple, is_chosen) in (0..).zip(&mut is_chosen) {
        *is_chosen = Mask::equal(lanes, &magnitudes, multiple);
    }
    let is_negative = Mask::equal(lanes, &signs, 1);
    select(lanes, multiples, &is_chosen, is_negative)
}
