//! `spot_fast`: sparse OT extension in bins. More traffic than `spot_low`, and much less time.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Pinkas, Rosulek, Trieu, Yanai, *SpOT-Light* (CRYPTO 2019): Figure 7, with Algorithm
//! 1 (2-choice hashing) and §5 (slices). Sender = Alice, receiver = Bob. With m bins of capacity c:
//!
//! *Offline.*
//! 1. The sender draws s ∈ {0,1}^ℓ.
//! 2. By ℓ random OTs (IKNP, on 128 base OTs) it gets one seed of each pair of the receiver's.
//!
//! *Online.*
//! 3. The receiver places each item y in one of its two bins. From then on it is y‖b, where b is
//!    the number of the hash function that led there.
//! 4. For each bin it interpolates a polynomial of degree below c with P(y‖b) = R(y‖b) for the
//!    items there (`spot` defines R), and random values at random points for the dummies that fill
//!    the bin up. It sends the polynomial.
//! 5. For each item x and both b, the sender evaluates the polynomial of bin h_b(x) at x‖b, and
//!    sends the masks H(Q(x‖b) ⊕ s·P(x‖b), x), all of them sorted.
//! 6. The receiver's own value is H(T(y‖b), y): y is shared if its mask is among them.
//!
//! **Deviations.**
//! - F, the field, and the input of H: see `spot`. A bin has one bucket, which it
//!   shares with others. F is then the product of the selector with one AES block per column.
//! - Appending b is to use another function of the item: points and selectors come from AES under
//!   one key for each b. So x‖1 and x‖2 are as unrelated as different items, whatever the items
//!   are.
//! - Bins are of some ten places, where the paper has 41, and less than a hundredth of the places
//!   of large sets have dummies. The shape is the cheapest of those with a proved bound
//!   ([`psijoin_params::two_choice`]); a placement is found whenever there is one.
//! - Several bins share a bucket, whose rows are expanded once.
//! - Masks are sorted and coded as differences. There is one list for both b, of twice the masks.
//! - Seeds of all public functions come from the joint seed, which is fixed after both sets.
//!
//! **Security.** Semi-honest: Theorem 5; AES is a PRF, H is Hamming correlation robust. Both learn
//! the set sizes. A sender that cheats could find out in which bin an item is. Only `spot_low` has
//! a version against that.
//!
//! **Cost.** Four flights. Offline 8.3 KiB and 16 bytes per column; online ℓ·m·c bits, some 1.01·ℓ
//! per item of the receiver, and two masks of about σ + log2(n_receiver) + 3 bits for each of the
//! sender.

use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::{Digests, TwoChoiceHasher};
use psijoin_psi::{Adversary, Info, Protocol};

use crate::spot;

mod params;
mod receiver;
mod sender;
mod simple;
#[cfg(test)]
mod tests;

pub use params::Params;
use receiver::Receiver;
use sender::Sender;

/// The protocol.
pub static SPOT_FAST: Protocol =
    Protocol::new(&INFO, |request| Ok(Params::new(request)?.plan())).on_base_ots();

static INFO: Info = Info {
    name: "spot-fast",
    summary: "sparse OT extension in bins: less traffic than kkrt",
    paper: "SpOT19",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 2,
};

/// h_1 and h_2, which both parties expand from the joint seed.
struct Bins {
    hasher: TwoChoiceHasher,
    /// m.
    count: u32,
}

impl Bins {
    fn new(params: &Params, joint_seed: &JointSeed) -> Self {
        let seed = joint_seed.short_key("psijoin 2026 spot bins");
        let count = params.shape.bins;
        Self {
            hasher: TwoChoiceHasher::new(seed, count),
            count,
        }
    }

    /// Computes both bins of each item.
    fn hash(&self, digests: Digests<'_>, choices: &mut [[u32; 2]]) {
        let blocks: Vec<_> = spot::blocks(digests).collect();
        self.hasher.hash(&blocks, choices);
    }
}
