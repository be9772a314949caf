//! The layouts of sets before a protocol works on them.
//!
//! Items are digests of 16 or 32 bytes, all of one width: [`Digests`].
//!
//! [`BinHasher`] maps digests of items to three distinct bins each. That is all there is to *simple
//! hashing*. A party that handles an item in each of its bins (the sender of a protocol on Cuckoo
//! hashing) walks over its items and takes bins 0, 1 and 2 of each. It never needs the items sorted
//! by bin. [`CuckooTable`] puts each item of the other party into one of its bins, at most one item
//! per bin.
//!
//! [`SimpleHasher`] has one bin per item, and [`SimpleTable`] holds all items of each bin.
//! [`Permutations`] map short items to three bins as [`BinHasher`] does, and to the rest of the
//! item: bin and rest together determine the item, so only the rest must be compared.
//!
//! Sizes come from [`psijoin_params::cuckoo`] and [`psijoin_params::simple`], which also bound how
//! often a table cannot be built. [`TwoChoiceTable`] puts each item into one of two bins of many
//! items, with hardly any place left free.
//!
//! [`bloom`] computes the cells of items in a Bloom filter, and what a *garbled* one (which has a
//! string in each cell) gives for an item. [`garbled_bloom`] makes one that gives chosen values.
//!
//! [`okvs`] works the other way round: a set is laid out as one vector over a field, and a linear
//! function of each item takes it to a value of the item. [`poly`] is the oldest such layout, and
//! the shortest: a polynomial.
//!
//! ```
//! use psijoin_encode::{DigestVec, Digests, SimpleHasher};
//!
//! let digests = [[1; 32], [2; 32], [3; 32], [2; 32]];
//! let mut bins = [0; 4];
//! SimpleHasher::new([9; 16], 100).hash(Digests::Long(&digests), &mut bins);
//! assert_eq!(bins[1], bins[3]);
//!
//! let mut chosen = DigestVec::zeroed(0, 32);
//! chosen.gather(Digests::Long(&digests), [3, 0].into_iter());
//! assert_eq!(chosen.as_digests(), Digests::Long(&[[2; 32], [1; 32]]));
//! ```

#![forbid(unsafe_code)]

pub mod bloom;
mod cuckoo;
pub mod digests;
mod error;
pub mod garbled_bloom;
mod hashing;
pub mod okvs;
mod permutation;
pub mod poly;
mod simple;
#[cfg(test)]
mod testing;
mod two_choice;

pub use cuckoo::{CuckooTable, Placed};
pub use digests::{DigestBuffer, DigestVec, Digests};
pub use error::Error;
pub use hashing::{BinHasher, CHOICES};
pub use permutation::{Permutations, Place};
pub use simple::{SimpleHasher, SimpleTable};
pub use two_choice::{Chosen, TwoChoiceHasher, TwoChoiceTable};
