use psijoin_channel::{Inbound, stream};
use psijoin_encode::{BinHasher, CHOICES, CuckooTable, Digests};
use psijoin_psi::{
    Context, Error, Input, Output, Party, Result,
    masks::{Mask, MaskIndex},
};
use psijoin_runtime::parallel;

use super::{Params, STASH, bins};
use crate::batched_oprf;

/// The party that learns the result, after the offline phase.
pub(super) struct Receiver(batched_oprf::Receiver);

impl Party for Receiver {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self(batched_oprf::Receiver::setup(&params.oprf, context)?))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let (outbound, inbound) = context.channel.halves();
        let items = input.items.digests();

        // Step 2.
        context.phases.begin("Cuckoo hashing");
        let table = Table::build(items, &bins(params, input.joint_seed), params)?;

        // Step 3.
        context.phases.begin("code words");
        let input_of = |row| {
            let (item, list) = table.row(row)?;
            let words = items.words(item as usize);
            Some(batched_oprf::Input::new(words, list))
        };
        let own = self.0.evaluate(&input_of, input.joint_seed, outbound)?;

        // Step 5.
        context.phases.begin("masks");
        let found = find_shared(params, &own, &table, inbound)?;
        Ok(Output::rows(found, items.len()))
    }
}

/// Step 5: the items whose own mask is in the list of the sender's that it should be in.
fn find_shared(
    params: &Params,
    own: &[Mask],
    table: &Table,
    inbound: &mut dyn Inbound,
) -> Result<Vec<u32>, Error> {
    let masks = params.masks();
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
