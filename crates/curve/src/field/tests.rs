//! All kinds of lanes against arithmetic on 64-bit limbs.

use proptest::prelude::*;

use super::*;
use crate::lanes::{Multiplier52, avx2::Avx2, avx512::Avx512, ifma::Ifma, model::Model};

/// A number below p, little-endian; slow and plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number([u64; 4]);

impl Number {
    const P: [u64; 4] = [u64::MAX - 18, u64::MAX, u64::MAX, u64::MAX >> 1];

    fn small(x: i64) -> Self {
        let magnitude = Self([x.unsigned_abs(), 0, 0, 0]);
        if x < 0 {
            Self::small(0).minus(magnitude)
        } else {
            magnitude
        }
    }

    /// Returns the lower 255 bits, modulo p.
    fn from_bytes(bytes: &[u8; 32]) -> Self {
        let mut words = [0; 4];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(chunk.try_into().unwrap());
        }
        words[3] &= u64::MAX >> 1;
        Self::reduced(words, 0)
    }

    fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(self.0) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Returns words + 2^256·high, for a high below 2^64 / 38.
    fn reduced(words: [u64; 4], high: u64) -> Self {
        let (mut words, mut high) = (words, high);
        while high > 0 {
            let mut carry = u128::from(high) * 38;
            for word in &mut words {
                carry += u128::from(*word);
                *word = carry as u64;
                carry >>= 64;
            }
            high = carry as u64;
        }
        while words.iter().rev().ge(Self::P.iter().rev()) {
            words = subtract(words, Self::P);
        }
        Self(words)
    }

    fn plus(self, other: Self) -> Self {
        let mut carry = 0;
        let words = std::array::from_fn(|k| {
            carry += u128::from(self.0[k]) + u128::from(other.0[k]);
            let word = carry as u64;
            carry >>= 64;
            word
        });
        Self::reduced(words, carry as u64)
    }

    fn minus(self, other: Self) -> Self {
        self.plus(Self(subtract(Self::P, other.0)))
    }

    fn times(self, other: Self) -> Self {
        let mut product = Self([0; 4]);
        for bit in (0..256).rev() {
            product = product.plus(product);
            if other.0[bit / 64] >> (bit % 64) & 1 == 1 {
                product = product.plus(self);
            }
        }
        product
    }
}

fn subtract(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let mut borrow = false;
    std::array::from_fn(|k| {
        let (word, first) = a[k].overflowing_sub(b[k]);
        let (word, second) = word.overflowing_sub(u64::from(borrow));
        borrow = first || second;
        word
    })
}

/// Runs a job in doubles, on all lanes that this processor has.
fn in_doubles<J>(job: J)
where
    J: Job<Avx2, Output = ()> + Job<Avx512, Output = ()> + Copy,
{
    if let Some(lanes) = Avx2::detect() {
        lanes.run(job);
    }
    if let Some(lanes) = Avx512::detect() {
        lanes.run(job);
    }
}

/// Runs a job in integers: in the model of their lanes, and in the lanes that this processor has.
fn in_integers<J>(job: J)
where
    J: Job<Model, Output = ()> + Job<Ifma, Output = ()> + Copy,
{
    Model.run(job);
    if let Some(lanes) = Ifma::detect() {
        lanes.run(job);
    }
}

fn everywhere<J>(job: J)
where
    J: Job<Avx2, Output = ()>
        + Job<Avx512, Output = ()>
        + Job<Model, Output = ()>
        + Job<Ifma, Output = ()>
        + Copy,
{
    in_doubles(job);
    in_integers(job);
}

fn bytes_of<L: Lanes>(x: &Element<L>) -> Vec<[u8; 32]> {
    let mut out = vec![[0; 32]; L::COUNT];
    x.to_bytes(&mut out);
    out
}

/// Every operation on eight pairs.
#[derive(Clone, Copy)]
struct CheckOperations {
    a: [[u8; 32]; MAX_LANES],
    b: [[u8; 32]; MAX_LANES],
}

impl<L: Lanes> Job<L> for CheckOperations {
    type Output = ();

