//! The pictures in docs/figures, which are drawn from plans and from the documents' own tables.
//!
//! Each test compares a picture with the committed one. To draw them again:
//! `PSIJOIN_DRAW=1 cargo test -p psijoin --test figures`.

use std::{env, fs, path::Path};

use psijoin::{Request, registry};
use psijoin_chart::{
    Axis, Bar, BarChart, Chart, Group, Line, LineChart, Medium, Origin, Point, Scale,
};

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
    let point = |name: &str, items| Point {
        x: items as f64,
        y: bits_per_item(name, items),
        range: None,
        origin: Origin::Exact,
    };
    let line = |(style, name): (usize, &str)| Line {
        name: name.into(),
        style,
        points: (8..=24).map(|log| point(name, 1 << log)).collect(),
        published: Vec::new(),
    };
    let chart = LineChart {
        title: "Bits on the wire per item, by the set size, of six protocols".into(),
        description: "naive takes the fewest bits at every size, and rr22-circuit the most. Of the secure ones, \
                      dh takes the fewest up to 2^10 items, and rr22 from 2^14 items on."
            .into(),
        x: Axis {
            label: "items per party".into(),
            scale: Scale::Powers(2),
        },
        y: Axis {
            label: "bits on the wire per item, both ways".into(),
            scale: Scale::Powers(10),
        },
        lines: PROTOCOLS.into_iter().enumerate().map(line).collect(),
    };
    check("traffic.svg", &chart.svg(Medium::File));
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
        let bar = |style, name, cell| {
            let value = 1e3 * least(cell) / items(row[1]);
            Bar {
                label: format!("{name} {value:.2}"),
                style,
                value,
                range: None,
                origin: Origin::Measured,
            }
        };
        Group {
            name: row[1].into(),
            bars: vec![bar(0, "psijoin", row[3]), bar(1, "volepsi", row[4])],
        }
    };
    let chart = BarChart {
        title: "Microseconds per item of psijoin and volepsi, by the set size".into(),
        description: "psijoin takes less at every size.".into(),
        axis: Axis {
            label: "microseconds per item".into(),
            scale: Scale::Linear,
        },
        groups: rows.map(group).collect(),
    };
    check("volepsi.svg", &chart.svg(Medium::File));
}

/// Returns the least number of milliseconds in a cell such as "388, 418, 438" or "1,336 – 1,437".
fn least(cell: &str) -> f64 {
    let numbers = cell.split([' ', '–']).map(|number| {
        let digits = number.replace(',', "");
        digits.parse::<f64>().unwrap_or(f64::INFINITY)
    });
    numbers.fold(f64::INFINITY, f64::min)
}

/// Returns the number in "2^20, malicious".
fn items(cell: &str) -> f64 {
    let log = cell.trim_start_matches("2^").split(',').next();
    log.expect("a size").parse().map(f64::exp2).expect("a size")
}
