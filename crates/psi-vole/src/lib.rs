//! Private set intersection from vector OLE and key-value stores.
//!
//! | protocol | what it is |
//! |---|---|
//! | [`RR22`](rr22::RR22) | an oblivious PRF; masks of its outputs are compared. The default |
//! | [`RR22_MALICIOUS`](rr22::RR22_MALICIOUS) | the same, secure if a party cheats |
//! | [`RR22_CIRCUIT`](rr22_circuit::RR22_CIRCUIT) | a function of the intersection, from the same PRF, programmed |

#![forbid(unsafe_code)]

pub mod rr22;
pub mod rr22_circuit;

mod oprf;

use psijoin_psi::Protocol;

/// The protocols of this crate, in the order of their papers.
pub const PROTOCOLS: &[&Protocol] = &[
    &rr22::RR22,
    &rr22::RR22_MALICIOUS,
    &rr22_circuit::RR22_CIRCUIT,
];
