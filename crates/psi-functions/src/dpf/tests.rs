use std::thread;

use proptest::{collection::vec, prelude::*};
use psijoin_channel::{count::counted, memory};
use psijoin_psi::Dialogue;

use super::*;

const BASE: BaseOts = BaseOts::DiffieHellman;

/// A lane in the clear, and its masks.
#[derive(Debug, Clone)]
struct Lane {
    selected: [bool; 2],
    point: [u16; 2],
    values: Vec<[u64; 2]>,
}

impl Lane {
    fn is_selected(&self) -> bool {
        self.selected[0] ^ self.selected[1]
    }

    fn point(&self) -> usize {
        usize::from(self.point[0] ^ self.point[1])
    }

    fn value(&self, value: usize) -> u64 {
        let [ours, theirs] = self.values[value];
        ours.wrapping_add(theirs)
    }
}

/// Any lanes; the point of one that is selected is below `points`.
fn lanes(points: usize, values: usize) -> impl Strategy<Value = Vec<Lane>> {
    let value = vec(any::<[u64; 2]>(), values);
    let lane = (
        any::<[bool; 2]>(),
        any::<[u16; 2]>(),
        value,
        0..points as u16,
    );
    vec(lane, 1..70).prop_map(|lanes| {
        let lane = |(selected, masks, values, point): ([bool; 2], [u16; 2], _, u16)| Lane {
            selected,
            point: match selected {
                [a, b] if a != b => [masks[0], masks[0] ^ point],
                _ => masks,
            },
            values,
        };
        lanes.into_iter().map(lane).collect()
    })
}

/// Returns the shares of both parties, the sender's first. The traffic is checked.
fn run(shape: Shape, lanes: &[Lane]) -> [Vec<Vec<u64>>; 2] {
    let party = |role: Role, mut channel: Channel| {
        let i = role as usize;
        let dpf = Dpf::prepare(shape, role, BASE, &mut channel, &mut Prg::from_os()).unwrap();
        let points: Vec<u16> = lanes.iter().map(|lane| lane.point[i]).collect();
        let list = |value: usize| lanes.iter().map(|lane| lane.values[value][i]).collect();
        let points = Points {
            selected: &lanes.iter().map(|lane| lane.selected[i]).collect(),
            points: &points,
            values: (0..shape.values).map(list).collect(),
        };
        dpf.add_up(points, &mut channel).unwrap()
    };
    let (sender, receiver) = memory::pair();
    let (sender, counters) = counted(sender);
    let shares = thread::scope(|scope| {
        let sent = scope.spawn(|| party(Role::Sender, sender));
        let received = party(Role::Receiver, receiver);
        [sent.join().unwrap(), received]
    });
    let [offline, online] = shape.conversations(BASE);
    let (traffic, cost) = (
        counters.snapshot(),
        Dialogue::new(offline, online).cost().total,
    );
    assert_eq!(
        (traffic.sent.bytes, traffic.received.bytes, traffic.flights),
        (cost.sender_bytes, cost.receiver_bytes, cost.flights),
    );
    shares
}

fn check(points: usize, lanes: &[Lane]) {
    let shape = Shape {
        lanes: lanes.len(),
        points,
        values: lanes[0].values.len(),
    };
    let [ours, theirs] = run(shape, lanes);
    for value in 0..shape.values {
        let mut expected = vec![0_u64; points];
        for lane in lanes.iter().filter(|lane| lane.is_selected()) {
            let sum = &mut expected[lane.point()];
            *sum = sum.wrapping_add(lane.value(value));
        }
        let pairs = ours[value].iter().zip(&theirs[value]);
        let sums: Vec<u64> = pairs.map(|(a, b)| a.wrapping_add(*b)).collect();
        assert_eq!(sums, expected, "value {value} of {points} points");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Of every depth, with all leaves and with some.
    #[test]
    fn sums_are_those_of_the_selected_lanes(
        (points, lanes) in (1..=300_usize, 1..=4_usize).prop_flat_map(|(points, values)| {
            (Just(points), lanes(points, values))
        }),
    ) {
        check(points, &lanes);
    }
}

/// Each point of each depth, with b = 1 and b = 0.
#[test]
fn a_point_is_where_it_should_be() {
    for points in [1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 32, 64, 128, 256] {
        let lane = |i: usize| Lane {
            selected: [i.is_multiple_of(3), i.is_multiple_of(2)],
            point: [40_000, 40_000 ^ (i / 2 % points) as u16],
            values: vec![[1, 0], [i as u64, (1 << 40) - i as u64]],
        };
        check(points, &(0..2 * points + 35).map(lane).collect::<Vec<_>>());
    }
}

/// More lanes than a task has.
#[test]
fn tasks_add_up() {
    let lane = |i: u64| Lane {
        selected: [i.is_multiple_of(2), i.is_multiple_of(5)],
        point: [(i % 7) as u16, 0],
        values: vec![[i, i << 50]],
    };
    check(7, &(0..9001).map(lane).collect::<Vec<_>>());
}

/// Of 64 random bits each: equal ones are rarer than any failure.
#[test]
fn shares_tell_nothing_alone() {
    let lane = Lane {
        selected: [true, false],
        point: [3, 0],
        values: vec![[1, 0]],
    };
    let shape = Shape {
        lanes: 1,
        points: 5,
        values: 1,
    };
    let runs: Vec<_> = (0..20)
        .map(|_| run(shape, std::slice::from_ref(&lane)))
        .collect();
    for party in [0, 1] {
        let shares = runs.iter().flat_map(|run| run[party][0].clone());
        let distinct: std::collections::BTreeSet<u64> = shares.collect();
        assert_eq!(distinct.len(), 5 * runs.len());
    }
}
