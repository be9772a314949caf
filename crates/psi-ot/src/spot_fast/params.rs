use psijoin_channel::stream::Chunks;
use psijoin_params::{
    sparse_ot::Layout,
    two_choice::{self, Shape},
};
use psijoin_psi::{BaseParams, Error, Plan, Request, parameters};

use super::{INFO, Receiver, Sender};
use crate::spot::SparseParams;

/// A message has at least one bin, and no more than this, about.
const MESSAGE_BYTES: usize = 1 << 16;

/// All numbers of a run.
#[derive(Debug)]
pub struct Params {
    pub(super) spot: SparseParams,
    pub(super) shape: Shape,
}

impl Params {
    /// Derives them.
    ///
    /// The failure budget: up to an eighth for digests, a 16th for bins, and the rest for `spot`
    /// and the masks.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn new(request: &Request) -> Result<Self, Error> {
        let sizes = request.sizes;
        let mut base = BaseParams::new(request)?;
        let budget = &mut base.budget;
        // n/m = σ, as in the paper.
        let items_per_bin = request.security.statistical_bits();
        let share = budget.share(1.0 / 16.0);
        let shape = two_choice::shape(sizes.receiver(), items_per_bin, share)?;
        let failure = two_choice::failure(sizes.receiver(), shape);
        budget.charge("2-choice hashing", failure)?;
        let layout = Layout {
            polynomials: shape.bins.into(),
            capacity: shape.capacity.into(),
            evaluations: 2 * sizes.sender(),
        };
        let spot = SparseParams::derive(&INFO, base, layout)?;
        Ok(Self { spot, shape })
    }

    /// Returns the plan of a run with these numbers.
    pub fn plan(self) -> Plan {
        let own = parameters(&[
            ("bins", self.shape.bins.into()),
            ("places a bin", self.shape.capacity.into()),
        ]);
        let polynomial_bytes = self.bins().bytes(|bins| bins * self.bin_bytes());
        let derived = self.spot.derived(own, polynomial_bytes);
        Plan::new::<Sender, Receiver>(derived, self)
    }

    /// Returns the bins, in messages of their polynomials.
    pub(super) fn bins(&self) -> Chunks {
        Chunks {
            total: self.shape.bins as usize,
            per_message: (MESSAGE_BYTES / self.bin_bytes()).max(1),
        }
    }

    /// Coefficients of a bin, those of all slices.
    pub(super) fn bin_coefficients(&self) -> usize {
        self.spot.extension.slices * self.shape.capacity as usize
    }

    /// Returns the number of bytes of a bin's polynomials.
    pub(super) fn bin_bytes(&self) -> usize {
        (self.spot.extension).coefficient_bytes(self.bin_coefficients())
    }
}
