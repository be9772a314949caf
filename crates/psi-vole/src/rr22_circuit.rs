//! `rr22-circuit`: circuit PSI from a programmable oblivious PRF. The output is a *function* of the
//! intersection: rows, a count, whether a threshold is reached, or sums of columns of either party;
//! or shares of it, for a computation of the caller's.
//!
//! **Functionality.** For each bin of the receiver both parties get a bit, and the XOR of the two
//! is 1 if the item in that bin is shared. For each column of the sender they also get a number
//! each, and the sum of the two is the item's number if the item is shared. The output is made from
//! these ([`functions`](psijoin_psi_functions::functions)).
//!
//! **Source.** Rindal and Schoppmann, *VOLE-PSI: Fast OPRF and Circuit-PSI from Vector-OLE*
//! (EUROCRYPT 2021, ePrint 2021/266), on the store and the subfield vector OLE of RR22; after
//! Pinkas, Schneider, Tkachenko and Yanai, *Efficient Circuit-Based PSI with Linear Communication*
//! (EUROCRYPT 2019, PSTY19). B and T, for values of the PRF and for targets, are parts of GF(2^64),
//! or for very large sets of GF(2^128).
//!
//! *Offline.*
//! 1. The vector OLE of [`rr22`](crate::rr22); lookups for the equality tests
//!    ([`equality`](psijoin_circuit::equality)); what the output takes.
//!
//! *Online.* The joint seed gives all hash functions.
//! 2. The receiver places its items in bins by Cuckoo hashing with three functions and no stash. It
//!    has a key (y, i) for each item y, where function i led y to its bin. The sender has the keys
//!    (x, 1), (x, 2) and (x, 3) for each item x.
//! 3. Both run the oblivious PRF F of [`rr22`](crate::rr22) on these keys.
//! 4. The sender has a target t_j ∈ T for each bin j, a random number of which the lookups give
//!    digits ([`equality`](psijoin_circuit::equality)). It sends *hints*: a key-value store in
//!    which each key (x, i) has t_j + G_0(F(x, i)), where j is the i-th bin of x. For its key in
//!    bin j the receiver takes what the store has, plus G_0(F): this is t_j if the item is shared,
//!    and random otherwise. In an empty bin it takes a random number. For column c of numbers v the
//!    sender also draws u_j modulo 2^64, and each key has v(x) − u_j under the mask G_c(F(x, i)) in
//!    a further store.
//!    Labels of the sender travel as a column does, XORed with u_j.
//! 5. Equality tests: for each bin, shares of whether the lowest bits of both numbers are the same.
//! 6. The output is made from these shares.
//!
//! **Deviations.**
//! - Equality tests are lookups in tables of 16 entries from silent OT. The paper evaluates AND
//!   gates: three times as many as lookups, in more rounds. The sender does not draw targets
//!   freely, but takes them from these tables, which saves a quarter of what it sends of most.
//! - Hints are the store of RR22 over T, for all bins of the Cuckoo table together, with its proved
//!   bounds ([`psijoin_params::okvs`]).
//! - The Cuckoo table has no stash at any size. Its failure is within the budget, by more bins if
//!   there are few items.
//! - G stretches an output of the PRF to a mask for the target and one for each column. It is
//!   fixed-key AES: an output is secret wherever its masks must be secret. Columns travel as in
//!   PSTY19, each in a store of hints.
//! - Numbers are compared in as many bits as the budget demands, about σ + log2(bins) + 1, or in
//!   some more, which T has, if that costs less. T may have further bits; these are random, so that
//!   a target looks like any other number.
//! - The sender sorts its items, so that its messages do not depend on their order.
//!
//! **Security.** Semi-honest: that of the PRF ([`rr22`](crate::rr22)), of silent OT, and of the
//! equality tests. To the receiver, hints are a random vector except at its own keys. It has at
//! most one key per bin and gets t_j there, which is random, and of which the tests show nothing
//! (proof: [`equality`](psijoin_circuit::equality)). The sender sees the receiver's store, and
//! otherwise only uniform data. For a column, the receiver decodes v(x) − u_j for at most one item
//! per bin, and u_j hides it.
//!
//! **Cost.** [`Plan::cost`](psijoin_psi::Plan::cost) is exact. Online: m·log2|B| bits for the
//! receiver's store, with m about 1.1·n_receiver, and m·log2|T| for the hints, with m about
//! 3.3·n_sender. Each column takes a store of hints with 64 bits in place of log2|T|. The tests
//! take about 15 lookups of 15 bits per bin, and five of 19.

use psijoin_psi::{Adversary, Info, OutputKind, Protocol};

mod hints;
mod masks;
mod params;
mod receiver;
mod sender;

pub use params::Params;

use receiver::Receiver;
use sender::Sender;

/// Every kind of output, and it can be withheld.
pub static RR22_CIRCUIT: Protocol =
    Protocol::new(&INFO, |request| Ok(Params::new(request)?.plan()))
        .computing(|output| {
            matches!(
                output,
                OutputKind::Rows
                    | OutputKind::Count
                    | OutputKind::Threshold(_)
                    | OutputKind::Sums(_)
                    | OutputKind::Shares(_)
                    | OutputKind::Totals(_)
                    | OutputKind::Groups(_)
                    | OutputKind::GroupTotals(_)
            )
        })
        .withholding()
        .on_base_ots();

static INFO: Info = Info {
    name: "rr22-circuit",
    summary: "counts, sums, thresholds and shares without telling which: programmable PRF",
    paper: "RS21, RR22",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 5,
};

#[cfg(test)]
mod tests;
