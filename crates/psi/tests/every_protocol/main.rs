//! Drives every protocol of the registry through the same cases.

mod cases;
mod cost;
mod faults;
mod harness;
mod misuse;
mod order;
mod secrets;
mod views;
