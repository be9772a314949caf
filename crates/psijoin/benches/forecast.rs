//! Forecasts beside what then runs.
//!
//! `cargo bench -p psijoin --bench forecast -- networks` prints a table, in Markdown: each protocol
//! of [`PROTOCOLS`] is traced once, and its forecast for each of [`NETWORKS`] stands beside the
//! median of emulated runs. Both parties share this machine's processors there, as they do in the
//! simulation.
//!
//! `… -- sizes` prints another one: what a profile without the run at a size predicts for that
//! size.
//!
//! `… -- planner` prints a third one: the planner's predictions, by the shipped calibration and by
//! one of this machine, beside the runs.
//!
//! `… -- memory` measures the memory of the runs in [`LISTED`], and writes
//! `crates/forecast/memory.json`; and that of all runs of the shipped calibration, and writes it
//! into `crates/forecast/calibration.json`, whose times stay, to a microsecond. So all memory that
//! is predicted is of one commit. It takes some minutes and 2 GB, and is for optimised builds: what
//! waits for a slow party takes memory, too.
//!
//! `… -- times FILE…` renews the times of the shipped calibration from files that
//! `psijoin calibrate --out FILE` wrote on one machine, which may be slower now and then: it takes
//! the runs of the first file, and the fastest of all files for each party.
//!
//! More arguments are names of protocols or networks: only those, then.

#![allow(clippy::print_stdout)]

use std::{env, fs, num::NonZeroUsize, sync::LazyLock, thread, time::Instant};

use emulation::Emulation;
use psijoin::{
    Columns, OutputKind, Plan, Request,
    channel::{
        link::Link,
        memory::{self, Window},
    },
    planner::{self, Conditions, estimate},
    registry,
};
use psijoin_forecast::{
    Calibration, Cores, Effort, ListedRun, Network, Profile, Run, kind, measure, measure_memory,
    measured_outputs, profile, simulate,
};
use psijoin_runtime::memory::ReportingAllocator;

mod emulation;

/// It counts memory.
#[global_allocator]
static ALLOCATOR: ReportingAllocator = ReportingAllocator;

/// Protocols of all families, and items per party. Each takes a few seconds at most.
const PROTOCOLS: [(&str, u64); 9] = [
    ("dh", 1 << 12),
    ("psz-cuckoo", 1 << 16),
    ("kkrt", 1 << 16),
    ("spot-fast", 1 << 16),
    ("cm20", 1 << 16),
    ("random-gbf", 1 << 12),
    ("kk20", 1 << 12),
    ("rr22", 1 << 16),
    ("rr22-circuit", 1 << 14),
];

/// None, and those of the papers.
const NETWORKS: [&str; 6] = [
    "memory",
    "wan:10gbps,200us",
    "wan:100mbps,80ms",
    "wan:50mbps,96ms",
    "wan:10mbps,80ms",
    "wan:1mbps,80ms",
];

/// Seconds that an emulated run may take.
const PATIENCE: f64 = 120.0;

fn main() {
    let words: Vec<String> = env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let chosen = |all: &[&'static str]| -> Vec<&'static str> {
        let named = all
            .iter()
            .filter(|name| words.iter().any(|word| word == *name));
        let named: Vec<_> = named.copied().collect();
        if named.is_empty() {
            all.to_vec()
        } else {
            named
        }
    };
    let names = chosen(&PROTOCOLS.map(|(name, _)| name));
    let protocols: Vec<_> = PROTOCOLS
        .into_iter()
        .filter(|(name, _)| names.contains(name))
        .collect();
    for (place, table) in words.iter().enumerate() {
        match &**table {
            "networks" => networks(&protocols, &chosen(&NETWORKS)),
            "sizes" => sizes(&protocols),
            "planner" => planned(),
            "memory" => {
                let registered = registry::PROTOCOLS.iter().map(|one| one.info().name);
                let names = chosen(&registered.collect::<Vec<_>>());
                if names.contains(&LISTED_PROTOCOL) {
                    list_memory();
                }
                renew_memory(&names);
            }
            "times" => return renew_times(&words[place + 1..]),
            _ => {}
        }
    }
}

fn networks(protocols: &[(&str, u64)], networks: &[&str]) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    println!("Handling a byte: {:.2} ns.\n", 1e9 * handling());
    println!("| protocol | items | network | forecast | emulated | ratio |");
    println!("|---|---|---|---|---|---|");
    for &(name, items) in protocols {
        let protocol = registry::find(name).expect("it is registered");
        let request = Request::rows(items, items).expect("few items");
        let plan = protocol.plan(&request).expect("a plan");
        let run = measure(&plan, 1, 3).expect("a run");
        for text in networks {
            row(&plan, &run, text, Cores::Shared(cores));
        }
    }
}

