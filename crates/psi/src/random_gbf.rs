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
//! **Two entries of the registry**, one protocol: `random-gbf` has IKNP's OT extension under it, as in
//! the paper, and `random-gbf-silent` silent OT; which one is the type parameter `O`.
//!
//! **Deviations.**
//! - The filter is partitioned: a hash function has a slice of its own (`psijoin_params::bloom`).
//!   The number of cells is that of the paper, and the false-positive bound exact.
//! - The cells are as many as the *receiver's* items need, not the larger set: it is the receiver's
//!   filter that must not contain what it should not. Nothing is ever inserted into the sender's.
//! - The mask is H(sum, x), not the sum. The sums of different items are independent of each other
//!   only if the sets of cells are *linearly* independent where the receiver has no string. The paper
//!   does not ask for it, and with more of the sender's items than cells they cannot be: sums of masks
//!   would be zero, whatever the strings, for groups of items that the receiver could guess. Under
//!   a random oracle it is enough that each sum alone has a string that the receiver lacks.
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
//! **Memory** is linear: 48 bytes an item and a band of 2^22 cells, 64 MiB of strings (and on silent
//! OT 256 MiB more); the 185·16 bytes an item of all strings never exist at once. Beyond 2^14 items
//! a party makes, uses and forgets one band after the other.
//!
//! **Cost.** With m ≈ 1.44·κ·n_receiver cells, in B = ⌈m/2^22⌉ bands or some more. IKNP: three
//! rounds, 16·m bytes, and the masks, sorted. Silent: 2·B + 3 rounds, m/8 bytes, about 100 KB
//! a band, and the masks.

use std::ops::Range;

use psijoin_block::{Block, memory::Buffer};
use psijoin_channel::Channel;
use psijoin_encode::bloom::Cells;
use psijoin_ot::oprg::{Iknp, Oprg, Silent};
use rayon::prelude::*;

use crate::{
    Adversary, Context, Error, Info, Input, Items, Output, Party, Plan, Protocol, Request,
    output_hash::OutputHash,
    protocol,
    sorted_masks::{Own, sort},
};

mod params;

pub use params::Params;

/// The entry of the registry on IKNP.
pub struct RandomGbf;

/// The entry of the registry on silent OT.
pub struct RandomGbfSilent;

/// What the protocol may run on.
pub trait Variant: Oprg {
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
        version: 1,
    };
}

impl Protocol for RandomGbf {
    fn info(&self) -> &'static Info {
        Iknp::INFO
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::<Iknp>::new(request)?))
    }
}

impl Protocol for RandomGbfSilent {
    fn info(&self) -> &'static Info {
        Silent::INFO
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::<Silent>::new(request)?))
    }
}

/// The party that learns nothing, after the offline phase.
pub struct Sender<O: Variant> {
    params: Params<O>,
    ots: O::Sender,
}

/// The party that learns the result, after the offline phase.
pub struct Receiver<O: Variant> {
    params: Params<O>,
    ots: O::Receiver,
}

impl<O: Variant> Sender<O> {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(
        params: &Params<O>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        context.phase("base OT");
        Ok(Self {
            params: params.clone(),
            ots: O::set_up_sender(channel, &mut context.rng)?,
        })
    }

    fn online<const D: usize>(
        mut self,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        context.phase("oblivious transfers");
        let mut evaluation = Evaluation::new(&self.params, items, input);
        for band in self.params.bands() {
            evaluation.band(&band, |_, _, strings| {
                O::send(&mut self.ots, strings, channel)
            })?;
        }
        context.phase("masks");
        let sorted = sort(&evaluation.outputs());
        self.params.masks().send(&sorted, channel.halves().0)?;
        Ok(Output::Nothing)
    }
}

impl<O: Variant> Receiver<O> {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(
        params: &Params<O>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        context.phase("base OT");
        Ok(Self {
            params: params.clone(),
            ots: O::set_up_receiver(channel, &mut context.rng)?,
        })
    }

    fn online<const D: usize>(
        mut self,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        context.phase("oblivious transfers");
        let mut evaluation = Evaluation::new(&self.params, items, input);
        let mut choices = Vec::new();
        for band in self.params.bands() {
            evaluation.band(&band, |cells, items, strings| {
                choices.clear();
                choices.resize(band.len().div_ceil(Block::BITS), Block::ZERO);
                cells.mark(&band, items, &mut choices);
                O::receive(&mut self.ots, &choices, strings, channel)
            })?;
        }
        context.phase("masks");
        let outputs = evaluation.outputs();
        let masks = self.params.masks();
        let own = Own::new(masks, &outputs);
        let found = masks.receive(&own, channel.halves().1)?;
        Ok(protocol::rows(found.into_iter().flatten(), items.len()))
    }
}

/// Steps 3 to 5 of either party: sums of the strings in its items' cells, band by band.
struct Evaluation<'a, const D: usize> {
    cells: Cells,
    output: OutputHash,
    items: &'a [[u8; D]],
    /// Those of one band.
    strings: Buffer<Block>,
    sums: Vec<Block>,
}

impl<'a, const D: usize> Evaluation<'a, D> {
    fn new<O: Variant>(params: &Params<O>, items: &'a [[u8; D]], input: &Input<'_>) -> Self {
        let seed = input.joint_key("psijoin 2026 random-gbf cells");
        let seed = *seed.first_chunk().expect("16 of 32 bytes");
        Self {
            cells: Cells::new(seed, params.shape()),
            output: OutputHash(input.joint_key("psijoin 2026 random-gbf masks")),
            items,
            strings: Buffer::zeroed(params.longest_band()),
            sums: vec![Block::ZERO; items.len()],
        }
    }

    /// Has the strings of a band filled in, and adds them.
    fn band(
        &mut self,
        band: &Range<usize>,
        fill: impl FnOnce(&Cells, &[[u8; D]], &mut [Block]) -> Result<(), psijoin_ot::Error>,
    ) -> Result<(), Error> {
        let strings = &mut self.strings[..band.len()];
        fill(&self.cells, self.items, strings)?;
        self.cells.add(band, self.items, strings, &mut self.sums);
        Ok(())
    }

    /// H of the sums.
    fn outputs(self) -> Buffer<u128> {
        const ITEMS_PER_TASK: usize = 4096;
        let mut outputs = Buffer::zeroed(self.sums.len());
        (outputs.par_chunks_mut(ITEMS_PER_TASK))
            .zip(self.sums.par_chunks(ITEMS_PER_TASK))
            .zip(self.items.par_chunks(ITEMS_PER_TASK))
            .for_each(|((outputs, sums), items)| self.output.hash(sums, items, outputs));
        outputs
    }
}

/// Implements [`Party`] by `online` for digests of either length.
macro_rules! party {
    ($party:ident) => {
        impl<O: Variant> Party for $party<O> {
            fn run(
                self: Box<Self>,
                input: Input<'_>,
                channel: &mut Channel,
                context: &mut Context,
            ) -> Result<Output, Error> {
                match input.items {
                    Items::Short(items) => self.online(items, &input, channel, context),
                    Items::Long(items) => self.online(items, &input, channel, context),
                }
            }
        }
    };
}
party!(Sender);
party!(Receiver);

#[cfg(test)]
mod tests;
