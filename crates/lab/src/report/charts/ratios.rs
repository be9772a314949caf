//! Bars: ours over what was published.

use psijoin_chart::{Bar, BarChart, Group, Origin};
use psijoin_page::Figure;

use super::{above_0, axis, figure, style};
use crate::{
    experiments::Cell,
    in_words::{short, what},
    published::Metric,
    quantity::{Kind, distinct},
};

/// Ratios of ours to what was published: the geometric mean of each protocol, in a chart per
/// quantity.
pub(in crate::report) fn ratios(whose: &str, cells: &[&Cell]) -> Vec<Figure> {
    // More of a speedup is no more to pay.
    let taken = cells
        .iter()
        .filter(|cell| cell.metric != Metric::Speedup.name());
    let names = taken.map(|cell| &*cell.metric);
    let metrics = distinct(names, |name| name.to_string()).into_iter();
    let figures = metrics.filter_map(|metric| {
        let alike = cells.iter().filter(|cell| cell.metric == metric);
        let ratios = alike.filter_map(|cell| {
            // What is far from all that was measured says nothing of a mean.
            let kind = cell.kind.filter(|kind| *kind != Kind::Far)?;
            let is_measured = kind != Kind::Extrapolated;
            Some((
                &*cell.protocol,
                cell.ratio().and_then(above_0)?,
                is_measured,
            ))
        });
        let groups = means(&Vec::from_iter(ratios));
        (!groups.is_empty()).then(|| bars_of_ratios(whose, &what(metric), groups))
    });
    figures.collect()
}

fn bars_of_ratios(whose: &str, what: &str, groups: Vec<Group>) -> Figure {
    let bars = groups.iter().flat_map(|group| &group.bars);
    let less = bars.filter(|bar| bar.value < 1.0).count();
    let chart = BarChart {
        title: format!("Ratios to {whose}, {what}"),
        description: format!("{less} of {} ratios are below 1.", groups.len()),
        axis: axis("ours / published (geometric mean)", 10),
        groups,
    };
    figure(
        &format!("{whose}, {what}: to the left, ours takes less"),
        chart,
    )
}

fn means(ratios: &[(&str, f64, bool)]) -> Vec<Group> {
    let protocols = ratios.iter().map(|(protocol, _, _)| *protocol);
    let group = |protocol: &str| {
        let own = Vec::from_iter(ratios.iter().filter(|(name, ..)| *name == protocol));
        let is_measured = own.iter().all(|(_, _, is_measured)| *is_measured);
        let logarithms = Vec::from_iter(own.iter().map(|(_, ratio, _)| ratio.ln()));
        let value = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
        Group {
            name: protocol.to_owned(),
            bars: vec![Bar {
                label: format!("{}×", short(value)),
                style: style(protocol),
                value,
                range: None,
                origin: match is_measured {
                    true => Origin::Measured,
                    false => Origin::Extrapolated,
                },
            }],
        }
    };
    let protocols = distinct(protocols, |name| name.to_string());
    protocols.into_iter().map(group).collect()
}
