use psijoin_channel::{Inbound, Outbound, stream};
use psijoin_encode::{BinHasher, CHOICES, CuckooTable, Digests};
use psijoin_ot::matrix::{ReceiverMatrix, ReceiverRows};
use psijoin_psi::{
    Context, Error, Input, Output, Party, Result,
    masks::{Mask, MaskIndex},
};
use psijoin_runtime::{memory::Buffer, parallel};

use super::{
    Functions, Params, STASH,
    code::{self, CodeInput, code_input},
};

/// The party that learns the result, after the offline phase.
pub(super) struct Receiver(ReceiverMatrix);

impl Party for Receiver {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        let seeds = params.ots().offer(context)?;
        Ok(Self(seeds.into_matrix(params.row_shape())))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let (outbound, inbound) = context.channel.halves();
        let items = input.items.digests();

        // Step 2.
        context.phases.begin("Cuckoo hashing");
        let functions = Functions::new(params, input.joint_seed);
        let table = Table::build(items, &functions.bins, params)?;

        // Step 3, and the own masks of step 5 while the rows are at hand.
        context.phases.begin("code words");
        let own = self.send_code_words(params, items, &table, &functions, outbound)?;

        // Step 5.
        context.phases.begin("masks");
        let found = find_shared(params, &own, &table, inbound)?;
        Ok(Output::rows(found, items.len()))
    }
}

impl Receiver {
    /// Step 3: sends u_j, and returns H(j, T_0,j), of all rows j.
    fn send_code_words(
        &self,
        params: &Params,
        items: Digests<'_>,
        table: &Table,
        functions: &Functions,
        outbound: &mut dyn Outbound,
    ) -> Result<Buffer<Mask>, Error> {
        let (chunks, row_words) = (params.row_chunks(), params.row_shape().words);
        let mut own = Buffer::<Mask>::zeroed(chunks.total);
        stream::send_with(
            outbound,
            chunks,
            &mut own,
            &Scratch::default,
            &|range, own, scratch, message| {
                let first_row = range.start as u32;
                self.0.expand(range, &mut scratch.rows);
                // u_j = T_0 ⊕ T_1 ⊕ C(y, z)
                scratch.add_code_words(first_row, items, table, functions);
                let ReceiverRows { t0, sum, .. } = &mut scratch.rows;
                code::append_bytes(sum, row_words, params.row_bytes(), message);
                for (number, row) in (first_row..).zip(t0.chunks_exact_mut(row_words)) {
                    code::tag(row, number);
                }
                functions.hash.masks(t0, own);
                Ok::<(), Error>(())
            },
        )?;
        Ok(own)
    }
}

/// Step 5: the items whose own mask is in the list of the sender's that it should be in.
fn find_shared(
    params: &Params,
    own: &[Mask],
    table: &Table,
    inbound: &mut dyn Inbound,
) -> Result<Vec<u32>, Error> {
    let masks = params.masks;
    let index = MaskIndex::new(own, masks, table.occupied().into_iter());
    // A message holds the masks of some items, one list after the other.
    let find = |items: usize, message: &[u8]| {
        let mut found = Vec::new();
        let sent = masks.unpack(message, items * params.lists());
        index.find_all(sent, |number, row| {
            let list = number / items;
            let owner = table.row(row);
            let owner = owner.filter(|(_, input)| params.list_of(row, *input) == list);
            found.extend(owner.map(|(item, _)| item));
        });
        found
    };
    let found = stream::receive_each(
        inbound,
        params.mask_chunks(),
        &|items| params.mask_message_bytes(items),
        &|range, message| find(range.len(), message),
    )?;
    Ok(found.concat())
}

/// The matrix rows of one message.
#[derive(Default)]
struct Scratch {
    rows: ReceiverRows,
    inputs: Vec<CodeInput>,
    code_words: Vec<u64>,
    /// The rows that hold an item.
    occupied: Vec<usize>,
}

impl Scratch {
    /// Adds the code word of each row's item to T_0 ⊕ T_1.
    fn add_code_words(
        &mut self,
        first_row: u32,
        items: Digests<'_>,
        table: &Table,
        functions: &Functions,
    ) {
        let row_words = functions.code.row_words();
        let sums = &mut self.rows.sum;
        self.inputs.clear();
        self.occupied.clear();
        for i in 0..sums.len() / row_words {
            if let Some((item, list)) = table.row(first_row + i as u32) {
                self.inputs
                    .push(code_input(items.words(item as usize), list));
                self.occupied.push(i);
            }
        }
        self.code_words.resize(self.inputs.len() * row_words, 0);
        functions
            .code
            .encode(&mut self.inputs, &mut self.code_words);
        let words = self.code_words.chunks_exact(row_words);
        for (i, word) in self.occupied.iter().zip(words) {
            code::add(&mut sums[i * row_words..][..row_words], word);
        }
    }
}

/// The receiver's items in rows of the matrix: bins first, then stash places.
struct Table {
    cuckoo: CuckooTable,
    bins: u32,
}

impl Table {
    /// Step 2.
    fn build(items: Digests<'_>, hasher: &BinHasher, params: &Params) -> Result<Self, Error> {
        const ITEMS_PER_TASK: usize = 4096;
        let mut choices = vec![[0; CHOICES]; items.len()];
        parallel::chunks_mut(&mut choices, ITEMS_PER_TASK, &|range, choices| {
            hasher.hash(items.slice(range), choices);
        });
        let cuckoo = CuckooTable::build(&choices, params.shape).map_err(|_| {
            let request = &params.base.request;
            request.bad_luck("the items do not fit into the Cuckoo table")
        })?;
        Ok(Self {
            cuckoo,
            bins: params.shape.bins,
        })
    }

    /// Returns the item in a row, and the input of the code that goes with it.
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

    /// Returns the rows that hold an item.
    fn occupied(&self) -> Vec<u32> {
        let stash = self.cuckoo.stash().len() as u32;
        (0..self.bins + stash)
            .filter(|row| self.row(*row).is_some())
            .collect()
    }
}
