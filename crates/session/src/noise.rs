//! Noise that the sender adds to the totals of groups, so that they hardly depend on any one key.
//!
//! **What is added.** To each count, and to each sum, a number of its own from the discrete Laplace
//! distribution: P(x) is proportional to exp(−|x|·ε/Δ) over all integers x. A count is in keys, and
//! Δ is 1. A sum is in units of its column's last decimal, and Δ is the larger magnitude of the
//! column's bounds, between which its holder brings the number of each key. OpenDP's sampler works
//! on rational numbers and is exact (Canonne, Kamath and Steinke, "The Discrete Gaussian for
//! Differential Privacy", NeurIPS 2020); its randomness is ChaCha20 with a seed of the operating
//! system.
//!
//! **What that promises.** A key is in one group. If all its rows go from a table, or come to it,
//! the counts of all groups together change by 1 at most, and the sums of a column by Δ. So the
//! counts are ε-differentially private, and so are the sums of each column. Together their ε add
//! up. δ is 0: the shares, and what is opened of them, are modulo 2^64, which is computed from the
//! noisy integers alone, and so is whether a group is withheld.
//!
//! **Room.** What is opened is read as a number from −2^63 on. |x| reaches t with a probability of
//! at most 2·exp(−t·ε/Δ). So all m numbers of noise stay below t = Δ/ε · ln 2 · (σ + 1 + log2 m),
//! but for a probability of 2^-σ. There must be room for that beside the largest sum.

use std::ops::RangeInclusive;

use dashu::{
    base::Sign,
    integer::{IBig, UBig},
    rational::RBig,
};
use opendp::traits::samplers::sample_discrete_laplace;
use psijoin::{Request, Role};
use psijoin_source::Decimal;
use zeroize::Zeroizing;

use crate::{
    Error,
    columns::{AgreedColumn, AgreedColumns},
    epsilon::Epsilon,
    fault::NoiseFault,
    requested_groups::RequestedGroups,
    requested_noise::Bound,
};

/// Tenths of ln 2, rounded up.
const LN_2_TENTHS: u128 = 7;

/// The noise of a question, as both parties know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgreedNoise {
    /// The privacy loss of all counts, and again of the sums of each column.
    pub epsilon: Epsilon,
    /// That of the whole answer.
    pub total: Epsilon,
    /// The columns that are added up, in the order in which they were asked for.
    pub columns: Vec<NoisyColumn>,
}

/// A column that is added up with noise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoisyColumn {
    /// The column.
    pub column: AgreedColumn,
    /// The bounds of a key's number, in units of the last decimal.
    bounds: RangeInclusive<i64>,
}

/// What a party does for noise: it brings the numbers of its own columns within their bounds, and
/// as the sender it adds noise.
#[derive(Default)]
pub struct Noising {
    /// The bounds of each of its columns.
    bounds: Vec<RangeInclusive<i64>>,
    /// The numbers that it adds to totals, modulo 2^64.
    pub(crate) numbers: Zeroizing<Vec<u64>>,
}

impl AgreedNoise {
    /// Returns the noise of groups that are asked for, if there is to be some.
    ///
    /// # Errors
    /// [`NoiseFault`] if no number of a column lies between its bounds, or ε is too large.
    pub(crate) fn of(
        asked: Option<&RequestedGroups>,
        columns: &AgreedColumns,
    ) -> Result<Option<Self>, Error> {
        let Some(noise) = asked.and_then(|groups| groups.noise.as_deref()) else {
            return Ok(None);
        };
        let epsilon = noise.epsilon;
        let noisy = |column: &AgreedColumn| {
            let bound = noise.bound(&column.name);
            let bound = bound.expect("the question was checked");
            NoisyColumn::new(column.clone(), bound)
        };
        let total = noise.total(columns.0.len()).ok_or(NoiseFault::Epsilon);
        Ok(Some(Self {
            epsilon,
            total: total?,
            columns: columns.0.iter().map(noisy).collect::<Result<_, _>>()?,
        }))
    }

    /// Checks that 64 bits have room for all totals with their noise.
    ///
    /// # Errors
    /// [`NoiseFault::NoRoom`].
    pub(crate) fn check_room(&self, request: &Request) -> Result<(), NoiseFault> {
        let numbers = request.noise(Role::Sender) as u128;
        let bits = u128::from(request.security.statistical_bits())
            + 1
            + numbers.max(1).ilog2() as u128
            + 1;
        let most_shared = u128::from(request.sizes.smaller());
        let fits = |sensitivity: u64| {
            let sensitivity = u128::from(sensitivity);
            let scale = sensitivity * u128::from(Epsilon::ONE);
            let noise =
                (scale * bits * LN_2_TENTHS).div_ceil(10 * u128::from(self.epsilon.millionths()));
            sensitivity * most_shared + noise < 1 << 63
        };
        if !fits(1) {
            return Err(NoiseFault::Epsilon);
        }
        let mut columns = self.columns.iter();
        match columns.find(|column| !fits(column.sensitivity())) {
            Some(column) => Err(NoiseFault::NoRoom(column.column.name.to_string())),
            None => Ok(()),
        }
    }

