use psijoin_params::{cm20, digest, mask};
use psijoin_psi::{
    BaseParams, Derived, Dialogue, Error, Info, Plan, Request, parameters,
    sorted_masks::SortedMasks,
};

use super::{INFO, MALICIOUS_SENDER_INFO, Receiver, Sender};
use crate::multi_point_oprf::{self, INPUT_BYTES};

/// Whom a plan protects against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    SemiHonest,
    MaliciousSender,
}

/// All numbers of a run.
#[derive(Debug)]
pub struct Params {
    base: BaseParams,
    variant: Variant,
    pub(super) oprf: multi_point_oprf::Params,
    pub(super) mask_range: u128,
}

impl Params {
    /// Derives them, for semi-honest parties.
    ///
    /// The failure budget: what digests and ciphers take, six tenths for the width of the matrix,
    /// and the rest for the masks.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn semi_honest(request: &Request) -> Result<Self, Error> {
        Self::derive(request, Variant::SemiHonest, default_rows(request))
    }

    /// Derives them, for a sender that may be malicious.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn malicious_sender(request: &Request) -> Result<Self, Error> {
        Self::derive(request, Variant::MaliciousSender, default_rows(request))
    }

    /// Derives them anew for a matrix of this many rows, or a few more. With more rows there are
    /// fewer columns: less to compute and, from about 1.1 rows per item of the receiver on, more
    /// to send.
    ///
    /// # Errors
    /// If there are fewer than about 0.75 rows per item of the receiver: the matrix would be wider
    /// than 1,024 columns.
    pub fn with_rows(&self, rows: u64) -> Result<Self, Error> {
        Self::derive(&self.base.request, self.variant, rows)
    }

    fn derive(request: &Request, variant: Variant, rows: u64) -> Result<Self, Error> {
        let sizes = request.sizes;
        let mut base = BaseParams::with_digests(request, variant.digest_bytes())?;
        let budget = &mut base.budget;
        if variant.digest_bytes() > INPUT_BYTES {
            let inputs = digest::collision(sizes, INPUT_BYTES);
            budget.charge("pseudorandom function's inputs", inputs)?;
        }

        let checked = variant == Variant::MaliciousSender;
        let oprf = multi_point_oprf::Params::new(rows, sizes, checked, budget.share(0.6))?
            .on(request.base_ots);
        budget.charge("few ones", oprf.few_ones(sizes))?;
        budget.charge("ciphers unlike functions", oprf.repeats(sizes))?;

        let mask_range = match variant {
            Variant::SemiHonest => mask::range(sizes.pairs(), budget.remaining())?,
            Variant::MaliciousSender => {
                cm20::malicious_mask_range(sizes.receiver(), request.security)
            }
        };
        let masks = mask::range_collision(sizes.pairs(), mask_range);
        budget.charge("mask collision", masks)?;
        Ok(Self {
            base,
            variant,
            oprf,
            mask_range,
        })
    }

    pub(super) fn masks(&self) -> SortedMasks {
        SortedMasks::new(self.base.request.sizes.sender() as usize, self.mask_range)
    }

    /// Returns the plan of a run with these numbers.
    pub fn plan(self) -> Plan {
        let online = self.oprf.online().sender(self.masks().coded_bytes());
        let shape = self.oprf.shape;
        let own = parameters(&[
            ("digest bytes", self.base.digest_bytes as u64),
            ("bins", shape.bins.into()),
            ("rows a bin", shape.bin_rows.into()),
            ("columns", shape.columns.into()),
        ]);
        let derived = Derived {
            info: self.variant.info(),
            base: self.base.clone(),
            parameters: [own, self.masks().parameters()].concat(),
            dialogue: Dialogue::new(self.oprf.setup(), online),
        };
        Plan::new::<Sender, Receiver>(derived, self)
    }
}

impl Variant {
    fn info(self) -> &'static Info {
        match self {
            Self::SemiHonest => &INFO,
            Self::MaliciousSender => &MALICIOUS_SENDER_INFO,
        }
    }

    /// Returns the length of digests: against a malicious party they must be collision resistant
    /// (CM20 §3.3, ℓ1).
    fn digest_bytes(self) -> usize {
        match self {
            Self::SemiHonest => 16,
            Self::MaliciousSender => 32,
        }
    }
}

fn default_rows(request: &Request) -> u64 {
    cm20::default_rows(request.sizes.receiver())
}
