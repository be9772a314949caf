use psijoin_params::cuckoo::Shape;
use psijoin_psi::{Error, Output, Request};
use psijoin_psi_testing::{items, output};

use super::*;

fn params(sender: u64, receiver: u64) -> Params {
    Params::new(&Request::rows(sender, receiver).unwrap()).unwrap()
}

#[test]
fn long_digests_and_wide_code_words() {
    for code_bits in [params(900, 700).oprf.code_bits, 480, 488, 544] {
        for digest_bytes in [16, 32] {
            let mut params = params(900, 700);
            params.oprf.code_bits = code_bits;
            params.base.digest_bytes = digest_bytes;
            let plan = params.plan();
            let found = output(&plan, &items(0..900, &plan), &items(600..1300, &plan));
            assert_eq!(
                found.unwrap(),
                Output::Rows((0..300).collect()),
                "{code_bits}, {digest_bytes}"
            );
        }
    }
}

#[test]
fn stash_places_are_used_and_compared() {
    let mut params = params(40, 30);
    // As many bins as five items need: the others must lie in the stash.
    params.shape = Shape { bins: 5, stash: 25 };
    params.oprf.functions = 30;
    let plan = params.plan();
    let found = output(&plan, &items(0..40, &plan), &items(20..50, &plan));
    assert_eq!(found.unwrap(), Output::Rows((0..20).collect()));
}

#[test]
fn a_table_that_is_too_small_is_bad_luck_and_not_a_wrong_result() {
    let mut params = params(40, 30);
    params.shape = Shape { bins: 29, stash: 0 };
    params.oprf.functions = 29;
    let plan = params.plan();
    let error = output(&plan, &items(0..40, &plan), &items(0..30, &plan)).unwrap_err();
    assert!(matches!(error, Error::BadLuck(_, 40)), "{error}");
}
