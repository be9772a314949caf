//! Cells as charts.

mod lines;
mod money;
mod plane;
mod ratios;

use psijoin_chart::{Axis, Chart, Origin, Scale};
use psijoin_page::Figure;

use crate::quantity::Kind;

pub(super) use lines::{over_bandwidth, over_items};
pub(super) use money::money;
pub(super) use plane::seconds_over_bytes;
pub(super) use ratios::ratios;

/// Protocols by style. Colours repeat after some, with other marks.
const STYLES: [&str; 25] = [
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
];

/// Returns the style of a protocol, which is the same in all charts.
pub(super) fn style(protocol: &str) -> usize {
    let known = STYLES.iter().position(|known| *known == protocol);
    known.unwrap_or(STYLES.len())
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
        Some(Kind::Extrapolated) => Origin::Extrapolated,
        _ => Origin::Measured,
    }
}

/// Returns what has a place on a logarithmic axis: a party that sends nothing has none.
fn above_0(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}
