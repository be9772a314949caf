//! Columns of numbers: their sum for each key.

use psijoin_source::{MAX_SCALE, Number, NumberFault};

/// The facts about a column of numbers, without the numbers. Each distinct key has one number: the
/// sum over the rows with that key.
///
/// All sums over any of the keys fit an `i64` too. An empty cell, or a null, counts as nothing,
/// as in SQL's `SUM`. So does a row without a key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Numbers {
    /// The most decimals of any of the column's numbers, at most [`MAX_SCALE`](psijoin_source::MAX_SCALE).
    pub scale: u32,
    /// Rows with a key, but without a number.
    pub empty: u64,
}

/// Bytes of [`Totals`].
const TOTALS_BYTES: usize = 28;

/// Follows the numbers of a column in the order of their rows: their scale, and whether all their
/// sums fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) scale: u32,
    /// Rows with a key, but without a number.
    pub(crate) empty: u64,
    /// The sums of all positive and of all negative numbers so far, which bound all other sums.
    positive: i64,
    negative: i64,
}

impl Totals {
    /// Adds the number in the next cell.
    pub(crate) fn add(&mut self, number: Option<Number>) -> Result<(), NumberFault> {
        let Some(number) = number else {
            self.empty += 1;
            return Ok(());
        };
        if number.scale() > self.scale {
            self.rescale(number.scale())?;
        }
        let overflow = NumberFault::Overflow(self.scale);
        let value = number.at(self.scale).ok_or(overflow)?;
        let total = if value < 0 {
            &mut self.negative
        } else {
            &mut self.positive
        };
        *total = total.checked_add(value).ok_or(overflow)?;
        Ok(())
    }

