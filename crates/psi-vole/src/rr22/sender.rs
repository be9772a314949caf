use psijoin_channel::{Inbound, read_ahead};
use psijoin_ot::{iknp::SemiHonest, vole::Base};
use psijoin_psi::{
    Context, Error, Input, Output, Party, Phases, Result, output_hash::Outputs, payloads::Holding,
    sorted_masks::sort,
};

use super::Params;
use crate::oprf;

/// The party that learns nothing, after the offline phase.
pub(super) struct Sender<B: Base>(oprf::Sender<B>);

impl<B: Base> Party for Sender<B> {
    type Params = Params;

    const OVERLAPS: bool = true;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        oprf::Sender::offline::<SemiHonest>(&params.oprf, context).map(Self)
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let inbound = context.channel.halves().1;
        // Steps 3 and 4.
        let evaluated = evaluate(params, self.0, input, inbound, context.phases)?;
        evaluated.finish(params, input, context)
    }

    /// Runs both phases at once: the store arrives while the vector OLE is still computed.
    fn at_once(params: &Params, input: &Input, context: &mut Context) -> Result<Output, Error> {
        // Step 1, the receiver's half.
        let granted = oprf::Sender::<B>::begin::<SemiHonest>(&params.oprf, context)?;
        let ((reader, mut store), phases) = (read_ahead::queue(context.channel), context.phases);
        let (evaluated, ()) = context.channel.exchange(
            |outbound| {
                // Step 1, the sender's half.
                let oprf = oprf::Sender::<B>::new(granted.finish_sending(outbound)?);
                // Steps 3 and 4. If the store ends too early, the reader's error is returned.
                let evaluated = evaluate(params, oprf, input, &mut store, phases);
                Ok::<_, Error>(evaluated)
            },
            |inbound| Ok(reader.read(inbound, params.oprf.messages::<B>())?),
        )?;
        evaluated?.finish(params, input, context)
    }
}

/// The sender's knowledge when it has evaluated the function at all of its items.
pub(super) struct Evaluated<'a> {
    pub(super) inputs: oprf::Inputs<'a>,
    pub(super) outputs: Outputs,
}

/// Step 3 of the sender, and the outputs of step 4, as the store arrives.
fn evaluate<'a, B: Base>(
    params: &'a Params,
    oprf: oprf::Sender<B>,
    input: &Input,
    inbound: &mut dyn Inbound,
    phases: Phases<'_>,
) -> Result<Evaluated<'a>, Error> {
    let inputs = params.inputs::<SemiHonest>(input, phases);
    phases.begin("evaluation");
    let outputs = params.outputs(inputs.items.digests().len());
    let outputs = oprf.evaluate(&inputs, inbound, outputs)?;
    Ok(Evaluated { inputs, outputs })
}

impl Evaluated<'_> {
    /// Returns the masks of step 4, and payloads.
    pub(super) fn finish(
        self,
        params: &Params,
        input: &Input,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self { inputs, outputs } = self;
        if let Some(delivery) = params.delivery() {
            let holding = Holding {
                outputs,
                positions: inputs.items.positions(),
                payloads: input.payloads,
            };
            return delivery.send(holding, input.joint_seed, context);
        }
        drop(inputs);
        context.phases.begin("masks");
        let sorted = sort(&outputs.hashes);
        drop(outputs);
        params.masks().send(&sorted, context.channel.halves().0)?;
        Ok(Output::Nothing)
    }
}
