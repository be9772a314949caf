//! The cases that every protocol is put through, one test per protocol and case.
//!
//! A family of protocols lists its own in `tests/protocols.rs`, one row each:
//!
//! ```text
//! psijoin_psi_testing::protocols! {
//!     kkrt: Subject::new(&KKRT).units(Units::last("mask bits").lists(|plan| 3 + stash(plan)));
//!     psz_none: Subject::new(&PSZ_NONE).most_pairs(MOST_PAIRS).faults(60, 1100, 30);
//! }
//! ```
//!
//! Each row becomes a module with the tests of [`cases`] in tiers: `kkrt::quick::…` takes seconds
//! and is for every edit. `kkrt::full::…`, in a session in parts `kkrt::parts::…`, and with base
//! OTs by ML-KEM `kkrt::post_quantum::…` are for every submission, and `kkrt::nightly::…` is
//! ignored unless asked for. `cargo test kkrt` runs all but the last of one protocol, `cargo test
//! quick` the first of all.

#![forbid(unsafe_code)]

pub mod cases;
pub mod tampering;
pub mod uniform;

mod ledger;
mod run;
mod sets;
mod subject;

pub use ledger::MemoryLedger;
pub use run::{
    JOINT_SEED, Results, Setup, items, output, run_items, run_pair, run_tables, structured,
};
pub use sets::Sets;
pub use subject::{Limit, Subject, Units, parameter};

/// Makes the tests of each protocol: `name: subject;`.
#[macro_export]
macro_rules! protocols {
    ($($name:ident: $subject:expr;)*) => {
        $($crate::tiers!($name: $subject; quick full post_quantum parts nightly);)*
    };
}

/// Makes the tests of protocols on items of other lengths. Their messages are longer or shorter;
/// base OTs, parts and jobs have nothing to do with it.
#[macro_export]
macro_rules! lengths {
    ($($name:ident: $subject:expr;)*) => {
        $($crate::tiers!($name: $subject; quick full);)*
    };
}

/// The module of one protocol, with these tiers.
#[doc(hidden)]
#[macro_export]
macro_rules! tiers {
    ($name:ident: $subject:expr; $($tier:ident)*) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            fn subject() -> $crate::Subject {
                $subject
            }

            $($crate::tier!($tier);)*
        }
    };
}

/// The tests of one tier, by the names of their [`cases`].
#[doc(hidden)]
#[macro_export]
macro_rules! tier {
    (quick) => {
        $crate::tier!(@tier quick [] {
            cost::is_exact_for_few_items,
            determinism::the_same_bytes_of_few_items,
            misuse::wrong_input_is_refused,
            results::empty_sets,
            results::few_items,
            results::one_item,
            results::the_failure_budget_is_kept_at_every_size,
        });
    };
    (full) => {
        $crate::tier!(@tier full [] {
            cost::is_exact_for_many_items,
            determinism::the_same_bytes_of_many_items,
            faults::a_cut_connection,
            faults::a_flipped_bit,
            faults::a_short_message,
            faults::a_stalled_peer,
            order::another_order_of_the_input_changes_the_order_of_units_only,
            order::the_order_of_units_is_not_that_of_the_input,
            results::borders_of_chunks,
            results::both_parties_wait_for_room_after_every_message,
            results::high_statistical_security,
            results::many_items,
            results::random_sets,
            results::thresholds_that_are_always_or_never_reached,
            results::very_unequal_sets,
            secrets::no_item_and_no_randomness_is_sent,
            secrets::two_runs_share_no_bytes,
        });
    };
    (post_quantum) => {
        $crate::tier!(@tier post_quantum [] {
            post_quantum::plans_differ,
            post_quantum::runs_cost_what_is_planned,
            post_quantum::runs_end_soon_at_any_fault,
            post_quantum::runs_find_the_same,
            post_quantum::runs_say_the_same_bytes,
            post_quantum::runs_tell_no_secret,
            post_quantum::runs_wait_for_room,
        });
    };
    (parts) => {
        $crate::tier!(@tier parts [] {
            determinism::the_same_bytes_of_each_part,
            parts::cost_what_is_planned,
            parts::end_soon_at_any_fault,
            parts::find_the_same,
            parts::look_the_same_for_any_input,
            parts::overflow_is_bad_luck,
            parts::tell_no_secret,
            parts::wait_for_room_after_every_message,
            resuming::only_what_is_left_runs_again,
            resuming::what_was_answered_is_answered_to_the_same_only,
        });
    };
    (nightly) => {
        $crate::tier!(@tier nightly [#[ignore = "takes minutes: nightly"]] {
            determinism::the_same_bytes_of_a_million_items,
            parts::hide_what_is_shared,
            results::a_million_items,
            views::no_view_holds_a_membership_bit,
        });
    };
    // Attributes and cases repeat independently, so the attributes are passed on as one token tree.
    (@tier $tier:ident $attributes:tt { $($module:ident::$case:ident,)* }) => {
        mod $tier {
            $($crate::tier!(@case $attributes $module::$case);)*
        }
    };
    (@case [$($attribute:tt)*] $module:ident::$case:ident) => {
        #[test]
        $($attribute)*
        fn $case() {
            $crate::cases::$module::$case(&super::subject());
        }
    };
}
