use psijoin_channel::{count::counted, memory};
use psijoin_params::{Security, Sizes};

use super::*;
use crate::{
    Columns, Items, Output, Role, registry,
    testing::{items, output, run_with_columns},
};

fn plan(sender: u64, receiver: u64, output: OutputKind) -> Box<dyn Plan> {
    withholding(sender, receiver, output, 0)
}

fn withholding(
    sender: u64,
    receiver: u64,
    output: OutputKind,
    min_intersection: u64,
) -> Box<dyn Plan> {
    let request = Request {
        sizes: Sizes::new(sender, receiver).unwrap(),
        security: Security::default(),
        output,
        min_intersection,
    };
    registry::plan(&Rr22Circuit, &request).unwrap()
}

/// 300 of 1000 and of 700 items are shared.
fn computed(kind: OutputKind) -> Output {
    let plan = plan(1000, 700, kind);
    let sets: [Items; 2] = [items(0..1000, 16), items(700..1400, 16)];
    output(&*plan, &sets[0], &sets[1]).unwrap()
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

fn assert_cost(plan: &dyn Plan) {
    let request = plan.request();
    let (sending, receiving) = memory::pair();
    let (sending, counters) = counted(sending);
    let party = |role: Role| {
        let n = role.items(request.sizes);
        let columns = vec![vec![-1; n as usize]; request.output.columns().of(role)];
        (items(0..n as u32, plan.digest_bytes()), columns)
    };
    let [sender, receiver] = [Role::Sender, Role::Receiver].map(party);
    let results = run_with_columns(
        plan,
        (&sender.0, &sender.1, sending),
        (&receiver.0, &receiver.1, receiving),
    );
    let name = format!("{}, {}", request.output, request.min_intersection);
    assert!(results.iter().all(Result::is_ok), "{name}");
    let (traffic, cost) = (counters.snapshot(), plan.cost().total());
    assert_eq!(
        (traffic.sent.bytes, traffic.received.bytes, traffic.flights),
        (cost.sender_bytes, cost.receiver_bytes, cost.flights),
        "{:?}, {name}",
        request.sizes
    );
}

#[test]
fn bytes_and_rounds_of_each_output() {
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
            assert_cost(&*plan(sender, receiver, kind.clone()));
            if kind.can_be_withheld() {
                assert_cost(&*withholding(sender, receiver, kind, 1));
            }
        }
    }
}

/// Fewer than volepsi's circuit PSI, 8.7 MB at 2^16 and 33 MB at 2^18, and 921 bits at 2^20.
#[test]
fn bytes_of_published_sizes() {
    let bits = |log2: u32| {
        let n = 1 << log2;
        let bytes = plan(n, n, OutputKind::Rows).cost().total().total_bytes();
        8.0 * bytes as f64 / n as f64
    };
    for (log2, most) in [(16, 1062.0), (18, 1007.0), (20, 921.0)] {
        assert!(bits(log2) < most, "{} bits an item at 2^{log2}", bits(log2));
    }
}
