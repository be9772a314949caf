//! `gbf`: oblivious transfer of a garbled Bloom filter.
//!
//! **Functionality.** The receiver learns which of its items the sender has. **Semi-honest only**:
//! the version of Dong, Chen and Wen for malicious parties is broken (Rindal, Rosulek, EUROCRYPT
//! 2017 §3).
//!
//! **Source.** Dong, Chen, Wen (CCS 2013), as PSZ14 §4.2 describes it, with the optimisation there:
//! OT extension (Asharov et al., CCS 2013) of which one message is fixed. P1 = sender, P2 =
//! receiver; k = κ hash functions, m cells:
//!
//! *Offline.*
//! 1. Base OTs.
//!
//! *Online.*
//! 2. Both expand the hash functions from the joint seed. The sender makes a garbled Bloom filter
//!    G_X: the strings in the k cells of an item sum up (XOR) to its digest, and are random but for
//!    that. The receiver marks the cells of its items: the Bloom filter F_Y.
//! 3. OT of each cell i, with choice F_Y\[i\] and messages (nothing, G_X\[i\]): the parties run an
//!    oblivious PRG ([`psijoin_ot::oprg`]), of whose string the receiver knows those that it chose,
//!    and the sender sends string ⊕ G_X\[i\].
//! 4. The receiver adds up the strings in the cells of each of its items: the item is shared if the
//!    sum is its digest.
//!
//! **Two entries of the registry**, one protocol: `gbf` has IKNP's OT extension under it, as in the
//! paper, and `gbf-silent` silent OT; which one is the type parameter `O`.
//!
//! **Deviations.**
//! - The filter is partitioned: a hash function has a slice of its own (`psijoin_params::bloom`).
//!   The number of cells is that of the paper, and the false-positive bound exact.
//! - An item is adjusted in a cell that no other item has, not in the last that is free
//!   (`psijoin_encode::garbled_bloom`): the filter is made a band at a time, in any order, by
//!   several threads, and never held. The paper says that this one cannot be made in parallel.
//! - Strings have ℓ = σ + 1 + log2(n_receiver) bits, not λ = 40: each of the receiver's items may
//!   be taken for shared by chance, so that 40 bits would let one of 2^20 pass with probability
//!   2^-20.
//! - Items are digests, of which a string has the first ℓ bits.
//! - Where the receiver chose zero it gets a random string rather than zero, and adds it to
//!   nothing.
//! - Hash functions come from the joint seed, fixed after both sets.
//!
//! **Security.** Semi-honest. The sender sees what the sender of OTs sees. The receiver's view is
//! G_X in the cells of F_Y, and random strings elsewhere. G_X is uniform subject to the sums of the
//! items in X. Those that the receiver does not have are linearly independent in the cells that it
//! does not see, but for a failure that is in the budget: so whatever it sees, as many fillings of
//! the other cells go with it, and what it sees is uniform subject to the sums of X ∩ Y alone. A
//! simulator garbles X ∩ Y. The paper argues with one item at a time ("it lacks a share"), which is
//! not enough: hidden shares of several items could cancel out. The proof that its number of cells
//! suffices for all is in `psijoin_params::garbled_bloom`. OTs as in [`psijoin_ot::oprg`];
//! functions of the filter are AES under keys from the joint seed, a PRF.
//!
//! **Memory** is linear: 64 bytes an item and a band of 2^22 cells, 64 MiB of strings (and on
//! silent OT 256 MiB more).
//!
//! **Cost.** With m ≈ 1.44·κ·max(n_sender, n_receiver) cells in B = ⌈m/2^22⌉ bands or some more.
//! The receiver sends 16·m bytes (IKNP) or m/8 and about 100 KB a band (silent), the sender ℓ·m/8.
//! 2·B + 1 rounds (IKNP), or 4·B + 1.

use std::marker::PhantomData;

use psijoin_block::{Block, memory::Buffer};
use psijoin_channel::Channel;
use psijoin_encode::{bloom::Cells, garbled_bloom::GarbledBloomFilter};
use psijoin_ot::{
    extension::{Extension, Iknp, Silent},
    oprg,
};

use crate::{
    Adversary, Context, Error, Info, Input, Output, Party, Plan, Protocol, Request,
    garbled::{Receiver, Sender, Sums},
    items::by_digest,
    protocol,
};

mod params;

pub use params::Params;

/// The entries of the registry, one for each OT that the protocol may run on.
pub struct Gbf<O>(PhantomData<O>);

impl<O: Variant> Gbf<O> {
    /// The one with this OT.
    pub const ENTRY: Self = Self(PhantomData);
}

impl<O: Variant> Protocol for Gbf<O> {
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
        name: "gbf",
        summary: "garbled Bloom filter on IKNP: the paper's, with its traffic",
        paper: "DCW13, PSZ14 §4.2",
        adversary: Adversary::SemiHonest,
        leaks: "set sizes",
        version: 1,
    };
}

impl Variant for Silent {
    const INFO: &'static Info = &Info {
        name: "gbf-silent",
        summary: "garbled Bloom filter on silent OT: a third of the traffic",
        paper: "DCW13, PSZ14 §4.2",
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
        context.phase("garbled Bloom filter");
        let (bands, cells) = (params.bands(), params.functions(input));
        let values = items.iter().map(value).collect();
        let filter =
            GarbledBloomFilter::new(&cells, items, values, bands.ranges(), &mut context.rng)
                .map_err(|_| params.bad_luck())?;

        context.phase("oblivious transfers");
        let mut strings = Buffer::zeroed(bands.longest());
        for band in bands.ranges() {
            let strings = &mut strings[..band.len()];
            oprg::send::<O>(&mut ots, band.start, strings, channel)?;
            filter.add(&band, strings);
            params.strings().send(strings, channel.halves().0)?;
        }
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
            let strings = sums.receive::<O>(&band, &mut ots, channel)?;
            params.strings().receive(strings, channel.halves().1)?;
            sums.add(&band);
        }
        let sums = sums.finish();
        let is_value =
            |(item, sum): (&[u8; D], &Block)| params.strings().are_equal(value(item), *sum);
        let shared = (0..).zip(items.iter().zip(&sums).map(is_value));
        let shared = shared.filter_map(|(row, shared)| shared.then_some(row));
        Ok(protocol::rows(shared, items.len()))
    }
}

impl<O: Variant> Params<O> {
    /// Step 2.
    fn functions(&self, input: &Input<'_>) -> Cells {
        let seed = input.joint_key("psijoin 2026 gbf cells");
        let seed = *seed.first_chunk().expect("16 of 32 bytes");
        Cells::new(seed, self.shape)
    }
}

/// What the strings of an item sum up to.
fn value<const D: usize>(digest: &[u8; D]) -> Block {
    Block::from_bytes(std::array::from_fn(|i| digest[i]))
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
