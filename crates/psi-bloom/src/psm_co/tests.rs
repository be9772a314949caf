use std::thread;

use proptest::{collection::vec, prelude::*};
use psijoin_channel::{
    count::{Snapshot, counted},
    memory,
    transcript::recorded,
};
use psijoin_ot::extension::Extension;
use psijoin_params::Log2Prob;
use psijoin_psi::Role;
use psijoin_psi_testing::uniform::assert_uniform;

use super::*;

/// A number of each party, and λ0 and λ1.
type Lane = (u128, u128, [u128; 2]);

struct Run {
    opened: Vec<Block>,
    traffic: Snapshot,
    /// Of the sender, after the base OTs.
    messages: Vec<u8>,
}

fn tests<F: Form>(form: F, bits: usize, opened_bits: usize) -> Tests<F> {
    Tests {
        form,
        bits,
        opened_bits,
        key: [3; 32],
    }
}

fn run<F: Form>(extension: Extension, tests: &Tests<F>, lanes: &[Lane]) -> Run {
    let (sending, mut receiving) = memory::pair();
    let (sending, recorder) = recorded(sending);
    let (mut sending, counters) = counted(sending);
    let [sent, received] = [0, 1].map(|party| {
        let number = |lane: &Lane| Block([lane.0, lane.1][party]);
        lanes.iter().map(number).collect::<Vec<_>>()
    });
    let opened: Vec<_> = lanes.iter().map(|lane| lane.2.map(Block)).collect();
    let opened = thread::scope(|scope| {
        scope.spawn(|| {
            let rng = &mut Prg::from_os();
            let mut ots = extension.set_up_sender(&mut sending, rng).unwrap();
            let sent = tests.send(&sent, &opened, &mut ots, &mut sending, rng);
            sent.unwrap();
        });
        let mut ots = extension
            .set_up_receiver(&mut receiving, &mut Prg::from_os())
            .unwrap();
        let opened = tests.receive(&received, &mut ots, &mut receiving);
        opened.unwrap()
    });
    let messages = recorder.messages().concat();
    Run {
        opened,
        traffic: counters.snapshot(),
        messages: messages[extension.setup_sender_bytes() as usize..].to_vec(),
    }
}

fn low(bits: usize, number: u128) -> u128 {
    number & (u128::MAX >> (128 - bits))
}

/// Returns λ1 where the lowest bits are equal, else λ0.
fn expected<F>(tests: &Tests<F>, (a, b, opened): &Lane) -> u128 {
    let equal = low(tests.bits, a ^ b) == 0;
    low(tests.opened_bits, opened[usize::from(equal)])
}

fn ots(extension: Extension) -> Ots {
    Ots {
        extension,
        sender: Role::Sender,
    }
}

fn check<F: Form>(extension: Extension, tests: &Tests<F>, lanes: &[Lane]) {
    let run = run(extension, tests, lanes);
    for (lane, opened) in lanes.iter().zip(&run.opened) {
        assert!(opened.0 == expected(tests, lane));
    }
    let ots = ots(extension);
    let said = ots.setup().then(tests.conversation(ots, lanes.len()));
    assert_said(said, run.traffic);
}

/// Returns the number of bytes that the sender of these tests sends, on IKNP's OTs.
fn sender_bytes<F: Form>(tests: &Tests<F>, lanes: usize) -> u64 {
    let said = tests.conversation(ots(Extension::IKNP), lanes);
    said.traffic().sender_bytes
}

fn assert_said(said: Conversation, measured: Snapshot) {
    let said = said.traffic();
    assert_eq!(measured.sent.bytes, said.sender_bytes);
    assert_eq!(measured.received.bytes, said.receiver_bytes);
    assert_eq!(measured.flights, said.flights);
}

/// Tests both forms, on either OT.
fn check_all(bits: usize, opened_bits: usize, lanes: &[Lane]) {
    let tagged = Tagged { tag_bits: 45 };
    check(Extension::IKNP, &tests(tagged, bits, opened_bits), lanes);
    check(Extension::SILENT, &tests(Pointed, bits, opened_bits), lanes);
    check(Extension::IKNP, &tests(Pointed, bits, opened_bits), lanes);
}

/// Returns equal pairs, and pairs that differ in one bit, which may also be one that does not
/// count.
fn near() -> impl Strategy<Value = Lane> {
    (any::<u128>(), 0..256_u32, any::<[u128; 2]>())
        .prop_map(|(a, bit, opened)| (a, a ^ 1_u128.checked_shl(bit).unwrap_or(0), opened))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn opens_by_equality(
        bits in 2..=128_usize,
        opened_bits in 1..=128_usize,
        near in vec(near(), 1..80),
        random in vec(any::<Lane>(), 0..10),
    ) {
        check_all(bits, opened_bits, &[near, random].concat());
    }
}

