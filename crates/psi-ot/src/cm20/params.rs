use psijoin_channel::Channel;
use psijoin_ot::iknp::{self, Malicious, Model, SemiHonest};
use psijoin_params::{FailureBudget, cm20, digest, mask};

use super::{
    INFO, MALICIOUS_SENDER_INFO, Receiver, Sender, evaluation::MAX_COLUMNS, function, keys,
};
use crate::{
    Context, Cost, Error, Info, Parameter, Party, Plan, Request, Role, Traffic,
    sorted_masks::SortedMasks, stream::Chunks,
};

/// Against whom a plan protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    SemiHonest,
    MaliciousSender,
}

/// All numbers of a run.
#[derive(Debug, Clone)]
pub struct Params {
    pub(super) request: Request,
    variant: Variant,
    pub(super) shape: cm20::Shape,
    pub(super) mask_range: u128,
    budget: FailureBudget,
}

impl Params {
    /// Derives them, for semi-honest parties.
    ///
    /// The failure budget: what digests and ciphers take, six tenths for the width of the matrix,
    /// and the rest for the masks.
    ///
    /// # Errors
    /// If a set is empty, or no parameters reach the security level.
    pub fn semi_honest(request: &Request) -> Result<Self, Error> {
        Self::derive(request, Variant::SemiHonest, default_rows(request))
    }

    /// Derives them, for a sender that may be malicious.
    ///
    /// # Errors
    /// If a set is empty, or no parameters reach the security level.
    pub fn malicious_sender(request: &Request) -> Result<Self, Error> {
        Self::derive(request, Variant::MaliciousSender, default_rows(request))
    }

    /// Derives them anew for a matrix of so many rows, or a few more. With more rows there are
    /// fewer columns: less to compute and, from about 1.1 rows an item of the receiver on, more
    /// to send.
    ///
    /// # Errors
    /// If there are so few rows that the matrix would be wider than 1,024 columns: fewer than about
    /// 0.75 an item of the receiver.
    pub fn with_rows(&self, rows: u64) -> Result<Self, Error> {
        Self::derive(&self.request, self.variant, rows)
    }

    fn derive(request: &Request, variant: Variant, rows: u64) -> Result<Self, Error> {
        let sizes = request.sizes;
        if sizes.pairs() == 0 {
            return Err(Error::Misuse("an empty set needs no protocol"));
        }
        let mut budget = FailureBudget::new(request.security);
        let digests = digest::collision(sizes, variant.digest_bytes());
        budget.charge("digest collision", digests)?;
        if variant.digest_bytes() > function::INPUT_BYTES {
            let inputs = digest::collision(sizes, function::INPUT_BYTES);
            budget.charge("pseudorandom function's inputs", inputs)?;
        }

        let (senders, receivers) = (sizes.sender(), sizes.receiver());
        let shape = cm20::shape(rows, senders, receivers, budget.share(0.6))?;
        if shape.columns as usize > MAX_COLUMNS {
            return Err(Error::Misuse(
                "the matrix has too few rows for the receiver's items",
            ));
        }
        budget.charge("few ones", shape.few_ones(senders, receivers))?;
        // A cipher repeats no output, where a function would.
        let repeats = digest::collision(sizes, function::INPUT_BYTES);
        let ciphers = function::ciphers(shape.columns as usize) as u128;
        budget.charge("ciphers unlike functions", repeats.times(ciphers))?;

        let mask_range = match variant {
            Variant::SemiHonest => mask::range(sizes.pairs(), budget.remaining())?,
            Variant::MaliciousSender => cm20::malicious_mask_range(receivers, request.security),
        };
        let masks = mask::range_collision(sizes.pairs(), mask_range);
        budget.charge("mask collision", masks)?;
        Ok(Self {
            request: request.clone(),
            variant,
            shape,
            mask_range,
            budget,
        })
    }

    /// w.
    pub(super) fn columns(&self) -> usize {
        self.shape.columns as usize
    }

    /// The messages of step 3: one for each bin.
    pub(super) fn bins(&self) -> Chunks {
        Chunks {
            total: self.shape.bins as usize,
            per_message: 1,
        }
    }

    /// Bytes of a bin's columns.
    pub(super) fn bin_bytes(&self) -> usize {
        self.columns() * self.shape.bin_rows as usize / 8
    }

    pub(super) fn masks(&self) -> SortedMasks {
        SortedMasks::new(self.request.sizes.sender() as usize, self.mask_range)
    }

    fn traffic<M: Model>(&self) -> Cost {
        let columns = self.columns();
        Cost {
            // The sender of the PSI is the receiver of the OTs.
            offline: Traffic {
                sender_bytes: iknp::SETUP_RECEIVER_BYTES + iknp::receiver_bytes::<M>(columns),
                receiver_bytes: iknp::SETUP_SENDER_BYTES + iknp::sender_bytes::<M>(columns),
                rounds: if M::CHECKED { 4 } else { 2 },
            },
            online: Traffic {
                sender_bytes: self.masks().coded_bytes(),
                receiver_bytes: keys::NONCE_BYTES as u64 + self.bins().bytes(|_| self.bin_bytes()),
                rounds: 2,
            },
            ..Cost::default()
        }
    }

    fn offline_in<M: Model>(
        &self,
        role: Role,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Box<dyn Party>, Error> {
        Ok(match role {
            Role::Sender => Box::new(Sender::offline::<M>(self, channel, context)?),
            Role::Receiver => Box::new(Receiver::offline::<M>(self, channel, context)?),
        })
    }
}

impl Variant {
    /// Against a malicious party digests must be collision resistant (CM20 §3.3, ℓ1).
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

impl Plan for Params {
    fn info(&self) -> &'static Info {
        match self.variant {
            Variant::SemiHonest => &INFO,
            Variant::MaliciousSender => &MALICIOUS_SENDER_INFO,
        }
    }

    fn request(&self) -> &Request {
        &self.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        [
            ("digest bytes", self.variant.digest_bytes() as u64),
            ("bins", self.shape.bins.into()),
            ("rows a bin", self.shape.bin_rows.into()),
            ("columns", self.shape.columns.into()),
            ("mask range, low half", self.mask_range as u64),
            ("mask range, high half", (self.mask_range >> 64) as u64),
        ]
        .map(|(name, value)| Parameter { name, value })
        .into()
    }

    fn budget(&self) -> &FailureBudget {
        &self.budget
    }

    fn cost(&self) -> Cost {
        match self.variant {
            Variant::SemiHonest => self.traffic::<SemiHonest>(),
            Variant::MaliciousSender => self.traffic::<Malicious>(),
        }
    }

    fn digest_bytes(&self) -> usize {
        self.variant.digest_bytes()
    }

    fn offline(
        &self,
        role: Role,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Box<dyn Party>, Error> {
        match self.variant {
            Variant::SemiHonest => self.offline_in::<SemiHonest>(role, channel, context),
            Variant::MaliciousSender => self.offline_in::<Malicious>(role, channel, context),
        }
    }
}
