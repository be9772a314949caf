use psijoin_channel::Channel;
use psijoin_ot::iknp::SemiHonest;
use psijoin_params::{
    FailureBudget, mask,
    sparse_ot::Layout,
    two_choice::{self, Shape},
};

use super::{INFO, Receiver, Sender};
use crate::{
    Context, Cost, Error, Info, Parameter, Party, Plan, Request, Role, Traffic, items,
    sorted_masks::SortedMasks, spot::Extension, stream::Chunks,
};

/// A message has at least one bin, and no more than this, about.
const MESSAGE_BYTES: usize = 1 << 16;

/// All numbers of a run.
#[derive(Debug, Clone)]
pub struct Params {
    pub(super) request: Request,
    pub(super) digest_bytes: usize,
    pub(super) shape: Shape,
    pub(super) extension: Extension,
    mask_range: u128,
    budget: FailureBudget,
}

impl Params {
    /// Derives them.
    ///
    /// The failure budget: up to an eighth for digests, a 16th for bins, what
    /// [`spot`](crate::spot) takes, and the rest, at least a quarter or so, for the masks.
    ///
    /// # Errors
    /// If a set is empty, or no parameters reach the security level.
    pub fn new(request: &Request) -> Result<Self, Error> {
        let sizes = request.sizes;
        if sizes.pairs() == 0 {
            return Err(Error::Misuse("an empty set needs no protocol"));
        }
        let mut budget = FailureBudget::new(request.security);
        let digest_bytes = items::digest_bytes(sizes, &mut budget)?;
        // n/m = σ, as in the paper.
        let items_per_bin = request.security.statistical_bits();
        let share = budget.share(1.0 / 16.0);
        let shape = two_choice::shape(sizes.receiver(), items_per_bin, share)?;
        budget.charge(
            "2-choice hashing",
            two_choice::failure(sizes.receiver(), shape),
        )?;
        let evaluations = 2 * sizes.sender();
        let layout = Layout {
            polynomials: shape.bins.into(),
            capacity: shape.capacity.into(),
            evaluations,
        };
        let extension = Extension::derive(layout, &mut budget)?;
        let comparisons = 2 * sizes.pairs();
        let mask_range = mask::range(comparisons, budget.remaining())?;
        budget.charge(
            "mask collision",
            mask::range_collision(comparisons, mask_range),
        )?;
        Ok(Self {
            request: request.clone(),
            digest_bytes,
            shape,
            extension,
            mask_range,
            budget,
        })
    }

    /// The bins, in messages of their polynomials.
    pub(super) fn bins(&self) -> Chunks {
        Chunks {
            total: self.shape.bins as usize,
            per_message: (MESSAGE_BYTES / self.bin_bytes()).max(1),
        }
    }

    /// Coefficients of a bin, those of all slices.
    pub(super) fn bin_coefficients(&self) -> usize {
        self.extension.slices * self.shape.capacity as usize
    }

    /// Bytes of a bin's polynomials.
    pub(super) fn bin_bytes(&self) -> usize {
        self.extension.coefficient_bytes(self.bin_coefficients())
    }

    pub(super) fn masks(&self) -> SortedMasks {
        SortedMasks::new(2 * self.request.sizes.sender() as usize, self.mask_range)
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
        [
            ("digest bytes", self.digest_bytes as u64),
            ("bins", self.shape.bins.into()),
            ("places a bin", self.shape.capacity.into()),
        ]
        .map(|(name, value)| Parameter { name, value })
        .into_iter()
        .chain(self.extension.parameters())
        .chain(self.masks().parameters())
        .collect()
    }

    fn budget(&self) -> &FailureBudget {
        &self.budget
    }

    fn cost(&self) -> Cost {
        Cost {
            offline: self.extension.offline_cost::<SemiHonest>(),
            online: Traffic {
                sender_bytes: self.masks().coded_bytes(),
                receiver_bytes: self.bins().bytes(|bins| bins * self.bin_bytes()),
                rounds: 2,
            },
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
