use psijoin_block::tower::{Element, Gf64, Tower};
use psijoin_channel::Channel;
use psijoin_ot::{
    iknp::{Malicious, Model, SemiHonest},
    vole::{self, Base},
};
use psijoin_params::{FailureBudget, Log2Prob, digest, mask};

use super::{INFO, MALICIOUS_INFO, Receiver, Sender, joint_coin};
use crate::{
    Context, Cost, Error, Info, Input, Output, Parameter, Party, Plan, Request, Role, Traffic,
    items,
    oprf::{CIPHERS, Layout, ciphers, dictionary},
    sorted_masks::SortedMasks,
};

/// The field of the store's values, and the adversary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variant {
    /// GF(2^64), semi-honest.
    Narrow,
    /// GF(2^128), semi-honest.
    Wide,
    /// GF(2^128), malicious.
    Malicious,
}

/// All numbers of a run.
#[derive(Debug, Clone)]
pub struct Params {
    pub(super) request: Request,
    pub(super) digest_bytes: usize,
    pub(super) variant: Variant,
    pub(super) oprf: Layout,
    pub(super) mask_range: u128,
    budget: FailureBudget,
}

impl Params {
    /// Derives them, for semi-honest parties.
    ///
    /// The failure budget: up to an eighth for digests and three times that for rows, up to a half
    /// for the width of B, a sixteenth for the store, and the rest for the masks.
    ///
    /// # Errors
    /// If a set is empty, or no parameters reach the security level.
    pub fn semi_honest(request: &Request) -> Result<Self, Error> {
        let sizes = request.sizes;
        let mut budget = FailureBudget::new(request.security);
        let digest_bytes = items::digest_bytes(sizes, &mut budget)?;
        let narrow = dictionary(sizes.sender(), Gf64::BITS);
        let (variant, bound) = if narrow <= budget.share(0.5) {
            (Variant::Narrow, narrow)
        } else {
            (Variant::Wide, dictionary(sizes.sender(), Tower::BITS))
        };
        budget.charge(CIPHERS, ciphers(sizes.union(), digest_bytes))?;
        budget.charge("sender's item in the store", bound)?;
        Self::derive(request, digest_bytes, variant, budget)
    }

    /// Derives them, for parties that may be malicious: B = F, masks of 128 bits, and digests of
    /// 256, since a party that knows the salt could find items of its own with equal digests of
    /// 128.
    ///
    /// # Errors
    /// If a set is empty, or no parameters reach the security level.
    pub fn malicious(request: &Request) -> Result<Self, Error> {
        const DIGEST_BYTES: usize = 32;
        let sizes = request.sizes;
        let mut budget = FailureBudget::new(request.security);
        budget.charge("digest collision", digest::collision(sizes, DIGEST_BYTES))?;
        budget.charge(CIPHERS, Log2Prob::ZERO)?;
        let bound = dictionary(sizes.sender(), Tower::BITS);
        budget.charge("sender's item in the store", bound)?;
        Self::derive(request, DIGEST_BYTES, Variant::Malicious, budget)
    }

    /// What is the same for all variants.
    fn derive(
        request: &Request,
        digest_bytes: usize,
        variant: Variant,
        mut budget: FailureBudget,
    ) -> Result<Self, Error> {
        let sizes = request.sizes;
        if sizes.pairs() == 0 {
            return Err(Error::Misuse("an empty set needs no protocol"));
        }
        let oprf = Layout::derive(
            "store of the receiver's items",
            sizes.receiver(),
            request.security,
            &mut budget,
        )?;
        let mask_range = match variant {
            Variant::Malicious => u128::MAX,
            _ => mask::range(sizes.pairs(), budget.remaining())?,
        };
        let collision = mask::range_collision(sizes.pairs(), mask_range);
        budget.charge("mask collision", collision)?;
        Ok(Self {
            request: request.clone(),
            digest_bytes,
            variant,
            oprf,
            mask_range,
            budget,
        })
    }

    pub(super) fn masks(&self) -> SortedMasks {
        SortedMasks::new(self.request.sizes.sender() as usize, self.mask_range)
    }

    fn traffic<M: Model, B: Base>(&self) -> Cost {
        let len = self.oprf.shape.len();
        let mut cost = Cost {
            offline: Traffic {
                sender_bytes: vole::SETUP_SENDER_BYTES + vole::sender_bytes::<M, B>(len),
                receiver_bytes: vole::SETUP_RECEIVER_BYTES + vole::receiver_bytes::<M, B>(len),
                rounds: 3,
            },
            online: Traffic {
                sender_bytes: self.masks().coded_bytes(),
                receiver_bytes: (len * size_of::<B>()) as u64,
                rounds: 2,
            },
            // The store does not wait for the sender's part of the vector OLE, and follows what
            // the receiver said before.
            saved_rounds: 2,
        };
        if M::CHECKED {
            cost.saved_rounds = 0;
            cost.offline.rounds += 3;
            cost.online.sender_bytes += joint_coin::SENDER_BYTES;
            cost.online.receiver_bytes += joint_coin::RECEIVER_BYTES;
            cost.online.rounds += 1;
        }
        cost
    }
}

impl Plan for Params {
    fn info(&self) -> &'static Info {
        match self.variant {
            Variant::Malicious => &MALICIOUS_INFO,
            _ => &INFO,
        }
    }

    fn request(&self) -> &Request {
        &self.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        let base_bits = match self.variant {
            Variant::Narrow => Gf64::BITS,
            Variant::Wide | Variant::Malicious => Tower::BITS,
        };
        [
            ("digest bytes", self.digest_bytes as u64),
            ("value bits", base_bits.into()),
        ]
        .map(|(name, value)| Parameter { name, value })
        .into_iter()
        .chain(self.oprf.parameters())
        .chain(self.masks().parameters())
        .collect()
    }

    fn budget(&self) -> &FailureBudget {
        &self.budget
    }

    fn cost(&self) -> Cost {
        match self.variant {
            Variant::Narrow => self.traffic::<SemiHonest, Gf64>(),
            Variant::Wide => self.traffic::<SemiHonest, Tower>(),
            Variant::Malicious => self.traffic::<Malicious, Tower>(),
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
        match self.variant {
            Variant::Narrow => offline::<SemiHonest, Gf64>(self, role, channel, context),
            Variant::Wide => offline::<SemiHonest, Tower>(self, role, channel, context),
            Variant::Malicious => offline::<Malicious, Tower>(self, role, channel, context),
        }
    }

    fn at_once(
        &self,
        role: Role,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        match self.variant {
            Variant::Narrow => at_once::<Gf64>(self, role, input, channel, context),
            Variant::Wide => at_once::<Tower>(self, role, input, channel, context),
            Variant::Malicious => self
                .offline(role, channel, context)?
                .run(input, channel, context),
        }
    }
}

fn at_once<B: Base>(
    params: &Params,
    role: Role,
    input: Input<'_>,
    channel: &mut Channel,
    context: &mut Context,
) -> Result<Output, Error> {
    match role {
        Role::Sender => Sender::<SemiHonest, B>::at_once(params, &input, channel, context),
        Role::Receiver => Receiver::<SemiHonest, B>::at_once(params, &input, channel, context),
    }
}

fn offline<M: Model, B: Base>(
    params: &Params,
    role: Role,
    channel: &mut Channel,
    context: &mut Context,
) -> Result<Box<dyn Party>, Error> {
    Ok(match role {
        Role::Sender => Box::new(Sender::<M, B>::offline(params, channel, context)?),
        Role::Receiver => Box::new(Receiver::<M, B>::offline(params, channel, context)?),
    })
}