    fn run(self, lanes: L) {
        let (a, b) = (
            Element::from_bytes(lanes, &self.a),
            Element::from_bytes(lanes, &self.b),
        );
        let (x, y) = (
            self.a.map(|a| Number::from_bytes(&a)),
            self.b.map(|b| Number::from_bytes(&b)),
        );
        let check = |name: &str, result: &Element<L>, expected: &dyn Fn(usize) -> Number| {
            for (lane, bytes) in bytes_of(result).into_iter().enumerate() {
                assert_eq!(
                    bytes,
                    expected(lane).to_bytes(),
                    "{name}, {:?}, {:?}",
                    x[lane],
                    y[lane]
                );
            }
        };
        check("bytes", &a, &|k| x[k]);
        check("sum", &(&a + &b), &|k| x[k].plus(y[k]));
        check("difference", &(&a - &b), &|k| x[k].minus(y[k]));
        check("negative", &-&a, &|k| Number::small(0).minus(x[k]));
        check("reduced", &(&(&a + &b) + &a).reduce(), &|k| {
            x[k].plus(y[k]).plus(x[k])
        });
        check("product", &(&a * &b), &|k| x[k].times(y[k]));
        check("wide product", &(&(&(&a + &a) + &b) * &b), &|k| {
            x[k].plus(x[k]).plus(y[k]).times(y[k])
        });
        check("square", &a.square(), &|k| x[k].times(x[k]));
        let (product, square) = (a.times(&b), b.squared());
        check("wide sum", &product.plus(&square).reduce(), &|k| {
            x[k].times(y[k]).plus(y[k].times(y[k]))
        });
        check("wide difference", &product.minus(&square).reduce(), &|k| {
            x[k].times(y[k]).minus(y[k].times(y[k]))
        });
        let shared = Element::splat_shared(lanes, a.first_lane());
        check("first lane", &shared, &|_| x[0]);
        let odd = |k: usize| x[k].0[0] & 1 == 1;
        check("magnitude", &a.abs(), &|k| {
            if odd(k) {
                Number::small(0).minus(x[k])
            } else {
                x[k]
            }
        });
        check("choice", &Element::select(a.is_negative(), &a, &b), &|k| {
            if odd(k) { x[k] } else { y[k] }
        });
        check("part", &a.keep_if(a.is_negative()), &|k| {
            if odd(k) { x[k] } else { Number::small(0) }
        });
        let is_equal = (&a - &b).is_zero().to_bools();
        for lane in 0..L::COUNT {
            assert_eq!(is_equal[lane], x[lane] == y[lane]);
        }
    }
}

/// Inversions and square roots of eight numbers.
#[derive(Clone, Copy)]
struct CheckRoots {
    u: [[u8; 32]; MAX_LANES],
    v: [[u8; 32]; MAX_LANES],
}

impl<L: Lanes> Job<L> for CheckRoots {
    type Output = ();

    fn run(self, lanes: L) {
        let (u, v) = (
            Element::from_bytes(lanes, &self.u),
            Element::from_bytes(lanes, &self.v),
        );
        let one = Element::splat(lanes, Constant::ONE);
        let zero = Element::splat(lanes, Constant::ZERO);
        let sqrt_m1 = Element::splat(lanes, Constant::SQRT_M1);
        assert_eq!(bytes_of(&sqrt_m1.square()), bytes_of(&-&one));

        let is_one = (&(&u * &u.invert()) - &one).is_zero().to_bools();
        let is_zero = u.is_zero().to_bools();
        for lane in 0..L::COUNT {
            assert_eq!(is_one[lane], !is_zero[lane]);
        }
        assert_eq!(bytes_of(&zero.invert()), bytes_of(&zero));

        // u·v² / u is a square, √−1 times it is not.
        let square = &u * &v.square();
        let other = &square * &sqrt_m1;
        let [(was_square, root), (was_other, other_root)] =
            Element::sqrt_ratios([(&square, &u), (&other, &u)]);
        let is_trivial = square.is_zero().to_bools();
        for lane in 0..L::COUNT {
            // Zero is a square, and by RFC 9496 so is 0/0.
            assert!(was_square.to_bools()[lane]);
            assert_eq!(was_other.to_bools()[lane], is_trivial[lane]);
        }
        let expected = Element::select(square.is_zero(), &zero, &v.abs());
        assert_eq!(bytes_of(&root), bytes_of(&expected));
        // Now √(√−1 · √−1·v²) = ±√−1·v.
        let expected = Element::select(square.is_zero(), &zero, &(&v * &sqrt_m1).abs());
        assert_eq!(bytes_of(&other_root), bytes_of(&expected));
    }
}

