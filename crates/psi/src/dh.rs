//! `dh`: Diffie-Hellman PSI over ristretto255; `dh-ffdhe3072`: over the group ffdhe3072.
//!
//! **Functionality.** The receiver learns which of its items the sender has, or only how many they
//! are.
//!
//! **Source.** Meadows (S&P 1986), Huberman, Franklin and Hogg (EC 1999); as "DH-based, ECC" and
//! "DH-based, FFC" in PSZ14 §7, and in SpOT19 §6. The count: Huberman, Franklin and Hogg again; De
//! Cristofaro, Gasti and Tsudik (CANS 2012).
//!
//! 1. Each party draws a secret exponent, α the sender, β the receiver, hashes its items to
//!    the group, and sends { H(x)^α } and { H(y)^β }. The sender's list is in random order.
//! 2. The sender raises what it got to the α, and returns a mask of each H(y)^βα in the order
//!    in which they came; for a count, in random order.
//! 3. The receiver raises what it got to the β; its item y is shared if the mask of
//!    H(y)^βα is one of those of the H(x)^αβ. For a count it cannot tell which item a mask belongs
//!    to.
//!
//! Deviation: only the last list is cut to masks, as in SpOT19; a mask is a hash of the
//! element and not some bits of its encoding, of which one is always zero.
//!
//! **Security.** Semi-honest, if the decisional Diffie-Hellman problem is hard in
//! the group, H a random oracle. Over ristretto255, H is the map of RFC 9496 §4.3.4 on a keyed
//! hash; over ffdhe3072, the square of a keyed hash of 3,072 + 128 bits modulo p: nobody
//! knows discrete logarithms of H(x). Encodings that are not canonical, and the identity,
//! are refused. Exponents are fresh in every run. Both learn the set sizes. Under a count the
//! receiver sees either list in an order that only the sender knows: what matches says how many
//! are shared, and no more.
//!
//! Exponents modulo p are short, 275 bits, as RFC 7919 §5.2 has it for Diffie-Hellman key exchange: the
//! assumption is DDH with short exponents ([`psijoin_curve::ffdhe3072`] says why that is enough).
//! They take a ninth of the time of full ones. PSZ14 does not say which it has.
//!
//! **Cost.** Two rounds; 32 bytes an item of either party, and n_receiver masks of
//! σ + 1 + log2(n_sender·n_receiver) bits: 593 bits an item at 2^20 each (592 in SpOT19
//! Table 1: here the masks have half of the failure budget, not all of it). Two
//! exponentiations an item and party. Over ffdhe3072 384 bytes instead of 32: 6,225 bits an item.

use std::marker::PhantomData;

use bytemuck::Zeroable;
use psijoin_block::parallel;
use psijoin_channel::{Channel, Inbound};
use psijoin_params::FailureBudget;

use crate::{
    Context, Cost, Error, Info, Input, Items, Output, OutputKind, Parameter, Request, Role,
    Traffic,
    basis::Basis,
    masks::{Mask, MaskIndex, MaskLength},
    protocol::{self, Party, Plan, Protocol},
    stream::{self, Chunks},
};

use group::{Ffdhe3072, Group, Ristretto255};

mod group;

/// The entry of the registry for ristretto255.
pub struct Dh;

/// The entry of the registry for ffdhe3072.
pub struct DhFfdhe3072;

/// All numbers of a run over a group.
#[derive(Debug, Clone)]
struct Params<G> {
    basis: Basis,
    group: PhantomData<G>,
}

impl<G: Group> Params<G> {
    /// Derives them.
    ///
    /// # Errors
    /// If the masks would be longer than a hash.
    fn new(request: &Request) -> Result<Self, Error> {
        Ok(Self {
            basis: Basis::new(request)?,
            group: PhantomData,
        })
    }

    /// Whether the receiver is to learn a count.
    fn counts(&self) -> bool {
        self.basis.request.output == OutputKind::Count
    }

