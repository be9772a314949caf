use psijoin_encode::DigestVec;
use psijoin_params::two_choice::Shape;
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
        for buckets in [1, 2, 7] {
            let mut params = params(900, 700);
            params.shape = Shape { bins, capacity };
            params.spot.extension.buckets = match bins {
                1 => 20 * buckets,
                2 => 10 * buckets,
                _ => buckets,
            };
            let plan = params.plan();
            let found = output(&plan, &items(0..900, &plan), &items(600..1300, &plan)).unwrap();
            assert_eq!(found, Output::Rows((0..300).collect()), "{bins}, {buckets}");
        }
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
    params.shape.capacity = 39;
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
