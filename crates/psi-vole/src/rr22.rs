//! `rr22`: an oblivious PRF from a key-value store and subfield vector OLE. The default.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Raghuraman and Rindal, *Blazing Fast PSI* (CCS 2022, ePrint 2022/320), Figure 11;
//! with malicious parties Rindal and Schoppmann, *VOLE-PSI* (EUROCRYPT 2021), Figure 4. B is
//! GF(2^64) or F = GF(2^128); with m the length of the store:
//!
//! *Offline.*
//! 1. Silent vector OLE: the sender gets Δ ∈ F and b ∈ F^m, the receiver a ∈ B^m and c ∈ F^m
//!    with c = b + Δ·a.
//!
//! *Online.* The joint seed gives both the functions row, H_B and H_o.
//! 2. The receiver encodes: p ∈ B^m with Decode(p, y) = H_B(y) for all its items y.
//! 3. It sends a + p, bin by bin. The sender adds Δ·(a + p) to its b, so that then
//!    c = b + Δ·p.
//! 4. For each of its items x the sender computes H_o(Decode(b, x) + Δ·H_B(x), x), and sends
//!    a mask of each, sorted.
//! 5. The receiver's own value is H_o(Decode(c, y), y): y is shared if its mask is among them.
//!
//! With malicious parties, before step 2 the sender commits to w_s and the receiver sends w_r;
//! after step 3 the sender opens w_s; both add w = w_s + w_r to what they hash in steps 4
//! and 5. The vector OLE has its checks, B = F, masks have 128 bits, and digests 256.
//!
//! **Deviations.**
//! - *The width of B.* See `docs/rr22.md` for the proof that log2|B| ≥ σ + log2(n_sender) (and
//!   what the budget adds) is enough, where the paper asks for log2(n_receiver) bits more.
//! - The store's bounds are proved and hold for all bins together
//!   ([`psijoin_params::okvs`]); its dense columns are over GF(2^64).
//! - Keys of row and H_B come from the joint seed, fixed after both sets, and not from the
//!   receiver. Row and H_B are different words of one hash.
//! - H_o takes the item in both models, where the paper leaves it out for semi-honest parties.
//! - Masks are sorted and coded as differences; what the paper sends in the order of
//!   its input would tell it.
//!
//! **Security.** Semi-honest: H_o is correlation robust for x ↦ v + Δ·x; dual LPN (`ot::vole`).
//! Malicious: H_B and H_o are random oracles. A malicious receiver that solves for the whole
//! store gets up to m items instead of n (and, with work that grows exponentially in their number,
//! some more: see `docs/rr22.md`); a malicious sender can only choose its own items. Both learn
//! the set sizes.
//!
//! **Cost.** Three flights, step 3 being under way before the receiver has its c; five if the phases
//! run one by one; malicious nine. The vector OLE takes about 400 kilobytes (malicious 800); online
//! m·log2|B| bits, m = 1.27·n_receiver or so, and about σ + log2(n_receiver) + 2 bits a mask.

use crate::{Adversary, Error, Info, Plan, Protocol, Request};

mod joint_coin;
mod params;
mod receiver;
mod sender;

// For its bench: nothing to build on.
#[doc(hidden)]
pub use crate::oprf::Functions;
pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// The entry of the registry for semi-honest parties.
pub struct Rr22;

/// The entry of the registry for parties that may be malicious.
pub struct Rr22Malicious;

static INFO: Info = Info {
    name: "rr22",
    summary: "key-value store and vector OLE: fastest, least traffic",
    paper: "RR22",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

static MALICIOUS_INFO: Info = Info {
    name: "rr22-malicious",
    summary: "rr22, secure if a party cheats",
    paper: "RR22, RS21",
    adversary: Adversary::Malicious,
    leaks: "set sizes",
    version: 1,
};

impl Protocol for Rr22 {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::semi_honest(request)?))
    }
}

impl Protocol for Rr22Malicious {
    fn info(&self) -> &'static Info {
        &MALICIOUS_INFO
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::malicious(request)?))
    }
}

#[cfg(test)]
mod tests;
