//! Groups, for scripts.

use psijoin_session::{AgreedLabels, GroupTotals, Grouped, Outcome, Totals};
use serde::Serialize;

use super::noise::NoiseReport;

/// The groups that both parties agreed on.
#[derive(Serialize)]
pub(super) struct GroupsReport {
    by: Vec<GroupColumnReport>,
    /// Groups of fewer shared keys are withheld; 0 if none is.
    min_group: u64,
    /// Missing if the totals are exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    noise: Option<NoiseReport>,
}

/// A column whose values name groups.
#[derive(Serialize)]
struct GroupColumnReport {
    name: String,
    holder: String,
    /// The number of its different values, or of the labels on its list, with `other` and null.
    labels: usize,
    /// Whether both sides gave a list of its labels, so that its holder told none.
    listed: bool,
}

/// The totals of a group. All are `null` if it is withheld.
#[derive(Serialize)]
pub(super) struct GroupReport {
    /// Its label in each of the columns.
    labels: Vec<Option<String>>,
    withheld: bool,
    shared_keys: Option<i64>,
    /// In the order of the columns that were asked for; decimals as texts, since they are exact.
    sums: Option<Vec<String>>,
    /// Missing if none were asked for. In their order; each `null` where no key is shared, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    means: Vec<Option<String>>,
}

impl GroupsReport {
    /// Returns those of a run, if it had groups.
    pub(super) fn of(outcome: &Outcome) -> Option<Self> {
        let asked = outcome.question.asked.groups()?;
        let by = outcome.groups.0.iter();
        let column = |AgreedLabels { column, labels }: &AgreedLabels| GroupColumnReport {
            name: column.to_string(),
            holder: column.holder.to_string(),
            labels: labels.len(),
            listed: column.public.is_some(),
        };
        Some(Self {
            by: by.map(column).collect(),
            min_group: asked.least,
            noise: outcome.noise.as_ref().map(NoiseReport::new),
        })
    }
}

impl GroupReport {
    pub(super) fn all(grouped: &Grouped) -> Vec<Self> {
        let mean =
            |totals: &Option<Totals>, at: usize| Some(totals.as_ref()?.mean(at)?.to_string());
        let report = |GroupTotals { labels, totals }: &GroupTotals| Self {
            labels: labels.clone(),
            withheld: totals.is_none(),
            shared_keys: totals.as_ref().map(|totals| totals.shared_keys),
            sums: (totals.as_ref())
                .map(|totals| totals.sums.iter().map(ToString::to_string).collect()),
            means: (grouped.means.iter()).map(|at| mean(totals, *at)).collect(),
        };
        grouped.groups.iter().map(report).collect()
    }
}
