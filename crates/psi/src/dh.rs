//! `dh`: Diffie-Hellman PSI over ristretto255.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Meadows (S&P 1986), Huberman, Franklin and Hogg (EC 1999); as "DH-based, ECC"
//! in PSZ14 §4.1 and SpOT19 §6.
//!
//! 1. Each party draws a secret exponent, α the sender, β the receiver, hashes its items to
//!    the group, and sends { H(x)^α } and { H(y)^β }. The sender's list is in random order.
//! 2. The sender raises what it got to the α, and returns a mask of each H(y)^βα in the order
//!    in which they came.
//! 3. The receiver raises what it got to the β; its item y is shared if the mask of
//!    H(y)^βα is one of those of the H(x)^αβ.
//!
//! Deviation: only the last list is cut to masks, as in SpOT19; a mask is a hash of the
//! element and not some bits of its encoding, of which one is always zero.
//!
//! **Security.** Semi-honest, if the decisional Diffie-Hellman problem is hard in
//! ristretto255, H a random oracle. H is the map of RFC 9496 §4.3.4 on a keyed hash: nobody
//! knows discrete logarithms of H(x). Encodings that are not canonical, and the identity,
//! are refused. Exponents are fresh in every run. Both learn the set sizes.
//!
//! **Cost.** Two rounds; 32 bytes an item of either party, and n_receiver masks of
//! σ + 1 + log2(n_sender·n_receiver) bits: 593 bits an item at 2^20 each (592 in SpOT19
//! Table 1: here the masks have half of the failure budget, not all of it). Two
//! exponentiations an item and party.

use psijoin_block::blake3_rows;
use psijoin_channel::{Channel, Inbound};
use psijoin_curve::{Scalar, decode_mul_encode, hash_mul_encode};
use psijoin_params::FailureBudget;
use rayon::prelude::*;

use crate::{
    Adversary, Context, Cost, Error, Info, Input, Items, Output, Parameter, Request, Role, Traffic,
    basis::Basis,
    items::words,
    masks::{Mask, MaskIndex, MaskLength},
    protocol::{self, Party, Plan, Protocol},
    stream::{self, Chunks},
};

/// The entry of the registry.
pub struct Dh;

static INFO: Info = Info {
    name: "dh",
    summary: "Diffie-Hellman: least traffic for small sets, most computing",
    paper: "PSZ14 §4.1, SpOT19 §6",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

/// Bytes of an encoded group element.
const ELEMENT_BYTES: usize = 32;

/// Elements in a message: 8 KiB, some milliseconds of computing.
const ELEMENTS_PER_MESSAGE: usize = 256;

type Element = [u8; ELEMENT_BYTES];

/// All numbers of a run.
#[derive(Debug, Clone)]
pub struct Params(Basis);

impl Params {
    /// Derives them.
    ///
    /// # Errors
    /// If the masks would be longer than a hash.
    pub fn new(request: &Request) -> Result<Self, Error> {
        Ok(Self(Basis::new(request)?))
    }

    /// How a party's elements travel.
    fn chunks(&self, owner: Role) -> Chunks {
        Chunks {
            total: owner.items(self.0.sizes()) as usize,
            per_message: ELEMENTS_PER_MESSAGE,
        }
    }
}

impl Protocol for Dh {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::new(request)?))
    }
}

impl Plan for Params {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn request(&self) -> &Request {
        &self.0.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        self.0.parameters()
    }

    fn budget(&self) -> &FailureBudget {
        &self.0.budget
    }

    fn cost(&self) -> Cost {
        let elements = |owner| self.chunks(owner).bytes(|count| count * ELEMENT_BYTES);
        let masks = self
            .chunks(Role::Receiver)
            .bytes(|count| self.0.masks.packed_bytes(count));
        let online = Traffic {
            sender_bytes: elements(Role::Sender) + masks,
            receiver_bytes: elements(Role::Receiver),
            rounds: 2,
        };
        Cost {
            online,
            ..Cost::default()
        }
    }

    fn digest_bytes(&self) -> usize {
        self.0.digest_bytes
    }

    fn prepare(
        &self,
        role: Role,
        _channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Box<dyn Party>, Error> {
        let secret = Secret {
            params: self.clone(),
            exponent: Scalar::from_uniform_bytes(&context.rng.bytes()),
        };
        Ok(match role {
            Role::Sender => Box::new(Sender(secret)),
            Role::Receiver => Box::new(Receiver(secret)),
        })
    }
}

/// The party that helps.
pub struct Sender(Secret);

/// The party that learns the result.
pub struct Receiver(Secret);

impl Party for Sender {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self(secret) = *self;

        // Step 1.
        context.phase("own items");
        let order = context.rng.permutation(input.items.len() as u32);
        let received = secret.swap(Role::Sender, &input, |i| order[i], channel)?;

        // Step 2.
        context.phase("their items");
        let powers = secret.powers(&input);
        let (outbound, _) = channel.halves();
        let theirs = secret.params.chunks(Role::Receiver);
        stream::send(outbound, theirs, |range, message| {
            let masks = powers.masks(&received[range])?;
            powers.length.pack(masks.into_iter(), message);
            Ok::<_, Error>(())
        })?;
        Ok(Output::Nothing)
    }
}

