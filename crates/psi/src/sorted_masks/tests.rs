use proptest::prelude::*;
use psijoin_channel::memory;

use super::*;

/// What the receiver finds of its own hashes.
fn transfer(masks: SortedMasks, sent: &[u128], own: &[u128]) -> Result<Vec<u128>, Error> {
    let (mut left, mut right) = memory::pair();
    let sent = sort(sent.to_vec());
    let own = sort(own.to_vec());
    std::thread::scope(|scope| {
        scope.spawn(move || masks.send(&sent, left.halves().0).unwrap());
        let mut found = Vec::new();
        masks.receive(&own, right.halves().1, |hash| found.push(*hash))?;
        Ok(found)
    })
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
    let bits = |range: f64| SortedMasks::new(1 << 20, range as u128).coded_bits() as f64;
    let range = 1.44 * 2f64.powi(80);
    let overhead = bits(range) / 2f64.powi(20) - (range.log2() - 20.0);
    assert!(overhead < 1.92, "{overhead}");
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
    let mut hashes = vec![0_u128; 30_000];
    let mut rng = psijoin_block::Prg::from_seed(psijoin_block::Block(1));
    rng.fill(bytemuck::cast_slice_mut(&mut hashes));
    let masks = SortedMasks::new(20_000, 1 << 72);
    assert!(masks.coded_bytes() > 2 * MESSAGE_BYTES as u64);
    let found = transfer(masks, &hashes[..20_000], &hashes[10_000..]).unwrap();
    assert_eq!(found, sort(hashes[10_000..20_000].to_vec()));
}

proptest! {
    #[test]
    fn sorts(hashes in prop::collection::vec(any::<u128>(), 0..2000)) {
        let mut expected = hashes.clone();
        expected.sort_unstable();
        let placed = hashes.iter().zip(0..).map(|(hash, i)| Placed::new(*hash, i)).collect();
        let sorted = sort::<Placed>(placed);
        prop_assert!(sorted.iter().all(|placed| hashes[placed.position as usize] == placed.hash()));
        prop_assert!(sorted.iter().map(Placed::hash).eq(expected));
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
        prop_assert_eq!(found, sort(shared.to_vec()));
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
        let expected: Vec<u128> = sort(own).into_iter().filter(is_sent).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn garbage_is_an_error_or_masks(
        bytes in prop::collection::vec(any::<u8>(), 40),
        count in 1_usize..40,
    ) {
        let range = 1 << 16;
        let mut masks = SortedMasks::new(count, range);
        while masks.coded_bytes() > 40 {
            masks.count -= 1;
        }
        let (mut left, mut right) = memory::pair();
        left.send(&bytes[..masks.coded_bytes() as usize]).unwrap();
        let result = masks.receive::<u128>(&[1 << 127], right.halves().1, |_| ());
        if let Err(error) = result {
            prop_assert!(matches!(error, Error::Peer(_)), "{error}");
        }
    }
}