/// Numbers that differ in one bit, at each place; all zeros, all ones.
#[test]
fn every_bit_counts() {
    for bits in [2, 3, 54, 128] {
        let differ = (0..bits).map(|bit| 1 << bit);
        let lanes: Vec<Lane> = (differ.chain([0, u128::MAX]))
            .flat_map(|difference| [(0, difference, [0, 1]), (u128::MAX, difference, [0, 1])])
            .collect();
        check_all(bits, 1, &lanes);
    }
}

/// KK20 §2.6: a test of η bits has η pairs of two ciphertexts of κ + η bits. The first bit takes
/// none, and the last is short.
#[test]
fn ciphertexts_are_as_long_as_published() {
    let eta = 40;
    let lanes = 1 << 10;
    let tests = tests(Tagged { tag_bits: eta }, eta as usize, 1);
    let bits = 8 * sender_bytes(&tests, lanes) / lanes as u64;
    let published = u64::from(eta) * 4 * (128 + u64::from(eta));
    assert_eq!(bits, published - 4 * (128 + 40) - 4 * 127);
    let reduced = self::tests(Pointed, eta as usize, 1);
    let bits = 8 * sender_bytes(&reduced, lanes) / lanes as u64;
    assert_eq!(bits, 38 * (2 * 128 + 4) + 4);
}

/// With two bits, a receiver decrypts once.
#[test]
fn walks_go_wrong_as_rarely_as_the_bound_says() {
    let lanes = vec![(1, 1, [5, 1 << 100]); 6000];
    for tag_bits in [3, 5] {
        let tests = tests(Tagged { tag_bits }, 2, 128);
        let opened = run(Extension::IKNP, &tests, &lanes).opened;
        let wrong = opened.iter().filter(|block| block.0 != 1 << 100).count() as f64;
        // Of two decryptions one is of the first ciphertext though the second is right.
        let expected = 3000.0 * tests.form.wrong(2).log2().exp2();
        assert!(
            (wrong - expected).abs() < 6.0 * expected.sqrt(),
            "{wrong} {expected}"
        );
    }
}

#[test]
fn tags_are_as_long_as_the_share_demands() {
    let share = Log2Prob::from_log2(-42.0);
    let decryptions = decryptions(54, 5039);
    let Ok(tagged) = Tagged::derive(decryptions, share) else {
        panic!("there are tags for that")
    };
    assert_eq!(tagged.tag_bits, 60);
    assert!(tagged.wrong(decryptions) <= share);
    let shorter = Tagged { tag_bits: 59 };
    assert!(shorter.wrong(decryptions) > share);
    assert_eq!(Pointed.wrong(decryptions), Log2Prob::ZERO);
}

/// Returns what is opened for each of the receiver's items, given what may be, and the traffic.
fn members(
    extension: Extension,
    membership: &Membership,
    set: &[Block],
    items: &[(u128, [u128; 2])],
) -> (Vec<u128>, Snapshot) {
    let (sending, mut receiving) = memory::pair();
    let (mut sending, counters) = counted(sending);
    let found = thread::scope(|scope| {
        scope.spawn(|| {
            let rng = &mut Prg::from_os();
            let mut ots = extension.set_up_sender(&mut sending, rng).unwrap();
            let opened: Vec<_> = (items.iter()).map(|(_, pair)| pair.map(Block)).collect();
            let sent = membership.send(set, &opened, &mut ots, &mut sending, rng);
            sent.unwrap();
        });
        let mut ots = extension
            .set_up_receiver(&mut receiving, &mut Prg::from_os())
            .unwrap();
        let items: Vec<Block> = items.iter().map(|(item, _)| Block(*item)).collect();
        let found = membership.receive(&items, &mut ots, &mut receiving);
        found.unwrap()
    });
    let found = found.iter().map(|opened| opened.0).collect();
    (found, counters.snapshot())
}

/// Returns what is opened for an item.
fn member(
    extension: Extension,
    membership: &Membership,
    set: &[Block],
    item: u128,
    opened: [u128; 2],
) -> u128 {
    members(extension, membership, set, &[(item, opened)]).0[0]
}

