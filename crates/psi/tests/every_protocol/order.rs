//! The order of the sender's items never shows in its messages.

use psijoin_channel::{Channel, memory, transcript::recorded};
use psijoin_psi::{Protocol, registry::PROTOCOLS};

use crate::harness::{Sets, Setup, assert_result, run_pair};

/// The bytes that the sender sends, with seeded randomness.
fn sent(protocol: &dyn Protocol, sets: &Sets, seed: u128) -> Vec<u8> {
    let (sender, receiver) = memory::pair();
    let (sender, recorder): (Channel, _) = recorded(sender);
    let setup = Setup {
        seeds: Some([seed, 7]),
        ..Setup::default()
    };
    let results = run_pair(&*sets.plan(protocol), sets, (sender, receiver), &setup);
    assert_result(protocol, sets, results);
    recorder.messages().concat()
}

/// One item at the front and at the back of the sender's input: with the same randomness the
/// messages are those of a reordering, and over fresh randomness the position of the item's
/// mask is uniform. Seen here as: what the receiver gets for a shared item moves about.
#[test]
fn the_position_of_a_shared_item_is_random() {
    // Two items a side make two orders: both must occur, whatever the input order.
    for protocol in PROTOCOLS {
        for sender in [vec![1, 2], vec![2, 1]] {
            let sets = Sets {
                sender,
                receiver: vec![1],
            };
            let messages: std::collections::HashSet<_> = (0..24)
                .map(|seed| order_of_last_message(*protocol, &sets, seed))
                .collect();
            let orders = if protocol.info().name == "naive" {
                1
            } else {
                2
            };
            assert_eq!(messages.len(), orders, "{}", protocol.info().name);
        }
    }
}

/// Which half of what the receiver must compare belongs to the shared item, found by
/// flipping bits: the half in which a change makes it disappear.
fn order_of_last_message(protocol: &dyn Protocol, sets: &Sets, seed: u128) -> bool {
    use psijoin_channel::fault::{Fault, FaultKind, faulty};
    use psijoin_psi::Output;

    let run = |fault| {
        let (sender, receiver) = memory::pair();
        let (sender, probe) = faulty(sender, fault);
        let setup = Setup {
            seeds: Some([seed, 7]),
            ..Setup::default()
        };
        let (_, received) = run_pair(&*sets.plan(protocol), sets, (sender, receiver), &setup);
        probe.reached().then_some(received)
    };
    // The first message that carries the sender's items: in `dh` its first, else its last.
    let messages = (0..).take_while(|at| run(flip(*at, 0)).is_some()).count();
    let at = if protocol.info().name == "dh" {
        0
    } else {
        messages - 1
    };
    fn flip(at: usize, bit: usize) -> Fault {
        Fault {
            at: at as u64,
            kind: FaultKind::Flip { bit },
        }
    }
    // `dh`: 32 bytes an item; `naive`: one mask an item; `kkrt`: the masks of one list side
    // by side, list after list.
    let survives = |bit| matches!(run(flip(at, bit)), Some(Ok(Output::Rows(rows))) if rows == [0]);
    match protocol.info().name {
        "dh" => survives(9),
        "naive" => survives(3),
        _ => {
            let bits = mask_bits(protocol, sets);
            (0..3).all(|list| survives(2 * list * bits + 3))
        }
    }
}

fn mask_bits(protocol: &dyn Protocol, sets: &Sets) -> usize {
    let plan = sets.plan(protocol);
    let parameters = plan.parameters();
    parameters
        .iter()
        .find(|parameter| parameter.name == "mask bits")
        .unwrap()
        .value as usize
}

/// With seeded randomness a run is reproducible, which the tests above rest on.
#[test]
fn a_seeded_run_is_reproducible() {
    let sets = Sets::new(500, 400, 100);
    for protocol in PROTOCOLS {
        assert!(sent(*protocol, &sets, 3) == sent(*protocol, &sets, 3));
    }
}

/// `naive` sends a sorted list: permuting the input changes nothing.
#[test]
fn sorted_masks_do_not_depend_on_the_input_order() {
    let sets = Sets::new(500, 400, 100);
    let mut reversed = sets.clone();
    reversed.sender.reverse();
    let naive = psijoin_psi::registry::find("naive").unwrap();
    assert!(sent(naive, &sets, 1) == sent(naive, &reversed, 2));
}
