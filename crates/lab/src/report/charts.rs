//! Cells as charts.

mod costs;
mod lines;
mod money;
mod plane;
mod ratios;

use psijoin_chart::{Axis, Chart, Origin, Scale};
use psijoin_page::Figure;

use crate::{experiments::Cell, quantity::Kind};

pub(super) use costs::cost_by_price;
pub(super) use lines::{over_bandwidth, over_items};
pub(super) use money::money;
pub(super) use plane::seconds_over_bytes;
pub(super) use ratios::ratios;

/// Protocols by style: no two look alike. Colours repeat after some, with other marks and dashes.
const STYLES: &[&str] = &[
    "rr22",
    "kkrt",
    "cm20",
    "spot-fast",
    "spot-low",
    "dh",
    "psz-cuckoo",
    "naive",
    "pssz",
    "random-gbf",
    "gbf",
    "dh-ffdhe3072",
    "rsa",
    "circuit-yao",
    "circuit-gmw",
    "circuit-gmw-vector",
    "circuit-gmw-vector-silent",
    "rr22-malicious",
    "cm20-malicious-sender",
    "rr22-circuit",
    "kk20",
    "kk20-silent",
    "psz-simple",
    "psz-balanced",
    "psz-none",
    "spot-low-malicious-sender",
    "gbf-silent",
    "random-gbf-silent",
    "kk20-psm",
    "co18-psm",
    "psty19",
];

/// Returns the style of a protocol, which is the same in all charts.
pub(super) fn style(protocol: &str) -> usize {
    let known = STYLES.iter().position(|known| *known == protocol);
    known.unwrap_or(STYLES.len())
}

/// Returns the ends of a cell's scatter, if there is a place for them on a logarithmic axis.
fn range(cell: &Cell) -> Option<(f64, f64)> {
    let [low, high] = cell.range?;
    Some((above_0(low)?, above_0(high)?))
}

/// Returns how many runs the times of some cells rest on, in words; nothing if none was measured.
fn runs<'a>(cells: impl Iterator<Item = &'a Cell>) -> String {
    let runs = Vec::from_iter(cells.filter_map(|cell| cell.runs));
    match (runs.iter().min(), runs.iter().max()) {
        (Some(least), Some(most)) if least == most => format!("; {least} runs each"),
        (Some(least), Some(most)) => format!("; {least} to {most} runs each"),
        _ => String::new(),
    }
}

pub(super) fn axis(label: &str, base: u32) -> Axis {
    Axis {
        label: label.into(),
        scale: Scale::Powers(base),
    }
}

pub(super) fn figure(caption: &str, chart: impl Chart + 'static) -> Figure {
    Figure {
        caption: caption.into(),
        chart: Box::new(chart),
    }
}

fn origin(kind: Option<Kind>) -> Origin {
    match kind {
        Some(Kind::Exact) => Origin::Exact,
        Some(Kind::Extrapolated | Kind::Far) => Origin::Extrapolated,
        _ => Origin::Measured,
    }
}

/// Returns what has a place on a logarithmic axis: a party that sends nothing has none.
fn above_0(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use psijoin::registry;

    use super::*;

    #[test]
    fn every_protocol_has_a_style_of_its_own() {
        let all = registry::PROTOCOLS.iter().map(|one| one.info().name);
        let unknown = all.filter(|name| !STYLES.contains(name));
        assert_eq!(Vec::from_iter(unknown), Vec::<&str>::new());
        assert_eq!(BTreeSet::from_iter(STYLES).len(), STYLES.len());
        // As many differ even without colours.
        assert!(STYLES.len() <= 35);
    }
}