/// Products of elements whose limbs are as far from zero as the sizes allow.
#[derive(Clone, Copy)]
struct CheckLargestLimbs {
    signs: [u8; MAX_LANES],
}

impl CheckLargestLimbs {
    /// Returns ±size·R in limb k of a lane, by bit k of `signs`.
    fn limb(size: i64, signs: u8, k: usize) -> i64 {
        let largest = size * ((1 << 50) + (1 << 16));
        if signs >> k & 1 == 1 {
            -largest
        } else {
            largest
        }
    }

    fn element<L: Lanes>(lanes: L, size: i64, signs: [u8; MAX_LANES]) -> Element<L> {
        let limbs = std::array::from_fn(|k| {
            let words = signs.map(|signs| (Self::limb(size, signs, k) as f64).to_bits());
            L::Field::limb_of(lanes, lanes.load(&words))
        });
        Element { lanes, limbs }
    }

    fn number(size: i64, signs: u8) -> Number {
        let radix = Number::small(1 << LIMB_BITS);
        (0..5).rev().fold(Number::small(0), |number, k| {
            number
                .times(radix)
                .plus(Number::small(Self::limb(size, signs, k)))
        })
    }
}

impl<L: Lanes> Job<L> for CheckLargestLimbs {
    type Output = ();

    fn run(self, lanes: L) {
        let others = self.signs.map(|signs| signs.wrapping_mul(29) ^ 0b10110);
        let a = Self::element(lanes, 3, self.signs);
        let b = Self::element(lanes, 1, others);
        let c = Self::element(lanes, 7, others);
        let [product, square] = [bytes_of(&(&a * &b)), bytes_of(&b.square())];
        let [reduced, is_reduced] = [c.reduce(), Self::element(lanes, 7, others)];
        for lane in 0..L::COUNT {
            let x = Self::number(3, self.signs[lane]);
            let y = Self::number(1, others[lane]);
            assert_eq!(product[lane], x.times(y).to_bytes());
            assert_eq!(square[lane], y.times(y).to_bytes());
            assert_eq!(
                bytes_of(&is_reduced)[lane],
                Self::number(7, others[lane]).to_bytes()
            );
        }
        for limb in (&a * &b)
            .limbs
            .iter()
            .chain(&b.square().limbs)
            .chain(&reduced.limbs)
        {
            for bits in &lanes.store(L::Field::bits_of(lanes, *limb))[..L::COUNT] {
                assert!(f64::from_bits(*bits).abs() <= power_of_two(50) + power_of_two(16));
            }
        }
    }
}

#[test]
fn products_of_the_largest_limbs_are_right() {
    for first in (0..32).step_by(8) {
        let signs = std::array::from_fn(|lane| first + lane as u8);
        in_doubles(CheckLargestLimbs { signs });
    }
}

/// Products of elements whose limbs are zero or as large as they may be, and their sums. Bits that
/// do not count are set.
#[derive(Clone, Copy)]
struct CheckLargestWords {
    are_large: [u8; MAX_LANES],
}

impl CheckLargestWords {
    /// Returns limb k of a lane, by bit k of `are_large`.
    fn limb(are_large: u8, k: usize) -> u64 {
        match (are_large >> k & 1, k) {
            (1, 4) => (1 << integers::HIGHEST_BITS) + (1 << 7) - 1,
            (1, _) => u64::MAX,
            (_, 4) => 0,
            (..) => u64::MAX << integers::BITS,
        }
    }

    fn element<L: Lanes>(lanes: L, are_large: [u8; MAX_LANES]) -> Element<L> {
        let limbs = std::array::from_fn(|k| {
            let words = are_large.map(|are_large| Self::limb(are_large, k));
            L::Field::limb_of(lanes, lanes.load(&words))
        });
        Element { lanes, limbs }
    }

    fn number(are_large: u8) -> Number {
        let radix = Number::small(1 << integers::BITS);
        (0..5).rev().fold(Number::small(0), |number, k| {
            let limb = Self::limb(are_large, k) & integers::MASK;
            number.times(radix).plus(Number::small(limb.cast_signed()))
        })
    }
}

impl<L: Lanes> Job<L> for CheckLargestWords {
    type Output = ();

