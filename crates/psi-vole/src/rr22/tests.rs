use std::thread;

use psijoin_channel::{Channel, joint_seed::JointSeed, memory};
use psijoin_params::Security;
use psijoin_psi::{Context, Input, Output, Request, Role, prepare, run};
use psijoin_psi_testing::{items, run_items, tampering, uniform};

use super::*;
use crate::oprf::Width;

/// A party that runs all at once meets one that has prepared before.
#[test]
fn phases_may_overlap_on_either_side() {
    let plan = &RR22.plan(&Request::rows(900, 700).unwrap()).unwrap();
    let (sender, receiver) = (items(0..900, plan), items(600..1300, plan));
    for at_once in [Role::Sender, Role::Receiver] {
        let run = |role, items, mut channel: Channel| {
            let input = Input {
                items,
                columns: &[],
                payloads: &[],
                joint_seed: &JointSeed::insecure_fixed([5; 32]),
            };
            let context = &mut Context::new(&mut channel);
            if role == at_once {
                run(plan, role, &input, context)
            } else {
                prepare(plan, role, context)?.run(&input, context)
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
    let adversaries = [Adversary::SemiHonest, Adversary::Malicious];
    for (width, adversary) in Width::ALL
        .into_iter()
        .flat_map(|w| adversaries.map(|a| (w, a)))
    {
        for digest_bytes in [16, 32] {
            let mut params = Params::semi_honest(&request).unwrap();
            assert_eq!(params.width, Width::Bits58);
            (params.width, params.adversary) = (width, adversary);
            params.base.digest_bytes = digest_bytes;
            let plan = params.plan();
            let (sending, receiving) = memory::pair();
            let (sent, received) = run_items(
                &plan,
                (&items(0..900, &plan), sending),
                (&items(600..1300, &plan), receiving),
            );
            assert_eq!(sent.unwrap(), Output::Nothing);
            let expected = Output::Rows((0..300).collect());
            assert_eq!(received.unwrap(), expected, "{width:?}, {digest_bytes}");
        }
    }
}

#[test]
fn values_have_as_few_bits_as_suffice() {
    let width = |senders, sigma| {
        let mut request = Request::rows(senders, 1000).unwrap();
        request.security = Security::new(sigma).unwrap();
        Params::semi_honest(&request).unwrap().width
    };
    for (senders, sigma, expected) in [
        // At 3/4·2^18, 3/4·2^21 and 3/4·2^24 items, there is no room for other events beside.
        ((3 << 16) - 1, 40, Width::Bits58),
        (3 << 16, 40, Width::Bits61),
        ((3 << 19) - 1, 40, Width::Bits61),
        (3 << 19, 40, Width::Bits64),
        ((3 << 22) - 1, 40, Width::Bits64),
        (3 << 22, 40, Width::Bits66),
        ((3 << 24) - 1, 40, Width::Bits66),
        (1 << 26, 40, Width::Bits68),
        (1 << 20, 43, Width::Bits64),
        (1 << 20, 44, Width::Bits66),
        (1 << 20, 47, Width::Bits68),
        (1 << 20, 51, Width::Bits72),
        (1 << 20, 52, Width::Bits80),
        (1 << 20, 59, Width::Bits80),
        (1 << 20, 60, Width::Bits128),
        (1, 64, Width::Bits66),
        (1, 80, Width::Bits128),
    ] {
        assert_eq!(width(senders, sigma), expected, "{senders}, {sigma}");
    }
}

#[test]
fn the_malicious_plan_has_long_masks_and_another_digest() {
    let request = Request::rows(900, 700).unwrap();
    let malicious = Params::malicious(&request).unwrap();
    assert_eq!(malicious.mask_range, u128::MAX);
    assert_eq!(malicious.base.digest_bytes, 32);
    let semi_honest = Params::semi_honest(&request).unwrap();
    assert_ne!(malicious.plan().digest(), semi_honest.plan().digest());
}

#[test]
fn masks_and_store_show_nothing_of_items_that_are_not_shared() {
    let request = Request::rows(1 << 14, 1 << 14).unwrap();
    for params in [Params::semi_honest(&request), Params::malicious(&request)] {
        let params = params.unwrap();
        let masks = params.masks();
        uniform::assert_nothing_shows(&params.plan(), masks);
    }
}

/// A change to what the other party uses or ignores by a secret bit is noticed half of the time; a
/// change to answers to checks, and to what was committed to, always.
#[test]
fn tampering_is_an_error_or_costs_the_cheater_its_items() {
    let plan = RR22_MALICIOUS.plan(&Request::rows(300, 200).unwrap());
    let plan = plan.unwrap();
    for cheater in [Role::Sender, Role::Receiver] {
        let noticed = tampering::notices_of_tampering(&plan, cheater);
        assert!(noticed >= 2, "{cheater}: {noticed}");
    }
}
