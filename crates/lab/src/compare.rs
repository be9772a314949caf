//! Two machines, two versions or two campaigns, beside each other.

use std::fmt::Write as _;

use serde::Serialize;

use crate::{
    Ours,
    in_words::short,
    measurements::Measured,
    report::outcome,
    verdicts::{self, Outcome},
};
use psijoin_forecast::{Profile, Run};

/// The computing of each protocol on two machines, with two versions or in two campaigns, at the
/// sizes that both measured; and the verdicts on each.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The first machine, version or campaign.
    pub first: String,
    /// The second one.
    pub second: String,
    /// By protocol and size.
    pub rows: Vec<ComparedRun>,
    /// By conclusion, of those that rest on times of measured protocols.
    pub verdicts: Vec<ComparedVerdict>,
}

/// A run of the same kind on both.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ComparedRun {
    /// The protocol.
    pub protocol: String,
    /// The output.
    pub output: String,
    /// Threads per party.
    pub threads: usize,
    /// Items of the sender, and of the receiver.
    pub items: [u64; 2],
    /// Seconds that both parties compute in sum, in the median: of the first, and of the second.
    pub seconds: [f64; 2],
}

/// The verdicts on a conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ComparedVerdict {
    /// The claim.
    pub id: &'static str,
    /// The outcome on the first, and on the second.
    pub outcomes: [Outcome; 2],
}

impl ComparedRun {
    /// Returns the second over the first: below 1, the second is faster.
    pub fn ratio(&self) -> f64 {
        self.seconds[1] / self.seconds[0]
    }
}

impl ComparedVerdict {
    /// Returns whether both decide, and differ.
    pub fn is_contradiction(&self) -> bool {
        let decides = |outcome: Outcome| {
            matches!(
                outcome,
                Outcome::Holds | Outcome::OtherFactor | Outcome::DoesNotHold
            )
        };
        let [first, second] = self.outcomes;
        first != second && decides(first) && decides(second)
    }
}

/// Compares what two machines, two versions or two campaigns measured.
pub fn compare(first: &Measured, second: &Measured) -> Comparison {
    let rows = first.profiles.iter().flat_map(|profile| {
        let Profile {
            protocol,
            output,
            threads,
            runs,
        } = profile;
        let other = second.profile(protocol, output, *threads);
        let mut runs = Vec::from_iter(runs);
        runs.sort_by_key(|run| (run.items.iter().sum::<u64>(), run.items));
        runs.into_iter().filter_map(move |run| {
            let mut others = other?.runs.iter();
            let other = others.find(|other| other.items == run.items)?;
            Some(ComparedRun {
                protocol: protocol.clone(),
                output: output.clone(),
                threads: *threads,
                items: run.items,
                seconds: [run, other].map(computing),
            })
        })
    });
    let figures = [first, second].map(Ours::new);
    let measured = verdicts::claims().filter(|claim| {
        let rests_on = |measured| claim.rests_on(measured);
        rests_on(first) || rests_on(second)
    });
    let verdicts = measured.map(|claim| ComparedVerdict {
        id: claim.id,
        outcomes: figures.each_ref().map(|ours| claim.on_ours(ours).outcome),
    });
    Comparison {
        first: described(first),
        second: described(second),
        rows: rows.collect(),
        verdicts: verdicts.collect(),
    }
}

fn computing(run: &Run) -> f64 {
    run.scripts.iter().map(|script| script.computing()).sum()
}

/// Returns where something was measured, and in which campaigns if they are others than the first.
fn described(measured: &Measured) -> String {
    let campaigns = measured.campaigns.iter().map(u32::to_string);
    let campaigns = Vec::from_iter(campaigns);
    match &campaigns[..] {
        [] => measured.session.to_string(),
        [one] => format!("{}, campaign {one}", measured.session),
        several => format!("{}, campaigns {}", measured.session, several.join(", ")),
    }
}

impl Comparison {
    /// Returns how many verdicts contradict each other.
    pub fn contradictions(&self) -> usize {
        let contradict = |verdict: &&ComparedVerdict| verdict.is_contradiction();
        self.verdicts.iter().filter(contradict).count()
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let Self {
            first,
            second,
            rows,
            ..
        } = self;
        let mut text = format!(
            "First: {first}. Second: {second}. Seconds are those that both parties compute, in the median.\n\n"
        );
        text += "| protocol | output | threads | sender | receiver | first s | second s | second/first |\n";
        text += "|---|---|---:|---:|---:|---:|---:|---:|\n";
        for row in rows {
            let [sender, receiver] = row.items;
            let [a, b] = row.seconds.map(short);
            let ComparedRun {
                protocol,
                output,
                threads,
                ..
            } = row;
            let ratio = short(row.ratio());
            let _ = writeln!(
                text,
                "| `{protocol}` | {output} | {threads} | {sender} | {receiver} | {a} | {b} | {ratio} |"
            );
        }
        if rows.is_empty() {
            text += "\nThey have no run in common.\n";
        }
        self.write_verdicts(&mut text);
        text
    }

    /// Writes how many verdicts agree, and those that do not.
    fn write_verdicts(&self, text: &mut String) {
        let differ = |verdict: &&ComparedVerdict| verdict.outcomes[0] != verdict.outcomes[1];
        let differing = Vec::from_iter(self.verdicts.iter().filter(differ));
        let contradictions = self.contradictions();
        let _ = writeln!(
            text,
            "\nOf {} verdicts that rest on measured times, {} agree, {} are too close to call or not measured on one side, and {contradictions} contradict \
             each other.",
            self.verdicts.len(),
            self.verdicts.len() - differing.len(),
            differing.len() - contradictions,
        );
        if !differing.is_empty() {
            *text += "\n| conclusion | first | second |\n|---|---|---|\n";
        }
        for ComparedVerdict { id, outcomes } in differing {
            let [first, second] = outcomes.map(outcome);
            let _ = writeln!(text, "| {id} | {first} | {second} |");
        }
    }
}
