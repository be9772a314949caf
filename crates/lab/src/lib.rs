//! Reproductions of the papers' comparisons.
//!
//! Measure once, predict any network. [`measurements`] are runs of each protocol, at growing sizes,
//! in a file that only grows. All else follows from them: the cells of [`experiments`], which are
//! the tables and figures of the papers beside what is [`published`]; [`verdicts`] on what the
//! papers conclude; a [`report`] in several forms; and how two machines [`mod@compare`].
//!
//! An experiment is data: quantities of protocols, with what a paper printed. A campaign measures
//! what it needs (`measurements::Campaign`), which always makes the cheapest run that is missing,
//! within one budget of time for all: then no protocol gets a longer last run than another one, and
//! the time left can be foretold, as the next size takes about four times as long as the one
//! before. A line of the results file is a run, with the time that it took to measure.
//!
//! A time is a [`Value`] with a range, from the lower to the upper quartile of its runs in all
//! campaigns, and a comparison within the ranges is too close to call. A set that the program runs
//! in parts is predicted from a part, and what is more than a step of sizes larger than all that
//! was measured decides nothing.

#![forbid(unsafe_code)]

mod break_even;
pub mod compare;
pub mod experiments;
mod in_words;
pub mod measurements;
mod ours;
mod printed;
pub mod published;
mod quantity;
pub mod report;
mod scatter;
mod sites;
mod variants;
pub mod verdicts;
mod work;

pub use break_even::BreakEven;
pub use ours::{Circumstances, Ours};
pub use printed::Printed;
pub use quantity::{Figures, Kind, Place, Quantity, Value};

/// Its example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
