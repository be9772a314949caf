//! `rr22`: an oblivious PRF from a key-value store and subfield vector OLE. The default.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Raghuraman and Rindal, *Blazing Fast PSI* (CCS 2022, ePrint 2022/320), Figure 11;
//! with malicious parties Rindal and Schoppmann, *VOLE-PSI* (EUROCRYPT 2021), Figure 4. F is
//! GF(2^128), and B is F, its subfield GF(2^64), or a vector space over GF(2) of 58 to 80 bits
//! within one of these. m is the length of the store.
//!
//! *Offline.*
//! 1. Silent vector OLE: the sender gets Δ ∈ F and b ∈ F^m, the receiver a ∈ B^m and c ∈ F^m
//!    with c = b + Δ·a.
//!
//! *Online.* The joint seed gives both parties the functions row, H_B and H_o.
//! 2. The receiver encodes its items: p ∈ B^m with Decode(p, y) = H_B(y) for each item y.
//! 3. It sends a + p, segment by segment. The sender adds Δ·(a + p) to its b. Now c = b + Δ·p.
//! 4. For each of its items x the sender computes H_o(Decode(b, x) + Δ·H_B(x), x), and sends
//!    a mask of each, sorted.
//! 5. The receiver's own value is H_o(Decode(c, y), y): y is shared if its mask is among them.
//!
//! With malicious parties, before step 2 the sender commits to w_s and the receiver sends w_r.
//! After step 3 the sender opens w_s. Both add w = w_s + w_r to what they hash in steps 4
//! and 5. The vector OLE has its checks, B has 80 bits or more, masks have 128, and digests 256.
//!
//! *Payloads.* If something travels with the items, what is hashed in steps 4 and 5 is the output
//! of an oblivious PRF, and the [steps of `payloads`](psijoin_psi::payloads) take the place of the
//! masks.
//!
//! **Deviations.**
//! - *The width of B.* `docs/rr22.md` proves that log2|B| ≥ σ + log2(n_sender) (and what the
//!   budget adds) is enough, and that B need not be a field. The paper asks for log2(n_receiver)
//!   bits more.
//! - The store has no clusters: rows are spatially coupled, which takes fewer elements. Its bound
//!   is proved ([`psijoin_params::okvs`]). The coefficients of its dense columns are bits.
//! - The keys of row and H_B come from the joint seed, which is drawn after both sets are fixed,
//!   and not from the receiver. Row and H_B are different bits of one hash.
//! - H_o takes the item in both models. The paper leaves it out for semi-honest parties.
//! - Masks are sorted and coded as differences. The paper sends them in the order of the input,
//!   which this would give away.
//!
//! **Security.** Semi-honest: H_o is correlation robust for x ↦ v + Δ·x; dual LPN
//! ([`psijoin_ot::vole`]). Malicious: H_B and H_o are random oracles. A malicious receiver that
//! solves for the whole store gets up to m items instead of n, and more for work, up to a bound
//! ([`psijoin_params::overfitting`]). A malicious sender can only choose its own
//! items. Both learn the set sizes.
//!
//! **Cost.** Three flights if the phases run at once, since step 3 is under way before the
//! receiver has its c. Five if they run one by one; malicious nine. The vector OLE takes about 400
//! kilobytes (malicious 500). Online: m·log2|B| bits, with m about 1.1·n_receiver, and about
//! σ + log2(n_receiver) + 2 bits per mask.

use psijoin_psi::{Adversary, Info, OutputKind, Protocol};

mod joint_coin;
mod malicious;
mod params;
mod receiver;
mod sender;

pub use params::Params;

use receiver::Receiver;
use sender::Sender;

/// For semi-honest parties.
pub static RR22: Protocol =
    Protocol::new(&INFO, |request| Ok(Params::semi_honest(request)?.plan()))
        .computing(rows_or_payloads)
        .on_base_ots();

/// For parties that may be malicious.
pub static RR22_MALICIOUS: Protocol = Protocol::new(&MALICIOUS_INFO, |request| {
    Ok(Params::malicious(request)?.plan())
})
.computing(rows_or_payloads)
.on_base_ots();

fn rows_or_payloads(output: &OutputKind) -> bool {
    matches!(output, OutputKind::Rows | OutputKind::Payloads(_))
}

static INFO: Info = Info {
    name: "rr22",
    summary: "key-value store and vector OLE: fastest, least traffic",
    paper: "RR22",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 4,
};

static MALICIOUS_INFO: Info = Info {
    name: "rr22-malicious",
    summary: "rr22, secure if a party cheats",
    paper: "RR22, RS21",
    adversary: Adversary::Malicious,
    leaks: "set sizes",
    version: 3,
};

#[cfg(test)]
mod tests;
