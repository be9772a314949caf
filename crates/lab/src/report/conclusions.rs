//! The verdicts alone, as a document: `docs/verdicts.md`.

use std::fmt::Write as _;

use super::{Judged, RULE, Report, Section, counted, outcome};
use crate::{quantity::distinct, verdicts::Outcome};

/// The commands that make the document.
const COMMANDS: &str = "\
```sh
psijoin-lab run   # what fits in ten minutes; with --full, in a night: more is measured
psijoin-lab report --form verdicts --out docs/verdicts.md
```";

/// The most letters of a line of prose.
const LINE: usize = 100;

impl Report<'_> {
    /// As a document with a row per conclusion: its outcome, and the reason where it does not hold.
    pub fn conclusions(&self) -> String {
        let [holds, factor, fails, close, open, untestable] = counted(&self.experiments);
        let introduction = format!(
            "A paper compares protocols as they were implemented then. This page has the verdict on each of their conclusions \
             with psijoin's implementations, computed from measured runs by `psijoin-lab` ([how](laboratory.md), and \
             [what a verdict says](laboratory.md#what-a-verdict-says)). {holds} hold, {factor} hold by another factor, \
             {fails} do not hold, {close} are too close to call, {open} were not measured, and {untestable} cannot be tested \
             here."
        );
        let [machine, runs] = [&self.notes[0], &self.notes[1]];
        let more = "The report has more: every figure beside the published one, with its scatter, and whether a conclusion \
                    holds on the paper's own figures.";
        let mut text = "# What the papers conclude, and whether it holds here\n\n".to_owned();
        text += &wrapped(&introduction);
        let _ = write!(text, "\n{COMMANDS}\n\n");
        text += &wrapped(&format!("{machine} {runs} {RULE} {more}"));
        for paper in distinct(self.experiments.iter().map(|one| one.paper), |one| *one) {
            let _ = write!(
                text,
                "\n## {paper}\n\n| | the paper says | here | comparisons that hold | why not |\n|---|---|---|---|---|\n"
            );
            let own = self.experiments.iter().filter(|one| one.paper == paper);
            let rows = own.flat_map(|section: &Section| &section.verdicts).map(row);
            text.extend(rows);
        }
        text
    }
}

fn row(judged: &Judged) -> String {
    let verdict = &judged.ours;
    let nor = match (verdict.outcome, judged.on_printed) {
        (Outcome::DoesNotHold, Outcome::DoesNotHold) => "; nor on the paper's own figures",
        _ => "",
    };
    let [held, all] = verdict.held;
    let (held, why) = match verdict.outcome {
        Outcome::NotTestable => (String::new(), &*verdict.reason),
        Outcome::Holds if held == all => (format!("{held} of {all}"), ""),
        _ => (format!("{held} of {all}"), &*verdict.reason),
    };
    format!(
        "| {} | {} | {}{nor} | {held} | {} |\n",
        verdict.id,
        verdict.says.replace('|', "\\|"),
        outcome(verdict.outcome),
        why.replace('|', "\\|"),
    )
}

/// Returns words in lines of at most [`LINE`] letters.
fn wrapped(words: &str) -> String {
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let last = lines.last_mut().expect("a line");
        if last.is_empty() {
            *last += word;
        } else if last.chars().count() + 1 + word.chars().count() <= LINE {
            *last += " ";
            *last += word;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n") + "\n"
}
