use psijoin_circuit::{Side, gmw};
use psijoin_encode::CHOICES;
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use psijoin_psi_functions::functions;
use psijoin_runtime::{memory::Buffer, parallel};

use super::{Params, hints::Places};
use crate::batched_oprf::{self, Evaluator};

/// The party that learns nothing, after the offline phase.
pub(super) struct Sender {
    oprf: batched_oprf::Sender,
    triples: gmw::Setup,
    output: functions::Sender,
}

impl Party for Sender {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        let oprf = batched_oprf::Sender::setup(&params.oprf, context)?;
        let triples = params.equality.set_up(Side::First, context)?;
        context.phases.begin("output OTs");
        let output =
            functions::Sender::offline(params.function(), context.channel, &mut context.rng)?;
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
        // Step 2.
        context.phases.begin("hashing");
        // Nothing is to depend on their order.
        let items = input.items.digests().sorted();
        let keys = params.keys(input.joint_seed);
        let bins = keys.bins(items.as_digests());
        let keys = keys.of_all(items.as_digests());
        let keys = keys.as_digests();
        let bin = |key: usize| bins[key / CHOICES][key % CHOICES];
        let (outbound, inbound) = context.channel.halves();

        // Step 3.
        context.phases.begin("oblivious PRF");
        let functions = oprf.receive(input.joint_seed, inbound)?;
        let mut values = Buffer::<u128>::zeroed(keys.len());
        parallel::chunks_mut(&mut values, Evaluator::BATCH, &|range, values| {
            let query = |key| (bin(key), batched_oprf::Input::new(keys.words(key), 0));
            values.copy_from_slice(&functions.evaluate(range.map(query)));
        });

        // Step 4.
        context.phases.begin("polynomials");
        let mut targets = Buffer::<u128>::zeroed(params.lanes());
        (context.rng).fill_bytes(bytemuck::cast_slice_mut(&mut targets));
        for (key, value) in values.iter_mut().enumerate() {
            *value ^= targets[bin(key) as usize];
        }
        let places = Places::new(params.polynomials, keys, input.joint_seed);
        let request = &params.base.request;
        places.send(&values, request, outbound, &mut context.rng)?;
        drop((functions, places, values));

        // Step 5.
        context.phases.begin("equality tests");
        let shares = (params.equality).equal(&targets, &mut triples, context.channel)?;

        // Step 6.
        context.phases.begin("output");
        output.release(shares, Vec::new(), context)
    }
}
