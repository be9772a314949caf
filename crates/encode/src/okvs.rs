//! An oblivious key-value store (OKVS): a vector that each of n keys takes to its value, by a
//! linear function of its own. The vector hides the keys if the values are random.
//!
//! The store of RR22 (Rindal and Raghuraman, *Blazing Fast PSI*, ePrint 2022/320, Figure 1)
//! with three slots per item and dense columns, in bins of their own (§3, "separate"). Keys
//! are digests of items; here they are called items.
//!
//! 1. [`Partition`] sorts the items into bins by their first eight bytes.
//! 2. [`RowHasher`] gives each item its [`Row`], the coefficients of its linear function, and
//!    the value that it is to have.
//! 3. [`Encoder`] solves the equations of a bin: the vector.
//! 4. [`decode_bin`] evaluates rows in a vector of a bin: this or another, since decoding is
//!    linear over GF(2^64).
//!
//! Each step handles one bin by itself: bins can be spread over threads, and made, sent and
//! received one by one. Sizes come from [`psijoin_params::okvs`], with a proof of how rarely a bin
//! cannot be encoded.
//!
//! What differs from the paper and its code:
//!
//! - The dense coefficients are powers of an element of GF(2^64) instead of GF(2^128): a
//!   third of the products, and values of 64 bits are possible. The failure bound allows for
//!   the smaller field, at high security by a check column.
//! - The bin comes from the digest itself, and only the rest of the row from the keyed hash.
//! - Rows that cannot be peeled are eliminated over the sparse slots first. The dense columns need
//!   only make up for linear dependence, not for all rows that peeling leaves. That is why fewer
//!   slots suffice, and why their number can be proved to.
//! - Failure is counted per bin, with a union bound over bins.
//! - Elements that the equations leave free are filled at random.
//!
//! The time that encoding takes depends on the items; it does not depend on their values.

mod core;
mod decode;
mod encode;
mod partition;
mod peeling;
mod row;

pub use decode::decode_bin;
pub use encode::Encoder;
pub use partition::{Partition, bin_of};
pub use row::{Row, RowHasher};

#[cfg(test)]
mod tests;
