use psijoin_ot::extension::Extension;
use psijoin_params::{bloom, mask};
use psijoin_psi::{
    BaseParams, Derived, Dialogue, Error, Plan, Request, parameters, sorted_masks::SortedMasks,
};

use super::{INFO, Receiver, SILENT_INFO, Sender};
use crate::filter_ot::FilterOt;

/// All numbers of a run.
#[derive(Debug)]
pub struct Params {
    base: BaseParams,
    pub(super) filter: FilterOt,
    pub(super) masks: SortedMasks,
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
        let mut base = BaseParams::new(request)?;
        let budget = &mut base.budget;
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
            base,
            filter: FilterOt::new(shape, extension.on(request.base_ots)),
            masks: SortedMasks::new(sizes.sender() as usize, mask_range),
        })
    }

    /// Returns the plan of such a run.
    pub fn plan(self) -> Plan {
        let Self { filter, masks, .. } = self;
        let online = (filter.conversation(|_| 0)).sender(masks.coded_bytes());
        let derived = Derived {
            info: filter.info(&INFO, &SILENT_INFO),
            base: self.base.clone(),
            parameters: [
                parameters(&[("digest bytes", self.base.digest_bytes as u64)]),
                filter.parameters("hash functions"),
                masks.parameters(),
            ]
            .concat(),
            dialogue: Dialogue::new(filter.setup(), online),
        };
        Plan::new::<Sender, Receiver>(derived, self)
    }
}
