//! The time of `auto`, beside that of all candidates: both parties in one process, one thread each,
//! over emulated links.
//!
//! `cargo bench -p psijoin --bench auto` prints a table in Markdown: for each size and network, the
//! median time of each candidate, the one that `auto` takes, and how much longer that takes than
//! the best. `… -- rows` and `… -- count` print one half of it; names of networks, such as
//! `wan:100mbps,80ms`, choose among those, and sizes, such as `4096` or `1024:65536`, among these.

#![allow(clippy::print_stdout)]

use std::env;

use psijoin::{OutputKind, Protocol, Request, auto, channel::link::Link};

use emulation::Emulation;

mod emulation;

/// Those of the papers, and some between.
const NETWORKS: [&str; 10] = [
    "wan:10gbps,200us",
    "wan:10gbps,40ms",
    "wan:1gbps,1ms",
    "wan:1gbps,80ms",
    "wan:100mbps,10ms",
    "wan:100mbps,80ms",
    "wan:50mbps,96ms",
    "wan:10mbps,20ms",
    "wan:10mbps,80ms",
    "wan:1mbps,80ms",
];

/// Items of the sender, and of the receiver.
const SIZES: [&str; 13] = [
    "64",
    "256",
    "1024",
    "2048",
    "4096",
    "8192",
    "16384",
    "65536",
    "262144",
    "1024:65536",
    "65536:1024",
    "64:4096",
    "4096:64",
];

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let chosen = |all: &[&'static str]| -> Vec<&'static str> {
        let is_named = |name: &&&str| words.iter().any(|word| word == **name);
        match all.iter().filter(is_named).copied().collect::<Vec<_>>() {
            none if none.is_empty() => all.to_vec(),
            named => named,
        }
    };
    let (networks, sizes) = (chosen(&NETWORKS), chosen(&SIZES));
    let mut worst: f64 = 1.0;
    for kind in chosen(&["rows", "count"]) {
        let output = match kind {
            "rows" => OutputKind::Rows,
            _ => OutputKind::Count,
        };
        let names: Vec<_> =
            auto::candidates(&Request::rows(1, 1).expect("few").output(output.clone())).collect();
        let header: Vec<_> = names
            .iter()
            .map(|protocol| format!("`{}`", protocol.info().name))
            .collect();
        println!(
            "\n| {kind}: items | network | {} | `auto` takes | beside the best |",
            header.join(" | ")
        );
        println!("|---|---|{}---|---|", "---|".repeat(names.len()));
        for size in &sizes {
            for network in &networks {
                let request = request(size, output.clone());
                worst = worst.max(row(&request, size, network, &names));
            }
        }
    }
    println!("\nAt worst, what is taken takes {worst:.2} times as long as the best.");
}

fn request(size: &str, output: OutputKind) -> Request {
    let (sender, receiver) = size.split_once(':').unwrap_or((size, size));
    let number = |text: &str| text.parse().expect("a number");
    let request = Request::rows(number(sender), number(receiver)).expect("few items");
    request.output(output)
}

/// Prints a row, and returns how many times as long as the best takes what is taken.
fn row(request: &Request, size: &str, network: &str, protocols: &[&'static Protocol]) -> f64 {
    let link: Link = network.parse().expect("a link");
    let request = request.clone().path(link.into());
    let seconds: Vec<f64> = protocols
        .iter()
        .map(|protocol| {
            let plan = protocol.plan(&request).expect("a plan");
            Emulation::new(&plan).median(Some(link))
        })
        .collect();
    let taken = auto::taken(&request).info().name;
    let place = protocols
        .iter()
        .position(|protocol| protocol.info().name == taken);
    let takes = seconds[place.expect("a candidate")];
    let ratio = takes / seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let times: Vec<_> = seconds
        .iter()
        .map(|seconds| format!("{:.1} ms", 1e3 * seconds))
        .collect();
    println!(
        "| {size} | {network} | {} | `{taken}` | {ratio:.2} |",
        times.join(" | ")
    );
    ratio
}
