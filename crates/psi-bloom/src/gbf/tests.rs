use psijoin_psi::{ErrorKind, Plan, Request};
use psijoin_psi_testing::{items, run_items, uniform::assert_all_is_uniform};

use super::*;

fn params(extension: Extension, n: u64) -> Params {
    Params::new(&Request::rows(n, n).unwrap(), extension).unwrap()
}

fn plan(extension: Extension, n: u64) -> Plan {
    params(extension, n).plan()
}

fn bits_per_item(extension: Extension, n: u64) -> f64 {
    plan(extension, n).cost().total.total_bytes() as f64 * 8.0 / n as f64
}

/// PSZ14 Table 6 has 2.88·n·κ·(κ + λ) bits; with the OT of §4.2 (Table 3) it is half of that.
/// Strings here are long enough, and so longer than λ.
#[test]
fn sends_what_the_paper_says_but_for_the_strings_length() {
    for log_n in [10, 12, 14, 16, 18, 20] {
        let n = 1 << log_n;
        let strings = f64::from(params(Extension::IKNP, n).transfer.strings.bits);
        let expected = 1.44 * 128.0 * (128.0 + strings);
        let ratio = bits_per_item(Extension::IKNP, n) / expected;
        assert!((0.99..1.01).contains(&ratio), "{ratio} at 2^{log_n}");
        let table = 2.88 * 128.0 * (128.0 + 40.0);
        assert!(bits_per_item(Extension::IKNP, n) < 0.6 * table, "2^{log_n}");
        // The strings and the choices remain.
        let expected = 1.44 * 128.0 * (1.0 + strings);
        let ratio = bits_per_item(Extension::SILENT, n) / expected;
        let most = if log_n < 14 { 1.1 } else { 1.02 };
        assert!((0.99..most).contains(&ratio), "{ratio} at 2^{log_n}");
    }
}

/// With the λ bits of PSZ14 §4.2, one of 2^20 items would be taken for shared with probability
/// 2^-20.
#[test]
fn strings_are_long_enough_for_all_items_of_the_receiver() {
    for log_n in [0, 10, 20, 26] {
        let params = params(Extension::IKNP, 1 << log_n);
        assert_eq!(params.transfer.strings.bits, 41 + log_n);
    }
}

/// The version for malicious parties is broken: nobody is to be told that this is one.
#[test]
fn promises_nothing_against_malicious_parties() {
    for protocol in [&GBF, &GBF_SILENT] {
        assert_eq!(protocol.info().adversary, Adversary::SemiHonest);
    }
}

#[test]
fn strings_and_transfers_show_nothing_of_items_that_are_not_shared() {
    assert_all_is_uniform(&plan(Extension::IKNP, 1 << 12));
}

#[test]
fn a_filter_that_is_too_small_is_bad_luck_and_not_a_wrong_result() {
    let mut params = params(Extension::IKNP, 30);
    params.transfer.filter.shape.slice_cells = 2;
    let plan = params.plan();
    let (sending, receiving) = psijoin_channel::memory::pair();
    let items = items(0..30, &plan);
    let (sent, received) = run_items(&plan, (&items, sending), (&items, receiving));
    assert!(matches!(sent, Err(Error::BadLuck(_, 40))), "{sent:?}");
    assert_eq!(received.unwrap_err().kind(), ErrorKind::Channel);
}
