//! Private set intersection by oblivious transfer of the cells of a Bloom filter.
//!
//! | protocol | the receiver learns | source | on |
//! |---|---|---|---|
//! | [`GBF`](gbf::GBF) | which of its items are shared | DCW13, PSZ14 §4.2 | IKNP's OT extension |
//! | [`GBF_SILENT`](gbf::GBF_SILENT) | the same | the same | silent OT |
//! | [`RANDOM_GBF`](random_gbf::RANDOM_GBF) | the same | PSZ14 §4.3 | IKNP's OT extension |
//! | [`RANDOM_GBF_SILENT`](random_gbf::RANDOM_GBF_SILENT) | the same | the same | silent OT |
//! | [`KK20`](kk20::KK20) | a function of the intersection, or shares | KK20, CO18 | IKNP's OT extension |
//! | [`KK20_SILENT`](kk20::KK20_SILENT) | the same | the same | silent OT |
//!
//! All are for semi-honest parties. [`psm_co`] has the equality tests of `kk20`, and the more
//! general test of membership.

#![forbid(unsafe_code)]

pub mod gbf;
pub mod kk20;
pub mod psm_co;
pub mod random_gbf;

mod filter_ot;
mod garbled_transfer;

use psijoin_psi::Protocol;

/// The protocols of this crate, in the order of their papers.
pub const PROTOCOLS: &[&Protocol] = &[
    &gbf::GBF,
    &gbf::GBF_SILENT,
    &random_gbf::RANDOM_GBF,
    &random_gbf::RANDOM_GBF_SILENT,
    &kk20::KK20,
    &kk20::KK20_SILENT,
];
