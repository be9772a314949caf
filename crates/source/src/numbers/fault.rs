//! Faults of numbers.

/// A fault of a cell in a column of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberFault {
    /// It holds something else.
    #[error(
        "not a number (a number is written as 1234, -0.50 or 1.5e3, without a unit; write 1234.5 \
         for 1,234.5 and 1.5 for 1,5; correct or empty the cell)"
    )]
    NotANumber,
    /// It would have very many digits.
    #[error("a number with an exponent beyond 1000 (correct or empty the cell)")]
    Exponent,
    /// It has more than [`MAX_SCALE`](crate::MAX_SCALE) decimals.
    #[error("a number of more than 18 decimals (round it)")]
    TooManyDecimals,
    /// The sum of the column's positive numbers, or of the negative ones, overflows at this many
    /// decimals.
    #[error(
        "the running total overflows 64 bits, at {} (round to fewer \
         decimals, or give larger units, as thousands for ones)", decimals(*.0)
    )]
    Overflow(u32),
}

fn decimals(count: u32) -> String {
    match count {
        1 => "1 decimal".to_owned(),
        _ => format!("{count} decimals"),
    }
}
