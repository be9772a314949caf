//! Payloads: what travels with the shared items, at the end of a protocol that gives each party an
//! output for each of its items, as an oblivious PRF does.
//!
//! **Functionality.** The receiver learns which of its items the sender has, and the sender's
//! payload of each. If [the sender learns as much](Payloads::back), it learns which of its items
//! the receiver has, and the receiver's payload of each. All payloads of a party have the same
//! length, which both know.
//!
//! **Steps.** F(x) is the output of an item x, the same for both parties: a hash and a key of 128
//! bits each ([`Outputs`]). The mask of x is made from its hash alone, and what must stay secret
//! from its key: Stream and Claim are BLAKE3 under different keys from the joint seed.
//! 1. The sender sends the mask of each of its items, sorted
//!    ([`sorted_masks`](crate::sorted_masks)).
//! 2. In the same order, it sends its payloads, each sealed under the Stream of its item's key
//!    (`seal.rs`).
//! 3. The receiver finds its own masks among these, and opens the payloads of what it finds.
//!
//! If the sender learns, too:
//!
//! 4. The receiver sends a bit per mask, set if it has the item, and Claim(k_1 + k_2 + …) for the
//!    keys of those that it has, added bit by bit (`claim.rs`).
//! 5. It sends their payloads in the same order, and then zeros, up to as many as the smaller set
//!    has items.
//! 6. The sender compares the claim with its own.
//!
//! **Security.** To a receiver that does not have F(x), it is a random number of 256 bits. So the
//! mask is uniform and independent of the key; and what is hashed from the key is random if BLAKE3
//! is a random oracle: the sealed payload of an item that is not shared is uniform bits, too. A
//! sealed payload that was changed is noticed, except with a probability below 2^-116. No length
//! depends on what is shared.
//!
//! *Malicious parties.* A sender may seal what it likes, or seal wrongly. Then the receiver's run
//! fails with [`Error::Payload`], but only after all has been said, and without a word to the
//! sender: it would tell whether that item is shared. A receiver can only claim items whose outputs
//! it has: the bits fix the set whose keys are added, and a sum with a key that the receiver does
//! not have is uniform to it, whatever set it chooses, so it guesses the sum with a probability of
//! 2^-128. It can claim fewer, stop after step 3, and give any payload. Nothing forces it to let
//! the sender learn.
//!
//! **Failures.** The masks of two items that are not the same are equal: of any of the receiver and
//! any of the sender, or any two of the sender, whose ranks would be confused. Two keys are equal,
//! so that a stream is used twice ([`comparisons`]).
//!
//! **Cost.** The sender's masks, and 16 bytes more per item than its payloads have. Back, a bit per
//! item of the sender, 32 bytes, and the receiver's payloads of the smaller set. If the sender
//! learns, that is one flight more. Each party gets a key with an item's hash, from the same call,
//! so that it hashes once more only per payload that it seals or opens.
//!
//! Sealing is our own, from the many-row hash and a one-time authenticator: with a key for each
//! item, a library's cipher takes more than twice as long
//! (`cargo bench -p psijoin-psi --bench payloads`).

use std::ops::Range;

use bytemuck::Pod;
use psijoin_channel::{
    Channel, Inbound, Outbound,
    joint_seed::JointSeed,
    stream::{self, Chunks},
};
use psijoin_params::{FailureBudget, Sizes, mask};
use psijoin_runtime::{
    memory::{Buffer, prefetch},
    parallel,
};

use crate::{
    Context, Conversation, Error, Matched, Output, Payloads, Role,
    output::{Arranged, ascending},
    output_hash::Outputs,
    positions::PositionSet,
    sorted_masks::{Own, SortedMasks, order},
};

mod claim;
mod seal;

use claim::{CLAIM_BYTES, Proof};
use seal::{Seal, sealed_bytes};

/// Bytes of a message of payloads, about.
const MESSAGE_BYTES: usize = 100 << 10;

/// The number of elements between fetching one and using it.
const AHEAD: usize = 16;

/// Elements that a task collects.
const CHUNK: usize = 1 << 14;

/// Returns the pairs of items whose masks must differ for a run to succeed. That their keys differ
/// is charged to the budget.
///
/// # Errors
/// If the budget does not allow it.
pub fn comparisons(sizes: Sizes, budget: &mut FailureBudget) -> Result<u128, Error> {
    let senders = u128::from(sizes.sender());
    let pairs = sizes.pairs() + senders * senders.saturating_sub(1) / 2;
    budget.charge("keys alike", mask::range_collision(pairs, u128::MAX))?;
    Ok(pairs)
}

