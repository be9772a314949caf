//! `dh` with payloads.
//!
//! The sender of [`dh`](super) masks the *receiver's* items. To seal payloads it needs something
//! that only it and a receiver of the same item know. So its secret exponent is the key of an
//! oblivious PRF here, F(x) = H'(H(x)^α).
//!
//! **Source.** Jarecki and Liu, *Fast Secure Computation of Set Intersection* (SCN 2010), Figure 1,
//! for semi-honest parties.
//!
//! *Offline.*
//! 1. The sender draws α, the receiver β.
//!
//! *Online.*
//! 2. The receiver sends { H(y)^β }.
//! 3. The sender raises each to the power α, and returns them in the order in which they came.
//! 4. The receiver raises these to the power 1/β. Now it has H(y)^α, and so F(y), of its items, and
//!    the sender has F(x) of its own.
//! 5. Then come the steps of [`payloads`](psijoin_psi::payloads).
//!
//! **Deviations.** Parties are semi-honest, so there are no proofs of knowledge, and no committed
//! exponents.
//!
//! **Security.** Semi-honest, if the decisional Diffie-Hellman problem is hard, and H and H' are
//! random oracles. The sender sees powers of hashes with an exponent that it does not know. The
//! receiver sees powers of its own items; F of any other is a hash of an element that it cannot
//! know.
//!
//! **Cost.** 32 bytes per item of the receiver in either direction, and then that of `payloads`.
//! Two flights, or three if the sender learns, too. The sender computes a power per item of either
//! party, the receiver two per item of its own.

use std::ops::Range;

use psijoin_block::blake3_rows;
use psijoin_channel::{
    Inbound,
    joint_seed::JointSeed,
    stream::{self, Chunks},
};
use psijoin_curve::Scalar;
use psijoin_params::mask;
use psijoin_psi::{
    BaseParams, Context, Conversation, Derived, Dialogue, Error, Info, Input, Output, Party,
    Payloads, Plan, Request, Result, Role,
    output_hash::Outputs,
    parameters,
    payloads::{self, Delivery, Holding},
    sorted_masks::SortedMasks,
};
use psijoin_runtime::parallel;

use super::group::{Exponent, Group, POINT_BYTES};
use crate::compare;

/// An exponent must have an inverse that is no longer than itself.
const GROUP: Group = Group::Ristretto255;

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
        let elements = self.elements().bytes(|count| count * GROUP.element_bytes());
        let online = Conversation::default()
            .receiver(elements)
            .sender(elements)
            .then(self.delivery.conversation());
        let digests = parameters(&[("digest bytes", self.base.digest_bytes as u64)]);
        let derived = Derived {
            info,
            base: self.base.clone(),
            parameters: [digests, self.delivery.masks.parameters()].concat(),
            dialogue: Dialogue::new(Conversation::default(), online),
        };
        Plan::new::<Sender, Receiver>(derived, self)
    }

    /// Returns how elements are cut into messages, in either direction.
    fn elements(&self) -> Chunks {
        Chunks {
            total: Role::Receiver.items(self.base.request.sizes) as usize,
            per_message: GROUP.elements_per_message(),
        }
    }

    /// Receives elements.
    fn receive(&self, inbound: &mut dyn Inbound) -> Result<Vec<u8>, Error> {
        let (chunks, bytes) = (self.elements(), GROUP.element_bytes());
        let mut elements = vec![0; chunks.total * bytes];
        let mut messages = elements.chunks_mut(chunks.per_message * bytes);
        messages.try_for_each(|message| inbound.recv(message))?;
        Ok(elements)
    }
}

/// Returns H(x)^exponent of these items.
fn powers(exponent: &Exponent, input: &Input, items: Range<usize>) -> Vec<u8> {
    let key = input.joint_seed.key("psijoin 2026 dh hash to group");
    let items = items.start as u32..items.end as u32;
    exponent.hash_power(&key, &input.items.rows(items))
}

