//! `random-gbf`: a garbled Bloom filter that the parties draw together.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Pinkas, Schneider, Zohner (USENIX Security 2014) §4.3, an improvement of Dong, Chen,
//! Wen (CCS 2013). P1 = sender, P2 = receiver; k = κ hash functions, m cells:
//!
//! *Offline.*
//! 1. Base OTs for the oblivious PRG.
//!
//! *Online.*
//! 2. Both expand the hash functions from the joint seed, and mark the cells of their items: the
//!    Bloom filters F_X and F_Y.
//! 3. Oblivious PRG ([`psijoin_ot::oprg`]): there is a random string for each cell. The sender gets
//!    those where F_X is one, and the receiver those where F_Y is one. Neither learns what the
//!    other got.
//! 4. For each item x, the sender sends a mask made of the sum (XOR) of the strings in the k cells
//!    of x. The order of the masks tells nothing.
//! 5. The receiver computes the same of its items, and compares.
//!
//! **Two protocols**, which differ in their OTs only: [`RANDOM_GBF`] is on IKNP's OT extension, as
//! in the paper, and [`RANDOM_GBF_SILENT`] on silent OT.
//!
//! **Deviations.**
//! - The filter is partitioned: each hash function has a slice of its own
//!   (`psijoin_params::bloom`). The number of cells is that of the paper, and the bound on false
//!   positives is exact.
//! - There are as many cells as the *receiver's* items need, not the larger set: it is the
//!   receiver's filter that must not contain what it should not. Nothing is ever inserted into the
//!   sender's.
//! - The mask is H(sum, x), not the sum. The sums of different items are independent of each other
//!   only if the sets of their cells are *linearly* independent where the receiver has no string.
//!   The paper does not ask for it. If the sender has more items than there are cells, they cannot
//!   be. Then the masks of some groups of items would sum up to zero, whatever the strings, and the
//!   receiver could guess such groups. Under a random oracle it is enough that each sum alone has a
//!   string that the receiver lacks.
//! - Strings have 128 bits rather than σ + 2·log2(n): that is what the receiver must guess to
//!   evaluate H on an item that it does not have.
//! - The sender computes all strings, and not only those of F_X: AES on contiguous blocks
//!   costs less than finding out which to leave out.
//! - Hash functions come from the joint seed, which is drawn when both sets are fixed.
//!
//! **Security.** Semi-honest. The sender sees what the sender of OTs sees. The receiver sees the
//! strings in the cells of its own items, and masks. Each item x of the sender outside Y has a cell
//! where the receiver has no string, except with probability 2^-κ. The string there is
//! pseudorandom. So the sum is, too, and H of it tells nothing (random oracle, queried on that sum
//! with probability 2^-128 per query). A simulator draws the masks of these items at random, and
//! knows the others. OT extension or silent OT is as in [`psijoin_ot::oprg`]. The functions of the
//! filter are AES under keys from the joint seed, a PRF.
//!
//! **Memory** is linear: 48 bytes per item, and a band of 2^22 cells, which takes 64 MiB of
//! strings, and 256 MiB more on silent OT. All strings would take 185·16 bytes per item, but never
//! exist at once: beyond 2^14 items a party makes, uses and forgets one band after the other.
//!
//! **Cost.** There are m ≈ 1.44·κ·n_receiver cells, in B bands: ⌈m/2^22⌉ or a few more. On IKNP,
//! the receiver sends 16·m bytes, and the sender the sorted masks. On silent OT, it is m/8 bytes,
//! about 100 KB per band, and the masks. Both phases at once take three flights on IKNP, and 2·B +
//! 3 on silent OT.

use psijoin_block::Block;
use psijoin_encode::Digests;
use psijoin_ot::extension::{self, Extension};
use psijoin_psi::{
    Adversary, Context, Error, Info, Input, Output, Party, Protocol, Result,
    output_hash::OutputHash, sorted_masks::sort,
};
use psijoin_runtime::{memory::Buffer, parallel};

mod params;

pub use params::Params;

/// The protocol on IKNP's OT extension, as in the paper.
pub static RANDOM_GBF: Protocol = Protocol::new(&INFO, |request| {
    Ok(Params::new(request, Extension::IKNP)?.plan())
})
.on_base_ots();

/// The protocol on silent OT.
pub static RANDOM_GBF_SILENT: Protocol = Protocol::new(&SILENT_INFO, |request| {
    Ok(Params::new(request, Extension::SILENT)?.plan())
})
.on_base_ots();

const INFO: Info = Info {
    name: "random-gbf",
    summary: "random garbled Bloom filter on IKNP: the paper's, with its traffic",
    paper: "PSZ14 §4.3",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

const SILENT_INFO: Info = Info {
    name: "random-gbf-silent",
    summary: "random garbled Bloom filter on silent OT: a hundredth of the traffic",
    version: 2,
    ..INFO
};

/// The context that the hash functions of the filter are derived for.
const CELLS: &str = "psijoin 2026 random-gbf cells";

/// Items whose masks a task computes.
const ITEMS_PER_TASK: usize = 4096;

/// The party that learns nothing, after the offline phase.
struct Sender(extension::Sender);

impl Party for Sender {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        Ok(Self(params.filter.set_up_sender(context)?))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let Self(mut ots) = self;
        let (filter, items) = (params.filter, input.items.digests());

        // Steps 2 and 3.
        context.phases.begin("oblivious transfers");
        let cells = filter.cells(CELLS, input);
        let mut sums = vec![Block::ZERO; items.len()];
        filter.send(&mut ots, context.channel, &mut |band, strings, _| {
            cells.add(band, items, strings, &mut sums);
            Ok(())
        })?;

        // Step 4.
        context.phases.begin("masks");
        let sorted = sort(&outputs(items, &sums, input));
        params.masks.send(&sorted, context.channel.halves().0)?;
        Ok(Output::Nothing)
    }
}

/// The party that learns the result, after the offline phase.
struct Receiver(extension::Receiver);

impl Party for Receiver {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        Ok(Self(params.filter.set_up_receiver(context)?))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let Self(mut ots) = self;
        let (filter, items) = (params.filter, input.items.digests());

        // Steps 2 and 3.
        context.phases.begin("oblivious transfers");
        let cells = filter.cells(CELLS, input);
        let sums = filter.receive(&cells, items, &mut ots, context.channel, &mut |_, _, _| {
            Ok(())
        })?;

        // Step 5.
        context.phases.begin("masks");
        let outputs = outputs(items, &sums, input);
        let found = params.masks.find(&outputs, context.channel.halves().1)?;
        Ok(Output::rows(found, items.len()))
    }
}

/// Returns H of the sums.
fn outputs(items: Digests<'_>, sums: &[Block], input: &Input) -> Buffer<u128> {
    let hash = OutputHash(input.joint_seed.key("psijoin 2026 random-gbf masks"));
    let mut outputs = Buffer::zeroed(sums.len());
    parallel::chunks_mut(&mut outputs, ITEMS_PER_TASK, &|range, outputs| {
        hash.hash(&sums[range.clone()], items.slice(range), outputs);
    });
    outputs
}

#[cfg(test)]
mod tests;
