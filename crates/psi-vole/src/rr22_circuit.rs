//! `rr22-circuit`: circuit PSI from a programmable oblivious PRF. What is learned is a *function* of
//! the intersection: rows, a count, whether a threshold is reached, sums of columns of either party; or
//! shares of it, for a computation of the caller's.
//!
//! **Functionality.** For each of its bins the receiver, and the sender, get a bit each, whose XOR
//! says whether the item in that bin is shared; and for each column of the sender a number each, whose
//! sum is that of the item if it is shared. From these the output is made (the module
//! `functions`).
//!
//! **Source.** Rindal and Schoppmann, *VOLE-PSI: Fast OPRF and Circuit-PSI from Vector-OLE* (EUROCRYPT
//! 2021, ePrint 2021/266), on the store and the subfield vector OLE of RR22; after Pinkas, Schneider,
//! Tkachenko and Yanai, *Efficient Circuit-Based PSI with Linear Communication* (EUROCRYPT 2019). B
//! is GF(2^64), or GF(2^128) for very large sets.
//!
//! *Offline.*
//! 1. The vector OLE of [`rr22`](crate::rr22); lookups for the equality tests
//!    ([`equality`](psijoin_circuit::equality)); what the output takes.
//!
//! *Online.* The joint seed gives all hash functions.
//! 2. The receiver places its items in bins by Cuckoo hashing with three functions and no stash; its
//!    keys are (y, i) with i the function that led y to its bin. The sender's are (x, 1), (x, 2) and
//!    (x, 3) for all its items.
//! 3. Both run the oblivious PRF of [`rr22`](crate::rr22) on these keys.
//! 4. The sender draws a target t_j ∈ B for each bin j, and sends *hints*: a key-value store in which
//!    each key (x, i) has t_j + G_0(F(x, i)), where j is the i-th bin of x. What it says of a key of
//!    the receiver, plus G_0(F), is t_j if the item is shared, and random otherwise. In an empty bin
//!    the receiver takes a random number. For the c-th column of numbers v the sender also draws
//!    u_j, modulo 2^64, and each key has v(x) − u_j under the mask G_c(F(x, i)) in a store of its own.
//! 5. Equality tests: for each bin, shares of whether both have the same number.
//! 6. The output is made of these shares.
//!
//! **Deviations.**
//! - Equality tests are lookups in tables of 16 entries from silent OT, where the paper evaluates
//!   AND gates: a third of as many lookups, and fewer rounds.
//! - Hints are the store of RR22 over B, for all bins of the Cuckoo table together, with its proved
//!   bounds ([`psijoin_params::okvs`]).
//! - The Cuckoo table has no stash, at a failure probability within the budget: where there are few
//!   items, by more bins.
//! - G stretches an output of the PRF to a mask for the target and for each column: fixed-key AES, an
//!   output being secret wherever its masks are to be. Columns travel as in PSTY19,
//!   in a further store of hints.
//! - Numbers are compared in as many bits as the budget demands, about σ + log2(bins) + 2, up to a
//!   multiple of four.
//!
//! **Security.** Semi-honest: that of the PRF ([`rr22`](crate::rr22)), of silent OT, and of the
//! equality tests. Hints are a random vector to the receiver, but for what it programs for its own
//! keys, of which there is at most one a bin: t_j, which is random and used nowhere else. The
//! sender sees nothing but the receiver's store, and what is uniform. Of a column the receiver decodes
//! v(x) − u_j for at most one item a bin, which u_j hides.
//!
//! **Cost.** See [`Plan::cost`]: exact. Online m·log2|B| bits for the receiver's store and for the
//! hints, m being 1.27·n_receiver and 3.8·n_sender or so, and 64 bits in place of log2|B| for each
//! column; 21 lookups of 19 bits a bin.

use crate::{Adversary, Error, Info, OutputKind, Plan, Protocol, Request};

mod hints;
mod masks;
mod params;
mod receiver;
mod sender;

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// The entry of the registry.
pub struct Rr22Circuit;

static INFO: Info = Info {
    name: "rr22-circuit",
    summary: "counts, sums, thresholds and shares without telling which: programmable PRF",
    paper: "RS21, RR22",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 2,
};

impl Protocol for Rr22Circuit {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn computes(&self, output: &OutputKind) -> bool {
        // All that there is.
        matches!(
            output,
            OutputKind::Rows
                | OutputKind::Count
                | OutputKind::Threshold(_)
                | OutputKind::Sums(_)
                | OutputKind::Shares(_)
        )
    }

    fn withholds(&self) -> bool {
        true
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::new(request)?))
    }
}

#[cfg(test)]
mod tests;
