use psijoin_ot::extension::Extension;
use psijoin_params::{FailureBudget, bloom, mask};
use psijoin_psi::{
    Cost, Derived, Error, Info, Parameter, Plan, Request, items, parameters,
    sorted_masks::SortedMasks,
};

use super::{INFO, Receiver, SILENT_INFO, Sender};
use crate::filter_ot::FilterOt;

/// All numbers of a run.
#[derive(Debug)]
pub struct Params {
    request: Request,
    digest_bytes: usize,
    pub(super) filter: FilterOt,
    pub(super) masks: SortedMasks,
    budget: FailureBudget,
}

impl Params {
    /// Derives them, for a run on this OT extension.
    ///
    /// The failure budget: up to an eighth for digests, next to nothing for false positives of the
    /// receiver's filter, and the rest for the masks.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn new(request: &Request, extension: Extension) -> Result<Self, Error> {
        let sizes = request.sizes;
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
            filter: FilterOt { shape, extension },
            masks: SortedMasks::new(sizes.sender() as usize, mask_range),
            budget,
        })
    }

    /// The plan of such a run.
    pub fn plan(self) -> Plan {
        let transfers = self.filter.conversation(|_| 0);
        let derived = Derived {
            info: self.info(),
            request: self.request.clone(),
            digest_bytes: self.digest_bytes,
            parameters: self.parameters(),
            budget: self.budget.clone(),
            cost: Cost::new(
                self.filter.setup(),
                transfers.sender(self.masks.coded_bytes()),
            ),
        };
        Plan::new::<Sender, Receiver>(derived, self)
    }

    fn info(&self) -> &'static Info {
        match self.filter.extension {
            Extension::Iknp => &INFO,
            Extension::Silent => &SILENT_INFO,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        let digest_bytes = parameters([("digest bytes", self.digest_bytes as u64)]);
        let filter = self.filter.parameters("hash functions");
        [&digest_bytes[..], &filter, &self.masks.parameters()].concat()
    }
}
