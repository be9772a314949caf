//! Cells as charts.

use psijoin_chart::{
    Axis, Bar, BarChart, Cost, Group, Line, LineChart, NamedPoint, Origin, Point, Scale,
    ScatterChart,
};
use psijoin_page::Figure;

use super::text::what;
use crate::{
    experiments::{Cell, business, later},
    ours::rates,
    published::{Metric, Paper},
    quantity::{Kind, distinct, items},
    verdicts::short,
};

/// The style of a protocol, which is the same in all charts.
pub(super) fn style(protocol: &str) -> usize {
    const STYLES: [&str; 8] = [
        "rr22",
        "kkrt",
        "cm20",
        "spot-fast",
        "spot-low",
        "dh",
        "psz-cuckoo",
        "naive",
    ];
    let known = STYLES.iter().position(|known| *known == protocol);
    let others = || protocol.bytes().map(usize::from).sum::<usize>() % 8;
    known.unwrap_or_else(others)
}

pub(super) fn axis(label: &str, base: u32) -> Axis {
    Axis {
        label: label.into(),
        scale: Scale::Powers(base),
    }
}

pub(super) fn figure(caption: &str, chart: impl psijoin_chart::Chart + 'static) -> Figure {
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

/// What has a place on a logarithmic axis: a party that sends nothing has none.
fn above_0(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

/// Ratios of ours to what was published: the geometric mean of each protocol, in a chart per quantity.
pub(super) fn ratios(whose: &str, cells: &[&Cell]) -> Vec<Figure> {
    // More of a speedup is no more to pay.
    let taken = cells
        .iter()
        .filter(|cell| cell.metric != Metric::Speedup.name());
    let names = taken.map(|cell| &*cell.metric);
    let metrics = distinct(names, |name| name.to_string()).into_iter();
    let figures = metrics.filter_map(|metric| {
        let alike = cells.iter().filter(|cell| cell.metric == metric);
        let ratios =
            alike.filter_map(|cell| Some((&*cell.protocol, cell.ratio().and_then(above_0)?)));
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

fn means(ratios: &[(&str, f64)]) -> Vec<Group> {
    let protocols = ratios.iter().map(|(protocol, _)| *protocol);
    let group = |protocol: &str| {
        let own = ratios.iter().filter(|(name, _)| *name == protocol);
        let logarithms = Vec::from_iter(own.map(|(_, ratio)| ratio.ln()));
        let value = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
        Group {
            name: protocol.to_owned(),
            bars: vec![Bar {
                label: format!("{}×", short(value)),
                style: style(protocol),
                value,
            }],
        }
    };
    let protocols = distinct(protocols, |name| name.to_string());
    protocols.into_iter().map(group).collect()
}

/// Lines over some quantity: of the paper's protocols, and of later ones.
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
            figure(&format!("{caption}: {who}"), chart)
        })
    };
    let both = [(false, "the paper's protocols"), (true, "later ones")];
    both.into_iter().filter_map(chart).collect()
}

/// None if nothing is known of it.
fn line(protocol: &str, cells: &[&Cell], place: &impl Fn(&Cell) -> Option<f64>) -> Option<Line> {
    let own = cells.iter().filter(|cell| cell.protocol == protocol);
    let mut own = Vec::from_iter(own.filter_map(|cell| Some((place(cell)?, *cell))));
    own.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let points = own.iter().filter_map(|(x, cell)| {
        Some(Point {
            x: *x,
            y: cell.ours.and_then(above_0)?,
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

/// Which line is the lowest on the right.
fn at_the_end(lines: &[Line]) -> String {
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
pub(super) fn over_items(cells: &[&Cell], metric: Metric, paper: Paper) -> Vec<Figure> {
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
pub(super) fn over_bandwidth(cells: &[&Cell], log2: u32, paper: Paper) -> Vec<Figure> {
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

/// Money per place, for sets of the largest size: the first five places of each setting.
pub(super) fn money(cells: &[&Cell]) -> Vec<Figure> {
    let metric = Metric::UsdPer1000Runs.name();
    let of_money = || cells.iter().filter(|cell| cell.metric == metric);
    let largest = of_money().map(|cell| cell.sender_items).max();
    let of_size = of_money().filter(|cell| Some(cell.sender_items) == largest);
    let of_size = Vec::from_iter(of_size.copied());
    let place = |cell: &Cell| {
        let network = cell.network.as_deref().unwrap_or_default();
        Some(format!("{}, {network}", cell.details.get("place")?))
    };
    let places = of_size.iter().filter_map(|cell| place(cell));
    let places = distinct(places, Clone::clone);
    let chart = |setting: &str| {
        let here = places.iter().filter(|place| place.starts_with(setting));
        let groups = here.take(5).map(|name| Group {
            name: name
                .trim_start_matches(setting)
                .trim_matches([' ', ','])
                .to_owned(),
            bars: of_size
                .iter()
                .filter(|cell| place(cell).as_ref() == Some(name))
                .filter_map(|cell| dollars(cell))
                .collect(),
        });
        let groups = Vec::from_iter(groups.filter(|group| !group.bars.is_empty()));
        (!groups.is_empty()).then(|| bars_of_money(setting, groups))
    };
    ["business to business", "Internet"]
        .into_iter()
        .filter_map(chart)
        .collect()
}

fn dollars(cell: &Cell) -> Option<Bar> {
    let value = cell.ours?;
    Some(Bar {
        label: format!("{} ${}", cell.protocol, short(value)),
        style: style(&cell.protocol),
        value,
    })
}

fn bars_of_money(setting: &str, groups: Vec<Group>) -> Figure {
    let cheapest = groups.iter().filter_map(|group| {
        let least = group
            .bars
            .iter()
            .min_by(|a, b| a.value.total_cmp(&b.value))?;
        Some(format!("{}: {}", group.name, least.label))
    });
    let description = format!("The cheapest: {}.", Vec::from_iter(cheapest).join("; "));
    let chart = BarChart {
        title: format!("Dollars for 1,000 runs, {setting}"),
        description,
        axis: Axis {
            label: "dollars for 1,000 runs".into(),
            scale: Scale::Linear,
        },
        groups,
    };
    figure(&format!("Money, {setting}"), chart)
}

/// Seconds over MB with lines of equal money, one chart per network.
pub(super) fn seconds_over_bytes(cells: &[&Cell]) -> Vec<Figure> {
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
                origin: origin(time.kind),
            })
        });
        let points = Vec::from_iter(points);
        (!points.is_empty()).then(|| plane(network, points))
    };
    networks.into_iter().filter_map(chart).collect()
}

fn plane(network: &str, points: Vec<NamedPoint>) -> Figure {
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
        cost: cost(),
    };
    figure(
        &format!("Time and bytes at {network}, with lines of equal money"),
        chart,
    )
}

/// Between Virginia and Oregon, for a thousand runs.
fn cost() -> Option<Cost> {
    let mut places = business().into_iter().filter_map(|(_, place)| place);
    let place = places.find(|place| place.to_string().ends_with("virginia to oregon"))?;
    let rates = rates(&place)?;
    let receiver = rates.receiver?;
    Some(Cost {
        per_x: 1000.0 * rates.sender.usd_per_byte * f64::from(1 << 20),
        per_y: 1000.0 * (rates.sender.usd_per_second + receiver.usd_per_second),
        currency: "$".into(),
        name: "dollars for 1,000 runs".into(),
    })
}
