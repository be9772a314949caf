use std::{collections::HashSet, thread};

use proptest::prelude::*;
use psijoin_channel::memory;
use psijoin_params::cuckoo;

use super::{
    functions::{Functions, Spot},
    params::Method,
    *,
};
use crate::{Context, ErrorKind, Input, Items, Output, Role, protocol};

const SCHEMES: [Scheme; 5] = [
    Scheme::None,
    Scheme::Simple,
    Scheme::Balanced,
    Scheme::Cuckoo,
    Scheme::Permutation,
];

/// What the receiver gets, whatever the plan says of digests.
fn run(params: &Params, sender: &Items, receiver: &Items) -> Result<Output, Error> {
    let (mut a, mut b) = memory::pair();
    let run = |role, items, channel: &mut _| {
        let input = Input {
            items,
            columns: &[],
            joint_seed: &[5; 32],
        };
        protocol::run(params, role, input, channel, &mut Context::new())
    };
    thread::scope(|scope| {
        let sent = scope.spawn(|| run(Role::Sender, sender, &mut a));
        let received = run(Role::Receiver, receiver, &mut b);
        sent.join().unwrap().and(received)
    })
}

fn run_numbers(scheme: Scheme, bits: u32, sender: &[u64], receiver: &[u64]) -> Output {
    let request = Request::rows(sender.len() as u64, receiver.len() as u64).unwrap();
    let params = Params::short(&request, scheme, bits).unwrap();
    run(&params, &Items::numbers(sender), &Items::numbers(receiver)).unwrap()
}

fn shared(sender: &[u64], receiver: &[u64]) -> Output {
    let senders: HashSet<_> = sender.iter().collect();
    let rows = (0_u32..).zip(receiver);
    Output::Rows(
        rows.filter(|(_, item)| senders.contains(item))
            .map(|(row, _)| row)
            .collect(),
    )
}

fn digests(numbers: std::ops::Range<u32>, digest_bytes: usize) -> Items {
    let fingerprints: Vec<_> = numbers
        .map(|number| *blake3::hash(&number.to_le_bytes()).as_bytes())
        .collect();
    Items::digest(&fingerprints, &[1; 32], digest_bytes)
}

/// Ranges of consecutive numbers, disjoint but for some: permutation-based hashing without the
/// function's number finds thousands of false matches among them.
#[test]
fn ranges_of_short_numbers() {
    for scheme in SCHEMES.into_iter().skip(1) {
        for bits in [32, 64] {
            let base = u64::MAX >> (64 - bits) & !0xffff;
            let sender: Vec<u64> = (base..base + 4096).collect();
            let receiver: Vec<u64> = (base + 4090..base + 8190).collect();
            let output = run_numbers(scheme, bits, &sender, &receiver);
            assert_eq!(output, Output::Rows((0..6).collect()), "{scheme:?}, {bits}");
        }
    }
}

/// A domain with more items than not: an empty place must not be taken for an item, and the
/// item zero is one like any other.
#[test]
fn nearly_all_of_a_small_domain() {
    let sender: Vec<u64> = (0..200).collect();
    let receiver: Vec<u64> = (100..256).rev().collect();
    for scheme in SCHEMES {
        let output = run_numbers(scheme, 8, &sender, &receiver);
        assert_eq!(output, shared(&sender, &receiver), "{scheme:?}");
        assert_eq!(run_numbers(scheme, 1, &[0, 1], &[1]), Output::Rows(vec![0]));
        assert_eq!(run_numbers(scheme, 1, &[0], &[1, 0]), Output::Rows(vec![1]));
    }
}

#[test]
fn an_item_that_is_too_long_is_refused() {
    let request = Request::rows(2, 1).unwrap();
    for scheme in SCHEMES {
        let params = Params::short(&request, scheme, 20).unwrap();
        let items = [Items::numbers(&[1, 1 << 20]), Items::numbers(&[1])];
        let error = run(&params, &items[0], &items[1]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misuse, "{error}");
        for bits in [0, 65] {
            let error = Params::short(&request, scheme, bits).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Misuse);
        }
    }
}

#[test]
fn too_many_pairs_are_refused_before_anything_is_sent() {
    let request = Request::rows((1 << 14) + 1, 1 << 14).unwrap();
    let params = Params::new(&request, Scheme::None).unwrap();
    let error = run(
        &params,
        &digests(0..(1 << 14) + 1, 16),
        &digests(0..1 << 14, 16),
    )
    .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misuse, "{error}");
}

/// Where all are compared with all, masks come in lists for as many places as fit: here for two of
/// five.
#[test]
fn lists_of_masks_end_within_a_message() {
    let items: u32 = (1 << 21) - 5;
    let request = Request::rows(items.into(), 5).unwrap();
    let params = Params::short(&request, Scheme::None, 24).unwrap();
    assert_eq!(params.lists(), [0..2, 2..4, 4..5]);
    let sender: Vec<u64> = (0..u64::from(items)).collect();
    let receiver = [7, 1 << 23, 0, u64::from(items), u64::from(items) - 1];
    let output = run_numbers(Scheme::None, 24, &sender, &receiver);
    assert_eq!(output, Output::Rows(vec![0, 2, 4]));
}

