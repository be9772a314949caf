//! Maps of who wins where.

use psijoin_channel::link::Link;
use psijoin_chart::{MapChart, Winner};
use psijoin_page::Figure;

use super::charts::{axis, figure, style};
use crate::{
    experiments::MAPPED,
    ours::Wired,
    published::Metric,
    quantity::{Figures, Kind, Quantity, Value},
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
fn fields(ours: Wired<'_>) -> Vec<(&'static str, Vec<&'static str>)> {
    let seconds = |name: &str| Quantity::new(name, Metric::Seconds, 1 << 16, Some(wan(100.0)));
    let is_known = |name: &&str| ours.middle_seconds(&seconds(name)).is_some();
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

/// A winner, and whether another one could be the winner: the time of one of the best two was
/// extrapolated, or they are close to each other.
type Won = (usize, bool);

/// Two that are closer than this are too close to call: each scatters by 10 % to either side.
const CLOSE: f64 = 1.2;

/// What uncertain cells are called in a legend.
const UNCERTAIN: &str = "extrapolated, or too close to call";

/// Returns the place of the least.
fn least(values: impl Iterator<Item = Value>) -> Won {
    let mut values = Vec::from_iter(values.enumerate());
    values.sort_by(|(_, a), (_, b)| a.value.total_cmp(&b.value));
    let (place, best) = values[0];
    let next = values.get(1).map(|(_, next)| next);
    let is_extrapolated = |value: &Value| value.kind >= Kind::Extrapolated;
    let is_uncertain = is_extrapolated(&best)
        || next.is_some_and(|next| is_extrapolated(next) || next.value < CLOSE * best.value);
    (place, is_uncertain)
}

/// Returns a quantity of a protocol; more than any other if it is not known.
fn value(ours: Wired<'_>, name: &str, metric: Metric, log2: u32, mbps: f64) -> Value {
    let quantity = Quantity::new(name, metric, 1 << log2, Some(wan(mbps)));
    let unknown = Value::exact(f64::INFINITY, Kind::Measured);
    let value = match metric {
        Metric::Seconds => ours.middle_seconds(&quantity),
        _ => ours.value(&quantity),
    };
    value.unwrap_or(unknown)
}

/// Returns the cheapest of 2^20 items, over the rate and CM20's y/x: 2·seconds + y/x·MB is what a
/// run costs in seconds of a machine.
pub(super) fn cheapest_by_price(ours: Wired<'_>) -> Vec<Figure> {
    let run = |name: &str, mbps| {
        let value = |metric| value(ours, name, metric, 20, mbps);
        (
            value(Metric::Seconds),
            value(Metric::Bytes).value / f64::from(1 << 20),
        )
    };
    // A simulation per column, and a sum per cell.
    let runs =
        |protocols: &[&str], mbps| Vec::from_iter(protocols.iter().map(|name| run(name, mbps)));
    let cost = |price: f64| {
        move |(seconds, mb): &(Value, f64)| seconds.map(|seconds| 2.0 * seconds + price * mb)
    };
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
pub(super) fn fastest_by_items(ours: Wired<'_>) -> Vec<Figure> {
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
        ours: Wired<'_>,
        winners: impl Fn(&[&str], f64, &[f64]) -> Vec<Won>,
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

    fn figure(&self, who: &str, protocols: &[&str], columns: &[Vec<Won>]) -> Figure {
        let row = |number: usize| columns.iter().map(move |column| column[number]);
        let rows = || 0..self.rows.len();
        let cells = Vec::from_iter(rows().map(|number| row(number).map(|won| won.0).collect()));
        let uncertain = rows().map(|number| row(number).map(|won| won.1).collect());
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
            uncertain: uncertain.collect(),
            uncertain_as: UNCERTAIN.into(),
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
