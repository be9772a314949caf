//! Private set intersection by oblivious transfer: few public-key operations, and then symmetric
//! cryptography only.
//!
//! | module | protocols | idea | online traffic |
//! |---|---|---|---|
//! | [`spot_fast`] | `spot-fast` | sparse OT extension, a polynomial for each bin | some ℓ bits per item of the receiver, two masks per item of the sender |
//! | [`spot_low`] | `spot-low`, `spot-low-malicious-sender` | sparse OT extension, one polynomial | ℓ bits per item of the receiver, one mask per item of the sender |

#![forbid(unsafe_code)]

pub mod spot_fast;
pub mod spot_low;

mod seeds;
mod spot;
