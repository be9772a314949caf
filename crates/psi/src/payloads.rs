//! Payloads: what travels with the shared items, at the end of a protocol that gives each party an output for each of
//! its items, as an oblivious PRF does.
//!
//! **Functionality.** The receiver learns which of its items the sender has, and the sender's payload of each. If
//! [the sender learns as much](Payloads::back), it learns which of its items the receiver has, and the receiver's payload of each. All
//! payloads of a party have the same length, which both know.
//!
//! **Steps.** F(x) is the output of an item x: 128 bits, the same for both parties. Mask, Stream and Claim are BLAKE3 under
//! different keys from the joint seed.
//! 1. The sender sends Mask(F(x)) of each of its items, sorted ([`sorted_masks`](crate::sorted_masks)).
//! 2. In the same order, it sends its payloads, each sealed under Stream(F(x)) (`seal.rs`).
//! 3. The receiver finds its own masks among these, and opens the payloads of what it finds.
//!
//! If the sender learns, too:
//!
//! 4. The receiver sends a bit per mask, which says whether it has the item, and Claim(F(y_1), F(y_2), …) of those that it has.
//! 5. It sends their payloads in the same order, and then zeros, up to as many as the smaller set has items.
//! 6. The sender compares the claim with its own.
//!
//! **Security.** To a receiver that does not have F(x), it is a random number of 128 bits, and so what is hashed from it is
//! random if BLAKE3 is a random oracle: the mask and the sealed payload of an item that is not shared are uniform bits. A sealed payload that was
//! changed is noticed, except with a probability below 2^-116. No length depends on what is shared.
//!
//! *Malicious parties.* A sender may seal what it likes, or seal wrongly. Then the receiver's run fails with [`Error::Payload`], but only after
//! all has been said, and without a word to the sender: it would tell whether that item is shared. A receiver can
//! only claim items whose outputs it has. It can claim fewer, stop after step 3, and give any payload. Nothing
//! forces it to let the sender learn.
//!
//! **Failures.** The masks of two items that are not the same are equal: of any of the receiver and any of the sender, or any two
//! of the sender, whose ranks would be confused. Two outputs are equal ([`comparisons`]).
//!
//! **Cost.** The sender's masks, and 16 bytes more per item than its payloads have. Back, a bit per item of the sender, 32 bytes, and the
//! receiver's payloads of the smaller set. If the sender learns, that is one flight more.

use bytemuck::cast_slice;
use psijoin_block::{
    blake3_rows,
    memory::{Buffer, prefetch},
    parallel,
};
use psijoin_channel::{
    Channel, Inbound, Outbound,
    joint_seed::JointSeed,
    stream::{self, Chunks},
};
use psijoin_params::{FailureBudget, Sizes, mask};

use crate::{
    Context, Conversation, Error, Matched, Output, Payloads, Role,
    output::ascending,
    sorted_masks::{Own, SortedMasks, rank},
};

mod claim;
mod seal;

use claim::{CLAIM_BYTES, Claims};
use seal::{Seal, sealed_bytes};

/// Bytes of a message of payloads, about.
const MESSAGE_BYTES: usize = 100 << 10;

/// How long before its use an element is fetched.
const AHEAD: usize = 16;

/// Outputs that a task hashes.
const CHUNK: usize = 1024;

/// The pairs of items whose masks must differ for a run to succeed. That their outputs differ is charged to the budget.
///
/// # Errors
/// If the budget does not allow it.
pub fn comparisons(sizes: Sizes, budget: &mut FailureBudget) -> Result<u128, Error> {
    let senders = u128::from(sizes.sender());
    let pairs = sizes.pairs() + senders * senders.saturating_sub(1) / 2;
    budget.charge("outputs alike", mask::range_collision(pairs, u128::MAX))?;
    Ok(pairs)
}

/// The steps of the [module](self), for a plan.
#[derive(Debug, Clone, Copy)]
pub struct Delivery {
    /// The sender's masks.
    pub masks: SortedMasks,
    /// What travels with the items.
    pub payloads: Payloads,
    /// How many items each party has.
    pub sizes: Sizes,
}

/// What a party has when the steps begin, place by place.
pub struct Outputs<'a> {
    /// F of each of its items.
    pub values: &'a [u128],
    /// Which item each value is of, by its position in the input.
    pub positions: &'a [u32],
    /// The payloads of all items, in the order of the input.
    pub payloads: &'a [u8],
}

impl Outputs<'_> {
    /// The payload at a place.
    fn payload(&self, place: u32, bytes: usize) -> &[u8] {
        &self.payloads[self.positions[place as usize] as usize * bytes..][..bytes]
    }
}

impl Delivery {
    /// What is said.
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

    /// Bytes of a party's payload of an item.
    fn bytes(&self, role: Role) -> usize {
        self.payloads.bytes(role)
    }

    /// Bytes of a sealed payload.
    fn sealed_bytes(&self) -> usize {
        sealed_bytes(self.bytes(Role::Sender))
    }

