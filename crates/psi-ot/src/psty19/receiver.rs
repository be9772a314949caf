use psijoin_channel::joint_seed::JointSeed;
use psijoin_circuit::{Side, gmw};
use psijoin_encode::Digests;
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use psijoin_psi_functions::{
    bins::Table,
    functions::{self, Compared},
};
use psijoin_runtime::memory::Buffer;

use super::{Params, hints::Places};
use crate::batched_oprf;

/// The party that learns the result, after the offline phase.
pub(super) struct Receiver {
    oprf: batched_oprf::Receiver,
    triples: gmw::Setup,
    output: functions::Receiver,
}

impl Party for Receiver {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        let oprf = batched_oprf::Receiver::setup(&params.oprf, context)?;
        let triples = params.equality.set_up(Side::Second, context)?;
        context.phases.begin("output OTs");
        let output =
            functions::Receiver::offline(params.function(), context.channel, &mut context.rng)?;
        Ok(Self {
            oprf,
            triples,
            output,
        })
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let Self {
            oprf,
            mut triples,
            output,
        } = self;
        let items = input.items.digests();
        // Step 2.
        context.phases.begin("hashing");
        let keys = params.keys(input.joint_seed);
        let table = Table::build(&keys.bins(items), params.bins, params.base.sigma())?;
        let keys = keys.of_placed(items, &table);

        // Steps 3 and 4.
        let keys = keys.as_digests();
        let numbers = look_up(params, &table, keys, oprf, input.joint_seed, context)?;

        // Step 5.
        context.phases.begin("equality tests");
        let shares = (params.equality).equal(&numbers, &mut triples, context.channel)?;

        // Step 6.
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

/// Steps 3 and 4: a number for each bin, where these keys of the table are.
fn look_up(
    params: &Params,
    table: &Table,
    keys: Digests<'_>,
    oprf: batched_oprf::Receiver,
    joint_seed: &JointSeed,
    context: &mut Context,
) -> Result<Buffer<u128>, Error> {
    // Step 3.
    context.phases.begin("oblivious PRF");
    let mut in_bins = vec![None; params.lanes()];
    for (key, placed) in table.placed.iter().enumerate() {
        in_bins[placed.bin as usize] = Some(key);
    }
    let input_of = |bin: u32| {
        let key = in_bins[bin as usize]?;
        Some(batched_oprf::Input::new(keys.words(key), 0))
    };
    let (outbound, inbound) = context.channel.halves();
    let values = oprf.evaluate(&input_of, joint_seed, outbound)?;

    // Step 4.
    context.phases.begin("polynomials");
    let hints = Places::new(params.polynomials, keys, joint_seed).receive(inbound)?;
    let mut numbers = Buffer::<u128>::zeroed(params.lanes());
    (context.rng).fill_bytes(bytemuck::cast_slice_mut(&mut numbers));
    for (placed, hint) in table.placed.iter().zip(hints.iter()) {
        let bin = placed.bin as usize;
        numbers[bin] = hint ^ values[bin];
    }
    Ok(numbers)
}
