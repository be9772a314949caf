use super::*;
use crate::testing::{assert_all_is_uniform, items, run};

fn plan<O: Variant>(n: u64) -> Params<O> {
    Params::new(&Request::rows(n, n).unwrap()).unwrap()
}

fn bits_an_item<O: Variant>(n: u64) -> f64 {
    plan::<O>(n).cost().total().total_bytes() as f64 * 8.0 / n as f64
}

/// PSZ14 Table 6 has 2.88·n·κ·(κ + λ) bits; with the OT of §4.2 (Table 3) it is half of that.
/// Strings here are long enough, and so longer than λ.
#[test]
fn sends_what_the_paper_says_but_for_the_strings_length() {
    for log_n in [10, 12, 14, 16, 18, 20] {
        let strings = f64::from(plan::<Iknp>(1 << log_n).strings().0.bits);
        let expected = 1.44 * 128.0 * (128.0 + strings);
        let ratio = bits_an_item::<Iknp>(1 << log_n) / expected;
        assert!((0.99..1.01).contains(&ratio), "{ratio} at 2^{log_n}");
        let table = 2.88 * 128.0 * (128.0 + 40.0);
        assert!(bits_an_item::<Iknp>(1 << log_n) < 0.6 * table, "2^{log_n}");
        // What is left is the strings, and the choices.
        let expected = 1.44 * 128.0 * (1.0 + strings);
        let ratio = bits_an_item::<Silent>(1 << log_n) / expected;
        let most = if log_n < 14 { 1.1 } else { 1.02 };
        assert!((0.99..most).contains(&ratio), "{ratio} at 2^{log_n}");
    }
}

/// With the λ bits of PSZ14 §4.2, one of 2^20 items would be taken for shared with probability 2^-20.
#[test]
fn strings_are_long_enough_for_all_items_of_the_receiver() {
    for log_n in [0, 10, 20, 26] {
        assert_eq!(plan::<Iknp>(1 << log_n).strings().0.bits, 41 + log_n);
    }
}

/// The version for malicious parties is broken: nobody is to be told that this is one.
#[test]
fn promises_nothing_against_malicious_parties() {
    for info in [<Iknp as Variant>::INFO, <Silent as Variant>::INFO] {
        assert_eq!(info.adversary, Adversary::SemiHonest);
    }
}

#[test]
fn strings_and_transfers_show_nothing_of_items_that_are_not_shared() {
    assert_all_is_uniform(&plan::<Iknp>(1 << 12));
}

#[test]
fn a_filter_that_is_too_small_is_bad_luck_and_not_a_wrong_result() {
    let mut params = plan::<Iknp>(30);
    params.shape.slice_cells = 2;
    let (sending, receiving) = psijoin_channel::memory::pair();
    let items = items(0..30, 16);
    let [sent, received] = run(&params, (&items, sending), (&items, receiving));
    assert!(matches!(sent, Err(Error::BadLuck(_, 40))), "{sent:?}");
    assert_eq!(received.unwrap_err().kind(), crate::ErrorKind::Channel);
}
