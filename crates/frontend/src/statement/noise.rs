//! The noise in totals of groups, for people.

use psijoin::Role;
use psijoin_printable::{Quoted, humanize};
use psijoin_session::{AgreedNoise, NoisyColumn, Outcome};

/// Returns what noise the totals have, for either party.
pub(super) fn added(outcome: &Outcome) -> Option<String> {
    let noise = outcome.noise.as_ref()?;
    if outcome.plan.request().is_decided() {
        return Some("As a set is empty, nothing is shared, and no noise was added.".to_owned());
    }
    let who = match outcome.role {
        Role::Sender => "You",
        Role::Receiver => "The sender",
    };
    let AgreedNoise { epsilon, total, .. } = noise;
    let losses = match noise.columns[..] {
        [] => format!("with ε = {total}"),
        _ => format!(
            "with ε = {epsilon} for the counts and for the sums of each column, which is ε = {total} \
             in all"
        ),
    };
    let columns = noise.columns.iter();
    let columns = columns.map(|column| of_column(column, noise, outcome.role));
    Some(format!(
        "{who} added noise to all of these numbers before they were shown, of the discrete Laplace \
         distribution, {losses}. 19 of 20 counts are off by at most {}.{}",
        humanize::count(noise.error_of_counts()),
        columns.collect::<String>()
    ))
}

/// Returns the bounds of a column, and how far off its sums are.
fn of_column(noisy: &NoisyColumn, noise: &AgreedNoise, role: Role) -> String {
    let [low, high] = noisy.shown_bounds();
    let whose = match noisy.column.holder {
        holder if holder == role => "your".to_owned(),
        holder => format!("the {holder}'s"),
    };
    format!(
        " Each key's number in {whose} column {} was brought between {low} and {high}, and 19 of 20 \
         sums of it are off by at most {}.",
        Quoted(&noisy.column.name.name),
        noisy.error(noise.epsilon)
    )
}
