//! The figures in the documents that the program can compute.

use psijoin::{Columns, OutputKind, Plan, Request, registry};
use psijoin_params::{
    Security, Sizes,
    lpn::{NoiseValues, RegularNoise},
    overfitting::most_items,
    parts,
};

const PROTOCOLS: &str = include_str!("../../../../docs/protocols.md");
const FAMILIES: [&str; 5] = [
    include_str!("../../../../docs/protocols/bloom.md"),
    include_str!("../../../../docs/protocols/functions.md"),
    include_str!("../../../../docs/protocols/ot.md"),
    include_str!("../../../../docs/protocols/pk.md"),
    include_str!("../../../../docs/protocols/vole.md"),
];
const FUNCTIONS: &str = include_str!("../../../../docs/functions.md");
const RR22: &str = include_str!("../../../../docs/rr22.md");
const SCALE: &str = include_str!("../../../../docs/scale.md");
const SECURITY: &str = include_str!("../../../../SECURITY.md");

const ITEMS: u64 = 1 << 20;

fn plan(protocol: &str) -> Plan {
    let request = Request::rows(ITEMS, ITEMS).unwrap();
    registry::find(protocol).unwrap().plan(&request).unwrap()
}

/// However lines are wrapped.
#[track_caller]
fn says(document: &str, line: &str) {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(document).contains(&words(line)), "{line}");
}

/// Returns the traffic of both ways, per item of one side, to the nearest bit.
fn bits_an_item(plan: &Plan) -> u64 {
    (plan.cost().total.total_bytes() * 8 + ITEMS / 2) / ITEMS
}

#[test]
fn the_table_has_the_traffic_of_every_protocol() {
    for protocol in registry::PROTOCOLS {
        let plan = plan(protocol.info().name);
        let cells = format!(
            "| {} bits per item | {} |",
            bits_an_item(&plan),
            plan.cost().total.flights
        );
        let name = format!("| `{}`", plan.info().name);
        let row = PROTOCOLS.lines().find(|line| line.starts_with(&name));
        let row = row.unwrap_or_else(|| panic!("{name} is missing"));
        assert!(row.contains(&cells), "{name}: {cells}");
    }
}

#[test]
fn every_protocol_is_described() {
    let sections = FAMILIES.concat();
    for protocol in registry::PROTOCOLS {
        // A section of its own, or a variant that the section of another names.
        let name = protocol.info().name;
        let (heading, mention) = (format!("\n## {name}\n"), format!("`{name}`"));
        let is_there = sections.contains(&heading) || sections.contains(&mention);
        assert!(is_there, "{name}");
    }
}

#[test]
fn the_traffic_of_functions_is_that_of_the_plan() {
    let columns = |sender, receiver| Columns { sender, receiver };
    for (name, output) in [
        ("rows", OutputKind::Rows),
        ("count", OutputKind::Count),
        ("threshold", OutputKind::Threshold(1)),
        (
            "a sum of a column of the receiver",
            OutputKind::Sums(columns(0, 1)),
        ),
        (
            "a sum of a column of the sender",
            OutputKind::Sums(columns(1, 0)),
        ),
        ("shares", OutputKind::Shares(columns(0, 0))),
    ] {
        let cells = [1_u64 << 16, 1 << 20].map(|items| {
            let request = Request::rows(items, items).unwrap().output(output.clone());
            let protocol = registry::find("rr22-circuit").unwrap();
            let cost = protocol.plan(&request).unwrap().cost().total;
            let bits = (cost.total_bytes() * 8 + items / 2) / items;
            format!("{bits}, {}", cost.flights)
        });
        says(FUNCTIONS, &format!("| {name} | {} |", cells.join(" | ")));
    }
}

#[test]
fn the_failure_budget_of_rr22_is_that_of_the_plan() {
    let plans = ["rr22", "rr22-malicious"].map(plan);
    let [budget, malicious] = plans.each_ref().map(|plan| plan.budget());
    for (event, of_malicious) in budget.events().iter().zip(malicious.events()) {
        assert_eq!(event.name, of_malicious.name);
        let row = format!(
            "| {} | {} | {} |",
            event.name, event.bound, of_malicious.bound
        );
        says(RR22, &row);
    }
    let totals = (budget.total(), malicious.total());
    says(
        RR22,
        &format!("| **any of these** | {} | {} |", totals.0, totals.1),
    );
}