    /// How a party's elements travel.
    fn chunks(&self, owner: Role) -> Chunks {
        Chunks {
            total: owner.items(self.basis.sizes()) as usize,
            per_message: G::ELEMENTS_PER_MESSAGE,
        }
    }
}

impl Protocol for Dh {
    fn info(&self) -> &'static Info {
        &Ristretto255::INFO
    }

    fn computes(&self, output: &OutputKind) -> bool {
        computes(output)
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::<Ristretto255>::new(request)?))
    }
}

impl Protocol for DhFfdhe3072 {
    fn info(&self) -> &'static Info {
        &Ffdhe3072::INFO
    }

    fn computes(&self, output: &OutputKind) -> bool {
        computes(output)
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::<Ffdhe3072>::new(request)?))
    }
}

fn computes(output: &OutputKind) -> bool {
    matches!(output, OutputKind::Rows | OutputKind::Count)
}

impl<G: Group> Plan for Params<G> {
    fn info(&self) -> &'static Info {
        &G::INFO
    }

    fn request(&self) -> &Request {
        &self.basis.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        self.basis.parameters()
    }

    fn budget(&self) -> &FailureBudget {
        &self.basis.budget
    }

    fn cost(&self) -> Cost {
        let elements = |owner| {
            self.chunks(owner)
                .bytes(|count| count * size_of::<G::Element>())
        };
        let masks = self
            .chunks(Role::Receiver)
            .bytes(|count| self.basis.masks.packed_bytes(count));
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
        self.basis.digest_bytes
    }

    fn offline(
        &self,
        role: Role,
        _channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Box<dyn Party>, Error> {
        let secret = Secret {
            params: self.clone(),
            exponent: G::exponent(&mut context.rng),
        };
        Ok(match role {
            Role::Sender => Box::new(Sender(secret)),
            Role::Receiver => Box::new(Receiver(secret)),
        })
    }
}

/// The party that helps.
struct Sender<G: Group>(Secret<G>);

/// The party that learns the result.
struct Receiver<G: Group>(Secret<G>);

impl<G: Group> Party for Sender<G> {
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
        let mut received = secret.swap(Role::Sender, &input, |i| order[i], channel)?;
        if secret.params.counts() {
            let order = context.rng.permutation(received.len() as u32);
            received = order.iter().map(|i| received[*i as usize]).collect();
        }

        // Step 2.
        context.phase("their items");
        let powers = secret.powers(&input);
        let (outbound, _) = channel.halves();
        let theirs = secret.params.chunks(Role::Receiver);
        stream::send(outbound, theirs, &|range, message| {
            let masks = powers.masks(&received[range])?;
            powers.length.pack(masks.into_iter(), message);
            Ok(())
        })?;
        Ok(Output::Nothing)
    }
}

impl<G: Group> Party for Receiver<G> {
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
                let chunks: Vec<_> = received.chunks(G::ELEMENTS_PER_MESSAGE).collect();
                parallel::map(chunks.len(), &|i| powers.masks(chunks[i]))
                    .into_iter()
                    .collect::<Result<Vec<_>, Error>>()
            },
            |inbound| powers.length.receive(inbound, own),
        )?;
        let masks = masks.concat();
        let index = MaskIndex::new(&returned, powers.length, 0..returned.len() as u32);
        let mut found = Vec::new();
        index.find_all(masks.into_iter(), |_, position| found.push(position));
        let found = protocol::ascending(found, returned.len());
        Ok(match secret.params.counts() {
            true => Output::Count(found.len() as u64),
            false => Output::Rows(found),
        })
    }
}

/// What either party has after the offline phase.
struct Secret<G: Group> {
    params: Params<G>,
    exponent: G::Exponent,
}

impl<G: Group> Secret<G> {
    /// Step 1: the elements of this party's items go out, the one at `position(i)` as the
    /// i-th; the other party's come in.
    fn swap(
        &self,
        role: Role,
        input: &Input<'_>,
        position: impl Fn(usize) -> u32 + Sync,
        channel: &mut Channel,
    ) -> Result<Vec<G::Element>, Error> {
        let hash = HashToGroup::new(input);
        let own = self.params.chunks(role);
        let theirs = self.params.chunks(role.other());
        let ((), received) = channel.exchange(
            |outbound| {
                stream::send(outbound, own, &|range, message| {
                    hash.power::<G>(range.map(&position), &self.exponent, message);
                    Ok(())
                })
            },
            |inbound| receive_elements::<G>(inbound, theirs),
        )?;
        Ok(received)
    }

