//! Cells in words.

use crate::{
    BreakEven,
    experiments::Cell,
    in_words::{amount, short, what},
    quantity::items,
    verdicts::Outcome,
};

/// The columns of a table of cells.
const COLUMNS: [&str; 11] = [
    "protocol",
    "items",
    "network",
    "threads",
    "what",
    "published",
    "ours",
    "within",
    "runs",
    "ratio",
    "origin",
];

/// Cells as a table for people: its columns, without those that are empty, and its rows.
pub(super) fn table(cells: &[Cell]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let rows = Vec::from_iter(cells.iter().map(row));
    let is_used = |column: &usize| rows.iter().any(|row| !row[*column].is_empty());
    let used = Vec::from_iter((0..COLUMNS.len()).filter(is_used));
    let columns = used.iter().map(|column| COLUMNS[*column]).collect();
    let chosen = |row: &Vec<String>| used.iter().map(|column| row[*column].clone()).collect();
    let rows = rows.iter().map(chosen).collect();
    (columns, rows)
}

/// Returns a cell as a row of a table.
fn row(cell: &Cell) -> Vec<String> {
    let details = cell.details.iter().map(|(name, text)| detail(name, text));
    let what = [what(&cell.metric)].into_iter().chain(details);
    let amount =
        |value: Option<f64>| value.map_or("–".into(), |value| amount(&cell.metric, value));
    vec![
        format!("`{}`", cell.protocol),
        items([cell.sender_items, cell.receiver_items]).replace(" items", ""),
        cell.network.clone().unwrap_or_default(),
        cell.threads
            .map_or(String::new(), |threads| threads.to_string()),
        what.collect::<Vec<_>>().join(", "),
        amount(cell.published),
        amount(cell.ours),
        cell.range.map_or(String::new(), |[low, high]| {
            let [low, high] = [low, high].map(|end| amount(Some(end)));
            format!("{low} to {high}")
        }),
        cell.runs.map_or(String::new(), |runs| runs.to_string()),
        cell.ratio().map_or("–".into(), short),
        cell.kind.map_or("–", |kind| kind.name()).to_owned(),
    ]
}

fn detail(name: &str, text: &str) -> String {
    match name {
        "item_bits" => format!("items of {text} bits"),
        "place" | "site" => text.to_owned(),
        _ => format!("{} {text}", name.replace('_', " ")),
    }
}

/// All outcomes, from the best on.
pub(super) const OUTCOMES: [Outcome; 6] = [
    Outcome::Holds,
    Outcome::OtherFactor,
    Outcome::DoesNotHold,
    Outcome::TooClose,
    Outcome::NotMeasured,
    Outcome::NotTestable,
];

/// The columns of a table of outcomes by paper.
pub(super) const OUTCOME_COLUMNS: [&str; 7] = [
    "paper",
    "hold",
    "hold by another factor",
    "do not hold",
    "too close to call",
    "not measured",
    "not testable",
];

pub(crate) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "Holds",
        Outcome::OtherFactor => "Other factor",
        Outcome::DoesNotHold => "Does not hold",
        Outcome::TooClose => "Too close to call",
        Outcome::NotMeasured => "Not measured",
        Outcome::NotTestable => "Not testable",
    }
}

/// Returns where the paper's own figures differ from ours.
pub(super) fn beside(ours: Outcome, printed: Outcome) -> Option<String> {
    let differs = ours != printed && printed != Outcome::NotTestable;
    let says = match printed {
        Outcome::Holds => "On the paper's own figures it holds.",
        Outcome::DoesNotHold => "On the paper's own figures it does not hold.",
        _ => return None,
    };
    differs.then(|| says.to_owned())
}

/// The heading of a table of break-even points.
pub(super) const BREAK_EVEN: &str = "Break-even, at a round trip of 80 ms";

/// The columns of a table of break-even points.
pub(super) const BREAK_EVEN_COLUMNS: [&str; 5] =
    ["faster above", "faster below", "items", "Mbit/s", "origin"];

/// Returns a break-even point as a row of a table.
pub(super) fn break_even_row(one: &BreakEven) -> Vec<String> {
    vec![
        format!("`{}`", one.above),
        format!("`{}`", one.below),
        items([one.items; 2]).replace(" items", ""),
        short(one.mbps),
        one.kind.name().to_owned(),
    ]
}
