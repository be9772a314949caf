//! The content of a chart, as a table.

/// The content of a chart, as a table: for those who cannot see it, or want the numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    /// The subject of the cells.
    pub caption: String,
    /// The names of the columns; the first one names the rows.
    pub columns: Vec<String>,
    /// Each has a cell per column.
    pub rows: Vec<Vec<String>>,
}

/// Returns nine digits of a number, as every program reads it.
pub(crate) fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.8e}").parse().unwrap_or(value);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_nine_digits_and_no_exponent() {
        assert_eq!(number(0.1 + 0.2), "0.3");
        assert_eq!(number(65_536.0), "65536");
        assert_eq!(number(1.0 / 3e6), "0.000000333333333");
        assert_eq!(number(1_073_741_824.0 - 2.0), "1073741820");
    }
}
