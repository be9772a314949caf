use psijoin_block::{Block, Prg};
use psijoin_channel::{count::counted, joint_seed::JointSeed, memory};
use psijoin_encode::DigestVec;
use psijoin_params::simple::Shape;
use psijoin_psi::{Columns, ErrorKind, Output, OutputKind, Plan, Request, Role};
use psijoin_psi_testing::{
    items, output, parameter, run_items, run_tables, uniform::assert_all_is_uniform,
};

use super::{
    hints::{Places, Polynomials},
    *,
};

fn plan(sender: u64, receiver: u64, output: OutputKind) -> Plan {
    let request = Request::rows(sender, receiver).unwrap().output(output);
    PSTY19.plan(&request).unwrap()
}

/// Runs both parties; 300 of 1000 and of 700 items are shared.
fn computed(kind: OutputKind) -> Output {
    let plan = plan(1000, 700, kind);
    assert!(parameter(&plan, "polynomials") > 1);
    output(&plan, &items(0..1000, &plan), &items(700..1400, &plan)).unwrap()
}

#[test]
fn each_output_of_the_same_sets() {
    assert_eq!(computed(OutputKind::Rows), Output::Rows((0..300).collect()));
    assert_eq!(computed(OutputKind::Count), Output::Count(300));
    for (least, reached) in [(300, true), (301, false)] {
        let output = computed(OutputKind::Threshold(least));
        assert_eq!(output, Output::Reached(reached), "{least}");
    }
}

#[test]
fn bytes_and_flights_of_each_output() {
    for kind in [
        OutputKind::Rows,
        OutputKind::Count,
        OutputKind::Threshold(1),
        OutputKind::Sums(Columns {
            sender: 0,
            receiver: 2,
        }),
        OutputKind::Shares(Columns {
            sender: 0,
            receiver: 1,
        }),
    ] {
        for (senders, receivers) in [(1, 1), (30, 200), (500, 40)] {
            let plan = plan(senders, receivers, kind.clone());
            let (sending, receiving) = memory::pair();
            let (sending, counters) = counted(sending);
            let party = |role: Role| {
                let n = role.items(plan.request().sizes);
                let columns = plan.request().output.columns().of(role);
                (
                    items(0..n as u32, &plan),
                    vec![vec![-1; n as usize]; columns],
                )
            };
            let [sender, receiver] = [Role::Sender, Role::Receiver].map(party);
            let (sent, received) = run_tables(
                &plan,
                (&sender.0, &sender.1, sending),
                (&receiver.0, &receiver.1, receiving),
            );
            assert!(sent.is_ok() && received.is_ok(), "{kind}");
            let (traffic, cost) = (counters.snapshot(), plan.cost().total);
            assert_eq!(
                (traffic.sent.bytes, traffic.received.bytes, traffic.flights),
                (cost.sender_bytes, cost.receiver_bytes, cost.flights),
                "{senders} and {receivers} items, {kind}"
            );
        }
    }
}

/// KK20 (§6.2) quotes 9 MB for 2^12 items, and PSTY19's triples take the most of it.
#[test]
fn bytes_are_those_of_the_paper() {
    let plan = plan(1 << 12, 1 << 12, OutputKind::Count);
    let megabytes = plan.cost().total.total_bytes() as f64 / f64::from(1 << 20);
    assert!((8.0..12.0).contains(&megabytes), "{megabytes}");
    let gates = parameter(&plan, "bins") * (parameter(&plan, "compared bits") - 1);
    let triples = 2.0 * 16.0 * gates as f64 / f64::from(1 << 20);
    assert!(triples / megabytes > 0.75, "{triples} of {megabytes}");
}

#[test]
fn budget_is_kept() {
    for (sender, receiver) in [(1, 1), (1 << 26, 1), (1, 1 << 26), (1 << 26, 1 << 26)] {
        let plan = plan(sender, receiver, OutputKind::Count);
        assert!(plan.budget().total().log2() <= -40.0);
        assert!(parameter(&plan, "bits of a coefficient") >= parameter(&plan, "compared bits"));
    }
}

#[test]
fn all_that_is_sent_is_uniform() {
    assert_all_is_uniform(&plan(700, 300, OutputKind::Rows));
}

fn digests(count: u64) -> DigestVec {
    let mut prg = Prg::from_seed(Block(7));
    DigestVec::Short((0..count).map(|_| prg.bytes()).collect())
}

#[test]
fn hints_have_what_was_programmed() {
    let polynomials = Polynomials {
        shape: Shape {
            bins: 5,
            capacity: 150,
        },
        field_bits: 48,
    };
    let (keys, seed) = (digests(500), JointSeed::insecure_fixed([3; 32]));
    let places = Places::new(polynomials, keys.as_digests(), &seed);
    let values: Vec<u128> = (0..500).map(|key| key << 60 | 5).collect();
    let (mut sending, mut receiving) = memory::pair();
    let request = Request::rows(200, 200).unwrap();
    let mut rng = Prg::from_seed(Block(1));
    let found = std::thread::scope(|scope| {
        let receiver = scope.spawn(|| places.receive(receiving.halves().1).unwrap());
        let outbound = sending.halves().0;
        places.send(&values, &request, outbound, &mut rng).unwrap();
        receiver.join().unwrap()
    });
    assert_eq!(found.to_vec(), values);
}

#[test]
fn polynomials_that_are_too_small_are_bad_luck_and_not_a_wrong_result() {
    let request = Request::rows(30, 20).unwrap();
    let mut params = Params::new(&request).unwrap();
    params.polynomials.shape.capacity = 2;
    let plan = params.plan();
    let (sending, receiving) = memory::pair();
    let (senders, receivers) = (items(0..30, &plan), items(0..20, &plan));
    let (sent, received) = run_items(&plan, (&senders, sending), (&receivers, receiving));
    assert_eq!(sent.unwrap_err().kind(), ErrorKind::BadLuck);
    assert_eq!(received.unwrap_err().kind(), ErrorKind::Channel);
}
