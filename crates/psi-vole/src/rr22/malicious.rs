//! The parties of `rr22-malicious`. The phases follow each other: nothing that depends on a may be
//! sent before the sender has passed its check.

use psijoin_ot::{iknp::Malicious, vole::Base};
use psijoin_psi::{Context, Error, Input, Output, Party, Result};

use super::{
    Params,
    joint_coin::{Committed, Promised},
    receiver::{find, send_store},
    sender::Evaluated,
};
use crate::oprf;

/// The party that learns nothing, after the offline phase.
pub(super) struct Sender<B: Base>(oprf::Sender<B>);

/// The party that learns the result, after the offline phase.
pub(super) struct Receiver<B: Base>(oprf::Receiver<B>);

impl<B: Base> Party for Sender<B> {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        oprf::Sender::offline::<Malicious>(&params.oprf, context).map(Self)
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        // Before step 2.
        let coin = Committed::exchange(context.channel, &mut context.rng)?;
        let (outbound, inbound) = context.channel.halves();
        let inputs = params.inputs::<Malicious>(input, context.phases);
        context.phases.begin("evaluation");
        // Step 3.
        let mut oprf = self.0;
        oprf.receive(&params.oprf, inbound)?;
        // After step 3. The receiver goes on while this party evaluates.
        coin.open(outbound)?;
        // Step 4.
        let outputs = params.outputs(inputs.items.digests().len());
        let outputs = oprf.outputs(&inputs, coin.joint(), outputs);
        Evaluated { inputs, outputs }.finish(params, input, context)
    }
}

impl<B: Base> Party for Receiver<B> {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        oprf::Receiver::offline::<Malicious>(&params.oprf, context).map(Self)
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let oprf::Receiver { a, c } = self.0;
        // Before step 2.
        let coin = Promised::exchange(context.channel, &mut context.rng)?;
        // Steps 2 and 3.
        let outbound = context.channel.halves().0;
        let (rng, phases) = (&mut context.rng, context.phases);
        let sent = send_store::<Malicious, _>(params, &a, input, outbound, rng, phases)?;
        drop(a);
        // After step 3.
        let w = coin.joint(context.channel)?;
        // Step 5.
        find(params, sent, c, w, input, context)
    }
}