fn membership(items: usize, bits: usize, opened_bits: usize) -> Membership {
    Membership {
        items,
        bits,
        opened_bits,
        key: [4; 32],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Of few bits, so that many beginnings are shared.
    #[test]
    fn opens_by_membership(
        set in prop::collection::hash_set(0..64_u128, 1..64),
        item in 0..64_u128,
        opened: [u128; 2],
        high in 0..(1_u128 << 100),
    ) {
        let expected = opened[usize::from(set.contains(&item))];
        let blocks: Vec<Block> = set.iter().map(|item| Block(*item)).collect();
        let found = member(Extension::SILENT, &membership(set.len(), 6, 128), &blocks, item, opened);
        prop_assert!(found == expected);
        // All 128 bits count, though the first hundred are equal.
        let long = |item: u128| item << 122 | high;
        let blocks: Vec<Block> = set.iter().map(|item| Block(long(*item))).collect();
        let membership = membership(set.len(), 128, 9);
        let found = member(Extension::IKNP, &membership, &blocks, long(item), opened);
        prop_assert!(found == low(9, expected));
        prop_assert!(member(Extension::IKNP, &membership, &blocks, long(item) ^ 1, opened) == low(9, opened[0]));
    }
}

/// Sets of two messages per bit; one item; one bit; several items of the receiver.
#[test]
fn membership_in_sets_of_any_size() {
    let set: Vec<Block> = (0..3000).map(|i| Block(i * 7)).collect();
    for (count, bits) in [(3000, 20), (1, 20), (1, 1), (2, 128), (40, 30)] {
        let membership = membership(count, bits, 1);
        let last = (count as u128 - 1) * 7;
        let asked = [
            (0, [0, 1]),
            (last, [0, 1]),
            (last, [1, 0]),
            (1, [0, 1]),
            (1, [1, 0]),
        ];
        for items in [&asked[..], &asked[1..2]] {
            let (opened, traffic) = members(Extension::IKNP, &membership, &set[..count], items);
            for ((item, pair), opened) in items.iter().zip(opened) {
                assert_eq!(opened, pair[usize::from(*item != 1)]);
            }
            let ots = ots(Extension::IKNP);
            let said = membership.conversation(ots, items.len());
            assert_said(ots.setup().then(said), traffic);
        }
    }
}

/// Items that only differ beyond the bits that count are one.
#[test]
fn a_set_may_have_fewer_items_than_agreed_on() {
    let set = [5, 5 | 1 << 40, 9].map(Block);
    let membership = membership(3, 40, 1);
    for (item, found) in [(5, 1), (5 | 1 << 41, 1), (9, 1), (6, 0)] {
        let opened = member(Extension::IKNP, &membership, &set, item, [0, 1]);
        assert_eq!(opened, found, "{item}");
    }
}

/// A walk through a small set takes a message, and a large set's small levels take one, too.
#[test]
fn small_levels_travel_together() {
    let small = membership(5, 60, 1).runs();
    assert_eq!((small.len(), small[0].clone()), (1, 0..60));
    let runs = membership(1 << 12, 60, 1).runs();
    assert_eq!(runs[0], 0..10);
    let large: Vec<_> = (10..60).map(|depth| depth..depth + 1).collect();
    assert_eq!(runs[1..], large);
}

/// KK20 Table 1: 5.4, 8.1 and 10.7 MB for sets of 2^12 items of 32, 48 and 64 bits, which is n·ℓ
/// pairs of ciphertexts of κ + η bits. Here the first levels are narrower, and tags are places.
#[test]
fn membership_sends_less_than_published() {
    for (bits, published) in [(32, 5.4), (48, 8.1), (64, 10.7)] {
        let bytes = |items| {
            let said = membership(items, bits, 128).conversation(ots(Extension::IKNP), 1);
            said.traffic().sender_bytes as f64
        };
        assert!(bytes(1 << 12) < published * 1e6);
        let levels = (bits - 12) as f64 * 2.0 * (128.0 + 13.0) / 8.0 * 4096.0;
        assert!((1.0..1.15).contains(&(bytes(1 << 12) / levels)), "{bits}");
    }
}

/// The receiver's view: what is sent looks the same, and its share is as often one, whether numbers
/// are equal or not.
#[test]
fn nothing_shows_whether_numbers_are_equal() {
    fn check<F: Form>(form: F) {
        for difference in [0, 1, 1 << 19] {
            let mut rng = Prg::from_os();
            let lanes: Vec<Lane> = (0..800)
                .map(|_| {
                    let (a, share) = (rng.block().0, rng.block().0 & 1);
                    (a, a ^ difference, [share, 1 - share])
                })
                .collect();
            let run = run(Extension::IKNP, &tests(form, 20, 1), &lanes);
            assert_uniform(run.messages.iter().map(|byte| usize::from(byte & 15)));
            assert_uniform(run.messages.iter().map(|byte| usize::from(byte >> 4)));
            let ones = run.opened.iter().filter(|share| share.0 == 1).count();
            // Six standard deviations.
            assert!(ones.abs_diff(400) < 85, "{ones}");
        }
    }
    check(Tagged { tag_bits: 60 });
    check(Pointed);
}
