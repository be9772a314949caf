use psijoin_channel::stream::Chunks;
use psijoin_encode::CHOICES;
use psijoin_params::{
    Security,
    cuckoo::{self, Costs, Shape},
};
use psijoin_psi::{
    BaseParams, Conversation, Derived, Dialogue, Error, Plan, Request, mask_params::MaskParams,
    masks::MaskLength, parameters,
};

use super::{INFO, Receiver, STASH, Sender};
use crate::batched_oprf;

/// Items whose masks travel together.
const ITEMS_PER_MESSAGE: usize = batched_oprf::Evaluator::BATCH;

/// All numbers of a run.
#[derive(Debug)]
pub struct Params {
    pub(super) base: BaseParams,
    pub(super) shape: Shape,
    /// A function for each bin and each stash place, whose values are the masks.
    pub(super) oprf: batched_oprf::Params,
}

impl Params {
    /// Derives them.
    ///
    /// The failure budget: half for the masks, an eighth each for digests, table and code.
    ///
    /// # Errors
    /// If no table or code reaches the security level.
    pub fn new(request: &Request) -> Result<Self, Error> {
        let sizes = request.sizes;
        let MaskParams { mut base, masks } = MaskParams::new(request)?;
        let budget = &mut base.budget;

        let kappa = u64::from(Security::COMPUTATIONAL_BITS);
        // A first guess of the code width is enough to weigh bins against stash places.
        let row_bits = 4 * kappa;
        let costs = Costs {
            bin_bits: row_bits,
            stash_bits: row_bits + sizes.sender() * u64::from(masks.bits),
        };
        let shape = cuckoo::smallest(sizes.receiver(), budget.share(0.125), costs)?;
        budget.charge("Cuckoo hashing", cuckoo::failure(sizes.receiver(), shape))?;

        let evaluations = (CHOICES as u64 + u64::from(shape.stash)) * sizes.sender();
        let functions = shape.bins as usize + shape.stash as usize;
        let share = budget.share(0.125);
        let oprf =
            batched_oprf::Params::new(functions, evaluations, masks, share)?.on(request.base_ots);
        budget.charge("code distance", oprf.near_code_words(evaluations))?;
        Ok(Self { base, shape, oprf })
    }

    /// Returns the plan of a run with these numbers.
    pub fn plan(self) -> Plan {
        let online = Conversation::default()
            .receiver(self.oprf.online_bytes())
            .sender(
                self.mask_chunks()
                    .bytes(|items| self.mask_message_bytes(items)),
            );
        let parameters = parameters(&[
            ("digest bytes", self.base.digest_bytes as u64),
            ("bins", self.shape.bins.into()),
            ("stash places", self.shape.stash.into()),
            ("code bits", self.oprf.code_bits as u64),
            ("mask bits", self.masks().bits.into()),
        ]);
        let derived = Derived {
            info: &INFO,
            base: self.base.clone(),
            parameters,
            dialogue: Dialogue::new(self.oprf.setup(), online),
        };
        Plan::new::<Sender, Receiver>(derived, self)
    }

    /// Returns the length of masks.
    pub(super) fn masks(&self) -> MaskLength {
        self.oprf.values
    }

    /// Returns the sender's items, in messages of their masks.
    pub(super) fn mask_chunks(&self) -> Chunks {
        let total = self.base.request.sizes.sender() as usize;
        Chunks {
            total,
            per_message: ITEMS_PER_MESSAGE,
        }
    }

    /// Returns the number of masks per item: one for each hash function, one for each stash place.
    pub(super) fn lists(&self) -> usize {
        CHOICES + self.shape.stash as usize
    }

    /// Returns the list that holds what is in a row, given which input of the code it was.
    pub(super) fn list_of(&self, row: u32, code_input: u8) -> usize {
        if code_input == STASH {
            CHOICES + (row - self.shape.bins) as usize
        } else {
            code_input.into()
        }
    }

    /// Returns the number of bytes of the masks of this many items.
    pub(super) fn mask_message_bytes(&self, items: usize) -> usize {
        self.masks().packed_bytes(items * self.lists())
    }
}