/// Returns H' of elements.
fn outputs(elements: &[u8], joint_seed: &JointSeed) -> Vec<[u64; 4]> {
    let key = joint_seed.key("psijoin 2026 dh outputs");
    let words = elements.as_chunks().0.iter().copied();
    let words: Vec<u64> = words.map(u64::from_le_bytes).collect();
    let elements = words.as_chunks::<{ POINT_BYTES / 8 }>().0;
    let mut outputs = vec![[0; 4]; elements.len()];
    blake3_rows::keyed_hash(&key, elements, &mut outputs);
    outputs
}

/// Returns which item each output is of: items are in their own order.
fn positions(input: &Input) -> Vec<u32> {
    (0..input.items.len() as u32).collect()
}

fn of_items<'a>(outputs: &[[u64; 4]], positions: &'a [u32], input: &Input<'a>) -> Holding<'a> {
    Holding {
        outputs: Outputs::from_words(outputs),
        positions,
        payloads: input.payloads,
    }
}

/// Returns what `work` makes of each chunk, one after the other. All threads work.
fn concat<T: Send + Clone>(
    chunks: Chunks,
    work: &(dyn Fn(Range<usize>) -> Result<Vec<T>, Error> + Sync),
) -> Result<Vec<T>, Error> {
    let ranges: Vec<_> = chunks.ranges().collect();
    let made = parallel::map(ranges.len(), &|i| work(ranges[i].clone()));
    Ok(made
        .into_iter()
        .collect::<Result<Vec<_>, Error>>()?
        .concat())
}

/// The party with the key.
pub(super) struct Sender(Exponent);

/// The party that gets the function at its items.
pub(super) struct Receiver {
    blind: Exponent,
    unblind: Exponent,
}

impl Party for Sender {
    type Params = Params;

    /// Step 1.
    fn offline(_: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self(GROUP.exponent(&mut context.rng)))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        // Step 4 of the sender, while step 2 arrives.
        context.phases.begin("own items");
        let own = Chunks {
            total: input.items.len(),
            per_message: GROUP.elements_per_message(),
        };
        let (values, received) = context.channel.exchange(
            |_| {
                concat(own, &|items| {
                    Ok(outputs(&powers(&self.0, input, items), input.joint_seed))
                })
            },
            |inbound| params.receive(inbound),
        )?;
        // Step 3.
        context.phases.begin("their items");
        let bytes = GROUP.element_bytes();
        let outbound = context.channel.halves().0;
        compare::try_send(outbound, params.elements(), &|range, message| {
            let elements = &received[range.start * bytes..range.end * bytes];
            message.extend(self.0.power(elements)?);
            Ok(())
        })?;
        // Step 5.
        let positions = positions(input);
        let holding = of_items(&values, &positions, input);
        params.delivery.send(holding, input.joint_seed, context)
    }
}

impl Party for Receiver {
    type Params = Params;

    /// Step 1.
    fn offline(_: &Params, context: &mut Context) -> Result<Self, Error> {
        let beta = Scalar::from_uniform_bytes(&context.rng.bytes());
        Ok(Self {
            unblind: Exponent::Ristretto255(beta.inverse()),
            blind: Exponent::Ristretto255(beta),
        })
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        // Step 2.
        context.phases.begin("own items");
        let (outbound, inbound) = context.channel.halves();
        stream::send(outbound, params.elements(), &|items, message| {
            message.extend(powers(&self.blind, input, items));
        })?;
        let returned = params.receive(inbound)?;
        // Step 4.
        context.phases.begin("their items");
        let bytes = GROUP.element_bytes();
        let values = concat(params.elements(), &|items| {
            let elements = &returned[items.start * bytes..items.end * bytes];
            Ok(outputs(&self.unblind.power(elements)?, input.joint_seed))
        })?;
        // Step 5.
        let positions = positions(input);
        let holding = of_items(&values, &positions, input);
        params.delivery.receive(holding, input.joint_seed, context)
    }
}
