use psijoin_block::Block;
use psijoin_circuit::Bits;
use psijoin_encode::CHOICES;
use psijoin_ot::extension;
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use psijoin_psi_functions::functions;
use psijoin_runtime::memory::Buffer;

use super::{CELLS, Params, prepared::Prepared};
use crate::{filter_ot::FilterOt, psm_co::Form};

/// The party that learns nothing, after the offline phase.
pub(super) type Sender<F> = Prepared<F, extension::Sender, functions::Sender>;

impl<F: Form> Party for Sender<F> {
    type Params = Params<F>;

    fn offline(params: &Params<F>, context: &mut Context) -> Result<Self, Error> {
        Self::prepare(
            params,
            context,
            FilterOt::set_up_sender,
            functions::Sender::offline,
        )
    }

    fn online(self, params: &Params<F>, input: &Input, context: &mut Context) -> Result<Output> {
        let Self {
            mut ots, output, ..
        } = self;
        let transfer = params.transfer;

        // Step 2.
        context.phases.begin("hashing");
        // Nothing is to depend on their order.
        let items = input.items.digests().sorted();
        let keys = params.keys(input.joint_seed);
        let bins = keys.bins(items.as_digests());
        let keys = keys.of_all(items.as_digests());
        let mut targets = Buffer::zeroed(params.lanes());
        context.rng.fill(&mut targets);

        // Step 3.
        context.phases.begin("garbled Bloom filter");
        let target = |key: usize| targets[bins[key / CHOICES][key % CHOICES] as usize];
        let keys = keys.as_digests();
        let values = (0..keys.len()).map(target).collect();
        let cells = transfer.filter.cells(CELLS, input);
        let filter =
            transfer.garble(&cells, keys, values, params.base.sigma(), &mut context.rng)?;
        drop((items, bins));
        context.phases.begin("oblivious transfers");
        transfer.send(&filter, &mut ots, context.channel)?;
        drop(filter);

        // Step 4.
        context.phases.begin("equality tests");
        let mut shares = vec![Block::ZERO; params.lanes().div_ceil(Block::BITS)];
        // Forked, so that the opened shares do not come from the generator that everything else is
        // drawn from.
        context.rng.fork().fill(&mut shares);
        let shares = Bits::from_blocks(&shares, params.lanes());
        let opened: Vec<[Block; 2]> = (shares.iter())
            .map(|share| [share, !share].map(|share| Block(share.into())))
            .collect();
        let tests = params.tests(input.joint_seed);
        tests.send(
            &targets,
            &opened,
            &mut ots,
            context.channel,
            &mut context.rng,
        )?;

        // Step 5.
        context.phases.begin("output");
        output.release(shares, Vec::new(), context.channel)
    }
}
