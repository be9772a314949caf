use psijoin_block::{Block, memory::Buffer, parallel};
use psijoin_channel::Channel;
use psijoin_circuit::Bits;
use psijoin_encode::{CHOICES, garbled_bloom::GarbledBloomFilter};
use psijoin_ot::oprg;

use super::{Params, Variant};
use crate::{Context, Error, Input, Output, Party, functions, items::by_digest};

/// The party that learns nothing, after the offline phase.
pub struct Sender<O: Variant> {
    params: Params<O>,
    ots: O::Sender,
    output: functions::Sender,
}

impl<O: Variant> Sender<O> {
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
        let ots = O::set_up_sender(channel, &mut context.rng)?;
        context.phase("output OTs");
        Ok(Self {
            output: functions::Sender::offline(params.function(), channel, &mut context.rng)?,
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
        // Nothing is to depend on their order.
        let mut items = items.to_vec();
        parallel::sort_unstable(&mut items);
        let keys = params.keys(input);
        let (bins, keys) = (keys.bins(&items), keys.of_all(&items));
        let mut targets = Buffer::zeroed(params.lanes());
        context.rng.fill(&mut targets);

        // Step 3.
        context.phase("garbled Bloom filter");
        let target = |key: usize| targets[bins[key / CHOICES][key % CHOICES] as usize];
        let values = (0..keys.len()).map(target).collect();
        let (bands, cells) = (params.bands(), params.cells(input));
        let filter =
            GarbledBloomFilter::new(&cells, &keys, values, bands.ranges(), &mut context.rng)
                .map_err(|_| {
                    let what = "some keys share all their cells of the filter";
                    Error::BadLuck(what, params.sigma())
                })?;
        drop((items, bins, keys));
        context.phase("oblivious transfers");
        let mut strings = Buffer::zeroed(bands.longest());
        for band in bands.ranges() {
            let strings = &mut strings[..band.len()];
            oprg::send::<O>(&mut ots, band.start, strings, channel)?;
            filter.add(&band, strings);
            params.strings().send(strings, channel.halves().0)?;
        }
        drop((filter, strings));

        // Step 4.
        context.phase("equality tests");
        let mut shares = vec![Block::ZERO; params.lanes().div_ceil(Block::BITS)];
        // Forked, so that the opened shares are no output of what all else is drawn from.
        context.rng.fork().fill(&mut shares);
        let shares = Bits::from_blocks(&shares, params.lanes());
        let opened: Vec<[Block; 2]> = (shares.iter())
            .map(|share| [share, !share].map(|share| Block(share.into())))
            .collect();
        let tests = params.tests(input);
        tests.send::<O>(&targets, &opened, &mut ots, channel, &mut context.rng)?;

        // Step 5.
        context.phase("output");
        output.release(shares, Vec::new(), channel)
    }
}

impl<O: Variant> Party for Sender<O> {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        by_digest!(self, input, channel, context)
    }
}
