//! Functions of an intersection: by a circuit over both sets, or from shares of which items are shared.
//!
//! | module | protocols |
//! |---|---|
//! | [`circuit_psi`] | `circuit-yao`, `circuit-gmw`, `circuit-gmw-vector`, `circuit-gmw-vector-silent` |
//!
//! | module | what lives there |
//! |---|---|
//! | [`bins`] | Cuckoo bins without a stash, and the keys of items in them |
//! | [`functions`] | from shares of which items are shared to rows, counts, sums and shares |
//! | [`shares`] | circuits over the shares that a run gives both parties |
//!
//! The protocols that make shares, `rr22-circuit` and `kk20`, live with their families.

#![forbid(unsafe_code)]

pub mod bins;
pub mod circuit_psi;
pub mod functions;
pub mod shares;

mod garbling;

use psijoin_psi::Protocol;

/// The protocols of this crate, in the order of their papers.
pub const PROTOCOLS: &[&Protocol] = &[
    &circuit_psi::CIRCUIT_YAO,
    &circuit_psi::CIRCUIT_GMW,
    &circuit_psi::CIRCUIT_GMW_VECTOR,
    &circuit_psi::CIRCUIT_GMW_VECTOR_SILENT,
];
