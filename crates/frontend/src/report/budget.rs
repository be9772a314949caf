//! What is left of a budget, for scripts.

use psijoin_session::Balance;
use serde::Serialize;

/// The other party's part of a budget. What has no limit is `null`; ε is a text, since it is exact.
#[derive(Serialize)]
pub(super) struct BudgetReport {
    epsilon: Option<String>,
    epsilon_left: Option<String>,
    answers: Option<u64>,
    answers_left: Option<u64>,
}

impl BudgetReport {
    pub(super) fn new(balance: &Balance) -> Self {
        let shown = |epsilon: psijoin_session::Epsilon| epsilon.to_string();
        Self {
            epsilon: balance.limits.epsilon.map(shown),
            epsilon_left: balance.epsilon_left().map(shown),
            answers: balance.limits.answers,
            answers_left: balance.answers_left(),
        }
    }
}