impl Party for Receiver {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self(secret) = *self;

        // Step 1.
        context.phase("own items");
        let received = secret.swap(Role::Receiver, &input, |i| i as u32, channel)?;

        // Steps 2 and 3. The sender computes at the same time: what it sends is taken in
        // meanwhile, so that it need not wait.
        context.phase("their items");
        let powers = secret.powers(&input);
        let own = secret.params.chunks(Role::Receiver);
        let (masks, returned) = channel.exchange(
            |_| {
                let chunks = received.par_chunks(ELEMENTS_PER_MESSAGE);
                chunks
                    .map(|elements| powers.masks(elements))
                    .collect::<Result<Vec<_>, Error>>()
            },
            |inbound| receive_masks(inbound, own, powers.length),
        )?;
        let masks = masks.concat();
        let index = MaskIndex::new(&returned, powers.length, 0..returned.len() as u32);
        let mut found = Vec::new();
        index.find_all(masks.into_iter(), |_, position| found.push(position));
        Ok(protocol::rows(found, returned.len()))
    }
}

/// What either party has after the offline phase.
struct Secret {
    params: Params,
    exponent: Scalar,
}

impl Secret {
    /// Step 1: the elements of this party's items go out, the one at `position(i)` as the
    /// i-th; the other party's come in.
    fn swap(
        &self,
        role: Role,
        input: &Input<'_>,
        position: impl Fn(usize) -> u32 + Sync,
        channel: &mut Channel,
    ) -> Result<Vec<Element>, Error> {
        let hash = HashToGroup::new(input);
        let own = self.params.chunks(role);
        let theirs = self.params.chunks(role.other());
        let ((), received) = channel.exchange(
            |outbound| {
                stream::send(outbound, own, |range, message| {
                    hash.power(range.map(&position), &self.exponent, message);
                    Ok::<_, Error>(())
                })
            },
            |inbound| receive_elements(inbound, theirs),
        )?;
        Ok(received)
    }

    fn powers(&self, input: &Input<'_>) -> Powers<'_> {
        Powers {
            exponent: &self.exponent,
            key: input.joint_key("psijoin 2026 dh masks"),
            length: self.params.0.masks,
        }
    }
}

fn receive_elements(inbound: &mut dyn Inbound, chunks: Chunks) -> Result<Vec<Element>, Error> {
    let mut elements = vec![[0; ELEMENT_BYTES]; chunks.total];
    for message in elements.chunks_mut(chunks.per_message) {
        inbound.recv(message.as_flattened_mut())?;
    }
    Ok(elements)
}

fn receive_masks(
    inbound: &mut dyn Inbound,
    chunks: Chunks,
    length: MaskLength,
) -> Result<Vec<Mask>, Error> {
    let mut masks = Vec::with_capacity(chunks.total);
    let mut message = Vec::new();
    for range in chunks.ranges() {
        message.resize(length.packed_bytes(range.len()), 0);
        inbound.recv(&mut message)?;
        masks.extend(length.unpack(&message, range.len()));
    }
    Ok(masks)
}

/// H, on the digests of a party's items.
struct HashToGroup<'a> {
    items: &'a Items,
    key: [u8; 32],
}

impl<'a> HashToGroup<'a> {
    fn new(input: &Input<'a>) -> Self {
        Self {
            items: input.items,
            key: input.joint_key("psijoin 2026 dh hash to group"),
        }
    }

    /// Appends the encoded H(x)^exponent of the items at these positions.
    fn power(
        &self,
        positions: impl Iterator<Item = u32>,
        exponent: &Scalar,
        message: &mut Vec<u8>,
    ) {
        let rows: Vec<[u64; 4]> = positions
            .map(|i| match self.items {
                Items::Short(items) => words(&items[i as usize]),
                Items::Long(items) => words(&items[i as usize]),
            })
            .collect();
        let mut uniform = vec![[0_u64; 8]; rows.len()];
        blake3_rows::keyed_hash(&self.key, &rows, &mut uniform);
        let mut powers = vec![[0; ELEMENT_BYTES]; rows.len()];
        hash_mul_encode(bytemuck::cast_slice(&uniform), exponent, &mut powers);
        message.extend_from_slice(powers.as_flattened());
    }
}

/// The second exponentiation.
struct Powers<'a> {
    exponent: &'a Scalar,
    key: [u8; 32],
    length: MaskLength,
}

impl Powers<'_> {
    /// The masks of the elements' powers.
    fn masks(&self, elements: &[Element]) -> Result<Vec<Mask>, Error> {
        let mut powers = vec![[0; ELEMENT_BYTES]; elements.len()];
        decode_mul_encode(elements, self.exponent, &mut powers)?;
        let rows: Vec<[u64; 4]> = powers.iter().map(|power| words(power)).collect();
        Ok(self.length.hash(&self.key, &rows).collect())
    }
}
