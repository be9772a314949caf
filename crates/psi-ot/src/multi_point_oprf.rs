//! The multi-point oblivious PRF of CM20: one function, which the receiver evaluates at many items.
//!
//! **Functionality.** The receiver brings a set of digests, and gets the value of a pseudorandom
//! function at each. The sender gets the function. Here it brings digests of its own beforehand,
//! and gets the values at these: so no party ever holds more than a part of the function.
//!
//! **Source.** Chase and Miao (CRYPTO 2020), Figure 3 with Figure 4 for its step 2, and F of §4.2.
//! Sender = P1, receiver = P2. The matrices have m rows, in bins, and w columns:
//!
//! *Offline.*
//! 1. The sender draws s ∈ {0,1}^w. By w random OTs (IKNP, on 128 base OTs) it gets one seed of
//!    each pair of the receiver's: Figure 4, step 1.
//!
//! *Online.*
//! 2. The receiver draws a nonce and sends it (step 3a). It and the joint seed give both the
//!    key of F, and from each OT's seed the key of a column: Figure 4's r_i.
//! 3. For each of its items y the receiver computes v = F(y), and clears D_i\[v_i\] for each column
//!    i of a matrix D of ones. With A_i and A'_i expanded from the keys of column i it sends
//!    Δ_i = A_i ⊕ D_i ⊕ A'_i. The sender gets C_i, which is A_i if s_i = 0, else A_i ⊕ D_i.
//! 4. The sender's value at x is H2(C_1\[v_1\] ‖ … ‖ C_w\[v_w\]) with v = F(x).
//! 5. The receiver's value at y is H2(A_1\[v_1\] ‖ … ‖ A_w\[v_w\]).
//!
//! Steps 3 to 5 run bin by bin: while one bin is on its way, the receiver computes the next, and
//! the sender evaluates the last.
//!
//! **Deviations.**
//! - *Bins.* The matrix is cut into bins of at most 2^13 rows. The digest of an item chooses its
//!   bin, and F picks a row of that bin in each column: v ranges over a part of the paper's
//!   \[m\]^w. A column of a bin fits the first-level cache, all columns of a bin fit into a
//!   message, and no party ever holds more than a bin of its matrix. It costs 1.4 % more columns;
//!   the proof is in [`psijoin_params::cm20`]. Up to 2^13 rows there is one bin, and F is the
//!   paper's.
//! - *The nonce*, instead of the key itself: the key of F is a hash of it and of the joint
//!   seed, so that both parties contribute to it and it is drawn after the OTs, as the proof for a
//!   malicious sender requires. It travels before the first bin and costs no flight. Column keys
//!   are hashes of nonce and OT seed, since base OTs let a malicious party choose its own seeds.
//! - *H2* is keyed BLAKE3, one row per lane.
//!
//! **Security.** Semi-honest: F (AES) is a PRF, H2 Hamming correlation robust. Each item of the
//! sender that the receiver does not have meets at least κ = 128 ones of D, except with the
//! probability of [`Params::few_ones`]: its value is pseudorandom for the receiver. With
//! [checked](Params::checked) OTs also against a malicious sender, if H2 is a random oracle and
//! items are outputs of one. Items must be fixed before the joint seed is drawn. Rows are looked up
//! at positions that depend on a party's own items: see SECURITY.md on what is not constant time.
//!
//! **Cost.** Three flights, or five with checks. Offline 8.3 KiB and 16 bytes per column (checked:
//! 4 KiB more); online m·w bits and 32 bytes from the receiver.
//!
//! # How it is made fast
//!
//! - *Bins again.* Each column of the matrix is read and written at a pseudorandom row for each
//!   item, 450 times per item. Cut into bins of 2^13 rows, a column stays in the first-level cache;
//!   and a bin is the unit of threads and of messages, so that memory does not depend on the
//!   matrix.
//! - *One byte per bit.* A column of these bits is unpacked to bytes while it is in use
//!   (`block::cells`): then a lookup is one load, and clearing is one store. AVX-512 masks pack and
//!   unpack 64 of them per instruction.
//! - *Positions* come from AES, eight per block, transposed in vectors (`block::positions`). AES
//!   takes a third of the time.

use psijoin_channel::stream::Chunks;
use psijoin_encode::okvs::Partition;
use psijoin_params::{Log2Prob, Sizes, cm20, digest};
use psijoin_psi::{BaseOts, Conversation, Error};

