use psijoin_block::memory::Buffer;
use psijoin_channel::Channel;
use psijoin_circuit::Bits;

use super::{Params, Variant};
use crate::{
    Context, Error, Input, Output, Party,
    bins::Table,
    functions::{self, Compared},
    garbled::Sums,
    items::by_digest,
};

/// The party that learns the result, after the offline phase.
pub struct Receiver<O: Variant> {
    params: Params<O>,
    ots: O::Receiver,
    output: functions::Receiver,
}

impl<O: Variant> Receiver<O> {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(
        params: &Params<O>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        context.phase("base OT");
        let ots = O::set_up_receiver(channel, &mut context.rng)?;
        context.phase("output OTs");
        Ok(Self {
            output: functions::Receiver::offline(params.function(), channel, &mut context.rng)?,
            params: params.clone(),
            ots,
        })
    }

    fn online<const D: usize>(
        self,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self {
            params,
            mut ots,
            output,
        } = self;

        // Step 2.
        context.phase("hashing");
        let keys = params.keys(input);
        let table = Table::build(&keys.bins(items), params.bins, params.sigma())?;
        let keys = keys.of_placed(items, &table);

        // Step 3.
        context.phase("oblivious transfers");
        let mut sums = Sums::new(params.cells(input), params.bands(), &keys);
        for band in params.bands().ranges() {
            let strings = sums.receive::<O>(&band, &mut ots, channel)?;
            params.strings().receive(strings, channel.halves().1)?;
            sums.add(&band);
        }
        let mut numbers = Buffer::zeroed(params.lanes());
        context.rng.fill(&mut numbers);
        for (placed, sum) in table.placed.iter().zip(sums.finish()) {
            numbers[placed.bin as usize] = sum;
        }
        drop(keys);

        // Step 4.
        context.phase("equality tests");
        let opened = (params.tests(input)).receive::<O>(&numbers, &mut ots, channel)?;
        let shares: Bits = opened.iter().map(|share| share.bit(0)).collect();

        // Step 5.
        context.phase("output");
        let compared = Compared {
            shares,
            placed: &mut table.placed.iter().map(|placed| (placed.bin, placed.item)),
            items: items.len(),
            numbers: Vec::new(),
            columns: input.columns,
        };
        output.learn(compared, channel)
    }
}

impl<O: Variant> Party for Receiver<O> {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        by_digest!(self, input, channel, context)
    }
}
