use psijoin_block::{
    Block,
    memory::{Buffer, prefetch},
};
use psijoin_channel::Channel;
use psijoin_encode::CHOICES;
use psijoin_ot::iknp::{self, SemiHonest};
use zeroize::Zeroizing;

use super::{
    COLUMNS_PER_WORD, Functions, Params, STASH, by_size,
    code::{self, CodeInput, code_input},
};
use crate::{
    Context, Error, Input, Items, Output, Party,
    masks::Mask,
    ot_matrix::{Row, SenderMatrix, Strip},
    stream,
};

/// The party that learns nothing, after the offline phase.
pub struct Sender {
    params: Params,
    matrix: SenderMatrix,
}

impl Sender {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(
        params: &Params,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        context.phase("base OT");
        let mut ots = iknp::Receiver::<SemiHonest>::setup(channel, &mut context.rng)?;
        let mut delta = Zeroizing::new(vec![Block::ZERO; params.code_bits.div_ceil(Block::BITS)]);
        context.rng.fill(&mut delta);
        let mut seeds = Zeroizing::new(vec![Block::ZERO; params.code_bits]);
        ots.random(&delta, &mut seeds, channel)?;
        Ok(Self {
            params: params.clone(),
            matrix: SenderMatrix::new(delta, &seeds, COLUMNS_PER_WORD),
        })
    }

    fn online<const D: usize, const R: usize>(
        self,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self { params, matrix } = self;
        let functions = Functions::<R>::new(&params, input);
        let order = context.rng.permutation(items.len() as u32);
        let delta = matrix.delta::<R>();

        context.phase("code words");
        let q = receive_code_words(&params, &matrix, &delta, channel)?;

        // Step 4: a message holds the same items of each list.
        context.phase("masks");
        let (outbound, _) = channel.halves();
        let mut no_state = vec![(); items.len()];
        stream::send_with(
            outbound,
            params.mask_chunks(),
            &mut no_state,
            &Scratch::<D, R>::default,
            &|range, _, scratch, message| {
                scratch.items.clear();
                scratch
                    .items
                    .extend(order[range].iter().map(|i| items[*i as usize]));
                scratch.evaluate_all(&params, &functions, &q, &delta);
                params.masks.pack(scratch.masks.iter().copied(), message);
                Ok(())
            },
        )?;
        Ok(Output::Nothing)
    }
}

impl Party for Sender {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        by_size!(self, input, channel, context)
    }
}

/// Step 3: the rows q_j.
fn receive_code_words<const R: usize>(
    params: &Params,
    matrix: &SenderMatrix,
    delta: &Row<R>,
    channel: &mut Channel,
) -> Result<Buffer<Row<R>>, Error> {
    let rows = params.row_chunks();
    let mut q = Buffer::<Row<R>>::zeroed(rows.total);
    let (_, inbound) = channel.halves();
    stream::receive_into(
        inbound,
        rows,
        &|count| count * params.row_bytes(),
        &mut q,
        &Strip::default,
        &|range, message, q, strip| {
            matrix.expand(range, strip, q);
            for (row, sent) in q.iter_mut().zip(message.chunks_exact(params.row_bytes())) {
                code::add_masked(row, &code::from_bytes(sent), delta);
            }
        },
    )?;
    Ok(q)
}

/// The values of step 4 for the items of one message.
#[derive(Default)]
struct Scratch<const D: usize, const R: usize> {
    items: Vec<[u8; D]>,
    bins: Vec<[u32; CHOICES]>,
    inputs: Vec<CodeInput>,
    rows: Vec<Row<R>>,
    masks: Vec<Mask>,
}

impl<const D: usize, const R: usize> Scratch<D, R> {
    /// The masks of all lists, one list after the other.
    fn evaluate_all(
        &mut self,
        params: &Params,
        functions: &Functions<R>,
        q: &[Row<R>],
        delta: &Row<R>,
    ) {
        self.bins.resize(self.items.len(), [0; CHOICES]);
        functions.bins.hash(&self.items, &mut self.bins);
        self.masks.clear();
        for list in 0..CHOICES {
            self.evaluate(functions, q, delta, list as u8, |bins| bins[list]);
        }
        for place in 0..params.shape.stash {
            self.evaluate(functions, q, delta, STASH, |_| params.shape.bins + place);
        }
    }

    /// Appends the mask of each item in the row that `row_of` picks.
    fn evaluate(
        &mut self,
        functions: &Functions<R>,
        q: &[Row<R>],
        delta: &Row<R>,
        list: u8,
        row_of: impl Fn(&[u32; CHOICES]) -> u32,
    ) {
        // The rows arrive while the code words are computed.
        self.bins
            .iter()
            .for_each(|bins| prefetch(&q[row_of(bins) as usize]));
        self.inputs.clear();
        self.inputs
            .extend(self.items.iter().map(|item| code_input(item, list)));
        self.rows.resize(self.items.len(), [0; R]);
        functions.code.encode(&mut self.inputs, &mut self.rows);
        for (row, bins) in self.rows.iter_mut().zip(&self.bins) {
            let number = row_of(bins);
            code::evaluate(row, &q[number as usize], delta, number);
        }
        let done = self.masks.len();
        self.masks.resize(done + self.rows.len(), 0);
        functions.hash.masks(&self.rows, &mut self.masks[done..]);
    }
}
