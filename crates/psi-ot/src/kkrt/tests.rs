use std::thread;

use psijoin_channel::memory;

use super::*;
use crate::{Context, Items, Output, Party, Role, protocol};

/// Both parties with digests and code words of any size, whatever the plan says.
fn run(params: &Params, sender: &Items, receiver: &Items) -> Output {
    let (mut a, mut b) = memory::pair();
    let run = |role, items, channel: &mut _| {
        let input = Input {
            items,
            columns: &[],
            joint_seed: &[5; 32],
        };
        let mut context = Context::new();
        let party: Box<dyn Party> =
            protocol::Plan::offline(params, role, channel, &mut context).unwrap();
        party.run(input, channel, &mut context).unwrap()
    };
    thread::scope(|scope| {
        scope.spawn(|| run(Role::Sender, sender, &mut a));
        run(Role::Receiver, receiver, &mut b)
    })
}

/// Digests of these numbers: `digest_bytes` long.
fn items(numbers: impl Iterator<Item = u32>, digest_bytes: usize) -> Items {
    let fingerprints: Vec<_> = numbers
        .map(|number| *blake3::hash(&number.to_le_bytes()).as_bytes())
        .collect();
    Items::digest(&fingerprints, &[1; 32], digest_bytes)
}

#[test]
fn long_digests_and_wide_code_words() {
    let request = Request::rows(900, 700).unwrap();
    let mut params = Params::new(&request).unwrap();
    for code_bits in [params.code_bits, 480, 488, 544] {
        params.code_bits = code_bits;
        assert_eq!(params.wide_rows(), code_bits > 480);
        for digest_bytes in [16, 32] {
            let output = run(
                &params,
                &items(0..900, digest_bytes),
                &items(600..1300, digest_bytes),
            );
            assert_eq!(
                output,
                Output::Rows((0..300).collect()),
                "{code_bits}, {digest_bytes}"
            );
        }
    }
}

#[test]
fn stash_places_are_used_and_compared() {
    let request = Request::rows(40, 30).unwrap();
    let mut params = Params::new(&request).unwrap();
    // As many bins as five items need: the others must lie in the stash.
    params.shape = psijoin_params::cuckoo::Shape { bins: 5, stash: 25 };
    let output = run(&params, &items(0..40, 16), &items(20..50, 16));
    assert_eq!(output, Output::Rows((0..20).collect()));
}

#[test]
fn a_table_that_is_too_small_is_bad_luck_and_not_a_wrong_result() {
    let request = Request::rows(40, 30).unwrap();
    let mut params = Params::new(&request).unwrap();
    params.shape = psijoin_params::cuckoo::Shape { bins: 29, stash: 0 };
    let (mut a, mut b) = memory::pair();
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            let mut context = Context::new();
            Sender::offline(&params, &mut a, &mut context).unwrap();
        });
        let mut context = Context::new();
        let receiver = Receiver::offline(&params, &mut b, &mut context).unwrap();
        let items = items(0..30, 16);
        let input = Input {
            items: &items,
            columns: &[],
            joint_seed: &[5; 32],
        };
        Box::new(receiver)
            .run(input, &mut b, &mut context)
            .unwrap_err()
    });
    assert!(matches!(error, Error::BadLuck(_, 40)), "{error}");
}
