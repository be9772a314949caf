use psijoin_ot::matrix::{ReceiverMatrix, SenderMatrix};
use psijoin_params::{FailureBudget, mask, sparse_ot::Layout};
use psijoin_psi::{
    Adversary, Context, Conversation, Cost, Derived, Error, Info, Parameter, Request, parameters,
    sorted_masks::SortedMasks,
};

use super::Extension;
use crate::seeds::SeedOts;

/// The numbers that both protocols derive.
#[derive(Debug, Clone)]
pub(crate) struct SparseParams {
    info: &'static Info,
    pub(crate) request: Request,
    pub(crate) digest_bytes: usize,
    pub(crate) extension: Extension,
    pub(crate) masks: SortedMasks,
    budget: FailureBudget,
}

impl SparseParams {
    /// Derives them, given the length of digests, with the rest of the failure budget: what
    /// [`Extension::derive`] takes, and all the rest, at least a quarter or so, for the masks. If the
    /// sender may be malicious, masks have 128 bits.
    pub(crate) fn derive(
        info: &'static Info,
        request: &Request,
        digest_bytes: usize,
        layout: Layout,
        mut budget: FailureBudget,
    ) -> Result<Self, Error> {
        let extension = Extension::derive(layout, &mut budget)?;
        // Each evaluation makes a mask, which meets that of each item of the receiver.
        let comparisons = u128::from(layout.evaluations) * u128::from(request.sizes.receiver());
        let mask_range = match info.adversary {
            Adversary::MaliciousSender => u128::MAX,
            _ => mask::range(comparisons, budget.remaining())?,
        };
        let collision = mask::range_collision(comparisons, mask_range);
        budget.charge("mask collision", collision)?;
        Ok(Self {
            info,
            request: request.clone(),
            digest_bytes,
            extension,
            masks: SortedMasks::new(layout.evaluations as usize, mask_range),
            budget,
        })
    }

    /// What a protocol derived, given its own parameters and how many bytes all polynomials take.
    pub(crate) fn derived(
        &self,
        own: impl IntoIterator<Item = Parameter>,
        polynomial_bytes: u64,
    ) -> Derived {
        let digest_bytes = parameters([("digest bytes", self.digest_bytes as u64)]);
        // Steps 4 and 5.
        let online = Conversation::default()
            .receiver(polynomial_bytes)
            .sender(self.masks.coded_bytes());
        Derived {
            info: self.info,
            request: self.request.clone(),
            digest_bytes: self.digest_bytes,
            parameters: (digest_bytes.into_iter().chain(own))
                .chain(self.extension.parameters())
                .chain(self.masks.parameters())
                .collect(),
            budget: self.budget.clone(),
            cost: Cost::new(self.ots().conversation(), online),
        }
    }

    /// The error for points that no polynomial is computed for, for example because two of them are
    /// equal.
    pub(crate) fn unfit_points(&self) -> Error {
        (self.request).bad_luck("the items do not fit into a polynomial")
    }

    /// Steps 1 and 2 of the sender: s, and one seed of each pair.
    pub(crate) fn choose(&self, context: &mut Context) -> Result<SenderMatrix, Error> {
        let seeds = self.ots().choose(context)?;
        Ok(seeds.into_matrix(self.extension.columns_per_word()))
    }

    /// Step 2 of the receiver: the seed pairs.
    pub(crate) fn offer(&self, context: &mut Context) -> Result<ReceiverMatrix, Error> {
        let seeds = self.ots().offer(context)?;
        Ok(seeds.into_matrix(self.extension.columns_per_word()))
    }

    fn ots(&self) -> SeedOts {
        SeedOts {
            columns: self.extension.columns(),
            checked: self.info.adversary == Adversary::MaliciousSender,
        }
    }
}
