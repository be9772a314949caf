//! The scatter of a measured time.

/// The lower quartile, the median and the upper quartile: what is told of a time.
pub(crate) const QUARTILES: [f64; 3] = [0.25, 0.5, 0.75];

/// The least share of a time that counts as scatter to either side. All runs of a campaign follow
/// each other, and may all be fast or all slow, so their quartiles say too little about the next
/// campaign: of two pairs of campaigns on a shared machine, half of the times differed by more than
/// 7.5 and 15 %, so either of them by 5 to 11 % from what lasts.
const LEAST_SHARE: f64 = 0.1;

/// Returns the lower end, the middle and the upper end of a time: the quartiles of its runs, or as
/// far from the median as campaigns differ anyway.
pub(crate) fn spread(times: &[f64]) -> [f64; 3] {
    let [low, middle, high] = QUARTILES.map(|share| quantile(times, share));
    [
        low.min(middle * (1.0 - LEAST_SHARE)),
        middle,
        high.max(middle * (1.0 + LEAST_SHARE)),
    ]
}

/// Returns the value below which this share of some lies, between two of them if need be.
///
/// # Panics
/// If there are none.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (place - place.floor()) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_values() {
        let values = [5.0, 1.0, 2.0, 4.0, 3.0];
        assert_eq!(
            QUARTILES.map(|share| quantile(&values, share)),
            [2.0, 3.0, 4.0]
        );
        assert_eq!(quantile(&[1.0, 2.0], 0.5), 1.5);
        assert_eq!(quantile(&[7.0], 0.25), 7.0);
    }

    #[test]
    fn a_time_scatters_at_least_as_campaigns_do() {
        assert_eq!(spread(&[100.0]).map(f64::round), [90.0, 100.0, 110.0]);
        assert_eq!(spread(&[50.0, 100.0, 200.0]), [75.0, 100.0, 150.0]);
    }
}
