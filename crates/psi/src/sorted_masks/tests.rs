use proptest::prelude::*;
use psijoin_channel::memory;

use super::{sort::sort_by, *};

/// Returns what the receiver finds of its own hashes.
fn transfer(masks: SortedMasks, sent: &[u128], own: &[u128]) -> Result<Vec<u128>, Error> {
    let (mut left, mut right) = memory::pair();
    let sent = sort(sent);
    let found = std::thread::scope(|scope| {
        scope.spawn(move || masks.send(&sent, left.halves().0).unwrap());
        masks.receive(&Own::new(masks, own), right.halves().1)
    })?;
    let mut found = found.concat();
    found.sort_unstable();
    found.dedup();
    let found: Vec<_> = found.iter().map(|i| own[*i as usize]).collect();
    Ok(sorted(&found))
}

fn sorted(hashes: &[u128]) -> Vec<u128> {
    let mut sorted = hashes.to_vec();
    sorted.sort_unstable();
    sorted
}

fn random(count: usize) -> Vec<u128> {
    let mut hashes = vec![0; count];
    let mut rng = psijoin_block::Prg::from_seed(psijoin_block::Block(1));
    rng.fill(bytemuck::cast_slice_mut(&mut hashes));
    hashes
}

#[test]
fn scales_a_hash_to_the_range() {
    let masks = |range| SortedMasks::new(1, range);
    assert_eq!(masks(1).mask(u128::MAX), 0);
    assert_eq!(masks(1 << 80).mask(u128::MAX), (1 << 80) - 1);
    assert_eq!(masks(u128::MAX).mask(u128::MAX), u128::MAX - 1);
    assert_eq!(masks(3).mask(u128::MAX / 3 + 1), 1);
    assert_eq!(masks(10).mask(1 << 127), 5);
}

#[test]
fn takes_two_bits_more_than_the_differences_have() {
    let masks = SortedMasks::new(1 << 20, 1 << 80);
    assert_eq!(masks.coded_bytes(), (1 << 20) * 62 / 8);
    // A range of 1.44·2^80 is where unary and binary parts fit best.
    let bits = |range: f64| SortedMasks::new(1 << 20, range as u128).coded_bytes() as f64 * 8.0;
    let range = 1.44 * 2f64.powi(80);
    let overhead = bits(range) / 2f64.powi(20) - (range.log2() - 20.0);
    assert!(overhead < 1.92, "{overhead}");
}

#[test]
fn is_coded_as_elias_and_fano_do() {
    let masks = SortedMasks {
        count: 5,
        range: 32,
        low_bits: 3,
    };
    let hashes = [3, 4, 13, 15, 24].map(|mask: u128| mask << 123);
    let (mut left, mut right) = memory::pair();
    masks.send(&hashes, left.halves().0).unwrap();
    // Upper parts 0, 0, 1, 1, 3; lower parts 3, 4, 5, 7, 0.
    assert_eq!(right.recv_array().unwrap(), [0b1001_1011]);
    assert_eq!(right.recv_array().unwrap(), [0b0110_0011, 0b0000_1111]);
    assert_eq!(masks.coded_bytes(), 3);
}

#[test]
fn another_number_of_masks_or_higher_ones_are_refused() {
    let masks = SortedMasks {
        count: 5,
        range: 24,
        low_bits: 3,
    };
    for (upper_parts, is_valid) in [
        (0b0101_1011_u8, true),
        (0b0111_1011, false),
        (0b0001_1011, false),
        (0b1001_1011, false),
    ] {
        let (mut left, mut right) = memory::pair();
        left.send(&[upper_parts]).unwrap();
        left.send(&[0; 2]).unwrap();
        let result = masks.receive(&Own::new(masks, &[]), right.halves().1);
        assert_eq!(result.is_ok(), is_valid, "{upper_parts:08b}");
    }
}

#[test]
fn masks_of_128_bits_fit() {
    let masks = SortedMasks::new(3, u128::MAX);
    let sent = [0, u128::MAX, 1 << 77];
    let found = transfer(masks, &sent, &[u128::MAX, 0, 5]).unwrap();
    assert_eq!(found, [0, u128::MAX]);
}

