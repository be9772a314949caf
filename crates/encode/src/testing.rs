//! Bounds of failure against what was built.

/// Asserts that the rate of failure is at most 2^`bound`, by chance excepted, and below it by a
/// factor of at most 2^`factor_log2`.
#[track_caller]
pub(crate) fn assert_fails_as_bounded(
    case: &str,
    failed: f64,
    trials: f64,
    bound: f64,
    factor_log2: f64,
) {
    let rate = failed / trials;
    let three_deviations = 3.0 * failed.sqrt() / trials;
    let case = format!("{case}: {failed} failed, bound 2^{bound}");
    assert!(rate - three_deviations <= bound.exp2(), "{case}");
    assert!(rate.log2() >= bound - factor_log2, "{case}");
}