    fn powers(&self, input: &Input<'_>) -> Powers<'_, G> {
        Powers {
            exponent: &self.exponent,
            key: input.joint_key("psijoin 2026 dh masks"),
            length: self.params.basis.masks,
        }
    }
}

fn receive_elements<G: Group>(
    inbound: &mut dyn Inbound,
    chunks: Chunks,
) -> Result<Vec<G::Element>, Error> {
    let mut elements = vec![G::Element::zeroed(); chunks.total];
    for message in elements.chunks_mut(chunks.per_message) {
        inbound.recv(bytemuck::cast_slice_mut(message))?;
    }
    Ok(elements)
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
    fn power<G: Group>(
        &self,
        positions: impl Iterator<Item = u32>,
        exponent: &G::Exponent,
        message: &mut Vec<u8>,
    ) {
        let rows = self.items.rows(positions);
        let mut powers = vec![G::Element::zeroed(); rows.len()];
        G::hash_power(&self.key, &rows, exponent, &mut powers);
        message.extend_from_slice(bytemuck::cast_slice(&powers));
    }
}

/// The second exponentiation.
struct Powers<'a, G: Group> {
    exponent: &'a G::Exponent,
    key: [u8; 32],
    length: MaskLength,
}

impl<G: Group> Powers<'_, G> {
    /// The masks of the elements' powers.
    fn masks(&self, elements: &[G::Element]) -> Result<Vec<Mask>, Error> {
        let mut powers = vec![G::Element::zeroed(); elements.len()];
        G::power(elements, self.exponent, &mut powers)?;
        Ok(G::masks(&powers, &self.key, self.length))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use psijoin_block::{Block, Prg};
    use psijoin_channel::{memory, transcript::recorded};

    use super::*;
    use crate::{registry, testing::items};

    /// The masks that the sender returns, always with the same randomness, and what the receiver
    /// learns: 30 of 64 items are shared.
    fn returned(output: OutputKind) -> (Vec<Mask>, Output) {
        let request = Request {
            output,
            ..Request::rows(64, 64).unwrap()
        };
        let plan = registry::plan(&Dh, &request).unwrap();
        let (sending, mut receiving) = memory::pair();
        let (mut sending, sent) = recorded(sending);
        let run = |role, items: Items, channel: &mut Channel| {
            let mut context = Context::new();
            context.rng = Prg::from_seed(Block(role as u128));
            let input = Input {
                items: &items,
                columns: &[],
                joint_seed: &[5; 32],
            };
            protocol::run(&*plan, role, input, channel, &mut context).unwrap()
        };
        let learned = thread::scope(|scope| {
            scope.spawn(|| run(Role::Sender, items(0..64, 16), &mut sending));
            run(Role::Receiver, items(34..98, 16), &mut receiving)
        });
        let masks = Params::<Ristretto255>::new(&request).unwrap().basis.masks;
        let last = sent.messages().pop().unwrap();
        (masks.unpack(&last, 64).collect(), learned)
    }

    /// As for rows, but none of them where it was: with as much chance as any other order.
    #[test]
    fn masks_of_a_count_are_in_another_order() {
        let (in_order, rows) = returned(OutputKind::Rows);
        let (shuffled, count) = returned(OutputKind::Count);
        assert_eq!(rows, Output::Rows((0..30).collect()));
        assert_eq!(count, Output::Count(30));
        let moved = in_order.iter().zip(&shuffled).filter(|(a, b)| a != b);
        assert!(moved.count() > 50);
        let sorted = |mut masks: Vec<Mask>| {
            masks.sort_unstable();
            masks
        };
        assert!(sorted(in_order) == sorted(shuffled));
    }
}
