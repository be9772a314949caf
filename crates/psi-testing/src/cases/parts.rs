//! Sessions in parts: they keep every property of one run, and the part of an item does not show.

use psijoin_channel::{
    AbortCode, Error as ChannelError,
    joint_seed::JointSeed,
    memory,
    transcript::{Recorder, recorded},
};
use psijoin_psi::{Error, ErrorKind, Output, OutputKind, Plan, Role};

use super::{cost, faults, order, results, secrets, views};
use crate::{
    JOINT_SEED, Results, Sets, Setup, Subject,
    run::{assert_output, fingerprints, run_pair},
};

/// Numbers of parts: the fewest, and an odd one.
const PARTS: [u32; 2] = [2, 7];

/// Of few items and of many, of one party and of the other, every output.
pub fn find_the_same(subject: &Subject) {
    for parts in PARTS {
        let subject = &subject.in_parts(parts);
        for (sender, receiver, shared) in
            [(0, 3, 0), (1, 1, 1), (2, 2, 1), (1, 200, 1), (200, 1, 1)]
        {
            results::check_rows(subject, Sets::new(sender, receiver, shared));
        }
        results::check(subject, Sets::new(70, 100, 30));
    }
}

/// Nobody may rely on the channel to hold more than one message.
pub fn wait_for_room_after_every_message(subject: &Subject) {
    results::both_parties_wait_for_room_after_every_message(&subject.in_parts(2));
}

/// To the byte, flights included.
pub fn cost_what_is_planned(subject: &Subject) {
    for parts in PARTS {
        cost::check(&subject.in_parts(parts), Sets::new(30, 50, 20));
    }
    cost::check(&subject.in_parts(2), Sets::new(700, 300, 20));
}

/// Each fault at every message of each part, or at some of very many.
pub fn end_soon_at_any_fault(subject: &Subject) {
    let subject = &subject.in_parts(2).waiting_for_room();
    faults::a_cut_connection(subject);
    faults::a_flipped_bit(subject);
    faults::a_short_message(subject);
    faults::a_stalled_peer(subject);
}

/// No item, no randomness; nothing twice; nothing of an order.
pub fn tell_no_secret(subject: &Subject) {
    secrets::no_item_and_no_randomness_is_sent(&subject.in_parts(2));
    secrets::two_runs_share_no_bytes(&subject.in_parts(2));
    if subject.units.is_none() {
        order::another_order_of_the_input_changes_the_order_of_units_only(&subject.in_parts(2));
    }
}

/// No bit of a view tells whether an item is shared.
pub fn hide_what_is_shared(subject: &Subject) {
    views::no_view_holds_a_membership_bit(&subject.in_parts(2));
}

/// Items of each party: so few that all of them may fall into one part.
const FEW: usize = 32;

/// Numbers, lengths and order of all messages are the same for any sets of the same sizes: items
/// spread over all parts or piled into one, shared or not.
pub fn look_the_same_for_any_input(subject: &Subject) {
    let subject = &subject.in_parts(PARTS[0]);
    let spread = Sets::new(FEW, FEW, 0);
    for request in subject.requests(&spread) {
        // Withheld output is not sent, and a known one is not computed.
        if request.min_intersection > 0 || request.is_decided() {
            continue;
        }
        let plan = &subject.plan(&request);
        let [first, last] = [0, PARTS[0] - 1].map(|part| piled(plan, part));
        let shared = Sets {
            sender: first.clone(),
            receiver: first.clone(),
        };
        let apart = Sets {
            sender: first,
            receiver: last,
        };
        let expected = lengths(subject, plan, &spread);
        for sets in [Sets::new(FEW, FEW, FEW), shared, apart] {
            let seen = lengths(subject, plan, &sets);
            assert_eq!(seen, expected, "{}", request.output);
        }
    }
}

/// Items that all fall into one part.
fn piled(plan: &Plan, part: u32) -> Vec<u64> {
    numbers_in(plan, part).take(FEW).collect()
}

fn numbers_in(plan: &Plan, part: u32) -> impl Iterator<Item = u64> {
    let joint_seed = JointSeed::insecure_fixed(JOINT_SEED);
    (0..).filter(move |number| {
        let items = plan.items(&fingerprints(plan, &[*number]), &joint_seed);
        u32::from(items.parts()[0]) == part
    })
}

/// Returns the lengths of the messages of the sender, and of the receiver.
fn lengths(subject: &Subject, plan: &Plan, sets: &Sets) -> [Vec<usize>; 2] {
    let (results, recorders) = run_recorded(plan, sets);
    assert_output(subject, sets, plan.request(), results);
    recorders.map(|recorder| recorder.messages().iter().map(Vec::len).collect())
}

fn run_recorded(plan: &Plan, sets: &Sets) -> (Results, [Recorder; 2]) {
    let (sender, receiver) = memory::pair();
    let ((sender, senders), (receiver, receivers)) = (recorded(sender), recorded(receiver));
    let results = run_pair(plan, sets, (sender, receiver), &Setup::default());
    (results, [senders, receivers])
}

/// If one part has no room for all of its items, this party gives up before it has sent anything,
/// and the other hears that luck failed, unless it listens to nothing and has sent all by then.
pub fn overflow_is_bad_luck(subject: &Subject) {
    const MANY: usize = 200;
    let subject = &subject.in_parts(PARTS[1]);
    let plan = &subject.plan(&Sets::new(MANY, MANY, 0).request(OutputKind::Rows));
    let spread: Vec<u64> = (0..MANY as u64).collect();
    let piled: Vec<u64> = numbers_in(plan, 3).take(MANY).collect();
    for unlucky in [Role::Sender, Role::Receiver] {
        let (sender, receiver) = match unlucky {
            Role::Sender => (piled.clone(), spread.clone()),
            Role::Receiver => (spread.clone(), piled.clone()),
        };
        let sets = Sets { sender, receiver };
        let (results, recorders) = run_recorded(plan, &sets);
        let ((own, theirs), recorder) = match unlucky {
            Role::Sender => (results, &recorders[0]),
            Role::Receiver => ((results.1, results.0), &recorders[1]),
        };
        assert_eq!(own.unwrap_err().kind(), ErrorKind::BadLuck);
        assert!(recorder.messages().is_empty(), "nothing was sent");
        let told = ChannelError::PeerAborted(AbortCode::BadLuck);
        let total = plan.cost().total;
        let is_listened_to = match unlucky {
            Role::Sender => total.sender_bytes > 0,
            Role::Receiver => total.receiver_bytes > 0,
        };
        match theirs {
            Err(Error::Channel(error)) => assert_eq!(error.to_string(), told.to_string()),
            Ok(Output::Nothing) if !is_listened_to => (),
            other => panic!("{unlucky}: {other:?}"),
        }
    }
}