/// The formula of the document, and its figures.
#[test]
fn the_traffic_of_rr22_follows_the_formula() {
    for (protocol, malicious) in [("rr22", false), ("rr22-malicious", true)] {
        let plan = plan(protocol);
        let parameters = plan.parameters();
        let parameter = |name: &str| {
            let found = parameters.iter().find(|parameter| parameter.name == name);
            found.unwrap().value
        };
        let segments = parameter("starts of rows") + parameter("slots per row") - 1;
        let (slots, columns) = (parameter("slots per segment"), parameter("dense columns"));
        let m = columns + segments * slots;
        let bits = parameter("value bits");
        let noise = RegularNoise::new(2 * m as usize, NoiseValues::Uniform { bits: bits as u32 });
        let (t, a, f) = (
            noise.points() as u64,
            noise.depth() as u64,
            noise.fanout() as u64,
        );
        let blocks = (t * (a + 3)).div_ceil(128) + (t * 8 * bits.div_ceil(8)).div_ceil(128);
        let range = u128::from(parameter("mask range, high half")) << 64
            | u128::from(parameter("mask range, low half"));
        let mask_bits = |l: u32| u128::from(ITEMS) * u128::from(l + 1) + ((range - 1) >> l);
        let l = (1..128).min_by_key(|&l| mask_bits(l)).unwrap();
        let masks = mask_bits(l).div_ceil(8) as u64;

        let mut sender = 8192 + 16 * t * (a + f + 5) + masks;
        let rest = |elements: u64| (elements * (bits % 8)).div_ceil(8);
        let store = m * (bits / 8) + rest(columns) + segments * rest(slots);
        let mut receiver = 32 + 3072 + 512 * blocks + store;
        if malicious {
            sender += 16 + 32 + 64;
            receiver += 512 * 2 + 2064 + 32 + 16;
        }
        let cost = plan.cost().total;
        assert_eq!((cost.sender_bytes, cost.receiver_bytes), (sender, receiver));
        let row = format!(
            "| `{protocol}` | {m} | {t} | {a} | {f} | {l} | {sender} | {receiver} | {} | {} |",
            bits_an_item(&plan),
            cost.flights
        );
        says(RR22, &row);
        let nodes = t * a;
        let nodes = format!("{},{:03} at 2^20 items", nodes / 1000, nodes % 1000);
        says(SECURITY, &nodes);
    }
}

/// The bound on a cheating receiver's items, over the elements of its store.
#[test]
fn the_factors_of_a_cheating_receiver_are_those_of_the_bound() {
    let parameters = plan("rr22-malicious").parameters().to_vec();
    let parameter = |name: &str| {
        let found = parameters.iter().find(|parameter| parameter.name == name);
        found.unwrap().value
    };
    let segments = parameter("starts of rows") + parameter("slots per row") - 1;
    let m = parameter("dense columns") + segments * parameter("slots per segment");
    let factor = |bits: u32, queries_log2: f64| {
        most_items(m, bits, queries_log2, Security::default()) / m as f64
    };
    for bits in [80, 128] {
        let cells = [40.0, 64.0, 80.0].map(|log2| format!("{:.2}", factor(bits, log2)));
        says(RR22, &format!("| {bits} | {} |", cells.join(" | ")));
    }
    assert_eq!(parameter("value bits"), 80);
    let most = parameter("most items of a cheating receiver");
    assert_eq!(most, (factor(80, 64.0) * m as f64).round() as u64);
}

#[test]
fn the_security_of_all_parts_is_that_of_the_plan() {
    let parts = [10_000_000, 100_000_000, 1_000_000_000, 1 << 34].map(|items| {
        let sizes = Sizes::new(items, items).unwrap();
        f64::from(parts::count(sizes, parts::ROWS))
    });
    let bits = parts.map(|parts| 128.0 - parts.log2());
    let [a, b, c, d] = bits.map(|bits| format!("{bits:.1}"));
    says(
        SCALE,
        &format!("| bits of all together | {a} | {b} | {c} | {d} |"),
    );
    says(SECURITY, &format!("that is {c} bits"));
}
