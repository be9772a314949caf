//! Functions of an intersection.

#![forbid(unsafe_code)]

pub mod bins;
pub mod functions;

mod garbling;
