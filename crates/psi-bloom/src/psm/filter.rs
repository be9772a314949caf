//! `kk20-psm`: its parameters and its parties.

use std::{iter, ops::Range};

use psijoin_block::Block;
use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::{DigestBuffer, Digests};
use psijoin_ot::extension::{self, Extension};
use psijoin_psi::{
    BaseParams, Context, Conversation, Derived, Dialogue, Error, Input, Output, Party, Plan,
    Request, Result, parameters,
};
use psijoin_psi_functions::bins::{KeyHash, base_params_of};
use psijoin_runtime::memory::Buffer;

use super::{FILTER_INFO, function, lanes};
use crate::{
    opprf::{Opprf, Size},
    prepared,
    psm_co::{Tagged, Tests},
};

/// The most pairs of items in a run: some 300 MB of traffic.
pub const MOST_PAIRS: u128 = 1 << 22;

/// The error if there are more.
pub(crate) const TOO_MANY: &str = "kk20-psm compares every pair of items, and does so for at most 2^22 pairs: \
     choose kk20, which hashes items to bins";

/// Keys of a filter, unless the sender has more items: what a party holds of them takes some 60 MB.
const KEYS_AT_ONCE: u64 = 1 << 20;

/// All numbers of a run.
#[derive(Debug)]
pub struct Params {
    pub(crate) base: BaseParams,
    /// Items of the receiver that share a filter.
    batch: usize,
    pub(crate) opprf: Opprf,
    tests: Tests<Tagged>,
}

impl Params {
    /// Derives them.
    ///
    /// The failure budget: up to a sixteenth for digests and keys, an eighth for the filters, seven
    /// sixteenths for numbers that are equal by chance, and a quarter for the equality tests'
    /// ciphertexts.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn new(request: &Request) -> Result<Self, Error> {
        Self::opening(1, request)
    }

    /// Derives them, where this many bits are opened for each item.
    pub(crate) fn opening(bits: usize, request: &Request) -> Result<Self, Error> {
        Self::in_filters_of(KEYS_AT_ONCE, bits, request)
    }

    /// Derives them, where a filter has up to this many keys, or those of one item.
    pub(super) fn in_filters_of(
        keys: u64,
        opened_bits: usize,
        request: &Request,
    ) -> Result<Self, Error> {
        let sizes = request.sizes;
        let (senders, receivers) = (sizes.sender(), sizes.receiver());
        let mut base = base_params_of(request, senders * receivers + receivers)?;
        let budget = &mut base.budget;
        let tests = Tests::derive(receivers, opened_bits, budget)?;
        let batch = (keys / senders).clamp(1, receivers);
        let size = Size {
            programmed: senders * batch,
            queried: batch,
            uses: receivers.div_ceil(batch),
        };
        let bits = tests.bits as u32;
        let extension = Extension::IKNP.on(request.base_ots);
        let opprf = Opprf::derive(size, bits, extension, budget.share(0.125))?;
        opprf.charge(budget)?;
        Ok(Self {
            base,
            batch: batch as usize,
            opprf,
            tests,
        })
    }

    /// Returns the plan of a run with these numbers.
    pub fn plan(self) -> Plan {
        let request = &self.base.request;
        let [function_offline, function_online] = function(request).conversations();
        let online = self.online().then(function_online);
        let derived = Derived {
            info: &FILTER_INFO,
            base: self.base.clone(),
            parameters: [
                parameters(&[
                    ("digest bytes", self.base.digest_bytes as u64),
                    ("items a filter", self.batch as u64),
                ]),
                self.opprf.parameters(),
                self.tests.parameters(),
            ]
            .concat(),
            dialogue: Dialogue::new(self.opprf.ots().setup().then(function_offline), online),
        };
        let (lanes, too_many) = (lanes(request.sizes), request.sizes.pairs() > MOST_PAIRS);
        let plan = Plan::new::<Sender, Receiver>(derived, self).places(lanes);
        match too_many {
            false => plan,
            true => plan.refused(TOO_MANY),
        }
    }

    /// Returns what is said in steps 2 and 3.
    pub(crate) fn online(&self) -> Conversation {
        let (ots, lanes) = (self.opprf.ots(), lanes(self.base.request.sizes));
        let batches = lanes.div_ceil(self.batch);
        (self.opprf.conversation().repeated(batches as u64))
            .then(self.tests.conversation(ots, lanes))
    }

    /// Steps 1 and 2 of the sender: its targets.
    pub(crate) fn program(
        &self,
        input: &Input,
        ots: &mut extension::Sender,
        context: &mut Context,
    ) -> Result<Buffer<Block>, Error> {
        // Step 1.
        // Nothing is to depend on their order.
        let items = input.items.digests().sorted();
        let items = items.as_digests();
        let mut targets = Buffer::zeroed(lanes(self.base.request.sizes));
        context.rng.fill(&mut targets);

        // Step 2.
        context.phases.begin("garbled Bloom filters");
        let (keys, rng) = (Keys::new(input.joint_seed), &mut context.rng);
        for (number, batch) in self.batches().enumerate() {
            let cells = self.cells(number, input.joint_seed);
            let keys = keys.of_sender(items, &batch);
            let of_item = |target: &Block| iter::repeat_n(*target, items.len());
            let values = targets[batch].iter().flat_map(of_item).collect();
            let opprf = self.opprf.nth(number);
            let keys = keys.as_digests();
            opprf.send(cells, keys, values, ots, context.channel, rng)?;
        }
        Ok(targets)
    }

    /// Step 2 of the receiver: a number for each of its items.
    pub(crate) fn query(
        &self,
        input: &Input,
        ots: &mut extension::Receiver,
        context: &mut Context,
    ) -> Result<Buffer<Block>, Error> {
        context.phases.begin("oblivious transfers");
        let (keys, items) = (Keys::new(input.joint_seed), input.items.digests());
        let mut numbers = Buffer::zeroed(items.len());
        for (number, batch) in self.batches().enumerate() {
            let cells = self.cells(number, input.joint_seed);
            let keys = keys.of_receiver(items, &batch);
            let opprf = self.opprf.nth(number);
            let found = opprf.receive(cells, keys.as_digests(), ots, context.channel)?;
            numbers[batch].copy_from_slice(&found);
        }
        Ok(numbers)
    }

    /// Returns the items of the receiver that share each filter.
    fn batches(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (lanes, batch) = (lanes(self.base.request.sizes), self.batch);
        let starts = (0..lanes).step_by(batch);
        starts.map(move |start| start..lanes.min(start + batch))
    }

    /// Returns the hash functions of the number-th filter.
    fn cells(&self, number: usize, joint_seed: &JointSeed) -> [u8; 32] {
        let number = (number as u64).to_le_bytes();
        joint_seed.key_with("psijoin 2026 kk20 membership cells", &number)
    }

    /// Returns the tests of step 3.
    pub(crate) fn tests(&self, joint_seed: &JointSeed) -> Tests<Tagged> {
        let key = joint_seed.key("psijoin 2026 kk20 membership equality tests");
        self.tests.keyed(key)
    }
}

