use psijoin_params::two_choice::Shape;

use super::*;
use crate::{
    Items, Output,
    testing::{assert_nothing_shows, items, output},
};

fn params(sender: u64, receiver: u64) -> Params {
    Params::new(&Request::rows(sender, receiver).unwrap()).unwrap()
}

#[test]
fn rows_of_any_width_with_digests_of_either_length() {
    let mut params = params(900, 700);
    for (slices, field_bits) in [(4, 54), (4, 55), (4, 63), (5, 60)] {
        params.extension.slices = slices;
        params.extension.field_bits = field_bits;
        for digest_bytes in [16, 32] {
            let (senders, receivers) =
                (items(0..900, digest_bytes), items(600..1300, digest_bytes));
            let found = output(&params, &senders, &receivers).unwrap();
            let expected = Output::Rows((0..300).collect());
            assert_eq!(found, expected, "{slices}, {field_bits}, {digest_bytes}");
        }
    }
}

#[test]
fn bins_and_buckets_of_every_number() {
    let mut params = params(900, 700);
    for (bins, capacity) in [(1, 700), (2, 400), (10, 75), (100, 15)] {
        for buckets in [1, 2, 7] {
            params.shape = Shape { bins, capacity };
            params.extension.buckets = match bins {
                1 => 20 * buckets,
                2 => 10 * buckets,
                _ => buckets,
            };
            let found = output(&params, &items(0..900, 16), &items(600..1300, 16)).unwrap();
            assert_eq!(found, Output::Rows((0..300).collect()), "{bins}, {buckets}");
        }
    }
}

/// Every item is found, those included that were moved to their second bin.
#[test]
fn identical_sets_are_found_entirely() {
    let params = params(5000, 5000);
    assert!(params.shape.bins > 100);
    let set = items(0..5000, 16);
    assert_eq!(
        output(&params, &set, &set).unwrap(),
        Output::Rows((0..5000).collect())
    );
}

/// Digests that differ in one bit, and in the bit that tells hash functions apart elsewhere.
#[test]
fn neighbouring_digests_are_different_items() {
    let digests = |numbers: std::ops::Range<u128>| {
        Items::Short(
            numbers
                .map(|number| (number << 64 | 77).to_le_bytes())
                .collect(),
        )
    };
    let params = params(2000, 3000);
    let found = output(&params, &digests(0..2000), &digests(1000..4000)).unwrap();
    assert_eq!(found, Output::Rows((0..1000).collect()));
}

#[test]
fn bins_that_are_too_small_are_bad_luck_and_not_a_wrong_result() {
    let mut params = params(5000, 5000);
    params.shape.capacity = 39;
    let error = output(&params, &items(0..5000, 16), &items(0..5000, 16)).unwrap_err();
    assert!(matches!(error, Error::BadLuck(_, 40)), "{error}");
}

#[test]
fn masks_and_polynomials_show_nothing_of_items_that_are_not_shared() {
    let params = params(1 << 12, 1 << 12);
    assert_nothing_shows(&params, params.masks());
}
