use psijoin_channel::Channel;
use psijoin_encode::CHOICES;
use psijoin_ot::iknp::{self, SemiHonest};
use psijoin_params::{
    FailureBudget, Security,
    code::{near_collision, width_bits},
    cuckoo::{self, Costs, Shape},
};

use super::{INFO, Receiver, STASH, Sender};
use crate::{
    Context, Cost, Error, Info, Parameter, Party, Plan, Request, Role, Traffic, items,
    masks::MaskLength, stream::Chunks,
};

/// Rows of the matrix that are expanded, encoded and sent at once. Their columns, rows and
/// code words take half a megabyte, which fits the second-level cache.
const ROWS_PER_MESSAGE: usize = 2048;

/// Items whose masks travel together.
const ITEMS_PER_MESSAGE: usize = 2048;

/// All numbers of a run.
#[derive(Debug, Clone)]
pub struct Params {
    pub(super) request: Request,
    pub(super) digest_bytes: usize,
    pub(super) shape: Shape,
    /// w, a multiple of eight: a row is sent as whole bytes.
    pub(super) code_bits: usize,
    pub(super) masks: MaskLength,
    budget: FailureBudget,
}

impl Params {
    /// Derives them.
    ///
    /// The failure budget: half for the masks, an eighth each for digests, table and code.
    ///
    /// # Errors
    /// If a set is empty, or no table or code reaches the security level.
    pub fn new(request: &Request) -> Result<Self, Error> {
        let sizes = request.sizes;
        if sizes.pairs() == 0 {
            return Err(Error::Misuse("an empty set needs no protocol"));
        }
        let mut budget = FailureBudget::new(request.security);
        let digest_bytes = items::digest_bytes(sizes, &mut budget)?;
        let masks = MaskLength::derive(sizes.pairs(), &mut budget)?;

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
            request: request.clone(),
            digest_bytes,
            shape,
            code_bits: code_bits as usize,
            masks,
            budget,
        })
    }

    /// Whether a row, with 32 bits for its number, needs more than eight words.
    pub(super) fn wide_rows(&self) -> bool {
        self.code_bits > 8 * 64 - 32
    }

    /// Bytes of a row on the wire.
    pub(super) fn row_bytes(&self) -> usize {
        self.code_bits / 8
    }

    /// The rows of the matrix: bins and stash.
    pub(super) fn row_chunks(&self) -> Chunks {
        let total = self.shape.bins as usize + self.shape.stash as usize;
        Chunks {
            total,
            per_message: ROWS_PER_MESSAGE,
        }
    }

    /// The sender's items, in messages of their masks.
    pub(super) fn mask_chunks(&self) -> Chunks {
        let total = self.request.sizes.sender() as usize;
        Chunks {
            total,
            per_message: ITEMS_PER_MESSAGE,
        }
    }

    /// Masks an item: one for each hash function, one for each stash place.
    pub(super) fn lists(&self) -> usize {
        CHOICES + self.shape.stash as usize
    }

    /// The list that holds what is in a row, given which input of the code it was.
    pub(super) fn list_of(&self, row: u32, code_input: u8) -> usize {
        if code_input == STASH {
            CHOICES + (row - self.shape.bins) as usize
        } else {
            code_input.into()
        }
    }

    /// Bytes of the masks of so many items.
    pub(super) fn mask_message_bytes(&self, items: usize) -> usize {
        self.masks.packed_bytes(items * self.lists())
    }

    pub(super) fn bad_luck(&self, what: &'static str) -> Error {
        Error::BadLuck(what, self.request.security.statistical_bits())
    }
}

impl Plan for Params {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn request(&self) -> &Request {
        &self.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter {
                name: "digest bytes",
                value: self.digest_bytes as u64,
            },
            Parameter {
                name: "bins",
                value: self.shape.bins.into(),
            },
            Parameter {
                name: "stash places",
                value: self.shape.stash.into(),
            },
            Parameter {
                name: "code bits",
                value: self.code_bits as u64,
            },
            Parameter {
                name: "mask bits",
                value: self.masks.bits.into(),
            },
        ]
    }

    fn budget(&self) -> &FailureBudget {
        &self.budget
    }

    fn cost(&self) -> Cost {
        // The sender of the PSI is the receiver of the OTs.
        let offline = Traffic {
            sender_bytes: iknp::SETUP_RECEIVER_BYTES
                + iknp::receiver_bytes::<SemiHonest>(self.code_bits),
            receiver_bytes: iknp::SETUP_SENDER_BYTES
                + iknp::sender_bytes::<SemiHonest>(self.code_bits),
            rounds: 2,
        };
        let online = Traffic {
            sender_bytes: self
                .mask_chunks()
                .bytes(|items| self.mask_message_bytes(items)),
            receiver_bytes: self.row_chunks().bytes(|rows| rows * self.row_bytes()),
            rounds: 2,
        };
        Cost {
            offline,
            online,
            ..Cost::default()
        }
    }

    fn digest_bytes(&self) -> usize {
        self.digest_bytes
    }

    fn offline(
        &self,
        role: Role,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Box<dyn Party>, Error> {
        Ok(match role {
            Role::Sender => Box::new(Sender::offline(self, channel, context)?),
            Role::Receiver => Box::new(Receiver::offline(self, channel, context)?),
        })
    }
}
