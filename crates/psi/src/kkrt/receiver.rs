use psijoin_block::{Block, memory::Buffer, parallel};
use psijoin_channel::Channel;
use psijoin_encode::{BinHasher, CHOICES, CuckooTable};
use psijoin_ot::iknp::{self, SemiHonest};
use zeroize::Zeroizing;

use super::{
    COLUMNS_PER_WORD, Functions, Params, STASH, by_size,
    code::{self, CodeInput, code_input},
};
use crate::{
    Context, Error, Input, Items, Output, Party,
    masks::{Mask, MaskIndex},
    ot_matrix::{ReceiverMatrix, Row, Strip},
    protocol, stream,
};

/// The party that learns the result, after the offline phase.
pub struct Receiver {
    params: Params,
    matrix: ReceiverMatrix,
}

impl Receiver {
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
        let mut ots = iknp::Sender::<SemiHonest>::setup(channel, &mut context.rng)?;
        let mut seeds = Zeroizing::new(vec![[Block::ZERO; 2]; params.code_bits]);
        ots.random(&mut seeds, channel)?;
        Ok(Self {
            params: params.clone(),
            matrix: ReceiverMatrix::new(&seeds, COLUMNS_PER_WORD),
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

        // Step 2.
        context.phase("Cuckoo hashing");
        let table = Table::build(items, &functions.bins, &params)?;

        // Step 3: u_j goes out, and the receiver's own masks H(j, T_0,j) stay.
        context.phase("code words");
        let (outbound, inbound) = channel.halves();
        let rows = params.row_chunks();
        let mut own = Buffer::<Mask>::zeroed(rows.total);
        stream::send_with(
            outbound,
            rows,
            &mut own,
            &Scratch::<R>::default,
            &|range, own, scratch, message| {
                let first_row = range.start as u32;
                scratch.resize(range.len());
                matrix.expand(
                    range,
                    &mut scratch.strips,
                    &mut scratch.t0,
                    &mut scratch.sum,
                );
                scratch.add_code_words(first_row, items, &table, &functions);
                code::append_bytes(&scratch.sum, params.row_bytes(), message);
                for (number, row) in (first_row..).zip(&mut scratch.t0) {
                    code::tag(row, number);
                }
                functions.hash.masks(&scratch.t0, own);
                Ok(())
            },
        )?;

        // Step 5.
        context.phase("masks");
        let occupied = table.occupied();
        let index = MaskIndex::new(&own, params.masks, occupied.iter().copied());
        let found = stream::receive_each(
            inbound,
            params.mask_chunks(),
            &|items| params.mask_message_bytes(items),
            &|range, message| {
                let sent = params.masks.unpack(message, range.len() * params.lists());
                let mut found = Vec::new();
                index.find_all(sent, |number, row| {
                    let item = table.row(row).filter(|(_, code_input)| {
                        params.list_of(row, *code_input) == number / range.len()
                    });
                    found.extend(item.map(|(item, _)| item));
                });
                found
            },
        )?;
        Ok(protocol::rows(found.into_iter().flatten(), items.len()))
    }
}

impl Party for Receiver {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        by_size!(self, input, channel, context)
    }
}

/// The matrix rows of one message.
#[derive(Default)]
struct Scratch<const R: usize> {
    strips: [Strip<R>; 2],
    t0: Vec<Row<R>>,
    /// T_0 ⊕ T_1, and then u.
    sum: Vec<Row<R>>,
    inputs: Vec<CodeInput>,
    code_words: Vec<Row<R>>,
    /// The rows that hold an item.
    occupied: Vec<usize>,
}

impl<const R: usize> Scratch<R> {
    fn resize(&mut self, rows: usize) {
        self.t0.resize(rows, [0; R]);
        self.sum.resize(rows, [0; R]);
    }

    /// Adds the code word of each row's item.
    fn add_code_words<const D: usize>(
        &mut self,
        first_row: u32,
        items: &[[u8; D]],
        table: &Table,
        functions: &Functions<R>,
    ) {
        self.inputs.clear();
        self.occupied.clear();
        for i in 0..self.sum.len() {
            if let Some((item, list)) = table.row(first_row + i as u32) {
                self.inputs.push(code_input(&items[item as usize], list));
                self.occupied.push(i);
            }
        }
        self.code_words.resize(self.inputs.len(), [0; R]);
        functions
            .code
            .encode(&mut self.inputs, &mut self.code_words);
        for (i, word) in self.occupied.iter().zip(&self.code_words) {
            code::add(&mut self.sum[*i], word);
        }
    }
}

/// The receiver's items in rows of the matrix: bins first, then stash places.
struct Table {
    cuckoo: CuckooTable,
    bins: u32,
}

impl Table {
    fn build<const D: usize>(
        items: &[[u8; D]],
        hasher: &BinHasher,
        params: &Params,
    ) -> Result<Self, Error> {
        const ITEMS_PER_TASK: usize = 4096;
        let mut choices = vec![[0; CHOICES]; items.len()];
        parallel::chunks_mut(&mut choices, ITEMS_PER_TASK, &|range, choices| {
            hasher.hash(&items[range], choices);
        });
        let cuckoo = CuckooTable::build(&choices, params.shape)
            .map_err(|_| params.bad_luck("the items do not fit into the Cuckoo table"))?;
        Ok(Self {
            cuckoo,
            bins: params.shape.bins,
        })
    }

    /// The item in a row, and the input of the code that goes with it.
    fn row(&self, row: u32) -> Option<(u32, u8)> {
        match row.checked_sub(self.bins) {
            None => self
                .cuckoo
                .bin(row)
                .map(|placed| (placed.item, placed.choice)),
            Some(place) => self
                .cuckoo
                .stash()
                .get(place as usize)
                .map(|item| (*item, STASH)),
        }
    }

    /// The rows that hold an item.
    fn occupied(&self) -> Vec<u32> {
        let stash = self.cuckoo.stash().len() as u32;
        (0..self.bins + stash)
            .filter(|row| self.row(*row).is_some())
            .collect()
    }
}
