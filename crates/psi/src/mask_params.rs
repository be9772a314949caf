//! The parameters of a protocol that compares masks of a fixed number of bits.

use psijoin_params::Sizes;

use crate::{
    BaseParams, Derived, Dialogue, Error, Info, Parameter, Request, masks::MaskLength, parameters,
};

/// The numbers that follow from the request alone. Digests may take an eighth of the failure
/// budget and masks half of it; the rest is the protocol's own.
#[derive(Debug, Clone)]
pub struct MaskParams {
    /// Digests, and the budget.
    pub base: BaseParams,
    /// The length of masks.
    pub masks: MaskLength,
}

impl MaskParams {
    /// Derives them.
    ///
    /// # Errors
    /// If the masks would be longer than a hash.
    pub fn new(request: &Request) -> Result<Self, Error> {
        let mut base = BaseParams::new(request)?;
        let masks = MaskLength::derive(request.sizes.pairs(), &mut base.budget)?;
        Ok(Self { base, masks })
    }

    /// Returns how many items each party has.
    pub fn sizes(&self) -> Sizes {
        self.base.request.sizes
    }

    /// Returns the derived parameters of a protocol that has no others.
    pub fn parameters(&self) -> Vec<Parameter> {
        parameters(&[("mask bits", self.masks.bits.into())])
    }

    /// Returns what a protocol derived, given what is its own.
    pub fn derived(
        &self,
        info: &'static Info,
        parameters: Vec<Parameter>,
        dialogue: Dialogue,
    ) -> Derived {
        Derived {
            info,
            base: self.base.clone(),
            parameters,
            dialogue,
        }
    }
}
