use std::thread;

use psijoin_channel::{
    Channel,
    fault::{Fault, FaultKind, faulty},
    memory,
    transcript::recorded,
};

use super::{params::Variant, *};
use crate::{Context, ErrorKind, Input, Items, Output, Role};

/// Both parties with digests of any size, whatever the plan says.
fn run(
    params: &Params,
    (sender, sending): (&Items, Channel),
    (receiver, mut receiving): (&Items, Channel),
) -> [Result<Output, Error>; 2] {
    let run = |role, items, channel: &mut _| {
        let input = Input {
            items,
            joint_seed: &[5; 32],
        };
        let mut context = Context::new();
        Plan::prepare(params, role, channel, &mut context)
            .and_then(|party| party.run(input, channel, &mut context))
            .inspect_err(|error| channel.abort(error.abort_code()))
    };
    thread::scope(|scope| {
        let sender = scope.spawn(|| run(Role::Sender, sender, &mut { sending }));
        let received = run(Role::Receiver, receiver, &mut receiving);
        [sender.join().unwrap(), received]
    })
}

/// Digests of these numbers: `digest_bytes` long.
fn items(numbers: impl Iterator<Item = u32>, digest_bytes: usize) -> Items {
    let fingerprints: Vec<_> = numbers
        .map(|number| *blake3::hash(&number.to_le_bytes()).as_bytes())
        .collect();
    Items::digest(&fingerprints, &[1; 32], digest_bytes)
}

/// A party that runs all at once meets one that has prepared before.
#[test]
fn phases_may_overlap_on_either_side() {
    let request = Request::rows(900, 700).unwrap();
    let params = Params::semi_honest(&request).unwrap();
    let (sender, receiver) = (items(0..900, 16), items(600..1300, 16));
    for at_once in [Role::Sender, Role::Receiver] {
        let run = |role, items, mut channel: Channel| {
            let input = Input {
                items,
                joint_seed: &[5; 32],
            };
            let (channel, mut context) = (&mut channel, Context::new());
            if role == at_once {
                params.run(role, input, channel, &mut context)
            } else {
                let party = params.prepare(role, channel, &mut context)?;
                party.run(input, channel, &mut context)
            }
        };
        let (sending, receiving) = memory::Builder::new()
            .window(memory::Window::ONE_MESSAGE)
            .pair();
        thread::scope(|scope| {
            let sent = scope.spawn(|| run(Role::Sender, &sender, sending));
            let received = run(Role::Receiver, &receiver, receiving).unwrap();
            assert_eq!(received, Output::Rows((0..300).collect()));
            sent.join().unwrap().unwrap();
        });
    }
}

#[test]
fn every_variant_with_digests_of_either_length() {
    let request = Request::rows(900, 700).unwrap();
    let semi_honest = Params::semi_honest(&request).unwrap();
    assert_eq!(semi_honest.variant, Variant::Narrow);
    for variant in [Variant::Narrow, Variant::Wide, Variant::Malicious] {
        let mut params = semi_honest.clone();
        params.variant = variant;
        for digest_bytes in [16, 32] {
            let (sending, receiving) = memory::pair();
            let [sent, received] = run(
                &params,
                (&items(0..900, digest_bytes), sending),
                (&items(600..1300, digest_bytes), receiving),
            );
            assert_eq!(sent.unwrap(), Output::Nothing);
            let expected = Output::Rows((0..300).collect());
            assert_eq!(received.unwrap(), expected, "{variant:?}, {digest_bytes}");
        }
    }
}

#[test]
fn values_have_128_bits_where_64_are_too_few() {
    let variant = |senders, sigma| {
        let mut request = Request::rows(senders, 1000).unwrap();
        request.security = psijoin_params::Security::new(sigma).unwrap();
        Params::semi_honest(&request).unwrap().variant
    };
    assert_eq!(variant(1 << 23, 40), Variant::Narrow);
    assert_eq!(variant((1 << 23) + 1, 40), Variant::Wide);
    assert_eq!(variant(1, 64), Variant::Wide);
}

#[test]
fn the_malicious_plan_has_long_masks_and_another_digest() {
    let request = Request::rows(900, 700).unwrap();
    let malicious = Params::malicious(&request).unwrap();
    assert_eq!(malicious.mask_range, u128::MAX);
    assert_eq!(malicious.digest_bytes, 32);
    let semi_honest = Params::semi_honest(&request).unwrap();
    assert_ne!(malicious.digest(), semi_honest.digest());
}

