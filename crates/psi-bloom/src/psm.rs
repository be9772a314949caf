//! `kk20-psm`, `co18-psm`: private set membership, item by item. The output is a *function* of
//! which of the receiver's items are in the sender's set.
//!
//! **Functionality.** For each of the receiver's items y, each party gets a bit. The XOR of the two
//! is 1 if y is in the sender's set X (KK20's Functionality 3, f(y ∈ X), as shares). The output is
//! made from these bits ([`functions`]). With one item of the
//! receiver, this is private set membership as in the papers; several items are one test each, with
//! all of X. There are no bins, so it costs n_sender·n_receiver, and is for few items against a
//! set.
//!
//! **Two protocols**:
//!
//! | protocol | source | a test of an item with n items of ℓ bits |
//! |---|---|---|
//! | `kk20-psm` | Karakoç and Küpçü (CANS 2020), Protocol 2 | OTs of 3·n strings, and one test of equality |
//! | `co18-psm` | Ciampi and Orlandi (SCN 2018), by KK20 §2.6 and Table 1 | a walk through a graph of n·ℓ nodes |
//!
//! **`kk20-psm`.** *Offline*: base OTs; what the output takes. *Online*:
//! 1. For each item y_i of the receiver, the sender draws a target r_i of η bits.
//! 2. Protocol 1, the one-time OPPRF, for each y_i: the sender programs all of X to r_i. The
//!    receiver gets r'_i, which is r_i if y_i is in X, and random otherwise. As many items as a
//!    filter of 2^20 keys has room for share one: they are a batch, as in Protocol 3
//!    ([`opprf`](crate::opprf)), with X as the set of each. Such batches follow each other.
//! 3. Equality tests of r_i and r'_i ([`psm_co`](crate::psm_co)). The sender draws its share of the
//!    result.
//! 4. The output is made of these shares.
//!
//! **`co18-psm`.** *Offline* as above. *Online*:
//! 1. Items are cut to ℓ bits; numbers of ℓ bits are taken as they are, if both sides promised
//!    them.
//! 2. For each item y_i of the receiver, a walk through a graph of the beginnings of X
//!    ([`Membership`](crate::psm_co::Membership)). The sender draws its share of the result, and
//!    the walk ends at the receiver's.
//! 3. The output is made of these shares.
//!
//! **Deviations.** Those of [`opprf`](crate::opprf) and [`psm_co`](crate::psm_co). Further:
//! - The filter has about three cells for each item of the sender, where the paper has 1.44·k =
//!   57.6. The receiver sees the cells of one item, so nothing must be half empty, and the set
//!   needs little more than room of its own, in six slices: the bounds of
//!   [`programmed`](psijoin_params::garbled_bloom::programmed) are those of `kk20`.
//! - η = σ + log2(n_receiver) + 1.2 bits instead of 40, so that no item is taken for a member by
//!   chance.
//! - Items are digests. In `co18-psm` their first ℓ = σ + log2(n_sender·n_receiver) + 1 bits count,
//!   at which no item of the receiver begins like another one of the sender. The paper's tables
//!   have ℓ = 32, 48 and 64, those of its items.
//! - The sender sorts its items, so that its messages do not depend on their order.
//!
//! **Security.** Semi-honest. For `kk20-psm` as for [`kk20`](crate::kk20): what the receiver sees of
//! the filters is uniform. Of the keys with the target r_i it has one. If y_i is not in X, r_i is
//! uniform given all that, and r'_i equals it with a probability of 2^-η. For `co18-psm` as for
//! [`psm_co`](crate::psm_co): at each depth the receiver has the label of one node, whose place is
//! random, and can read one ciphertext. In both, the sender sees what the sender of OTs sees.
//!
//! **Cost.** See [`Plan::cost`](psijoin_psi::Plan::cost): exact. `kk20-psm`: about
//! 3·n_sender·n_receiver·(κ + η) bits, and n_receiver tests. `co18-psm`: about 2·n_sender·(ℓ −
//! log2 n_sender)·(κ + log2 n_sender) bits for each item of the receiver. A run of more than
//! [`MOST_PAIRS`](filter::MOST_PAIRS), or [that many](graph::MOST_PAIRS), pairs of items is
//! refused.

use psijoin_circuit::Bits;
use psijoin_params::Sizes;
use psijoin_psi::{Adversary, Context, Info, Input, Output, OutputKind, Protocol, Request, Result};
use psijoin_psi_functions::functions::{self, Compared, Function};

pub mod filter;
pub mod graph;
#[cfg(test)]
mod tests;

/// KK20's Protocol 2, by a garbled Bloom filter.
pub static KK20_PSM: Protocol = Protocol::new(&FILTER_INFO, |request| {
    Ok(filter::Params::new(request)?.plan())
})
.computing(computes)
.withholding()
.on_base_ots();

/// Ciampi and Orlandi's, by a walk through a graph.
pub static CO18_PSM: Protocol = Protocol::new(&GRAPH_INFO, |request| {
    Ok(graph::Params::new(request)?.plan())
})
.computing(computes)
.withholding()
.on_base_ots();

static FILTER_INFO: Info = Info {
    name: "kk20-psm",
    summary: "each item against the whole set, by a garbled Bloom filter: at most 2^22 pairs",
    paper: "KK20 §3",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 2,
};

static GRAPH_INFO: Info = Info {
    name: "co18-psm",
    summary: "each item against the whole set, by walks through a graph: at most 2^18 pairs",
    paper: "CO18, KK20 §2.6",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 2,
};

/// Returns all but what needs columns of the sender, which these shares do not come with.
fn computes(output: &OutputKind) -> bool {
    !matches!(output, OutputKind::Payloads(_)) && output.columns().sender == 0
}

/// Returns the number of tests: one for each of the receiver's items.
fn lanes(sizes: Sizes) -> usize {
    sizes.receiver() as usize
}

/// Returns what is made of the shares.
fn function(request: &Request) -> Function {
    Function::new(request, lanes(request.sizes))
}

/// Returns what the receiver learns, from its shares.
fn learn(
    output: functions::Receiver,
    shares: Bits,
    input: &Input,
    context: &mut Context,
) -> Result<Output> {
    context.phases.begin("output");
    let items = input.items.len();
    let compared = Compared {
        shares,
        placed: &mut (0..items as u32).map(|item| (item, item)),
        items,
        numbers: Vec::new(),
        columns: input.columns,
    };
    output.learn(compared, context.channel)
}
