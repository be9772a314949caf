use psijoin_block::Block;
use psijoin_encode::CHOICES;
use psijoin_ot::extension;
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use psijoin_runtime::memory::Buffer;

use super::{CELLS, Params};
use crate::{prepared, psm_co::Form};

/// The party that learns nothing, after the offline phase.
pub(super) type Sender<F> = prepared::Sender<Params<F>>;

impl<F: Form> Party for Sender<F> {
    type Params = Params<F>;

    fn offline(params: &Params<F>, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        Self::prepare(params.opprf.extension(), params.function(), context)
    }

    fn online(self, params: &Params<F>, input: &Input, context: &mut Context) -> Result<Output> {
        let Self {
            mut ots, output, ..
        } = self;

        // Steps 2 and 3.
        let targets = params.program(input, &mut ots, context)?;

        // Step 4.
        context.phases.begin("equality tests");
        let (tests, rng) = (params.tests(input.joint_seed), &mut context.rng);
        let shares = tests.send_shares(&targets, &mut ots, context.channel, rng)?;

        // Step 5.
        context.phases.begin("output");
        output.release(shares, Vec::new(), context)
    }
}

impl<F: Form> Params<F> {
    /// Steps 2 and 3 of the sender: its targets.
    pub(crate) fn program(
        &self,
        input: &Input,
        ots: &mut extension::Sender,
        context: &mut Context,
    ) -> Result<Buffer<Block>, Error> {
        // Step 2.
        context.phases.begin("hashing");
        // Nothing is to depend on their order.
        let items = input.items.digests().sorted();
        let keys = self.keys(input.joint_seed);
        let bins = keys.bins(items.as_digests());
        let keys = keys.of_all(items.as_digests());
        let mut targets = Buffer::zeroed(self.lanes());
        context.rng.fill(&mut targets);

        // Step 3.
        context.phases.begin("garbled Bloom filter");
        let target = |key: usize| targets[bins[key / CHOICES][key % CHOICES] as usize];
        let values: Vec<Block> = (0..keys.as_digests().len()).map(target).collect();
        drop((items, bins));
        let (key, rng) = (input.joint_seed.key(CELLS), &mut context.rng);
        let keys = keys.as_digests();
        (self.opprf).send(key, keys, values, ots, context.channel, rng)?;
        Ok(targets)
    }
}
