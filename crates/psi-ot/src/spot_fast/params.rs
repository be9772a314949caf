use std::ops::Range;

use psijoin_channel::stream::Chunks;
use psijoin_params::{
    Sizes,
    sparse_ot::Layout,
    two_choice::{self, Shape},
};
use psijoin_psi::{BaseParams, Error, Plan, Request, parameters};

use super::{INFO, Receiver, Sender};
use crate::spot::SparseParams;

/// A message has at least the bins of one bucket, and no more than this, about.
const MESSAGE_BYTES: usize = 1 << 16;

/// Picoseconds to interpolate at a point, for each place of its bin.
const INTERPOLATION: u128 = 16_000;

/// Picoseconds to evaluate at a point, for each place of its bin.
const EVALUATION: u128 = 9_000;

/// Picoseconds of a bin in both parties, whatever its size.
const BIN: u128 = 2_000_000;

/// Picoseconds of a place on the wire: some 440 bits at 100 Mbit/s.
const WIRE: u128 = 4_400_000;

/// Returns about what bins of this shape cost, in picoseconds. It decides between shapes whose
/// bounds hold, and nothing else rests on it.
fn price(shape: Shape, sizes: Sizes) -> u128 {
    let [places, capacity] = [shape.slots(), shape.capacity.into()].map(u128::from);
    let evaluations = 2 * u128::from(sizes.sender());
    places * (INTERPOLATION * capacity + WIRE)
        + evaluations * EVALUATION * capacity
        + u128::from(shape.bins) * BIN
}

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
        let share = budget.share(1.0 / 16.0);
        let shape = two_choice::cheapest(sizes.receiver(), share, |shape| price(shape, sizes))?;
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
            ("bins that share a bucket", self.bins_per_part() as u64),
        ]);
        let polynomial_bytes = self.bins().bytes(|bins| bins * self.bin_bytes());
        let derived = self.spot.derived(own, polynomial_bytes);
        Plan::new::<Sender, Receiver>(derived, self)
    }

    /// Returns the bins, in messages of their polynomials: whole parts.
    pub(super) fn bins(&self) -> Chunks {
        let parts = MESSAGE_BYTES / (self.bins_per_part() * self.bin_bytes());
        Chunks {
            total: self.shape.bins as usize,
            per_message: parts.max(1) * self.bins_per_part(),
        }
    }

    /// Returns the number of bins that share a bucket; the last part of the matrix may have fewer.
    pub(super) fn bins_per_part(&self) -> usize {
        self.spot.extension.buckets.polynomials as usize
    }

    /// Returns the parts of the matrix that belong to the bins of a message.
    pub(super) fn parts(&self, bins: Range<usize>) -> Range<usize> {
        bins.start / self.bins_per_part()..bins.end.div_ceil(self.bins_per_part())
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
