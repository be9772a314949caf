//! Figures in words.

use crate::published::Metric;

/// Returns three digits, or all before the point.
pub(crate) fn short(value: f64) -> String {
    let digits = match value.abs() {
        0.0 => 0,
        size => (2 - size.log10().floor() as i32).clamp(0, 12) as usize,
    };
    format!("{value:.digits$}")
}

/// Returns a quantity in words.
pub(crate) fn what(metric: &str) -> String {
    match metric.parse() {
        Ok(Metric::UsdPer1000Runs) => "money for 1,000 runs".into(),
        _ => metric.replace('_', " "),
    }
}

/// Returns a value with its unit.
pub(crate) fn amount(metric: &str, value: f64) -> String {
    match metric.parse() {
        Ok(
            Metric::Bytes
            | Metric::SenderBytes
            | Metric::ReceiverBytes
            | Metric::SenderMemoryBytes
            | Metric::ReceiverMemoryBytes,
        ) => {
            format!("{} MB", short(value / f64::from(1 << 20)))
        }
        Ok(Metric::Seconds | Metric::OfflineSeconds | Metric::OnlineSeconds) => {
            format!("{} s", short(value))
        }
        Ok(Metric::UsdPer1000Runs) => format!("${}", short(value)),
        Ok(Metric::Speedup) => format!("{}×", short(value)),
        _ => short(value),
    }
}
