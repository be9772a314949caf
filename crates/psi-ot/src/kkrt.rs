//! `kkrt`: batched oblivious PRF from OT extension with a pseudorandom code.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Kolesnikov, Kumaresan, Rosulek, Trieu (CCS 2016): Figure 2 (BaRK-OPRF) and
//! Figure 3 (PSI). Sender = Alice, receiver = Bob. With w the code width, b bins, s stash:
//!
//! *Offline.*
//! 1. The sender draws Δ ∈ {0,1}^w. By w random OTs (IKNP, on 128 base OTs) it gets one seed
//!    of each pair of the receiver's.
//!
//! *Online.*
//! 2. Both expand hash functions h_0, h_1, h_2 and the code C from the joint seed. The
//!    receiver places each item y in a bin h_z(y), or in the stash.
//! 3. For bin j with (y, z) the receiver takes rows j of T_0 and T_1, expanded from its seed
//!    pairs, and sends u_j = T_0 ⊕ T_1 ⊕ C(y, z). The sender, which has expanded row j of its seeds
//!    to q, gets q_j = q ⊕ (u_j ∧ Δ) = T_0 ⊕ (C(y, z) ∧ Δ).
//! 4. The sender sends, for each of its items x, the masks F_{h_z(x)}(x, z) for z = 0, 1, 2 and
//!    F_j(x) for each stash place j, where F_j(x, z) = H(j, q_j ⊕ (C(x, z) ∧ Δ)), in an order
//!    drawn at random.
//! 5. The receiver's own value is H(j, T_0,j): y is shared if the sender's list for the same
//!    z (or stash place) has it.
//!
//! **Deviations.**
//! - The table: the three bins of an item are distinct, and bins and stash are derived from a
//!   proved bound (`psijoin_params::cuckoo`): 1.23 bins per item and no stash from a few
//!   thousand items on. The paper has 1.2 and a stash of 2 to 12. Each stash place would cost a
//!   mask per item of the sender.
//! - C and H are keyed BLAKE3, one row per lane: cheaper here than the paper's four AES calls.
//! - Seeds of h and C come from the joint seed, fixed after both sets, and not from one party.
//! - The matrix is not expanded offline: AES makes it faster than memory returns it.
//! - One random order for all lists, not one for each. The receiver learns the position of a shared
//!   item in its list z. The values at that position of the other lists belong to an input that it
//!   never evaluated, so they stay pseudorandom: a simulator that draws random positions for the
//!   shared items produces the same view.
//! - For an empty bin u_j has a code word of zeros: the sender lacks one of T_0 and T_1 in
//!   every column, so u_j is pseudorandom for it whatever the code word.
//! - The receiver does not return the result to the sender (step 6 of Figure 3).
//!
//! **Security.** Semi-honest; H is Hamming correlation robust (KKRT16 Definition 1). C keeps
//! all of the sender's 3·n (+ stash) code words at distance 128 or more from what the receiver
//! asked, within the failure budget (Lemma 1). Both learn the set sizes.
//!
//! **Cost.** Four flights. Offline 8.3 KiB and 16 bytes per column; online w/8 bytes per bin and
//! (3 + s)·n_sender masks of σ + 1 + log2(n_sender·n_receiver) bits.

use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::{BinHasher, CHOICES};
use psijoin_psi::{Adversary, Info, Protocol};

mod code;
mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use code::{Code, RowHash};
pub use params::Params;
use receiver::Receiver;
use sender::Sender;

/// The protocol.
pub static KKRT: Protocol = Protocol::new(&INFO, |request| Ok(Params::new(request)?.plan()));

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

/// The functions that both expand from the joint seed in step 2.
struct Functions {
    bins: BinHasher,
    code: Code,
    hash: RowHash,
}

impl Functions {
    fn new(params: &Params, seed: &JointSeed) -> Self {
        let bins = seed.short_key("psijoin 2026 kkrt bins");
        Self {
            bins: BinHasher::new(bins, params.shape.bins),
            code: Code::new(
                seed.key("psijoin 2026 kkrt code"),
                params.code_bits,
                params.row_shape().words,
            ),
            hash: RowHash::new(seed.key("psijoin 2026 kkrt masks"), params.masks),
        }
    }
}
