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
//! 3. Oblivious PRG ([`psijoin_ot::oprg`]): of a random string for each cell, the sender gets those
//!    where F_X is one, the receiver those where F_Y is one. Neither learns what the other got.
//! 4. The sender sends, for each item x, a mask made of the sum (XOR) of the strings in the k cells
//!    of x, in an order that says nothing of its own.
//! 5. The receiver computes the same of its items, and compares.
//!
//! **Two entries of the registry**, one protocol: `random-gbf` has IKNP's OT extension under it, as
//! in the paper, and `random-gbf-silent` silent OT; which one is the type parameter `O`.
//!
//! **Deviations.**
//! - The filter is partitioned: a hash function has a slice of its own (`psijoin_params::bloom`).
//!   The number of cells is that of the paper, and the false-positive bound exact.
//! - The cells are as many as the *receiver's* items need, not the larger set: it is the receiver's
//!   filter that must not contain what it should not. Nothing is ever inserted into the sender's.
//! - The mask is H(sum, x), not the sum. The sums of different items are independent of each other
//!   only if the sets of cells are *linearly* independent where the receiver has no string. The
//!   paper does not ask for it, and with more of the sender's items than cells they cannot be: sums
//!   of masks would be zero, whatever the strings, for groups of items that the receiver could
//!   guess. Under a random oracle it is enough that each sum alone has a string that the receiver
//!   lacks.
//! - Strings have 128 bits rather than σ + 2·log2(n): that is what the receiver must guess to
//!   evaluate H on an item that it does not have.
//! - The sender computes all strings, and not only those of F_X: AES on contiguous blocks
//!   costs less than finding out which to leave out.
//! - Hash functions come from the joint seed, fixed after both sets.
//!
//! **Security.** Semi-honest. Sender's view: that of the sender of OTs. Receiver's: strings at the
//! cells of its own items, and masks. An item x of the sender outside Y has, but for 2^-κ, a cell
//! where the receiver has no string; the string there is pseudorandom, so is the sum, and H of it
//! says nothing (random oracle, queried on that sum with probability 2^-128 a query). A simulator
//! draws masks at random for these items, and knows the others. OT extension or silent OT as in
//! [`psijoin_ot::oprg`]; functions of the filter are AES under keys from the joint seed, a PRF.
//!
//! **Memory** is linear: 48 bytes an item and a band of 2^22 cells, 64 MiB of strings (and on
//! silent OT 256 MiB more); the 185·16 bytes an item of all strings never exist at once. Beyond
//! 2^14 items a party makes, uses and forgets one band after the other.
//!
//! **Cost.** With m ≈ 1.44·κ·n_receiver cells, in B = ⌈m/2^22⌉ bands or some more. IKNP: three
//! rounds, 16·m bytes, and the masks, sorted. Silent: 2·B + 3 rounds, m/8 bytes, about 100 KB
//! a band, and the masks.

use std::marker::PhantomData;

use psijoin_block::{Block, memory::Buffer, parallel};
use psijoin_channel::Channel;
use psijoin_encode::bloom::Cells;
use psijoin_ot::extension::{Extension, Iknp, Silent};

use crate::{
    Adversary, Context, Error, Info, Input, Output, Party, Plan, Protocol, Request,
    garbled::{Receiver, Sender, Sums},
    items::by_digest,
    output_hash::OutputHash,
    protocol,
    sorted_masks::{Own, sort},
};

mod params;

pub use params::Params;

/// The entries of the registry, one for each OT that the protocol may run on.
pub struct RandomGbf<O>(PhantomData<O>);

impl<O: Variant> RandomGbf<O> {
    /// The one with this OT.
    pub const ENTRY: Self = Self(PhantomData);
}

impl<O: Variant> Protocol for RandomGbf<O> {
    fn info(&self) -> &'static Info {
        O::INFO
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::<O>::new(request)?))
    }
}

/// What the protocol may run on.
pub trait Variant: Extension {
    /// What the registry says of it.
    #[doc(hidden)]
    const INFO: &'static Info;
}

impl Variant for Iknp {
    const INFO: &'static Info = &Info {
        name: "random-gbf",
        summary: "random garbled Bloom filter on IKNP: the paper's, with its traffic",
        paper: "PSZ14 §4.3",
        adversary: Adversary::SemiHonest,
        leaks: "set sizes",
        version: 1,
    };
}

impl Variant for Silent {
    const INFO: &'static Info = &Info {
        name: "random-gbf-silent",
        summary: "random garbled Bloom filter on silent OT: a hundredth of the traffic",
        paper: "PSZ14 §4.3",
        adversary: Adversary::SemiHonest,
        leaks: "set sizes",
        version: 2,
    };
}

impl<O: Variant> Sender<O, Params<O>> {
    fn online<const D: usize>(
        self,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self { params, mut ots } = self;
        context.phase("oblivious transfers");
        let mut sums = Sums::new(params.functions(input), params.bands(), items);
        for band in params.bands().ranges() {
            sums.send::<O>(&band, &mut ots, channel)?;
            sums.add(&band);
        }

        context.phase("masks");
        let sorted = sort(&outputs(items, &sums.finish(), input));
        params.masks().send(&sorted, channel.halves().0)?;
        Ok(Output::Nothing)
    }
}

impl<O: Variant> Receiver<O, Params<O>> {
    fn online<const D: usize>(
        self,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self { params, mut ots } = self;
        context.phase("oblivious transfers");
        let mut sums = Sums::new(params.functions(input), params.bands(), items);
        for band in params.bands().ranges() {
            sums.receive::<O>(&band, &mut ots, channel)?;
            sums.add(&band);
        }

        context.phase("masks");
        let outputs = outputs(items, &sums.finish(), input);
        let own = Own::new(params.masks(), &outputs);
        let found = params.masks().receive(&own, channel.halves().1)?;
        Ok(protocol::rows(found.into_iter().flatten(), items.len()))
    }
}

impl<O: Variant> Params<O> {
    /// Step 2.
    fn functions(&self, input: &Input<'_>) -> Cells {
        let seed = input.joint_key("psijoin 2026 random-gbf cells");
        let seed = *seed.first_chunk().expect("16 of 32 bytes");
        Cells::new(seed, self.shape())
    }
}

/// H of the sums.
fn outputs<const D: usize>(items: &[[u8; D]], sums: &[Block], input: &Input<'_>) -> Buffer<u128> {
    const ITEMS_PER_TASK: usize = 4096;
    let hash = OutputHash(input.joint_key("psijoin 2026 random-gbf masks"));
    let mut outputs = Buffer::zeroed(sums.len());
    parallel::chunks_mut(&mut outputs, ITEMS_PER_TASK, &|range, outputs| {
        hash.hash(&sums[range.clone()], &items[range], outputs);
    });
    outputs
}

impl<O: Variant> Party for Sender<O, Params<O>> {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        by_digest!(self, input, channel, context)
    }
}

impl<O: Variant> Party for Receiver<O, Params<O>> {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        by_digest!(self, input, channel, context)
    }
}

#[cfg(test)]
mod tests;