/// What the receiver sees of items that it does not have is uniform, and so is what the sender
/// sees of the receiver's.
#[test]
fn masks_of_items_that_are_not_shared_are_uniform() {
    const ITEMS: u32 = 1 << 14;
    let request = Request::rows(ITEMS.into(), ITEMS.into()).unwrap();
    for params in [Params::semi_honest(&request), Params::malicious(&request)] {
        let params = params.unwrap();
        let (sending, receiving) = memory::pair();
        let (sending, sent) = recorded(sending);
        let (receiving, stored) = recorded(receiving);
        let results = run(
            &params,
            (&items(0..ITEMS, params.digest_bytes), sending),
            (&items(ITEMS..2 * ITEMS, params.digest_bytes), receiving),
        );
        assert_eq!(results[1].as_ref().unwrap(), &Output::Rows(vec![]));

        // The masks are the last that the sender sends.
        let sent = sent.messages();
        let mut coded = params.masks().coded_bytes() as usize;
        let mut first = sent.len();
        while coded > 0 {
            first -= 1;
            coded -= sent[first].len();
        }
        let (mut replaying, mut replayed) = memory::pair();
        let masks: Vec<u128> = thread::scope(|scope| {
            scope.spawn(move || {
                sent[first..]
                    .iter()
                    .for_each(|message| replaying.send(message).unwrap());
            });
            let inbound = replayed.halves().1;
            let masks = params
                .masks()
                .receive_each(inbound, |masks| masks.collect());
            let masks: Vec<Vec<_>> = masks.unwrap();
            masks.concat()
        });
        // Sixteenths of the range, and of what lies below.
        let unit = params.mask_range >> 4;
        assert_uniform(masks.iter().map(|mask| (mask / unit).min(15) as usize));
        assert_uniform(masks.iter().map(|mask| (mask >> 20) as usize % 16));
        assert_uniform(masks.iter().map(|mask| *mask as usize % 16));

        // The store, masked: the last that the receiver sends.
        let stored = stored.messages().concat();
        let store = params.cost().online.receiver_bytes as usize;
        let store = &stored[stored.len() - store + 16..];
        assert_uniform(store.iter().map(|byte| usize::from(byte & 15)));
        assert_uniform(store.iter().map(|byte| usize::from(byte >> 4)));
    }
}

/// Pearson's test with 15 degrees of freedom: 56 is exceeded with probability 10^-6.
fn assert_uniform(values: impl Iterator<Item = usize>) {
    let mut counts = [0_f64; 16];
    values.for_each(|value| counts[value] += 1.0);
    let expected = counts.iter().sum::<f64>() / 16.0;
    let square = |count: f64| (count - expected).powi(2) / expected;
    let statistic: f64 = counts.into_iter().map(square).sum();
    assert!(expected > 1000.0 && statistic < 56.0, "{statistic}");
}

/// Flips a bit in each message of either party. What the protocol does not notice has changed
/// the cheater's own items at most, so that nothing is found that is not shared.
#[test]
fn tampering_is_an_error_or_costs_the_cheater_its_items() {
    let params = Params::malicious(&Request::rows(300, 200).unwrap()).unwrap();
    let (senders, receivers) = (items(0..300, 32), items(200..400, 32));
    for role in [Role::Sender, Role::Receiver] {
        let (mut caught, mut message) = (0, 0);
        loop {
            let fault = Fault {
                at: message,
                kind: FaultKind::Flip {
                    bit: 7 * message as usize + 3,
                },
            };
            let (mut sending, mut receiving) = memory::pair();
            let probe;
            match role {
                Role::Sender => (sending, probe) = faulty(sending, fault),
                Role::Receiver => (receiving, probe) = faulty(receiving, fault),
            }
            let [sent, received] = run(&params, (&senders, sending), (&receivers, receiving));
            if !probe.reached() {
                break;
            }
            match (&sent, &received) {
                (Ok(_), Ok(Output::Rows(rows))) => assert!(rows.iter().all(|row| *row < 100)),
                _ => {
                    // The honest party says why; the other one hears of it.
                    let errors = [sent.err(), received.err()];
                    let mut kinds = errors.iter().flatten().map(Error::kind);
                    assert!(kinds.any(|kind| kind == ErrorKind::Peer), "{errors:?}");
                    caught += 1;
                }
            }
            message += 1;
        }
        // What the other party uses or ignores by a secret bit is noticed half of the time; answers
        // to checks, and what was committed to, always.
        assert!(caught >= 2, "{role}: {caught} of {message} caught");
    }
}
