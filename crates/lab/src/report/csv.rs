//! A report as CSV: a line per figure.

use csv::Writer;

use super::{Report, Section};
use crate::experiments::Cell;

const HEADER: [&str; 16] = [
    "experiment",
    "protocol",
    "paper_name",
    "sender_items",
    "receiver_items",
    "network",
    "threads",
    "metric",
    "details",
    "published",
    "ours",
    "ratio",
    "kind",
    "low",
    "high",
    "runs",
];

impl Report<'_> {
    /// As CSV in the long form: a line per figure, in seconds, bytes and dollars.
    pub fn csv(&self) -> String {
        let mut writer = Writer::from_writer(Vec::new());
        let expect = "memory takes what is written";
        writer.write_record(HEADER).expect(expect);
        for section in &self.experiments {
            for cell in &section.cells {
                writer.write_record(line(section, cell)).expect(expect);
            }
        }
        let bytes = writer.into_inner().expect(expect);
        String::from_utf8(bytes).expect("texts are UTF-8")
    }
}

fn line(section: &Section, cell: &Cell) -> [String; 16] {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let details = cell
        .details
        .iter()
        .map(|(name, text)| format!("{name}={text}"));
    [
        section.name.to_owned(),
        cell.protocol.clone(),
        cell.paper_name.clone().unwrap_or_default(),
        cell.sender_items.to_string(),
        cell.receiver_items.to_string(),
        cell.network.clone().unwrap_or_default(),
        cell.threads
            .map_or(String::new(), |threads| threads.to_string()),
        cell.metric.clone(),
        details.collect::<Vec<_>>().join("; "),
        number(cell.published),
        number(cell.ours),
        number(cell.ratio()),
        cell.kind.map_or("", |kind| kind.name()).to_owned(),
        number(cell.range.map(|[low, _]| low)),
        number(cell.range.map(|[_, high]| high)),
        cell.runs.map_or(String::new(), |runs| runs.to_string()),
    ]
}