/// Prints a profile's predictions for the size that is left out of it, between others and above
/// them.
fn sizes(protocols: &[(&str, u64)]) {
    println!(
        "| protocol | items | left out | predicted, 100 Mbit/s | from its own run | ratio | the same, 10 Gbit/s |"
    );
    println!("|---|---|---|---|---|---|---|");
    for &(name, most_items) in protocols {
        let protocol = registry::find(name).expect("it is registered");
        let effort = Effort {
            seconds: 60.0,
            most_items: most_items * 4,
            repeats: 3,
        };
        let profile = profile(protocol, &OutputKind::Rows, effort, |_| {}).expect("runs");
        let equal = |run: &&Run| run.items[0] == run.items[1];
        let runs: Vec<&Run> = profile.runs.iter().filter(equal).collect();
        for left_out in 1..runs.len() {
            let place = match left_out + 1 == runs.len() {
                true => "the largest",
                false => "in between",
            };
            left_out_row(&profile, runs[left_out], place);
        }
    }
}

/// A column of the sender.
const COLUMN: Columns = Columns {
    sender: 1,
    receiver: 0,
};

/// The protocol whose larger runs are listed with their memory.
const LISTED_PROTOCOL: &str = "rr22-circuit";

/// Its outputs that are listed.
const LISTED: [OutputKind; 5] = [
    OutputKind::Rows,
    OutputKind::Count,
    OutputKind::Threshold(1),
    OutputKind::Sums(COLUMN),
    OutputKind::Shares(COLUMN),
];

/// The items of the sender and of the receiver in runs of each. The first has just more lookups
/// than are made at once.
const LISTED_ITEMS: [[u64; 2]; 5] = [
    [21 << 12; 2],
    [1 << 19; 2],
    [1 << 20; 2],
    [1 << 16, 1 << 20],
    [1 << 20, 1 << 16],
];

