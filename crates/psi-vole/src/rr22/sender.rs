use psijoin_block::{memory::Buffer, tower::Tower};
use psijoin_channel::{Inbound, read_ahead};
use psijoin_ot::{
    iknp::{Model, SemiHonest},
    vole::Base,
};
use psijoin_psi::{Context, Error, Input, Output, Party, Phases, Result, sorted_masks::sort};

use super::Params;
use crate::oprf;

/// The party that learns nothing, after the offline phase.
pub(super) struct Sender<B: Base>(oprf::Sender<B>);

impl<B: Base> Party for Sender<B> {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        oprf::Sender::offline::<SemiHonest>(&params.oprf, context).map(Self)
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let (w, inbound) = (Tower::default(), context.channel.halves().1);
        // Steps 3 and 4.
        let outputs = evaluate::<SemiHonest, B>(params, self.0, w, input, inbound, context.phases)?;
        send_masks(params, outputs, context)
    }

    /// The store arrives while the vector OLE is still computed.
    fn at_once(params: &Params, input: &Input, context: &mut Context) -> Result<Output, Error> {
        // Step 1, the receiver's half.
        let granted = oprf::Sender::<B>::begin::<SemiHonest>(&params.oprf, context)?;
        let ((reader, mut store), phases) = (read_ahead::queue(context.channel), context.phases);
        let (outputs, ()) = context.channel.exchange(
            |outbound| {
                // Step 1, the sender's half.
                let oprf = oprf::Sender::<B>::new(granted.finish_sending(outbound)?);
                // Steps 3 and 4. If the store ends too early, the reader's error says why.
                let w = Tower::default();
                let outputs = evaluate::<SemiHonest, B>(params, oprf, w, input, &mut store, phases);
                Ok::<_, Error>(outputs)
            },
            |inbound| Ok(reader.read(inbound, params.oprf.messages::<B>())?),
        )?;
        send_masks(params, outputs?, context)
    }
}

/// Step 3 of the sender, and the outputs of step 4, as the store arrives.
pub(super) fn evaluate<M: Model, B: Base>(
    params: &Params,
    oprf: oprf::Sender<B>,
    w: Tower,
    input: &Input,
    inbound: &mut dyn Inbound,
    phases: Phases<'_>,
) -> Result<Buffer<u128>, Error> {
    let inputs = params.inputs::<M>(input, phases);
    phases.begin("evaluation");
    oprf.evaluate(&inputs, w, inbound)
}

/// The masks of step 4.
pub(super) fn send_masks(
    params: &Params,
    outputs: Buffer<u128>,
    context: &mut Context,
) -> Result<Output, Error> {
    context.phases.begin("masks");
    let sorted = sort(&outputs);
    drop(outputs);
    params.masks().send(&sorted, context.channel.halves().0)?;
    Ok(Output::Nothing)
}
