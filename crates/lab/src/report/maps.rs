//! Maps of who wins where.

use psijoin_channel::link::Link;
use psijoin_chart::{MapChart, Winner};
use psijoin_page::Figure;

use super::charts::{axis, figure, style};
use crate::{
    Ours,
    experiments::MAPPED,
    published::Metric,
    quantity::{Figures, Quantity},
};

/// Returns a round trip of 80 ms, as in the papers' wide area networks.
fn wan(mbps: f64) -> Link {
    format!("wan:{mbps}mbps,80ms")
        .parse()
        .expect("a rate of the axis")
}

/// Returns rates from 1 Mbit/s to 10 Gbit/s.
fn rates() -> Vec<f64> {
    (0..=24)
        .map(|step| 10_f64.powf(f64::from(step) / 6.0))
        .collect()
}

/// Protocols that were measured: those of the papers, and with what came after them.
fn fields(ours: &Ours) -> Vec<(&'static str, Vec<&'static str>)> {
    let seconds = |name: &str| Quantity::new(name, Metric::Seconds, 1 << 16, Some(wan(100.0)));
    let is_known = |name: &&str| ours.value(&seconds(name)).is_some();
    let all = Vec::from_iter(MAPPED.iter().copied().filter(is_known));
    let old = all.iter().copied().filter(|name| !LATEST.contains(name));
    let old = Vec::from_iter(old);
    let mut fields = vec![("of the papers' protocols", old)];
    if fields[0].1.len() < all.len() {
        fields.push(("of all", all));
    }
    fields
}

/// The protocol that no paper has.
const LATEST: [&str; 1] = ["rr22"];

/// Returns the place of the least.
fn least(values: impl Iterator<Item = f64>) -> usize {
    let (place, _) = values
        .enumerate()
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .expect("somebody wins");
    place
}

/// Returns a quantity of a protocol; more than any other if it is not known.
fn value(ours: &Ours, name: &str, metric: Metric, log2: u32, mbps: f64) -> f64 {
    let quantity = Quantity::new(name, metric, 1 << log2, Some(wan(mbps)));
    ours.value(&quantity)
        .map_or(f64::INFINITY, |value| value.value)
}

/// Returns the cheapest of 2^20 items, over the rate and CM20's y/x: 2·seconds + y/x·MB is what a
/// run costs in seconds of a machine.
pub(super) fn cheapest_by_price(ours: &Ours) -> Vec<Figure> {
    let run = |name: &str, mbps| {
        let value = |metric| value(ours, name, metric, 20, mbps);
        [
            value(Metric::Seconds),
            value(Metric::Bytes) / f64::from(1 << 20),
        ]
    };
    // A simulation per column, and a sum per cell.
    let runs =
        |protocols: &[&str], mbps| Vec::from_iter(protocols.iter().map(|name| run(name, mbps)));
    let cost = |price: f64| move |[seconds, mb]: &[f64; 2]| 2.0 * seconds + price * mb;
    let prices = (-12..=12).map(|step| 10_f64.powf(f64::from(step) / 6.0));
    Map {
        title: "The cheapest",
        setting: "2^20 items, a round trip of 80 ms",
        y: ("price of a MB / of a second", 10),
        columns: rates(),
        rows: prices.collect(),
    }
    .figures(ours, |protocols, mbps, prices| {
        let runs = runs(protocols, mbps);
        let cheapest = |price: &f64| least(runs.iter().map(cost(*price)));
        prices.iter().map(cheapest).collect()
    })
}

/// Returns the fastest, over the rate and the number of items.
pub(super) fn fastest_by_items(ours: &Ours) -> Vec<Figure> {
    Map {
        title: "The fastest",
        setting: "a round trip of 80 ms",
        y: ("items per party", 2),
        columns: rates(),
        rows: (8..=24).map(|log2| f64::from(log2).exp2()).collect(),
    }
    .figures(ours, |protocols, mbps, sizes| {
        let seconds =
            |name: &&str, items: f64| value(ours, name, Metric::Seconds, items.log2() as u32, mbps);
        let fastest = |items: &f64| least(protocols.iter().map(|name| seconds(name, *items)));
        sizes.iter().map(fastest).collect()
    })
}

/// A map without its winners.
struct Map {
    title: &'static str,
    setting: &'static str,
    y: (&'static str, u32),
    columns: Vec<f64>,
    rows: Vec<f64>,
}

impl Map {
    /// Returns the maps. `winners` gives the winner in each row of a column.
    fn figures(
        &self,
        ours: &Ours,
        winners: impl Fn(&[&str], f64, &[f64]) -> Vec<usize>,
    ) -> Vec<Figure> {
        let fields = fields(ours).into_iter();
        let fields = fields.filter(|(_, protocols)| !protocols.is_empty());
        let figure = |(who, protocols): (&str, Vec<&str>)| {
            let columns = self.columns.iter();
            let columns = columns.map(|mbps| winners(&protocols, *mbps, &self.rows));
            self.figure(who, &protocols, &Vec::from_iter(columns))
        };
        fields.map(figure).collect()
    }

    fn figure(&self, who: &str, protocols: &[&str], columns: &[Vec<usize>]) -> Figure {
        let row = |number: usize| columns.iter().map(|column| column[number]).collect();
        let cells = Vec::from_iter((0..self.rows.len()).map(row));
        let winners = protocols.iter().map(|name| Winner {
            name: (*name).to_owned(),
            style: style(name),
        });
        let title = format!("{} {who}", self.title);
        let chart = MapChart {
            title: title.clone(),
            description: shares(&cells, protocols),
            x: axis("Mbit/s", 10),
            y: axis(self.y.0, self.y.1),
            columns: self.columns.clone(),
            rows: self.rows.clone(),
            winners: winners.collect(),
            cells,
        };
        figure(&format!("{title}, {}", self.setting), chart)
    }
}

/// Returns how often each of them wins.
fn shares(cells: &[Vec<usize>], protocols: &[&str]) -> String {
    let all = Vec::from_iter(cells.iter().flatten());
    let share = |place: usize| {
        let won = all.iter().filter(|winner| ***winner == place).count();
        (won > 0).then(|| format!("{} wins in {won} of {} places", protocols[place], all.len()))
    };
    let shares = (0..protocols.len()).filter_map(share);
    Vec::from_iter(shares).join(", ") + "."
}
