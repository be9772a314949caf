use psijoin_block::{Prg, tower::Tower};
use psijoin_channel::Outbound;
use psijoin_ot::{
    iknp::{Model, SemiHonest},
    vole::Base,
};
use psijoin_psi::{
    Context, Error, Input, Output, Party, Phases, Result, payloads::Holding, sorted_masks::Own,
};
use psijoin_runtime::memory::Buffer;

use super::Params;
use crate::oprf;

/// The party that learns the result, after the offline phase.
pub(super) struct Receiver<B: Base>(oprf::Receiver<B>);

impl<B: Base> Party for Receiver<B> {
    type Params = Params;

    const OVERLAPS: bool = true;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        oprf::Receiver::offline::<SemiHonest>(&params.oprf, context).map(Self)
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let oprf::Receiver { a, c } = self.0;
        let (outbound, w) = (context.channel.halves().0, Tower::default());
        let (rng, phases) = (&mut context.rng, context.phases);
        // Steps 2 and 3.
        let sent = send_store::<SemiHonest, B>(params, &a, input, outbound, rng, phases)?;
        drop(a);
        // Step 5.
        find(params, sent, c, w, input, context)
    }

    /// Runs both phases at once: the store is on its way while the vector OLE is still computed.
    fn at_once(params: &Params, input: &Input, context: &mut Context) -> Result<Output, Error> {
        // Step 1, the receiver's half.
        let planted = oprf::Receiver::<B>::begin::<SemiHonest>(&params.oprf, context)?;
        let (rng, phases) = (&mut context.rng, context.phases);
        // Steps 2 and 3, while the sender's half of step 1 arrives.
        let (sent, corrections) = context.channel.exchange(
            |outbound| {
                send_store::<SemiHonest, B>(params, planted.a(), input, outbound, rng, phases)
            },
            |inbound| Ok(planted.receive(inbound)?),
        )?;
        context.phases.begin("VOLE");
        let c = planted.finish_received(corrections);
        // Step 5.
        find(params, sent, c, Tower::default(), input, context)
    }
}

/// Step 2, and step 3 of the receiver.
pub(super) fn send_store<'a, M: Model, B: Base>(
    params: &'a Params,
    a: &[B],
    input: &Input,
    outbound: &mut dyn Outbound,
    rng: &mut Prg,
    phases: Phases<'_>,
) -> Result<oprf::Inputs<'a>, Error> {
    let inputs = params.inputs::<M>(input, phases);
    phases.begin("store");
    inputs.send_store(a, outbound, rng)?;
    Ok(inputs)
}

/// Step 5, and payloads.
pub(super) fn find(
    params: &Params,
    inputs: oprf::Inputs<'_>,
    c: Buffer<Tower>,
    w: Tower,
    input: &Input,
    context: &mut Context,
) -> Result<Output, Error> {
    context.phases.begin("outputs");
    let outputs = params.outputs(inputs.items.digests().len());
    let outputs = inputs.outputs(c, w, outputs);
    let positions = inputs.items.positions();
    if let Some(delivery) = params.delivery() {
        let holding = Holding {
            outputs,
            positions,
            payloads: input.payloads,
        };
        return delivery.receive(holding, input.joint_seed, context);
    }
    let own = Own::new(params.masks(), &outputs.hashes);
    context.phases.begin("masks");
    let found = params.masks().receive(&own, context.channel.halves().1)?;
    let found = found.iter().flatten();
    let found = found.map(|place| positions[*place as usize]);
    Ok(Output::rows(found, positions.len()))
}
