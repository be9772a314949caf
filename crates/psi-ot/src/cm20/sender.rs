use psijoin_psi::{Context, Error, Input, Output, Party, Result};

use super::Params;
use crate::multi_point_oprf;

/// The party that learns nothing, after the offline phase.
pub(super) struct Sender(multi_point_oprf::Sender);

impl Party for Sender {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self(multi_point_oprf::Sender::setup(
            &params.oprf,
            context,
        )?))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        // Step 2.
        let values = self
            .0
            .evaluate(input.items.digests(), input.joint_seed, context)?;

        // Step 3.
        context.phases.begin("masks");
        let (outbound, _) = context.channel.halves();
        params
            .masks()
            .send_unsorted(values.into_by_bin(), outbound)?;
        Ok(Output::Nothing)
    }
}
