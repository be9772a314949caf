use std::marker::PhantomData;

use psijoin_channel::Channel;
use psijoin_params::{
    FailureBudget,
    bloom::{self, Shape},
    mask,
};

use super::Variant;
use crate::{
    Context, Cost, Error, Info, Parameter, Party, Plan, Request, Role, Traffic,
    garbled::{self, Bands},
    items,
    sorted_masks::SortedMasks,
};

/// All numbers of a run.
#[derive(Debug, Clone)]
pub struct Params<O> {
    request: Request,
    digest_bytes: usize,
    shape: Shape,
    mask_range: u128,
    budget: FailureBudget,
    variant: PhantomData<O>,
}

impl<O: Variant> Params<O> {
    /// Derives them.
    ///
    /// The failure budget: up to an eighth for digests, next to nothing for false positives of the
    /// receiver's filter, and the rest for the masks.
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
        let shape = bloom::smallest(sizes.receiver());
        let contained = bloom::false_positive(sizes.receiver(), shape);
        budget.charge(
            "sender's item in the receiver's filter",
            contained.times(sizes.sender().into()),
        )?;
        let mask_range = mask::range(sizes.pairs(), budget.remaining())?;
        let collision = mask::range_collision(sizes.pairs(), mask_range);
        budget.charge("mask collision", collision)?;
        Ok(Self {
            request: request.clone(),
            digest_bytes,
            shape,
            mask_range,
            budget,
            variant: PhantomData,
        })
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) fn bands(&self) -> Bands {
        Bands(self.shape)
    }

    pub(super) fn masks(&self) -> SortedMasks {
        SortedMasks::new(self.request.sizes.sender() as usize, self.mask_range)
    }
}

impl<O: Variant> Plan for Params<O> {
    fn info(&self) -> &'static Info {
        O::INFO
    }

    fn request(&self) -> &Request {
        &self.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        [
            ("digest bytes", self.digest_bytes as u64),
            ("hash functions", self.shape.slices.into()),
            ("cells a hash function", self.shape.slice_cells.into()),
            ("cells a band", self.bands().longest() as u64),
            ("mask range, low half", self.mask_range as u64),
            ("mask range, high half", (self.mask_range >> 64) as u64),
        ]
        .map(|(name, value)| Parameter { name, value })
        .into()
    }

    fn budget(&self) -> &FailureBudget {
        &self.budget
    }

    fn cost(&self) -> Cost {
        let bands = self.bands();
        Cost {
            offline: Traffic {
                sender_bytes: O::SETUP_SENDER_BYTES,
                receiver_bytes: O::SETUP_RECEIVER_BYTES,
                rounds: 1,
            },
            online: Traffic {
                sender_bytes: bands.bytes(O::sender_bytes) + self.masks().coded_bytes(),
                receiver_bytes: bands.bytes(O::chosen_receiver_bytes),
                rounds: O::chosen_flights(bands.count()) + 1,
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
        garbled::offline::<O, _>(self, role, channel, context)
    }
}
