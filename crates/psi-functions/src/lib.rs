//! Functions of an intersection: by a circuit over both sets, or from secret shares of one bit per
//! item.
//!
//! | module | protocols |
//! |---|---|
//! | [`circuit_psi`] | `circuit-yao`, `circuit-gmw`, `circuit-gmw-vector`, `circuit-gmw-vector-silent` |
//!
//! | module | contents |
//! |---|---|
//! | [`bins`] | Cuckoo bins without a stash, and the keys of items in them |
//! | [`dpf`] | sums per shared point, by distributed point functions |
//! | [`gmw_equality`] | equality of numbers, by a circuit under GMW |
//! | [`functions`] | from shares of which items are shared to rows, counts, sums and shares |
//! | [`shares`] | circuits over the shares that a run gives both parties |
//!
//! The protocols that make shares, `rr22-circuit`, `psty19`, `kk20`, `kk20-psm` and `co18-psm`,
//! live with their families.
//!
//! # How it is built
//!
//! - *Shares first.* `rr22_circuit` and `kk20` end with one bit per bin on either side, whose XOR
//!   is 1 if the item there is shared. `functions` makes the output from them, whatever protocol
//!   they come from.
//! - *Each output in the cheapest way.* Rows: the sender opens its bits. Count: each bit times 1,
//!   as short shares by correlated OT (`products`), added up locally. Threshold: the
//!   two sums go into a garbled circuit, which shows one bit. A minimum is the same circuit, shown
//!   to both before anything is opened.
//! - *A sum is a count of something else.* Each bit is multiplied by a number instead of 1. The
//!   receiver has the numbers of its own columns in its bins; of the sender's it has halves, hinted
//!   like the targets of the equality tests, so that a product is made in either direction. One OT
//!   per bit serves all columns.
//! - *A group is a point* (`dpf`): a sum by groups is that of one distributed point function per
//!   bin, grown by both parties, whoever knows the group. An item that is not shared is led to a
//!   sink, so that no number needs a product with the bit of its bin.
//! - *Shares are what is left if nothing is opened* (`psi-functions`' `shares`): with a file
//!   format, and a call that garbles a circuit of the caller's over them. The circuit is a type
//!   with a generic method, for the same reason as all circuits here.
//! - *One path to every output.* `functions::Function` holds what a request takes; the drivers of
//!   both parties, and the cost, follow from it. The tests run every kind of output of every
//!   protocol against a plain join, and look for bits in either party's view that tell whether an
//!   item is shared (`views`).
//! - *Numbers are exact.* `table` turns a column of decimals into integers of one scale, and makes
//!   sure that no sum over any of the keys overflows. So the protocol can add modulo 2^64, and the
//!   program prints the result as a decimal.
//! - *Bins and keys* (`bins`) are the same for `rr22_circuit` and `kk20`: Cuckoo hashing without a
//!   stash, a key for each item and function.
//! - *Walks, not circuits* (`psm_co`): `kk20` tests equality by a walk through two nodes per bit. A
//!   form determines the ciphertexts, as published or row-reduced; the walk is written once.
//! - *Lookups, not gates.* Equality of 61 bits is 20 lookups in tables of 16 entries, in six
//!   flights, by `circuit::equality`.

#![forbid(unsafe_code)]

pub mod bins;
pub mod circuit_psi;
pub mod dpf;
pub mod functions;
pub mod gmw_equality;
pub mod shares;

mod garbling;
mod gmw;
mod products;

use psijoin_psi::Protocol;

/// The protocols of this crate, in the order of their papers.
pub const PROTOCOLS: &[&Protocol] = &[
    &circuit_psi::CIRCUIT_YAO,
    &circuit_psi::CIRCUIT_GMW,
    &circuit_psi::CIRCUIT_GMW_VECTOR,
    &circuit_psi::CIRCUIT_GMW_VECTOR_SILENT,
];
