//! The numbers in the page about large sets are those of the plans.

use std::time::{Duration, Instant};

use psijoin::{Columns, OutputKind, Plan, Request, plan, registry};

const SCALE: &str = include_str!("../../../docs/scale.md");

fn planned(protocol: &str, output: OutputKind, items: u64) -> Plan {
    let request = Request::rows(items, items).unwrap().output(output);
    plan(registry::find(protocol).unwrap(), &request).unwrap()
}

/// Returns both ways, per item of one side.
fn bits_per_item(plan: &Plan) -> String {
    let items = plan.request().sizes.sender() as f64;
    format!(
        "{:.1}",
        plan.cost().total.total_bytes() as f64 * 8.0 / items
    )
}

fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups = groups.map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}

#[test]
fn the_table_of_parts_is_that_of_the_plans() {
    let mut missing = String::new();
    for (text, items) in [
        ("10^7", 10_000_000),
        ("2^24", 1 << 24),
        ("10^8", 100_000_000),
        ("10^9", 1_000_000_000),
        ("2^34", 1 << 34),
    ] {
        let rows = planned("rr22", OutputKind::Rows, items);
        let shape = rows.parts().unwrap().shape;
        let mean = items as f64 / f64::from(shape.parts);
        let filled = 100.0 * (shape.capacities.sender() as f64 / mean - 1.0);
        let bits = [
            bits_per_item(&rows),
            bits_per_item(&planned("rr22-malicious", OutputKind::Rows, items)),
            bits_per_item(&planned("kkrt", OutputKind::Rows, items)),
            bits_per_item(&planned("rr22-circuit", OutputKind::Count, items)),
        ];
        let row = format!(
            "| {text} | {} | {} | {filled:.1} % | {} | {} |",
            with_commas(shape.parts.into()),
            with_commas(shape.capacities.sender()),
            format_args!("{:.1}", -shape.security.failure().log2()),
            bits.join(" | "),
        );
        if !SCALE.contains(&row) {
            missing += &format!("{row}\n");
        }
    }
    assert!(missing.is_empty(), "{missing}");
}

#[test]
fn values_are_as_narrow_as_it_says() {
    let value_bits = |items| {
        let plan = planned("rr22", OutputKind::Rows, items);
        let parameters = plan.parameters().iter();
        let mut bits = parameters.filter(|parameter| parameter.name == "value bits");
        bits.next().unwrap().value
    };
    assert_eq!(value_bits(10_000_000), 64);
    assert_eq!(value_bits(1 << 24), 66);
    assert_eq!(value_bits(100_000_000), 68);
    assert_eq!(value_bits(1_000_000_000), 72);
}

/// The program plans for the sizes that a peer announces before it judges whether there is memory
/// for them.
#[test]
fn a_set_as_large_as_any_is_planned_at_once() {
    const LARGEST: u64 = 1 << 34;
    let column = Columns {
        sender: 1,
        receiver: 1,
    };
    let outputs = [
        OutputKind::Rows,
        OutputKind::Count,
        OutputKind::Threshold(1),
        OutputKind::Sums(column),
        OutputKind::Shares(column),
    ];
    for protocol in registry::PROTOCOLS {
        let started = Instant::now();
        for output in &outputs {
            for [sender, receiver] in [[1, LARGEST], [LARGEST, 1]] {
                let request = Request::rows(sender, receiver).unwrap();
                // There may be no plan.
                let _ = plan(protocol, &request.output(output.clone()));
            }
        }
        // 50 ms at most per plan, where it was measured.
        let name = protocol.info().name;
        assert!(started.elapsed() < Duration::from_secs(60), "{name}");
    }
}
