//! The oblivious PRF of RR22: the receiver gets the value at each of its items, the sender gets the
//! function, from a key-value store of the receiver and subfield vector OLE. The header of
//! [`rr22`](crate::rr22) has the steps; [`rr22_circuit`](crate::rr22_circuit) stands on it too.

use psijoin_block::tower::{Element, Tower};
use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::{
    Digests,
    okvs::{Partition, Row, RowHasher},
};
use psijoin_ot::{
    iknp::Model,
    vole::{self, Base},
};
use psijoin_params::{FailureBudget, Log2Prob, Security, digest, okvs};
use psijoin_psi::{
    BaseOts, Conversation, Error, Parameter, Role, ots,
    output_hash::{OutputHash, Outputs, Piece},
    parameters,
};

mod receiver;
mod sender;
mod store;
mod width;

pub(crate) use receiver::Receiver;
pub(crate) use sender::Sender;
pub(crate) use width::{Width, over_base};

/// Items that are evaluated together: what is known of them stays in a first-level cache.
pub(crate) const GROUP: usize = 256;

/// The layout of a store.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) shape: okvs::Shape,
    security: Security,
    base_ots: BaseOts,
}

impl Layout {
    /// Derives the layout for this many items, within a sixteenth of the budget; `name` tells whose
    /// they are.
    pub(crate) fn derive(
        name: &'static str,
        items: u64,
        security: Security,
        budget: &mut FailureBudget,
    ) -> Result<Self, Error> {
        let shape = okvs::smallest(items, budget.share(0.0625))?;
        budget.charge(name, okvs::failure(items, shape))?;
        Ok(Self {
            shape,
            security,
            base_ots: BaseOts::DiffieHellman,
        })
    }

    /// Sets the base OTs.
    pub(crate) fn on(self, base_ots: BaseOts) -> Self {
        Self { base_ots, ..self }
    }

    /// Returns the first messages of step 1: base OTs, and what their sender adds.
    pub(crate) fn setup(&self) -> Conversation {
        let base = self.base_ots;
        let bytes = [
            vole::setup_sender_bytes(base),
            vole::setup_receiver_bytes(base),
        ];
        ots::setup(base, Role::Sender, bytes)
    }

    /// Returns the other messages of step 1.
    pub(crate) fn vole<M: Model, B: Base>(&self) -> Conversation {
        Conversation::default().flights(vole::flights::<M, B>(self.shape.len()))
    }

    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        let shape = self.shape;
        parameters(&[
            ("starts of rows", shape.starts.into()),
            ("slots per row", shape.weight.into()),
            ("rows per segment", shape.segment_items.into()),
            ("slots per segment", shape.segment_slots.into()),
            ("dense columns", shape.dense.into()),
        ])
    }

    fn bad_luck(&self) -> Error {
        Error::BadLuck(
            "the items do not fit into the key-value store",
            self.security.statistical_bits(),
        )
    }
}

/// A party's items, sorted by their starts in the store, and the functions that the joint seed
/// gives both parties.
pub(crate) struct Inputs<'a> {
    layout: &'a Layout,
    /// The row of an item, and H_B: different bits of one function.
    rows: RowHasher,
    /// H_o.
    output: OutputHash,
    pub(crate) items: Partition,
}

impl<'a> Inputs<'a> {
    /// Sorts items by their starts, and derives the keys. Semi-honest parties fix their items
    /// before the seed is known, so row and H_B need only be pseudorandom.
    pub(crate) fn new<M: Model>(
        layout: &'a Layout,
        items: Digests<'_>,
        joint_seed: &JointSeed,
    ) -> Self {
        let key = joint_seed.key("psijoin 2026 rr22 rows");
        Self {
            layout,
            rows: match M::CHECKED {
                true => RowHasher::oracle(key, layout.shape),
                false => RowHasher::pseudorandom(key, layout.shape),
            },
            output: OutputHash(joint_seed.key("psijoin 2026 rr22 outputs")),
            items: Partition::new(items, layout.shape.starts),
        }
    }

    /// Returns the items of each start, with their outputs.
    fn starts<'b>(&'b self, outputs: &'b mut Outputs) -> Vec<Start<'b>> {
        let items = self.items.iter().map(|(items, _)| items);
        items.zip(outputs.split(self.items.lens())).collect()
    }

    /// Computes H_o(v + w, x) for values v of items x.
    fn hash(&self, values: &mut [Tower], w: Tower, items: Digests<'_>, outputs: &mut Piece<'_>) {
        values.iter_mut().for_each(|value| *value ^= w);
        self.output.fill(values, items, outputs);
    }
}

/// The items of a start, and their outputs.
type Start<'a> = (Digests<'a>, Piece<'a>);

/// What is known of some items of a start. Rows are computed whenever they are needed: those of all
/// items would take 20 bytes per item.
struct Group<B> {
    rows: [Row; GROUP],
    /// H_B.
    values: [B; GROUP],
    decoded: [Tower; GROUP],
}

impl<B: Element> Group<B> {
    /// Returns rows and H_B of up to [`GROUP`] items, and room for a decoded value for each.
    fn hash(&mut self, hasher: &RowHasher, items: Digests<'_>) -> (&[Row], &[B], &mut [Tower]) {
        let (rows, values) = (
            &mut self.rows[..items.len()],
            &mut self.values[..items.len()],
        );
        hasher.hash(items, rows, values);
        (rows, values, &mut self.decoded[..items.len()])
    }
}

impl<B: Element> Default for Group<B> {
    fn default() -> Self {
        Self {
            rows: [Row::default(); GROUP],
            values: [B::default(); GROUP],
            decoded: [Tower::default(); GROUP],
        }
    }
}

/// The event that rows and values show that they come from block ciphers: a cipher repeats no
/// output, and a function does with the probability that two digests are equal.
pub(crate) const CIPHERS: &str = "ciphers unlike functions";

/// Returns a bound on that event, for the items of both parties together.
pub(crate) fn ciphers(items: u64, digest_bytes: usize) -> Log2Prob {
    match digest_bytes {
        16 => digest::collision_among(items, 16).times(RowHasher::CIPHERS as u128),
        _ => Log2Prob::ZERO,
    }
}
