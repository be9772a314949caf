//! Private set intersection by oblivious transfer.
#![forbid(unsafe_code)]
pub mod kkrt;
mod seeds;
