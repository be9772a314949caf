//! What the protocols of this crate derive first.

use psijoin_params::{FailureBudget, Sizes};
use psijoin_psi::{Cost, Derived, Info, Parameter, Request, parameters};

/// The numbers that no filter is needed for.
#[derive(Debug)]
pub(crate) struct BaseParams {
    /// What they were derived for.
    pub(crate) request: Request,
    /// Bytes of a digest: 16 or 32.
    digest_bytes: usize,
    /// What has been charged so far.
    pub(crate) budget: FailureBudget,
}

impl BaseParams {
    /// Derives them. `digest_bytes` charges the budget for digests.
    ///
    /// # Errors
    /// As `digest_bytes`.
    pub(crate) fn new<E>(
        request: &Request,
        digest_bytes: fn(Sizes, &mut FailureBudget) -> Result<usize, E>,
    ) -> Result<Self, E> {
        let mut budget = FailureBudget::new(request.security);
        Ok(Self {
            request: request.clone(),
            digest_bytes: digest_bytes(request.sizes, &mut budget)?,
            budget,
        })
    }

    /// What a protocol derived, given what is its own.
    pub(crate) fn derived(&self, info: &'static Info, own: &[&[Parameter]], cost: Cost) -> Derived {
        let mut all = Vec::from(parameters([("digest bytes", self.digest_bytes as u64)]));
        all.extend(own.concat());
        Derived {
            info,
            request: self.request.clone(),
            digest_bytes: self.digest_bytes,
            parameters: all,
            budget: self.budget.clone(),
            cost,
        }
    }

    /// σ.
    pub(crate) fn sigma(&self) -> u32 {
        self.request.security.statistical_bits()
    }
}
