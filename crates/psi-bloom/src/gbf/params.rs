use std::marker::PhantomData;

use psijoin_channel::Channel;
use psijoin_params::{
    FailureBudget,
    bloom::{self, Shape},
    garbled_bloom, mask,
};

use super::Variant;
use crate::{
    Context, Cost, Error, Info, Parameter, Party, Plan, Request, Role, Traffic,
    garbled::{self, Bands, Strings},
    items,
    masks::MaskLength,
};

/// All numbers of a run.
#[derive(Debug, Clone)]
pub struct Params<O> {
    request: Request,
    digest_bytes: usize,
    pub(super) shape: Shape,
    strings: Strings,
    budget: FailureBudget,
    variant: PhantomData<O>,
}

impl<O: Variant> Params<O> {
    /// Derives them.
    ///
    /// The failure budget: up to an eighth for digests, half for strings that sum up to an item's
    /// value by chance, up to a quarter for hidden items that the receiver could tell from nothing,
    /// and next to nothing for a filter that cannot be made, or contains what it should not.
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
        // Each of the receiver's items is compared with its own value alone.
        let compared = sizes.receiver().into();
        let bits = mask::bits(compared, budget.share(0.5))?;
        budget.charge("value by chance", mask::collision(compared, bits))?;
        let shape = garbled_bloom::shape(sizes, budget.share(0.25))?;
        let dependent = garbled_bloom::dependent(sizes.sender(), sizes.receiver(), shape);
        budget.charge("hidden items that cancel out", dependent)?;
        let stuck = garbled_bloom::stuck(sizes.sender(), shape);
        budget.charge("items without cells of their own", stuck)?;
        let contained = bloom::false_positive(sizes.sender(), shape);
        budget.charge(
            "receiver's item in the sender's filter",
            contained.times(sizes.receiver().into()),
        )?;
        Ok(Self {
            request: request.clone(),
            digest_bytes,
            shape,
            strings: Strings(MaskLength { bits }),
            budget,
            variant: PhantomData,
        })
    }

    pub(super) fn bands(&self) -> Bands {
        Bands(self.shape)
    }

    pub(super) fn strings(&self) -> Strings {
        self.strings
    }

    pub(super) fn bad_luck(&self) -> Error {
        Error::BadLuck(
            "some items share all their cells of the filter",
            self.request.security.statistical_bits(),
        )
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
            ("string bits", self.strings.0.bits.into()),
        ]
        .map(|(name, value)| Parameter { name, value })
        .into()
    }

    fn budget(&self) -> &FailureBudget {
        &self.budget
    }

    fn cost(&self) -> Cost {
        let (bands, strings) = (self.bands(), self.strings);
        Cost {
            offline: Traffic {
                sender_bytes: O::SETUP_SENDER_BYTES,
                receiver_bytes: O::SETUP_RECEIVER_BYTES,
                rounds: 1,
            },
            online: Traffic {
                sender_bytes: bands.bytes(|cells| O::sender_bytes(cells) + strings.bytes(cells)),
                receiver_bytes: bands.bytes(O::chosen_receiver_bytes),
                rounds: (O::chosen_flights(1) + 1) * bands.count(),
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
