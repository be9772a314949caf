//! Measurements as people and scripts read them.

use serde::Serialize;

use super::{Measurement, Run, Setting};
use crate::{
    grid::{Align, Grid},
    humanize,
    phases::Phase,
};

/// What `--json` prints for a protocol.
#[derive(Serialize)]
pub(super) struct Object<'a> {
    protocol: &'static str,
    sender_items: u64,
    receiver_items: u64,
    transport: &'static str,
    network: Option<String>,
    threads: usize,
    runs: usize,
    median_seconds: f64,
    minimum_seconds: f64,
    sender_bytes: u64,
    receiver_bytes: u64,
    bits_per_item: f64,
    flights: u64,
    /// Of both parties together, their input included; of the run that took most.
    peak_memory_bytes: Option<u64>,
    peak_memory_above_input_bytes: Option<u64>,
    /// Of the fastest run.
    sender_phases: &'a [Phase],
    receiver_phases: &'a [Phase],
}

pub(super) fn object<'a>(setting: &Setting, measurement: &'a Measurement) -> Object<'a> {
    let fastest = measurement.fastest();
    Object {
        protocol: measurement.plan.info().name,
        sender_items: setting.sizes.sender,
        receiver_items: setting.sizes.receiver,
        transport: setting.transport.name(),
        network: setting.network.map(|link| link.to_string()),
        threads: setting.threads.get(),
        runs: measurement.runs.len(),
        median_seconds: measurement.median().as_secs_f64(),
        minimum_seconds: fastest.time.as_secs_f64(),
        sender_bytes: fastest.traffic.received.bytes,
        receiver_bytes: fastest.traffic.sent.bytes,
        bits_per_item: bits_per_item(setting, fastest),
        flights: fastest.traffic.flights,
        peak_memory_bytes: peak(measurement, |run| run.peak_bytes),
        peak_memory_above_input_bytes: peak(measurement, |run| run.peak_above_input_bytes),
        sender_phases: &fastest.sender_phases,
        receiver_phases: &fastest.receiver_phases,
    }
}

pub(super) fn tables(setting: &Setting, measurements: &[Measurement]) -> String {
    format!(
        "{}\n\n{}\nBits per item: both directions, per item of the larger set. \
         Memory: the peak of both parties together,\nwhich share the process, beyond their \
         input.\n\nPhases of the fastest run:\n\n{}",
        heading(setting),
        figures_of(setting, measurements),
        phases_of(measurements),
    )
}

fn heading(setting: &Setting) -> String {
    format!(
        "{} of the sender, {} of the receiver; over {}{}; {} per party",
        humanize::counted(setting.sizes.sender, "item"),
        humanize::count(setting.sizes.receiver),
        setting.transport.name(),
        setting
            .network
            .map_or(String::new(), |link| format!(", emulating {link}")),
        humanize::counted(setting.threads.get() as u64, "thread"),
    )
}

fn figures_of(setting: &Setting, measurements: &[Measurement]) -> Grid {
    let mut grid = Grid::new(&[
        ("protocol", Align::Left),
        ("median", Align::Right),
        ("minimum", Align::Right),
        ("sender sends", Align::Right),
        ("receiver sends", Align::Right),
        ("bits/item", Align::Right),
        ("flights", Align::Right),
        ("memory", Align::Right),
    ]);
    for measurement in measurements {
        let fastest = measurement.fastest();
        let memory = peak(measurement, |run| run.peak_above_input_bytes);
        grid.row([
            measurement.plan.info().name.to_owned(),
            humanize::time(measurement.median()),
            humanize::time(fastest.time),
            humanize::bytes(fastest.traffic.received.bytes),
            humanize::bytes(fastest.traffic.sent.bytes),
            format!("{:.1}", bits_per_item(setting, fastest)),
            fastest.traffic.flights.to_string(),
            memory.map_or("?".to_owned(), humanize::bytes),
        ]);
    }
    grid
}

fn phases_of(measurements: &[Measurement]) -> Grid {
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

/// Bits on the wire, both ways, per item of the larger set.
fn bits_per_item(setting: &Setting, run: &Run) -> f64 {
    let items = setting.sizes.sender.max(setting.sizes.receiver).max(1);
    run.traffic.total_bytes() as f64 * 8.0 / items as f64
}

fn peak(measurement: &Measurement, of: impl Fn(&Run) -> Option<u64>) -> Option<u64> {
    measurement.runs.iter().filter_map(of).max()
}
