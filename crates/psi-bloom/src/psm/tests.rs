use psijoin_channel::{count::counted, memory};
use psijoin_ot::extension::Extension;
use psijoin_params::bloom::Shape;
use psijoin_psi::{ErrorKind, Output, Plan, Traffic, masks::MaskLength};
use psijoin_psi_testing::{items, output, run_items, uniform::assert_all_is_uniform};

use super::*;
use crate::{filter_ot::FilterOt, garbled_transfer::GarbledTransfer};

fn plan(protocol: &Protocol, sender: u64, receiver: u64, output: OutputKind) -> Plan {
    let request = Request::rows(sender, receiver).unwrap().output(output);
    protocol.plan(&request).unwrap()
}

/// Runs both parties; 30 of 100 and of 70 items are shared.
fn computed(protocol: &Protocol, kind: OutputKind) -> Output {
    let plan = plan(protocol, 100, 70, kind);
    output(&plan, &items(0..100, &plan), &items(70..140, &plan)).unwrap()
}

#[test]
fn each_output_of_the_same_sets() {
    for protocol in [&KK20_PSM, &CO18_PSM] {
        let rows = Output::Rows((0..30).collect());
        assert_eq!(computed(protocol, OutputKind::Rows), rows);
        assert_eq!(computed(protocol, OutputKind::Count), Output::Count(30));
        for (least, reached) in [(30, true), (31, false)] {
            let output = computed(protocol, OutputKind::Threshold(least));
            assert_eq!(output, Output::Reached(reached), "{least}");
        }
    }
}

/// As it is if there are very many pairs: the last filter has fewer keys.
#[test]
fn filters_that_follow_each_other() {
    let request = Request::rows(40, 30).unwrap();
    for (keys, batch) in [(1, 1), (300, 7), (1200, 30)] {
        let plan = filter::Params::in_filters_of(keys, 1, &request)
            .unwrap()
            .plan();
        let sized = plan
            .parameters()
            .iter()
            .find(|one| one.name == "items a filter");
        assert_eq!(sized.unwrap().value, batch);
        let (sending, receiving) = memory::pair();
        let (sending, counters) = counted(sending);
        let sets = (items(0..40, &plan), items(25..55, &plan));
        let (sent, received) = run_items(&plan, (&sets.0, sending), (&sets.1, receiving));
        assert_eq!(sent.unwrap(), Output::Nothing);
        assert_eq!(received.unwrap(), Output::Rows((0..15).collect()));
        let (traffic, cost) = (counters.snapshot(), plan.cost().total);
        assert_eq!(traffic.sent.bytes, cost.sender_bytes);
        assert_eq!(traffic.received.bytes, cost.receiver_bytes);
        assert_eq!(traffic.flights, cost.flights);
    }
}

/// KK20 Table 1: the sizes' logarithms, and MB (2^20 bytes) of Ciampi and Orlandi's and of KK20's,
/// each for items of 32, 48 and 64 bits.
const TABLE_1: [(u32, [f64; 3], [f64; 3]); 3] = [
    (12, [5.4, 8.1, 10.7], [6.0, 6.5, 7.4]),
    (14, [21.3, 31.8, 42.3], [23.6, 25.4, 29.0]),
    (16, [84.5, 126.5, 168.5], [93.8, 101.0, 115.4]),
];

/// A twentieth of what the paper's filter takes, and for walks of as many bits, as much as there.
#[test]
fn one_item_takes_no_more_than_published() {
    for (log2, graph, filter) in TABLE_1 {
        let traffic = |protocol| {
            let plan = plan(protocol, 1 << log2, 1, OutputKind::Count);
            plan.cost().total.total_bytes() as f64 / f64::from(1 << 20)
        };
        let ratio = traffic(&KK20_PSM) / filter[0];
        assert!((0.03..0.07).contains(&ratio), "{ratio} at 2^{log2}");
        let plan = plan(&CO18_PSM, 1 << log2, 1, OutputKind::Count);
        let bits = psijoin_psi_testing::parameter(&plan, "bits of an item") as f64;
        // Published: linear in the number of bits.
        let published = graph[0] + (bits - 32.0) * (graph[2] - graph[0]) / 32.0;
        let ratio = traffic(&CO18_PSM) / published;
        assert!((0.5..1.0).contains(&ratio), "{ratio} at 2^{log2}");
    }
}

/// With the paper's parameters: k = η = 40, m = 1.44·k·n cells, both messages of each OT. For items
/// of more than η bits, strings are as long as these.
#[test]
fn reproduces_the_published_table() {
    for (log2, _, published) in TABLE_1 {
        for (bits, published) in [40_u32, 48, 64].into_iter().zip(published) {
            let n = f64::from(1 << log2);
            let shape = Shape {
                slices: 40,
                slice_cells: (1.44 * n) as u32,
            };
            let transfer = GarbledTransfer {
                filter: FilterOt::new(shape, Extension::IKNP),
                strings: MaskLength { bits },
            };
            let Traffic {
                sender_bytes,
                receiver_bytes,
                ..
            } = transfer.conversation().traffic();
            let both = (2 * sender_bytes + receiver_bytes) as f64 / f64::from(1 << 20);
            let ratio = both / published;
            assert!(
                (0.95..1.03).contains(&ratio),
                "{ratio} at 2^{log2}, {bits} bits"
            );
        }
    }
}

#[test]
fn all_that_is_sent_is_uniform() {
    assert_all_is_uniform(&plan(&KK20_PSM, 100, 60, OutputKind::Rows));
    assert_all_is_uniform(&plan(&CO18_PSM, 60, 10, OutputKind::Rows));
}

#[test]
fn a_filter_that_is_too_small_is_bad_luck_and_not_a_wrong_result() {
    let request = Request::rows(30, 3).unwrap();
    let mut params = filter::Params::new(&request).unwrap();
    params.opprf.transfer.filter.shape.slice_cells = 2;
    let plan = params.plan();
    let (sending, receiving) = memory::pair();
    let (senders, receivers) = (items(0..30, &plan), items(0..3, &plan));
    let (sent, received) = run_items(&plan, (&senders, sending), (&receivers, receiving));
    assert_eq!(sent.unwrap_err().kind(), ErrorKind::BadLuck);
    assert_eq!(received.unwrap_err().kind(), ErrorKind::Channel);
}

/// At every size the bounds are kept, and a run of too many pairs is refused.
#[test]
fn budget_is_kept() {
    for (sender, receiver) in [
        (1, 1),
        (1 << 26, 1),
        (1, 1 << 26),
        (1 << 12, 1 << 12),
        (1 << 26, 1 << 26),
    ] {
        for protocol in [&KK20_PSM, &CO18_PSM] {
            let plan = plan(protocol, sender, receiver, OutputKind::Count);
            assert!(plan.budget().total().log2() <= -40.0);
            let most = if protocol.info().name == "kk20-psm" {
                22
            } else {
                18
            };
            let pairs = u128::from(sender) * u128::from(receiver);
            assert_eq!(
                plan.feasible().is_ok(),
                pairs <= 1 << most,
                "{sender} {receiver}"
            );
        }
    }
}
