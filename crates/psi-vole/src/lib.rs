//! Private set intersection from vector OLE and key-value stores.
//!
//! | protocol | description |
//! |---|---|
//! | [`RR22`](rr22::RR22) | an oblivious PRF; masks of its outputs are compared. The default |
//! | [`RR22_MALICIOUS`](rr22::RR22_MALICIOUS) | the same, secure if a party cheats |
//! | [`RR22_CIRCUIT`](rr22_circuit::RR22_CIRCUIT) | a function of the intersection, from the same PRF, programmed |
//!
//! [`vole_oprf`] is the oblivious PRF of all three, for itself.
//!
//! # From LPN to rows
//!
//! Each layer has a header with its functionality, source, security and cost; `docs/rr22.md` has
//! the proofs that connect them.
//!
//! | module | gives | on top of |
//! |---|---|---|
//! | `params::lpn` | the number of noise points, and the reason for it | |
//! | `params::okvs` | the shape of the store, with a proved failure bound | |
//! | `params::overfitting` | the number of items that a malicious receiver can put into it | |
//! | `block::tower` | GF(2^64) ⊂ GF(2^128), the subfield in one half of a block, and spaces between them | |
//! | `block::scatter` | one pass that distributes elements to buckets | |
//! | `ot::small_field` | correlated bits, or vector OLE with chosen inputs, for a few thousand bits | base OT |
//! | `ot::pprf` | trees: all leaves to one party, all but one to the other | `small_field` |
//! | `ot::block_accumulate` | the binary code that compresses sparse correlations | `scatter` |
//! | `ot::vole`, `ot::silent` | vector OLE with entries of 64, 72, 80 or 128 bits; OT | the three above, `params::lpn` |
//! | `encode::okvs` | bins, rows, encoding, decoding | `params::okvs`, `tower` |
//! | `psi::sorted_masks` | masks that travel sorted, as differences | |
//! | `psi-vole`'s `rr22` | the protocol, in both models | all of these |
//!
//! - *Four widths, one source.* Values have as few of 64, 72, 80 and 128 bits as the proof allows:
//!   64 up to 2^23 items of the sender at σ = 40. Those between are no field, which nothing needs:
//!   the store's coefficients are bits, and products are taken in GF(2^128). The type of values is
//!   a parameter of vector OLE, store and drivers, chosen once by the plan.
//! - *Models are types.* `Sender<SemiHonest, _>` and `Sender<Malicious, _>`; the checks of one
//!   model cost the other nothing.
//! - *Bins* are units of everything: of solving, of threads, of messages, of the failure bound. The
//!   receiver decodes a bin while its rows are at hand, and sends it while the next is solved; the
//!   sender evaluates a bin as soon as it is there.
//! - *Sorting is the shuffle.* Sorted masks tell nothing about the sender's order, and their
//!   differences are shorter. The receiver merges two sorted lists, without a hash table.

#![forbid(unsafe_code)]

pub mod rr22;
pub mod rr22_circuit;
pub mod vole_oprf;

mod oprf;

use psijoin_psi::Protocol;

/// The protocols of this crate, in the order of their papers.
pub const PROTOCOLS: &[&Protocol] = &[
    &rr22::RR22,
    &rr22::RR22_MALICIOUS,
    &rr22_circuit::RR22_CIRCUIT,
];
