use psijoin_channel::stream::Chunks;
use psijoin_params::sparse_ot::Layout;
use psijoin_psi::{BaseParams, Error, Info, Plan, Request};

use super::{INFO, MALICIOUS_SENDER_INFO, Receiver, Sender};
use crate::spot::SparseParams;

/// Coefficients in a message: whole bytes, whatever the width of the field is.
const COEFFICIENTS_PER_MESSAGE: usize = 4096;

/// All numbers of a run.
#[derive(Debug)]
pub struct Params {
    pub(super) spot: SparseParams,
}

impl Params {
    /// Derives them, for semi-honest parties.
    ///
    /// The failure budget: up to an eighth for digests, and the rest for `spot` and the masks.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn semi_honest(request: &Request) -> Result<Self, Error> {
        Self::derive(&INFO, BaseParams::new(request)?)
    }

    /// Derives them, for a sender that may be malicious: digests of 256 bits, masks of 128.
    ///
    /// # Errors
    /// As [`semi_honest`](Self::semi_honest).
    pub fn malicious_sender(request: &Request) -> Result<Self, Error> {
        const DIGEST_BYTES: usize = 32;
        let base = BaseParams::with_digests(request, DIGEST_BYTES)?;
        Self::derive(&MALICIOUS_SENDER_INFO, base)
    }

    fn derive(info: &'static Info, base: BaseParams) -> Result<Self, Error> {
        let sizes = base.request.sizes;
        let layout = Layout {
            polynomials: 1,
            capacity: sizes.receiver(),
            evaluations: sizes.sender(),
        };
        let spot = SparseParams::derive(info, base, layout)?;
        Ok(Self { spot })
    }

    /// Returns the plan of a run with these numbers.
    pub fn plan(self) -> Plan {
        let extension = &self.spot.extension;
        let slice_bytes = (self.coefficients()).bytes(|count| extension.coefficient_bytes(count));
        let polynomial_bytes = extension.slices as u64 * slice_bytes;
        let derived = self.spot.derived(Vec::new(), polynomial_bytes);
        Plan::new::<Sender, Receiver>(derived, self)
    }

    /// Returns the messages of a slice's coefficients.
    pub(super) fn coefficients(&self) -> Chunks {
        Chunks {
            total: self.spot.base.request.sizes.receiver() as usize,
            per_message: COEFFICIENTS_PER_MESSAGE,
        }
    }
}
