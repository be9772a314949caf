//! How a set is laid out before a protocol works on it.
//!
//! [`BinHasher`] maps digests of items to three distinct bins each. That is all there is to
//! *simple hashing*: a party that treats an item in each of its bins (the sender of a
//! protocol on Cuckoo hashing) walks over its items and takes bins 0, 1 and 2 of each; it
//! never needs the items sorted by bin. [`CuckooTable`] puts each item of the other party
//! into one of its bins, at most one item a bin.
//!
//! Sizes come from [`psijoin_params::cuckoo`], which also proves how rarely the table
//! cannot be built.
//!
//! [`okvs`] is the other way: a set laid out as one vector over a field, from which a linear
//! function of each item gives a value of the item.

mod cuckoo;
mod error;
mod hashing;
pub mod okvs;

pub use cuckoo::{CuckooTable, Placed};
pub use error::Error;
pub use hashing::{BinHasher, CHOICES};
