//! `kkrt`: batched oblivious PRF from OT extension with a pseudorandom code.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Kolesnikov, Kumaresan, Rosulek, Trieu (CCS 2016): Figure 2 (BaRK-OPRF) and
//! Figure 3 (PSI). Sender = Alice, receiver = Bob. With w the code width, b bins, s stash:
//!
//! *Offline.*
//! 1. The sender draws Δ ∈ {0,1}^w. By w random OTs (IKNP, on 128 base OTs) it gets one seed
//!    of each pair of the receiver's.
//!
//! *Online.*
//! 2. Both expand hash functions h_0, h_1, h_2 and the code C from the joint seed. The
//!    receiver places each item y in a bin h_z(y), or in the stash.
//! 3. For bin j with (y, z) the receiver takes rows j of T_0 and T_1, expanded from its seed
//!    pairs, and sends u_j = T_0 ⊕ T_1 ⊕ C(y, z). The sender, who has expanded row j of
//!    its seeds to q, gets q_j = q ⊕ (u_j ∧ Δ) = T_0 ⊕ (C(y, z) ∧ Δ).
//! 4. The sender sends, for each of its items x, the masks F_{h_z(x)}(x, z) for z = 0, 1, 2 and
//!    F_j(x) for each stash place j, where F_j(x, z) = H(j, q_j ⊕ (C(x, z) ∧ Δ)), in an order
//!    drawn at random.
//! 5. The receiver's own value is H(j, T_0,j): y is shared if the sender's list for the same
//!    z (or stash place) has it.
//!
//! **Deviations.**
//! - The table: the three bins of an item are distinct, and bins and stash are derived from a
//!   proved bound (`psijoin_params::cuckoo`): 1.23 bins an item and no stash from a few
//!   thousand items on, where the paper has 1.2 and a stash of 2 to 12. Each stash place
//!   would cost a mask for every item of the sender.
//! - C and H are keyed BLAKE3 on a row a lane, cheaper here than the paper's four AES calls.
//! - Seeds of h and C come from the joint seed, fixed after both sets, and not from one party.
//! - The matrix is not expanded offline: AES makes it faster than memory returns it.
//! - One random order for all lists, not one for each: the receiver learns the position
//!   of a shared item in its list z. The values at the same position of the other lists are
//!   those of an input that it never evaluated, so they stay pseudorandom, and a simulator
//!   that draws random positions for the shared items produces the same view.
//! - An empty bin sends u_j with a code word of zeros: the sender lacks one of T_0 and T_1 in
//!   every column, so u_j is pseudorandom for it whatever the code word.
//! - The receiver does not return the result to the sender (step 6 of Figure 3).
//!
//! **Security.** Semi-honest; H is Hamming correlation robust (KKRT16 Definition 1). C keeps
//! all of the sender's 3·n (+ stash) code words at distance 128 or more from what the receiver
//! asked, within the failure budget (Lemma 1). Both learn the set sizes.
//!
//! **Cost.** Four rounds. Offline 8.3 KiB and 16 bytes a column; online w/8 bytes a bin and
//! (3 + s)·n_sender masks of σ + 1 + log2(n_sender·n_receiver) bits.

use psijoin_block::Block;
use psijoin_channel::Channel;
use psijoin_encode::{BinHasher, CHOICES, CuckooTable};
use psijoin_ot::iknp::{self, SemiHonest};
use psijoin_params::cuckoo::Shape;
use rayon::prelude::*;

use crate::{
    Adversary, Context, Error, Info, Input, Items, Output, Party, Plan, Protocol, Request,
    masks::{Mask, MaskIndex},
    protocol, stream,
};

mod code;
mod matrix;
mod params;

use code::{Code, Row, RowHash};
use matrix::{ReceiverMatrix, SenderMatrix};
pub use params::Params;

/// The entry of the registry.
pub struct Kkrt;

static INFO: Info = Info {
    name: "kkrt",
    summary: "OT extension with a pseudorandom code: fast, more traffic",
    paper: "KKRT16",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

/// The list of masks, or the last input of the code, that stash places use.
const STASH: u8 = CHOICES as u8;

impl Protocol for Kkrt {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::new(request)?))
    }
}

/// The party that learns nothing, after the offline phase.
pub struct Sender {
    params: Params,
    matrix: SenderMatrix,
}

/// The party that learns the result, after the offline phase.
pub struct Receiver {
    params: Params,
    matrix: ReceiverMatrix,
}

