//! The pictures in docs/figures, which are drawn from plans and from the documents' own tables.
//!
//! Each test compares a picture with the committed one. To draw them again:
//! `PSIJOIN_DRAW=1 cargo test -p psijoin --test figures`.

use std::{env, fs, path::Path};

use psijoin::{Request, registry};
use psijoin_chart::{Axis, Bar, BarChart, Group, Line, LineChart, Scale};

/// Compares what is drawn with the committed file, or writes that.
fn check(name: &str, drawn: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures");
    let path = folder.join(name);
    if env::var_os("PSIJOIN_DRAW").is_some() {
        fs::create_dir_all(&folder).unwrap();
        fs::write(&path, drawn).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        drawn == committed,
        "docs/figures/{name} is out of date: PSIJOIN_DRAW=1 cargo test -p psijoin --test figures"
    );
}

/// Bits on the wire, both ways, per item of one side, by the set size: exact, from plans.
#[test]
fn traffic_per_item() {
    const PROTOCOLS: [&str; 6] = ["rr22", "dh", "spot-low", "kkrt", "rr22-circuit", "naive"];
    let line = |name: &str| {
        let sizes = (8..=24).map(|log| 1 << log);
        let points = sizes.map(|items| (items as f64, bits_per_item(name, items)));
        Line {
            name: name.into(),
            points: points.collect(),
        }
    };
    let chart = LineChart {
        title: "Bits on the wire per item, by the set size, of six protocols".into(),
        x: Axis {
            label: "items per party".into(),
            scale: Scale::Powers(2),
        },
        y: Axis {
            label: "bits on the wire per item, both ways".into(),
            scale: Scale::Powers(10),
        },
        lines: PROTOCOLS.map(line).to_vec(),
    };
    check("traffic.svg", &chart.svg());
}

fn bits_per_item(name: &str, items: u64) -> f64 {
    let request = Request::rows(items, items).unwrap();
    let plan = registry::find(name).unwrap().plan(&request).unwrap();
    8.0 * plan.cost().total.total_bytes() as f64 / items as f64
}

/// The table in docs/performance.md that compares `rr22` with volepsi, as bars: fastest runs, one
/// thread per party.
#[test]
fn rr22_beside_volepsi() {
    const DOCUMENT: &str = include_str!("../../../docs/performance.md");
    let heading = "| n | threads per party | psijoin | volepsi |";
    let table = DOCUMENT.split(heading).nth(1).expect("the table");
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>())
        .filter(|cells| cells[2] == "1");
    let group = |row: Vec<&str>| {
        let bar = |name, cell| {
            let value = 1e3 * least(cell) / items(row[1]);
            let label = format!("{name} {value:.2}");
            Bar { label, value }
        };
        Group {
            name: row[1].into(),
            bars: vec![bar("psijoin", row[3]), bar("volepsi", row[4])],
        }
    };
    let chart = BarChart {
        title: "Microseconds per item of psijoin and volepsi, by the set size".into(),
        axis: Axis {
            label: "microseconds per item".into(),
            scale: Scale::Linear,
        },
        groups: rows.map(group).collect(),
    };
    check("volepsi.svg", &chart.svg());
}

/// The least number of milliseconds in a cell such as "388, 418, 438" or "1,336 – 1,437".
fn least(cell: &str) -> f64 {
    let numbers = cell.split([' ', '–']).map(|number| {
        let digits = number.replace(',', "");
        digits.parse::<f64>().unwrap_or(f64::INFINITY)
    });
    numbers.fold(f64::INFINITY, f64::min)
}

/// The number in "2^20, malicious".
fn items(cell: &str) -> f64 {
    let log = cell.trim_start_matches("2^").split(',').next();
    log.expect("a size").parse().map(f64::exp2).expect("a size")
}
