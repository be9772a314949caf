//! Measurements as people read them.

use psijoin_frontend::grid::{Align, Grid};
use psijoin_printable::humanize;

use super::{Measurement, Setting};

/// The explanation of the columns of [`figures`].
pub(super) const LEGEND: &str = "\
Scatter: how far the median is above the minimum; a * marks more than 20 %. Bits per item: both
directions, per item of the larger set. Memory: the peak of both parties together, which share the
process, beyond their input. Processor: what all threads of both computed.";

/// Returns all that a terminal shows.
pub(super) fn all(setting: &Setting, measurements: &[Measurement]) -> String {
    format!(
        "{}\n{}\n\n{}\n{LEGEND}\n\nPhases of the fastest run:\n\n{}",
        setting.what(),
        setting.how(),
        figures(measurements),
        phases(measurements),
    )
}

/// Returns the figures of each protocol.
pub(super) fn figures(measurements: &[Measurement]) -> Grid {
    let mut grid = Grid::new(&[
        ("protocol", Align::Left),
        ("median", Align::Right),
        ("minimum", Align::Right),
        ("scatter", Align::Right),
        ("sender sends", Align::Right),
        ("receiver sends", Align::Right),
        ("bits/item", Align::Right),
        ("flights", Align::Right),
        ("memory", Align::Right),
        ("processor", Align::Right),
        ("parts", Align::Right),
    ]);
    for measurement in measurements {
        let fastest = measurement.fastest();
        let memory = measurement.peak(|run| run.peak_above_input_bytes);
        grid.row([
            measurement.plan.info().name.to_owned(),
            humanize::time(measurement.times.median()),
            humanize::time(measurement.times.minimum()),
            scatter(measurement),
            humanize::bytes(fastest.traffic.received.bytes),
            humanize::bytes(fastest.traffic.sent.bytes),
            format!("{:.1}", measurement.bits_per_item()),
            fastest.traffic.flights.to_string(),
            memory.map_or("?".to_owned(), humanize::bytes),
            humanize::time(fastest.processor_time),
            parts(measurement),
        ]);
    }
    grid
}

/// Returns the number of parts, and of the streams they run over.
fn parts(measurement: &Measurement) -> String {
    match measurement.plan.parts() {
        Some(parts) => format!(
            "{}, {}",
            parts.shape.parts,
            humanize::counted(measurement.fastest().streams as u64, "stream")
        ),
        None => "-".to_owned(),
    }
}

/// Shows the scatter, with a mark if it is too much.
fn scatter(measurement: &Measurement) -> String {
    let mark = match measurement.times.are_scattered() {
        true => "* ",
        false => "",
    };
    match measurement.times.scatter() {
        Some(scatter) => format!("{mark}{:.0} %", scatter * 100.0),
        None => "-".to_owned(),
    }
}

fn phases(measurements: &[Measurement]) -> Grid {
    let mut grid = Grid::new(&[
        ("protocol", Align::Left),
        ("party", Align::Left),
        ("phases", Align::Left),
    ]);
    for measurement in measurements {
        let fastest = measurement.fastest();
        for (party, phases) in [
            ("sender", &fastest.sender_phases),
            ("receiver", &fastest.receiver_phases),
        ] {
            let phases: Vec<_> = phases
                .iter()
                .map(|phase| format!("{} {}", phase.name, humanize::time(phase.duration())))
                .collect();
            grid.row([
                measurement.plan.info().name.to_owned(),
                party.to_owned(),
                phases.join(", "),
            ]);
        }
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::{super::times::MOST_SCATTER, *};

    #[test]
    fn the_legend_tells_the_limit() {
        assert!(LEGEND.contains(&format!("more than {:.0} %", MOST_SCATTER * 100.0)));
    }
}
