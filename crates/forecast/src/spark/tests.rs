use psijoin_psi::{OutputKind, Request};
use psijoin_psi_pk::dh::DH;

use super::*;

/// For tests only: no machine has these.
fn costs() -> SparkCosts {
    SparkCosts {
        machine: "none".into(),
        source: "none".into(),
        rows: 1e6,
        core_seconds: CoreSeconds {
            read: 4.0,
            beside: 1.0,
            join_back: 8.0,
        },
        seconds: FixedSeconds {
            phase: 0.5,
            meet: 3.0,
        },
        work_bytes: 40.0,
    }
}

const LINE: Network = Network {
    bits_per_second: [1e9; 2],
    round_trip: 1e-3,
    ..Network::INSTANT
};

fn join(items: [u64; 2], cores: u32) -> SparkJoin {
    let request = Request::rows(items[0], items[1]).unwrap();
    let plan = psijoin_psi_parts::plan(&DH, &request).unwrap();
    let cluster = Cluster {
        cores,
        lanes: cores,
    };
    let calibration = Calibration::shipped();
    let join = SparkJoin::of(&plan, calibration, &costs(), cluster, &LINE).unwrap();
    join.expect("dh was measured")
}

fn phase(join: &SparkJoin, name: &str) -> Phase {
    let mut phases = join.phases.iter();
    *phases.find(|phase| phase.name == name).expect("a phase")
}

#[test]
fn phases_by_hand() {
    let join = join([5_000_000, 10_000_000], 4);
    let read = phase(&join, "read keys");
    // The larger side takes 40 s of four cores.
    assert_eq!((read.seconds, read.core_seconds), (10.5, [20.0, 40.0]));
    let back = phase(&join, "join back");
    assert_eq!((back.seconds, back.core_seconds), (20.5, [0.0, 80.0]));
    assert_eq!(phase(&join, "meet").seconds, 3.0);
    assert_eq!(join.work_bytes, [2e8, 4e8]);
    let lanes = phase(&join, "run lanes");
    assert_eq!(lanes.seconds, 0.5 + join.lanes_seconds);
    let sum: f64 = join.phases.iter().map(|phase| phase.seconds).sum();
    assert_eq!(join.seconds(), sum);
}

#[test]
fn wire_bytes_are_the_plans_and_lanes_are_no_more_than_parts() {
    let join = join([10_000_000; 2], 64);
    let request = Request::rows(10_000_000, 10_000_000).unwrap();
    let plan = psijoin_psi_parts::plan(&DH, &request).unwrap();
    let cost = plan.cost().total;
    assert_eq!(join.wire_bytes, [cost.sender_bytes, cost.receiver_bytes]);
    assert_eq!((join.lanes.lanes, join.lanes.parts), (7, 7));
}

#[test]
fn a_session_of_one_run_has_one_lane() {
    let join = join([100_000; 2], 8);
    assert_eq!((join.lanes.lanes, join.lanes.parts), (1, 1));
}

#[test]
fn twice_the_cores_are_not_slower_and_compute_as_much() {
    let few = join([50_000_000; 2], 2);
    for cores in [4, 8, 16, 32] {
        let more = join([50_000_000; 2], cores);
        assert!(more.seconds() <= join([50_000_000; 2], cores / 2).seconds());
        let ratio = more.core_seconds() / few.core_seconds();
        assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
    }
}

#[test]
fn an_attempt_more_meets_again() {
    let join = join([20_000_000; 2], 8);
    let unlucky = Mishaps {
        failures_per_hour: 4.0,
        ..Mishaps::NONE
    };
    assert_eq!(join.with_mishaps(&Mishaps::NONE, 1), Some(join.seconds()));
    assert_eq!(join.between_seconds, 3.5);
    let mut seen = [0; 3];
    for seed in 0..60 {
        let course = play(&join.lanes, &LINE, &unlucky, seed);
        let seconds = join.with_mishaps(&unlucky, seed);
        match (course.is_done(), course.attempts.len()) {
            (false, _) => assert_eq!(seconds, None),
            (true, 1) => assert_eq!(seconds, Some(join.seconds())),
            (true, more) => {
                let least = join.seconds() + (more - 1) as f64 * 3.5;
                assert!(seconds.unwrap() > least);
            }
        }
        seen[usize::from(course.is_done()) + usize::from(course.attempts.len() == 1)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn what_was_not_measured_is_not_predicted() {
    let request = Request::rows(5_000_000, 5_000_000).unwrap();
    let plan = psijoin_psi_parts::plan(&DH, &request).unwrap();
    let nothing = Calibration {
        profiles: vec![],
        ..Calibration::shipped().clone()
    };
    let cluster = Cluster { cores: 2, lanes: 2 };
    let join = SparkJoin::of(&plan, &nothing, &costs(), cluster, &LINE).unwrap();
    assert_eq!(join, None);
    assert_eq!(plan.request().output, OutputKind::Rows);
}

#[test]
fn those_that_are_shipped_can_be_read() {
    let costs = SparkCosts::shipped();
    assert!(!costs.machine.is_empty() && !costs.source.is_empty());
    assert!(costs.rows >= 1e6);
    let CoreSeconds {
        read,
        beside,
        join_back,
    } = costs.core_seconds;
    let FixedSeconds { phase, meet } = costs.seconds;
    for number in [read, beside, join_back, phase, meet, costs.work_bytes] {
        assert!(number.is_finite() && number > 0.0, "{number}");
    }
}
