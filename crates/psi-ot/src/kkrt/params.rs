use psijoin_channel::stream::Chunks;
use psijoin_encode::CHOICES;
use psijoin_ot::matrix::RowShape;
use psijoin_params::{
    Security,
    code::{near_collision, width_bits},
    cuckoo::{self, Costs, Shape},
};
use psijoin_psi::{
    BaseParams, Conversation, Derived, Dialogue, Error, Plan, Request, mask_params::MaskParams,
    masks::MaskLength, parameters,
};

use super::{INFO, Receiver, STASH, Sender};
use crate::seeds::SeedOts;

/// Rows of the matrix that are expanded, encoded and sent at once. Their columns, rows and
/// code words take half a megabyte, which fits the second-level cache.
const ROWS_PER_MESSAGE: usize = 2048;

/// Items whose masks travel together.
const ITEMS_PER_MESSAGE: usize = 2048;

/// Words of a row, unless it is wide.
pub(super) const ROW_WORDS: usize = 8;

/// Words of a wide row.
pub(super) const WIDE_ROW_WORDS: usize = 16;

/// All numbers of a run.
#[derive(Debug)]
pub struct Params {
    pub(super) base: BaseParams,
    pub(super) masks: MaskLength,
    pub(super) shape: Shape,
    /// w, a multiple of eight: a row is sent as whole bytes.
    pub(super) code_bits: usize,
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
        let code_bits = width_bits(evaluations, budget.share(0.125))?.next_multiple_of(8);
        budget.charge("code distance", near_collision(code_bits, evaluations))?;
        Ok(Self {
            base,
            masks,
            shape,
            code_bits: code_bits as usize,
        })
    }

    /// Returns the plan of a run with these numbers.
    pub fn plan(self) -> Plan {
        let online = Conversation::default()
            .receiver(self.row_chunks().bytes(|rows| rows * self.row_bytes()))
            .sender(
                self.mask_chunks()
                    .bytes(|items| self.mask_message_bytes(items)),
            );
        let parameters = parameters(&[
            ("digest bytes", self.base.digest_bytes as u64),
            ("bins", self.shape.bins.into()),
            ("stash places", self.shape.stash.into()),
            ("code bits", self.code_bits as u64),
            ("mask bits", self.masks.bits.into()),
        ]);
        let derived = Derived {
            info: &INFO,
            base: self.base.clone(),
            parameters,
            dialogue: Dialogue::new(self.ots().conversation(), online),
        };
        Plan::new::<Sender, Receiver>(derived, self)
    }

    /// Returns rows without gaps, with 32 bits for their number.
    pub(super) fn row_shape(&self) -> RowShape {
        let is_wide = self.code_bits > ROW_WORDS * 64 - 32;
        RowShape {
            words: if is_wide { WIDE_ROW_WORDS } else { ROW_WORDS },
            columns_per_word: u64::BITS as usize,
        }
    }

    /// Returns the OTs of step 1.
    pub(super) fn ots(&self) -> SeedOts {
        SeedOts {
            columns: self.code_bits,
            checked: false,
        }
    }

    /// Returns the number of bytes of a row on the wire.
    pub(super) fn row_bytes(&self) -> usize {
        self.code_bits / 8
    }

    /// Returns the rows of the matrix: bins and stash.
    pub(super) fn row_chunks(&self) -> Chunks {
        let total = self.shape.bins as usize + self.shape.stash as usize;
        Chunks {
            total,
            per_message: ROWS_PER_MESSAGE,
        }
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
        self.masks.packed_bytes(items * self.lists())
    }
}
