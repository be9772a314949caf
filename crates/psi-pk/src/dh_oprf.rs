//! An oblivious PRF from Diffie-Hellman, over ristretto255.
//!
//! **Functionality.** The sender has the key of a pseudorandom function. The receiver gets the
//! value at each of its items, and nothing else. The sender can evaluate the function anywhere, at
//! any time, and serve any number of receivers.
//!
//! **Source.** Jarecki and Liu, *Fast Secure Computation of Set Intersection* (SCN 2010), Figure 1,
//! for semi-honest parties: F(x) = H'(H(x)^α).
//!
//! *Offline.*
//! 1. The sender draws its key α, the receiver β.
//!
//! *Online.* The joint seed gives both parties H and H'.
//! 2. The receiver sends { H(y)^β }.
//! 3. The sender raises each to the power α, and returns them in the order in which they came.
//! 4. The receiver raises these to the power 1/β. Now it has H(y)^α, and so F(y), of its items, and
//!    the sender has F(x) of its own.
//!
//! **Deviations.** Parties are semi-honest, so there are no proofs of knowledge, and no committed
//! exponents. A value depends on the joint seed as well as on the key.
//!
//! **Security.** Semi-honest, if the decisional Diffie-Hellman problem is hard, and H and H' are
//! random oracles. The sender sees powers of hashes with an exponent that it does not know. The
//! receiver sees powers of its own items; F of any other is a hash of an element that it cannot
//! know. Encodings that are not canonical, and the identity, are refused.
//!
//! **Cost.** Two flights, of 32 bytes per item of the receiver in either direction. The sender
//! computes a power per item of either party, the receiver two per item of its own.

use std::ops::Range;

use psijoin_block::{Prg, blake3_rows};
use psijoin_channel::{
    Inbound, Outbound,
    joint_seed::JointSeed,
    stream::{self, Chunks},
};
use psijoin_curve::Scalar;
use psijoin_encode::Digests;
use psijoin_psi::{Context, Conversation, Error};
use psijoin_runtime::parallel;

use crate::{
    compare,
    dh::group::{Exponent, Group, POINT_BYTES},
};

/// An exponent must have an inverse that is no longer than itself.
const GROUP: Group = Group::Ristretto255;

/// A value: 256 bits.
pub type Value = [u64; 4];

/// Returns what is said about this many items of the receiver.
pub fn conversation(items: usize) -> Conversation {
    let bytes = elements(items).bytes(|count| count * POINT_BYTES);
    Conversation::default().receiver(bytes).sender(bytes)
}

/// The elements of the receiver's items, which the sender has yet to answer.
pub struct Blinded(Vec<u8>);

impl Blinded {
    /// Receives step 2, for this many items.
    ///
    /// # Errors
    /// If the channel breaks, or the peer misbehaves.
    pub fn receive(items: usize, inbound: &mut dyn Inbound) -> Result<Self, Error> {
        receive(items, inbound).map(Self)
    }
}

/// The key, which is wiped when it is dropped.
pub struct Key(Exponent);

impl Key {
    /// Step 1.
    pub fn random(rng: &mut Prg) -> Self {
        Self(GROUP.exponent(rng))
    }

    /// Returns the values at items.
    pub fn values(&self, items: Digests<'_>, joint_seed: &JointSeed) -> Vec<Value> {
        let values = of_chunks(items.len(), &|range| {
            let powers = hash_powers(&self.0, items.slice(range), joint_seed);
            Ok(values(&powers, joint_seed))
        });
        values.expect("hashes are elements")
    }

    /// Step 3.
    ///
    /// # Errors
    /// If the channel breaks, or what was received are no elements.
    pub fn answer(
        &self,
        Blinded(received): &Blinded,
        outbound: &mut dyn Outbound,
    ) -> Result<(), Error> {
        let elements = elements(received.len() / POINT_BYTES);
        compare::try_send(outbound, elements, &|range, message| {
            let elements = &received[range.start * POINT_BYTES..range.end * POINT_BYTES];
            message.extend(self.0.power(elements)?);
            Ok(())
        })
    }
}

/// The party that gets values, after step 1.
pub struct Receiver {
    blind: Exponent,
    unblind: Exponent,
}

impl Receiver {
    /// Step 1.
    pub fn random(rng: &mut Prg) -> Self {
        let beta = Scalar::from_uniform_bytes(&rng.bytes());
        Self {
            unblind: Exponent::Ristretto255(beta.inverse()),
            blind: Exponent::Ristretto255(beta),
        }
    }

    /// Steps 2 and 4: the values at items, in their order. The sender calls
    /// [`Blinded::receive`] and [`Key::answer`].
    ///
    /// # Errors
    /// If the channel breaks, or the peer misbehaves.
    pub fn evaluate(
        self,
        items: Digests<'_>,
        joint_seed: &JointSeed,
        context: &mut Context,
    ) -> Result<Vec<Value>, Error> {
        context.phases.begin("own items");
        let (outbound, inbound) = context.channel.halves();
        stream::send(outbound, elements(items.len()), &|range, message| {
            message.extend(hash_powers(&self.blind, items.slice(range), joint_seed));
        })?;
        let returned = receive(items.len(), inbound)?;
        context.phases.begin("their items");
        of_chunks(items.len(), &|range| {
            let elements = &returned[range.start * POINT_BYTES..range.end * POINT_BYTES];
            Ok(values(&self.unblind.power(elements)?, joint_seed))
        })
    }
}

