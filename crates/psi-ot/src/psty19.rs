//! `psty19`: circuit PSI from a relaxed batch OPPRF with polynomials. The output is a *function* of
//! the intersection.
//!
//! **Functionality.** For each of the receiver's bins, each party gets a bit. The XOR of the two
//! bits is 1 if the item in that bin is shared. The output is made from these bits
//! ([`functions`](psijoin_psi_functions::functions)).
//!
//! **Source.** Pinkas, Schneider, Tkachenko and Yanai, *Efficient Circuit-Based PSI with Linear
//! Communication* (EUROCRYPT 2019, ePrint 2019/241): the protocol without a stash. P1 = receiver,
//! P2 = sender; β bins, η bits that are compared:
//!
//! *Offline.*
//! 1. Base OTs of the oblivious PRF; multiplication triples for the comparisons; what the output
//!    takes.
//!
//! *Online.* The joint seed gives all hash functions.
//! 2. The receiver places its items in bins by Cuckoo hashing with three functions and no stash.
//!    The sender has each of its items in all of its three bins. A *key* is an item with the number
//!    of the function that led to the bin.
//! 3. The batched oblivious PRF of KKRT16 ([`batched_oprf`](crate::batched_oprf)): the receiver
//!    gets F_j of its key in each bin j, and the sender gets the functions.
//! 4. The sender draws a target t_j for each bin, and sends *hints*: polynomials, which have the
//!    value t_j ⊕ F_j(x, i) at the point of each key (x, i) in bin j. The receiver adds F_j to the
//!    hint at the point of its key: that is t_j if the item is shared, and random otherwise. In an
//!    empty bin it takes a random number.
//! 5. A circuit compares both numbers of each bin under GMW, on shares
//!    ([`gmw_equality`](psijoin_psi_functions::gmw_equality)).
//! 6. The output is made of these shares.
//!
//! **Deviations.**
//! - Keys are spread over the polynomials by a hash of their own, and not by bins: the paper's
//!   "mega-bins" are runs of bins. So the largest number of keys of a polynomial has a proved bound
//!   ([`psijoin_params::simple`]).
//! - The field is GF(2^2w), large enough that no two points of a polynomial are equal: at least 96
//!   bits. The paper has the prime field of 61 bits, and does not say what happens if two are.
//! - Numbers have η ≈ σ + log2 β + 1.2 bits, and there are 1.23 bins per item, more for small sets,
//!   as [`psijoin_params::cuckoo`] proves; the paper has 1.27.
//! - What is added up or shown at the end is made as in our other protocols, and not by the paper's
//!   circuits.
//! - The sender sorts its items, so that its messages do not depend on their order.
//!
//! **Security.** Semi-honest. The sender sees what it sees of the oblivious PRF and of GMW. For the
//! receiver all values of the PRF are random but for one key of each bin, whose target is drawn for
//! that bin alone. So the values of a polynomial at its points are uniform, those at random points
//! that fill it up among them, and so is the polynomial. GMW gives shares.
//!
//! **Cost.** [`Plan::cost`](psijoin_psi::Plan::cost) is exact. The triples are most of it: 2·κ bits
//! for each of the β·(η − 1) AND gates on IKNP's OT extension.

use psijoin_psi::{Adversary, Info, OutputKind, Protocol};

mod hints;
mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use params::Params;

use receiver::Receiver;
use sender::Sender;

/// The protocol.
pub static PSTY19: Protocol = Protocol::new(&INFO, |request| Ok(Params::new(request)?.plan()))
    .computing(computes)
    .withholding()
    .on_base_ots();

static INFO: Info = Info {
    name: "psty19",
    summary: "counts without telling which: batched PRF, polynomials, a circuit on shares",
    paper: "PSTY19",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 2,
};

/// Returns all but columns of the sender, which no hints are sent for.
fn computes(output: &OutputKind) -> bool {
    !matches!(output, OutputKind::Payloads(_)) && output.columns().sender == 0
}
