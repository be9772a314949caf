use psijoin_block::Block;
use psijoin_ot::extension;
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use psijoin_psi_functions::{bins::Table, functions::Compared};
use psijoin_runtime::memory::Buffer;

use super::{CELLS, Params};
use crate::{prepared, psm_co::Form};

/// The party that learns the result, after the offline phase.
pub(super) type Receiver<F> = prepared::Receiver<Params<F>>;

impl<F: Form> Party for Receiver<F> {
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
        let (table, numbers) = params.query(input, &mut ots, context)?;

        // Step 4.
        context.phases.begin("equality tests");
        let tests = params.tests(input.joint_seed);
        let shares = tests.receive_shares(&numbers, &mut ots, context.channel)?;

        // Step 5.
        context.phases.begin("output");
        let compared = Compared {
            shares,
            placed: &mut table.placed.iter().map(|placed| (placed.bin, placed.item)),
            items: input.items.len(),
            numbers: Vec::new(),
            columns: input.columns,
        };
        output.learn(compared, context.channel)
    }
}

impl<F: Form> Params<F> {
    /// Steps 2 and 3 of the receiver: its items in their bins, and a number for each bin.
    pub(crate) fn query(
        &self,
        input: &Input,
        ots: &mut extension::Receiver,
        context: &mut Context,
    ) -> Result<(Table, Buffer<Block>), Error> {
        let items = input.items.digests();

        // Step 2.
        context.phases.begin("hashing");
        let keys = self.keys(input.joint_seed);
        let table = Table::build(&keys.bins(items), self.bins, self.base.sigma())?;
        let keys = keys.of_placed(items, &table);

        // Step 3.
        context.phases.begin("oblivious transfers");
        let (key, keys) = (input.joint_seed.key(CELLS), keys.as_digests());
        let sums = (self.opprf).receive(key, keys, ots, context.channel)?;
        let mut numbers = Buffer::zeroed(self.lanes());
        context.rng.fill(&mut numbers);
        for (placed, sum) in table.placed.iter().zip(sums) {
            numbers[placed.bin as usize] = sum;
        }
        Ok((table, numbers))
    }
}