    /// Returns what a party in this role does for it. The sender draws its numbers.
    ///
    /// # Errors
    /// [`Error::Randomness`].
    pub(crate) fn begin(&self, role: Role, request: &Request) -> Result<Noising, Error> {
        Ok(Noising {
            bounds: self.bounds(role),
            numbers: match request.noise(role) {
                0 => Zeroizing::default(),
                numbers => self.draw(numbers)?,
            },
        })
    }

    /// Draws this many numbers, as many for the counts as for the sums of each column.
    fn draw(&self, numbers: usize) -> Result<Zeroizing<Vec<u64>>, Error> {
        let of_sums = [Role::Sender, Role::Receiver]
            .into_iter()
            .flat_map(|holder| self.of_holder(holder))
            .map(NoisyColumn::sensitivity);
        let sensitivities: Vec<u64> = [1].into_iter().chain(of_sums).collect();
        let groups = numbers / sensitivities.len();
        // At once, so that no copy is left behind.
        let mut drawn = Zeroizing::new(Vec::with_capacity(numbers));
        for sensitivity in sensitivities {
            let scale = scale(sensitivity, self.epsilon);
            for _ in 0..groups {
                drawn.push(sample(&scale)?);
            }
        }
        Ok(drawn)
    }

    /// Returns the bounds of each column of a party in this role.
    pub(crate) fn bounds(&self, role: Role) -> Vec<RangeInclusive<i64>> {
        let own = self.of_holder(role);
        own.map(|column| column.bounds.clone()).collect()
    }

    fn of_holder(&self, holder: Role) -> impl Iterator<Item = &NoisyColumn> {
        let columns = self.columns.iter();
        columns.filter(move |column| column.column.holder == holder)
    }

    /// Returns what a count is off by at most, in 19 of 20 groups.
    pub fn error_of_counts(&self) -> u64 {
        error(1, self.epsilon)
    }
}

impl NoisyColumn {
    /// Brings bounds to a column's decimals: to the numbers between them.
    fn new(column: AgreedColumn, bound: &Bound) -> Result<Self, NoiseFault> {
        let name = || column.name.to_string();
        let number = |bound: Decimal, round: fn(i128, i128) -> i128| {
            let ten = |decimals: u32| 10_i128.pow(decimals);
            let number = match column.scale.checked_sub(bound.scale) {
                Some(more) => i128::from(bound.mantissa) * ten(more),
                None => round(bound.mantissa.into(), ten(bound.scale - column.scale)),
            };
            i64::try_from(number).map_err(|_| NoiseFault::NoRoom(name()))
        };
        let low = number(bound.low, |number, unit| -(-number).div_euclid(unit))?;
        let high = number(bound.high, i128::div_euclid)?;
        match low <= high {
            true => Ok(Self {
                column,
                bounds: low..=high,
            }),
            false => Err(NoiseFault::NoNumber(name())),
        }
    }

    /// Returns the most by which one key can change a sum, in units of the last decimal.
    fn sensitivity(&self) -> u64 {
        let (low, high) = (self.bounds.start(), self.bounds.end());
        low.unsigned_abs().max(high.unsigned_abs())
    }

    /// Returns the bounds of a key's number.
    pub fn shown_bounds(&self) -> [Decimal; 2] {
        [self.bounds.start(), self.bounds.end()].map(|mantissa| Decimal {
            mantissa: *mantissa,
            scale: self.column.scale,
        })
    }

    /// Returns what a sum is off by at most, in 19 of 20 groups, if the counts have this ε.
    pub fn error(&self, epsilon: Epsilon) -> Decimal {
        let error = error(self.sensitivity(), epsilon);
        Decimal {
            mantissa: error.try_into().unwrap_or(i64::MAX),
            scale: self.column.scale,
        }
    }
}

impl Noising {
    /// Returns that of a lane, which brings numbers within these bounds, and adds nothing.
    pub(crate) fn within(bounds: Vec<RangeInclusive<i64>>) -> Self {
        Self {
            bounds,
            ..Self::default()
        }
    }

    /// Returns whether columns of this party have bounds.
    pub(crate) fn has_bounds(&self) -> bool {
        !self.bounds.is_empty()
    }

    /// Brings the numbers of this party's columns within their bounds. Behind them may be labels,
    /// which stay.
    pub(crate) fn bring_within(&self, columns: &mut [Vec<i64>]) {
        for (column, bounds) in columns.iter_mut().zip(&self.bounds) {
            for number in column {
                *number = *(&*number).clamp(bounds.start(), bounds.end());
            }
        }
    }
}

