//! `kk20`: circuit PSI from a garbled Bloom filter and Ciampi-Orlandi equality tests. The output is
//! a *function* of the intersection.
//!
//! **Functionality.** For each of the receiver's bins, each party gets a bit. The XOR of the two
//! bits is 1 if the item in that bin is shared (KK20's f(y ∈ X), as shares). The output is made
//! from these bits (the module `functions`).
//!
//! **Source.** Karakoç and Küpçü, *Linear Complexity Private Set Intersection for Secure Two-Party
//! Protocols* (CANS 2020), Protocols 1 to 4. P1 = sender, P2 = receiver; β bins, three hash
//! functions, η-bit numbers, a filter of k slices and m cells:
//!
//! *Offline.*
//! 1. Base OTs; what the output takes.
//!
//! *Online.* The joint seed gives all hash functions.
//! 2. Protocol 4, steps 1 to 3. The receiver places its items in bins by Cuckoo hashing with three
//!    functions and no stash; the sender has each of its items in all of its three bins, and draws
//!    a target of η bits for each bin.
//! 3. Step 4, which is Protocol 3, the batch one-time OPPRF ([`opprf`](crate::opprf)). The sender
//!    programs its key (x, i) to the target of bin i of x; the receiver has the key (y, i), i being
//!    the function that led y to its bin. It gets the target of its bin if the item is shared, and
//!    a random number otherwise. In an empty bin it draws a random number itself.
//! 4. Step 5. Equality tests ([`psm_co`](crate::psm_co)) of the numbers in each bin. The sender
//!    draws its share of the result.
//! 5. The output is made of these shares.
//!
//! Without bins, these are Protocol 2, private set membership: [`psm`](crate::psm).
//!
//! **Two entries of the registry**, one protocol: `kk20` has IKNP's OT extension, and equality
//! tests with tagged ciphertexts, as in the paper; `kk20-silent` has silent OT, and two ciphertexts
//! per bit instead of four. The type parameter `O` chooses one.
//!
//! **Deviations.**
//! - Those of [`opprf`](crate::opprf). The filter has 1.44·k·n_receiver cells (fewer slices and
//!   cells of its own if the sender's set is larger), not 1.44·k·3·n_sender, and k ≈ σ +
//!   log2(n_sender) + 5 slices. Only the receiver's keys, one per item, must leave enough of the
//!   filter unseen. The sender's keys find their places round by round
//!   (`psijoin_encode::garbled_bloom`). [`psijoin_params::garbled_bloom`] has the proofs.
//! - The number in a key is that of a hash function, not of a bin.
//! - Numbers have about η = σ + log2 β + 2 bits, not 40: with 40, one of 2^20 bins would be taken
//!   for shared with a probability of 2^-20.
//! - The sender's bins are not padded with random items: nothing shows how many keys a bin holds,
//!   since there is one filter, whose cells are all random, for all 3·n_sender keys.
//! - 1.23 bins per item, more for small sets, as `psijoin_params::cuckoo` proves; the paper has
//!   1.27.
//! - The deviations of [`psm_co`](crate::psm_co), and in `kk20-silent` its smaller ciphertexts.
//!
//! **Security.** Semi-honest. What the receiver sees of the filter is uniform, except for the sums
//! of the keys that both have ([`opprf`](crate::opprf)). These sums are targets of different bins,
//! since the receiver has one key per bin, and targets are uniform. *What the receiver sees is
//! uniform*, whichever of its items are shared; a simulator draws it. The target of a bin whose
//! item is not shared is uniform given all that. So it equals the receiver's number with a
//! probability of 2^-η.
//! The equality tests and the output follow.
//!
//! **Cost.** See [`Plan::cost`]: exact. On IKNP m·(κ + η) bits for the filter and β·η·(κ + 4·(κ +
//! c)) for the tests with tags of c bits; silent, m·(1 + η) and β·η·(1 + 2·κ + 4). Linear in the
//! sizes, as is the time. Memory: a band of 2^22 cells, 2^21 OTs of the tests, and 200 bytes per
//! item.

use psijoin_ot::extension::Extension;
use psijoin_psi::{Adversary, Error, Info, OutputKind, Plan, Protocol, Request};

use crate::psm_co::{Pointed, Tagged};

mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use params::Params;
use receiver::Receiver;
use sender::Sender;

/// The protocol on IKNP's OT extension, with tagged ciphertexts, as in the paper.
pub static KK20: Protocol = Protocol::new(&INFO, plan)
    .computing(computes)
    .withholding()
    .on_base_ots();

/// The protocol on silent OT, with two ciphertexts per bit.
pub static KK20_SILENT: Protocol = Protocol::new(&SILENT_INFO, silent_plan)
    .computing(computes)
    .withholding()
    .on_base_ots();

/// The context that the hash functions of the filter are derived for.
const CELLS: &str = "psijoin 2026 kk20 cells";

static INFO: Info = Info {
    name: "kk20",
    summary: "counts without telling which: garbled Bloom filter, Ciampi-Orlandi tests",
    paper: "KK20, CO18",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 4,
};

static SILENT_INFO: Info = Info {
    name: "kk20-silent",
    summary: "the same on silent OT with fewer ciphertexts: a third of the traffic",
    paper: "KK20, CO18",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 4,
};

fn plan(request: &Request) -> Result<Plan, Error> {
    Ok(Params::<Tagged>::new(request, Extension::IKNP)?.plan())
}

fn silent_plan(request: &Request) -> Result<Plan, Error> {
    Ok(Params::<Pointed>::new(request, Extension::SILENT)?.plan())
}

/// Returns all but columns of the sender, for which the filter's strings have no room.
fn computes(output: &OutputKind) -> bool {
    !matches!(output, OutputKind::Payloads(_)) && output.columns().sender == 0
}
