//! A claim, and its test.

use serde::Serialize;

use super::{
    relation::{self, Relation},
    rule,
    tally::Tally,
};
use crate::{
    experiments,
    in_words::what,
    measurements::Measured,
    ours::Ours,
    printed::Printed,
    quantity::{Figures, Kind, Quantity, distinct},
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
    /// These must hold, as the rule says.
    Relations(fn() -> Vec<Relation>),
    /// These must hold for the paper's figures only; why not for ours.
    PaperOnly(fn() -> Vec<Relation>, &'static str),
    /// It cannot be tested, for this reason.
    Impossible(&'static str),
}

/// The outcome of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// What was claimed holds, in nine of ten comparisons at least.
    Holds,
    /// The side that takes less is the claimed one, but the factor is another.
    OtherFactor,
    /// Something does not.
    DoesNotHold,
    /// It would hold or not, by where in their scatter the times lie.
    TooClose,
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
    /// The number of comparisons that hold, wherever in their scatter the times lie; and of all.
    pub held: [usize; 2],
}

impl Claim {
    /// Returns whether it holds for our protocols.
    pub fn on_ours(&self, ours: &Ours) -> Verdict {
        match self.test {
            Test::Relations(relations) => {
                let relations = relations();
                let experiment = experiments::find(self.experiment).expect("a test finds all");
                let ours = experiment.figures(ours);
                let mut verdict = self.decide(&relations, &ours, Gaps::Count);
                if matches!(verdict.outcome, Outcome::OtherFactor | Outcome::DoesNotHold) {
                    let printed = Printed::of(self.tables);
                    if let Some(beside) = relation::beside_printed(&relations, &ours, &printed) {
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

    /// Returns whether one of its comparisons is of times, of protocols that were measured: no
    /// other verdict differs from machine to machine.
    pub(crate) fn rests_on(&self, measured: &Measured) -> bool {
        let Test::Relations(relations) = self.test else {
            return false;
        };
        let is_timed = |one: &Quantity| one.network.is_some();
        let is_known = |one: &Quantity| {
            let mut profiles = measured.profiles.iter();
            profiles.any(|profile| profile.protocol == one.protocol)
        };
        relations().iter().any(|relation| {
            let mut timed = relation.quantities();
            timed.retain(is_timed);
            !timed.is_empty() && timed.iter().all(is_known)
        })
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
        Verdict {
            id: self.id,
            says: self.says,
            outcome: Outcome::NotTestable,
            reason: why.to_owned(),
            held: [0; 2],
        }
    }

    fn decide(&self, relations: &[Relation], figures: &dyn Figures, gaps: Gaps) -> Verdict {
        let mut tested = Vec::from_iter(relations.iter().map(|one| (one, one.test(figures))));
        if gaps == Gaps::Pass {
            tested.retain(|(_, tested)| tested.is_some());
        }
        let parts = distinct(tested.iter().map(|(one, _)| one.part()), String::clone);
        let of_part = |part: &String| {
            let own = tested.iter().filter(|(one, _)| &one.part() == part);
            own.map(|(_, tested)| tested.as_ref().map(|tested| tested.grades))
                .collect()
        };
        let outcome = rule::decide(&Vec::from_iter(parts.iter().map(of_part)));
        let known = Vec::from_iter(tested.iter().filter_map(|(_, tested)| tested.as_ref()));
        let tally = Tally::new(&known, tested.len());
        let reason = match outcome {
            Outcome::NotMeasured => tally.without() + &missing(relations, figures),
            outcome => tally.reason(outcome),
        };
        let is_partly = |kind| known.iter().any(|tested| tested.kind == kind);
        let note = match is_partly(Kind::Extrapolated) {
            true => " (partly extrapolated)",
            false => "",
        };
        Verdict {
            id: self.id,
            says: self.says,
            outcome,
            reason: capitalised(&reason) + note,
            held: tally.held(),
        }
    }
}

/// Returns the first figure that nobody knows.
fn missing(relations: &[Relation], figures: &dyn Figures) -> String {
    let all = relations.iter().flat_map(Relation::quantities);
    let unknown = |one: &Quantity| {
        let value = figures.value(one);
        value.is_none_or(|value| value.kind == Kind::Far)
    };
    let mut missing = all.filter(unknown);
    missing.next().map_or(String::new(), |one| {
        let (what, setting) = (what(one.metric.name()), one.setting());
        let why = match figures.value(&one) {
            Some(_) => "too far from what was measured",
            None => "not known",
        };
        format!("; {why}: {what} of `{}` at {setting}", one.protocol)
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