/// The steps of the [module](self), for a plan.
#[derive(Debug, Clone, Copy)]
pub struct Delivery {
    /// The sender's masks.
    pub masks: SortedMasks,
    /// The payloads that travel with the items.
    pub payloads: Payloads,
    /// The number of items of each party.
    pub sizes: Sizes,
}

/// The state of a party when the steps begin, place by place.
pub struct Holding<'a> {
    /// F of each of its items, hashes and keys.
    pub outputs: Outputs,
    /// The item of each output, by its position in the input.
    pub positions: &'a [u32],
    /// The payloads of all items, in the order of the input.
    pub payloads: &'a [u8],
}

/// The sender's state, in the order of its masks.
struct Ranked<'a> {
    /// The key of each item.
    keys: Buffer<u128>,
    /// Its position in the input.
    positions: Buffer<u32>,
    /// The payloads of all items, in the order of the input.
    payloads: &'a [u8],
}

/// The receiver's shared items, in the order of the sender's masks; and its state, place by place.
struct Shared<'a> {
    /// The rank of each mask that is shared.
    ranks: Vec<u32>,
    /// The place of the item that has it.
    places: Vec<u32>,
    /// The key of each item, at its place.
    keys: Buffer<u128>,
    /// Its position in the input, at its place.
    positions: &'a [u32],
    /// The payloads of all items, in the order of the input.
    payloads: &'a [u8],
}

impl Shared<'_> {
    /// Returns the numbers of what is shared of these masks.
    fn numbers(&self, masks: Range<usize>) -> Range<usize> {
        let number_of = |rank| self.ranks.partition_point(|other| (*other as usize) < rank);
        number_of(masks.start)..number_of(masks.end)
    }
}

impl Delivery {
    /// Returns what is said.
    pub fn conversation(&self) -> Conversation {
        let sealed = self.sealed().bytes(|items| items * self.sealed_bytes());
        let talk = Conversation::default().sender(self.masks.coded_bytes() + sealed);
        match self.payloads.back {
            None => talk,
            Some(_) => {
                let bits = (self.sizes.sender() as usize).div_ceil(8) + CLAIM_BYTES;
                let returned = self
                    .returned()
                    .bytes(|items| items * self.bytes(Role::Receiver));
                talk.receiver(bits as u64 + returned)
            }
        }
    }

    /// Returns the number of bytes of a party's payload of an item.
    fn bytes(&self, role: Role) -> usize {
        self.payloads.bytes(role)
    }

    /// Returns the number of bytes of a sealed payload.
    fn sealed_bytes(&self) -> usize {
        sealed_bytes(self.bytes(Role::Sender))
    }

    /// Returns the messages of step 2, none if there are no payloads.
    fn sealed(&self) -> Chunks {
        let items = match self.bytes(Role::Sender) {
            0 => 0,
            _ => self.sizes.sender(),
        };
        chunks(items, self.sealed_bytes())
    }

    /// Returns the messages of step 5, none if there are no payloads.
    fn returned(&self) -> Chunks {
        let bytes = self.bytes(Role::Receiver);
        let items = match bytes {
            0 => 0,
            _ => self.sizes.smaller(),
        };
        chunks(items, bytes)
    }

    /// Returns the sender's steps.
    ///
    /// # Errors
    /// If the channel breaks, or the receiver claims what it does not have.
    ///
    /// # Panics
    /// Unless there is an output, a position and a payload for each item.
    pub fn send(
        &self,
        holding: Holding<'_>,
        joint_seed: &JointSeed,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let keys = Keys::new(joint_seed);
        // Step 1.
        context.phases.begin("masks");
        let ranked = self.send_masks(holding, context.channel.halves().0)?;
        // Step 2.
        context.phases.begin("payloads");
        self.send_sealed(&ranked, &keys, context.channel.halves().0)?;
        match self.payloads.back {
            None => Ok(Output::Nothing),
            Some(_) => self.learn(&ranked, &keys, context.channel),
        }
    }

