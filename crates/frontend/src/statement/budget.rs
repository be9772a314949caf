//! What is left of a budget, for people.

use psijoin_printable::humanize;
use psijoin_session::Outcome;

/// Returns what is left for the other party, if the answer was taken from a budget.
pub(super) fn left(outcome: &Outcome) -> Option<String> {
    let balance = outcome.balance?;
    let epsilon = (balance.epsilon_left().zip(balance.limits.epsilon))
        .map(|(left, limit)| format!("ε = {left} of {limit}"));
    let answers = (balance.answers_left().zip(balance.limits.answers)).map(|(left, limit)| {
        format!(
            "{} of {}",
            humanize::count(left),
            humanize::counted(limit, "answer")
        )
    });
    let left: Vec<_> = epsilon.into_iter().chain(answers).collect();
    // Of a least change, there is nothing that could be left.
    (!left.is_empty()).then(|| {
        format!(
            "Your budget for this table has {} left for the {}.",
            humanize::listed(&left),
            outcome.role.other()
        )
    })
}
