use psijoin_psi::Request;
use psijoin_psi_pk::dh::DH;

use super::*;
use crate::{Calibration, Cores, Duplex, Network, Wire};

/// A megabyte a second each way, two seconds there and back.
const SLOW: Network = Network {
    bits_per_second: [8e6; 2],
    round_trip: 2.0,
    ..Network::INSTANT
};

/// The receiver asks, with 3 MB; the sender answers, with 1 MB.
fn lanes(parts: u32, lanes: u32) -> Lanes {
    let flight = |bytes, seconds| Flight { bytes, seconds };
    let part = Part {
        flights: vec![flight([0.0, 3e6], 1.0), flight([1e6, 0.0], 4.0)],
        afterwards: 0.5,
    };
    Lanes {
        part,
        parts,
        lanes,
        beside: 0.25,
    }
}

fn ends(lanes: &Lanes, network: &Network, slowness: &[f64]) -> Vec<f64> {
    run(lanes, network, |lane| slowness[lane as usize]).ends
}

#[track_caller]
fn assert_close(value: f64, expected: f64) {
    let error = (value / expected - 1.0).abs();
    assert!(error < 1e-6, "{value} is not {expected}");
}

#[track_caller]
fn assert_all_close(values: &[f64], expected: &[f64]) {
    assert_eq!(values.len(), expected.len());
    for (value, expected) in values.iter().zip(expected) {
        assert_close(*value, *expected);
    }
}

#[test]
fn one_lane_by_hand() {
    // 0.25, three for 3 MB, one on the way, four of computing, one on the way, and 0.5.
    assert_all_close(&ends(&lanes(1, 1), &SLOW, &[1.0]), &[9.75]);
    assert_all_close(&ends(&lanes(2, 1), &SLOW, &[1.0]), &[19.5]);
    assert_all_close(&ends(&lanes(2, 1), &Network::INSTANT, &[1.0]), &[11.5]);
}

#[test]
fn lanes_share_the_network_by_hand() {
    // The 3 MB of both take six seconds. Later, one lane is alone.
    assert_all_close(&ends(&lanes(2, 2), &SLOW, &[1.0; 2]), &[12.75; 2]);
    assert_all_close(&ends(&lanes(3, 2), &SLOW, &[1.0; 2]), &[22.5, 12.75]);
}

#[test]
fn a_slow_lane_by_hand() {
    // The first lane has the network to itself for a quarter of a second, and the other one after
    // it, at 6.
    assert_all_close(&ends(&lanes(2, 2), &SLOW, &[1.0, 2.0]), &[12.5, 17.25]);
}

#[test]
fn half_a_duplex_by_hand() {
    let half = SLOW.over(Wire {
        duplex: Duplex::Half,
        ..Wire::default()
    });
    let mut both = lanes(1, 1);
    both.part.flights = vec![Flight {
        bytes: [1e6, 3e6],
        seconds: 1.0,
    }];
    // The direction with 1 MB is done after two seconds, the other one after four.
    assert_all_close(&ends(&both, &half, &[1.0]), &[0.25 + 4.0 + 1.0 + 0.5]);
    assert_all_close(&ends(&both, &SLOW, &[1.0]), &[0.25 + 3.0 + 1.0 + 0.5]);
}

#[test]
fn lanes_without_parts_do_nothing() {
    let run = run(&lanes(2, 5), &Network::INSTANT, |_| 1.0);
    assert_eq!(run.ends[2..], [0.0; 3]);
    assert_eq!(run.ends[0], run.ends[1]);
}

/// Every part runs once, and all bytes of all parts pass.
#[test]
fn nothing_is_lost() {
    for (parts, count) in [(1, 1), (7, 2), (24, 7), (70, 64), (70, 70), (11, 32)] {
        let lanes = lanes(parts, count);
        let of_lanes = (0..count).map(|lane| lanes.parts_of(lane));
        assert_eq!(of_lanes.sum::<u32>(), parts);
        let run = run(&lanes, &SLOW, |lane| 1.0 + f64::from(lane % 3));
        for (line, bytes) in run.lines.iter().zip(lanes.bytes()) {
            assert_close(line.bytes, bytes);
        }
    }
}

/// Whenever any lane has bytes, the whole rate is used.
#[test]
fn the_network_never_idles_while_bytes_remain() {
    for slowness in [1.0, 3.7] {
        let run = run(
            &lanes(29, 8),
            &SLOW,
            |lane| if lane == 3 { slowness } else { 1.0 },
        );
        for line in run.lines {
            assert_close(line.busy * 1e6, line.bytes);
        }
    }
}

#[test]
fn more_lanes_are_not_slower() {
    let seconds = |count, network: &Network| run(&lanes(97, count), network, |_| 1.0).seconds();
    for count in 1..=128 {
        assert!(seconds(count + 1, &Network::INSTANT) <= seconds(count, &Network::INSTANT) + 1e-6);
    }
    for power in 0..7 {
        let (fewer, more) = (1 << power, 2 << power);
        assert!(
            seconds(more, &SLOW) <= seconds(fewer, &SLOW) + 1e-6,
            "{more}"
        );
    }
}

