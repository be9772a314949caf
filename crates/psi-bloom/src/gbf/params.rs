use psijoin_ot::extension::Extension;
use psijoin_params::{FailureBudget, bloom, garbled_bloom, mask};
use psijoin_psi::{
    Cost, Derived, Error, Info, Parameter, Plan, Request, items, masks::MaskLength, parameters,
};

use super::{INFO, Receiver, SILENT_INFO, Sender};
use crate::{filter_ot::FilterOt, garbled_transfer::GarbledTransfer};

/// All numbers of a run.
#[derive(Debug)]
pub struct Params {
    request: Request,
    digest_bytes: usize,
    pub(super) transfer: GarbledTransfer,
    budget: FailureBudget,
}

impl Params {
    /// Derives them, for a run on this OT extension.
    ///
    /// The failure budget: up to an eighth for digests, half for strings that sum up to an item's
    /// value by chance, up to a quarter for hidden items that the receiver could notice,
    /// and next to nothing for a filter that cannot be made, or contains what it should not.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn new(request: &Request, extension: Extension) -> Result<Self, Error> {
        let sizes = request.sizes;
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
            transfer: GarbledTransfer {
                filter: FilterOt { shape, extension },
                strings: MaskLength { bits },
            },
            budget,
        })
    }

    /// The plan of such a run.
    pub fn plan(self) -> Plan {
        let derived = Derived {
            info: self.info(),
            request: self.request.clone(),
            digest_bytes: self.digest_bytes,
            parameters: self.parameters(),
            budget: self.budget.clone(),
            cost: Cost::new(self.transfer.filter.setup(), self.transfer.conversation()),
        };
        Plan::new::<Sender, Receiver>(derived, self)
    }

    fn info(&self) -> &'static Info {
        match self.transfer.filter.extension {
            Extension::Iknp => &INFO,
            Extension::Silent => &SILENT_INFO,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        let digest_bytes = parameters([("digest bytes", self.digest_bytes as u64)]);
        let filter = self.transfer.filter.parameters("hash functions");
        let strings = parameters([("string bits", self.transfer.strings.bits.into())]);
        [&digest_bytes[..], &filter, &strings].concat()
    }

    /// σ.
    pub(super) fn sigma(&self) -> u32 {
        self.request.security.statistical_bits()
    }
}