/// Returns Δ/ε.
fn scale(sensitivity: u64, epsilon: Epsilon) -> RBig {
    let numerator = IBig::from(sensitivity) * Epsilon::ONE;
    RBig::from_parts(numerator, UBig::from(epsilon.millionths()))
}

/// Draws a number of this scale, modulo 2^64.
fn sample(scale: &RBig) -> Result<u64, Error> {
    let drawn = sample_discrete_laplace(scale.clone()).map_err(|_| Error::Randomness)?;
    let (sign, magnitude) = drawn.into_parts();
    let low = u64::try_from(magnitude & UBig::from(u64::MAX)).expect("64 bits");
    Ok(match sign {
        Sign::Positive => low,
        Sign::Negative => low.wrapping_neg(),
    })
}

/// Returns 3·Δ/ε, rounded up: noise is larger once in twenty times, as ln 20 is just below 3.
fn error(sensitivity: u64, epsilon: Epsilon) -> u64 {
    let error = 3 * u128::from(sensitivity) * u128::from(Epsilon::ONE);
    let error = error.div_ceil(epsilon.millionths().into());
    error.try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requested_output::ColumnName;

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    fn column(scale: u32) -> AgreedColumn {
        AgreedColumn {
            name: "sender.a".parse::<ColumnName>().unwrap(),
            holder: Role::Sender,
            scale,
        }
    }

    fn noisy(scale: u32, bound: &str) -> Result<NoisyColumn, NoiseFault> {
        NoisyColumn::new(column(scale), &format!("sender.a:{bound}").parse().unwrap())
    }

    #[test]
    fn bounds_are_the_numbers_between_them() {
        for (scale, bound, low, high) in [
            (2, "0..500", 0, 50_000),
            (0, "-2.5..2.5", -2, 2),
            (1, "-0.25..0.25", -2, 2),
            (1, "0.21..0.3", 3, 3),
            (0, "-7..-3", -7, -3),
        ] {
            assert_eq!(noisy(scale, bound).unwrap().bounds, low..=high, "{bound}");
        }
        assert!(matches!(noisy(0, "0.2..0.8"), Err(NoiseFault::NoNumber(_))));
        assert!(matches!(noisy(18, "0..10"), Err(NoiseFault::NoRoom(_))));
    }

    #[test]
    fn a_key_changes_a_sum_by_its_largest_magnitude() {
        for (bound, sensitivity) in [("-7..3", 7), ("2..3", 3), ("0..0", 0)] {
            assert_eq!(noisy(0, bound).unwrap().sensitivity(), sensitivity);
        }
        assert_eq!(scale(7, epsilon("0.5")), RBig::from(14));
        assert_eq!(error(7, epsilon("0.4")), 53);
        assert_eq!(
            noisy(1, "0..1").unwrap().error(epsilon("2")).to_string(),
            "1.5"
        );
    }

    /// The mean magnitude is about the scale. Of 20,000 draws it has a standard deviation of a
    /// 140th of it.
    #[test]
    fn draws_are_as_large_as_their_scale() {
        let scale = scale(500, epsilon("0.5"));
        let draws = (0..20_000).map(|_| sample(&scale).unwrap() as i64);
        let mean = draws.map(|draw| draw.abs()).sum::<i64>() / 20_000;
        assert!((920..1080).contains(&mean), "{mean}");
        assert_eq!(sample(&RBig::ZERO).unwrap(), 0);
    }

    #[test]
    fn there_is_room_for_all_totals_or_an_error() {
        let check = |keys, bound: &str, loss: &str| {
            let agreed = AgreedNoise {
                epsilon: epsilon(loss),
                total: epsilon(loss),
                columns: vec![noisy(0, bound).unwrap()],
            };
            let groups = psijoin::Groups {
                columns: psijoin::Columns {
                    sender: 1,
                    receiver: 0,
                },
                labels: psijoin::Columns {
                    sender: 256,
                    receiver: 0,
                },
                least: 0,
                noisy: true,
            };
            let output = psijoin::OutputKind::Groups(groups);
            agreed.check_room(&Request::rows(keys, keys).unwrap().output(output))
        };
        assert_eq!(check(1 << 30, "0..1000000000", "0.000001"), Ok(()));
        assert_eq!(check(1, "0..100000000000000000", "1"), Ok(()));
        let no_room = Err(NoiseFault::NoRoom("sender.a".to_owned()));
        assert_eq!(check(1, "0..100000000000000000", "0.1"), no_room);
        assert_eq!(check(100, "0..100000000000000000", "1"), no_room);
    }

    #[test]
    fn only_the_columns_with_bounds_are_brought_within() {
        let noising = Noising {
            bounds: vec![-1..=5],
            numbers: Zeroizing::default(),
        };
        let mut columns = [vec![-3, 0, 9], vec![200, 0, 7]];
        noising.bring_within(&mut columns);
        assert_eq!(columns, [vec![-1, 0, 5], vec![200, 0, 7]]);
    }
}