#[test]
fn long_digests() {
    let request = Request::rows(300, 200).unwrap();
    for scheme in SCHEMES {
        let mut params = Params::new(&request, scheme).unwrap();
        params.set_digest_bytes(32);
        let output = run(&params, &digests(0..300, 32), &digests(250..450, 32));
        assert_eq!(
            output.unwrap(),
            Output::Rows((0..50).collect()),
            "{scheme:?}"
        );
    }
}

#[test]
fn stash_places_are_used_and_compared() {
    let request = Request::rows(40, 30).unwrap();
    // As many bins as five items need: the others must lie in the stash.
    let shape = cuckoo::Shape { bins: 5, stash: 25 };
    let mut params = Params::new(&request, Scheme::Cuckoo).unwrap();
    params.method = Method::Cuckoo(shape);
    let output = run(&params, &digests(0..40, 16), &digests(20..50, 16));
    assert_eq!(output.unwrap(), Output::Rows((0..20).collect()));

    let sender: Vec<u64> = (0..40).collect();
    let receiver: Vec<u64> = (20..50).collect();
    let mut params = Params::short(&request, Scheme::Permutation, 16).unwrap();
    params.method = Method::Permuted(shape);
    params.letters = 2;
    let output = run(
        &params,
        &Items::numbers(&sender),
        &Items::numbers(&receiver),
    );
    assert_eq!(output.unwrap(), Output::Rows((0..20).collect()));
}

#[test]
fn items_without_a_place_are_bad_luck() {
    let request = Request::rows(40, 30).unwrap();
    let items = [digests(0..40, 16), digests(20..50, 16)];
    let mut params = Params::new(&request, Scheme::Cuckoo).unwrap();
    params.method = Method::Cuckoo(cuckoo::Shape { bins: 29, stash: 0 });
    let cuckoo = receive(&params, &items[1]).unwrap_err();
    let mut params = Params::new(&request, Scheme::Simple).unwrap();
    params.method = Method::Simple(psijoin_params::simple::Shape {
        bins: 29,
        capacity: 1,
    });
    let simple = receive(&params, &items[1]).unwrap_err();
    let mut params = Params::new(&request, Scheme::Balanced).unwrap();
    params.method = Method::Balanced(psijoin_params::two_choice::Shape {
        bins: 4,
        capacity: 7,
    });
    let balanced = receive(&params, &items[1]).unwrap_err();
    for error in [cuckoo, simple, balanced] {
        assert!(matches!(error, Error::BadLuck(_, 40)), "{error}");
    }
}

/// Where bins of an item agreed, its masks for them would, too: the receiver would see that.
#[test]
fn an_item_is_compared_in_a_bin_once() {
    let request = Request::rows(100, 40).unwrap();
    let items: Vec<[u8; 16]> = (0..100_u128).map(u128::to_le_bytes).collect();
    for scheme in SCHEMES {
        let params = Params::short(&request, scheme, 32).unwrap();
        let input = Input {
            items: &Items::Short(items.clone()),
            columns: &[],
            joint_seed: &[5; 32],
        };
        let functions = Functions::new(&params, &input);
        let per_item = functions.per_item();
        let mut spots = vec![Spot::default(); items.len() * per_item];
        functions.spots(&items, &mut spots);
        for spots in spots.chunks_exact(per_item.max(1)) {
            let bins: HashSet<u32> = spots.iter().map(|spot| spot.bin).collect();
            assert_eq!(bins.len(), per_item, "{scheme:?}");
        }
    }
}

/// The receiver's error, of a run that the sender does not finish.
fn receive(params: &Params, items: &Items) -> Result<Output, Error> {
    let (mut a, mut b) = memory::pair();
    thread::scope(|scope| {
        scope.spawn(|| Sender::offline(params, &mut a, &mut Context::new()).map(|_| ()));
        let input = Input {
            items,
            columns: &[],
            joint_seed: &[5; 32],
        };
        protocol::run(params, Role::Receiver, input, &mut b, &mut Context::new())
    })
}

fn bits_an_item(params: &Params, n: u64) -> f64 {
    8.0 * params.cost().total().total_bytes() as f64 / n as f64
}

