//! A report as Markdown.

use std::fmt::Write as _;

use super::{
    Judged, Report, Section,
    text::{COLUMNS, beside, outcome, row},
};
use crate::experiments::NOT_COMPARED;

impl Report<'_> {
    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = "# The papers' comparisons, made again\n\n".to_owned();
        for note in &self.notes {
            let _ = writeln!(text, "- {note}");
        }
        let [holds, fails, open] = self.counted();
        let _ = writeln!(
            text,
            "\nOf the papers' conclusions, {holds} hold, {fails} do not, {open} were not measured."
        );
        for section in &self.experiments {
            write(section, &mut text);
        }
        text += "\n## What is not compared\n\n";
        for (table, reason) in NOT_COMPARED {
            let _ = writeln!(text, "- `{table}`: {reason}");
        }
        text
    }
}

fn write(section: &Section, text: &mut String) {
    let Section {
        name, title, paper, ..
    } = section;
    let _ = write!(text, "\n## {paper}: {title} (`{name}`)\n\n");
    for judged in &section.verdicts {
        verdict(judged, text);
    }
    if section.cells.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n| {} |", COLUMNS.join(" | "));
    let rules = COLUMNS.map(|column| match column {
        "published" | "ours" | "ratio" | "threads" => "---:",
        _ => "---",
    });
    let _ = writeln!(text, "|{}|", rules.join("|"));
    for cell in &section.cells {
        let cells = row(cell).into_iter().map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(text, "| {} |", Vec::from_iter(cells).join(" | "));
    }
}

fn verdict(judged: &Judged, text: &mut String) {
    let verdict = &judged.ours;
    let _ = writeln!(
        text,
        "- **{}** ({}): {} *{}*{}",
        outcome(verdict.outcome),
        verdict.id,
        verdict.says,
        verdict.reason.trim_end_matches('.').to_owned() + ".",
        beside(verdict.outcome, judged.on_printed)
            .map(|printed| " ".to_owned() + &printed)
            .unwrap_or_default()
    );
}
