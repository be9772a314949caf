//! The numbers that every protocol derives first.

use psijoin_params::{FailureBudget, digest};

use crate::{Error, Request, items};

/// The numbers that follow from the request alone. A protocol then charges the budget for its own
/// events.
#[derive(Debug, Clone)]
pub struct BaseParams {
    /// The request they were derived for.
    pub request: Request,
    /// Bytes of the item digests that it works on: 16 or 32.
    pub digest_bytes: usize,
    /// The bits of the items, if they are numbers that are not digested.
    pub number_bits: Option<u32>,
    /// The failure events so far, and how likely each is at most.
    pub budget: FailureBudget,
}

impl BaseParams {
    /// Derives the parameters with the shortest digests that take at most an eighth of the failure
    /// budget.
    ///
    /// # Errors
    /// If there are none.
    pub fn new(request: &Request) -> Result<Self, Error> {
        let mut budget = request.failure_budget()?;
        Ok(Self {
            request: request.clone(),
            digest_bytes: items::digest_bytes(request.sizes, &mut budget)?,
            number_bits: None,
            budget,
        })
    }

    /// Derives the parameters with digests of this length, whatever they take of the failure
    /// budget.
    ///
    /// # Errors
    /// If they take more than all of it.
    pub fn with_digests(request: &Request, digest_bytes: usize) -> Result<Self, Error> {
        let mut budget = request.failure_budget()?;
        let collision = digest::collision(request.sizes, digest_bytes);
        budget.charge("digest collision", collision)?;
        Ok(Self {
            request: request.clone(),
            digest_bytes,
            number_bits: None,
            budget,
        })
    }

    /// Derives the parameters with items that are numbers of this many bits, as they are: no two
    /// are taken for each other.
    ///
    /// # Errors
    /// As [`Request::failure_budget`].
    pub fn of_numbers(request: &Request, number_bits: u32) -> Result<Self, Error> {
        Ok(Self {
            request: request.clone(),
            digest_bytes: items::NUMBER_BYTES,
            number_bits: Some(number_bits),
            budget: request.failure_budget()?,
        })
    }

    /// Returns σ.
    pub fn sigma(&self) -> u32 {
        self.request.security.statistical_bits()
    }
}
