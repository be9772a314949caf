//! The first step of the protocols on OT matrices: one random OT per column, for its seeds.
//!
//! The sender of the intersection is the receiver of these OTs: it has Δ, and the seed of each pair
//! that its bit of Δ chose.

use psijoin_block::Block;
use psijoin_ot::{
    iknp::{self, Malicious, Model, SemiHonest},
    matrix::{ReceiverMatrix, RowShape, SenderMatrix},
};
use psijoin_psi::{BaseOts, Context, Conversation, Error, Role, ots};
use zeroize::Zeroizing;

/// The OTs (IKNP, on 128 base OTs).
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeedOts {
    /// The number of OTs.
    pub(crate) columns: usize,
    /// `true` if they are secure even if the sender of the intersection cheats.
    pub(crate) checked: bool,
    /// The base OTs.
    pub(crate) base: BaseOts,
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
            false => self.conversation_of::<SemiHonest>(),
            true => self.conversation_of::<Malicious>(),
        }
    }

    /// Returns the sender's part.
    pub(crate) fn choose(self, context: &mut Context) -> Result<ChosenSeeds, Error> {
        context.phases.begin("base OT");
        match self.checked {
            false => self.choose_by::<SemiHonest>(context),
            true => self.choose_by::<Malicious>(context),
        }
    }

    /// Returns the receiver's part.
    pub(crate) fn offer(self, context: &mut Context) -> Result<SeedPairs, Error> {
        context.phases.begin("base OT");
        match self.checked {
            false => self.offer_by::<SemiHonest>(context),
            true => self.offer_by::<Malicious>(context),
        }
    }

    fn conversation_of<M: Model>(self) -> Conversation {
        let columns = self.columns;
        let answer = iknp::answer_bytes::<M>(columns);
        let bytes = [
            iknp::setup_sender_bytes(self.base),
            iknp::setup_receiver_bytes(self.base),
        ];
        ots::setup(self.base, Role::Receiver, bytes)
            .sender(iknp::receiver_bytes::<M>(columns) - answer)
            .receiver(iknp::sender_bytes::<M>(columns))
            .sender(answer)
    }

    fn choose_by<M: Model>(self, context: &mut Context) -> Result<ChosenSeeds, Error> {
        let mut ots = iknp::Receiver::<M>::setup(self.base, context.channel, &mut context.rng)?;
        let mut delta = Zeroizing::new(vec![Block::ZERO; self.columns.div_ceil(Block::BITS)]);
        context.rng.fill(&mut delta);
        let mut seeds = Zeroizing::new(vec![Block::ZERO; self.columns]);
        ots.random(&delta, &mut seeds, context.channel)?;
        Ok(ChosenSeeds { delta, seeds })
    }

    fn offer_by<M: Model>(self, context: &mut Context) -> Result<SeedPairs, Error> {
        let mut ots = iknp::Sender::<M>::setup(self.base, context.channel, &mut context.rng)?;
        let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; self.columns]);
        ots.random(&mut pairs, context.channel)?;
        Ok(SeedPairs(pairs))
    }
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
