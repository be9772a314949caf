//! The comparisons of the papers, made again.
//!
//! Measure once, predict any network: [`measurements`] has runs of each protocol, and all else follows from them.

#![forbid(unsafe_code)]

pub mod measurements;
pub mod published;
