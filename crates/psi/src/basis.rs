//! What every protocol derives first that compares masks in the end.

use psijoin_params::{FailureBudget, Sizes};

use crate::{Error, Parameter, Request, items, masks::MaskLength};

/// The numbers that follow from the request alone. Digests may take an eighth of the failure
/// budget and masks half of it; the rest is the protocol's own.
#[derive(Debug, Clone)]
pub(crate) struct Basis {
    pub(crate) request: Request,
    pub(crate) digest_bytes: usize,
    pub(crate) masks: MaskLength,
    pub(crate) budget: FailureBudget,
}

impl Basis {
    /// Derives them.
    ///
    /// # Errors
    /// If the masks would be longer than a hash.
    pub(crate) fn new(request: &Request) -> Result<Self, Error> {
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

    pub(crate) fn sizes(&self) -> Sizes {
        self.request.sizes
    }

    /// The derived parameters of a protocol that has no others.
    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter {
            name: "mask bits",
            value: self.masks.bits.into(),
        }]
    }
}
