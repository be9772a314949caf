//! The tables and the picture of docs/spark.md that say what large joins take in Spark: the model
//! of `psijoin_forecast::spark`, by the figures in `crates/forecast/spark.toml`.
//!
//! The test compares them with the committed ones. To write them again:
//! `PSIJOIN_DRAW=1 cargo test -p psijoin-forecast --test spark_scale`.

use std::{env, fmt::Write, fs, path::Path};

use psijoin_channel::link::Link;
use psijoin_chart::{Axis, Chart, Line, LineChart, Medium, Origin, Point, Scale};
use psijoin_forecast::{
    Calibration, Network,
    lanes::Mishaps,
    money::{Prices, Rates, Setting},
    spark::{Cluster, SparkCosts, SparkJoin},
};
use psijoin_psi::{Plan, Request};
use psijoin_psi_vole::rr22::RR22;

const ROWS: [u64; 5] = [
    100_000_000,
    300_000_000,
    1_000_000_000,
    3_000_000_000,
    10_000_000_000,
];
const CORES: [u32; 5] = [16, 32, 64, 128, 256];
const NETWORKS: [&str; 2] = ["1gbps,10ms", "10gbps,10ms"];

/// Rows that are as a power of ten.
const POWERS: [(u64, &str); 3] = [
    (100_000_000, "10^8"),
    (1_000_000_000, "10^9"),
    (10_000_000_000, "10^10"),
];

/// The threads of a machine of `prices/m7i.toml`, an `m7i.large`: each is a core of the model.
const CORES_OF_A_MACHINE: f64 = 2.0;

fn plan(rows: u64) -> Plan {
    let request = Request::rows(rows, rows).unwrap();
    psijoin_psi_parts::plan(&RR22, &request).unwrap()
}

fn network(text: &str) -> Network {
    Network::from(text.parse::<Link>().unwrap())
}

fn join(rows: u64, cores: u32, line: &str) -> SparkJoin {
    let cluster = Cluster {
        cores,
        lanes: cores,
    };
    let costs = SparkCosts::shipped();
    let calibration = Calibration::shipped();
    let join = SparkJoin::of(&plan(rows), calibration, costs, cluster, &network(line));
    join.unwrap().expect("rr22 was measured")
}

/// Returns a line of a table.
fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let header: Vec<_> = header.iter().map(|&cell| cell.to_owned()).collect();
    let rule = format!("|{}\n", "---|".repeat(header.len()));
    let rows = rows.into_iter().map(|cells| line(&cells));
    line(&header) + &rule + &rows.collect::<String>()
}

/// Returns two digits, in the unit that people would choose.
fn time(seconds: f64) -> String {
    match seconds {
        ..100.0 => format!("{} s", digits(seconds)),
        ..6000.0 => format!("{} min", digits(seconds / 60.0)),
        _ => format!("{} h", digits(seconds / 3600.0)),
    }
}

fn bytes(bytes: f64) -> String {
    match bytes {
        ..1e9 => format!("{} MB", digits(bytes / 1e6)),
        ..1e12 => format!("{} GB", digits(bytes / 1e9)),
        _ => format!("{} TB", digits(bytes / 1e12)),
    }
}

