use psijoin_ot::matrix::{ReceiverMatrix, SenderMatrix};
use psijoin_params::{mask, sparse_ot::Layout};
use psijoin_psi::{
    Adversary, BaseParams, Context, Conversation, Derived, Dialogue, Error, Info, Parameter,
    parameters, sorted_masks::SortedMasks,
};

use super::Extension;
use crate::seeds::SeedOts;

/// The numbers that both protocols derive.
#[derive(Debug, Clone)]
pub(crate) struct SparseParams {
    info: &'static Info,
    pub(crate) base: BaseParams,
    pub(crate) extension: Extension,
    pub(crate) masks: SortedMasks,
}

impl SparseParams {
    /// Derives them, with the rest of the failure budget: what [`Extension::derive`] takes, and all
    /// the rest, at least a quarter or so, for the masks. If the sender may be malicious, masks
    /// have 128 bits.
    pub(crate) fn derive(
        info: &'static Info,
        mut base: BaseParams,
        layout: Layout,
    ) -> Result<Self, Error> {
        let budget = &mut base.budget;
        let extension = Extension::derive(layout, budget)?;
        // Each evaluation makes a mask, which meets that of each item of the receiver.
        let comparisons =
            u128::from(layout.evaluations) * u128::from(base.request.sizes.receiver());
        let mask_range = match info.adversary {
            Adversary::MaliciousSender => u128::MAX,
            _ => mask::range(comparisons, budget.remaining())?,
        };
        let collision = mask::range_collision(comparisons, mask_range);
        budget.charge("mask collision", collision)?;
        Ok(Self {
            info,
            base,
            extension,
            masks: SortedMasks::new(layout.evaluations as usize, mask_range),
        })
    }

    /// Returns what a protocol derived, given its own parameters and how many bytes all polynomials
    /// take.
    pub(crate) fn derived(&self, own: Vec<Parameter>, polynomial_bytes: u64) -> Derived {
        let digest_bytes = parameters(&[("digest bytes", self.base.digest_bytes as u64)]);
        // Steps 4 and 5.
        let online = Conversation::default()
            .receiver(polynomial_bytes)
            .sender(self.masks.coded_bytes());
        Derived {
            info: self.info,
            base: self.base.clone(),
            parameters: [
                digest_bytes,
                own,
                self.extension.parameters(),
                self.masks.parameters(),
            ]
            .concat(),
            dialogue: Dialogue::new(self.ots().conversation(), online),
        }
    }

    /// Returns the error for points that no polynomial is computed for, for example because two of
    /// them are equal.
    pub(crate) fn unfit_points(&self) -> Error {
        (self.base.request).bad_luck("the items do not fit into a polynomial")
    }

    /// Steps 1 and 2 of the sender: s, and one seed of each pair.
    pub(crate) fn choose(&self, context: &mut Context) -> Result<SenderMatrix, Error> {
        let seeds = self.ots().choose(context)?;
        Ok(seeds.into_matrix(self.extension.row_shape()))
    }

    /// Step 2 of the receiver: the seed pairs.
    pub(crate) fn offer(&self, context: &mut Context) -> Result<ReceiverMatrix, Error> {
        let seeds = self.ots().offer(context)?;
        Ok(seeds.into_matrix(self.extension.row_shape()))
    }

    fn ots(&self) -> SeedOts {
        SeedOts {
            columns: self.extension.columns(),
            checked: self.info.adversary == Adversary::MaliciousSender,
            base: self.base.request.base_ots,
        }
    }
}