impl Sender {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(
        params: &Params,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        context.phase("base OT");
        let mut ots = iknp::Receiver::<SemiHonest>::setup(channel, &mut context.rng)?;
        let mut delta = vec![Block::ZERO; params.code_bits.div_ceil(Block::BITS)];
        context.rng.fill(&mut delta);
        let mut seeds = vec![Block::ZERO; params.code_bits];
        ots.random(&delta, &mut seeds, channel)?;
        Ok(Self {
            params: params.clone(),
            matrix: SenderMatrix::new(&delta, &mut seeds),
        })
    }
}

impl Receiver {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(
        params: &Params,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        context.phase("base OT");
        let mut ots = iknp::Sender::<SemiHonest>::setup(channel, &mut context.rng)?;
        let mut seeds = vec![[Block::ZERO; 2]; params.code_bits];
        ots.random(&mut seeds, channel)?;
        Ok(Self {
            params: params.clone(),
            matrix: ReceiverMatrix::new(&mut seeds),
        })
    }
}

impl Party for Sender {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        match (input.items, self.params.wide_rows()) {
            (Items::Short(items), false) => self.online::<16, 8>(items, &input, channel, context),
            (Items::Short(items), true) => self.online::<16, 16>(items, &input, channel, context),
            (Items::Long(items), false) => self.online::<32, 8>(items, &input, channel, context),
            (Items::Long(items), true) => self.online::<32, 16>(items, &input, channel, context),
        }
    }
}

impl Party for Receiver {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        match (input.items, self.params.wide_rows()) {
            (Items::Short(items), false) => self.online::<16, 8>(items, &input, channel, context),
            (Items::Short(items), true) => self.online::<16, 16>(items, &input, channel, context),
            (Items::Long(items), false) => self.online::<32, 8>(items, &input, channel, context),
            (Items::Long(items), true) => self.online::<32, 16>(items, &input, channel, context),
        }
    }
}

/// What both expand from the joint seed in step 2, for digests of D bytes and rows of R words.
struct Functions<const R: usize> {
    bins: BinHasher,
    code: Code,
    hash: RowHash,
}

impl<const R: usize> Functions<R> {
    fn new(params: &Params, input: &Input<'_>) -> Self {
        let seed = input.joint_key("psijoin 2026 kkrt bins");
        let seed = seed[..16].try_into().expect("16 of 32 bytes");
        Self {
            bins: BinHasher::new(seed, params.shape.bins),
            code: Code::new(input.joint_key("psijoin 2026 kkrt code"), params.code_bits),
            hash: RowHash::new(input.joint_key("psijoin 2026 kkrt masks"), params.masks),
        }
    }
}

impl Sender {
    fn online<const D: usize, const R: usize>(
        self: Box<Self>,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self { params, matrix } = *self;
        let functions = Functions::<R>::new(&params, input);
        let order = context.rng.permutation(items.len() as u32);

        // Step 3: q_j.
        context.phase("code words");
        let rows = params.row_chunks();
        let delta = matrix.delta::<R>();
        let mut q: Vec<Row<R>> = vec![[0; R]; rows.total];
        let (outbound, inbound) = channel.halves();
        let length = |count| count * params.row_bytes();
        stream::receive_into(inbound, rows, length, &mut q, |range, message, q| {
            matrix.expand(range, q);
            for (row, sent) in q.iter_mut().zip(message.chunks_exact(params.row_bytes())) {
                code::add_masked(row, &code::from_bytes(sent), &delta);
            }
        })?;

        // Step 4: a message holds the same items of each list.
        context.phase("masks");
        stream::send(outbound, params.mask_chunks(), |range| {
            let items: Vec<[u8; D]> = order[range]
                .iter()
                .map(|position| items[*position as usize])
                .collect();
            let mut choices = vec![[0; CHOICES]; items.len()];
            functions.bins.hash(&items, &mut choices);
            let evaluate = |list: u8, bin: &dyn Fn(usize) -> u32| {
                let mut words = functions
                    .code
                    .words::<D, R>(items.iter().map(|x| (x, list)));
                for (i, word) in words.iter_mut().enumerate() {
                    let bin = bin(i);
                    code::evaluate(word, &q[bin as usize], &delta, bin);
                }
                functions.hash.masks(&words)
            };
            let mut masks = Vec::with_capacity(items.len() * params.lists());
            for list in 0..CHOICES {
                masks.append(&mut evaluate(list as u8, &|i| choices[i][list]));
            }
            for place in 0..params.shape.stash {
                masks.append(&mut evaluate(STASH, &|_| params.shape.bins + place));
            }
            let mut message = Vec::with_capacity(params.mask_message_bytes(items.len()));
            params.masks.pack(masks.into_iter(), &mut message);
            message
        })?;
        Ok(Output::Nothing)
    }
}