use crate::seeds::SeedOts;

mod columns;
mod evaluation;
mod function;
mod keys;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use function::INPUT_BYTES;
pub use psijoin_params::cm20::default_rows;
pub use receiver::Receiver;
pub use sender::Sender;

use evaluation::MAX_COLUMNS;

/// The numbers that both parties must agree on.
#[derive(Debug, Clone, Copy)]
pub struct Params {
    /// The shape of the matrix.
    pub shape: cm20::Shape,
    /// Whether the OTs are secure even if the sender cheats.
    pub checked: bool,
    /// The base OTs under the OTs of step 1.
    pub base_ots: BaseOts,
}

impl Params {
    /// Derives them for a matrix of this many rows, or a few more: the fewest columns at which
    /// every item of the sender alone meets κ ones, except with a probability of at most `share`.
    /// [`default_rows`] are a good number.
    ///
    /// # Errors
    /// If there are so few rows that the matrix would be wider than 1,024 columns.
    pub fn new(rows: u64, sizes: Sizes, checked: bool, share: Log2Prob) -> Result<Self, Error> {
        let shape = cm20::shape(rows, sizes.sender(), sizes.receiver(), share)?;
        if shape.columns as usize > MAX_COLUMNS {
            return Err(Error::Misuse(
                "the matrix has too few rows for the receiver's items",
            ));
        }
        Ok(Self {
            shape,
            checked,
            base_ots: BaseOts::DiffieHellman,
        })
    }

    /// Sets the base OTs. Whoever takes those by ML-KEM charges its failure budget for them
    /// ([`Request::failure_budget`](psijoin_psi::Request::failure_budget)).
    #[must_use]
    pub fn on(self, base_ots: BaseOts) -> Self {
        Self { base_ots, ..self }
    }

    /// Returns a bound on any of the sender's items alone meeting too few ones.
    pub fn few_ones(&self, sizes: Sizes) -> Log2Prob {
        self.shape.few_ones(sizes.sender(), sizes.receiver())
    }

    /// Returns a bound on the ciphers that F is made of showing that they are no functions: they
    /// repeat no output.
    pub fn repeats(&self, sizes: Sizes) -> Log2Prob {
        let ciphers = function::ciphers(self.columns()) as u128;
        digest::collision(sizes, INPUT_BYTES).times(ciphers)
    }

    /// Returns what is said offline.
    pub fn setup(&self) -> Conversation {
        self.ots().conversation()
    }

    /// Returns what is said online.
    pub fn online(&self) -> Conversation {
        Conversation::default()
            .receiver(keys::NONCE_BYTES as u64)
            .receiver(self.bins().bytes(|_| self.bin_bytes()))
    }

    /// Returns w.
    fn columns(&self) -> usize {
        self.shape.columns as usize
    }

    /// Returns the messages of step 3: one for each bin.
    fn bins(&self) -> Chunks {
        Chunks {
            total: self.shape.bins as usize,
            per_message: 1,
        }
    }

    /// Returns the number of bytes of a bin's columns.
    fn bin_bytes(&self) -> usize {
        self.columns() * self.shape.bin_rows as usize / 8
    }

    /// Returns the OTs of step 1.
    fn ots(&self) -> SeedOts {
        SeedOts {
            columns: self.columns(),
            checked: self.checked,
            base: self.base_ots,
        }
    }
}

/// The values at a party's items, in the order of their bins.
pub struct Values {
    values: Vec<u128>,
    items: Partition,
}

impl Values {
    /// Returns the position of each value's item among all that the party brought.
    pub fn positions(&self) -> &[u32] {
        self.items.positions()
    }

    /// Returns the values, in the order of [`positions`](Self::positions).
    pub fn by_bin(&self) -> &[u128] {
        &self.values
    }

    /// Takes the values, in the order of [`positions`](Self::positions).
    pub fn into_by_bin(self) -> Vec<u128> {
        self.values
    }

    /// Returns the values in the order of the items.
    pub fn in_order(&self) -> Vec<u128> {
        let mut ordered = vec![0; self.values.len()];
        for (position, value) in self.positions().iter().zip(&self.values) {
            ordered[*position as usize] = *value;
        }
        ordered
    }
}
