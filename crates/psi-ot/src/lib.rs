//! Private set intersection by oblivious transfer.
//!
//! | protocols | |
//! |---|---|
//! | [`psz-none`, `psz-simple`, `psz-balanced`, `psz-cuckoo`](psz) | equality tests by 1-of-256 OT, with four ways to hash items to bins |
//! | [`pssz`] | `psz-cuckoo`, where the bin is a part of the item |

#![forbid(unsafe_code)]

pub mod pssz;
pub mod psz;
