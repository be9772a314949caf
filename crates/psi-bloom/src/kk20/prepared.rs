use std::marker::PhantomData;

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_psi::{Context, Error};
use psijoin_psi_functions::functions::Function;

use super::Params;
use crate::{filter_ot::FilterOt, psm_co::Form};

/// A party after the offline phase.
pub(super) struct Prepared<F, Ots, Output> {
    /// For the filter and the equality tests.
    pub(super) ots: Ots,
    pub(super) output: Output,
    form: PhantomData<F>,
}

impl<F: Form, Ots, Output> Prepared<F, Ots, Output> {
    /// Returns what both parties do, each with its own side of the OTs and of the output.
    ///
    /// # Errors
    /// As those two.
    pub(super) fn prepare(
        params: &Params<F>,
        context: &mut Context,
        set_up: fn(FilterOt, &mut Context) -> Result<Ots, Error>,
        prepare_output: fn(Function, &mut Channel, &mut Prg) -> Result<Output, Error>,
    ) -> Result<Self, Error> {
        // Step 1.
        let ots = set_up(params.transfer.filter, context)?;
        context.phases.begin("output OTs");
        let output = prepare_output(params.function(), context.channel, &mut context.rng)?;
        Ok(Self {
            ots,
            output,
            form: PhantomData,
        })
    }
}
