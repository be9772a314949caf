//! The comparisons of the papers, to be made again.
//!
//! [`published`] has what the papers printed.

#![forbid(unsafe_code)]

pub mod published;
