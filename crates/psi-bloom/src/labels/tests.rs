use std::{ops::Range, thread};

use psijoin_block::Prg;
use psijoin_channel::{
    AbortCode, Error as ChannelError,
    count::{Snapshot, counted},
    memory,
};
use psijoin_circuit::{
    Backend, Bits, TwoParty,
    garble::{Evaluator, Garbler, evaluator, garbler},
};
use psijoin_psi_testing::{JOINT_SEED, structured};

use super::*;

fn joint_seed() -> JointSeed {
    JointSeed::insecure_fixed(JOINT_SEED)
}

fn items(wires: &WireLabels, numbers: Range<u64>) -> Items {
    let numbers: Vec<u64> = numbers.collect();
    Items::digest(&structured(&numbers), &joint_seed(), wires.digest_bytes())
}

/// A run of both parties, and of a circuit that multiplies each lane by a bit of the receiver.
struct Run {
    /// The products, which the receiver learns.
    products: Bits,
    /// The lowest bits of the receiver's labels.
    lowest: Bits,
    items: Vec<Option<u32>>,
    /// Until both had their labels, without the setup of the circuit.
    traffic: Snapshot,
}

fn run(wires: &WireLabels, senders: Range<u64>, receivers: Range<u64>, masks: &Bits) -> Run {
    let (garbling, mut evaluating) = memory::pair();
    let (mut garbling, counters) = counted(garbling);
    let (lanes, extension) = (wires.lanes(), Extension::IKNP);
    thread::scope(|scope| {
        let garbler = scope.spawn(|| {
            let (channel, rng) = (&mut garbling, &mut Prg::from_os());
            let mut setup = garbler::Setup::new(extension, channel, rng).unwrap();
            let before = counters.snapshot();
            let (items, context) = (items(wires, senders), &mut Context::new(channel));
            let shared = wires.send(&items, &joint_seed(), &setup.delta(), context);
            let traffic = counters.snapshot() - before;
            let mut party = Garbler::new(&mut setup, channel);
            let masks = party.theirs(1, lanes).unwrap().remove(0);
            let products = party.and(&shared.unwrap(), &masks).unwrap();
            party.reveal(&[products]).unwrap();
            traffic
        });
        let (channel, rng) = (&mut evaluating, &mut Prg::from_os());
        let mut setup = evaluator::Setup::new(extension, channel, rng).unwrap();
        let (own, context) = (items(wires, receivers), &mut Context::new(channel));
        let received = wires.receive(&own, &joint_seed(), context);
        let Received { labels, items } = received.unwrap();
        let mut party = Evaluator::new(&mut setup, channel);
        let lowest = party.shares(std::slice::from_ref(&labels)).remove(0);
        let masks = party.own(std::slice::from_ref(masks)).unwrap().remove(0);
        let products = party.and(&labels, &masks).unwrap();
        Run {
            products: party.learn(&[products]).unwrap().remove(0),
            lowest,
            items,
            traffic: garbler.join().unwrap(),
        }
    })
}

/// Both protocols, for these numbers of items.
fn both(sender: u64, receiver: u64) -> [WireLabels; 2] {
    let request = Request::rows(sender, receiver).unwrap();
    [WireLabels::of_items, WireLabels::of_bins].map(|derive| derive(&request).unwrap())
}

/// Sets that share some, all or no items; and every third lane is masked.
#[test]
fn a_circuit_goes_on_with_what_is_shared() {
    for (senders, receivers) in [
        (0..90, 60..100),
        (0..40, 0..40),
        (0..40, 50..51),
        (7..8, 0..40),
    ] {
        let count = |range: &Range<u64>| range.end - range.start;
        for wires in both(count(&senders), count(&receivers)) {
            let masks: Bits = (0..wires.lanes()).map(|lane| lane % 3 != 0).collect();
            let run = run(&wires, senders.clone(), receivers.clone(), &masks);
            assert_eq!(run.items.len(), wires.lanes());
            for (lane, item) in run.items.iter().enumerate() {
                let number = item.map(|item| receivers.start + u64::from(item));
                let is_shared = number.is_some_and(|number| senders.contains(&number));
                assert_eq!(
                    run.products.get(lane),
                    is_shared && masks.get(lane),
                    "{lane}"
                );
            }
            let mut positions: Vec<u32> = run.items.iter().flatten().copied().collect();
            positions.sort_unstable();
            let all: Vec<u32> = (0..count(&receivers) as u32).collect();
            assert_eq!(positions, all);

            let said = wires.conversation().traffic();
            assert_eq!(run.traffic.sent.bytes, said.sender_bytes);
            assert_eq!(run.traffic.received.bytes, said.receiver_bytes);
        }
    }
}

/// The lowest bits of the receiver's labels are as often one, whether items are shared or not.
#[test]
fn labels_do_not_show_what_is_shared() {
    for wires in both(400, 400) {
        for first in [0, 400] {
            let masks = Bits::ones(wires.lanes());
            let run = run(&wires, 0..400, first..first + 400, &masks);
            let (ones, lanes) = (run.lowest.count_ones(), wires.lanes());
            // Six standard deviations.
            let most = 3 * lanes.isqrt() + 3;
            assert!(ones.abs_diff(lanes / 2) < most, "{ones} of {lanes}");
        }
    }
}

/// At every size the bounds are kept.
#[test]
fn budget_is_kept() {
    for (sender, receiver) in [(1, 1), (1 << 22, 1), (1, 1 << 22), (1 << 11, 1 << 11)] {
        for wires in both(sender, receiver) {
            assert!(wires.budget().total().log2() <= -40.0);
        }
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_said() {
    let derive = |sender, receiver| {
        let request = Request::rows(sender, receiver).unwrap();
        [WireLabels::of_items, WireLabels::of_bins].map(|derive| derive(&request).is_ok())
    };
    assert_eq!(derive(0, 3), [false, false]);
    assert_eq!(derive(3, 0), [false, false]);
    assert_eq!(derive(1 << 12, 1 << 12), [false, true]);
    assert_eq!(derive(1 << 27, 3), [false, false]);
}

/// The party that brought too few items learns it, and the other one that this one gave up.
#[test]
fn items_that_were_not_agreed_on_are_an_error_on_both_sides() {
    for wires in both(5, 4) {
        let (mut sending, mut receiving) = memory::pair();
        let (sent, received) = thread::scope(|scope| {
            let sent = scope.spawn(|| {
                let (items, context) = (items(&wires, 0..4), &mut Context::new(&mut sending));
                let delta = Block(1);
                wires.send(&items, &joint_seed(), &delta, context).err()
            });
            let (items, context) = (items(&wires, 0..4), &mut Context::new(&mut receiving));
            let received = wires.receive(&items, &joint_seed(), context).err();
            (sent.join().unwrap(), received)
        });
        assert!(matches!(sent, Some(Error::Misuse(_))), "{sent:?}");
        let told = ChannelError::PeerAborted(AbortCode::LocalFailure);
        let Some(Error::Channel(error)) = received else {
            panic!("{received:?}")
        };
        assert_eq!(error.to_string(), told.to_string());
    }
}