impl Receiver {
    fn online<const D: usize, const R: usize>(
        self: Box<Self>,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self { params, matrix } = *self;
        let functions = Functions::<R>::new(&params, input);

        // Step 2.
        context.phase("Cuckoo hashing");
        let table = Table::build(items, &functions.bins, params.shape, &params)?;

        // Step 3: u_j; and H(j, T_0,j), the receiver's own masks.
        context.phase("code words");
        let rows = params.row_chunks();
        let (outbound, inbound) = channel.halves();
        let mut own: Vec<Mask> = vec![0; rows.total];
        stream::send_with(outbound, rows, &mut own, |range, own| {
            let mut t0: Vec<Row<R>> = vec![[0; R]; range.len()];
            let mut sum: Vec<Row<R>> = vec![[0; R]; range.len()];
            matrix.expand(range.clone(), &mut t0, &mut sum);
            let occupied = range.clone().enumerate().filter_map(|(i, row)| {
                table
                    .row(row as u32)
                    .map(|(item, list)| (i, (&items[item as usize], list)))
            });
            let (positions, inputs): (Vec<usize>, Vec<_>) = occupied.unzip();
            for (i, word) in positions
                .iter()
                .zip(functions.code.words::<D, R>(inputs.into_iter()))
            {
                code::add(&mut sum[*i], &word);
            }
            for (row, number) in t0.iter_mut().zip(range) {
                code::tag(row, number as u32);
            }
            own.copy_from_slice(&functions.hash.masks(&t0));
            code::to_bytes(&sum, params.row_bytes())
        })?;

        // Step 5.
        context.phase("masks");
        let occupied = table.occupied();
        let index = MaskIndex::new(&own, params.masks, occupied.iter().copied());
        let found = stream::receive_each(
            inbound,
            params.mask_chunks(),
            |count| params.mask_message_bytes(count),
            |range, message| {
                let sent = params.masks.unpack(message, range.len() * params.lists());
                let mut found = Vec::new();
                for (i, mask) in sent.enumerate() {
                    let list = i / range.len();
                    found.extend(index.find(mask).filter_map(|row| {
                        let (item, own_list) = table.row(row)?;
                        (params.list_of(row, own_list) == list).then_some(item)
                    }));
                }
                found
            },
        )?;
        Ok(protocol::rows(found))
    }
}

/// The receiver's items in rows of the matrix: bins first, then stash places.
struct Table {
    cuckoo: CuckooTable,
    bins: u32,
}

impl Table {
    fn build<const D: usize>(
        items: &[[u8; D]],
        hasher: &BinHasher,
        shape: Shape,
        params: &Params,
    ) -> Result<Self, Error> {
        const ITEMS_PER_TASK: usize = 4096;
        let mut choices = vec![[0; CHOICES]; items.len()];
        choices
            .par_chunks_mut(ITEMS_PER_TASK)
            .zip(items.par_chunks(ITEMS_PER_TASK))
            .for_each(|(choices, items)| hasher.hash(items, choices));
        let cuckoo = CuckooTable::build(&choices, shape)
            .map_err(|_| params.bad_luck("the items do not fit into the Cuckoo table"))?;
        Ok(Self {
            cuckoo,
            bins: shape.bins,
        })
    }

    /// The item in a row, and the input of the code that goes with it.
    fn row(&self, row: u32) -> Option<(u32, u8)> {
        match row.checked_sub(self.bins) {
            None => self
                .cuckoo
                .bin(row)
                .map(|placed| (placed.item, placed.choice)),
            Some(place) => self
                .cuckoo
                .stash()
                .get(place as usize)
                .map(|item| (*item, STASH)),
        }
    }

    /// The rows that hold an item.
    fn occupied(&self) -> Vec<u32> {
        let stash = self.cuckoo.stash().len() as u32;
        (0..self.bins + stash)
            .filter(|row| self.row(*row).is_some())
            .collect()
    }
}
