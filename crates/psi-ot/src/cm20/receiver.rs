use psijoin_psi::{Context, Error, Input, Output, Party, Result};

use super::Params;
use crate::multi_point_oprf;

/// The party that learns the result, after the offline phase.
pub(super) struct Receiver(multi_point_oprf::Receiver);

impl Party for Receiver {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self(multi_point_oprf::Receiver::setup(
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
        let (_, inbound) = context.channel.halves();
        let found = params.masks().find(values.by_bin(), inbound)?;
        let positions = values.positions();
        let rows = found.iter().map(|place| positions[*place as usize]);
        Ok(Output::rows(rows, positions.len()))
    }
}
