//! Writes a page of made-up data that has everything once: `.ci/run` looks at it in a browser.

use std::{env, fs};

use psijoin_chart::{
    Axis, Bar, BarChart, Cost, Group, Line, LineChart, MapChart, NamedPoint, Origin, Point, Scale,
    ScatterChart, Winner,
};
use psijoin_page::{Block, Figure, Outcome, Page, Section, Table, Verdict};

/// Made-up protocols: a name, seconds of computing and megabytes for 2^20 items.
const PROTOCOLS: [(&str, f64, f64); 7] = [
    ("swift", 0.4, 40.0),
    ("thrifty", 4.0, 8.0),
    ("balanced", 1.1, 18.0),
    ("older", 0.9, 110.0),
    ("circuit", 30.0, 900.0),
    ("points-on-a-curve", 120.0, 10.0),
    ("thrifty-malicious-sender", 4.4, 8.5),
];

fn main() {
    let path = env::args().nth(1).expect("the file to write");
    fs::write(path, page().html()).expect("a file that can be written");
}

fn page() -> Page {
    Page {
        title: "A page of made-up numbers".into(),
        introduction: vec![
            "It shows what a report can have, and nothing else: no number here was measured.".into(),
            "Texts with <angle brackets>, \"quotes\" & ampersands are plain; `code` stands between backticks."
                .into(),
        ],
        sections: vec![
            section("Ratios to what was published", vec![verdicts(), figures(vec![
                figure("Time of ours, in times that of the paper", ratios(&["2^16", "2^20", "2^24"])),
                figure("The same, with long names", ratios(&[
                    "Table 2, 10 Mbit/s, 2^16 items",
                    "Table 2, 1 Mbit/s, 2^20 items",
                ])),
            ])]),
            Section {
                heading: "Networks".into(),
                blocks: vec![Block::Paragraph("Time is computing, and bytes over bandwidth.".into())],
                sections: vec![
                    section("Time by bandwidth", vec![figures(vec![
                        figure("2^20 items, four protocols", by_bandwidth(4)),
                        figure("2^20 items, all protocols", by_bandwidth(7)),
                    ]), Block::Table(wide_table())]),
                    section("Time by size", vec![figures(vec![figure("1 Gbit/s", by_size())])]),
                ],
            },
            section("Money", vec![figures(vec![
                figure("Time and traffic, with lines of equal money", money(&PROTOCOLS)),
                figure("Many protocols that take much the same", money(&crowd())),
                figure("The cheapest protocol", cheapest(24, 16)),
                figure("The cheapest protocol, at few places", cheapest(5, 4)),
            ])]),
        ],
    }
}

fn section(heading: &str, blocks: Vec<Block>) -> Section {
    Section {
        heading: heading.into(),
        blocks,
        sections: Vec::new(),
    }
}

fn figures(figures: Vec<Figure>) -> Block {
    Block::Figures(figures)
}

fn figure(caption: &str, chart: impl psijoin_chart::Chart + 'static) -> Figure {
    Figure {
        caption: caption.into(),
        chart: Box::new(chart),
    }
}

fn verdicts() -> Block {
    let verdict = |outcome, claim: &str, reason: &str| Verdict {
        outcome,
        claim: claim.into(),
        reason: reason.into(),
    };
    Block::Verdicts(vec![
        verdict(
            Outcome::Holds,
            "`swift` is the fastest from 100 Mbit/s on",
            "3.6 s beside 4.6 s",
        ),
        verdict(
            Outcome::DoesNotHold,
            "`older` is the fastest at 10 Gbit/s",
            "`swift` takes 0.43 s, `older` 0.99 s",
        ),
        verdict(
            Outcome::OtherFactor,
            "`c` sends twice as much as `d`",
            "It is 1.6.",
        ),
        verdict(
            Outcome::NotTestable,
            "`e` runs out of memory",
            "It is about 4 GB.",
        ),
        verdict(
            Outcome::TooClose,
            "`f` is faster than `g`",
            "1.02 s (0.97 to 1.08) beside 1.05 s",
        ),
        verdict(Outcome::NotRun, "`circuit` takes an hour at 2^24", ""),
    ])
}

