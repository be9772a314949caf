//! The threads and the memory that everything computes with.
//!
//! | module | contents |
//! |---|---|
//! | [`parallel`] | the threads of the caller's pool: the door to parallel work |
//! | [`memory`] | large buffers for random access, prefetching; the handler for exhausted memory |
//!
//! Kernels know no threads. Whoever drives them cuts the work into tasks, and hands these through
//! [`parallel`].

pub mod memory;
pub mod parallel;
