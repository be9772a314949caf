use psijoin_psi::{Output, Plan, Protocol, Request};
use psijoin_psi_testing::{items, output, parameter};

use super::{SparseParams, WIDE_ROW_WORDS};
use crate::{
    spot_fast::SPOT_FAST,
    spot_low::{SPOT_LOW, SPOT_LOW_MALICIOUS_SENDER},
};

fn plan(protocol: &'static Protocol, items: u64) -> Plan {
    let request = Request::rows(items, items).unwrap();
    protocol.plan(&request).unwrap()
}

/// Runs the plan of a protocol with rows of any width and digests of either length, given its
/// numbers for 900 and 700 items.
pub(crate) fn assert_any_rows_work(base: &SparseParams, plan: impl Fn(SparseParams) -> Plan) {
    for (slices, field_bits) in [(4, 54), (4, 55), (4, 63), (5, 60)] {
        for digest_bytes in [16, 32] {
            let mut base = base.clone();
            base.extension.slices = slices;
            base.extension.field_bits = field_bits;
            base.base.digest_bytes = digest_bytes;
            let wide = base.extension.row_shape().words == WIDE_ROW_WORDS;
            assert_eq!(wide, slices == 5);
            let plan = plan(base);
            let (senders, receivers) = (items(0..900, &plan), items(600..1300, &plan));
            let found = output(&plan, &senders, &receivers).unwrap();
            let expected = Output::Rows((0..300).collect());
            assert_eq!(found, expected, "{slices}, {field_bits}, {digest_bytes}");
        }
    }
}

/// Returns the number of bits on the wire, both ways, per element of one side.
fn bits_per_element(plan: &Plan) -> f64 {
    let items = plan.request().sizes.sender() as f64;
    8.0 * plan.cost().total.total_bytes() as f64 / items
}

/// SpOT19 Table 1: 609 and 500, at Table 2's sizes 611 and 505.
#[test]
fn bits_per_element_at_2_to_the_20() {
    let bits = |protocol| bits_per_element(&plan(protocol, 1 << 20));
    let (fast, low) = (bits(&SPOT_FAST), bits(&SPOT_LOW));
    assert!((568.0..569.0).contains(&fast), "{fast}");
    assert!((502.0..502.5).contains(&low), "{low}");
}

/// The tables of docs/protocols/ot.md about SpOT19's protocols follow from the formulas there.
#[test]
fn the_documented_traffic_follows_its_formulas() {
    const DOCUMENT: &str = include_str!("../../../../docs/protocols/ot.md");
    let mut missing = Vec::new();
    for protocol in [&SPOT_FAST, &SPOT_LOW, &SPOT_LOW_MALICIOUS_SENDER] {
        for log_n in [12, 16, 20, 24] {
            let plan = plan(protocol, 1 << log_n);
            let figures = format!("| 2^{log_n} | {} |", figures_by_the_formulas(&plan));
            if !DOCUMENT.contains(&figures) {
                missing.push(format!("{}: {figures}", plan.info().name));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Returns a line of the table, once its traffic is found to be that of the plan.
fn figures_by_the_formulas(plan: &Plan) -> String {
    let (name, n) = (plan.info().name, plan.request().sizes.sender());
    let field_bits = parameter(plan, "field bits") / 2;
    let columns = 2 * parameter(plan, "slices") * field_bits;
    let (shape, masks, polynomials) = if name == "spot-fast" {
        let (bins, places) = (parameter(plan, "bins"), parameter(plan, "places a bin"));
        let polynomials = bins * (places * columns).div_ceil(8);
        (format!("{bins} | {places}"), 2 * n, polynomials)
    } else {
        let polynomials = 4 * (n * columns).div_ceil(32);
        (parameter(plan, "buckets").to_string(), n, polynomials)
    };
    let mut sender = 32 + 2048 * columns.div_ceil(128) + mask_bytes(plan, masks);
    let mut receiver = 8192 + polynomials;
    if name == "spot-low-malicious-sender" {
        sender += 4112;
        receiver += 16;
    }
    let cost = plan.cost().total;
    assert_eq!((cost.sender_bytes, cost.receiver_bytes), (sender, receiver));
    let bits = bits_per_element(plan);
    format!("{shape} | {field_bits} | {columns} | {sender} | {receiver} | {bits:.1}")
}

/// Returns the number of bytes of `count` sorted masks at the best place to split them.
fn mask_bytes(plan: &Plan, count: u64) -> u64 {
    let half = |name| u128::from(parameter(plan, name));
    let range = half("mask range, high half") << 64 | half("mask range, low half");
    let bytes = |low_bits: u32| {
        let upper_bits = u128::from(count) + ((range - 1) >> low_bits);
        upper_bits.div_ceil(8) + (u128::from(count) * u128::from(low_bits)).div_ceil(8)
    };
    (1..128).map(bytes).min().unwrap() as u64
}