/// Writes the list of runs and their memory, one a line.
fn list_memory() {
    let mut lines = Vec::new();
    for output in &LISTED {
        for items in LISTED_ITEMS {
            let run = listed_run(LISTED_PROTOCOL, output, items);
            let line = serde_json::to_string(&run).expect("plain data");
            println!("{line}");
            lines.push(line);
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../forecast/memory.json");
    fs::write(path, format!("[\n{}\n]\n", lines.join(",\n"))).expect("the file can be written");
}

fn listed_run(name: &str, output: &OutputKind, items: [u64; 2]) -> ListedRun {
    ListedRun {
        protocol: name.to_owned(),
        output: kind(output).to_owned(),
        items,
        memory_bytes: counted_memory(name, output, items),
    }
}

/// Writes the shipped calibration again, with the memory that runs of these protocols take now.
fn renew_memory(names: &[&str]) {
    let mut calibration = Calibration::shipped().clone();
    let named = |profile: &&mut Profile| names.contains(&&*profile.protocol);
    for profile in calibration.profiles.iter_mut().filter(named) {
        let mut outputs = measured_outputs().into_iter();
        let output = outputs.find(|output| kind(output) == profile.output);
        let output = output.expect("a kind that is measured");
        println!("{}, {output}", profile.protocol);
        for run in &mut profile.runs {
            run.memory_bytes = counted_memory(&profile.protocol, &output, run.items).map(Some);
        }
    }
    ship(&calibration);
}

/// Writes the shipped calibration again, from these files.
fn renew_times(paths: &[String]) {
    let mut read = paths.iter().map(|path| {
        let text = fs::read(path).expect("a file");
        Calibration::from_json(&text).expect("a calibration")
    });
    let mut calibration = read.next().expect("a file per calibration");
    read.for_each(|other| calibration.take_faster(&other));
    let (shipped, processor) = (Calibration::shipped(), &calibration.processor);
    println!("{processor}; before: {}", shipped.processor);
    let is_shipped = |one: &Profile| {
        let mut profiles = shipped.profiles.iter();
        profiles.any(|other| (&other.protocol, &other.output) == (&one.protocol, &one.output))
    };
    calibration.profiles.retain(is_shipped);
    ship(&calibration);
}

fn ship(calibration: &Calibration) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../forecast/calibration.json");
    let text = serde_json::to_string(calibration).expect("plain data");
    fs::write(path, text).expect("the file can be written");
}

/// Returns the most memory that each party takes beyond its input, in bytes.
fn counted_memory(name: &str, output: &OutputKind, items: [u64; 2]) -> [u64; 2] {
    let protocol = registry::find(name).expect("it is registered");
    let request = Request::rows(items[0], items[1]).expect("not too many items");
    let plan = protocol.plan(&request.output(output.clone()));
    let memory = measure_memory(&plan.expect("a plan")).expect("a run");
    memory.map(|bytes| bytes.expect("this program counts them"))
}

/// The planner's cases: protocols, outputs, and items per party.
const PLANNED: [(&str, OutputKind, [u64; 3]); 5] = [
    ("dh", OutputKind::Rows, [1 << 8, 1 << 11, 1 << 14]),
    ("kkrt", OutputKind::Rows, [1 << 11, 1 << 15, 1 << 19]),
    ("rr22", OutputKind::Rows, [1 << 11, 1 << 15, 1 << 19]),
    (
        "rr22-circuit",
        OutputKind::Count,
        [1 << 9, 1 << 13, 1 << 16],
    ),
    (
        "rr22-circuit",
        OutputKind::Sums(COLUMN),
        [1 << 9, 1 << 13, 1 << 16],
    ),
];

/// The effort of `psijoin calibrate` by default.
const CALIBRATED: Effort = Effort {
    seconds: 8.0,
    most_items: 1 << 20,
    repeats: 3,
};

/// The planner's estimates beside what then runs.
fn planned() {
    let shipped = planner::this_machine().expect("two runs");
    println!(
        "| protocol | output | items | network | runs | shipped | ratio | calibrated | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, output, sizes) in &PLANNED {
        let protocol = registry::find(name).expect("it is registered");
        let profile = profile(protocol, output, CALIBRATED, |_| {}).expect("runs");
        let own = Calibration {
            profiles: vec![profile],
            ..shipped.clone()
        };
        for &items in sizes {
            let request = Request::rows(items, items).expect("few items");
            let request = request.output(output.clone());
            let plan = protocol.plan(&request).expect("a plan");
            let emulation = Emulation::new(&plan);
            for text in [NETWORKS[1], NETWORKS[2], NETWORKS[4]] {
                let says = |calibration: &Calibration| {
                    let conditions = Conditions {
                        network: Network::from(link(text).expect("a link")),
                        calibration,
                        threads: NonZeroUsize::MIN,
                        memory: None,
                        rates: None,
                    };
                    let estimate = estimate(protocol, &request, &conditions);
                    estimate.expect("it was measured").forecast.seconds
                };
                let (shipped, own) = (says(&shipped), says(&own));
                let runs = emulation.median(link(text));
                println!(
                    "| `{name}` | {} | {items} | {text} | {runs:.3} s | {shipped:.3} s | {:.3} | {own:.3} s | {:.3} |",
                    kind(output),
                    shipped / runs,
                    own / runs,
                );
            }
        }
    }
}

fn left_out_row(profile: &Profile, left_out: &Run, place: &str) {
    let protocol = registry::find(&profile.protocol).expect("it is registered");
    let request = Request::rows(left_out.items[0], left_out.items[1]).expect("few items");
    let plan = protocol.plan(&request).expect("a plan");
    let of = |runs: Vec<Run>| {
        let prediction = Profile {
            runs,
            ..profile.clone()
        }
        .predict(&plan);
        [NETWORKS[2], NETWORKS[1]].map(|text| {
            let forecast = prediction.on(&network(text), Cores::Own);
            forecast.expect("runs that fit").seconds
        })
    };
    let others = profile.runs.iter().filter(|run| *run != left_out);
    let (predicted, own) = (of(others.cloned().collect()), of(vec![left_out.clone()]));
    println!(
        "| `{}` | {} | {place} | {:.3} s | {:.3} s | {:.3} | {:.3} |",
        profile.protocol,
        left_out.items[0],
        predicted[0],
        own[0],
        predicted[0] / own[0],
        predicted[1] / own[1],
    );
}

fn row(plan: &Plan, run: &Run, text: &str, cores: Cores) {
    let network = network(text);
    let forecast = simulate(&run.scripts[0], &run.scripts[1], &network, cores);
    let forecast = forecast.expect("scripts of one run").seconds;
    if forecast > PATIENCE {
        return;
    }
    let emulated = Emulation::new(plan).median(link(text));
    println!(
        "| `{}` | {} | {} | {:.3} s | {:.3} s | {:.3} |",
        plan.info().name,
        plan.request().sizes.sender(),
        text,
        forecast,
        emulated,
        forecast / emulated
    );
}

fn network(text: &str) -> Network {
    let in_memory = Network {
        unread: Window::default(),
        ..Network::INSTANT
    };
    Network {
        handling: handling(),
        ..link(text).map_or(in_memory, Network::from)
    }
}

/// Seconds that a byte takes at either end of a pair in memory.
fn handling() -> f64 {
    const MESSAGE: usize = 100 << 10;
    const MESSAGES: usize = 500;
    static SECONDS: LazyLock<f64> = LazyLock::new(|| {
        let (mut a, mut b) = memory::pair();
        let started = Instant::now();
        thread::scope(|scope| {
            scope.spawn(move || (0..MESSAGES).for_each(|_| a.send(&[1; MESSAGE]).expect("room")));
            let mut message = vec![0; MESSAGE];
            (0..MESSAGES).for_each(|_| b.recv(&mut message).expect("a message"));
        });
        started.elapsed().as_secs_f64() / (MESSAGE * MESSAGES) as f64
    });
    *SECONDS
}

/// The link with this name, or none.
fn link(text: &str) -> Option<Link> {
    (text != "memory").then(|| text.parse().expect("a link"))
}
