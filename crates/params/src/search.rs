use std::ops::RangeInclusive;

/// Returns the smallest number in the range that suffices, by bisection: if what suffices should
/// not be all from some number on, at least one that does. `None` if the last of the range does
/// not.
pub(crate) fn least(range: RangeInclusive<u64>, suffices: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = range.into_inner();
    if low > high || !suffices(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if suffices(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(high)
}

/// Returns a number that suffices, at most `apart` above one that does not, by bisection from two
/// such numbers. The returned number suffices, even if not all above it do.
pub(crate) fn narrow(
    mut too_few: u32,
    mut enough: u32,
    apart: u32,
    suffices: impl Fn(u32) -> bool,
) -> u32 {
    while enough - too_few > apart {
        let middle = too_few + (enough - too_few) / 2;
        if suffices(middle) {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    enough
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_that_suffices() {
        for first in 3..=20 {
            assert_eq!(least(3..=20, |number| number >= first), Some(first));
        }
        assert_eq!(least(3..=20, |_| true), Some(3));
    }

    #[test]
    fn finds_nothing_where_nothing_suffices() {
        assert_eq!(least(3..=20, |number| number > 20), None);
        assert_eq!(least(std::ops::RangeInclusive::new(4, 3), |_| true), None);
    }

    /// Where it is not all from some number on, still one that does.
    #[test]
    fn what_it_finds_suffices() {
        let odd_or_large = |number| number % 2 == 1 || number > 50;
        for last in (1..100).filter(|last| odd_or_large(*last)) {
            assert!(odd_or_large(least(0..=last, odd_or_large).unwrap()));
        }
    }
}
