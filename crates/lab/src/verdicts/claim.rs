//! A claim, and its test.

use serde::Serialize;

use super::relation::{self, Relation};
use crate::{
    in_words::what,
    ours::Ours,
    printed::Printed,
    quantity::{Figures, Kind, Quantity},
};

/// A conclusion of a paper.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Claim {
    /// Its id in `conclusions.md`: `CM20-3`. Parts of one have a letter after it.
    pub id: &'static str,
    /// The experiment that it belongs to.
    pub experiment: &'static str,
    /// The claim in short.
    pub says: &'static str,
    /// The tables from which the paper concludes it.
    pub(crate) tables: &'static [&'static str],
    pub(crate) test: Test,
    /// The outcome for the paper's own figures, from `conclusions.md`.
    pub printed: Outcome,
}

/// The test of a claim.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Test {
    /// All of these must hold.
    Relations(fn() -> Vec<Relation>),
    /// All of these must hold for the paper's figures only; why not for ours.
    PaperOnly(fn() -> Vec<Relation>, &'static str),
    /// It cannot be tested, for this reason.
    Impossible(&'static str),
}

/// The outcome of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All that was claimed holds.
    Holds,
    /// The side that takes less is the claimed one, but the factor is another.
    OtherFactor,
    /// Something does not.
    DoesNotHold,
    /// Figures are missing.
    NotMeasured,
    /// No run could tell.
    NotTestable,
}

/// An outcome, and the numbers that decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The claim.
    pub id: &'static str,
    /// The text of the claim.
    pub says: &'static str,
    /// The outcome.
    pub outcome: Outcome,
    /// The reason.
    pub reason: String,
}

impl Claim {
    /// Returns whether it holds for our protocols.
    pub fn on_ours(&self, ours: &Ours) -> Verdict {
        match self.test {
            Test::Relations(relations) => {
                let relations = relations();
                let mut verdict = self.decide(&relations, ours, Gaps::Count);
                if matches!(verdict.outcome, Outcome::OtherFactor | Outcome::DoesNotHold) {
                    let printed = Printed::of(self.tables);
                    if let Some(beside) = relation::beside_printed(&relations, ours, &printed) {
                        let end = if verdict.reason.ends_with('…') {
                            ""
                        } else {
                            "."
                        };
                        verdict.reason += &format!("{end} {beside}");
                    }
                }
                verdict
            }
            Test::PaperOnly(_, why) | Test::Impossible(why) => self.untestable(why),
        }
    }

    /// Returns whether it holds for the paper's own figures. Figures that are not printed are
    /// passed over.
    pub fn on_printed(&self) -> Verdict {
        match self.test {
            Test::Relations(relations) | Test::PaperOnly(relations, _) => {
                let mut verdict = self.decide(&relations(), &Printed::of(self.tables), Gaps::Pass);
                // Whoever printed figures meant these factors.
                if verdict.outcome == Outcome::OtherFactor {
                    verdict.outcome = Outcome::DoesNotHold;
                }
                verdict
            }
            Test::Impossible(why) => self.untestable(why),
        }
    }

    /// Returns what has to be known of ours.
    pub(crate) fn quantities(&self) -> Vec<Quantity> {
        match self.test {
            Test::Relations(relations) => {
                relations().iter().flat_map(Relation::quantities).collect()
            }
            _ => Vec::new(),
        }
    }

    fn untestable(&self, why: &str) -> Verdict {
        self.verdict(Outcome::NotTestable, why.to_owned())
    }

    fn verdict(&self, outcome: Outcome, reason: String) -> Verdict {
        Verdict {
            id: self.id,
            says: self.says,
            outcome,
            reason,
        }
    }

    fn decide(&self, relations: &[Relation], figures: &dyn Figures, gaps: Gaps) -> Verdict {
        let known = relations.iter().filter_map(|one| one.test(figures));
        let known = Vec::from_iter(known);
        let failed = Vec::from_iter(known.iter().filter(|tested| !tested.holds));
        let all = relations.len();
        let complete = known.len() == all || gaps == Gaps::Pass;
        let (outcome, reason) = if !failed.is_empty() {
            let is_other_factor = failed.iter().all(|tested| !tested.is_order);
            let outcome = match is_other_factor {
                true => Outcome::OtherFactor,
                false => Outcome::DoesNotHold,
            };
            (outcome, failures(&failed, known.len()))
        } else if known.is_empty() || !complete {
            let reason = format!("{} of {all} comparisons have all figures", known.len());
            (Outcome::NotMeasured, reason + &missing(relations, figures))
        } else {
            (Outcome::Holds, closest(&known))
        };
        let extrapolated = known.iter().any(|tested| tested.kind == Kind::Extrapolated);
        let note = if extrapolated {
            " (partly extrapolated)"
        } else {
            ""
        };
        self.verdict(outcome, capitalised(&reason) + note)
    }
}

/// Returns the first figure that nobody knows.
fn missing(relations: &[Relation], figures: &dyn Figures) -> String {
    let all = relations.iter().flat_map(Relation::quantities);
    let mut missing = all.filter(|one| figures.value(one).is_none());
    missing.next().map_or(String::new(), |one| {
        let (what, setting) = (what(one.metric.name()), one.setting());
        format!("; not known: {what} of `{}` at {setting}", one.protocol)
    })
}

/// As the beginning of a sentence.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// The treatment of relations without figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gaps {
    Count,
    Pass,
}

/// Returns what fails; if that is of both sorts, how often it is about who takes less.
fn failures(failed: &[&relation::Tested], known: usize) -> String {
    let orders = Vec::from_iter(failed.iter().filter(|tested| tested.is_order));
    let (count, orders_count) = (failed.len(), orders.len());
    let shown = match orders_count {
        0 => failed.iter().collect(),
        _ => orders,
    };
    let shown = shown.into_iter().take(3).map(|tested| &*tested.text);
    let shown = Vec::from_iter(shown).join("; ");
    let more = if count > 3 { "; …" } else { "" };
    match (known, orders_count) {
        (1, _) => shown,
        (_, 0) => format!("{count} of {known} comparisons have another factor: {shown}{more}"),
        (_, orders) if orders == count => {
            format!("{count} of {known} comparisons fail: {shown}{more}")
        }
        (_, orders) => format!(
            "{count} of {known} comparisons fail, {orders} of them in who takes less: {shown}{more}"
        ),
    }
}

/// Returns the relation that is closest to failing, which decides.
fn closest(known: &[relation::Tested]) -> String {
    let by_margin = |a: &&relation::Tested, b: &&relation::Tested| a.margin.total_cmp(&b.margin);
    let closest = known
        .iter()
        .min_by(by_margin)
        .map_or("", |tested| &tested.text);
    match known.len() {
        1 => closest.to_owned(),
        count => format!("all {count} comparisons hold; the closest: {closest}"),
    }
}
