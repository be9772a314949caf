//! `gbf`: oblivious transfer of a garbled Bloom filter.
//!
//! **Functionality.** The receiver learns which of its items the sender has. **Semi-honest only**:
//! the version of Dong, Chen and Wen for malicious parties is broken (Rindal, Rosulek, EUROCRYPT
//! 2017 §3).
//!
//! **Source.** Dong, Chen, Wen (CCS 2013), as PSZ14 §4.2 describes it, with the optimisation there:
//! OT extension (Asharov et al., CCS 2013) in which one of the two messages is fixed. P1 = sender,
//! P2 = receiver; k = κ hash functions, m cells:
//!
//! *Offline.*
//! 1. Base OTs.
//!
//! *Online.*
//! 2. Both expand the hash functions from the joint seed. The sender makes a garbled Bloom filter
//!    G_X: the strings in the k cells of an item sum up (XOR) to its digest, and are random
//!    otherwise. The receiver marks the cells of its items: the Bloom filter F_Y.
//! 3. OT of each cell i, with choice F_Y\[i\] and messages (nothing, G_X\[i\]). The parties run an
//!    oblivious PRG ([`psijoin_ot::oprg`]), from which the receiver gets the strings that it chose.
//!    The sender sends string ⊕ G_X\[i\].
//! 4. The receiver adds up the strings in the cells of each of its items. The item is shared if the
//!    sum is its digest.
//!
//! **Two protocols**, which differ in their OTs only: [`GBF`] is on IKNP's OT extension, as in the
//! paper, and [`GBF_SILENT`] on silent OT.
//!
//! **Deviations.**
//! - The filter is partitioned: each hash function has a slice of its own
//!   (`psijoin_params::bloom`). The number of cells is that of the paper, and the bound on false
//!   positives is exact.
//! - An item is adjusted in a cell that no other item has, not in the last free one
//!   (`psijoin_encode::garbled_bloom`). So the filter is never held. Several threads make it, one
//!   band at a time, in any order. The paper says that this filter cannot be made in parallel.
//! - Strings have ℓ = σ + 1 + log2(n_receiver) bits, not λ = 40. Each of the receiver's items may
//!   be taken for shared by chance: 40 bits would let one of 2^20 pass with probability 2^-20.
//! - Items are digests. A string has their first ℓ bits.
//! - If the receiver chose zero, it gets a random string rather than zero, and adds it to nothing.
//! - Hash functions come from the joint seed, which is drawn when both sets are fixed.
//!
//! **Security.** Semi-honest. The sender sees what the sender of OTs sees. The receiver sees G_X in
//! the cells of F_Y, and random strings elsewhere. G_X is uniform subject to the sums of the items
//! in X. The items of X that the receiver does not have are linearly independent in the cells that
//! it does not see, except with a probability that is in the budget. Then, whatever the receiver
//! sees, equally many fillings of the other cells fit it. So what it sees is uniform subject to the
//! sums of X ∩ Y alone, and a simulator garbles X ∩ Y. The paper looks at one item at a time ("it
//! lacks a share"), which is not enough: the hidden shares of several items could cancel out.
//! `psijoin_params::garbled_bloom` proves that the number of cells suffices for all of them. OTs
//! are as in [`psijoin_ot::oprg`]. The functions of the filter are AES under keys from the joint
//! seed, a PRF.
//!
//! **Memory** is linear: 64 bytes per item, and a band of 2^22 cells, which takes 64 MiB of
//! strings, and 256 MiB more on silent OT.
//!
//! **Cost.** There are m ≈ 1.44·κ·max(n_sender, n_receiver) cells, in B bands: ⌈m/2^22⌉ or a few
//! more. The receiver sends 16·m bytes on IKNP, or m/8 and about 100 KB per band on silent OT. The
//! sender sends ℓ·m/8. Both phases at once take 2·B + 1 flights on IKNP, and 4·B + 1 on silent OT.

use psijoin_block::Block;
use psijoin_encode::Digests;
use psijoin_ot::extension::{self, Extension};
use psijoin_psi::{Adversary, Context, Error, Info, Input, Output, Party, Protocol, Result};

mod params;

pub use params::Params;

/// The protocol on IKNP's OT extension, as in the paper.
pub static GBF: Protocol = Protocol::new(&INFO, |request| {
    Ok(Params::new(request, Extension::IKNP)?.plan())
})
.on_base_ots();

/// The protocol on silent OT.
pub static GBF_SILENT: Protocol = Protocol::new(&SILENT_INFO, |request| {
    Ok(Params::new(request, Extension::SILENT)?.plan())
})
.on_base_ots();

const INFO: Info = Info {
    name: "gbf",
    summary: "garbled Bloom filter on IKNP: the paper's, with its traffic",
    paper: "DCW13, PSZ14 §4.2",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

const SILENT_INFO: Info = Info {
    name: "gbf-silent",
    summary: "garbled Bloom filter on silent OT: a third of the traffic",
    version: 2,
    ..INFO
};

/// The context that the hash functions of the filter are derived for.
const CELLS: &str = "psijoin 2026 gbf cells";

/// The party that learns nothing, after the offline phase.
struct Sender(extension::Sender);

impl Party for Sender {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        Ok(Self(params.transfer.filter.set_up_sender(context)?))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let Self(mut ots) = self;
        let (transfer, items) = (params.transfer, input.items.digests());

        // Step 2.
        context.phases.begin("garbled Bloom filter");
        let cells = transfer.filter.cells(CELLS, input);
        let values = (0..items.len()).map(|i| value(items, i)).collect();
        let rng = &mut context.rng;
        let filter = transfer.garble(&cells, items, values, params.base.sigma(), rng)?;

        // Step 3.
        context.phases.begin("oblivious transfers");
        transfer.send(&filter, &mut ots, context.channel)?;
        Ok(Output::Nothing)
    }
}

/// The party that learns the result, after the offline phase.
struct Receiver(extension::Receiver);

impl Party for Receiver {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        Ok(Self(params.transfer.filter.set_up_receiver(context)?))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let Self(mut ots) = self;
        let (transfer, items) = (params.transfer, input.items.digests());

        // Steps 2 and 3.
        context.phases.begin("oblivious transfers");
        let cells = transfer.filter.cells(CELLS, input);
        let sums = transfer.receive(&cells, items, &mut ots, context.channel)?;

        // Step 4.
        let is_shared = |(row, sum): (u32, &Block)| {
            transfer
                .are_equal(value(items, row as usize), *sum)
                .then_some(row)
        };
        let shared = (0..).zip(&sums).filter_map(is_shared);
        Ok(Output::rows(shared, items.len()))
    }
}

/// Returns what the strings of an item sum up to: its digest, or the first half of a long one.
fn value(items: Digests<'_>, i: usize) -> Block {
    let [low, high, ..] = items.words(i);
    Block(u128::from(low) | u128::from(high) << 64)
}

#[cfg(test)]
mod tests;
