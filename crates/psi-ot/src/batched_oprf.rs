//! The batched oblivious PRF of KKRT16: many functions, of which the receiver evaluates each once.
//!
//! **Functionality.** There are m functions F_0, …, F_{m-1} of {0,1}^264. The receiver brings one
//! input for each of them, or none, and gets its value. The sender gets the functions: it can
//! evaluate any of them at any inputs.
//!
//! **Source.** Kolesnikov, Kumaresan, Rosulek, Trieu (CCS 2016), Figures 1 and 2 (BaRK-OPRF), with
//! the code of w bits.
//!
//! *Offline.*
//! 1. The sender draws Δ ∈ {0,1}^w. By w random OTs (IKNP, on 128 base OTs) it gets one seed of
//!    each pair of the receiver's.
//!
//! *Online.* The joint seed gives both parties the code C and the hash H.
//! 2. For function j with input y the receiver takes rows j of T_0 and T_1, expanded from its seed
//!    pairs, and sends u_j = T_0 ⊕ T_1 ⊕ C(y). Its value is F_j(y) = H(j, T_0).
//! 3. The sender, which has expanded row j of its seeds to q, gets
//!    q_j = q ⊕ (u_j ∧ Δ) = T_0 ⊕ (C(y) ∧ Δ), and so F_j(x) = H(j, q_j ⊕ (C(x) ∧ Δ)) for any x.
//!
//! **Deviations.**
//! - C and H are keyed BLAKE3, one row per lane: cheaper here than the paper's four AES calls.
//! - Seeds of C and H come from the joint seed, which must be drawn after the inputs are fixed.
//! - The matrix is not expanded offline: AES makes it faster than memory returns it.
//! - For a function without an input, u_j has a code word of zeros: the sender lacks one of T_0 and
//!   T_1 in every column, so u_j is pseudorandom for it whatever the code word.
//!
//! **Security.** Semi-honest; H is Hamming correlation robust (KKRT16 Definition 1). The sender
//! learns nothing about inputs, nor which functions have one. Of the values that the sender
//! computes, those at other inputs than the receiver's are pseudorandom for the receiver: C keeps
//! their code words at distance 128 or more from the one that it asked for, except with the
//! probability of [`Params::near_code_words`].
//!
//! **Cost.** Three flights. Offline 8.3 KiB and 16 bytes per column; online w/8 bytes per function.

use bytemuck::{Pod, Zeroable};
use psijoin_channel::{joint_seed::JointSeed, stream::Chunks};
use psijoin_ot::matrix::RowShape;
use psijoin_params::{
    Log2Prob,
    code::{near_collision, width_bits},
};
use psijoin_psi::{BaseOts, Conversation, Error, masks::MaskLength};

use crate::seeds::SeedOts;

mod code;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use receiver::Receiver;
pub use sender::{Evaluator, Functions, Sender};

use code::{Code, RowHash};

/// An input of 264 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Input([u64; 5]);

impl Input {
    /// Returns the input of these 256 bits, such as a digest, and eight bits more.
    pub fn new([a, b, c, d]: [u64; 4], more: u8) -> Self {
        Self([a, b, c, d, more.into()])
    }
}

/// Rows of the matrix that are expanded, encoded and sent at once. Their columns, rows and
/// code words take half a megabyte, which fits the second-level cache.
const ROWS_PER_MESSAGE: usize = 2048;

/// Words of a row, unless it is wide.
const ROW_WORDS: usize = 8;

/// Words of a wide row.
const WIDE_ROW_WORDS: usize = 16;

/// The numbers that both parties must agree on.
#[derive(Debug, Clone, Copy)]
pub struct Params {
    /// m.
    pub functions: usize,
    /// w, a multiple of eight: a row is sent as whole bytes.
    pub code_bits: usize,
    /// The length of a value.
    pub values: MaskLength,
    /// The base OTs under the OTs of step 1.
    pub base_ots: BaseOts,
}

impl Params {
    /// Derives the width of the code for a sender that computes this many values in all: none of
    /// their code words is near the receiver's, except with a probability of at most `share`.
    ///
    /// # Errors
    /// If no code reaches that.
    ///
    /// # Panics
    /// If there are more than 2^32 functions, or values do not have 1 to 128 bits.
    pub fn new(
        functions: usize,
        evaluations: u64,
        values: MaskLength,
        share: Log2Prob,
    ) -> Result<Self, Error> {
        assert!(
            u32::try_from(functions).is_ok() && (1..=u128::BITS).contains(&values.bits),
            "functions have numbers of 32 bits, and values at most 128 bits"
        );
        let code_bits = width_bits(evaluations, share)?.next_multiple_of(8) as usize;
        Ok(Self {
            functions,
            code_bits,
            values,
            base_ots: BaseOts::DiffieHellman,
        })
    }

    /// Sets the base OTs. Whoever takes those by ML-KEM charges its failure budget for them
    /// ([`Request::failure_budget`](psijoin_psi::Request::failure_budget)).
    #[must_use]
    pub fn on(self, base_ots: BaseOts) -> Self {
        Self { base_ots, ..self }
    }

    /// Returns a bound on any of the sender's values being at a code word that is near the
    /// receiver's.
    pub fn near_code_words(&self, evaluations: u64) -> Log2Prob {
        near_collision(self.code_bits as u32, evaluations)
    }

    /// Returns what is said offline.
    pub fn setup(&self) -> Conversation {
        self.ots().conversation()
    }

    /// Returns the number of bytes that the receiver sends online.
    pub fn online_bytes(&self) -> u64 {
        self.rows().bytes(|rows| rows * self.row_bytes())
    }

    /// Returns rows without gaps, with 32 bits for their number.
    fn row_shape(&self) -> RowShape {
        let is_wide = self.code_bits > ROW_WORDS * 64 - 32;
        RowShape {
            words: if is_wide { WIDE_ROW_WORDS } else { ROW_WORDS },
            columns_per_word: u64::BITS as usize,
        }
    }

    /// Returns the OTs of step 1.
    fn ots(&self) -> SeedOts {
        SeedOts {
            columns: self.code_bits,
            checked: false,
            base: self.base_ots,
        }
    }

    /// Returns the number of bytes of a row on the wire.
    fn row_bytes(&self) -> usize {
        self.code_bits / 8
    }

    /// Returns the rows of the matrix, in messages.
    fn rows(&self) -> Chunks {
        Chunks {
            total: self.functions,
            per_message: ROWS_PER_MESSAGE,
        }
    }

    fn code(&self, seed: &JointSeed) -> Code {
        let key = seed.key("psijoin 2026 kkrt code");
        Code::new(key, self.code_bits, self.row_shape().words)
    }

    fn hash(&self, seed: &JointSeed) -> RowHash {
        RowHash::new(seed.key("psijoin 2026 kkrt masks"), self.values)
    }
}
