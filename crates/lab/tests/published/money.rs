//! CM20's Table 3, computed again: from its times, the bytes of Table 2, and the prices of the
//! paper.

use psijoin_forecast::money::{Prices, Rates, Setting};
use psijoin_lab::published::{self, Metric, Row};

use crate::printed::{self, Printed};

/// The differences, in dollars per 1,000 runs: each of a cent, which the rounding of time and bytes
/// leaves open. The authors had them unrounded.
const ONE_CENT_OFF: [&str; 10] = [
    "Ohio-Virginia internet spot-low: printed 7.50, computed 7.49",
    "Ohio-Virginia internet Ours: printed 1.20, computed 1.19",
    "Oregon-Virginia internet Ours: printed 1.23, computed 1.22",
    "Paris-Oregon internet spot-low: printed 8.75, computed 8.76",
    "Sydney-Oregon b2b spot-fast: printed 6.43, computed 6.42",
    "Sydney-Oregon internet spot-low: printed 9.55, computed 9.56",
    "Sydney-Paris internet spot-fast: printed 3.57, computed 3.56",
    "Sydney-Paris internet spot-low: printed 9.68, computed 9.69",
    "Sydney-Paris b2b Ours: printed 5.12, computed 5.11",
    "Sydney-Paris internet Ours: printed 1.93, computed 1.92",
];

#[test]
fn all_costs_of_table_3() {
    let costs = Vec::from_iter(table_3().filter(|row| row.metric == Metric::UsdPer1000Runs));
    assert_eq!(costs.len(), 5 * 4 * 2);
    let differing = costs.iter().filter_map(|row| {
        let (printed, protocol) = (&row.printed, &row.protocol);
        let computed = like(printed, usd_per_1000_runs(row, Rounding::None));
        assert!(rounding_allows(row), "{row:?}");
        let differs = format!(
            "{} {} {protocol}: printed {printed}, computed {computed}",
            site(row),
            setting(row)
        );
        (computed != *printed).then_some(differs)
    });
    assert_eq!(Vec::from_iter(differing), ONE_CENT_OFF);
}

#[test]
fn the_ratio_of_table_3_with_the_bytes_of_kkrt() {
    let mut sites = 0;
    for row in table_3().filter(|row| row.protocol == "KKRT" && row.metric == Metric::Seconds) {
        let [sender, receiver] = bytes("KKRT").map(|sent| sent.value as u64);
        let ratio = rates(site(row), "b2b").y_over_x(sender, receiver);
        let printed = row.more.get("y_over_x").unwrap();
        assert_eq!(printed, like(printed, ratio), "{}", site(row));
        sites += 1;
    }
    assert_eq!(sites, 5);
}

#[test]
fn no_other_bytes_give_the_ratio_of_sydney() {
    let ratio = |site, protocol| {
        let [sender, receiver] = bytes(protocol).map(|sent| sent.value as u64);
        let ratio = rates(site, "b2b").y_over_x(sender, receiver);
        format!("{ratio:.2}")
    };
    let protocols = ["KKRT", "spot-fast", "spot-low", "Ours"];
    let sydney = |site| protocols.map(|protocol| ratio(site, protocol));
    assert_eq!(sydney("Sydney-Oregon"), ["2.69", "2.00", "1.48", "1.42"]);
    assert_eq!(sydney("Sydney-Paris"), ["2.50", "1.86", "1.38", "1.32"]);
}

fn table_3() -> impl Iterator<Item = &'static Row> {
    published::find("cm20-table-3").unwrap().rows.iter()
}

fn site(row: &'static Row) -> &'static str {
    row.more.get("site").unwrap()
}

fn setting(row: &'static Row) -> &'static str {
    row.more.get("setting").unwrap()
}

/// Returns what a protocol sends at 2^20 items: the sender, the receiver.
fn bytes(protocol: &str) -> [Printed; 2] {
    let rows = &published::find("cm20-table-2").unwrap().rows;
    [Metric::SenderBytes, Metric::ReceiverBytes].map(|metric| {
        let mut rows = rows.iter().filter(|row| row.sender_items == 1 << 20);
        let row = rows.find(|row| row.protocol == protocol && row.metric == metric);
        printed::read(&row.unwrap().printed)
    })
}

fn rates(site: &str, setting: &str) -> Rates {
    let (sender, receiver) = site.split_once('-').unwrap();
    let [sender, receiver] = [sender, receiver].map(str::to_ascii_lowercase);
    let setting = match setting {
        "b2b" => Setting::BusinessToBusiness { sender, receiver },
        "internet" => Setting::Internet { sender },
        _ => panic!("no such setting: {setting}"),
    };
    Prices::shipped("cm20").unwrap().rates(&setting).unwrap()
}

/// The position of figures that were rounded when they were printed.
#[derive(Clone, Copy)]
enum Rounding {
    Least,
    None,
    Most,
}

/// Returns the value that a row of costs should have.
fn usd_per_1000_runs(row: &'static Row, rounding: Rounding) -> f64 {
    let mut times = table_3().filter(|time| time.metric == Metric::Seconds);
    let time = times.find(|time| (site(time), &time.protocol) == (site(row), &row.protocol));
    let exact = |figure: Printed| match rounding {
        Rounding::Least => figure.value - figure.rounding,
        Rounding::None => figure.value,
        Rounding::Most => figure.value + figure.rounding,
    };
    let seconds = exact(printed::read(&time.unwrap().printed));
    let [sender, receiver] = bytes(&row.protocol).map(|sent| exact(sent) as u64);
    let rates = rates(site(row), setting(row));
    1000.0 * rates.usd(seconds, sender, receiver)
}

/// Returns whether what is printed and what is computed can be the same before rounding.
fn rounding_allows(row: &'static Row) -> bool {
    let printed = printed::read(&row.printed);
    let [least, most] = [Rounding::Least, Rounding::Most].map(|to| usd_per_1000_runs(row, to));
    least <= printed.value + printed.rounding && printed.value - printed.rounding <= most
}

/// Returns a figure with as many decimals as `printed` has.
fn like(printed: &str, figure: f64) -> String {
    let decimals = printed
        .split_once('.')
        .map_or(0, |(_, digits)| digits.len());
    format!("{figure:.decimals$}")
}