/// Keys (x, i): item x in the set that the receiver's item number i is compared with.
struct Keys(KeyHash);

impl Keys {
    fn new(joint_seed: &JointSeed) -> Self {
        Self(KeyHash::new(
            joint_seed.key("psijoin 2026 kk20 membership keys"),
        ))
    }

    /// Returns the keys of all of the sender's items for each of these items of the receiver, one
    /// after the other.
    fn of_sender(&self, items: Digests<'_>, batch: &Range<usize>) -> DigestBuffer {
        let count = items.len() * batch.len();
        self.0.keys(items, count, &|key| {
            let lane = batch.start + key / items.len();
            (key % items.len(), lane as u64)
        })
    }

    /// Returns the keys of these items of the receiver.
    fn of_receiver(&self, items: Digests<'_>, batch: &Range<usize>) -> DigestBuffer {
        self.0.keys(items, batch.len(), &|key| {
            let lane = batch.start + key;
            (lane, lane as u64)
        })
    }
}

/// The party that learns nothing, after the offline phase.
type Sender = prepared::Sender<Params>;

impl Party for Sender {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        let function = function(&params.base.request);
        Self::prepare(params.opprf.extension(), function, context)
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let Self {
            mut ots, output, ..
        } = self;
        // Steps 1 and 2.
        let targets = params.program(input, &mut ots, context)?;

        // Step 3.
        context.phases.begin("equality tests");
        let (tests, rng) = (params.tests(input.joint_seed), &mut context.rng);
        let shares = tests.send_shares(&targets, &mut ots, context.channel, rng)?;

        // Step 4.
        context.phases.begin("output");
        output.release(shares, Vec::new(), context)
    }
}

/// The party that learns the result, after the offline phase.
type Receiver = prepared::Receiver<Params>;

impl Party for Receiver {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        let function = function(&params.base.request);
        Self::prepare(params.opprf.extension(), function, context)
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let Self {
            mut ots, output, ..
        } = self;
        // Step 2.
        let numbers = params.query(input, &mut ots, context)?;

        // Step 3.
        context.phases.begin("equality tests");
        let tests = params.tests(input.joint_seed);
        let shares = tests.receive_shares(&numbers, &mut ots, context.channel)?;

        // Step 4.
        super::learn(output, shares, input, context)
    }
}
