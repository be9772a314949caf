//! `spot_low`: sparse OT extension with one polynomial. The least traffic of the protocols that are
//! built on OT alone.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Pinkas, Rosulek, Trieu, Yanai, *SpOT-Light* (CRYPTO 2019): Figure 5, with §3.5
//! (compressed masks) and §5 (slices that are streamed, and reuse of the subproduct tree). Sender =
//! Alice, receiver = Bob.
//!
//! *Offline.*
//! 1. The sender draws s ∈ {0,1}^ℓ.
//! 2. By ℓ random OTs (IKNP, on 128 base OTs) it gets one seed of each pair of the receiver's.
//!
//! *Online.*
//! 3. The receiver computes R(y) = T(y) ⊕ U(y) for its items y (see `spot`).
//! 4. It interpolates P(y) = R(y), slice by slice, and sends each slice as soon as it has it.
//! 5. The sender evaluates each slice at its items, and sends the masks
//!    H(Q(x) ⊕ s·P(x), x), sorted.
//! 6. The receiver's own value is H(T(y), y): y is shared if its mask is among them.
//!
//! **Deviations.**
//! - F, the field, and the input of H: see `spot`.
//! - Coefficients are those of the additive FFT's basis, with a polynomial of degree i in place of
//!   each power x^i ([`psijoin_encode::poly`]). The map between the two is linear and bijective, so
//!   a uniform polynomial is uniform in either.
//! - Masks are sorted and coded as differences, as Elias and Fano did: about
//!   σ + log2(n_receiver) + 3 bits each, where §3.5 has 1.02·(σ + log2(n_receiver) + 2).
//! - Seeds of all public functions come from the joint seed, which is fixed after both sets.
//!
//! **Security.** Semi-honest: Theorem 1; AES is a PRF, H is Hamming correlation robust.
//!
//! `spot_low_malicious_sender`: the sender may deviate in any way. In Theorem 2 the simulator takes
//! the sender's items from its queries to F, a random oracle. Here F is a PRF, and the items are
//! taken from queries to H, a random oracle that also takes the item. An item x is the sender's if
//! the sender queries (Q(x) ⊕ s·P(x), x). The simulator recognises that query, since it knows s and
//! the sender's seeds. For an item y of the receiver that the sender did not query, H(T(y), y) is
//! uniform, and among the sender's masks with probability n_sender/2^128. The sender's view is
//! simulated by uniform polynomials, as above: it lacks a seed of each pair, whatever it does in
//! the OTs, which are SoftSpokenOT's with their check.
//!
//! Two more things change:
//! - Digests have 256 bits, or a sender that knows the salt could find two items with one digest.
//!   Points and selectors still come from half of it, since only the receiver's need be distinct.
//! - Masks have 128 bits, or the sender could search for two items that have one mask, and so take
//!   part with more items than it announced.
//!
//! Nothing protects the sender from a malicious *receiver*.
//!
//! Both learn the set sizes.
//!
//! **Cost.** Four flights, malicious six. Offline 8.3 KiB and 16 bytes per column; online
//! ℓ·n_receiver bits and the masks. Time is quasi-linear, memory linear in n.

use psijoin_psi::{Adversary, Info, Protocol};

mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use params::Params;
use receiver::Receiver;
use sender::Sender;

/// The protocol for semi-honest parties.
pub static SPOT_LOW: Protocol =
    Protocol::new(&INFO, |request| Ok(Params::semi_honest(request)?.plan())).on_base_ots();

/// The protocol for a sender that may be malicious.
pub static SPOT_LOW_MALICIOUS_SENDER: Protocol = Protocol::new(&MALICIOUS_SENDER_INFO, |request| {
    Ok(Params::malicious_sender(request)?.plan())
})
.on_base_ots();

static INFO: Info = Info {
    name: "spot-low",
    summary: "sparse OT extension, one polynomial: little traffic, slow",
    paper: "SpOT19",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

static MALICIOUS_SENDER_INFO: Info = Info {
    name: "spot-low-malicious-sender",
    summary: "spot-low, secure if the sender cheats",
    paper: "SpOT19",
    adversary: Adversary::MaliciousSender,
    leaks: "set sizes",
    version: 1,
};

/// Buckets whose rows one task expands: half a megabyte with their columns.
const BUCKETS_PER_TASK: usize = 32;
