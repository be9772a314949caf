//! Width of CM20's bit matrix (CM20 §3.3).

use crate::{Error, Log2Prob, Security, binomial, code::smallest_width};

/// The smallest number of columns w at which every item of the sender that is not shared
/// meets at least κ ones, but for a probability of at most `share`.
///
/// Each of the `receiver_items` clears one of the `rows` bits of each column, so that a
/// bit is still one with probability p = (1 - 1/rows)^receiver_items, and an item of the
/// sender meets Bin(w, p) ones: `sender_items` · P\[Bin(w, p) < κ\] ≤ `share`.
///
/// # Errors
/// [`Error::Unreachable`] if the matrix has too few rows for the receiver's items, or
/// `share` is zero or absurdly small.
pub fn width_columns(
    rows: u64,
    sender_items: u64,
    receiver_items: u64,
    share: Log2Prob,
) -> Result<u32, Error> {
    let unreachable = Error::Unreachable {
        parameter: "matrix width",
        share,
    };
    if rows < 2 {
        return Err(unreachable);
    }
    // An empty set clears nothing; as if it had one item, so that the coin stays biased.
    let cleared = receiver_items.max(1) as f64;
    let one = (cleared * (-1.0 / rows as f64).ln_1p()).exp();
    if one == 0.0 {
        return Err(unreachable);
    }
    smallest_width(|width| {
        let few_ones = binomial::biased_tail(width, Security::COMPUTATIONAL_BITS, one);
        few_ones.times(sender_items.into()) <= share
    })
    .ok_or(unreachable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask;

    fn share() -> Log2Prob {
        Security::default().failure()
    }

    /// CM20, Table 1: column w.
    #[test]
    fn reproduces_the_widths_of_cm20_table_1() {
        for (log_n, published) in [(16, 609), (18, 615), (20, 621), (22, 627), (24, 633)] {
            let n = 1 << log_n;
            assert_eq!(
                width_columns(n, n, n, share()),
                Ok(published),
                "n = 2^{log_n}"
            );
        }
        let n = 1u64 << 24;
        for (rows, published) in [(n * 9 / 10, 717), (n * 11 / 10, 571), (2 * n, 349)] {
            assert_eq!(
                width_columns(rows, n, n, share()),
                Ok(published),
                "{rows} rows"
            );
        }
    }

    /// CM20, Table 1: both columns ℓ2. A malicious receiver may query H2 2^64 times.
    #[test]
    fn reproduces_the_mask_lengths_of_cm20_table_1() {
        let semi_honest =
            [16, 18, 20, 22, 24].map(|log_n| mask::bits(1 << (2 * log_n), share()).unwrap());
        assert_eq!(semi_honest, [72, 76, 80, 84, 88]);
        let malicious =
            [16, 18, 20, 22, 24].map(|log_n| mask::bits(1 << (64 + log_n), share()).unwrap());
        assert_eq!(malicious, [120, 122, 124, 126, 128]);
    }

    #[test]
    fn too_few_rows_are_an_error() {
        for rows in [0, 1, 2, 1 << 10] {
            assert!(
                width_columns(rows, 1 << 20, 1 << 20, share()).is_err(),
                "{rows} rows"
            );
        }
    }

    #[test]
    fn unequal_and_empty_sets_have_a_width() {
        let few = width_columns(1 << 20, 1 << 10, 1 << 20, share()).unwrap();
        let many = width_columns(1 << 20, 1 << 26, 1 << 20, share()).unwrap();
        assert!(few < 621 && 621 < many, "{few}, {many}");
        assert_eq!(
            width_columns(1 << 20, 0, 0, share()),
            Ok(Security::COMPUTATIONAL_BITS)
        );
    }
}