    /// The messages of step 2, none if there are no payloads.
    fn sealed(&self) -> Chunks {
        let items = match self.bytes(Role::Sender) {
            0 => 0,
            _ => self.sizes.sender(),
        };
        chunks(items, self.sealed_bytes())
    }

    /// The messages of step 5, none if there are no payloads.
    fn returned(&self) -> Chunks {
        let bytes = self.bytes(Role::Receiver);
        let items = match bytes {
            0 => 0,
            _ => self.sizes.smaller(),
        };
        chunks(items, bytes)
    }

    /// The sender's steps.
    ///
    /// # Errors
    /// If the channel breaks, or the receiver claims what it does not have.
    ///
    /// # Panics
    /// Unless there is a value, a position and a payload for each item.
    pub fn send(
        &self,
        outputs: &Outputs<'_>,
        joint_seed: &JointSeed,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let keys = Keys::new(joint_seed);
        // Step 1.
        context.phases.begin("masks");
        let (masks, places) = rank(&keys.masks(outputs.values));
        self.masks.send(&masks, context.channel.halves().0)?;
        drop(masks);
        // Step 2.
        context.phases.begin("payloads");
        self.send_sealed(outputs, &places, &keys, context.channel.halves().0)?;
        match self.payloads.back {
            None => Ok(Output::Nothing),
            Some(_) => self.learn(outputs, &places, &keys, context.channel),
        }
    }

    /// Step 2.
    fn send_sealed(
        &self,
        outputs: &Outputs<'_>,
        places: &[u32],
        keys: &Keys,
        outbound: &mut dyn Outbound,
    ) -> Result<(), Error> {
        let bytes = self.bytes(Role::Sender);
        let seal = Seal::new(keys.stream, bytes);
        stream::send(outbound, self.sealed(), &|ranks, message| {
            let places = &places[ranks];
            let values = gathered(outputs.values, places);
            let positions = gathered(outputs.positions, places);
            let payload = |i: usize| {
                let start_of = |i: usize| positions[i] as usize * bytes;
                if i + AHEAD < positions.len() {
                    prefetch(&outputs.payloads[start_of(i + AHEAD)]);
                }
                &outputs.payloads[start_of(i)..][..bytes]
            };
            seal.seal(&values, payload, message);
        })?;
        Ok(())
    }

    /// Steps 4 to 6 of the sender.
    fn learn(
        &self,
        outputs: &Outputs<'_>,
        places: &[u32],
        keys: &Keys,
        channel: &mut Channel,
    ) -> Result<Output, Error> {
        let inbound = channel.halves().1;
        let claims = Claims::receive(places.len(), inbound)?;
        let claimed: Vec<u32> = claims.ranks().map(|rank| places[rank as usize]).collect();
        if claimed.len() as u64 > self.sizes.smaller() {
            return Err(Error::Peer("it claims more shared items than it has"));
        }
        claims.check(&keys.claim, values_at(outputs, &claimed))?;
        let bytes = self.bytes(Role::Receiver);
        let mut payloads = Vec::with_capacity(claimed.len() * bytes);
        let messages = stream::receive_each(
            inbound,
            self.returned(),
            &|items| items * bytes,
            &|items, message| {
                let claimed = claimed.len().saturating_sub(items.start).min(items.len());
                message[..claimed * bytes].to_vec()
            },
        )?;
        messages
            .iter()
            .for_each(|message| payloads.extend_from_slice(message));
        let found = claimed
            .iter()
            .map(|place| outputs.positions[*place as usize]);
        let matched = Matched::in_order(found, outputs.positions.len(), &payloads, bytes);
        Ok(Output::Matched(matched))
    }

    /// The receiver's steps.
    ///
    /// # Errors
    /// If the channel breaks, the peer sent something that is not masks, or luck fails. [`Error::Payload`] if a payload
    /// cannot be opened.
    ///
    /// # Panics
    /// As [`send`](Self::send).
    pub fn receive(
        &self,
        outputs: &Outputs<'_>,
        joint_seed: &JointSeed,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let keys = Keys::new(joint_seed);
        // Steps 1 and 3.
        context.phases.begin("masks");
        let hashes = keys.masks(outputs.values);
        let own = Own::new(self.masks, &hashes);
        let shared = self
            .masks
            .receive_ranked(&own, context.channel.halves().1)?;
        drop(own);
        drop(hashes);
        // Steps 2 and 3.
        context.phases.begin("payloads");
        let opened = self.receive_sealed(outputs, &shared, &keys, context.channel.halves().1)?;
        // Whether all could be opened must not show here.
        if self.payloads.back.is_some() {
            self.tell(outputs, &shared, &keys, context.channel.halves().0)?;
        }
        self.checked(outputs, &shared, opened).map(Output::Matched)
    }

