//! The first step of the protocols on OT matrices: one random OT per column, for its seeds.
//!
//! The sender of the intersection is the receiver of these OTs: it has Δ, and the seed of each pair
//! that its bit of Δ chose.

use psijoin_block::Block;
use psijoin_ot::{
    iknp::{self, Malicious, Model, SemiHonest},
    matrix::{ReceiverMatrix, RowShape, SenderMatrix},
};
use psijoin_psi::{Context, Conversation, Error};
use zeroize::Zeroizing;

/// The OTs (IKNP, on 128 base OTs).
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeedOts {
    /// The number of OTs.
    pub(crate) columns: usize,
    /// `true` if they are secure even if the sender of the intersection cheats.
    pub(crate) checked: bool,
}

/// The sender's result.
pub(crate) struct ChosenSeeds {
    /// Δ: bit i mod 128 of block i / 128 is that of column i.
    pub(crate) delta: Zeroizing<Vec<Block>>,
    pub(crate) seeds: Zeroizing<Vec<Block>>,
}

/// The receiver's result: both seeds of each pair.
pub(crate) struct SeedPairs(pub(crate) Zeroizing<Vec<[Block; 2]>>);

impl SeedOts {
    /// Returns what is said.
    pub(crate) fn conversation(self) -> Conversation {
        match self.checked {
            false => conversation::<SemiHonest>(self.columns),
            true => conversation::<Malicious>(self.columns),
        }
    }

    /// Returns the sender's part.
    pub(crate) fn choose(self, context: &mut Context) -> Result<ChosenSeeds, Error> {
        context.phases.begin("base OT");
        match self.checked {
            false => choose::<SemiHonest>(self.columns, context),
            true => choose::<Malicious>(self.columns, context),
        }
    }

    /// Returns the receiver's part.
    pub(crate) fn offer(self, context: &mut Context) -> Result<SeedPairs, Error> {
        context.phases.begin("base OT");
        match self.checked {
            false => offer::<SemiHonest>(self.columns, context),
            true => offer::<Malicious>(self.columns, context),
        }
    }
}

fn conversation<M: Model>(columns: usize) -> Conversation {
    let answer = iknp::answer_bytes::<M>(columns);
    Conversation::default()
        .both(iknp::SETUP_RECEIVER_BYTES, iknp::SETUP_SENDER_BYTES)
        .sender(iknp::receiver_bytes::<M>(columns) - answer)
        .receiver(iknp::sender_bytes::<M>(columns))
        .sender(answer)
}

fn choose<M: Model>(columns: usize, context: &mut Context) -> Result<ChosenSeeds, Error> {
    let mut ots = iknp::Receiver::<M>::setup(context.channel, &mut context.rng)?;
    let mut delta = Zeroizing::new(vec![Block::ZERO; columns.div_ceil(Block::BITS)]);
    context.rng.fill(&mut delta);
    let mut seeds = Zeroizing::new(vec![Block::ZERO; columns]);
    ots.random(&delta, &mut seeds, context.channel)?;
    Ok(ChosenSeeds { delta, seeds })
}

fn offer<M: Model>(columns: usize, context: &mut Context) -> Result<SeedPairs, Error> {
    let mut ots = iknp::Sender::<M>::setup(context.channel, &mut context.rng)?;
    let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; columns]);
    ots.random(&mut pairs, context.channel)?;
    Ok(SeedPairs(pairs))
}

impl ChosenSeeds {
    /// Returns the sender's matrix.
    pub(crate) fn into_matrix(self, shape: RowShape) -> SenderMatrix {
        SenderMatrix::new(self.delta, &self.seeds, shape)
    }
}

impl SeedPairs {
    /// Returns the receiver's matrix.
    pub(crate) fn into_matrix(self, shape: RowShape) -> ReceiverMatrix {
        ReceiverMatrix::new(&self.0, shape)
    }
}
