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
//!    pairs, and sends u_j = T_0 ⊕ T_1 ⊕ C(y, z). The sender, who has expanded row j of
//!    its seeds to q, gets q_j = q ⊕ (u_j ∧ Δ) = T_0 ⊕ (C(y, z) ∧ Δ).
//! 4. The sender sends, for each of its items x, the masks F_{h_z(x)}(x, z) for z = 0, 1, 2 and
//!    F_j(x) for each stash place j, where F_j(x, z) = H(j, q_j ⊕ (C(x, z) ∧ Δ)), in an order
//!    drawn at random.
//! 5. The receiver's own value is H(j, T_0,j): y is shared if the sender's list for the same
//!    z (or stash place) has it.
//!
//! **Deviations.**
//! - The table: the three bins of an item are distinct, and bins and stash are derived from a
//!   proved bound (`psijoin_params::cuckoo`): 1.23 bins an item and no stash from a few
//!   thousand items on, where the paper has 1.2 and a stash of 2 to 12. Each stash place
//!   would cost a mask for every item of the sender.
//! - C and H are keyed BLAKE3 on a row a lane, cheaper here than the paper's four AES calls.
//! - Seeds of h and C come from the joint seed, fixed after both sets, and not from one party.
//! - The matrix is not expanded offline: AES makes it faster than memory returns it.
//! - One random order for all lists, not one for each: the receiver learns the position
//!   of a shared item in its list z. The values at the same position of the other lists are
//!   those of an input that it never evaluated, so they stay pseudorandom, and a simulator
//!   that draws random positions for the shared items produces the same view.
//! - An empty bin sends u_j with a code word of zeros: the sender lacks one of T_0 and T_1 in
//!   every column, so u_j is pseudorandom for it whatever the code word.
//! - The receiver does not return the result to the sender (step 6 of Figure 3).
//!
//! **Security.** Semi-honest; H is Hamming correlation robust (KKRT16 Definition 1). C keeps
//! all of the sender's 3·n (+ stash) code words at distance 128 or more from what the receiver
//! asked, within the failure budget (Lemma 1). Both learn the set sizes.
//!
//! **Cost.** Four rounds. Offline 8.3 KiB and 16 bytes a column; online w/8 bytes a bin and
//! (3 + s)·n_sender masks of σ + 1 + log2(n_sender·n_receiver) bits.

use psijoin_encode::{BinHasher, CHOICES};

use crate::{Adversary, Error, Info, Input, Plan, Protocol, Request};

mod code;
mod params;
mod receiver;
mod sender;

use code::{Code, RowHash};
pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// The entry of the registry.
pub struct Kkrt;

static INFO: Info = Info {
    name: "kkrt",
    summary: "OT extension with a pseudorandom code: fast, more traffic",
    paper: "KKRT16",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

/// Rows have no gaps.
const COLUMNS_PER_WORD: usize = u64::BITS as usize;

/// The last input of the code for stash places, where bins have the hash function's number.
const STASH: u8 = CHOICES as u8;

impl Protocol for Kkrt {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::new(request)?))
    }
}

/// What both expand from the joint seed in step 2, for rows of R words.
struct Functions<const R: usize> {
    bins: BinHasher,
    code: Code<R>,
    hash: RowHash,
}

impl<const R: usize> Functions<R> {
    fn new(params: &Params, input: &Input<'_>) -> Self {
        let seed = input.joint_key("psijoin 2026 kkrt bins");
        let seed = seed[..16].try_into().expect("16 of 32 bytes");
        Self {
            bins: BinHasher::new(seed, params.shape.bins),
            code: Code::new(input.joint_key("psijoin 2026 kkrt code"), params.code_bits),
            hash: RowHash::new(input.joint_key("psijoin 2026 kkrt masks"), params.masks),
        }
    }
}

/// Calls `online` of a party for the digests of its input and the rows of its matrix.
macro_rules! by_size {
    ($party:expr, $input:expr, $channel:expr, $context:expr) => {
        match ($input.items, $party.params.wide_rows()) {
            (Items::Short(items), false) => {
                $party.online::<16, 8>(items, &$input, $channel, $context)
            }
            (Items::Short(items), true) => {
                $party.online::<16, 16>(items, &$input, $channel, $context)
            }
            (Items::Long(items), false) => {
                $party.online::<32, 8>(items, &$input, $channel, $context)
            }
            (Items::Long(items), true) => {
                $party.online::<32, 16>(items, &$input, $channel, $context)
            }
        }
    };
}
use by_size;

#[cfg(test)]
mod tests;
