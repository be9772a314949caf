//! Security levels, failure bounds, and every parameter derived from them.
//!
//! Pure arithmetic, no I/O. No other crate holds a width, a table size or a mask length
//! as a literal: it asks here, with the sizes of the run and a share of its failure
//! budget. The published tables (KKRT16 Table 2, SpOT19 Figure 6, CM20 Table 1) are in the tests
//! only, where they check the formulas.
//!
//! | module | parameters | source |
//! |---|---|---|
//! | [`bloom`] | slices and cells of a Bloom filter | PSZ14 §4.1; proof in the module |
//! | [`code`] | width of a pseudorandom code | KKRT16 §3.2, §6.1; SpOT19 §3.3 |
//! | [`cm20`] | bins and width of CM20's matrix | CM20 §3.3; proof in the module |
//! | [`cuckoo`] | bins and stash of 3-way Cuckoo hashing | proof in the module |
//! | [`digest`] | length of the digests that represent items | birthday bound |
//! | [`domain`] | bits of the numbers that represent items in a circuit | PSZ14 Appendix A |
//! | [`equality`] | bits of numbers that are tested for equality | union bound over the tests |
//! | [`garbled_bloom`] | cells of a Bloom filter whose strings are transferred | PSZ14 §4.1; proof in the module |
//! | [`key_encapsulation`] | parameter set of ML-KEM | FIPS 203, core-SVP |
//! | [`letters`] | bytes of an item where each takes an OT | PSZ14 Appendix A |
//! | [`lpn`] | noise points under silent OT and VOLE | argument in the module |
//! | [`mask`] | length of the masks that are compared | KKRT16 §6.1 |
//! | [`numbers`] | fingerprints of items that are numbers | – |
//! | [`public_key`] | lengths of moduli and exponents | NIST SP 800-57, RFC 7919 |
//! | [`okvs`] | bins, slots and dense columns of an oblivious key-value store | RR22; proof in the module |
//! | [`overfitting`] | items that a malicious receiver can put into such a store | proof in the module |
//! | [`parts`] | parts of a large session, and the room for items in each | proof in the module |
//! | [`simple`] | bins of simple hashing, and the room for items in each | PSZ14 §6.1; proof in the module |
//! | [`sparse_ot`] | points and buckets of sparse OT extension | proof in the module |
//! | [`two_choice`] | bins of 2-choice hashing | SpOT19 §4.2; proof in the module |
//!
//! # How a run stays under 2^-σ
//!
//! A run has several statistical failure events. A protocol's parameters keep one
//! [`FailureBudget`]: for each event it takes a share, asks the module above for the
//! smallest width that keeps within the share, and charges the *bound actually reached*.
//! The last event may have all that remains. Going over 2^-σ is an error.
//!
//! ```
//! use psijoin_params::{FailureBudget, Security, Sizes, code, mask};
//!
//! # fn main() -> Result<(), psijoin_params::Error> {
//! let sizes = Sizes::new(1 << 20, 1 << 20)?;
//! let mut budget = FailureBudget::new(Security::default());
//!
//! let evaluations = 3 * sizes.sender();
//! let width_bits = code::width_bits(evaluations, budget.share(0.25))?;
//! budget.charge("code distance", code::near_collision(width_bits, evaluations))?;
//!
//! let comparisons = u128::from(sizes.sender()) * u128::from(sizes.receiver());
//! let mask_bits = mask::bits(comparisons, budget.remaining())?;
//! budget.charge("mask collision", mask::collision(comparisons, mask_bits))?;
//!
//! assert_eq!((width_bits, mask_bits), (443, 81));
//! println!("{budget}");
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod binomial;
pub mod bloom;
pub mod cm20;
pub mod code;
pub mod cuckoo;
pub mod digest;
pub mod domain;
pub mod equality;
pub mod garbled_bloom;
pub mod key_encapsulation;
pub mod letters;
pub mod lpn;
pub mod mask;
pub mod numbers;
pub mod okvs;
pub mod overfitting;
pub mod parts;
pub mod public_key;
pub mod simple;
pub mod sparse_ot;
pub mod two_choice;

mod budget;
mod error;
mod ln_sum;
mod probability;
mod role;
mod search;
mod security;

pub use budget::{Event, FailureBudget};
pub use error::Error;
pub use probability::Log2Prob;
pub use role::Role;
pub use security::{Security, Sizes};