/// PSZ14, Table 4, for n = 2^18 items of four letters, in MB. Where it says 595 for balanced
/// allocations, it has 2n·ℓ2² bits of masks instead of 2n·ℓ2; with these it would say 239.
#[test]
fn psz14_table_4_is_undercut() {
    let n = f64::from(1 << 18);
    let (letters, mask_bits, short_mask_bits) = (4.0, 40.0 + 36.0, 40.0 + 18.0);
    let mb = |ots: f64, masks: f64| (256.0 * letters * ots + masks) / 8.0 / f64::from(1 << 20);
    let balanced_ots = 2.9 * n * n.ln().ln();
    let cuckoo = mb(
        2.4 * n + 4.0,
        4.0 * n * short_mask_bits + 2.0 * n * mask_bits,
    );
    assert_eq!(mb(3.7 * n, n * mask_bits).round(), 121.0);
    assert_eq!(
        mb(balanced_ots, 2.0 * n * mask_bits * mask_bits).round(),
        595.0
    );
    assert_eq!(mb(balanced_ots, 2.0 * n * mask_bits).round(), 239.0);
    assert_eq!(cuckoo.round(), 89.0);

    let request = Request::rows(1 << 18, 1 << 18).unwrap();
    let ours = |scheme| {
        let params = Params::short(&request, scheme, 32).unwrap();
        params.cost().total().total_bytes() as f64 / f64::from(1 << 20)
    };
    assert!(ours(Scheme::Balanced) < 52.0, "{}", ours(Scheme::Balanced));
    assert!(ours(Scheme::Cuckoo) < 46.0, "{}", ours(Scheme::Cuckoo));
    // One mask for each of the places of its bin, of which the table counts one in all.
    assert!((121.0..250.0).contains(&ours(Scheme::Simple)));
}

/// Fewer places are left empty than with Cuckoo hashing, and more masks are sent: long items are
/// cheaper, short ones are not.
#[test]
fn balanced_allocations_suit_long_items() {
    for log_n in [16, 20] {
        let request = Request::rows(1 << log_n, 1 << log_n).unwrap();
        let bytes = |params: Params| params.cost().total().total_bytes();
        let of = |scheme| {
            let short = Params::short(&request, scheme, 32).unwrap();
            let long = Params::new(&request, scheme).unwrap();
            [short, long].map(bytes)
        };
        let [balanced, cuckoo] = [Scheme::Balanced, Scheme::Cuckoo].map(of);
        assert!(balanced[0] > cuckoo[0], "2^{log_n}");
        assert!(balanced[1] < cuckoo[1], "2^{log_n}");
    }
}

/// PSZ14, Table 6: 0.5·n·κ·ℓ + 6n(σ + 2·log2 n) bits at ℓ = 32, 78.3 MB at 2^18.
#[test]
fn psz14_table_6_is_undercut() {
    let n = 1 << 18;
    let request = Request::rows(n, n).unwrap();
    let params = Params::short(&request, Scheme::Cuckoo, 32).unwrap();
    let paper = 0.5 * 128.0 * 32.0 + 6.0 * (40.0 + 36.0);
    assert_eq!((paper * n as f64 / 8.0 / f64::from(1 << 20)).round(), 78.0);
    assert!(
        bits_an_item(&params, n) < paper,
        "{}",
        bits_an_item(&params, n)
    );
}

/// KKRT16, Table 5: the bytes of PSSZ15.
#[test]
fn kkrt16_table_5_is_undercut() {
    for (log_n, mb) in [
        (12, [0.77, 1.37]),
        (16, [9.18, 18.78]),
        (20, [142.80, 296.40]),
        (24, [1574.40, 4032.00]),
    ] {
        let n = 1_u64 << log_n;
        let request = Request::rows(n, n).unwrap();
        for (bits, mb) in [32, 64].into_iter().zip(mb) {
            let params = Params::short(&request, Scheme::Permutation, bits).unwrap();
            let sent = params.cost().online.total_bytes() as f64 / f64::from(1 << 20);
            // At 2^24 the number of the hash function takes another letter.
            let mb = if log_n == 24 { 1.06 * mb } else { mb };
            assert!(sent < mb, "2^{log_n}, {bits}: {sent}, not {mb} MB");
        }
    }
}

/// KKRT16, Table 1, column "PSSZ": 256 bits for each letter of ℓ − log2 n bits. Where the number
/// of the hash function, which the table leaves out, takes another letter: one more.
#[test]
fn kkrt16_table_1_has_as_many_letters() {
    let letters = |log_n: u32, bits| {
        let request = Request::rows(1 << log_n, 1 << log_n).unwrap();
        let params = Params::short(&request, Scheme::Permutation, bits).unwrap();
        params.letters
    };
    let sizes = [8, 12, 16, 20, 24];
    assert_eq!(sizes.map(|log_n| letters(log_n, 32)), [4, 3, 3, 2, 2]);
    let table = [768, 640, 576, 384, 256].map(|bits: usize| bits.div_ceil(256));
    assert_eq!(table, [3, 3, 3, 2, 1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn short_items_of_any_length(
        sender in prop::collection::hash_set(any::<u64>(), 1..40),
        receiver in prop::collection::hash_set(any::<u64>(), 1..40),
        bits in 1_u32..=64,
        scheme in prop::sample::select(&SCHEMES),
    ) {
        let cut = |items: HashSet<u64>, extra| -> Vec<u64> {
            let items = items.into_iter().chain(extra);
            let items: HashSet<u64> = items.map(|item| item >> (64 - bits)).collect();
            items.into_iter().collect()
        };
        let (sender, receiver) = (cut(sender, 0..3), cut(receiver, 1..4));
        prop_assert_eq!(
            run_numbers(scheme, bits, &sender, &receiver),
            shared(&sender, &receiver)
        );
    }
}