/// Returns how elements of items are cut into messages, in either direction.
fn elements(items: usize) -> Chunks {
    Chunks {
        total: items,
        per_message: GROUP.elements_per_message(),
    }
}

/// Receives elements.
fn receive(items: usize, inbound: &mut dyn Inbound) -> Result<Vec<u8>, Error> {
    let chunks = elements(items);
    let mut elements = vec![0; chunks.total * POINT_BYTES];
    let mut messages = elements.chunks_mut(chunks.per_message * POINT_BYTES);
    messages.try_for_each(|message| inbound.recv(message))?;
    Ok(elements)
}

/// Returns H(x)^exponent of these items.
fn hash_powers(exponent: &Exponent, items: Digests<'_>, joint_seed: &JointSeed) -> Vec<u8> {
    let key = joint_seed.key("psijoin 2026 dh hash to group");
    let rows: Vec<_> = (0..items.len()).map(|i| items.words(i)).collect();
    exponent.hash_power(&key, &rows)
}

/// Returns H' of elements.
fn values(elements: &[u8], joint_seed: &JointSeed) -> Vec<Value> {
    let key = joint_seed.key("psijoin 2026 dh outputs");
    let words = elements.as_chunks().0.iter().copied();
    let words: Vec<u64> = words.map(u64::from_le_bytes).collect();
    let elements = words.as_chunks::<{ POINT_BYTES / 8 }>().0;
    let mut values = vec![[0; 4]; elements.len()];
    blake3_rows::keyed_hash(&key, elements, &mut values);
    values
}

/// Returns what `work` makes of the items of each message, one after the other. All threads work.
fn of_chunks(
    items: usize,
    work: &(dyn Fn(Range<usize>) -> Result<Vec<Value>, Error> + Sync),
) -> Result<Vec<Value>, Error> {
    let ranges: Vec<_> = elements(items).ranges().collect();
    let made = parallel::map(ranges.len(), &|i| work(ranges[i].clone()));
    let made = made.into_iter().collect::<Result<Vec<_>, Error>>()?;
    Ok(made.concat())
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, thread};

    use psijoin_channel::{count::counted, memory};
    use psijoin_psi::ErrorKind;

    use super::*;

    const SEED: [u8; 32] = [42; 32];

    fn digests(numbers: Range<u8>) -> Vec<[u8; 16]> {
        numbers.map(|number| [number; 16]).collect()
    }

    /// Over as many items as do not fit into one message.
    #[test]
    fn the_receiver_gets_the_values_of_the_key() {
        let joint_seed = &JointSeed::insecure_fixed(SEED);
        let items: Vec<[u8; 16]> = (0..300_u128).map(u128::to_le_bytes).collect();
        let items = Digests::Short(&items);
        let (mut sender, receiver) = memory::pair();
        let (mut receiver, counters) = counted(receiver);
        let key = Key::random(&mut Prg::from_os());
        let received = thread::scope(|scope| {
            scope.spawn(|| {
                let blinded = Blinded::receive(300, sender.halves().1).unwrap();
                key.answer(&blinded, sender.halves().0).unwrap();
            });
            let party = Receiver::random(&mut Prg::from_os());
            let mut context = Context::new(&mut receiver);
            party.evaluate(items, joint_seed, &mut context).unwrap()
        });
        assert_eq!(received, key.values(items, joint_seed));
        let planned = conversation(300).traffic();
        let traffic = counters.snapshot();
        assert_eq!(traffic.sent.bytes, planned.receiver_bytes);
        assert_eq!(traffic.received.bytes, planned.sender_bytes);
        assert_eq!(traffic.flights, planned.flights);
    }

    #[test]
    fn values_depend_on_key_item_and_seed() {
        let keys = [0, 1].map(|_| Key::random(&mut Prg::from_os()));
        let seeds = [[1; 32], [2; 32]].map(JointSeed::insecure_fixed);
        let items = digests(0..9);
        let all = keys.iter().flat_map(|key| {
            let of = |seed| key.values(Digests::Short(&items), seed);
            seeds.iter().flat_map(of).collect::<Vec<_>>()
        });
        let distinct: HashSet<Value> = all.collect();
        assert_eq!(distinct.len(), 4 * 9);
    }

    #[test]
    fn what_is_no_element_is_refused() {
        let key = Key::random(&mut Prg::from_os());
        // Not canonical, and the identity.
        for element in [[0xff; 32], [0; 32]] {
            let (mut sender, _receiver) = memory::pair();
            let answer = key.answer(&Blinded(element.to_vec()), sender.halves().0);
            assert_eq!(answer.unwrap_err().kind(), ErrorKind::Peer);
        }
    }
}