fn ratios(groups: &[&str]) -> BarChart {
    let bar = |(style, ratio): (usize, f64)| Bar {
        label: format!("{} {ratio:.2}×", PROTOCOLS[style].0),
        style,
        value: ratio,
        range: (style > 0).then_some((0.9 * ratio, 1.2 * ratio)),
        origin: if style == 2 {
            Origin::Extrapolated
        } else {
            Origin::Measured
        },
    };
    let group = |(number, name): (usize, &&str)| Group {
        name: (*name).into(),
        bars: [0.12, 0.8, 1.9]
            .map(|ratio| ratio * (1.0 + 0.2 * number as f64))
            .into_iter()
            .enumerate()
            .map(bar)
            .collect(),
    };
    BarChart {
        title: "Ratios of times".into(),
        description: "Two of three protocols take less time than was published.".into(),
        axis: axis("ours / published (to the left: ours is faster)", 10),
        groups: groups.iter().enumerate().map(group).collect(),
    }
}

fn axis(label: &str, base: u32) -> Axis {
    Axis {
        label: label.into(),
        scale: Scale::Powers(base),
    }
}

/// Returns the seconds at a bandwidth.
fn seconds((_, computing, megabytes): (&str, f64, f64), mbits: f64) -> f64 {
    computing + 8.0 * megabytes / mbits
}

fn by_bandwidth(protocols: usize) -> LineChart {
    const BANDWIDTHS: [f64; 6] = [1.0, 10.0, 30.0, 100.0, 1000.0, 10_000.0];
    let line = |style: usize| {
        let seconds = |mbits| seconds(PROTOCOLS[style], mbits);
        let point = |mbits| Point {
            x: mbits,
            y: seconds(mbits),
            range: Some((0.8 * seconds(mbits), 1.3 * seconds(mbits))),
            origin: if mbits < 5.0 {
                Origin::Extrapolated
            } else {
                Origin::Measured
            },
        };
        let published = [10.0, 100.0, 1000.0].map(|mbits| (mbits, 1.7 * seconds(mbits)));
        Line {
            name: PROTOCOLS[style].0.into(),
            style,
            points: BANDWIDTHS.map(point).to_vec(),
            published: if style.is_multiple_of(2) {
                published.to_vec()
            } else {
                Vec::new()
            },
        }
    };
    LineChart {
        title: "Seconds by bandwidth".into(),
        description: "Lines fall until computing is all that is left.".into(),
        x: axis("bandwidth, Mbit/s", 10),
        y: axis("seconds", 10),
        lines: (0..protocols).map(line).collect(),
    }
}

fn by_size() -> LineChart {
    let line = |style: usize| {
        let at_2_20 = seconds(PROTOCOLS[style], 1000.0);
        let point = |log: i32| Point {
            x: 2_f64.powi(log),
            y: 0.002 + at_2_20 * 2_f64.powi(log - 20),
            range: None,
            origin: if log > 20 {
                Origin::Extrapolated
            } else {
                Origin::Measured
            },
        };
        Line {
            name: PROTOCOLS[style].0.into(),
            style,
            points: (8..=24).step_by(4).map(point).collect(),
            published: Vec::new(),
        }
    };
    LineChart {
        title: "Seconds by size".into(),
        description: "From 2^16 items on time grows as the sets do.".into(),
        x: axis("items per party", 2),
        y: axis("seconds", 10),
        lines: (0..4).map(line).collect(),
    }
}

