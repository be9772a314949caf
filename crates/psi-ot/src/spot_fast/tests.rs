use psijoin_encode::DigestVec;
use psijoin_params::{sparse_ot::Buckets, two_choice::Shape};
use psijoin_psi::{Error, Items, Output, Request};
use psijoin_psi_testing::{items, output, uniform::assert_nothing_shows};

use super::*;
use crate::spot::tests::assert_any_rows_work;

fn params(sender: u64, receiver: u64) -> Params {
    Params::new(&Request::rows(sender, receiver).unwrap()).unwrap()
}

#[test]
fn rows_of_any_width_with_digests_of_either_length() {
    let Params { spot, shape } = params(900, 700);
    assert_any_rows_work(&spot, |spot| Params { spot, shape }.plan());
}

#[test]
fn bins_and_buckets_of_every_number() {
    for (bins, capacity) in [(1, 700), (2, 400), (10, 75), (100, 15)] {
        for buckets in [[1, 1], [1, 2], [1, 7], [2, 1], [3, 1], [100, 1]] {
            let [polynomials, count] = buckets;
            if bins < polynomials || (polynomials * capacity > 90 && count == 1) {
                continue;
            }
            let mut params = params(900, 700);
            params.shape = Shape {
                bins: bins as u32,
                capacity: capacity as u32,
            };
            params.spot.extension.buckets = Buckets { polynomials, count };
            let plan = params.plan();
            let found = output(&plan, &items(0..900, &plan), &items(600..1300, &plan)).unwrap();
            assert_eq!(
                found,
                Output::Rows((0..300).collect()),
                "{bins}, {buckets:?}"
            );
        }
    }
}

/// By the derived numbers, several small bins share a bucket, and messages have whole buckets.
#[test]
fn small_bins_share_buckets() {
    for (sender, receiver) in [(5000, 5000), (1 << 20, 1 << 20), (1000, 100_000)] {
        let params = params(sender, receiver);
        let per_part = params.bins_per_part();
        assert!(per_part > 1, "{sender}, {receiver}");
        assert_eq!(params.bins().per_message % per_part, 0);
        assert!(params.bins().per_message * params.bin_bytes() <= 1 << 16);
        assert_eq!(params.parts(0..per_part + 1), 0..2);
    }
}

/// Every item is found, those included that were moved to their second bin.
#[test]
fn identical_sets_are_found_entirely() {
    let params = params(5000, 5000);
    assert!(params.shape.bins > 100);
    let plan = params.plan();
    let set = items(0..5000, &plan);
    assert_eq!(
        output(&plan, &set, &set).unwrap(),
        Output::Rows((0..5000).collect())
    );
}

/// Digests that differ in one bit, and in the bit that tells hash functions apart elsewhere.
#[test]
fn neighbouring_digests_are_different_items() {
    let digests = |numbers: std::ops::Range<u128>| {
        let digest = |number: u128| (number << 64 | 77).to_le_bytes();
        Items::from(DigestVec::Short(numbers.map(digest).collect()))
    };
    let plan = params(2000, 3000).plan();
    let found = output(&plan, &digests(0..2000), &digests(1000..4000)).unwrap();
    assert_eq!(found, Output::Rows((0..1000).collect()));
}

#[test]
fn bins_that_are_too_small_are_bad_luck_and_not_a_wrong_result() {
    let mut params = params(5000, 5000);
    let Shape { bins, capacity } = params.shape;
    params.shape.bins = bins - bins / 16;
    assert!(params.shape.bins * capacity < 5000);
    let plan = params.plan();
    let error = output(&plan, &items(0..5000, &plan), &items(0..5000, &plan)).unwrap_err();
    assert!(matches!(error, Error::BadLuck(_, 40)), "{error}");
}

#[test]
fn masks_and_polynomials_show_nothing_of_items_that_are_not_shared() {
    let params = params(1 << 12, 1 << 12);
    let masks = params.spot.masks;
    assert_nothing_shows(&params.plan(), masks);
}
