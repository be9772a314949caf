//! What every protocol that compares masks at its end derives first.

use psijoin_params::{FailureBudget, Sizes};

use crate::{Cost, Derived, Error, Info, Parameter, Request, items, masks::MaskLength, parameters};

/// The numbers that follow from the request alone. Digests may take an eighth of the failure
/// budget and masks half of it; the rest is the protocol's own.
#[derive(Debug, Clone)]
pub struct MaskParams {
    /// What they were derived for.
    pub request: Request,
    /// Bytes of a digest: 16 or 32.
    pub digest_bytes: usize,
    /// The length of masks.
    pub masks: MaskLength,
    /// What has been charged so far.
    pub budget: FailureBudget,
}

impl MaskParams {
    /// Derives them.
    ///
    /// # Errors
    /// If the masks would be longer than a hash.
    pub fn new(request: &Request) -> Result<Self, Error> {
        let sizes = request.sizes;
        let mut budget = FailureBudget::new(request.security);
        let digest_bytes = items::digest_bytes(sizes, &mut budget)?;
        let masks = MaskLength::derive(sizes.pairs(), &mut budget)?;
        Ok(Self {
            request: request.clone(),
            digest_bytes,
            masks,
            budget,
        })
    }

    /// How many items each party has.
    pub fn sizes(&self) -> Sizes {
        self.request.sizes
    }

    /// The derived parameters of a protocol that has no others.
    pub fn parameters(&self) -> Vec<Parameter> {
        parameters([("mask bits", self.masks.bits.into())]).into()
    }

    /// What a protocol derived, given what is its own.
    pub fn derived(&self, info: &'static Info, parameters: Vec<Parameter>, cost: Cost) -> Derived {
        Derived {
            info,
            request: self.request.clone(),
            digest_bytes: self.digest_bytes,
            parameters,
            budget: self.budget.clone(),
            cost,
        }
    }
}
