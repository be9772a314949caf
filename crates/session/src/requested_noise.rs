//! Noise that is added to the totals of groups, as both parties ask for it.

use std::{fmt, str::FromStr};

use psijoin_printable::Quoted;
use psijoin_source::Decimal;

use crate::{
    epsilon::{Epsilon, decimal},
    fault::QuestionFault,
    names,
    requested_output::ColumnName,
};

/// The name of the distribution.
const LAPLACE: &str = "laplace:";

/// Discrete Laplace noise: `laplace:epsilon=E[,bound=COLUMN:LOW..HIGH…]`. Its text is the same on
/// both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedNoise {
    /// The privacy loss of the counts of all groups, and again of the sums of each column.
    pub epsilon: Epsilon,
    /// The bounds of each column that is added up.
    pub bounds: Vec<Bound>,
}

/// The bounds of a column. The number of each key is brought between them before it is added up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The column, as it is named in the output.
    pub column: ColumnName,
    /// The least number.
    pub low: Decimal,
    /// The greatest number.
    pub high: Decimal,
}

impl RequestedNoise {
    /// Checks that each of these columns has a bound, and no other.
    ///
    /// # Errors
    /// [`QuestionFault::NoBound`] and [`QuestionFault::BoundOfOther`].
    pub fn check(&self, sums: &[ColumnName]) -> Result<(), QuestionFault> {
        let mut missing = sums.iter().filter(|sum| self.bound(sum).is_none());
        if let Some(sum) = missing.next() {
            return Err(QuestionFault::NoBound(sum.to_string()));
        }
        let mut others = self.bounds.iter();
        match others.find(|bound| !sums.contains(&bound.column)) {
            Some(other) => Err(QuestionFault::BoundOfOther(other.column.to_string())),
            None => Ok(()),
        }
    }

    /// Returns the privacy loss of an answer with the sums of this many columns; `None` if that is
    /// too large.
    pub fn total(&self, columns: usize) -> Option<Epsilon> {
        self.epsilon.times(1 + columns as u64)
    }

    /// Returns the bounds of a column, if it has some.
    pub(crate) fn bound(&self, column: &ColumnName) -> Option<&Bound> {
        self.bounds.iter().find(|bound| bound.column == *column)
    }
}

impl FromStr for RequestedNoise {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.strip_prefix(LAPLACE);
        let parts = parts.ok_or("say laplace:epsilon=E[,bound=COLUMN:LOW..HIGH…]")?;
        let (mut epsilon, mut bounds) = (None, Vec::<Bound>::new());
        for part in names::parse(parts)? {
            match part.split_once('=') {
                Some(("epsilon", text)) if epsilon.is_none() => epsilon = Some(text.parse()?),
                Some(("bound", text)) => bounds.push(text.parse()?),
                Some(("epsilon", _)) => return Err("epsilon is given twice".to_owned()),
                _ => return Err("say epsilon=E, and bound=COLUMN:LOW..HIGH".to_owned()),
            }
        }
        for (at, bound) in bounds.iter().enumerate() {
            if bounds[..at].iter().any(|it| it.column == bound.column) {
                let column = bound.column.to_string();
                return Err(format!("the column {} has two bounds", Quoted(&column)));
            }
        }
        let epsilon = epsilon.ok_or("say which epsilon, as in laplace:epsilon=0.5")?;
        Ok(Self { epsilon, bounds })
    }
}

impl fmt::Display for RequestedNoise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{LAPLACE}epsilon={}", self.epsilon)?;
        for bound in &self.bounds {
            let bound = format!("bound={bound}");
            // As a whole in quotes if a comma could part it.
            match bound.contains([',', '"']) {
                true => write!(f, ",\"{}\"", bound.replace('"', "\"\""))?,
                false => write!(f, ",{bound}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once(':');
        let parts = parts.and_then(|(column, range)| Some((column, range.split_once("..")?)));
        let (column, (low, high)) =
            parts.ok_or("a bound is COLUMN:LOW..HIGH, as in bound=amount:0..500")?;
        let read = |text: &str| {
            let why = || format!("the bound {} is not a number", Quoted(text));
            decimal(text).ok_or_else(why)
        };
        let bound = Self {
            column: column.parse()?,
            low: read(low)?,
            high: read(high)?,
        };
        match compared(bound.low) <= compared(bound.high) {
            true => Ok(bound),
            false => Err(format!(
                "{low}..{high} has no numbers: the lower one comes first"
            )),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, low, high } = self;
        write!(f, "{column}:{low}..{high}")
    }
}

/// Returns a number at the most decimals that one may have.
fn compared(Decimal { mantissa, scale }: Decimal) -> i128 {
    i128::from(mantissa) * 10_i128.pow(psijoin_source::MAX_SCALE - scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(text: &str) -> Result<RequestedNoise, String> {
        text.parse()
    }

    #[test]
    fn noise_is_read_as_it_is_shown() {
        for text in [
            "laplace:epsilon=0.5",
            "laplace:epsilon=2,bound=sender.amount:0..500",
            "laplace:epsilon=0.000001,bound=a:-1.5..2,bound=receiver.b:c:0..0.001",
            "laplace:epsilon=1,\"bound=price, \"\"net\"\":0..9\"",
        ] {
            assert_eq!(noise(text).unwrap().to_string(), text);
        }
        // As both sides compare it.
        assert_eq!(
            noise("laplace:bound=a:0.0..5.00,epsilon=0.50")
                .unwrap()
                .to_string(),
            "laplace:epsilon=0.5,bound=a:0..5"
        );
    }

    #[test]
    fn what_is_no_noise_is_refused() {
        for wrong in [
            "",
            "laplace",
            "laplace:",
            "gaussian:epsilon=1",
            "laplace:epsilon=0",
            "laplace:epsilon=1,epsilon=1",
            "laplace:bound=a:0..5",
            "laplace:epsilon=1,bound=a",
            "laplace:epsilon=1,bound=a:5",
            "laplace:epsilon=1,bound=a:5..4",
            "laplace:epsilon=1,bound=a:0..x",
            "laplace:epsilon=1,bound=:0..1",
            "laplace:epsilon=1,bound=a:0..1,bound=a:0..2",
            "laplace:epsilon=1,delta=0.1",
        ] {
            assert!(noise(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_column_that_is_added_up_has_a_bound() {
        let noise = noise("laplace:epsilon=1,bound=sender.a:0..5").unwrap();
        let check = |sums: &[&str]| {
            let sums: Vec<ColumnName> = sums.iter().map(|sum| sum.parse().unwrap()).collect();
            noise.check(&sums)
        };
        assert_eq!(check(&["sender.a"]), Ok(()));
        let missing = QuestionFault::NoBound("receiver.b".to_owned());
        assert_eq!(check(&["sender.a", "receiver.b"]), Err(missing));
        let other = QuestionFault::BoundOfOther("sender.a".to_owned());
        assert_eq!(check(&[]), Err(other));
    }
}