    /// Step 1.
    fn send_masks<'a>(
        &self,
        holding: Holding<'a>,
        outbound: &mut dyn Outbound,
    ) -> Result<Ranked<'a>, Error> {
        let Holding {
            outputs: Outputs { hashes, keys },
            positions,
            payloads,
        } = holding;
        let places = order(&hashes);
        let sorted = gathered(&hashes, &places);
        drop(hashes);
        // The receiver may still be busy with its own masks: what comes later is prepared before
        // these are sent.
        let ranked = Ranked {
            keys: gathered(&keys, &places),
            positions: gathered(positions, &places),
            payloads,
        };
        drop((keys, places));
        self.masks.send(&sorted, outbound)?;
        Ok(ranked)
    }

    /// Step 2.
    fn send_sealed(
        &self,
        ranked: &Ranked<'_>,
        keys: &Keys,
        outbound: &mut dyn Outbound,
    ) -> Result<(), Error> {
        let bytes = self.bytes(Role::Sender);
        let seal = Seal::new(keys.stream, bytes);
        stream::send(outbound, self.sealed(), &|ranks, message| {
            let positions = &ranked.positions[ranks.clone()];
            let payload = |i| payload_at(ranked.payloads, positions, i, bytes);
            seal.seal(&ranked.keys[ranks], payload, message);
        })?;
        Ok(())
    }

    /// Steps 4 to 6 of the sender.
    fn learn(
        &self,
        ranked: &Ranked<'_>,
        keys: &Keys,
        channel: &mut Channel,
    ) -> Result<Output, Error> {
        let inbound = channel.halves().1;
        let claimed = claim::receive(ranked.keys.len(), inbound)?;
        if claimed.len() as u64 > self.sizes.smaller() {
            return Err(Error::Peer("it claims more shared items than it has"));
        }
        let proof = Proof::of(&claimed, &keys.claim, &ranked.keys);
        let mut rows = PositionSet::none(ranked.positions.len());
        let position_of = |rank| ranked.positions[rank as usize];
        claimed.for_each(|rank| rows.insert(position_of(rank)));
        let rows = rows.ascending();
        proof.check(inbound)?;
        let payloads = self.receive_returned(ranked, &claimed, inbound)?;
        Ok(Output::Matched(Matched { rows, payloads }))
    }

    /// Step 5 of the sender: the payloads of what is claimed, in the order of the input.
    fn receive_returned(
        &self,
        ranked: &Ranked<'_>,
        claimed: &PositionSet,
        inbound: &mut dyn Inbound,
    ) -> Result<Vec<u8>, Error> {
        let bytes = self.bytes(Role::Receiver);
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let positions: Vec<u32> = at(&ranked.positions, &claimed.ascending()).collect();
        let mut arranged = Arranged::new(&positions, ranked.positions.len(), bytes);
        let given = |numbers| up_to(numbers, positions.len());
        stream::receive_in_turn(
            inbound,
            self.returned(),
            &|items| items * bytes,
            &|numbers, message| message[..given(numbers).len() * bytes].to_vec(),
            &mut |numbers, payloads| arranged.put(given(numbers), &payloads),
        )?;
        Ok(arranged.payloads)
    }

    /// Returns the receiver's steps.
    ///
    /// # Errors
    /// If the channel breaks, the peer sent something that is not masks, or luck fails.
    /// [`Error::Payload`] if a payload cannot be opened.
    ///
    /// # Panics
    /// As [`send`](Self::send).
    pub fn receive(
        &self,
        holding: Holding<'_>,
        joint_seed: &JointSeed,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let keys = Keys::new(joint_seed);
        // Steps 1 and 3.
        context.phases.begin("masks");
        let shared = self.find(holding, context.channel.halves().1)?;
        // Steps 2 and 3.
        context.phases.begin("payloads");
        let (payloads, all_right) =
            self.receive_sealed(&shared, &keys, context.channel.halves().1)?;
        // Nothing sent here may show whether all could be opened.
        if self.payloads.back.is_some() {
            self.tell(&shared, &keys, context.channel.halves().0)?;
        }
        let positions = shared.positions;
        let rows = ascending(at(positions, &shared.places), positions.len());
        match all_right {
            true => Ok(Output::Matched(Matched { rows, payloads })),
            false => Err(Error::Payload),
        }
    }

    /// Step 1 of the receiver, and what of its items is shared.
    fn find<'a>(
        &self,
        holding: Holding<'a>,
        inbound: &mut dyn Inbound,
    ) -> Result<Shared<'a>, Error> {
        let Holding {
            outputs: Outputs { hashes, keys },
            positions,
            payloads,
        } = holding;
        let own = Own::new(self.masks, &hashes);
        let (ranks, places) = self.masks.receive_ranked(&own, inbound)?;
        Ok(Shared {
            ranks,
            places,
            keys,
            positions,
            payloads,
        })
    }

    /// Step 2 of the receiver: the payloads of what is shared, in the order of the input, and
    /// whether all are what was sealed.
    fn receive_sealed(
        &self,
        shared: &Shared<'_>,
        keys: &Keys,
        inbound: &mut dyn Inbound,
    ) -> Result<(Vec<u8>, bool), Error> {
        let (bytes, sealed_bytes) = (self.bytes(Role::Sender), self.sealed_bytes());
        if bytes == 0 {
            return Ok((Vec::new(), true));
        }
        let seal = Seal::new(keys.stream, bytes);
        let open = |message: Range<usize>, sealed: &[u8]| {
            let (first, numbers) = (message.start, shared.numbers(message));
            let ranks = &shared.ranks[numbers.clone()];
            let sealed = |i: usize| &sealed[(ranks[i] as usize - first) * sealed_bytes..];
            let keys = gathered(&shared.keys, &shared.places[numbers]);
            let mut payloads = Vec::new();
            let right = seal.open(&keys, sealed, &mut payloads);
            (payloads, right)
        };
        let positions = gathered(shared.positions, &shared.places);
        let mut arranged = Arranged::new(&positions, shared.positions.len(), bytes);
        let mut all_right = true;
        stream::receive_in_turn(
            inbound,
            self.sealed(),
            &|items| items * sealed_bytes,
            &open,
            &mut |message, (payloads, right)| {
                arranged.put(shared.numbers(message), &payloads);
                all_right &= right;
            },
        )?;
        Ok((arranged.payloads, all_right))
    }

    /// Steps 4 and 5 of the receiver.
    fn tell(
        &self,
        shared: &Shared<'_>,
        keys: &Keys,
        outbound: &mut dyn Outbound,
    ) -> Result<(), Error> {
        let masks = self.sizes.sender() as usize;
        let ranks = PositionSet::new(shared.ranks.iter().copied(), masks);
        let shared_keys = at(&shared.keys, &shared.places);
        claim::send(&ranks, masks, &keys.claim, shared_keys, outbound)?;
        let (places, bytes) = (&shared.places, self.bytes(Role::Receiver));
        stream::send(outbound, self.returned(), &|numbers, message| {
            let own = up_to(numbers.clone(), places.len());
            let positions = gathered(shared.positions, &places[own]);
            for i in 0..positions.len() {
                message.extend_from_slice(payload_at(shared.payloads, &positions, i, bytes));
            }
            message.resize(numbers.len() * bytes, 0);
        })?;
        Ok(())
    }
}

