use psijoin_channel::Channel;
use psijoin_ot::iknp::{Malicious, Model, SemiHonest};
use psijoin_params::{FailureBudget, digest, mask, sparse_ot::Layout};

use super::{INFO, MALICIOUS_SENDER_INFO, Receiver, Sender};
use crate::{
    Context, Cost, Error, Info, Parameter, Party, Plan, Request, Role, Traffic, items,
    sorted_masks::SortedMasks, spot::Extension, stream::Chunks,
};

/// Coefficients in a message: whole bytes, whatever the width of the field is.
const COEFFICIENTS_PER_MESSAGE: usize = 4096;

/// All numbers of a run.
#[derive(Debug, Clone)]
pub struct Params {
    pub(super) request: Request,
    pub(super) digest_bytes: usize,
    malicious_sender: bool,
    pub(super) extension: Extension,
    mask_range: u128,
    budget: FailureBudget,
}

impl Params {
    /// Derives them, for semi-honest parties.
    ///
    /// The failure budget: up to an eighth for digests, what
    /// [`spot`](crate::spot) takes, and the rest, at least a quarter or so, for the masks.
    ///
    /// # Errors
    /// If a set is empty, or no parameters reach the security level.
    pub fn semi_honest(request: &Request) -> Result<Self, Error> {
        let mut budget = FailureBudget::new(request.security);
        let digest_bytes = items::digest_bytes(request.sizes, &mut budget)?;
        Self::derive(request, digest_bytes, false, budget)
    }

    /// Derives them, for a sender that may be malicious: digests of 256 bits, masks of 128.
    ///
    /// # Errors
    /// As [`semi_honest`](Self::semi_honest).
    pub fn malicious_sender(request: &Request) -> Result<Self, Error> {
        const DIGEST_BYTES: usize = 32;
        let mut budget = FailureBudget::new(request.security);
        let collision = digest::collision(request.sizes, DIGEST_BYTES);
        budget.charge("digest collision", collision)?;
        Self::derive(request, DIGEST_BYTES, true, budget)
    }

    fn derive(
        request: &Request,
        digest_bytes: usize,
        malicious_sender: bool,
        mut budget: FailureBudget,
    ) -> Result<Self, Error> {
        let sizes = request.sizes;
        if sizes.pairs() == 0 {
            return Err(Error::Misuse("an empty set needs no protocol"));
        }
        let layout = Layout {
            polynomials: 1,
            capacity: sizes.receiver(),
            evaluations: sizes.sender(),
        };
        let extension = Extension::derive(layout, &mut budget)?;
        let mask_range = match malicious_sender {
            true => u128::MAX,
            false => mask::range(sizes.pairs(), budget.remaining())?,
        };
        let collision = mask::range_collision(sizes.pairs(), mask_range);
        budget.charge("mask collision", collision)?;
        Ok(Self {
            request: request.clone(),
            digest_bytes,
            malicious_sender,
            extension,
            mask_range,
            budget,
        })
    }

    /// The messages of a slice's coefficients.
    pub(super) fn coefficients(&self) -> Chunks {
        Chunks {
            total: self.request.sizes.receiver() as usize,
            per_message: COEFFICIENTS_PER_MESSAGE,
        }
    }

    pub(super) fn masks(&self) -> SortedMasks {
        SortedMasks::new(self.request.sizes.sender() as usize, self.mask_range)
    }

    pub(super) fn unfit_points(&self) -> Error {
        let sigma = self.request.security.statistical_bits();
        Error::BadLuck("the items do not fit into a polynomial", sigma)
    }

    fn offline_cost(&self) -> Traffic {
        match self.malicious_sender {
            false => self.extension.offline_cost::<SemiHonest>(),
            true => self.extension.offline_cost::<Malicious>(),
        }
    }
}

impl Plan for Params {
    fn info(&self) -> &'static Info {
        match self.malicious_sender {
            false => &INFO,
            true => &MALICIOUS_SENDER_INFO,
        }
    }

    fn request(&self) -> &Request {
        &self.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = vec![Parameter {
            name: "digest bytes",
            value: self.digest_bytes as u64,
        }];
        parameters.extend(self.extension.parameters());
        parameters.extend(self.masks().parameters());
        parameters
    }

    fn budget(&self) -> &FailureBudget {
        &self.budget
    }

    fn cost(&self) -> Cost {
        let slice = self
            .coefficients()
            .bytes(|count| self.extension.coefficient_bytes(count));
        Cost {
            offline: self.offline_cost(),
            online: Traffic {
                sender_bytes: self.masks().coded_bytes(),
                receiver_bytes: self.extension.slices as u64 * slice,
                rounds: 2,
            },
            ..Cost::default()
        }
    }

    fn digest_bytes(&self) -> usize {
        self.digest_bytes
    }

    fn offline(
        &self,
        role: Role,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Box<dyn Party>, Error> {
        match self.malicious_sender {
            false => offline::<SemiHonest>(self, role, channel, context),
            true => offline::<Malicious>(self, role, channel, context),
        }
    }
}

fn offline<M: Model>(
    params: &Params,
    role: Role,
    channel: &mut Channel,
    context: &mut Context,
) -> Result<Box<dyn Party>, Error> {
    Ok(match role {
        Role::Sender => Box::new(Sender::offline::<M>(params, channel, context)?),
        Role::Receiver => Box::new(Receiver::offline::<M>(params, channel, context)?),
    })
}
