use psijoin_ot::extension::Extension;
use psijoin_params::{bloom, garbled_bloom, mask};
use psijoin_psi::{
    BaseParams, Derived, Dialogue, Error, Plan, Request, masks::MaskLength, parameters,
};

use super::{INFO, Receiver, SILENT_INFO, Sender};
use crate::{filter_ot::FilterOt, garbled_transfer::GarbledTransfer};

/// All numbers of a run.
#[derive(Debug)]
pub struct Params {
    pub(super) base: BaseParams,
    pub(super) transfer: GarbledTransfer,
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
        let mut base = BaseParams::new(request)?;
        let budget = &mut base.budget;
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
            base,
            transfer: GarbledTransfer {
                filter: FilterOt::new(shape, extension.on(request.base_ots)),
                strings: MaskLength { bits },
            },
        })
    }

    /// Returns the plan of such a run.
    pub fn plan(self) -> Plan {
        let GarbledTransfer { filter, strings } = self.transfer;
        let derived = Derived {
            info: filter.info(&INFO, &SILENT_INFO),
            base: self.base.clone(),
            parameters: [
                parameters(&[("digest bytes", self.base.digest_bytes as u64)]),
                filter.parameters("hash functions"),
                parameters(&[("string bits", strings.bits.into())]),
            ]
            .concat(),
            dialogue: Dialogue::new(filter.setup(), self.transfer.conversation()),
        };
        Plan::new::<Sender, Receiver>(derived, self)
    }
}
