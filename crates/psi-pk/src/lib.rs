//! Protocols that take a public-key operation per item, and the insecure baseline that takes a
//! hash.
//!
//! | protocol | method | adversary |
//! |---|---|---|
//! | [`naive`] | the sender sends salted hashes | insecure |
//! | [`dh`], `dh-ffdhe3072` | Diffie-Hellman, over ristretto255 or ffdhe3072 | semi-honest |
//! | [`rsa`] | blind RSA signatures | semi-honest |
//!
//! [`dh_oprf`] is the oblivious PRF of `dh` with payloads, for itself.
//!
//! Each ends with a comparison of masks. Everything except the length of messages follows from
//! [`MaskParams`](psijoin_psi::mask_params::MaskParams).

#![forbid(unsafe_code)]

pub mod dh;
pub mod dh_oprf;
pub mod naive;
pub mod rsa;

mod compare;
mod uniform_hash;

use psijoin_psi::Protocol;

/// The protocols of this crate, in the order of their papers.
pub const PROTOCOLS: &[&Protocol] = &[&naive::NAIVE, &dh::DH, &dh::DH_FFDHE3072, &rsa::RSA];