#[test]
fn long_lists_cross_messages() {
    let hashes = random(600_000);
    for range in [1 << 72, 1 << 84, u128::MAX] {
        let masks = SortedMasks::new(400_000, range);
        assert!(masks.upper_messages().total > UPPER_BYTES);
        assert!(masks.lower_messages().total > MASKS_PER_MESSAGE);
        let found = transfer(masks, &hashes[..400_000], &hashes[200_000..]).unwrap();
        assert_eq!(found, sorted(&hashes[200_000..400_000]));
    }
}

#[test]
fn sorts_what_is_not_uniform() {
    let uniform = random(20_000);
    let shapes: [fn(u128) -> u128; 5] = [
        |hash| hash,
        |hash| hash >> 60,
        |hash| hash >> 110,
        |hash| hash | u128::from(u64::MAX) << 64,
        |hash| match hash % 8 {
            0 => hash,
            _ => 7,
        },
    ];
    for shape in shapes {
        let hashes: Vec<_> = uniform.iter().copied().map(shape).collect();
        assert_eq!(sort(&hashes)[..], sorted(&hashes));
        let places = order(&hashes);
        let in_order: Vec<_> = places.iter().map(|place| hashes[*place as usize]).collect();
        assert_eq!(in_order, sorted(&hashes));
        let mut places = places;
        places.sort_unstable();
        assert!(places.into_iter().eq(0..hashes.len() as u32));
    }
}

proptest! {
    #[test]
    fn sorts(hashes in prop::collection::vec(any::<u128>(), 0..2000)) {
        prop_assert_eq!(&sort(&hashes)[..], sorted(&hashes));
        let words: Vec<u64> = hashes.iter().map(|hash| *hash as u64).collect();
        prop_assert!(sort_by(&words, |_, word| *word).is_sorted());
    }

    #[test]
    fn finds_what_was_sent(
        sent in prop::collection::vec(any::<u128>(), 1..300),
        other in prop::collection::vec(any::<u128>(), 0..300),
        bits in 50_u32..128,
    ) {
        let masks = SortedMasks::new(sent.len(), 1 << bits);
        let shared = &sent[..sent.len() / 2];
        let own: Vec<u128> = shared.iter().chain(&other).copied().collect();
        let found = transfer(masks, &sent, &own).unwrap();
        prop_assert_eq!(found, sorted(shared));
    }

    /// Small masks: many are equal.
    #[test]
    fn equal_masks_are_all_found(
        sent in prop::collection::vec(any::<u128>(), 1..60),
        own in prop::collection::vec(any::<u128>(), 0..60),
        range in 1_u128..50,
    ) {
        let masks = SortedMasks::new(sent.len(), range);
        let found = transfer(masks, &sent, &own).unwrap();
        let is_sent = |own: &u128| sent.iter().any(|sent| masks.mask(*sent) == masks.mask(*own));
        let expected: Vec<u128> = sorted(&own).into_iter().filter(is_sent).collect();
        prop_assert_eq!(found, expected);
    }

    /// Upper parts that are right now and then, and any lower ones.
    #[test]
    fn garbage_is_an_error_or_masks(
        upper_parts in any::<u16>(),
        lower_parts in prop::collection::vec(any::<u8>(), 15),
        count in 2_usize..9,
        low_bits in 9_u32..16,
    ) {
        let range = 8 << low_bits;
        let masks = SortedMasks { count, range, low_bits };
        let is_valid = upper_parts.count_ones() as usize == count && upper_parts >> (count + 7) == 0;
        let (mut left, mut right) = memory::pair();
        left.send(&upper_parts.to_le_bytes()).unwrap();
        left.send(&lower_parts[..lower_parts::bytes(count, low_bits)]).unwrap();
        let own = [0, 1 << 127, u128::MAX];
        match masks.receive(&Own::new(masks, &own), right.halves().1) {
            Ok(_) => prop_assert!(is_valid),
            Err(error) => prop_assert!(!is_valid && matches!(error, Error::Peer(_)), "{error}"),
        }
    }
}
