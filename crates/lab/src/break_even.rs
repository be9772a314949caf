//! Rates at which two protocols take the same time.

use psijoin_channel::link::Link;
use serde::Serialize;

use crate::{
    ours::Wired,
    published::Metric,
    quantity::{Kind, Quantity, distinct},
};

/// The rate at which two protocols take the same time, for sets of equal size and a round trip of
/// 80 ms.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BreakEven {
    /// The faster one at higher rates.
    pub above: String,
    /// The faster one at lower rates.
    pub below: String,
    /// Items per party.
    pub items: u64,
    /// The rate.
    pub mbps: f64,
    /// The origin of the times.
    pub kind: Kind,
}

/// Returns rates from 0.1 Mbit/s to 100 Gbit/s, four to a power of ten.
fn rates() -> impl Iterator<Item = f64> {
    (-4..=20).map(|step| 10_f64.powf(f64::from(step) / 4.0))
}

/// Seconds of a protocol at each rate; none if it was not measured.
struct Times<'a> {
    protocol: &'a str,
    kind: Kind,
    seconds: Vec<f64>,
}

/// Returns all rates at which two of these protocols break even.
pub(crate) fn break_evens(ours: Wired<'_>, protocols: &[&str], items: u64) -> Vec<BreakEven> {
    let protocols = distinct(protocols.iter().copied(), |name| name.to_string());
    let times = protocols.iter().filter_map(|name| times(ours, name, items));
    let times = Vec::from_iter(times);
    let pairs = (0..times.len()).flat_map(|first| (0..first).map(move |second| [first, second]));
    let found = pairs.flat_map(|pair| crossings(ours, pair.map(|place| &times[place]), items));
    found.collect()
}

fn times<'a>(ours: Wired<'_>, protocol: &'a str, items: u64) -> Option<Times<'a>> {
    let values = rates().map(|mbps| ours.middle_seconds(&seconds(protocol, items, mbps)));
    let values = values.collect::<Option<Vec<_>>>()?;
    Some(Times {
        protocol,
        kind: values[0].kind,
        seconds: values.iter().map(|value| value.value).collect(),
    })
}

fn seconds(protocol: &str, items: u64, mbps: f64) -> Quantity {
    let link = format!("wan:{mbps}mbps,80ms").parse::<Link>();
    let link = link.expect("a rate between the least and the most");
    Quantity::new(protocol, Metric::Seconds, items, Some(link))
}

/// Returns where the one that is faster changes.
fn crossings(ours: Wired<'_>, pair: [&Times; 2], items: u64) -> Vec<BreakEven> {
    let [first, second] = pair;
    let is_faster = |place: usize| first.seconds[place] < second.seconds[place];
    let rates = Vec::from_iter(rates());
    let steps = (1..rates.len()).filter(|place| is_faster(*place) != is_faster(place - 1));
    let found = steps.map(|place| {
        let [above, below] = match is_faster(place) {
            true => [first, second],
            false => [second, first],
        };
        BreakEven {
            above: above.protocol.to_owned(),
            below: below.protocol.to_owned(),
            items,
            mbps: between(
                ours,
                [above, below],
                items,
                [rates[place - 1], rates[place]],
            ),
            kind: first.kind.max(second.kind),
        }
    });
    found.collect()
}

/// Halves the step, on a logarithmic scale, until it is known within 1 %.
fn between(ours: Wired<'_>, [above, below]: [&Times; 2], items: u64, [low, high]: [f64; 2]) -> f64 {
    let (mut low, mut high) = (low, high);
    while high / low > 1.01 {
        let middle = (low * high).sqrt();
        let seconds = |times: &Times| ours.middle_seconds(&seconds(times.protocol, items, middle));
        let [fast, slow] = [above, below].map(|times| seconds(times).map(|value| value.value));
        match fast < slow {
            true => high = middle,
            false => low = middle,
        }
    }
    (low * high).sqrt()
}
