use psijoin_channel::{
    Outbound,
    stream::{self, Chunks},
};
use psijoin_encode::{BinHasher, CHOICES, DigestVec, Digests};
use psijoin_psi::{Context, Error, Input, Output, Party, Result, masks::Mask};

use super::{Params, STASH, bins};
use crate::batched_oprf::{self, Evaluator, Functions};

/// The party that learns nothing, after the offline phase.
pub(super) struct Sender(batched_oprf::Sender);

impl Party for Sender {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self(batched_oprf::Sender::setup(&params.oprf, context)?))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let (outbound, inbound) = context.channel.halves();
        let order = context.rng.permutation(input.items.len() as u32);

        // Step 3.
        context.phases.begin("code words");
        let functions = self.0.receive(input.joint_seed, inbound)?;

        // Steps 2 and 4.
        context.phases.begin("masks");
        let masks = Masks {
            params,
            bins: bins(params, input.joint_seed),
            functions,
        };
        masks.send(input.items.digests(), &order, outbound)?;
        Ok(Output::Nothing)
    }
}

/// The origin of the masks.
struct Masks<'a> {
    params: &'a Params,
    bins: BinHasher,
    functions: Functions,
}

impl Masks<'_> {
    /// Step 4: the masks of all items, in this order. A message holds the same items of each list.
    fn send(
        &self,
        items: Digests<'_>,
        order: &[u32],
        outbound: &mut dyn Outbound,
    ) -> Result<(), Error> {
        let chunks: Chunks = self.params.mask_chunks();
        stream::send_with(
            outbound,
            chunks,
            &mut [(); 0],
            &|| Scratch::new(items.digest_bytes()),
            &|range, _, scratch, message| {
                let positions = order[range].iter().map(|position| *position as usize);
                scratch.items.gather(items, positions);
                scratch.evaluate_all(self);
                let masks = scratch.masks.iter().copied();
                self.params.masks().pack(masks, message);
                Ok(())
            },
        )
    }
}

/// The values of step 4 for the items of one message.
struct Scratch {
    items: DigestVec,
    bins: Vec<[u32; CHOICES]>,
    evaluator: Evaluator,
    masks: Vec<Mask>,
}

impl Scratch {
    fn new(digest_bytes: usize) -> Self {
        Self {
            items: DigestVec::zeroed(0, digest_bytes),
            bins: Vec::new(),
            evaluator: Evaluator::default(),
            masks: Vec::new(),
        }
    }

    /// Computes the masks of all lists, one list after the other.
    fn evaluate_all(&mut self, of: &Masks<'_>) {
        let items = self.items.as_digests();
        self.bins.resize(items.len(), [0; CHOICES]);
        of.bins.hash(items, &mut self.bins);
        self.masks.clear();
        for list in 0..CHOICES {
            self.evaluate(of, list as u8, |bins| bins[list]);
        }
        let bins = of.params.shape.bins;
        for place in 0..of.params.shape.stash {
            self.evaluate(of, STASH, |_| bins + place);
        }
    }

    /// Appends F_j(x, list) of each item, in the row j that `row_of` picks.
    fn evaluate(&mut self, of: &Masks<'_>, list: u8, row_of: impl Fn(&[u32; CHOICES]) -> u32) {
        let items = self.items.as_digests();
        for (i, bins) in self.bins.iter().enumerate() {
            let input = batched_oprf::Input::new(items.words(i), list);
            self.evaluator.push(row_of(bins), input);
        }
        self.evaluator.evaluate(&of.functions, &mut self.masks);
    }
}
