//! Measurements as scripts and documents take them.

use std::env;

use psijoin_cli::processor;
use psijoin_session::Phase;
use serde::Serialize;
use serde_json::Value;

use super::{Measurement, Setting, tables};

/// The facts about a protocol's runs.
#[derive(Serialize)]
pub(super) struct Object<'a> {
    protocol: &'static str,
    /// As it was asked for.
    output: String,
    /// `null` if there was no such condition.
    min_intersection: Option<u64>,
    sender_items: u64,
    receiver_items: u64,
    shared_items: u64,
    transport: &'static str,
    network: Option<String>,
    threads: usize,
    /// Before those that are counted.
    warm_up_runs: usize,
    runs: usize,
    median_seconds: f64,
    minimum_seconds: f64,
    maximum_seconds: f64,
    /// By which part of the minimum the median is above it; `null` for a single run.
    scatter: Option<f64>,
    /// `true` if that is too much to trust the figures.
    scattered: bool,
    sender_bytes: u64,
    receiver_bytes: u64,
    bits_per_item: f64,
    flights: u64,
    /// Of both parties together, their input included; of the run that took most.
    peak_memory_bytes: Option<u64>,
    peak_memory_above_input_bytes: Option<u64>,
    /// The computing of all threads of both parties in the fastest run.
    processor_seconds: f64,
    post_quantum: bool,
    /// The number of parts of the run; 1 if it was not cut.
    parts: u32,
    /// Over how many streams they ran.
    streams: usize,
    /// `null` if items are not numbers of a known length.
    item_bits: Option<u32>,
    /// Of the fastest run.
    sender_phases: &'a [Phase],
    receiver_phases: &'a [Phase],
}

/// Returns the object that `--export json` prints for a protocol.
pub(super) fn object<'a>(setting: &Setting, measurement: &'a Measurement) -> Object<'a> {
    let (fastest, times) = (measurement.fastest(), &measurement.times);
    let least = setting.question.min_intersection;
    Object {
        protocol: measurement.plan.info().name,
        output: setting.question.asked.to_string(),
        min_intersection: (least > 0).then_some(least),
        sender_items: setting.sizes.sender,
        receiver_items: setting.sizes.receiver,
        shared_items: setting.shared_items(),
        transport: setting.transport.name(),
        network: setting.network.map(|link| link.to_string()),
        threads: setting.threads.get(),
        warm_up_runs: setting.warm_up,
        runs: setting.runs.get(),
        median_seconds: times.median().as_secs_f64(),
        minimum_seconds: times.minimum().as_secs_f64(),
        maximum_seconds: times.maximum().as_secs_f64(),
        scatter: times.scatter(),
        scattered: times.are_scattered(),
        sender_bytes: fastest.traffic.received.bytes,
        receiver_bytes: fastest.traffic.sent.bytes,
        bits_per_item: measurement.bits_per_item(),
        flights: fastest.traffic.flights,
        peak_memory_bytes: measurement.peak(|run| run.peak_bytes),
        peak_memory_above_input_bytes: measurement.peak(|run| run.peak_above_input_bytes),
        processor_seconds: fastest.processor_time.as_secs_f64(),
        post_quantum: setting.question.post_quantum,
        parts: (measurement.plan.parts()).map_or(1, |parts| parts.shape.parts),
        streams: fastest.streams,
        item_bits: setting.item_bits,
        sender_phases: &fastest.sender_phases,
        receiver_phases: &fastest.receiver_phases,
    }
}

/// The columns of `--export csv`, and what they are called in JSON. Scripts rely on the names, and
/// perhaps on the order: new ones come at the end.
const COLUMNS: [(&str, &str); 27] = [
    ("protocol", "protocol"),
    ("output", "output"),
    ("min_intersection", "min_intersection"),
    ("sender_items", "sender_items"),
    ("receiver_items", "receiver_items"),
    ("shared_items", "shared_items"),
    ("transport", "transport"),
    ("network", "network"),
    ("threads", "threads"),
    ("warm_up_runs", "warm_up_runs"),
    ("runs", "runs"),
    ("seconds_min", "minimum_seconds"),
    ("seconds_median", "median_seconds"),
    ("seconds_max", "maximum_seconds"),
    ("scatter", "scatter"),
    ("scattered", "scattered"),
    ("sender_bytes", "sender_bytes"),
    ("receiver_bytes", "receiver_bytes"),
    ("bits_per_item", "bits_per_item"),
    ("flights", "flights"),
    ("peak_memory_bytes", "peak_memory_bytes"),
    (
        "peak_memory_above_input_bytes",
        "peak_memory_above_input_bytes",
    ),
    ("processor_seconds", "processor_seconds"),
    ("parts", "parts"),
    ("streams", "streams"),
    ("post_quantum", "post_quantum"),
    ("item_bits", "item_bits"),
];

/// Returns the first line of `--export csv`.
pub(super) fn csv_header() -> String {
    csv_line(COLUMNS.map(|(name, _)| name.to_owned()))
}

/// Returns the row that `--export csv` prints for a protocol.
pub(super) fn csv_row(setting: &Setting, measurement: &Measurement) -> String {
    let object =
        serde_json::to_value(object(setting, measurement)).expect("figures are plain data");
    csv_line(COLUMNS.map(|(_, name)| match &object[name] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }))
}

fn csv_line(cells: impl IntoIterator<Item = String>) -> String {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(cells.into_iter().collect::<Vec<_>>())
        .expect("a line fits into memory");
    let line = csv.into_inner().expect("a line fits into memory");
    String::from_utf8(line).expect("cells are texts")
}

/// Returns the table that `--export md` prints.
pub(super) fn markdown(setting: &Setting, measurements: &[Measurement]) -> String {
    format!(
        "`{}` on {}; {}; {}:\n\n{}\n{}\n",
        command(env::args().skip(1)),
        processor::name(),
        setting.what(),
        setting.how(),
        tables::figures(measurements).markdown(),
        tables::LEGEND,
    )
}

/// Returns the command of these arguments, as it would be typed.
fn command(args: impl IntoIterator<Item = String>) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:,=+%^".contains(c);
    args.into_iter()
        .fold("psijoin-lab".to_owned(), |said, word| {
            match !word.is_empty() && word.chars().all(is_plain) {
                true => said + " " + &word,
                false => format!("{said} '{}'", word.replace('\'', r"'\''")),
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_quoted_where_a_shell_needs_it() {
        let said = [
            "bench",
            "--output-kind",
            "sum:unit price,it's",
            "--items",
            "2^10:1e6",
        ];
        assert_eq!(
            command(said.map(str::to_owned)),
            r"psijoin-lab bench --output-kind 'sum:unit price,it'\''s' --items 2^10:1e6"
        );
    }

    #[test]
    fn a_cell_with_a_comma_is_quoted() {
        let cells = ["sum:a,b", "", "1"].map(str::to_owned);
        assert_eq!(csv_line(cells), "\"sum:a,b\",,1\n");
    }
}
