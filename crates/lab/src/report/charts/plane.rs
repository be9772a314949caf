//! Time and bytes as points, with lines of equal money.

use psijoin_chart::{Cost, NamedPoint, ScatterChart};
use psijoin_page::Figure;

use super::{axis, figure, origin, range, runs, style};
use crate::{Ours, experiments::Cell, published::Metric, quantity::distinct, sites::business};

/// Seconds over MB with lines of equal money, one chart per network.
pub(in crate::report) fn seconds_over_bytes(cells: &[&Cell], ours: &Ours) -> Vec<Figure> {
    let networks = cells.iter().filter_map(|cell| cell.network.as_ref());
    let networks = distinct(networks, |network| network.to_string());
    let chart = |network: &String| {
        let here = |metric: Metric| {
            let here = cells
                .iter()
                .filter(move |cell| cell.network.as_ref() == Some(network));
            here.filter(move |cell| cell.metric == metric.name())
        };
        let points = here(Metric::Seconds).filter_map(|time| {
            let mut sent = here(Metric::Bytes).filter(|cell| cell.protocol == time.protocol);
            Some(NamedPoint {
                name: time.protocol.clone(),
                style: style(&time.protocol),
                x: sent.next()?.ours? / f64::from(1 << 20),
                y: time.ours?,
                range: range(time),
                origin: origin(time.kind),
            })
        });
        let points = Vec::from_iter(points);
        (!points.is_empty()).then(|| {
            plane(
                (network, &runs(here(Metric::Seconds).copied())),
                points,
                ours,
            )
        })
    };
    networks.into_iter().filter_map(chart).collect()
}

fn plane((network, runs): (&str, &str), points: Vec<NamedPoint>, ours: &Ours) -> Figure {
    let fastest = points.iter().min_by(|a, b| a.y.total_cmp(&b.y));
    let least = points.iter().min_by(|a, b| a.x.total_cmp(&b.x));
    let name = |point: Option<&NamedPoint>| point.map_or("none", |point| &point.name).to_owned();
    let description = format!(
        "{} is the fastest, {} sends least.",
        name(fastest),
        name(least)
    );
    let chart = ScatterChart {
        title: format!("Seconds over MB at {network}"),
        description,
        x: axis("MB that both send", 10),
        y: axis("seconds", 10),
        points,
        cost: cost(ours),
    };
    figure(
        &format!("Time and bytes at {network}, with lines of equal money{runs}"),
        chart,
    )
}

/// Returns the cost between Virginia and Oregon, for a thousand runs.
fn cost(ours: &Ours) -> Option<Cost> {
    let mut places = business().into_iter().filter_map(|(_, place)| place);
    let place = places.find(|place| place.to_string().ends_with("virginia to oregon"))?;
    let rates = ours.rates(&place)?;
    let receiver = rates.receiver?;
    Some(Cost {
        per_x: 1000.0 * rates.sender.usd_per_byte * f64::from(1 << 20),
        per_y: 1000.0 * (rates.sender.usd_per_second + receiver.usd_per_second),
        currency: "$".into(),
        name: "dollars for 1,000 runs".into(),
    })
}
