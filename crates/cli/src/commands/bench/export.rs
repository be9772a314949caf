//! Measurements as scripts take them.

use serde::Serialize;

use super::{Measurement, Setting};
use crate::phases::Phase;

/// What is known about a protocol's runs.
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
    /// Whether that is too much to trust the figures.
    scattered: bool,
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

/// What `--json` prints for a protocol.
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
        sender_phases: &fastest.sender_phases,
        receiver_phases: &fastest.receiver_phases,
    }
}