/// Returns two digits of a number; all before the point of a larger one.
fn digits(number: f64) -> String {
    match number {
        ..0.95 => format!("{number:.2}"),
        ..9.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// The time by rows, network and cores.
fn times() -> String {
    let mut header = vec!["keys of each side".to_owned(), "line".to_owned()];
    header.extend(CORES.map(|cores| format!("{cores} cores")));
    let header: Vec<_> = header.iter().map(String::as_str).collect();
    let row = |(rows, shown): (u64, &str), line: &str| {
        let times = CORES.map(|cores| time(join(rows, cores, line).seconds()));
        [shown.to_owned(), rate(line)]
            .into_iter()
            .chain(times)
            .collect()
    };
    let rows = POWERS.into_iter();
    table(
        &header,
        rows.flat_map(|rows| NETWORKS.map(|line| row(rows, line))),
    )
}

fn rate(line: &str) -> String {
    let (rate, _) = line.split_once("gbps").expect("a rate");
    format!("{rate} Gbit/s")
}

/// The phases of one size.
fn phases() -> String {
    let [slow, fast] = NETWORKS.map(|line| join(1_000_000_000, 64, line));
    let both = slow.phases.iter().zip(&fast.phases);
    let rows = both.map(|(slow, fast)| {
        let computed = fast.core_seconds[0] + fast.core_seconds[1];
        vec![
            fast.name.to_owned(),
            format!("{computed:.0}"),
            time(slow.seconds),
            time(fast.seconds),
        ]
    });
    table(
        &[
            "phase",
            "core-seconds, both sides",
            "at 1 Gbit/s",
            "at 10 Gbit/s",
        ],
        rows,
    )
}

/// What to order for a number of rows.
fn sizing() -> String {
    let rates = rates();
    let row = |((rows, shown), cores): ((u64, &str), u32)| {
        let [slow, fast] = NETWORKS.map(|line| join(rows, cores, line));
        let [sender, receiver] = fast.wire_bytes.map(|bytes| bytes as f64);
        vec![
            shown.to_owned(),
            fast.lanes.parts.to_string(),
            fast.lanes.lanes.to_string(),
            bytes(fast.task_bytes.expect("it was measured")),
            bytes(fast.work_bytes[1]),
            format!("{} + {}", bytes(sender), bytes(receiver)),
            time(slow.seconds()),
            time(fast.seconds()),
            format!("{} USD", digits(usd(&fast, cores, &rates))),
        ]
    };
    let sizes = POWERS.into_iter().zip([16, 64, 256]);
    table(
        &[
            "keys of each side",
            "parts",
            "lanes, and cores of each side",
            "memory per task",
            "`work`, each side",
            "wire, sender + receiver",
            "at 1 Gbit/s",
            "at 10 Gbit/s",
            "both sides cost",
        ],
        sizes.map(row),
    )
}

fn rates() -> Rates {
    let setting = Setting::BusinessToBusiness {
        sender: "virginia".into(),
        receiver: "oregon".into(),
    };
    Prices::shipped("m7i").unwrap().rates(&setting).unwrap()
}

fn usd(join: &SparkJoin, cores: u32, rates: &Rates) -> f64 {
    let machines = f64::from(cores) / CORES_OF_A_MACHINE;
    let [sender, receiver] = join.wire_bytes;
    // What is paid per second is paid for each machine, and bytes once.
    let traffic = rates.usd(0.0, sender, receiver);
    traffic + machines * rates.usd(join.seconds(), 0, 0)
}

/// What slow tasks and lost ones do.
fn mishaps() -> String {
    const SEEDS: u64 = 200;
    let join = join(1_000_000_000, 64, NETWORKS[1]);
    let row = |slow: f64, failures_per_hour: f64| {
        let mishaps = Mishaps {
            slow,
            slowness: 3.0,
            failures_per_hour,
        };
        let runs: Vec<_> = (0..SEEDS)
            .map(|seed| join.with_mishaps(&mishaps, seed))
            .collect();
        let mut done: Vec<f64> = runs.iter().copied().flatten().collect();
        done.sort_by(f64::total_cmp);
        let given_up = runs.len() - done.len();
        let share = |part: f64| {
            let at = (part * (done.len() - 1) as f64).round() as usize;
            done.get(at).map_or("–".into(), |seconds| time(*seconds))
        };
        vec![
            format!("{:.1} %", 100.0 * slow),
            digits(failures_per_hour),
            share(0.5),
            share(0.9),
            format!("{:.1} %", 100.0 * given_up as f64 / SEEDS as f64),
        ]
    };
    let cases = [
        (0.0, 0.0),
        (0.001, 0.0),
        (0.01, 0.0),
        (0.001, 0.01),
        (0.001, 0.1),
        (0.001, 1.0),
    ];
    table(
        &[
            "tasks that are three times as slow",
            "failures of a task per hour",
            "median",
            "nine of ten take at most",
            "given up",
        ],
        cases.map(|(slow, failures)| row(slow, failures)),
    )
}

fn source() -> String {
    let SparkCosts {
        machine, source, ..
    } = SparkCosts::shipped();
    wrapped(&format!(
        "*Spark's figures* are from {source}, on {machine}."
    ))
}

/// Returns a text in lines, as they are in documents.
fn wrapped(text: &str) -> String {
    const LENGTH: usize = 100;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= LENGTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

/// The time by rows: the model's, and what others have published.
fn chart() -> LineChart {
    let point = |rows: u64, cores, line| Point {
        x: rows as f64,
        y: join(rows, cores, line).seconds() / 60.0,
        range: None,
        origin: Origin::Extrapolated,
    };
    let cases = [16, 64, 256]
        .into_iter()
        .flat_map(|cores| NETWORKS.map(|line| (cores, line)));
    let mut lines: Vec<_> = (cases.enumerate())
        .map(|(style, (cores, line))| Line {
            name: format!("{cores} cores, {}", rate(line)),
            style,
            points: ROWS.map(|rows| point(rows, cores, line)).to_vec(),
            published: Vec::new(),
        })
        .collect();
    let published = [
        (
            "secretflow, 32 cores",
            vec![(1e8, 225.0 / 60.0), (1e9, 0.62 * 60.0)],
        ),
        ("Visa, Spark", vec![(1e9, 83.0)]),
    ];
    for (name, published) in published {
        lines.push(Line {
            name: name.into(),
            style: lines.len(),
            points: Vec::new(),
            published,
        });
    }
    LineChart {
        title: "Minutes of a join in Spark, by the keys of each side: a model, and published times".into(),
        description: "Times grow with the keys. With more cores on a line of 1 Gbit/s, the line decides. The model's \
                      times at 10^9 keys are below the published ones."
            .into(),
        x: Axis {
            label: "keys of each side".into(),
            scale: Scale::Powers(10),
        },
        y: Axis {
            label: "minutes".into(),
            scale: Scale::Powers(10),
        },
        lines,
    }
}

/// Returns the page with this text between the marks of this name.
fn filled(page: &str, name: &str, text: &str) -> String {
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->\n"),
    );
    let (before, rest) = page.split_once(&begin).expect("a mark");
    let (_, after) = rest.split_once(&end).expect("a mark");
    let mut filled = String::new();
    write!(filled, "{before}{begin}\n{text}\n{end}{after}").expect("a text takes it");
    filled
}

/// Compares a file with what it should be, or writes it.
fn check(name: &str, expected: impl FnOnce(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name);
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let expected = expected(&committed);
    if env::var_os("PSIJOIN_DRAW").is_some() {
        fs::write(&path, expected).unwrap();
        return;
    }
    assert!(
        committed == expected,
        "docs/{name} is out of date: PSIJOIN_DRAW=1 cargo test -p psijoin-forecast --test spark_scale"
    );
}

#[test]
fn the_tables_of_spark_md() {
    check("spark.md", |page| {
        let sections = [
            ("sizing", sizing()),
            ("times", times()),
            ("phases", phases()),
            ("mishaps", mishaps()),
            ("source", source()),
        ];
        let fill = |page: String, (name, text): &(&str, String)| filled(&page, name, text);
        sections.iter().fold(page.to_owned(), fill)
    });
}

#[test]
fn the_picture_of_spark_md() {
    check("figures/spark-scale.svg", |_| chart().svg(Medium::File));
}

/// The text beside the picture says so.
#[test]
fn the_model_is_below_the_published_times() {
    let minutes = |cores| join(1_000_000_000, cores, NETWORKS[0]).seconds() / 60.0;
    assert!(minutes(32) < 0.62 * 60.0, "{}", minutes(32));
    assert!(minutes(16) < 83.0, "{}", minutes(16));
}
