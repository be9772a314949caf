//! Noise in totals of groups, for scripts.

use psijoin_session::{AgreedNoise, NoisyColumn};
use serde::Serialize;

/// The noise that the sender added to all totals. Numbers are texts, since they are exact.
#[derive(Serialize)]
pub(super) struct NoiseReport {
    distribution: &'static str,
    /// That of the counts, and again of the sums of each column.
    epsilon: String,
    /// That of the whole answer.
    total_epsilon: String,
    columns: Vec<NoisyColumnReport>,
}

/// The bounds within which the numbers of a column were brought.
#[derive(Serialize)]
struct NoisyColumnReport {
    name: String,
    low: String,
    high: String,
}

impl NoiseReport {
    pub(super) fn new(noise: &AgreedNoise) -> Self {
        let column = |noisy: &NoisyColumn| {
            let [low, high] = noisy.shown_bounds().map(|bound| bound.to_string());
            NoisyColumnReport {
                name: noisy.column.name.to_string(),
                low,
                high,
            }
        };
        Self {
            distribution: "discrete laplace",
            epsilon: noise.epsilon.to_string(),
            total_epsilon: noise.total.to_string(),
            columns: noise.columns.iter().map(column).collect(),
        }
    }
}
