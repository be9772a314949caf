//! Forecasts beside what then runs.
//!
//! `cargo bench -p psijoin --bench forecast -- networks` prints a table, in Markdown: each protocol of
//! [`PROTOCOLS`] is traced once, and its forecast for each of [`NETWORKS`] stands beside the median of
//! emulated runs. Both parties share this machine's processors there, as they do in the simulation.
//!
//! `… -- sizes` prints another one: what a profile without the run at a size predicts for that size.
//!
//! More arguments are names of protocols: only those, then.

#![allow(clippy::print_stdout)]

use std::{env, thread, time::Instant};

use psijoin::{
    Fingerprint, Input, Items, JointSeed, OutputKind, Plan, Request,
    channel::{
        link::{Link, linked},
        memory,
    },
    pair, registry,
};
use psijoin_forecast::{Cores, Effort, Profile, Run, measure, profile, simulate};

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

/// With their names in the papers.
const NETWORKS: [&str; 5] = [
    "wan:10gbps,200us",
    "wan:100mbps,80ms",
    "wan:50mbps,96ms",
    "wan:10mbps,80ms",
    "wan:1mbps,80ms",
];

/// Seconds that an emulated run may take.
const PATIENCE: f64 = 120.0;

/// Runs of which the median counts.
const RUNS: usize = 3;

fn main() {
    let words: Vec<String> = env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let (tables, names): (Vec<_>, Vec<_>) = words
        .into_iter()
        .partition(|word| ["networks", "sizes"].contains(&&**word));
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let protocols: Vec<_> = PROTOCOLS
        .into_iter()
        .filter(|(name, _)| wanted(name))
        .collect();
    for table in &tables {
        match &**table {
            "networks" => networks(&protocols),
            _ => sizes(&protocols),
        }
    }
}

fn networks(protocols: &[(&str, u64)]) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    println!("| protocol | items | network | forecast | emulated | ratio |");
    println!("|---|---|---|---|---|---|");
    for &(name, items) in protocols {
        let protocol = registry::find(name).expect("it is registered");
        let request = Request::rows(items, items).expect("few items");
        let plan = protocol.plan(&request).expect("a plan");
        let run = measure(&plan, 1, 3).expect("a run");
        for text in NETWORKS {
            row(&plan, &run, text, Cores::Shared(cores));
        }
    }
}

/// What a profile predicts for the size that is left out of it, between others and above them.
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
        let profile = profile(protocol, &OutputKind::Rows, 1, effort, |_| {}).expect("runs");
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
        [NETWORKS[1], NETWORKS[0]].map(|text| {
            let link: Link = text.parse().expect("a link");
            let forecast = prediction
                .on(&link.into(), Cores::Own)
                .expect("runs that fit");
            forecast.seconds
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
    let link: Link = text.parse().expect("a link");
    let forecast = simulate(&run.scripts[0], &run.scripts[1], &link.into(), cores);
    let forecast = forecast.expect("scripts of one run").seconds;
    if forecast > PATIENCE {
        return;
    }
    let mut times: Vec<f64> = (0..RUNS).map(|_| emulated(plan, link)).collect();
    times.sort_by(f64::total_cmp);
    let emulated = times[RUNS / 2];
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

/// Seconds of a run over this link.
fn emulated(plan: &Plan, link: Link) -> f64 {
    let joint_seed = &JointSeed::insecure_fixed([1; 32]);
    let size = plan.request().sizes.sender() as usize;
    let digest = |first: usize| {
        let fingerprints: Vec<_> = (first..first + size).map(fingerprint).collect();
        Items::digest(&fingerprints, joint_seed, plan.digest_bytes())
    };
    let (senders, receivers) = (&digest(0), &digest(size / 2));
    let pools = [pair::single_thread(), pair::single_thread()];
    let (a, b) = memory::pair();
    let side = |items, channel, party: usize| {
        let input = Input {
            items,
            columns: &[],
            joint_seed,
        };
        let side = pair::Side {
            channel: linked(channel, link),
            rng: None,
            pool: &pools[party],
        };
        (input, side)
    };
    let (sender, receiver) = (side(senders, a, 0), side(receivers, b, 1));
    let started = Instant::now();
    let (sent, received) = pair::run_sides(plan, sender, receiver);
    let seconds = started.elapsed().as_secs_f64();
    sent.expect("it sends");
    received.expect("it receives");
    seconds
}

fn fingerprint(number: usize) -> Fingerprint {
    let mut fingerprint = [0; 32];
    fingerprint[..8].copy_from_slice(&(number as u64).to_le_bytes());
    fingerprint
}
