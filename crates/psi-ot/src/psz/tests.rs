use std::collections::HashSet;

use proptest::prelude::*;
use psijoin_channel::{joint_seed::JointSeed, memory};
use psijoin_params::{cuckoo, simple, two_choice};
use psijoin_psi::{Error, ErrorKind, Items, Output, Plan, Request};
use psijoin_psi_testing::{JOINT_SEED, Results, items, output, run_items};

use super::{functions::Functions, spelling::Method, *};
use crate::pssz::PERMUTATION;

const SCHEMES: [&Scheme; 5] = [&NONE, &SIMPLE, &BALANCED, &CUCKOO, &PERMUTATION];

fn rows(sender: u64, receiver: u64) -> Request {
    Request::rows(sender, receiver).unwrap()
}

fn short_params(request: &Request, scheme: &'static Scheme, bits: u32) -> Params {
    let request = request.clone().numbers(bits).unwrap();
    Params::new(&request, scheme).unwrap()
}

fn short(request: &Request, scheme: &'static Scheme, bits: u32) -> Plan {
    short_params(request, scheme, bits).plan()
}

/// Returns what both parties get.
fn run(plan: &Plan, sender: &Items, receiver: &Items) -> Results {
    let (sending, receiving) = memory::pair();
    run_items(plan, (sender, sending), (receiver, receiving))
}

fn run_numbers(scheme: &'static Scheme, bits: u32, sender: &[u64], receiver: &[u64]) -> Output {
    let request = rows(sender.len() as u64, receiver.len() as u64);
    let plan = short(&request, scheme, bits);
    output(&plan, &Items::numbers(sender), &Items::numbers(receiver)).unwrap()
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

/// Ranges of consecutive numbers, disjoint except for some: permutation-based hashing without the
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
    let request = rows(2, 1);
    for scheme in SCHEMES {
        let plan = short(&request, scheme, 20);
        let items = [Items::numbers(&[1, 1 << 20]), Items::numbers(&[1])];
        let error = run(&plan, &items[0], &items[1]).0.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misuse, "{error}");
    }
}

#[test]
fn too_many_pairs_are_refused_before_anything_is_sent() {
    let request = rows((1 << 14) + 1, 1 << 14);
    let plan = Params::new(&request, &NONE).unwrap().plan();
    let (sent, received) = run(
        &plan,
        &items(0..(1 << 14) + 1, &plan),
        &items(0..1 << 14, &plan),
    );
    for error in [sent, received].map(Result::unwrap_err) {
        assert_eq!(error.kind(), ErrorKind::Misuse, "{error}");
    }
}

/// If all are compared with all, masks come in lists for as many places as fit: here for two of
/// five.
#[test]
fn lists_of_masks_end_within_a_message() {
    let items: u32 = (1 << 21) - 5;
    let request = rows(items.into(), 5);
    let params = short_params(&request, &NONE, 24);
    assert_eq!(params.lists(), [0..2, 2..4, 4..5]);
    let sender: Vec<u64> = (0..u64::from(items)).collect();
    let receiver = [7, 1 << 23, 0, u64::from(items), u64::from(items) - 1];
    let output = run_numbers(&NONE, 24, &sender, &receiver);
    assert_eq!(output, Output::Rows(vec![0, 2, 4]));
}

#[test]
fn long_digests() {
    for scheme in SCHEMES {
        let mut params = Params::new(&rows(300, 200), scheme).unwrap();
        params.base.digest_bytes = 32;
        let plan = params.plan();
        let output = output(&plan, &items(0..300, &plan), &items(250..450, &plan));
        assert_eq!(
            output.unwrap(),
            Output::Rows((0..50).collect()),
            "{scheme:?}"
        );
    }
}

