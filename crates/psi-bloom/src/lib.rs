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
//! | [`KK20_PSM`](psm::KK20_PSM) | the same, item by item | KK20 | IKNP's OT extension |
//! | [`CO18_PSM`](psm::CO18_PSM) | the same, item by item | CO18 | IKNP's OT extension |
//!
//! All are for semi-honest parties. Building blocks to use alone:
//!
//! | module | contents |
//! |---|---|
//! | [`opprf`] | one-time and batch oblivious programmable PRFs |
//! | [`labels`] | whether items are shared, as wires of a garbled circuit |
//! | [`psm_co`] | the equality tests of `kk20`, and the more general test of membership |
//!
//! # Filters that are never there
//!
//! - *Bands.* A filter has 185 cells per item, too many to keep a string for each. Cells are
//!   numbered slice by slice (each hash function has a slice), and a band of 2^22 of them is made,
//!   used and forgotten: `encode::bloom` marks the bits of a band, and adds its strings to a sum
//!   per item.
//! - *A garbled filter is a seed* and a correction for each item, in a cell that no other item has,
//!   or no other that is still without one (`encode::garbled_bloom`): any band of it can be
//!   reproduced. So `kk20` can fill it to seven eighths, as its bound allows
//!   (`params::garbled_bloom`), and takes a third of the published cells.
//! - *The OT is a parameter.* `ot::extension` is a value, IKNP or silent OT; protocol, plan and
//!   cost are written once.

#![forbid(unsafe_code)]

pub mod gbf;
pub mod kk20;
pub mod labels;
pub mod opprf;
pub mod psm;
pub mod psm_co;
pub mod random_gbf;

mod filter_ot;
mod garbled_transfer;
mod prepared;

use psijoin_psi::Protocol;

/// The protocols of this crate, in the order of their papers.
pub const PROTOCOLS: &[&Protocol] = &[
    &gbf::GBF,
    &gbf::GBF_SILENT,
    &random_gbf::RANDOM_GBF,
    &random_gbf::RANDOM_GBF_SILENT,
    &kk20::KK20,
    &kk20::KK20_SILENT,
    &psm::KK20_PSM,
    &psm::CO18_PSM,
];
