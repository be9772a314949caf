//! The cases, in one module per promise.

pub mod cost;
pub mod determinism;
pub mod faults;
pub mod misuse;
pub mod order;
pub mod parts;
pub mod post_quantum;
pub mod results;
pub mod resuming;
pub mod secrets;
pub mod views;
