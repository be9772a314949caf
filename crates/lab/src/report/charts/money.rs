//! Bars of money.

use psijoin_chart::{Axis, Bar, BarChart, Group, Scale};
use psijoin_page::Figure;

use super::{figure, origin, range, runs, style};
use crate::{experiments::Cell, in_words::short, published::Metric, quantity::distinct};

/// Money per place, for sets of the largest size: the first five places of each setting.
pub(in crate::report) fn money(cells: &[&Cell]) -> Vec<Figure> {
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
        (!groups.is_empty()).then(|| bars_of_money(setting, &runs(of_size.iter().copied()), groups))
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
        range: range(cell),
        origin: origin(cell.kind),
    })
}

fn bars_of_money(setting: &str, runs: &str, groups: Vec<Group>) -> Figure {
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
    figure(&format!("Money, {setting}{runs}"), chart)
}