#[test]
fn stash_places_are_used_and_compared() {
    let request = rows(40, 30);
    // As many bins as five items need: the others must lie in the stash.
    let shape = cuckoo::Shape { bins: 5, stash: 25 };
    let mut params = Params::new(&request, &CUCKOO).unwrap();
    params.spelling.method = Method::Cuckoo(shape);
    let plan = params.plan();
    let found = output(&plan, &items(0..40, &plan), &items(20..50, &plan));
    assert_eq!(found.unwrap(), Output::Rows((0..20).collect()));

    let sender: Vec<u64> = (0..40).collect();
    let receiver: Vec<u64> = (20..50).collect();
    let mut params = short_params(&request, &PERMUTATION, 16);
    params.spelling.method = Method::Permuted(shape);
    params.spelling.letters = 2;
    let found = output(
        &params.plan(),
        &Items::numbers(&sender),
        &Items::numbers(&receiver),
    );
    assert_eq!(found.unwrap(), Output::Rows((0..20).collect()));
}

#[test]
fn items_without_a_place_are_bad_luck() {
    let cuckoo = cuckoo::Shape { bins: 29, stash: 0 };
    let simple = simple::Shape {
        bins: 29,
        capacity: 1,
    };
    let balanced = two_choice::Shape {
        bins: 4,
        capacity: 7,
    };
    for (scheme, method) in [
        (&CUCKOO, Method::Cuckoo(cuckoo)),
        (&SIMPLE, Method::Simple(simple)),
        (&BALANCED, Method::Balanced(balanced)),
    ] {
        let mut params = Params::new(&rows(40, 30), scheme).unwrap();
        params.spelling.method = method;
        let plan = params.plan();
        let error = output(&plan, &items(0..40, &plan), &items(20..50, &plan)).unwrap_err();
        assert!(matches!(error, Error::BadLuck(_, 40)), "{error}");
    }
}

/// If bins of an item agreed, its masks for them would, too: the receiver would see that.
#[test]
fn an_item_is_compared_in_a_bin_once() {
    let request = rows(100, 40);
    let items = Items::numbers(&(0..100).collect::<Vec<_>>());
    let joint_seed = JointSeed::insecure_fixed(JOINT_SEED);
    for scheme in SCHEMES {
        let params = short_params(&request, scheme, 32);
        let functions = Functions::new(&params, &joint_seed);
        let per_item = functions.per_item();
        let spots = functions.spots(items.digests());
        assert_eq!(spots.len(), items.len() * per_item);
        for spots in spots.chunks_exact(per_item.max(1)) {
            let bins: HashSet<u32> = spots.iter().map(|spot| spot.bin).collect();
            assert_eq!(bins.len(), per_item, "{scheme:?}");
        }
    }
}

fn bits_per_item(plan: &Plan, n: u64) -> f64 {
    8.0 * plan.cost().total.total_bytes() as f64 / n as f64
}

/// PSZ14, Table 4, for n = 2^18 items of four letters, in MB. Its 595 for balanced allocations has
/// 2n·ℓ2² bits of masks instead of 2n·ℓ2; with these it would be 239.
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

    let request = rows(1 << 18, 1 << 18);
    let ours = |scheme| {
        let plan = short(&request, scheme, 32);
        plan.cost().total.total_bytes() as f64 / f64::from(1 << 20)
    };
    assert!(ours(&BALANCED) < 52.0, "{}", ours(&BALANCED));
    assert!(ours(&CUCKOO) < 46.0, "{}", ours(&CUCKOO));
    // One mask for each of the places of its bin; the table counts one for all.
    assert!((121.0..250.0).contains(&ours(&SIMPLE)));
}

/// Fewer places are left empty than with Cuckoo hashing, and more masks are sent: long items are
/// cheaper, short ones are not.
#[test]
fn balanced_allocations_suit_long_items() {
    for log_n in [16, 20] {
        let request = rows(1 << log_n, 1 << log_n);
        let bytes = |plan: Plan| plan.cost().total.total_bytes();
        let of = |scheme| {
            let long = Params::new(&request, scheme).unwrap().plan();
            [short(&request, scheme, 32), long].map(bytes)
        };
        let [balanced, cuckoo] = [&BALANCED, &CUCKOO].map(of);
        assert!(balanced[0] > cuckoo[0], "2^{log_n}");
        assert!(balanced[1] < cuckoo[1], "2^{log_n}");
    }
}

