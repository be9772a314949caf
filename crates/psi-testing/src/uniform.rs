//! The randomness of a party's messages.

use std::thread;

use psijoin_channel::{memory, transcript::recorded};
use psijoin_psi::{Output, Plan, sorted_masks::SortedMasks};

use crate::{items, run_items};

/// Asserts that each party's view of the other's items is uniform if none are shared: the masks,
/// the last that the sender sends, and all that the receiver sends online.
///
/// # Panics
/// If it is not.
pub fn assert_nothing_shows(plan: &Plan, masks: SortedMasks) {
    let [sent, received] = sent_if_none_are_shared(plan);
    let values = sent_masks(masks, sent);
    let sixteenth = masks.mask(u128::MAX) / 16 + 1;
    assert_uniform(values.iter().map(|mask| (mask / sixteenth) as usize));
    assert_uniform(values.iter().map(|mask| (mask >> 20) as usize % 16));
    assert_uniform(values.iter().map(|mask| *mask as usize % 16));
    assert_last_are_uniform(received, plan.cost().online.receiver_bytes);
}

/// Asserts that all that the parties send online is uniform if no items are shared.
///
/// # Panics
/// If it is not.
pub fn assert_all_is_uniform(plan: &Plan) {
    let [sent, received] = sent_if_none_are_shared(plan);
    assert_last_are_uniform(sent, plan.cost().online.sender_bytes);
    assert_last_are_uniform(received, plan.cost().online.receiver_bytes);
}

/// Returns the messages of either party, sender first, if no items are shared.
fn sent_if_none_are_shared(plan: &Plan) -> [Vec<Vec<u8>>; 2] {
    let sizes = plan.request().sizes;
    let [senders, receivers] = [sizes.sender() as u32, sizes.receiver() as u32];
    let (sending, receiving) = memory::pair();
    let (sending, sent) = recorded(sending);
    let (receiving, received) = recorded(receiving);
    let (_, found) = run_items(
        plan,
        (&items(0..senders, plan), sending),
        (&items(senders..senders + receivers, plan), receiving),
    );
    assert_eq!(found.unwrap(), Output::Rows(vec![]));
    [sent.messages(), received.messages()]
}

/// Asserts that the last bytes of a party's messages are uniform.
fn assert_last_are_uniform(messages: Vec<Vec<u8>>, bytes: u64) {
    let messages = messages.concat();
    let online = &messages[messages.len() - bytes as usize..];
    assert_uniform(online.iter().map(|byte| usize::from(byte & 15)));
    assert_uniform(online.iter().map(|byte| usize::from(byte >> 4)));
}

/// Returns the masks that are the last of these messages.
fn sent_masks(masks: SortedMasks, messages: Vec<Vec<u8>>) -> Vec<u128> {
    let mut coded = masks.coded_bytes() as usize;
    let mut first = messages.len();
    while coded > 0 {
        first -= 1;
        coded -= messages[first].len();
    }
    let (mut replaying, mut replayed) = memory::pair();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut messages = messages[first..].iter();
            messages
                .try_for_each(|message| replaying.send(message))
                .unwrap();
        });
        masks.receive_all(replayed.halves().1).unwrap()
    })
}

/// Does Pearson's test with 15 degrees of freedom: 56 is exceeded with probability 10^-6.
///
/// # Panics
/// If a value is above 15, there are fewer than 1,600, or they are not uniform.
pub fn assert_uniform(values: impl Iterator<Item = usize>) {
    let mut counts = [0_f64; 16];
    values.for_each(|value| counts[value] += 1.0);
    let expected = counts.iter().sum::<f64>() / 16.0;
    let square = |count: f64| (count - expected).powi(2) / expected;
    let statistic: f64 = counts.into_iter().map(square).sum();
    assert!(expected > 100.0 && statistic < 56.0, "{statistic}");
}
