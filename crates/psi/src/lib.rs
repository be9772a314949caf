//! The private set intersection protocols, on one platform and behind one interface.
//!
//! Two parties hold a set each. The *sender* helps; the *receiver* learns which of its items
//! the sender has too. Both learn the sizes of the sets, and nothing else.
//!
//! | layer | what lives there |
//! |---|---|
//! | [`protocol`] | the interface: [`Protocol`] → [`Plan`] (parameters, cost) → [`Prepared`] (offline, then online) |
//! | [`registry`] | all protocols by name |
//! | [`naive`], [`dh`], [`rsa`], [`psz`], [`pssz`], [`gbf`], [`random_gbf`], [`circuit_psi`], [`kk20`], [`kkrt`], [`spot_fast`], [`spot_low`], [`cm20`], [`rr22`], [`rr22_circuit`] | one module a protocol: its driver reads like the paper's figure |
//! | [`psm_co`] | tests of equality whose results nobody sees, of [`kk20`] |
//! | [`auto`] | takes one of them by the sizes of the sets |
//! | [`items`] | fixed-size digests of items, under a salt of both parties |
//! | [`shares`] | shares of the intersection, circuits over them, and files of them |
//! | [`pair`] | both parties in one process, for tests, benches and demonstrations |
//!
//! ```
//! use psijoin_psi::{Items, Output, Request, pair, registry};
//!
//! let protocol = registry::find("kkrt").expect("it is registered");
//! let fingerprint = |name: &str| *blake3::hash(name.as_bytes()).as_bytes();
//! let senders: Vec<_> = ["ann", "bob", "eve"].map(fingerprint).into();
//! let receivers: Vec<_> = ["bob", "joe", "ann"].map(fingerprint).into();
//!
//! let request = Request::rows(senders.len() as u64, receivers.len() as u64)?;
//! let plan = registry::plan(protocol, &request)?;
//! let outcome = pair::run(&*plan, &senders, &receivers)?;
//! assert_eq!(outcome.receiver, Output::Rows(vec![0, 2]));
//! # Ok::<(), psijoin_psi::Error>(())
//! ```

pub mod auto;
pub mod circuit_psi;
pub mod cm20;
pub mod dh;
pub mod gbf;
pub mod items;
pub mod kk20;
pub mod kkrt;
pub mod naive;
pub mod pair;
pub mod protocol;
pub mod psm_co;
pub mod pssz;
pub mod psz;
pub mod random_gbf;
pub mod registry;
pub mod rr22;
pub mod rr22_circuit;
pub mod rsa;
pub mod shares;
// For its bench: nothing to build on.
#[doc(hidden)]
pub mod sorted_masks;
pub mod spot;
pub mod spot_fast;
pub mod spot_low;

mod ahead;
mod basis;
mod bins;
mod cost;
mod decided;
mod error;
mod full_domain;
mod functions;
mod garbled;
mod masks;
mod oprf;
mod ot_matrix;
mod output;
mod output_hash;
mod stream;
#[cfg(test)]
mod testing;

pub use cost::{Cost, Traffic};
pub use error::{Error, ErrorKind};
pub use items::{Fingerprint, Items};
pub use output::{Columns, Output, OutputKind};
pub use protocol::{
    Adversary, Context, Info, Input, Observer, Parameter, Party, Plan, Prepared, Protocol, Request,
    Role, prepare, run,
};
pub use shares::Shares;
