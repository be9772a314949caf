use std::{marker::PhantomData, ops::Range};

use psijoin_channel::Channel;
use psijoin_params::{
    FailureBudget,
    bloom::{self, Shape},
    mask,
};

use super::{Receiver, Sender, Variant};
use crate::{
    Context, Cost, Error, Info, Parameter, Party, Plan, Request, Role, Traffic, items,
    sorted_masks::SortedMasks, stream::Chunks,
};

/// Cells whose strings a party holds at once: 64 MiB. Larger bands cost silent OT fewer bytes in
/// all, and fewer rounds.
const BAND_CELLS: usize = 1 << 22;

/// All numbers of a run.
#[derive(Debug)]
pub struct Params<O> {
    request: Request,
    digest_bytes: usize,
    shape: Shape,
    mask_range: u128,
    budget: FailureBudget,
    variant: PhantomData<O>,
}

impl<O> Clone for Params<O> {
    fn clone(&self) -> Self {
        Self {
            request: self.request.clone(),
            budget: self.budget.clone(),
            ..*self
        }
    }
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

    fn band_chunks(&self) -> Chunks {
        let pair = 2 * self.shape.slice_cells as usize;
        Chunks {
            total: self.shape.cells() as usize,
            // Whole pairs of slices, if one fits: a party then finds each item's cells once.
            per_message: match BAND_CELLS / pair {
                0 => BAND_CELLS,
                pairs => pairs * pair,
            },
        }
    }

    /// The cells whose strings are made at once.
    pub(super) fn bands(&self) -> impl Iterator<Item = Range<usize>> {
        self.band_chunks().ranges()
    }

    pub(super) fn longest_band(&self) -> usize {
        let Chunks { total, per_message } = self.band_chunks();
        total.min(per_message)
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
            ("cells a band", self.longest_band() as u64),
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
        let bands = self.band_chunks();
        let of_bands =
            |of: fn(usize) -> u64| bands.ranges().map(|band| of(band.len())).sum::<u64>();
        Cost {
            offline: Traffic {
                sender_bytes: O::SETUP_SENDER_BYTES,
                receiver_bytes: O::SETUP_RECEIVER_BYTES,
                rounds: 1,
            },
            online: Traffic {
                sender_bytes: of_bands(O::sender_bytes) + self.masks().coded_bytes(),
                receiver_bytes: of_bands(O::receiver_bytes),
                rounds: O::flights(bands.ranges().count() as u64) + 1,
            },
            ..Cost::default()
        }
    }

    fn digest_bytes(&self) -> usize {
        self.digest_bytes
    }

    fn prepare(
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
