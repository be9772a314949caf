use psijoin_block::tower::{Element, Gf64, Tower};
use psijoin_ot::{
    iknp::{Malicious, Model, SemiHonest},
    vole::Base,
};
use psijoin_params::{FailureBudget, Log2Prob, digest, mask};
use psijoin_psi::{
    Conversation, Cost, Derived, Error, Info, Input, Phases, Plan, Request, items, parameters,
    sorted_masks::SortedMasks,
};

use super::{INFO, MALICIOUS_INFO, Receiver, Sender, joint_coin, malicious};
use crate::oprf::{CIPHERS, Inputs, Layout, ciphers, dictionary};

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

/// What is derived for a run.
#[derive(Debug)]
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
    /// If no parameters reach the security level.
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
    /// 256. A party that knows the salt could find items of its own with equal digests of 128.
    ///
    /// # Errors
    /// If no parameters reach the security level.
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

    /// The plan that follows.
    pub fn plan(self) -> Plan {
        match self.variant {
            Variant::Narrow => self.semi_honest_plan::<Gf64>(),
            Variant::Wide => self.semi_honest_plan::<Tower>(),
            Variant::Malicious => {
                let derived = self.derived(&MALICIOUS_INFO, Tower::BITS, self.malicious_cost());
                Plan::new::<malicious::Sender, malicious::Receiver>(derived, self)
            }
        }
    }

    fn semi_honest_plan<B: Base>(self) -> Plan {
        let derived = self.derived(&INFO, B::BITS, self.semi_honest_cost::<B>());
        Plan::new::<Sender<B>, Receiver<B>>(derived, self)
    }

    fn derived(&self, info: &'static Info, base_bits: u32, cost: Cost) -> Derived {
        let own = parameters([
            ("digest bytes", self.digest_bytes as u64),
            ("value bits", base_bits.into()),
        ]);
        let parameters = own.into_iter().chain(self.oprf.parameters());
        Derived {
            info,
            request: self.request.clone(),
            digest_bytes: self.digest_bytes,
            parameters: parameters.chain(self.masks().parameters()).collect(),
            budget: self.budget.clone(),
            cost,
        }
    }

    fn semi_honest_cost<B: Base>(&self) -> Cost {
        let (store, masks) = (self.oprf.bytes::<B>(), self.masks().coded_bytes());
        let vole = self.oprf.vole::<SemiHonest, B>();
        let offline = Layout::setup().then(vole.clone());
        let online = Conversation::default().receiver(store).sender(masks);
        // The store does not wait for the sender's half of the vector OLE: it is in one flight with
        // the receiver's half.
        let at_once = Layout::setup().receiver(store).then(vole).sender(masks);
        Cost::overlapping(offline, online, at_once)
    }

    fn malicious_cost(&self) -> Cost {
        let (store, masks) = (self.oprf.bytes::<Tower>(), self.masks().coded_bytes());
        let offline = Layout::setup().then(self.oprf.vole::<Malicious, Tower>());
        let online = Conversation::default()
            .sender(joint_coin::COMMITMENT_BYTES)
            .receiver(joint_coin::PART_BYTES + store)
            .sender(joint_coin::OPENING_BYTES + masks);
        Cost::new(offline, online)
    }

    pub(super) fn masks(&self) -> SortedMasks {
        SortedMasks::new(self.request.sizes.sender() as usize, self.mask_range)
    }

    /// A party's items in their bins.
    pub(super) fn inputs<M: Model>(&self, input: &Input, phases: Phases<'_>) -> Inputs<'_> {
        phases.begin("bins");
        Inputs::new::<M>(&self.oprf, input.items.digests(), input.joint_seed)
    }
}
