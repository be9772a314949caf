//! Lines over the number of items, or over the rate.

use psijoin_chart::{Axis, Line, LineChart, Point};
use psijoin_page::Figure;

use super::{above_0, axis, figure, origin, range, runs, style};
use crate::{
    experiments::{Cell, later},
    in_words::short,
    in_words::what,
    published::{Metric, Paper},
    quantity::{distinct, items},
};

/// Returns lines over some quantity: of the paper's protocols, and of later ones.
fn lines(
    cells: &[&Cell],
    paper: Paper,
    (caption, x, y): (&str, Axis, Axis),
    place: impl Fn(&Cell) -> Option<f64>,
) -> Vec<Figure> {
    let later = |name: &str| later(paper).contains(&name);
    let protocols = distinct(cells.iter().map(|cell| &*cell.protocol), |name| {
        name.to_string()
    });
    let line = |protocol: &&str| line(protocol, cells, &place);
    let chart = |(is_later, who): (bool, &str)| {
        let chosen = protocols.iter().filter(|name| later(name) == is_later);
        let lines = Vec::from_iter(chosen.filter_map(line));
        (!lines.is_empty()).then(|| {
            let chart = LineChart {
                title: format!("{caption}, {who}"),
                description: at_the_end(&lines),
                x: x.clone(),
                y: y.clone(),
                lines,
            };
            let own = cells
                .iter()
                .filter(|cell| later(&cell.protocol) == is_later);
            let runs = runs(own.copied());
            figure(&format!("{caption}: {who}{runs}"), chart)
        })
    };
    let both = [(false, "the paper's protocols"), (true, "later ones")];
    both.into_iter().filter_map(chart).collect()
}

/// Returns the line of a protocol; `None` if nothing is known of it.
fn line(protocol: &str, cells: &[&Cell], place: &impl Fn(&Cell) -> Option<f64>) -> Option<Line> {
    let own = cells.iter().filter(|cell| cell.protocol == protocol);
    let mut own = Vec::from_iter(own.filter_map(|cell| Some((place(cell)?, *cell))));
    own.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let points = own.iter().filter_map(|(x, cell)| {
        Some(Point {
            x: *x,
            y: cell.ours.and_then(above_0)?,
            range: range(cell),
            origin: origin(cell.kind),
        })
    });
    let mut points = Vec::from_iter(points);
    points.dedup_by(|a, b| a.x == b.x);
    let published = own
        .iter()
        .filter_map(|(x, cell)| Some((*x, cell.published?)));
    // Of several lengths of items, the last is the longest.
    let mut published = Vec::from_iter(published);
    published.reverse();
    published.dedup_by(|a, b| a.0 == b.0);
    published.reverse();
    (points.len() + published.len() > 0).then(|| Line {
        name: protocol.to_owned(),
        style: style(protocol),
        points,
        published,
    })
}

/// Returns which line is the lowest on the right.
pub(super) fn at_the_end(lines: &[Line]) -> String {
    let last = lines
        .iter()
        .filter_map(|line| Some((line.points.last()?, &line.name)));
    let least = last.min_by(|(a, _), (b, _)| a.y.total_cmp(&b.y));
    match least {
        Some((point, name)) => format!(
            "At its right end {name} is the lowest, with {}.",
            short(point.y)
        ),
        None => "Only published figures are known.".into(),
    }
}

/// A quantity over the number of items, on the first network of the cells.
pub(in crate::report) fn over_items(cells: &[&Cell], metric: Metric, paper: Paper) -> Vec<Figure> {
    let alike = || cells.iter().filter(|cell| cell.metric == metric.name());
    let Some(first) = alike().next() else {
        return Vec::new();
    };
    let same = |cell: &&&Cell| (&cell.network, cell.threads) == (&first.network, first.threads);
    let chosen = Vec::from_iter(alike().filter(same).copied());
    let network = first.network.as_ref().map(|network| format!(", {network}"));
    let caption = format!("{}{}", what(metric.name()), network.unwrap_or_default());
    let axes = (
        &*caption,
        axis("items per party", 2),
        axis(&what(metric.name()), 10),
    );
    lines(&chosen, paper, axes, |cell| Some(cell.sender_items as f64))
}

/// Seconds over the rate, with one thread.
pub(in crate::report) fn over_bandwidth(cells: &[&Cell], log2: u32, paper: Paper) -> Vec<Figure> {
    let chosen = cells.iter().filter(|cell| {
        cell.metric == Metric::Seconds.name()
            && cell.sender_items == 1 << log2
            && cell.threads == Some(1)
    });
    let chosen = Vec::from_iter(chosen.copied());
    let caption = format!("Seconds over the rate, {}", items([1 << log2; 2]));
    let axes = (&*caption, axis("Mbit/s", 10), axis("seconds", 10));
    lines(&chosen, paper, axes, |cell| mbps(cell.network.as_ref()?))
}

fn mbps(network: &str) -> Option<f64> {
    let (rate, _) = network.split_once(',')?;
    let gbps = rate.strip_suffix("gbps").map(|rate| (rate, 1000.0));
    let (rate, factor) = gbps.or_else(|| Some((rate.strip_suffix("mbps")?, 1.0)))?;
    Some(rate.parse::<f64>().ok()? * factor)
}
