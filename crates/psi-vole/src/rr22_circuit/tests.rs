use psijoin_channel::{count::counted, memory};
use psijoin_psi::{Columns, Output, OutputKind, Plan, Request, Role};
use psijoin_psi_testing::{items, output, run_tables};

use super::*;
use crate::oprf::Width;

fn plan(sender: u64, receiver: u64, output: OutputKind) -> Plan {
    withholding(sender, receiver, output, 0)
}

fn withholding(sender: u64, receiver: u64, output: OutputKind, min_intersection: u64) -> Plan {
    let request = Request::rows(sender, receiver).unwrap().output(output);
    let request = request.min_intersection(min_intersection);
    RR22_CIRCUIT.plan(&request).unwrap()
}

/// Runs both parties; 300 of 1000 and of 700 items are shared.
fn computed(kind: OutputKind) -> Output {
    let plan = plan(1000, 700, kind);
    assert_eq!(plan.digest_bytes(), 16);
    output(&plan, &items(0..1000, &plan), &items(700..1400, &plan)).unwrap()
}

#[test]
fn each_output_of_the_same_sets() {
    assert_eq!(computed(OutputKind::Rows), Output::Rows((0..300).collect()));
    assert_eq!(computed(OutputKind::Count), Output::Count(300));
    for (least, reached) in [(0, true), (300, true), (301, false), (1 << 40, false)] {
        let output = computed(OutputKind::Threshold(least));
        assert_eq!(output, Output::Reached(reached), "{least}");
    }
}

#[test]
fn values_of_every_width() {
    let request = Request::rows(300, 200).unwrap().output(OutputKind::Count);
    for width in Width::ALL {
        let mut params = Params::new(&request).unwrap();
        assert_eq!(params.width, Width::Bits64);
        params.width = width;
        let plan = params.plan();
        assert_cost(&plan);
        let counted = output(&plan, &items(0..300, &plan), &items(200..400, &plan));
        assert_eq!(counted.unwrap(), Output::Count(100), "{width:?}");
    }
}

fn assert_cost(plan: &Plan) {
    let request = plan.request();
    let (sending, receiving) = memory::pair();
    let (sending, counters) = counted(sending);
    let party = |role: Role| {
        let n = role.items(request.sizes);
        let columns = vec![vec![-1; n as usize]; request.output.columns().of(role)];
        (items(0..n as u32, plan), columns)
    };
    let [sender, receiver] = [Role::Sender, Role::Receiver].map(party);
    let (sent, received) = run_tables(
        plan,
        (&sender.0, &sender.1, sending),
        (&receiver.0, &receiver.1, receiving),
    );
    let name = format!("{}, {}", request.output, request.min_intersection);
    assert!(sent.is_ok() && received.is_ok(), "{name}");
    let (traffic, cost) = (counters.snapshot(), plan.cost().total);
    assert_eq!(
        (traffic.sent.bytes, traffic.received.bytes, traffic.flights),
        (cost.sender_bytes, cost.receiver_bytes, cost.flights),
        "{:?}, {name}",
        request.sizes
    );
}

#[test]
fn bytes_and_flights_of_each_output() {
    let columns = |sender, receiver| Columns { sender, receiver };
    for (sender, receiver) in [(1, 1), (40, 300), (2000, 500)] {
        for kind in [
            OutputKind::Rows,
            OutputKind::Count,
            OutputKind::Threshold(1),
            OutputKind::Threshold(1 << 40),
            OutputKind::Sums(columns(1, 0)),
            OutputKind::Sums(columns(0, 1)),
            OutputKind::Sums(columns(2, 3)),
            OutputKind::Shares(columns(0, 0)),
            OutputKind::Shares(columns(1, 0)),
            OutputKind::Shares(columns(0, 2)),
        ] {
            assert_cost(&plan(sender, receiver, kind.clone()));
            if kind.can_be_withheld() {
                assert_cost(&withholding(sender, receiver, kind, 1));
            }
        }
    }
}

/// Fewer than volepsi's circuit PSI, 8.7 MB at 2^16 and 33 MB at 2^18, and 921 bits at 2^20.
#[test]
fn bytes_of_published_sizes() {
    let bits = |log2: u32| {
        let n = 1 << log2;
        let bytes = plan(n, n, OutputKind::Rows).cost().total.total_bytes();
        8.0 * bytes as f64 / n as f64
    };
    for (log2, most) in [(16, 1062.0), (18, 1007.0), (20, 921.0)] {
        assert!(
            bits(log2) < most,
            "{} bits per item at 2^{log2}",
            bits(log2)
        );
    }
}
