//! A party after its offline phase, where the output is made from shares of one bit for each lane.

use std::marker::PhantomData;

use psijoin_ot::extension::{self, Extension};
use psijoin_psi::{Context, Error};
use psijoin_psi_functions::functions::{self, Function};

/// A party of the protocol whose parameters are P.
pub(crate) struct Prepared<P, Ots, Output> {
    /// For all that makes the shares.
    pub(crate) ots: Ots,
    /// For what is made of the shares.
    pub(crate) output: Output,
    params: PhantomData<fn() -> P>,
}

/// The party that learns nothing.
pub(crate) type Sender<P> = Prepared<P, extension::Sender, functions::Sender>;

/// The party that learns the result.
pub(crate) type Receiver<P> = Prepared<P, extension::Receiver, functions::Receiver>;

impl<P> Sender<P> {
    /// Runs the base OTs, and prepares the output.
    ///
    /// # Errors
    /// If the channel breaks, or the peer misbehaves.
    pub(crate) fn prepare(
        extension: Extension,
        function: Function,
        context: &mut Context,
    ) -> Result<Self, Error> {
        context.phases.begin("base OT");
        let ots = extension.set_up_sender(context.channel, &mut context.rng)?;
        context.phases.begin("output OTs");
        let output = functions::Sender::offline(function, context.channel, &mut context.rng)?;
        Ok(Self {
            ots,
            output,
            params: PhantomData,
        })
    }
}

impl<P> Receiver<P> {
    /// As [`Sender::prepare`].
    ///
    /// # Errors
    /// As [`Sender::prepare`].
    pub(crate) fn prepare(
        extension: Extension,
        function: Function,
        context: &mut Context,
    ) -> Result<Self, Error> {
        context.phases.begin("base OT");
        let ots = extension.set_up_receiver(context.channel, &mut context.rng)?;
        context.phases.begin("output OTs");
        let output = functions::Receiver::offline(function, context.channel, &mut context.rng)?;
        Ok(Self {
            ots,
            output,
            params: PhantomData,
        })
    }
}