fn chunks(items: u64, bytes: usize) -> Chunks {
    Chunks {
        total: items as usize,
        per_message: (MESSAGE_BYTES / bytes.max(1)).max(1),
    }
}

/// Returns those of these numbers that are below an end.
fn up_to(numbers: Range<usize>, end: usize) -> Range<usize> {
    numbers.start.min(end)..numbers.end.min(end)
}

/// Returns the elements at these places, which are anywhere.
fn at<T: Copy>(elements: &[T], places: &[u32]) -> impl ExactSizeIterator<Item = T> {
    places.iter().enumerate().map(|(i, place)| {
        if let Some(later) = places.get(i + AHEAD) {
            prefetch(&elements[*later as usize]);
        }
        elements[*place as usize]
    })
}

/// Gathers elements, by all threads of the caller's pool, in memory that is wiped.
fn gathered<T: Pod + Send + Sync>(elements: &[T], places: &[u32]) -> Buffer<T> {
    let mut gathered = Buffer::zeroed(places.len());
    parallel::chunks_mut(&mut gathered, CHUNK, &|chunk, gathered| {
        for (gathered, element) in gathered.iter_mut().zip(at(elements, &places[chunk])) {
            *gathered = element;
        }
    });
    gathered
}

/// Returns the payload of the i-th of these positions, of `bytes` bytes. The caller should ask for
/// the positions in order.
fn payload_at<'a>(payloads: &'a [u8], positions: &[u32], i: usize, bytes: usize) -> &'a [u8] {
    let start_of = |position: u32| position as usize * bytes;
    if let Some(later) = positions.get(i + AHEAD) {
        prefetch(&payloads[start_of(*later)]);
    }
    &payloads[start_of(positions[i])..][..bytes]
}

/// The keys of Stream and Claim.
struct Keys {
    stream: [u8; 32],
    claim: [u8; 32],
}

impl Keys {
    fn new(joint_seed: &JointSeed) -> Self {
        Self {
            stream: joint_seed.key("psijoin 2026 payload streams"),
            claim: joint_seed.key("psijoin 2026 payload claims"),
        }
    }
}

#[cfg(test)]
mod tests;