    /// Step 2 of the receiver: the payloads that can be opened, and the places that they are for.
    fn receive_sealed(
        &self,
        outputs: &Outputs<'_>,
        shared: &[(u32, u32)],
        keys: &Keys,
        inbound: &mut dyn Inbound,
    ) -> Result<Vec<Opened>, Error> {
        let (seal, bytes) = (
            Seal::new(keys.stream, self.bytes(Role::Sender)),
            self.sealed_bytes(),
        );
        let length = |items| items * bytes;
        let opened = stream::receive_each(inbound, self.sealed(), &length, &|ranks, message| {
            let place_of =
                |rank: usize| shared.partition_point(|(other, _)| (*other as usize) < rank);
            let shared = &shared[place_of(ranks.start)..place_of(ranks.end)];
            let places: Vec<u32> = shared.iter().map(|(_, place)| *place).collect();
            let values = gathered(outputs.values, &places);
            let sealed =
                |i: usize| &message[(shared[i].0 as usize - ranks.start) * bytes..][..bytes];
            let mut payloads = Vec::with_capacity(places.len() * self.bytes(Role::Sender));
            let is_right = seal.open(&values, sealed, &mut payloads);
            let right = places.into_iter().zip(is_right);
            Opened {
                places: right
                    .filter_map(|(place, right)| right.then_some(place))
                    .collect(),
                payloads,
            }
        })?;
        Ok(opened)
    }

    /// What was found, if a payload could be opened for each of it.
    fn checked(
        &self,
        outputs: &Outputs<'_>,
        shared: &[(u32, u32)],
        opened: Vec<Opened>,
    ) -> Result<Matched, Error> {
        let items = outputs.positions.len();
        let found = shared
            .iter()
            .map(|(_, place)| outputs.positions[*place as usize]);
        let bytes = self.bytes(Role::Sender);
        if bytes == 0 {
            return Ok(Matched::in_order(found, items, &[], 0));
        }
        let places = opened.iter().flat_map(|opened| &opened.places);
        let positions = places.map(|place| outputs.positions[*place as usize]);
        let payloads: Vec<&[u8]> = opened.iter().map(|opened| &opened.payloads[..]).collect();
        let matched = Matched::in_order(positions, items, &payloads.concat(), bytes);
        match matched.rows == ascending(found, items) {
            true => Ok(matched),
            false => Err(Error::Payload),
        }
    }

    /// Steps 4 and 5 of the receiver.
    fn tell(
        &self,
        outputs: &Outputs<'_>,
        shared: &[(u32, u32)],
        keys: &Keys,
        outbound: &mut dyn Outbound,
    ) -> Result<(), Error> {
        let places: Vec<u32> = shared.iter().map(|(_, place)| *place).collect();
        let ranks = shared.iter().map(|(rank, _)| *rank);
        let claims = Claims::new(
            self.sizes.sender() as usize,
            ranks,
            &keys.claim,
            values_at(outputs, &places),
        );
        claims.send(outbound)?;
        let bytes = self.bytes(Role::Receiver);
        stream::send(outbound, self.returned(), &|items, message| {
            let filled = items.len() * bytes;
            let own = places.get(items.start..places.len().min(items.end));
            for place in own.unwrap_or_default() {
                message.extend_from_slice(outputs.payload(*place, bytes));
            }
            message.resize(filled, 0);
        })?;
        Ok(())
    }
}

/// What a message of step 2 gave.
struct Opened {
    places: Vec<u32>,
    payloads: Vec<u8>,
}

fn chunks(items: u64, bytes: usize) -> Chunks {
    Chunks {
        total: items as usize,
        per_message: (MESSAGE_BYTES / bytes.max(1)).max(1),
    }
}

/// The elements at these places, which are anywhere.
fn gathered<T: Copy>(elements: &[T], places: &[u32]) -> Vec<T> {
    let mut gathered = Vec::with_capacity(places.len());
    for (i, place) in places.iter().enumerate() {
        if let Some(later) = places.get(i + AHEAD) {
            prefetch(&elements[*later as usize]);
        }
        gathered.push(elements[*place as usize]);
    }
    gathered
}

fn values_at(outputs: &Outputs<'_>, places: &[u32]) -> impl Iterator<Item = u128> {
    places.iter().map(|place| outputs.values[*place as usize])
}

/// The keys of Mask, Stream and Claim.
struct Keys {
    mask: [u8; 32],
    stream: [u8; 32],
    claim: [u8; 32],
}

impl Keys {
    fn new(joint_seed: &JointSeed) -> Self {
        Self {
            mask: joint_seed.key("psijoin 2026 payload masks"),
            stream: joint_seed.key("psijoin 2026 payload streams"),
            claim: joint_seed.key("psijoin 2026 payload claims"),
        }
    }

    /// Mask of each value. The threads of the caller's pool compute.
    fn masks(&self, values: &[u128]) -> Buffer<u128> {
        let mut masks = Buffer::zeroed(values.len());
        let mut tasks: Vec<_> = (masks.chunks_mut(CHUNK))
            .zip(values.chunks(CHUNK))
            .collect();
        parallel::each_mut(&mut tasks, &|_, (masks, values)| {
            let masks: &mut [[u64; 2]] = bytemuck::cast_slice_mut(masks);
            blake3_rows::keyed_hash::<2, 2>(&self.mask, cast_slice(values), masks);
        });
        drop(tasks);
        masks
    }
}

#[cfg(test)]
mod tests;
