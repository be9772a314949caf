use std::collections::HashMap;

use psijoin_block::{Block, Prg};
use psijoin_channel::{count::counted, memory};
use psijoin_psi::{Columns, Group, Groups, Output, OutputKind, Plan, Request, Role};
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
        assert_eq!(params.width, Width::Bits58);
        assert_eq!(params.target_width, Width::Bits58);
        (params.width, params.target_width) = (width, width);
        // All bits, of which up to three are left over.
        params.number_bits = width.bits();
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
        let mut columns = vec![vec![-1; n as usize]; request.output.columns().of(role)];
        if let (Some(labels), true) = (columns.last_mut(), request.output.groups().is_some()) {
            labels.fill(0);
        }
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
    let groups = |columns, labels, least| Groups {
        columns,
        labels,
        least,
        noisy: false,
    };
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
            OutputKind::Groups(groups(columns(1, 0), columns(0, 1), 0)),
            OutputKind::Groups(groups(columns(1, 2), columns(3, 5), 0)),
            OutputKind::Groups(groups(columns(0, 3), columns(2, 0), 10)),
            OutputKind::Groups(groups(columns(0, 0), columns(0, 256), 1 << 40)),
            OutputKind::GroupTotals(groups(columns(1, 1), columns(3, 0), 0)),
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

/// Adds up a random table by groups in the clear, and by the protocol.
fn check_groups(groups: Groups, seed: u64) {
    let plan = plan(900, 700, OutputKind::Groups(groups));
    let mut prg = Prg::from_seed(Block(seed.into()));
    let mut party = |role: Role, items: usize| -> Vec<Vec<i64>> {
        let brought = groups.brought().of(role);
        let mut number = |column: usize| {
            let bits = u64::from_le_bytes(prg.bytes());
            match groups.labels.of(role) as u64 {
                labels @ 1.. if column + 1 == brought => (bits % labels) as i64,
                // Of either sign, and as large as a sum allows.
                _ => bits as i64 >> 10,
            }
        };
        (0..brought)
            .map(|column| (0..items).map(|_| number(column)).collect())
            .collect()
    };
    let (senders, receivers) = (party(Role::Sender, 900), party(Role::Receiver, 700));
    let (sending, receiving) = memory::pair();
    let (_, received) = run_tables(
        &plan,
        (&items(0..900, &plan), &senders, sending),
        (&items(600..1300, &plan), &receivers, receiving),
    );
    let mut expected: HashMap<usize, Group> = HashMap::new();
    for shared in 0..300 {
        let (ours, theirs) = (600 + shared, shared);
        let label = |columns: &[Vec<i64>], labels: usize, row: usize| match labels {
            0 => 0,
            _ => columns.last().expect("labels")[row] as usize,
        };
        let number = label(&senders, groups.labels.sender, ours) * groups.labels.receiver.max(1)
            + label(&receivers, groups.labels.receiver, theirs);
        let group = expected.entry(number).or_insert_with(|| Group {
            count: 0,
            sums: vec![0; groups.columns.total()],
        });
        group.count += 1;
        let ours = senders[..groups.columns.sender]
            .iter()
            .map(|column| column[ours]);
        let theirs = receivers[..groups.columns.receiver]
            .iter()
            .map(|column| column[theirs]);
        for (sum, number) in group.sums.iter_mut().zip(ours.chain(theirs)) {
            *sum += number;
        }
    }
    let empty = Group {
        count: 0,
        sums: vec![0; groups.columns.total()],
    };
    let all = (0..groups.count()).map(|number| expected.get(&number).unwrap_or(&empty).clone());
    let shown = all.map(|group| Some(group).filter(|group| group.count >= groups.least as i64));
    assert_eq!(
        received.unwrap(),
        Output::Groups(shown.collect()),
        "{groups}"
    );
}

#[test]
fn groups_are_those_of_a_plain_join() {
    let columns = |sender, receiver| Columns { sender, receiver };
    let cases = [
        (columns(0, 0), columns(0, 2), 0),
        (columns(1, 0), columns(2, 0), 0),
        (columns(0, 1), columns(0, 16), 20),
        (columns(1, 1), columns(5, 3), 20),
        (columns(2, 0), columns(86, 2), 1),
        (columns(8, 8), columns(0, 7), 43),
        (columns(0, 2), columns(256, 0), 2),
        (columns(1, 0), columns(1, 1), 300),
        (columns(1, 0), columns(1, 1), 301),
    ];
    for ((columns, labels, least), seed) in cases.into_iter().zip(0..) {
        let groups = Groups {
            columns,
            labels,
            least,
            noisy: false,
        };
        check_groups(groups, seed);
    }
}