/// PSZ14, Table 9: 256 bits for each letter, of as many bits as it may have.
#[test]
fn shorter_letters_take_more_ots() {
    let request = rows(1 << 12, 1 << 12).numbers(32).unwrap();
    let letters = |scheme, letter_bits| {
        let params = Params::with_letter_bits(&request, scheme, letter_bits).unwrap();
        params.spelling.letters
    };
    let widths = [1, 2, 3, 4, 5, 6, 7, 8];
    let by_width = widths.map(|bits| letters(&CUCKOO, bits));
    assert_eq!(by_width, [32, 16, 11, 8, 7, 6, 5, 4]);
    // The bin tells some of the bits.
    assert!(
        widths
            .iter()
            .all(|bits| letters(&PERMUTATION, *bits) <= letters(&CUCKOO, *bits))
    );
    assert_eq!(letters(&PERMUTATION, 1), 23);
    for bits in [0, 9] {
        let error = Params::with_letter_bits(&request, &CUCKOO, bits).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misuse, "{error}");
    }
}

/// PSZ14, Table 6: 0.5·n·κ·ℓ + 6n(σ + 2·log2 n) bits at ℓ = 32, 78.3 MB at 2^18.
#[test]
fn psz14_table_6_is_undercut() {
    let n = 1 << 18;
    let request = rows(n, n);
    let ours = bits_per_item(&short(&request, &CUCKOO, 32), n);
    let paper = 0.5 * 128.0 * 32.0 + 6.0 * (40.0 + 36.0);
    assert_eq!((paper * n as f64 / 8.0 / f64::from(1 << 20)).round(), 78.0);
    assert!(ours < paper, "{ours}");
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
        let request = rows(n, n);
        for (bits, mb) in [32, 64].into_iter().zip(mb) {
            let plan = short(&request, &PERMUTATION, bits);
            let sent = plan.cost().online.total_bytes() as f64 / f64::from(1 << 20);
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
        let request = rows(1 << log_n, 1 << log_n);
        let params = short_params(&request, &PERMUTATION, bits);
        params.spelling.letters
    };
    let sizes = [8, 12, 16, 20, 24];
    assert_eq!(sizes.map(|log_n| letters(log_n, 32)), [4, 3, 3, 2, 2]);
    let table = [768, 640, 576, 384, 256].map(|bits: usize| bits.div_ceil(256));
    assert_eq!(table, [3, 3, 3, 2, 1]);
}

/// Bins are cheaper than letters if a few more of them save one. At 2^18 items of 32 bits that
/// would take 2^19 bins of two letters in place of 322,438 of three.
#[test]
fn permuted_items_take_the_cheapest_letters() {
    let chosen = |items| {
        let params = short_params(&rows(items, items), &PERMUTATION, 32);
        let Method::Permuted(shape) = params.spelling.method else {
            panic!("{:?}", params.spelling)
        };
        assert_eq!(shape.stash, 0);
        (params.spelling.letters, shape.bins)
    };
    // A rest of two letters has room if there are 2^(32 - 16 + 3) bins, and two to spare.
    let room = (1 << 19) + 2;
    assert_eq!(chosen(1 << 18), (3, 322_438));
    // As 3 · 1.23 · 284,000 < 2 · room < 3 · 1.23 · 285,000.
    assert_eq!(chosen(284_000), (3, 349_320));
    assert_eq!(chosen(285_000), (2, room));
    assert_eq!(chosen(1 << 20), (2, 1_289_749));
}

#[test]
fn permuted_items_are_never_dearer_than_whole_ones() {
    for (sender, receiver) in [
        (1, 1),
        (40, 30),
        (256, 256),
        (1 << 20, 1 << 8),
        (1 << 8, 1 << 16),
    ] {
        let request = rows(sender, receiver);
        for bits in [20, 24, 32, 48, 64] {
            let [permuted, whole] = [&PERMUTATION, &CUCKOO]
                .map(|scheme| short(&request, scheme, bits).cost().total.total_bytes());
            assert!(
                permuted <= whole,
                "{sender}, {receiver}, {bits}: {permuted}, {whole}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn short_items_of_any_length(
        sender in prop::collection::hash_set(any::<u64>(), 1..40),
        receiver in prop::collection::hash_set(any::<u64>(), 1..40),
        bits in 1_u32..=64,
        scheme in prop::sample::select(SCHEMES.to_vec()),
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