    /// Adds the numbers of other rows. Their order does not matter: what overflows in one does in
    /// all.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), NumberFault> {
        let mut other = other.clone();
        let scale = self.scale.max(other.scale);
        for totals in [&mut *self, &mut other] {
            totals.rescale(scale)?;
        }
        let overflow = NumberFault::Overflow(scale);
        self.empty += other.empty;
        self.positive = self.positive.checked_add(other.positive).ok_or(overflow)?;
        self.negative = self.negative.checked_add(other.negative).ok_or(overflow)?;
        Ok(())
    }

    /// Returns what is known of the column, without the numbers.
    pub(crate) fn known(&self) -> Numbers {
        Numbers {
            scale: self.scale,
            empty: self.empty,
        }
    }

    /// Returns them as bytes.
    pub(crate) fn to_bytes(&self) -> [u8; TOTALS_BYTES] {
        let mut bytes = [0; TOTALS_BYTES];
        bytes[..4].copy_from_slice(&self.scale.to_le_bytes());
        bytes[4..12].copy_from_slice(&self.empty.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.positive.to_le_bytes());
        bytes[20..].copy_from_slice(&self.negative.to_le_bytes());
        bytes
    }

    /// Reads what [`Self::to_bytes`] has written; `None` if it is something else.
    pub(crate) fn from_bytes(bytes: &[u8; TOTALS_BYTES]) -> Option<Self> {
        let (scale, sums) = bytes.split_first_chunk()?;
        let (sums, _) = sums.as_chunks();
        let totals = Self {
            scale: u32::from_le_bytes(*scale),
            empty: u64::from_le_bytes(sums[0]),
            positive: i64::from_le_bytes(sums[1]),
            negative: i64::from_le_bytes(sums[2]),
        };
        let are_totals = totals.scale <= MAX_SCALE && totals.positive >= 0 && totals.negative <= 0;
        are_totals.then_some(totals)
    }

    fn rescale(&mut self, scale: u32) -> Result<(), NumberFault> {
        let factor = 10_i64.pow(scale - self.scale);
        for total in [&mut self.positive, &mut self.negative] {
            *total = total
                .checked_mul(factor)
                .ok_or(NumberFault::Overflow(scale))?;
        }
        self.scale = scale;
        Ok(())
    }

    /// Returns a number that was added, at the scale of all: it lies between the totals.
    pub(crate) fn value(&self, number: Option<Number>) -> i64 {
        number.map_or(0, |number| number.at(self.scale).expect("it was added"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use psijoin_source::Decimal;

    use super::*;

    /// The numbers of items, and what is known of all.
    type Added = (Vec<i64>, Numbers);

    /// Returns the numbers of items, each in a cell or several.
    fn added(cells: &[(u32, &str)]) -> Result<Added, NumberFault> {
        let mut totals = Totals::default();
        let mut numbers = Vec::new();
        for &(item, cell) in cells {
            let number = Number::parse(cell)?;
            totals.add(number)?;
            numbers.push((item as usize, number));
        }
        let items = cells.iter().map(|cell| cell.0 as usize + 1).max();
        let mut values = vec![0; items.unwrap_or(0)];
        for (item, number) in numbers {
            values[item] += totals.value(number);
        }
        let (scale, empty) = (totals.scale, totals.empty);
        Ok((values, Numbers { scale, empty }))
    }

    #[test]
    fn the_scale_is_that_of_the_most_decimals() {
        let (values, numbers) =
            added(&[(0, "1"), (1, "-2.5"), (2, ""), (0, "0.050"), (1, " ")]).unwrap();
        assert_eq!(values, [1050, -2500, 0]);
        assert_eq!((numbers.scale, numbers.empty), (3, 2));
    }

    #[test]
    fn sums_reach_the_ends_of_their_range_and_not_beyond() {
        let (max, min) = (i64::MAX.to_string(), i64::MIN.to_string());
        let (both, _) = added(&[(0, &max), (1, &min), (0, "0"), (0, "-0")]).unwrap();
        assert_eq!(both, [i64::MAX, i64::MIN]);

        let overflow = Err(NumberFault::Overflow(0));
        assert_eq!(added(&[(0, &max), (1, "1")]), overflow);
        assert_eq!(added(&[(0, &min), (1, "-1")]), overflow);
        // They would cancel out for this key, but the rule is for all rows.
        assert_eq!(added(&[(0, &max), (0, &min), (0, "1")]), overflow);
        assert_eq!(
            added(&[(0, &max), (1, "0.5")]),
            Err(NumberFault::Overflow(1))
        );
        assert_eq!(
            added(&[(0, "0.5"), (1, &max)]),
            Err(NumberFault::Overflow(1))
        );
        let last_place = [(0, "9"), (1, "0.000000000000000001")];
        assert_eq!(
            added(&last_place).unwrap().0,
            [9_000_000_000_000_000_000, 1]
        );
    }

    /// Returns a number of an item as its cell's text: mantissa and scale.
    fn cell() -> impl Strategy<Value = (u32, i64, u32)> {
        (0..6_u32, any::<i64>(), 0..63_u32, 0..=MAX_SCALE)
            .prop_map(|(item, wide, shift, scale)| (item, wide >> shift, scale))
    }

    proptest! {
        #[test]
        fn sums_are_those_of_big_integers(cells in prop::collection::vec(cell(), 0..12)) {
            // Items in the order of their first cells.
            let mut seen = Vec::new();
            let mut item = |key| seen.iter().position(|&known| known == key).unwrap_or_else(|| {
                seen.push(key);
                seen.len() - 1
            });
            let cells: Vec<_> = cells
                .into_iter()
                .map(|(key, mantissa, scale)| (item(key) as u32, mantissa, scale))
                .collect();
            let texts: Vec<_> = cells
                .iter()
                .map(|&(item, mantissa, scale)| (item, Decimal { mantissa, scale }.to_string()))
                .collect();
            let texts: Vec<_> = texts.iter().map(|(item, text)| (*item, text.as_str())).collect();

            let scale = cells.iter().map(|cell| cell.2).max().unwrap_or(0);
            let at_scale = |&(item, mantissa, own): &(u32, i64, u32)| {
                (item as usize, i128::from(mantissa) * 10_i128.pow(scale - own))
            };
            let scaled: Vec<_> = cells.iter().map(at_scale).collect();
            let total = |negative: bool| -> i128 {
                scaled.iter().map(|cell| cell.1).filter(|&value| (value < 0) == negative).sum()
            };
            let fits = [true, false].into_iter().all(|sign| i64::try_from(total(sign)).is_ok());

            match added(&texts) {
                Ok((values, numbers)) => {
                    prop_assert!(fits);
                    prop_assert_eq!(numbers.scale, scale);
                    let mut expected = vec![0; seen.len()];
                    for (item, value) in scaled {
                        expected[item] += value;
                    }
                    let values: Vec<_> = values.into_iter().map(i128::from).collect();
                    prop_assert_eq!(values, expected);
                }
                Err(fault) => {
                    prop_assert!(!fits);
                    prop_assert!(matches!(fault, NumberFault::Overflow(_)));
                }
            }
        }
    }
}
