//! The cost of a run over the price of traffic: CM20's Figure 6.

use psijoin_chart::{Line, LineChart, Point};
use psijoin_page::Figure;

use super::{axis, figure, lines::at_the_end, origin, style};
use crate::{
    experiments::later,
    ours::Wired,
    published::{Metric, Paper},
    quantity::{Figures, Quantity, Value, items},
};

/// The networks of the figure, as Table 2 has them.
const NETWORKS: [&str; 3] = ["20gbps,0.1ms", "150mbps,80ms", "30mbps,80ms"];

const PROTOCOLS: [&str; 4] = ["kkrt", "spot-fast", "spot-low", "cm20"];

/// Returns the cost of sets of this size over y/x, the price of a MB in seconds of a machine:
/// 2·seconds + y/x·MB. There is a chart for each network and for the paper's protocols and later
/// ones.
pub(in crate::report) fn cost_by_price(ours: Wired<'_>, log2: u32) -> Vec<Figure> {
    let both = [
        (&PROTOCOLS[..], "the paper's protocols"),
        (later(Paper::Cm20), "later ones"),
    ];
    let charts = both.into_iter().flat_map(|(protocols, who)| {
        NETWORKS.map(|network| chart(ours, protocols, (log2, network, who)))
    });
    charts.flatten().collect()
}

fn chart(
    ours: Wired<'_>,
    protocols: &[&str],
    (log2, network, who): (u32, &str, &str),
) -> Option<Figure> {
    let lines = protocols.iter();
    let lines = Vec::from_iter(lines.filter_map(|name| line(ours, name, log2, network)));
    let caption = format!(
        "Cost by the price of traffic, {}, {network}",
        items([1 << log2; 2])
    );
    (!lines.is_empty()).then(|| {
        let chart = LineChart {
            title: format!("{caption}, {who}"),
            description: at_the_end(&lines),
            x: axis("y/x: price of a MB / of a second", 10),
            y: axis("seconds of a machine", 10),
            lines,
        };
        figure(&format!("{caption}: {who}"), chart)
    })
}

fn line(ours: Wired<'_>, protocol: &str, log2: u32, network: &str) -> Option<Line> {
    let network = format!("wan:{network}").parse().expect("a network");
    let quantity = |metric| Quantity::new(protocol, metric, 1 << log2, Some(network));
    let seconds = ours.value(&quantity(Metric::Seconds))?;
    let mb = ours.value(&quantity(Metric::Bytes))?.value / f64::from(1 << 20);
    let point = |step: i32| {
        let price = 10_f64.powf(f64::from(step) / 4.0);
        let cost: Value = seconds.map(|seconds| 2.0 * seconds + price * mb);
        Point {
            x: price,
            y: cost.value,
            range: Some((cost.range[0], cost.range[1])),
            origin: origin(Some(cost.kind)),
        }
    };
    Some(Line {
        name: protocol.to_owned(),
        style: style(protocol),
        points: (-8..=8).map(point).collect(),
        published: Vec::new(),
    })
}
