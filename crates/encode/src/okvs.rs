//! An oblivious key-value store (OKVS): a vector that each of n keys takes to its value, by a
//! linear function of its own. The vector hides the keys if the values are random.
//!
//! The store of RR22 (Rindal and Raghuraman, *Blazing Fast PSI*, ePrint 2022/320, Figure 1) with
//! dense columns, spatially coupled if it is large ([`psijoin_params::okvs`]). All coefficients are
//! bits, so values can be of any vector space over GF(2). Keys are digests of items; here they are
//! called items.
//!
//! 1. [`Partition`] sorts the items by their starts, which are their first eight bytes.
//! 2. [`RowHasher`] gives each item its [`Row`], the coefficients of its linear function, and
//!    the value that it is to have.
//! 3. [`Encoder`] solves the equations: the vector, segment by segment.
//! 4. [`Decoder`] evaluates rows in a vector: this or another, since decoding is linear. It needs
//!    the segments of a row only.
//!
//! [`Store`] does all of this where a store need not be sent piece by piece. Sizes come from
//! [`psijoin_params::okvs`], with a proof of how rarely a store cannot be encoded.
//!
//! Differences from the paper and its code:
//!
//! - The dense coefficients are independent bits instead of powers of an element of GF(2^128). That
//!   takes a few dozen columns instead of two, and no products: eight columns are one look into a
//!   table of sums. Values can have as many bits as are needed.
//! - There are no clusters. Large stores are coupled, so that a part of a store is worked on at a
//!   time all the same. That takes 13 % fewer elements.
//! - The start comes from the digest itself, and only the rest of the row from the keyed hash.
//! - Rows that cannot be peeled are eliminated over the slots first. The dense columns need
//!   only make up for linear dependence, not for all rows that peeling leaves. That is why fewer
//!   slots suffice, and why their number can be proved to.
//! - Elements that the equations leave free are filled at random.
//!
//! The time that encoding takes depends on the items; it does not depend on their values.

mod core;
mod decode;
mod encode;
mod equations;
mod partition;
mod peeling;
mod row;
mod store;

pub use decode::Decoder;
pub use encode::Encoder;
pub use equations::Items;
pub use partition::{Partition, bin_of};
pub use row::{Row, RowHasher};
pub use store::Store;

#[cfg(test)]
mod tests;
