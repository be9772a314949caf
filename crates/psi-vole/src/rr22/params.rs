use psijoin_ot::{
    iknp::{Malicious, Model, SemiHonest},
    vole::Base,
};
use psijoin_params::{Log2Prob, mask, overfitting};
use psijoin_psi::{
    Adversary, BaseParams, Conversation, Derived, Dialogue, Error, Info, Input, OutputKind,
    Payloads, Phases, Plan, Request,
    output_hash::Outputs,
    parameters,
    payloads::{self, Delivery},
    sorted_masks::SortedMasks,
};

use super::{INFO, MALICIOUS_INFO, Receiver, Sender, joint_coin, malicious};
use crate::oprf::{CIPHERS, Inputs, Layout, Width, ciphers, over_base};

/// The parameters of a run.
#[derive(Debug)]
pub struct Params {
    pub(super) base: BaseParams,
    /// The width of B.
    pub(super) width: Width,
    pub(super) adversary: Adversary,
    pub(super) oprf: Layout,
    pub(super) mask_range: u128,
    /// The payloads that travel with the items, if any do.
    payloads: Option<Payloads>,
}

impl Params {
    /// Derives them, for semi-honest parties.
    ///
    /// The failure budget: up to an eighth for digests and three times that for rows, up to three
    /// quarters of what is left for the width of B, a sixteenth for the store, and the rest for the
    /// masks. A bit of B costs more than masks cost that have little left.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn semi_honest(request: &Request) -> Result<Self, Error> {
        let sizes = request.sizes;
        let mut base = BaseParams::new(request)?;
        let budget = &mut base.budget;
        budget.charge(CIPHERS, ciphers(sizes.union(), base.digest_bytes))?;
        let three_quarters = Log2Prob::from_log2(0.75_f64.log2());
        let share = budget.remaining().and(three_quarters);
        let width = Width::narrowest(0, sizes.sender(), share);
        Self::derive(base, width, Adversary::SemiHonest)
    }

    /// Derives them, for parties that may be malicious: B of at least 80 bits, masks of 128, and
    /// digests of 256. A party that knows the salt could find items of its own with equal digests
    /// of 128.
    ///
    /// The budget alone would allow 64 bits for small sets. But the fewer bits, the more items fit
    /// into the store of a receiver that cheats ([`overfitting`]).
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn malicious(request: &Request) -> Result<Self, Error> {
        const DIGEST_BYTES: usize = 32;
        let mut base = BaseParams::with_digests(request, DIGEST_BYTES)?;
        base.budget.charge(CIPHERS, Log2Prob::ZERO)?;
        let share = base.budget.share(0.5);
        let width = Width::narrowest(80, request.sizes.sender(), share);
        Self::derive(base, width, Adversary::Malicious)
    }

    /// Returns what follows from how wide B is.
    fn derive(mut base: BaseParams, width: Width, adversary: Adversary) -> Result<Self, Error> {
        let sizes = base.request.sizes;
        let (request, budget) = (&base.request, &mut base.budget);
        budget.charge(
            "sender's item in the store",
            width.dictionary(sizes.sender()),
        )?;
        let name = "store of the receiver's items";
        let oprf =
            Layout::derive(name, sizes.receiver(), request.security, budget)?.on(request.base_ots);
        let payloads = match base.request.output {
            OutputKind::Payloads(payloads) => Some(payloads),
            _ => None,
        };
        let comparisons = match payloads {
            Some(_) => payloads::comparisons(sizes, budget)?,
            None => sizes.pairs(),
        };
        let mask_range = match adversary {
            Adversary::Malicious => u128::MAX,
            _ => mask::range(comparisons, budget.remaining())?,
        };
        let collision = mask::range_collision(comparisons, mask_range);
        budget.charge("mask collision", collision)?;
        Ok(Self {
            base,
            width,
            adversary,
            oprf,
            mask_range,
            payloads,
        })
    }

    /// Returns the plan that follows.
    pub fn plan(self) -> Plan {
        over_base!(self.width, B => match self.adversary {
            Adversary::Malicious => self.malicious_plan::<B>(),
            _ => self.semi_honest_plan::<B>(),
        })
    }

    fn semi_honest_plan<B: Base>(self) -> Plan {
        let derived = self.derived(&INFO, self.semi_honest_dialogue::<B>());
        Plan::new::<Sender<B>, Receiver<B>>(derived, self)
    }

    fn malicious_plan<B: Base>(self) -> Plan {
        let mut derived = self.derived(&MALICIOUS_INFO, self.malicious_dialogue::<B>());
        let cheating = (
            "most items of a cheating receiver",
            self.most_items() as u64,
        );
        derived.parameters.extend(parameters(&[cheating]));
        Plan::new::<malicious::Sender<B>, malicious::Receiver<B>>(derived, self)
    }

    /// Returns a bound on the items that a malicious receiver has in its store, if it tried 2^64.
    fn most_items(&self) -> f64 {
        let (elements, bits) = (self.oprf.shape.len() as u64, self.width.bits());
        overfitting::most_items(elements, bits, 64.0, self.base.request.security)
    }

    fn derived(&self, info: &'static Info, dialogue: Dialogue) -> Derived {
        let own = parameters(&[
            ("digest bytes", self.base.digest_bytes as u64),
            ("value bits", self.width.bits().into()),
        ]);
        Derived {
            info,
            base: self.base.clone(),
            parameters: [own, self.oprf.parameters(), self.masks().parameters()].concat(),
            dialogue,
        }
    }

    fn semi_honest_dialogue<B: Base>(&self) -> Dialogue {
        let (store, end) = (self.oprf.bytes::<B>(), self.end());
        let vole = self.oprf.vole::<SemiHonest, B>();
        let offline = self.oprf.setup().then(vole.clone());
        let online = Conversation::default().receiver(store).then(end.clone());
        // The store does not wait for the sender's half of the vector OLE: it is in one flight with
        // the receiver's half.
        let at_once = self.oprf.setup().receiver(store).then(vole).then(end);
        Dialogue::overlapping(offline, online, at_once)
    }

    fn malicious_dialogue<B: Base>(&self) -> Dialogue {
        let store = self.oprf.bytes::<B>();
        let offline = self.oprf.setup().then(self.oprf.vole::<Malicious, B>());
        let online = Conversation::default()
            .sender(joint_coin::COMMITMENT_BYTES)
            .receiver(joint_coin::PART_BYTES + store)
            .sender(joint_coin::OPENING_BYTES)
            .then(self.end());
        Dialogue::new(offline, online)
    }

    /// Returns what is said from the sender's masks on.
    fn end(&self) -> Conversation {
        match self.delivery() {
            Some(delivery) => delivery.conversation(),
            None => Conversation::default().sender(self.masks().coded_bytes()),
        }
    }

    /// Returns the parameters of the payloads' delivery, if there are any.
    pub(super) fn delivery(&self) -> Option<Delivery> {
        let delivery = |payloads| Delivery {
            masks: self.masks(),
            payloads,
            sizes: self.base.request.sizes,
        };
        self.payloads.map(delivery)
    }

    /// Returns room for the outputs of items: payloads need keys, too.
    pub(super) fn outputs(&self, items: usize) -> Outputs {
        match self.payloads {
            Some(_) => Outputs::with_keys(items),
            None => Outputs::hashes(items),
        }
    }

    pub(super) fn masks(&self) -> SortedMasks {
        SortedMasks::new(self.base.request.sizes.sender() as usize, self.mask_range)
    }

    /// Returns a party's items in their bins.
    pub(super) fn inputs<M: Model>(&self, input: &Input, phases: Phases<'_>) -> Inputs<'_> {
        phases.begin("bins");
        Inputs::new::<M>(&self.oprf, input.items.digests(), input.joint_seed)
    }
}