/// As the plan costs, with whatever protocol: the calibration's own bytes are those of other sizes.
#[test]
fn bytes_are_those_of_the_plan_and_seconds_those_of_a_simulation() {
    for items in [[5_000_000, 5_000_000], [3_000_000, 50_000]] {
        let request = Request::rows(items[0], items[1]).unwrap();
        let plan = psijoin_psi_parts::plan(&DH, &request).unwrap();
        let parts = plan.parts().expect("it is in parts");
        let prediction = Calibration::shipped().predict(&parts.plan, 1).unwrap();
        let lanes = Lanes {
            part: Part::of(&prediction).unwrap(),
            parts: parts.shape.parts,
            lanes: 2,
            beside: 0.0,
        };
        let cost = plan.cost().total;
        let bytes = [cost.sender_bytes, cost.receiver_bytes];
        assert_all_close(&lanes.bytes(), &bytes.map(|bytes| bytes as f64));
        let alone = prediction.on(&Network::INSTANT, Cores::Own).unwrap();
        assert_close(lanes.part.seconds(), alone.seconds);
    }
}

const TROUBLE: Mishaps = Mishaps {
    slow: 0.1,
    slowness: 3.0,
    failures_per_hour: 0.0,
};

#[test]
fn nothing_happens_without_mishaps() {
    let lanes = lanes(40, 16);
    let course = play(&lanes, &SLOW, &Mishaps::NONE, 1);
    let smooth = run(&lanes, &SLOW, |_| 1.0).seconds();
    assert!(course.is_done());
    assert_eq!(course.attempts.len(), 1);
    assert_eq!(course.seconds(1e9), smooth);
}

/// Between the slowest lane that has the network to itself, and that lane after all bytes.
#[test]
fn slow_tasks_take_the_time_of_the_slowest_lane() {
    let lanes = lanes(40, 16);
    let smooth = lanes.seconds_alone(3);
    let mut seen = [false; 2];
    for seed in 0..50 {
        let seconds = play(&lanes, &Network::INSTANT, &TROUBLE, seed).seconds(0.0);
        // All lanes have two or three parts, and the slow ones take three times as long.
        let worst = [smooth, 3.0 * lanes.seconds_alone(2), 3.0 * smooth];
        let is_one = |of: &&f64| (seconds / **of - 1.0).abs() < 1e-6;
        assert!(worst.iter().any(|of| is_one(&of)), "{seconds}");
        seen[usize::from(seconds > 1.5 * smooth)] = true;
        let shared = play(&lanes, &SLOW, &TROUBLE, seed).seconds(0.0);
        let all_bytes: f64 = lanes.bytes().iter().map(|bytes| bytes / 1e6).sum();
        let on_the_way = 3.0 * 2.0 * 1.0;
        assert!(shared >= seconds && shared <= seconds + all_bytes + on_the_way);
    }
    assert_eq!(
        seen, [true; 2],
        "some runs have no slow task, and some have"
    );
}

#[test]
fn a_seed_decides_everything() {
    let mishaps = Mishaps {
        failures_per_hour: 2.0,
        ..TROUBLE
    };
    let courses: Vec<_> = (0..20)
        .map(|seed| play(&lanes(40, 16), &SLOW, &mishaps, seed))
        .collect();
    for (seed, course) in (0..).zip(&courses) {
        assert_eq!(*course, play(&lanes(40, 16), &SLOW, &mishaps, seed));
    }
    assert!(courses.iter().any(|course| *course != courses[0]));
}

#[test]
fn failures_end_attempts_and_three_end_the_session() {
    let mishaps = Mishaps {
        failures_per_hour: 1e6,
        ..Mishaps::NONE
    };
    let lanes = lanes(40, 16);
    let course = play(&lanes, &SLOW, &mishaps, 5);
    assert_eq!(course.attempts.len(), MOST_ATTEMPTS);
    assert!(!course.is_done());
    let smooth = run(&lanes, &SLOW, |_| 1.0).seconds();
    assert!(
        course
            .attempts
            .iter()
            .all(|attempt| attempt.seconds < smooth)
    );
    let lost: f64 = course.attempts.iter().map(|attempt| attempt.seconds).sum();
    assert_close(course.seconds(7.0), lost + 14.0);
}

/// Of tasks that each run for T hours, none fails with a probability of e^(-rate · sum of T).
#[test]
fn tasks_fail_as_often_as_they_should() {
    let lanes = lanes(32, 16);
    let hours: f64 = run(&lanes, &SLOW, |_| 1.0).ends.iter().sum::<f64>() / 3600.0;
    let mishaps = Mishaps {
        failures_per_hour: 0.5 / (2.0 * hours),
        ..Mishaps::NONE
    };
    let runs = 2000;
    let first = |seed| play(&lanes, &SLOW, &mishaps, seed).attempts[0];
    let failed = (0..runs).filter(|seed| first(*seed).has_failed).count() as f64;
    let expected = 1.0 - f64::exp(-0.5);
    let deviation = (expected * (1.0 - expected) / runs as f64).sqrt();
    let share = failed / runs as f64;
    assert!(
        (share - expected).abs() < 4.0 * deviation,
        "{share}, not {expected}"
    );
}
