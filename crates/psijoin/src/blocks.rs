//! The parts that protocols are made of, to be used for themselves: oblivious PRFs, a key-value
//! store, distributed point functions, oblivious transfer and vector OLE. The protocols of the
//! [`registry`](crate::registry) stand on this very code.
//!
//! | module | contents | used by |
//! |---|---|---|
//! | [`batched_oprf`] | many pseudorandom functions; the receiver evaluates each once (KKRT16) | `kkrt` |
//! | [`multi_point_oprf`] | one function, evaluated at a set, from OT and a bit matrix (CM20) | `cm20`, `cm20-malicious-sender` |
//! | [`vole_oprf`] | one function, evaluated at a set, from vector OLE and a key-value store (RR22) | `rr22`, `rr22-circuit` |
//! | [`dh_oprf`] | one function with a key that is kept, from Diffie-Hellman | `dh` with payloads |
//! | [`opprf`] | one-time and batch oblivious programmable PRFs (KK20) | `kk20` |
//! | [`dpf`] | sums per shared point, by distributed point functions | `rr22-circuit` with groups |
//! | [`okvs`] | a vector that gives chosen keys their values, and hides the keys | `rr22` |
//! | [`ot`] | base OT, OT extension, silent OT: [`ot::silent`] | all but `dh`, `rsa`, `naive` |
//! | [`vole`] | vector OLE over GF(2^128), also with one vector over a part of it | `rr22` |
//!
//! All but [`okvs`] are drivers over a [`Channel`](crate::Channel), for one party each: both must
//! call their halves at the same time, with the same parameters. Their parameters are derived from
//! the sizes and a bound on the probability of failure, and they tell their exact cost. Each
//! module's page has its functionality, source, deviations and security; `docs/blocks.md` has an
//! example of each.
//!
//! Items are [`Digests`]: hash yours to 16 or 32 bytes. Where a function takes a
//! [`JointSeed`](crate::JointSeed), both must have fixed their items before they
//! [draw it](crate::JointSeed::agree).
//!
//! The interface of these modules may change with any release, as the protocols need it.

pub use psijoin_block::{
    Block, Prg,
    tower::{Element, Gf64, Subspace, Tower},
};
pub use psijoin_encode::{DigestVec, Digests, Error as EncodeError};
pub use psijoin_ot::{self as ot, vole};
pub use psijoin_psi::masks::MaskLength;
pub use psijoin_psi_bloom::opprf;
pub use psijoin_psi_functions::dpf;
pub use psijoin_psi_ot::{batched_oprf, multi_point_oprf};
pub use psijoin_psi_pk::dh_oprf;
pub use psijoin_psi_vole::vole_oprf;

/// A key-value store, and its sizes.
pub mod okvs {
    pub use psijoin_encode::okvs::{Decoder, Encoder, Items, Partition, Row, RowHasher, Store};
    pub use psijoin_params::okvs::{Shape, failure, smallest};
}
