//! The comparisons of the papers, made again.
//!
//! Measure once, predict any network. [`measurements`] are runs of each protocol, at growing sizes, in a file that only grows. All else
//! follows from them: the cells of [`experiments`], which are the tables and figures of the papers beside what is
//! [`published`]; and [`verdicts`] on what the papers conclude.

#![forbid(unsafe_code)]

pub mod experiments;
pub mod measurements;
mod ours;
mod printed;
pub mod published;
mod quantity;
pub mod verdicts;

pub use ours::Ours;
pub use printed::Printed;
pub use quantity::{Figures, Kind, Place, Quantity, Value};
