//! Two machines, or two versions, beside each other.

use std::fmt::Write as _;

use serde::Serialize;

use crate::{in_words::short, measurements::Measured};
use psijoin_forecast::{Profile, Run};

/// The computing of each protocol on two machines or with two versions, at the sizes that both
/// measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The first machine or version.
    pub first: String,
    /// The second one.
    pub second: String,
    /// By protocol and size.
    pub rows: Vec<ComparedRun>,
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
    /// Seconds that both parties compute in sum: of the first, and of the second.
    pub seconds: [f64; 2],
}

impl ComparedRun {
    /// Returns the second over the first: below 1, the second is faster.
    pub fn ratio(&self) -> f64 {
        self.seconds[1] / self.seconds[0]
    }
}

/// Compares what two machines, or two versions, measured.
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
    Comparison {
        first: first.session.to_string(),
        second: second.session.to_string(),
        rows: rows.collect(),
    }
}

fn computing(run: &Run) -> f64 {
    run.scripts.iter().map(|script| script.computing()).sum()
}

impl Comparison {
    /// As Markdown.
    pub fn markdown(&self) -> String {
        let Self {
            first,
            second,
            rows,
        } = self;
        let mut text = format!(
            "First: {first}. Second: {second}. Seconds are those that both parties compute.\n\n"
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
        text
    }
}
