//! What the tests of several protocols share.

use std::thread;

use psijoin_channel::{
    Channel,
    fault::{Fault, FaultKind, faulty},
    memory,
    transcript::recorded,
};

use crate::{
    Context, Error, ErrorKind, Input, Items, Output, Plan, Role, sorted_masks::SortedMasks,
};

pub(crate) type Results = [Result<Output, Error>; 2];

/// Both parties with digests of any size, whatever the plan says.
pub(crate) fn run(
    plan: &dyn Plan,
    (sender, sending): (&Items, Channel),
    (receiver, receiving): (&Items, Channel),
) -> Results {
    run_with_columns(plan, (sender, &[], sending), (receiver, &[], receiving))
}

/// The same with columns of numbers.
pub(crate) fn run_with_columns(
    plan: &dyn Plan,
    (sender, sender_columns, sending): (&Items, &[Vec<i64>], Channel),
    (receiver, receiver_columns, mut receiving): (&Items, &[Vec<i64>], Channel),
) -> Results {
    let run = |role, items, columns, channel: &mut _| {
        let input = Input {
            items,
            columns,
            joint_seed: &[5; 32],
        };
        let mut context = Context::new();
        plan.offline(role, channel, &mut context)
            .and_then(|party| party.run(input, channel, &mut context))
            .inspect_err(|error| channel.abort(error.abort_code()))
    };
    thread::scope(|scope| {
        let sender = scope.spawn(|| run(Role::Sender, sender, sender_columns, &mut { sending }));
        let received = run(Role::Receiver, receiver, receiver_columns, &mut receiving);
        [sender.join().unwrap(), received]
    })
}

/// The receiver's output over a channel that nothing happens to.
pub(crate) fn output(plan: &dyn Plan, sender: &Items, receiver: &Items) -> Result<Output, Error> {
    let (sending, receiving) = memory::pair();
    let [_, received] = run(plan, (sender, sending), (receiver, receiving));
    received
}

/// Digests of these numbers: `digest_bytes` long.
pub(crate) fn items(numbers: impl Iterator<Item = u32>, digest_bytes: usize) -> Items {
    let fingerprints: Vec<_> = numbers
        .map(|number| *blake3::hash(&number.to_le_bytes()).as_bytes())
        .collect();
    Items::digest(&fingerprints, &[1; 32], digest_bytes)
}

/// What each party sees of the other's items is uniform if none are shared: the masks, the last that
/// the sender sends, and all that the receiver sends online.
pub(crate) fn assert_nothing_shows(plan: &dyn Plan, masks: SortedMasks) {
    let [sent, received] = sent_if_none_are_shared(plan);
    let values = sent_masks(masks, sent);
    let sixteenth = masks.mask(u128::MAX) / 16 + 1;
    assert_uniform(values.iter().map(|mask| (mask / sixteenth) as usize));
    assert_uniform(values.iter().map(|mask| (mask >> 20) as usize % 16));
    assert_uniform(values.iter().map(|mask| *mask as usize % 16));
    assert_last_are_uniform(received, plan.cost().online.receiver_bytes);
}

/// All that the parties send online is uniform if no items are shared.
pub(crate) fn assert_all_is_uniform(plan: &dyn Plan) {
    let [sent, received] = sent_if_none_are_shared(plan);
    assert_last_are_uniform(sent, plan.cost().online.sender_bytes);
    assert_last_are_uniform(received, plan.cost().online.receiver_bytes);
}

/// The messages of either party, sender first, if no items are shared.
fn sent_if_none_are_shared(plan: &dyn Plan) -> [Vec<Vec<u8>>; 2] {
    let sizes = plan.request().sizes;
    let [senders, receivers] = [sizes.sender() as u32, sizes.receiver() as u32];
    let bytes = plan.digest_bytes();
    let (sending, receiving) = memory::pair();
    let (sending, sent) = recorded(sending);
    let (receiving, received) = recorded(receiving);
    let [_, found] = run(
        plan,
        (&items(0..senders, bytes), sending),
        (&items(senders..senders + receivers, bytes), receiving),
    );
    assert_eq!(found.unwrap(), Output::Rows(vec![]));
    [sent.messages(), received.messages()]
}

/// The last so many bytes of a party's messages.
fn assert_last_are_uniform(messages: Vec<Vec<u8>>, bytes: u64) {
    let messages = messages.concat();
    let online = &messages[messages.len() - bytes as usize..];
    assert_uniform(online.iter().map(|byte| usize::from(byte & 15)));
    assert_uniform(online.iter().map(|byte| usize::from(byte >> 4)));
}

/// The masks that are the last of these messages.
fn sent_masks(masks: SortedMasks, messages: Vec<Vec<u8>>) -> Vec<u128> {
    let mut coded = masks.coded_bytes() as usize;
    let mut first = messages.len();
    while coded > 0 {
        first -= 1;
        coded -= messages[first].len();
    }
    let (mut replaying, mut replayed) = memory::pair();
    let values: Vec<Vec<u128>> = thread::scope(|scope| {
        scope.spawn(move || {
            let mut messages = messages[first..].iter();
            messages
                .try_for_each(|message| replaying.send(message))
                .unwrap();
        });
        let inbound = replayed.halves().1;
        masks
            .receive_each(inbound, &|masks| masks.collect())
            .unwrap()
    });
    values.concat()
}

/// Pearson's test with 15 degrees of freedom: 56 is exceeded with probability 10^-6.
pub(crate) fn assert_uniform(values: impl Iterator<Item = usize>) {
    let mut counts = [0_f64; 16];
    values.for_each(|value| counts[value] += 1.0);
    let expected = counts.iter().sum::<f64>() / 16.0;
    let square = |count: f64| (count - expected).powi(2) / expected;
    let statistic: f64 = counts.into_iter().map(square).sum();
    assert!(expected > 100.0 && statistic < 56.0, "{statistic}");
}

/// Flips a bit in each message of a party. What is not noticed has changed its own items at most, so
/// that nothing is found that is not shared. How often it was noticed.
pub(crate) fn notices_of_tampering(plan: &dyn Plan, cheater: Role) -> usize {
    let sizes = plan.request().sizes;
    let [senders, receivers] = [sizes.sender() as u32, sizes.receiver() as u32];
    let shared = receivers / 2;
    let first = senders - shared;
    let bytes = plan.digest_bytes();
    let (senders, receivers) = (
        items(0..senders, bytes),
        items(first..first + receivers, bytes),
    );
    let mut noticed = 0;
    for message in 0.. {
        let fault = Fault {
            at: message,
            kind: FaultKind::Flip {
                bit: 7 * message as usize + 3,
            },
        };
        let (mut sending, mut receiving) = memory::pair();
        let probe;
        match cheater {
            Role::Sender => (sending, probe) = faulty(sending, fault),
            Role::Receiver => (receiving, probe) = faulty(receiving, fault),
        }
        let [sent, received] = run(plan, (&senders, sending), (&receivers, receiving));
        if !probe.reached() {
            break;
        }
        match (&sent, &received) {
            (Ok(_), Ok(Output::Rows(rows))) => assert!(rows.iter().all(|row| *row < shared)),
            _ => {
                // The honest party says why; the other one hears of it.
                let errors = [sent.err(), received.err()];
                let mut kinds = errors.iter().flatten().map(Error::kind);
                assert!(kinds.any(|kind| kind == ErrorKind::Peer), "{errors:?}");
                noticed += 1;
            }
        }
    }
    noticed
}
