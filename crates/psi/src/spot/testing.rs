//! What the tests of both protocols share.

use std::thread;

use psijoin_channel::{Channel, memory, transcript::recorded};

use crate::{Context, Error, Input, Items, Output, Plan, Role, sorted_masks::SortedMasks};

pub(crate) type Results = [Result<Output, Error>; 2];

/// Both parties with digests of any size, whatever the plan says.
pub(crate) fn run(
    plan: &dyn Plan,
    (sender, sending): (&Items, Channel),
    (receiver, mut receiving): (&Items, Channel),
) -> Results {
    let run = |role, items, channel: &mut _| {
        let input = Input {
            items,
            joint_seed: &[5; 32],
        };
        let mut context = Context::new();
        plan.prepare(role, channel, &mut context)
            .and_then(|party| party.run(input, channel, &mut context))
            .inspect_err(|error| channel.abort(error.abort_code()))
    };
    thread::scope(|scope| {
        let sender = scope.spawn(|| run(Role::Sender, sender, &mut { sending }));
        let received = run(Role::Receiver, receiver, &mut receiving);
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

/// What each party sees of the other's items is uniform if none are shared.
pub(crate) fn assert_nothing_shows(plan: &dyn Plan, masks: SortedMasks) {
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

    // The masks are the last that the sender sends.
    let sent = sent.messages();
    let mut coded = masks.coded_bytes() as usize;
    let mut first = sent.len();
    while coded > 0 {
        first -= 1;
        coded -= sent[first].len();
    }
    let (mut replaying, mut replayed) = memory::pair();
    let values: Vec<Vec<u128>> = thread::scope(|scope| {
        scope.spawn(move || {
            let mut messages = sent[first..].iter();
            messages
                .try_for_each(|message| replaying.send(message))
                .unwrap();
        });
        let inbound = replayed.halves().1;
        masks
            .receive_each(inbound, |masks| masks.collect())
            .unwrap()
    });
    let values = values.concat();
    let sixteenth = masks.mask(u128::MAX) / 16 + 1;
    assert_uniform(values.iter().map(|mask| (mask / sixteenth) as usize));
    assert_uniform(values.iter().map(|mask| *mask as usize % 16));

    // The polynomials are the last that the receiver sends.
    let received = received.messages().concat();
    let polynomials = plan.cost().online.receiver_bytes as usize;
    let polynomials = &received[received.len() - polynomials..];
    assert_uniform(polynomials.iter().map(|byte| usize::from(byte & 15)));
    assert_uniform(polynomials.iter().map(|byte| usize::from(byte >> 4)));
}

/// Pearson's test with 15 degrees of freedom: 56 is exceeded with probability 10^-6.
fn assert_uniform(values: impl Iterator<Item = usize>) {
    let mut counts = [0_f64; 16];
    values.for_each(|value| counts[value] += 1.0);
    let expected = counts.iter().sum::<f64>() / 16.0;
    let square = |count: f64| (count - expected).powi(2) / expected;
    let statistic: f64 = counts.into_iter().map(square).sum();
    assert!(expected > 100.0 && statistic < 56.0, "{statistic}");
}
