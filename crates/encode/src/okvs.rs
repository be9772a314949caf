//! An oblivious key-value store (OKVS): a vector that each of n keys takes to its value, by a
//! linear function of its own. The vector hides the keys if the values are random.
//!
//! The store of RR22 (Rindal and Raghuraman, *Blazing Fast PSI*, ePrint 2022/320, Figure 1) with
//! three slots per item and dense columns, in bins of their own (§3, "separate"). All coefficients
//! are bits, so values can be of any vector space over GF(2). Keys are digests of items; here they
//! are called items.
//!
//! 1. [`Partition`] sorts the items into bins by their first eight bytes.
//! 2. [`RowHasher`] gives each item its [`Row`], the coefficients of its linear function, and
//!    the value that it is to have.
//! 3. [`Encoder`] solves the equations of a bin: the vector.
//! 4. [`Decoder`] evaluates rows in a vector of a bin: this or another, since decoding is linear.
//!
//! [`Store`] does all of this where a store need not be sent bin by bin.
//!
//! Each step handles one bin by itself: bins can be spread over threads, and made, sent and
//! received one by one. Sizes come from [`psijoin_params::okvs`], with a proof of how rarely a bin
//! cannot be encoded.
//!
//! Differences from the paper and its code:
//!
//! - The dense coefficients are independent bits instead of powers of an element of GF(2^128). That
//!   takes a few dozen columns instead of two, and no products: eight columns are one look into a
//!   table of sums. Values can have as many bits as are needed.
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
mod store;

pub use decode::Decoder;
pub use encode::Encoder;
pub use partition::{Partition, bin_of};
pub use row::{Row, RowHasher};
pub use store::Store;

#[cfg(test)]
mod tests;
