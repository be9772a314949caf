use psijoin_block::tower::{Element, Gf64};
use psijoin_channel::{Channel, joint_seed::JointSeed};
use psijoin_circuit::equality;
use psijoin_encode::Digests;
use psijoin_ot::{iknp::SemiHonest, vole::Base};
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use psijoin_psi_functions::{
    bins::Table,
    functions::{self, Compared},
};
use psijoin_runtime::memory::{Buffer, give_kept_pages_back};

use super::{Params, hints::Hints, masks::Of};
use crate::oprf::{self, over_base};

/// The party that learns the result, after the offline phase.
pub(super) struct Receiver<B: Base> {
    oprf: oprf::Receiver<B>,
    tests: equality::Receiver,
    output: functions::Receiver,
}

impl<B: Base> Party for Receiver<B> {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        let oprf = oprf::Receiver::offline::<SemiHonest>(&params.oprf, context)?;
        context.phases.begin("lookups");
        let mut tests = equality::Receiver::set_up(
            params.base.request.base_ots,
            context.channel,
            &mut context.rng,
        )?;
        tests.prepare(params.lookups(), context.channel)?;
        context.phases.begin("output OTs");
        let output =
            functions::Receiver::offline(params.function(), context.channel, &mut context.rng)?;
        Ok(Self {
            oprf,
            tests,
            output,
        })
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let Self {
            oprf,
            mut tests,
            output,
        } = self;
        let items = input.items.digests();
        // Step 2.
        context.phases.begin("hashing");
        let (table, inputs) = place(params, items, input.joint_seed)?;
        // Step 3.
        context.phases.begin("store");
        let outputs = oprf.evaluate(&inputs, context)?;
        // Step 4.
        context.phases.begin("hints");
        let keys = inputs.items.digests();
        let hints = Hints::new(&params.hints, input.joint_seed, keys, outputs);
        // The hints have the keys in an order of their own.
        let positions = inputs.items.into_positions();
        let bin = |place: usize| {
            let key = positions[place] as usize;
            table.placed[key].bin as usize
        };
        let targets = over_base!(params.target_width, T => {
            receive_targets::<T>(params, &hints, &bin, context)
        })?;
        let numbers = receive_columns(params, &hints, &bin, context.channel)?;
        drop((hints, positions));
        // Step 5.
        context.phases.begin("equality tests");
        give_kept_pages_back();
        let shares = tests.equal(&targets, context.channel)?;
        // Step 6.
        context.phases.begin("output");
        let compared = Compared {
            shares,
            placed: &mut table.placed.iter().map(|placed| (placed.bin, placed.item)),
            items: items.len(),
            numbers,
            columns: input.columns,
        };
        output.learn(compared, context.channel)
    }
}

/// Step 2: the Cuckoo table, and the keys of its items as inputs of the PRF.
fn place<'a>(
    params: &'a Params,
    items: Digests<'_>,
    joint_seed: &JointSeed,
) -> Result<(Table, oprf::Inputs<'a>), Error> {
    let keys = params.keys(joint_seed);
    let table = Table::build(&keys.bins(items), params.bins, params.base.sigma())?;
    let keys = keys.of_placed(items, &table);
    let inputs = oprf::Inputs::new::<SemiHonest>(&params.oprf, keys.as_digests(), joint_seed);
    Ok((table, inputs))
}

/// Step 4: what stands in each bin for the equality test, given the bin of the key at a place.
fn receive_targets<T: Element>(
    params: &Params,
    hints: &Hints<'_>,
    bin: &impl Fn(usize) -> usize,
    context: &mut Context,
) -> Result<equality::Numbers> {
    let mut targets: Buffer<T> = Buffer::zeroed(params.lanes());
    T::fill(&mut targets, &mut context.rng);
    hints.receive(Of::Target, context.channel.halves().1, |place, target| {
        targets[bin(place)] = target;
    })?;
    Ok(equality::Numbers::new(&targets, params.number_bits()))
}

/// Step 4: the number in each bin for each column of the sender.
fn receive_columns(
    params: &Params,
    hints: &Hints<'_>,
    bin: &impl Fn(usize) -> usize,
    channel: &mut Channel,
) -> Result<Vec<Vec<u64>>, Error> {
    let receive = |column| {
        let mut numbers = vec![0; params.lanes()];
        hints.receive(
            Of::Column(column),
            channel.halves().1,
            |place, Gf64(number)| {
                numbers[bin(place)] = number;
            },
        )?;
        Ok(numbers)
    };
    (0..params.base.request.output.columns().sender)
        .map(receive)
        .collect()
}
