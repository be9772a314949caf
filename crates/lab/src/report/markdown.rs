//! A report as Markdown.

use std::fmt::Write as _;

use super::{
    Judged, Report, Section, counted,
    text::{self, BREAK_EVEN, BREAK_EVEN_COLUMNS, beside, break_even_row, outcome},
};
use crate::experiments::NOT_COMPARED;

impl Report<'_> {
    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = "# The papers' comparisons, made again\n\n".to_owned();
        for note in &self.notes {
            let _ = writeln!(text, "- {note}");
        }
        let [holds, factor, fails, close, open, untestable] = counted(&self.experiments);
        let _ = writeln!(
            text,
            "\nOf the papers' conclusions, {holds} hold, {factor} hold by another factor, {fails} do not, {close} are too \
             close to call, {open} were not measured, {untestable} cannot be tested."
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
    for told in &section.circumstances {
        let _ = writeln!(text, "{told}\n");
    }
    for judged in &section.verdicts {
        verdict(judged, text);
    }
    if !section.break_evens.is_empty() {
        let _ = writeln!(text, "\n{BREAK_EVEN}:");
        let rows = section.break_evens.iter().map(break_even_row);
        table(&BREAK_EVEN_COLUMNS, rows, text);
    }
    if !section.cells.is_empty() {
        let (columns, rows) = text::table(&section.cells);
        table(&columns, rows.into_iter(), text);
    }
}

fn table(columns: &[&str], rows: impl Iterator<Item = Vec<String>>, text: &mut String) {
    let _ = writeln!(text, "\n| {} |", columns.join(" | "));
    let rules = columns.iter().map(|column| match *column {
        "published" | "ours" | "runs" | "ratio" | "threads" | "Mbit/s" => "---:",
        _ => "---",
    });
    let _ = writeln!(text, "|{}|", Vec::from_iter(rules).join("|"));
    for row in rows {
        let cells = row.into_iter().map(|cell| cell.replace('|', "\\|"));
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
