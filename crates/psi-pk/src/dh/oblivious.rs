//! `dh` with payloads.
//!
//! The sender of [`dh`](super) masks the *receiver's* items. To seal payloads it needs something
//! that only it and a receiver of the same item know: the values of an [oblivious
//! PRF](crate::dh_oprf).
//!
//! *Offline.*
//! 1. Both draw their exponents.
//!
//! *Online.*
//! 2. Both get the values of the oblivious PRF at their items. The sender computes its own while it
//!    receives.
//! 3. Then come the steps of [`payloads`](psijoin_psi::payloads).
//!
//! **Security.** That of the oblivious PRF.
//!
//! **Cost.** That of the oblivious PRF, and then that of `payloads`. Two flights, or three if the
//! sender learns, too.

use psijoin_params::mask;
use psijoin_psi::{
    BaseParams, Context, Conversation, Derived, Dialogue, Error, Info, Input, Output, Party,
    Payloads, Plan, Request, Result, Role,
    output_hash::Outputs,
    parameters,
    payloads::{self, Delivery, Holding},
    sorted_masks::SortedMasks,
};

use crate::dh_oprf::{self, Blinded, Key, Value};

/// All numbers of a run.
pub(super) struct Params {
    base: BaseParams,
    delivery: Delivery,
}

impl Params {
    /// Derives the parameters: digests may take an eighth of the failure budget, masks the rest.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub(super) fn new(request: &Request, payloads: Payloads) -> Result<Self, Error> {
        let mut base = BaseParams::new(request)?;
        let (sizes, budget) = (request.sizes, &mut base.budget);
        let comparisons = payloads::comparisons(sizes, budget)?;
        let range = mask::range(comparisons, budget.remaining())?;
        budget.charge("mask collision", mask::range_collision(comparisons, range))?;
        let masks = SortedMasks::new(sizes.sender() as usize, range);
        let delivery = Delivery {
            masks,
            payloads,
            sizes,
        };
        Ok(Self { base, delivery })
    }

    pub(super) fn plan(self, info: &'static Info) -> Plan {
        let online = dh_oprf::conversation(self.receivers()).then(self.delivery.conversation());
        let digests = parameters(&[("digest bytes", self.base.digest_bytes as u64)]);
        let derived = Derived {
            info,
            base: self.base.clone(),
            parameters: [digests, self.delivery.masks.parameters()].concat(),
            dialogue: Dialogue::new(Conversation::default(), online),
        };
        Plan::new::<Sender, Receiver>(derived, self)
    }

    /// Returns how many items the receiver has.
    fn receivers(&self) -> usize {
        Role::Receiver.items(self.base.request.sizes) as usize
    }
}

/// Returns which item each output is of: items are in their own order.
fn positions(input: &Input) -> Vec<u32> {
    (0..input.items.len() as u32).collect()
}

fn of_items<'a>(outputs: &[Value], positions: &'a [u32], input: &Input<'a>) -> Holding<'a> {
    Holding {
        outputs: Outputs::from_words(outputs),
        positions,
        payloads: input.payloads,
    }
}

/// The party with the key.
pub(super) struct Sender(Key);

/// The party that gets the function at its items.
pub(super) struct Receiver(dh_oprf::Receiver);

impl Party for Sender {
    type Params = Params;

    /// Step 1.
    fn offline(_: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self(Key::random(&mut context.rng)))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        // Step 2.
        context.phases.begin("own items");
        let (values, blinded) = context.channel.exchange(
            |_| Ok::<_, Error>(self.0.values(input.items.digests(), input.joint_seed)),
            |inbound| Blinded::receive(params.receivers(), inbound),
        )?;
        context.phases.begin("their items");
        self.0.answer(&blinded, context.channel.halves().0)?;
        // Step 3.
        let positions = positions(input);
        let holding = of_items(&values, &positions, input);
        params.delivery.send(holding, input.joint_seed, context)
    }
}

impl Party for Receiver {
    type Params = Params;

    /// Step 1.
    fn offline(_: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self(dh_oprf::Receiver::random(&mut context.rng)))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        // Step 2.
        let items = input.items.digests();
        let values = self.0.evaluate(items, input.joint_seed, context)?;
        // Step 3.
        let positions = positions(input);
        let holding = of_items(&values, &positions, input);
        params.delivery.receive(holding, input.joint_seed, context)
    }
}
