use std::thread;

use psijoin_channel::{Channel, memory};

use super::{params::Variant, *};
use crate::{
    Context, Input, Output, Role,
    testing::{assert_nothing_shows, items, notices_of_tampering, run},
};

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
                columns: &[],
                joint_seed: &[5; 32],
            };
            let (channel, mut context) = (&mut channel, Context::new());
            if role == at_once {
                params.at_once(role, input, channel, &mut context)
            } else {
                let party = params.offline(role, channel, &mut context)?;
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

#[test]
fn masks_and_store_show_nothing_of_items_that_are_not_shared() {
    let request = Request::rows(1 << 14, 1 << 14).unwrap();
    for params in [Params::semi_honest(&request), Params::malicious(&request)] {
        let params = params.unwrap();
        assert_nothing_shows(&params, params.masks());
    }
}

/// What the other party uses or ignores by a secret bit is noticed half of the time; answers to
/// checks, and what was committed to, always.
#[test]
fn tampering_is_an_error_or_costs_the_cheater_its_items() {
    let params = Params::malicious(&Request::rows(300, 200).unwrap()).unwrap();
    for cheater in [Role::Sender, Role::Receiver] {
        let noticed = notices_of_tampering(&params, cheater);
        assert!(noticed >= 2, "{cheater}: {noticed}");
    }
}

/// It compiles only if what is secret is wiped when it is dropped.
#[test]
fn secrets_are_wiped() {
    fn wiped<T: zeroize::ZeroizeOnDrop>(_: &T) {}
    let _ = |evaluation: &crate::oprf::Evaluation<'_>| wiped(&evaluation.delta);
}