fn money(protocols: &[(&str, f64, f64)]) -> ScatterChart {
    let point = |(style, protocol): (usize, &(&str, f64, f64))| NamedPoint {
        name: protocol.0.into(),
        style,
        x: protocol.2,
        y: seconds(*protocol, 1000.0),
        range: None,
        origin: if style == 4 {
            Origin::Extrapolated
        } else {
            Origin::Measured
        },
    };
    ScatterChart {
        title: "Megabytes and seconds".into(),
        description: "thrifty and balanced cost the least.".into(),
        x: axis("MB, both ways", 10),
        y: axis("seconds", 10),
        points: protocols.iter().enumerate().map(point).collect(),
        cost: Some(Cost {
            per_x: 0.09 / 1024.0,
            per_y: 0.2 / 3600.0,
            currency: "$".into(),
            name: "dollars per run".into(),
        }),
    }
}

fn crowd() -> Vec<(&'static str, f64, f64)> {
    const NAMES: [&str; 14] = [
        "alder",
        "ash",
        "aspen",
        "beech",
        "birch",
        "cedar",
        "cherry",
        "chestnut",
        "elm",
        "fir",
        "hazel",
        "larch",
        "linden-of-the-avenue",
        "maple",
    ];
    let protocol = |(number, name)| {
        let turn = number as f64;
        (
            name,
            2.0 + 0.3 * (2.0 * turn).sin(),
            50.0 + 12.0 * turn.cos(),
        )
    };
    NAMES.into_iter().enumerate().map(protocol).collect()
}

fn cheapest(columns: usize, rows: usize) -> MapChart {
    let between = |number, count, from: f64, to: f64| {
        from * (to / from).powf(f64::from(number) / f64::from(count - 1))
    };
    let (x_count, y_count) = (columns as u32, rows as u32);
    let columns: Vec<f64> = (0..x_count)
        .map(|i| between(i, x_count, 1.0, 10_000.0))
        .collect();
    let rows: Vec<f64> = (0..y_count)
        .map(|i| between(i, y_count, 0.001, 1.0))
        .collect();
    let cheapest = |mbits: f64, usd_per_gb: f64| {
        let usd = |protocol: &(&str, f64, f64)| -> f64 {
            protocol.2 / 1024.0 * usd_per_gb + seconds(*protocol, mbits) * 0.2 / 3600.0
        };
        let costs = PROTOCOLS.iter().map(usd).enumerate();
        costs
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
            .expect("protocols")
            .0
    };
    let row = |price: &f64| {
        columns
            .iter()
            .map(|mbits| cheapest(*mbits, *price))
            .collect()
    };
    let winner = |(style, protocol): (usize, &(&str, f64, f64))| Winner {
        name: protocol.0.into(),
        style,
    };
    MapChart {
        title: "The cheapest protocol".into(),
        description: "Where traffic is dear or slow, thrifty is the cheapest.".into(),
        x: axis("bandwidth, Mbit/s", 10),
        y: axis("USD per GB", 10),
        cells: rows.iter().map(row).collect(),
        uncertain: (rows
            .iter()
            .map(|_| columns.iter().map(|mbits| *mbits < 2.0).collect()))
        .collect(),
        uncertain_as: "extrapolated".into(),
        columns,
        rows,
        winners: PROTOCOLS.iter().enumerate().map(winner).collect(),
    }
}

fn wide_table() -> Table {
    let bandwidths = [10_000.0, 1000.0, 150.0, 100.0, 80.0, 50.0, 30.0, 10.0, 1.0];
    let names = bandwidths.map(|mbits| format!("{mbits} Mbit/s"));
    let row = |protocol: &(&str, f64, f64)| {
        let cells = bandwidths.map(|mbits| format!("{:.2}", seconds(*protocol, mbits)));
        [protocol.0.to_owned()].into_iter().chain(cells).collect()
    };
    Table {
        caption: "Seconds for 2^20 items".into(),
        columns: ["protocol".into()].into_iter().chain(names).collect(),
        rows: PROTOCOLS.iter().map(row).collect(),
    }
}