    fn run(self, lanes: L) {
        let others = self.are_large.map(|bits| bits.wrapping_mul(29) ^ 0b10110);
        let (a, b) = (
            Self::element(lanes, self.are_large),
            Self::element(lanes, others),
        );
        let (product, square) = (a.times(&b), a.squared());
        let four = [&product, &square, &square].into_iter();
        let four = four.fold(square.plus(&square), |sum, one| sum.plus(one));
        let eight = four.plus(&square).minus(&product);
        let nothing = Element::splat(lanes, Constant::ZERO).squared();
        let results = [
            product.reduce(),
            square.reduce(),
            eight.reduce(),
            nothing.minus(&square).reduce(),
            &a + &b,
            &a - &b,
            -&a,
        ];
        for lane in 0..L::COUNT {
            let x = Self::number(self.are_large[lane]);
            let y = Self::number(others[lane]);
            let (xx, xy) = (x.times(x), x.times(y));
            let five = (0..4).fold(xx, |sum, _| sum.plus(xx));
            let expected = [
                xy,
                xx,
                five,
                Number::small(0).minus(xx),
                x.plus(y),
                x.minus(y),
                Number::small(0).minus(x),
            ];
            for (k, (result, expected)) in results.iter().zip(expected).enumerate() {
                assert_eq!(bytes_of(result)[lane], expected.to_bytes(), "{k}");
            }
        }
        for result in &results {
            let highest = L::Field::bits_of(lanes, result.limbs[4]);
            let limit = (1 << integers::HIGHEST_BITS) + (1 << 7);
            assert!(lanes.store(highest).iter().all(|limb| *limb < limit));
        }
    }
}

#[test]
fn products_of_the_largest_words_are_right() {
    for first in (0..32).step_by(8) {
        let are_large = std::array::from_fn(|lane| first + lane as u8);
        in_integers(CheckLargestWords { are_large });
    }
}

/// The model multiplies as Intel's manual says.
#[test]
fn the_model_takes_and_gives_52_bits() {
    let words = |x: u64| [x; MAX_LANES];
    let largest = (1 << 52) - 1;
    for (a, b, low, high) in [
        (largest, largest, 1, largest - 1),
        // The bits above are ignored.
        (u64::MAX, 3, largest - 2, 2),
        (1 << 26, 1 << 26, 0, 1),
    ] {
        assert_eq!(Model.add_low(words(5), words(a), words(b)), words(5 + low));
        assert_eq!(
            Model.add_high(words(u64::MAX), words(a), words(b)),
            words(high - 1)
        );
    }
}

/// Returns numbers around 0, p, 2^255 and the borders of limbs.
fn edges() -> Vec<[u8; 32]> {
    let mut edges: Vec<_> = (-40..40).map(|x| Number::small(x).to_bytes()).collect();
    for k in 1..5 {
        let border = (0..k).fold(Number::small(1), |x, _| {
            x.times(Number::small(1 << LIMB_BITS))
        });
        for x in [-1, 0, 1] {
            edges.push(border.plus(Number::small(x)).to_bytes());
            edges.push(border.plus(border).plus(Number::small(x)).to_bytes());
        }
        edges.push(border.times(Number::small(1 << 50)).to_bytes());
    }
    // From p to 2^255 and beyond, which no canonical encoding has.
    for lowest in 0xe8..=0xff {
        let mut bytes = [0xff; 32];
        bytes[0] = lowest;
        edges.push(bytes);
        bytes[31] = 0x7f;
        edges.push(bytes);
    }
    edges
}

#[test]
fn operations_at_the_edges_are_right() {
    let edges = edges();
    for shift in [0, 1, 7, 50] {
        for first in (0..edges.len()).step_by(MAX_LANES) {
            let pick = |offset: usize| {
                std::array::from_fn(|lane| edges[(first + lane + offset) % edges.len()])
            };
            everywhere(CheckOperations {
                a: pick(0),
                b: pick(shift),
            });
            everywhere(CheckRoots {
                u: pick(0),
                v: pick(shift),
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn operations_are_right(a: [[u8; 32]; MAX_LANES], b: [[u8; 32]; MAX_LANES]) {
        everywhere(CheckOperations { a, b });
    }

    #[test]
    fn roots_are_right(u: [[u8; 32]; MAX_LANES], v: [[u8; 32]; MAX_LANES]) {
        everywhere(CheckRoots { u, v });
    }
}
