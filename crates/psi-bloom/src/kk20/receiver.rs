use psijoin_circuit::Bits;
use psijoin_ot::extension;
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use psijoin_psi_functions::{
    bins::Table,
    functions::{self, Compared},
};
use psijoin_runtime::memory::Buffer;

use super::{CELLS, Params, prepared::Prepared};
use crate::{filter_ot::FilterOt, psm_co::Form};

/// The party that learns the result, after the offline phase.
pub(super) type Receiver<F> = Prepared<F, extension::Receiver, functions::Receiver>;

impl<F: Form> Party for Receiver<F> {
    type Params = Params<F>;

    fn offline(params: &Params<F>, context: &mut Context) -> Result<Self, Error> {
        Self::prepare(
            params,
            context,
            FilterOt::set_up_receiver,
            functions::Receiver::offline,
        )
    }

    fn online(self, params: &Params<F>, input: &Input, context: &mut Context) -> Result<Output> {
        let Self {
            mut ots, output, ..
        } = self;
        let (items, transfer) = (input.items.digests(), params.transfer);

        // Step 2.
        context.phases.begin("hashing");
        let keys = params.keys(input.joint_seed);
        let table = Table::build(&keys.bins(items), params.bins, params.base.sigma())?;
        let keys = keys.of_placed(items, &table);

        // Step 3.
        context.phases.begin("oblivious transfers");
        let cells = transfer.filter.cells(CELLS, input);
        let sums = transfer.receive(&cells, keys.as_digests(), &mut ots, context.channel)?;
        let mut numbers = Buffer::zeroed(params.lanes());
        context.rng.fill(&mut numbers);
        for (placed, sum) in table.placed.iter().zip(sums) {
            numbers[placed.bin as usize] = sum;
        }
        drop(keys);

        // Step 4.
        context.phases.begin("equality tests");
        let tests = params.tests(input.joint_seed);
        let opened = tests.receive(&numbers, &mut ots, context.channel)?;
        let shares: Bits = opened.iter().map(|share| share.bit(0)).collect();

        // Step 5.
        context.phases.begin("output");
        let compared = Compared {
            shares,
            placed: &mut table.placed.iter().map(|placed| (placed.bin, placed.item)),
            items: items.len(),
            numbers: Vec::new(),
            columns: input.columns,
        };
        output.learn(compared, context.channel)
    }
}
