use psijoin_encode::{DigestVec, Digests};
use psijoin_psi::{Error, ErrorKind, Items, Output, Plan, Request, Role};
use psijoin_psi_testing::{
    items, output, tampering::notices_of_tampering, uniform::assert_nothing_shows,
};

use super::*;
use crate::spot::tests::assert_any_rows_work;

fn request(sender: u64, receiver: u64) -> Request {
    Request::rows(sender, receiver).unwrap()
}

#[test]
fn rows_of_any_width_with_digests_of_either_length() {
    for params in [
        Params::semi_honest(&request(900, 700)),
        Params::malicious_sender(&request(900, 700)),
    ] {
        assert_any_rows_work(&params.unwrap().spot, |spot| Params { spot }.plan());
    }
}

#[test]
fn a_malicious_sender_meets_long_digests_long_masks_and_a_check() {
    let malicious = Params::malicious_sender(&request(900, 700)).unwrap();
    let semi_honest = Params::semi_honest(&request(900, 700)).unwrap();
    assert_eq!(malicious.spot.base.digest_bytes, 32);
    assert_eq!(malicious.spot.masks.mask(u128::MAX), u128::MAX - 1);
    let (malicious, semi_honest) = (malicious.plan(), semi_honest.plan());
    assert_ne!(malicious.digest(), semi_honest.digest());
    assert!(malicious.cost().offline.sender_bytes > semi_honest.cost().offline.sender_bytes);
}

#[test]
fn masks_and_polynomials_show_nothing_of_items_that_are_not_shared() {
    let request = request(1 << 13, 1 << 12);
    for params in [
        Params::semi_honest(&request),
        Params::malicious_sender(&request),
    ] {
        let params = params.unwrap();
        let masks = params.spot.masks;
        assert_nothing_shows(&params.plan(), masks);
    }
}

/// Returns the digests of ten items.
fn long_digests(plan: &Plan) -> Vec<[u8; 32]> {
    match items(0..10, plan).digests() {
        Digests::Long(digests) => digests.to_vec(),
        Digests::Short(_) => unreachable!("digests have 32 bytes"),
    }
}

/// Two items of the receiver whose digests have the first half in common have one point. It is
/// told, and not a wrong result.
#[test]
fn equal_points_are_bad_luck() {
    let plan = SPOT_LOW_MALICIOUS_SENDER.plan(&request(10, 10)).unwrap();
    let mut digests = long_digests(&plan);
    let other = digests[3];
    digests[7][..16].copy_from_slice(&other[..16]);
    let error = output(
        &plan,
        &items(0..10, &plan),
        &Items::from(DigestVec::Long(digests)),
    )
    .unwrap_err();
    assert!(matches!(error, Error::BadLuck(_, 40)), "{error}");
    assert_eq!(error.kind(), ErrorKind::BadLuck);
}

/// A sender's item that shares a point with a receiver's item without being it is no match: H is
/// told the whole digest.
#[test]
fn half_a_digest_in_common_is_no_match() {
    let plan = SPOT_LOW_MALICIOUS_SENDER.plan(&request(10, 10)).unwrap();
    let mut digests = long_digests(&plan);
    for digest in &mut digests[..5] {
        digest[16] ^= 1;
    }
    let found = output(
        &plan,
        &Items::from(DigestVec::Long(digests)),
        &items(0..10, &plan),
    )
    .unwrap();
    assert_eq!(found, Output::Rows((5..10).collect()));
}

/// A change to what the receiver uses or ignores by a secret bit of the OTs is noticed half of the
/// time; a change to a base OT, to the answer to the check, or to the upper parts of masks, always.
#[test]
fn tampering_by_the_sender_is_an_error_or_costs_it_its_items() {
    let plan = SPOT_LOW_MALICIOUS_SENDER.plan(&request(300, 200)).unwrap();
    let noticed = notices_of_tampering(&plan, Role::Sender);
    assert!(noticed >= 3, "{noticed}");
}
