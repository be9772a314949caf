//! `co18-psm`: its parameters and its parties.

use psijoin_block::Block;
use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::Digests;
use psijoin_ot::extension::Extension;
use psijoin_params::mask;
use psijoin_psi::{
    BaseParams, Context, Derived, Dialogue, Error, Input, Output, Party, Plan, Request, Result,
    Role, ots::Ots, parameters,
};
use psijoin_runtime::memory::Buffer;

use super::{GRAPH_INFO, function, lanes};
use crate::{prepared, psm_co::Membership};

/// The most pairs of items in a run: some 600 MB of traffic.
pub const MOST_PAIRS: u128 = 1 << 18;

/// Returns the OTs of the walks' bits.
fn ots(request: &Request) -> Ots {
    Ots {
        extension: Extension::IKNP.on(request.base_ots),
        sender: Role::Sender,
    }
}

/// All numbers of a run.
#[derive(Debug)]
pub struct Params {
    base: BaseParams,
    membership: Membership,
}

impl Params {
    /// Derives them.
    ///
    /// The failure budget: up to an eighth for digests, half for items of the two sides that begin
    /// with the same bits; nothing for items that are numbers, all of whose bits count.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn new(request: &Request) -> Result<Self, Error> {
        let (base, bits) = match request.item_bits {
            Some(bits) => (BaseParams::of_numbers(request, bits)?, bits),
            None => shortened(request)?,
        };
        Ok(Self {
            base,
            membership: Membership {
                items: request.sizes.sender() as usize,
                bits: bits as usize,
                opened_bits: 1,
                key: [0; 32],
            },
        })
    }

    /// Returns the plan of a run with these numbers.
    pub fn plan(self) -> Plan {
        let request = &self.base.request;
        let [function_offline, function_online] = function(request).conversations();
        let lanes = lanes(request.sizes);
        let ots = ots(request);
        let online = (self.membership.conversation(ots, lanes)).then(function_online);
        let derived = Derived {
            info: &GRAPH_INFO,
            base: self.base.clone(),
            parameters: parameters(&[
                ("digest bytes", self.base.digest_bytes as u64),
                ("bits of an item", self.membership.bits as u64),
            ]),
            dialogue: Dialogue::new(ots.setup().then(function_offline), online),
        };
        let too_many = request.sizes.pairs() > MOST_PAIRS;
        let plan = Plan::new::<Sender, Receiver>(derived, self).places(lanes);
        match too_many {
            false => plan,
            true => plan.refused(
                "co18-psm compares every pair of items, and does so for at most 2^18 pairs: \
                 choose kk20-psm, which sends less, or kk20, which hashes items to bins",
            ),
        }
    }

    /// Returns the walks of a run.
    fn membership(&self, joint_seed: &JointSeed) -> Membership {
        Membership {
            key: joint_seed.key("psijoin 2026 co18 membership"),
            ..self.membership
        }
    }
}

/// Returns the parameters, and the bits of an item, where items are parts of digests.
fn shortened(request: &Request) -> Result<(BaseParams, u32), Error> {
    let pairs = request.sizes.pairs();
    let mut base = BaseParams::new(request)?;
    let bits = mask::bits(pairs, base.budget.share(0.5))?;
    let collision = mask::collision(pairs, bits);
    base.budget.charge("items with one beginning", collision)?;
    Ok((base, bits))
}

/// Returns the first half of each item, whose first bits count.
fn beginnings(items: Digests<'_>) -> Buffer<Block> {
    let mut beginnings = Buffer::zeroed(items.len());
    for (i, beginning) in beginnings.iter_mut().enumerate() {
        let [low, high, ..] = items.words(i);
        *beginning = Block(u128::from(low) | u128::from(high) << 64);
    }
    beginnings
}

/// The party that learns nothing, after the offline phase.
type Sender = prepared::Sender<Params>;

impl Party for Sender {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        let request = &params.base.request;
        Self::prepare(ots(request).extension, function(request), context)
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let Self {
            mut ots, output, ..
        } = self;
        // Step 1.
        let set = beginnings(input.items.digests());

        // Step 2.
        context.phases.begin("walks");
        let membership = params.membership(input.joint_seed);
        let (walks, rng) = (lanes(params.base.request.sizes), &mut context.rng);
        let shares = membership.send_shares(&set, walks, &mut ots, context.channel, rng)?;

        // Step 3.
        context.phases.begin("output");
        output.release(shares, Vec::new(), context)
    }
}

/// The party that learns the result, after the offline phase.
type Receiver = prepared::Receiver<Params>;

impl Party for Receiver {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        let request = &params.base.request;
        Self::prepare(ots(request).extension, function(request), context)
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let Self {
            mut ots, output, ..
        } = self;
        // Step 1.
        let items = beginnings(input.items.digests());

        // Step 2.
        context.phases.begin("walks");
        let membership = params.membership(input.joint_seed);
        let shares = membership.receive_shares(&items, &mut ots, context.channel)?;

        // Step 3.
        super::learn(output, shares, input, context)
    }
}
