//! Private set intersection by oblivious transfer.
//!
//! | protocol | source | secure against |
//! |---|---|---|
//! | [`PSZ_NONE`](psz::PSZ_NONE), [`PSZ_SIMPLE`](psz::PSZ_SIMPLE), [`PSZ_BALANCED`](psz::PSZ_BALANCED), [`PSZ_CUCKOO`](psz::PSZ_CUCKOO) | PSZ14 | semi-honest parties |
//! | [`PSSZ`](pssz::PSSZ) | PSSZ15 | semi-honest parties |
//! | [`KKRT`](kkrt::KKRT) | KKRT16 | semi-honest parties |
//! | [`PSTY19`](psty19::PSTY19) | PSTY19 | semi-honest parties |
//! | [`SPOT_FAST`](spot_fast::SPOT_FAST), [`SPOT_LOW`](spot_low::SPOT_LOW) | SpOT19 | semi-honest parties |
//! | [`SPOT_LOW_MALICIOUS_SENDER`](spot_low::SPOT_LOW_MALICIOUS_SENDER) | SpOT19 | a malicious sender |
//! | [`CM20`](cm20::CM20) | CM20 | semi-honest parties |
//! | [`CM20_MALICIOUS_SENDER`](cm20::CM20_MALICIOUS_SENDER) | CM20 | a malicious sender |
//!
//! In all of them the receiver learns which of its items are shared, in `psty19` a function of the
//! intersection. What they stand on can be used for itself: [`batched_oprf`] and
//! [`multi_point_oprf`].

#![forbid(unsafe_code)]

pub mod batched_oprf;
pub mod cm20;
pub mod kkrt;
pub mod multi_point_oprf;
pub mod pssz;
pub mod psty19;
pub mod psz;
pub mod spot_fast;
pub mod spot_low;

mod seeds;
mod spot;

use psijoin_psi::Protocol;

/// The protocols of this crate, in the order of their papers.
pub const PROTOCOLS: &[&Protocol] = &[
    &psz::PSZ_NONE,
    &psz::PSZ_SIMPLE,
    &psz::PSZ_BALANCED,
    &psz::PSZ_CUCKOO,
    &pssz::PSSZ,
    &kkrt::KKRT,
    &psty19::PSTY19,
    &spot_fast::SPOT_FAST,
    &spot_low::SPOT_LOW,
    &spot_low::SPOT_LOW_MALICIOUS_SENDER,
    &cm20::CM20,
    &cm20::CM20_MALICIOUS_SENDER,
];
