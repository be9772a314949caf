//! `kkrt`: the [batched oblivious PRF](crate::batched_oprf) of KKRT16 on Cuckoo hashing.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Kolesnikov, Kumaresan, Rosulek, Trieu (CCS 2016): Figure 2 (BaRK-OPRF) and
//! Figure 3 (PSI). Sender = Alice, receiver = Bob. With w the code width, b bins, s stash:
//!
//! *Offline.*
//! 1. The oblivious PRF's OTs, for code words of w bits.
//!
//! *Online.*
//! 2. Both expand hash functions h_0, h_1, h_2 from the joint seed. The receiver places each item y
//!    in a bin h_z(y), or in the stash.
//! 3. Bins and stash places have a function each. The receiver gets F_j(y, z) for the item y of bin
//!    j; the sender gets the functions.
//! 4. The sender sends, for each of its items x, the masks F_{h_z(x)}(x, z) for z = 0, 1, 2 and
//!    F_j(x) for each stash place j, in an order drawn at random.
//! 5. y is shared if the sender's list for the same z (or stash place) has the receiver's value.
//!
//! **Deviations.** Those of the oblivious PRF, and
//! - The table: the three bins of an item are distinct, and bins and stash are derived from a
//!   proved bound (`psijoin_params::cuckoo`): 1.23 bins per item and no stash from a few
//!   thousand items on. The paper has 1.2 and a stash of 2 to 12. Each stash place would cost a
//!   mask per item of the sender.
//! - Seeds of h come from the joint seed, fixed after both sets, and not from one party.
//! - One random order for all lists, not one for each. The receiver learns the position of a shared
//!   item in its list z. The values at that position of the other lists belong to an input that it
//!   never evaluated, so they stay pseudorandom: a simulator that draws random positions for the
//!   shared items produces the same view.
//! - The receiver does not return the result to the sender (step 6 of Figure 3).
//!
//! **Security.** Semi-honest, as the oblivious PRF is. All of the sender's 3·n (+ stash) code words
//! are at distance 128 or more from what the receiver asked, within the failure budget (Lemma 1).
//! Both learn the set sizes.
//!
//! **Cost.** Four flights. Offline 8.3 KiB and 16 bytes per column; online w/8 bytes per bin and
//! (3 + s)·n_sender masks of σ + 1 + log2(n_sender·n_receiver) bits.

use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::{BinHasher, CHOICES};
use psijoin_psi::{Adversary, Info, Protocol};

mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use params::Params;
use receiver::Receiver;
use sender::Sender;

/// The protocol.
pub static KKRT: Protocol =
    Protocol::new(&INFO, |request| Ok(Params::new(request)?.plan())).on_base_ots();

static INFO: Info = Info {
    name: "kkrt",
    summary: "OT extension with a pseudorandom code: fast, more traffic",
    paper: "KKRT16",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

/// The last input of the code for stash places; for bins it is the hash function's number.
const STASH: u8 = CHOICES as u8;

/// Returns the hash functions that both expand from the joint seed in step 2.
fn bins(params: &Params, seed: &JointSeed) -> BinHasher {
    let key = seed.short_key("psijoin 2026 kkrt bins");
    BinHasher::new(key, params.shape.bins)
}
