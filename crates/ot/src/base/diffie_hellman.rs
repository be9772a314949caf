//! Random OT over ristretto255, secure against malicious parties.
//!
//! Endemic OT of Masny and Rindal (CCS 2019, Figure 8 with Diffie-Hellman key agreement),
//! in the random-oracle model, UC secure. For instance j, with choice c:
//!
//! 1. The receiver draws a and a random element R_{1−c}, sets R_c = a·G − H_{j,c}(R_{1−c}), and
//!    sends (R_0, R_1).
//! 2. The sender draws one b for all instances and sends B = b·G. Its keys are
//!    K(b·(R_i + H_{j,i}(R_{1−i}))) for i = 0, 1.
//! 3. The receiver's key is K(a·B).
//!
//! K is a random oracle that also takes j, i, both R and B, so keys of one instance tell nothing
//! about another's although b is shared.
//!
//! **One round.** Neither message is computed from the other, so both travel at once, and each
//! party may see the other's before it sends its own. This helps neither of them:
//!
//! - A sender that chooses B after it has seen R_0 and R_1 learns no more from them: both are
//!   uniform whatever c, because a is. The simulator draws both, and programs H so that it
//!   knows the logarithm of both R_i + H_{j,i}(R_{1−i}), hence both keys, whatever B.
//! - A receiver that chooses R_0 and R_1 after it has seen B still asks for one of the two hashes
//!   last. The fresh answer makes that sum uniform, with a logarithm that the receiver does not
//!   know: that key is a Diffie-Hellman secret of this sum and B. B was fixed before in any case.
//!
//! **Choices that the paper leaves open.** H is twice the one-way map of RFC 9496, as uniform as
//! the map in a group of odd order, for [`curve`](psijoin_curve)'s sake. R_{1−c} is a multiple
//! of G by a random scalar, which is then forgotten. Only the hash with c is computed, with c as
//! one of its inputs: BLAKE3 takes the same time for all.
//!
//! Cost: one flight each way, at once; 64 bytes per OT from the receiver, 32 bytes in all from
//! the sender.

use std::slice;

use psijoin_block::{Block, Prg};
use psijoin_channel::{Channel, MAX_MESSAGE_BYTES};
use psijoin_curve::{FixedBase, Scalar, decode_add_hash_mul_encode};
use psijoin_runtime::parallel;
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, Zeroizing};

use crate::Error;

const ELEMENT_BYTES: usize = 32;

/// Instances that one task computes: a batch that fills the lanes of a vector well.
const OTS_PER_TASK: usize = 64;

/// The most OTs of one call: their message must fit into one frame.
const MAX_OTS: usize = MAX_MESSAGE_BYTES / (2 * ELEMENT_BYTES);

/// Returns the number of bytes that the receiver of `count` OTs sends.
pub(super) const fn receiver_bytes(count: usize) -> u64 {
    (count * 2 * ELEMENT_BYTES) as u64
}

/// Bytes that the sender sends, however many OTs there are.
pub(super) const SENDER_BYTES: u64 = ELEMENT_BYTES as u64;

/// A group element on the wire.
type Encoding = [u8; ELEMENT_BYTES];

/// R_0 and R_1 of one instance.
type Offers = [Encoding; 2];

/// Returns both keys of `count` random OTs.
///
/// # Errors
/// If the channel breaks, or the peer sends an invalid public key.
///
/// # Panics
/// If `count` exceeds [`MAX_OTS`].
pub(super) fn send(
    count: usize,
    channel: &mut Channel,
    rng: &mut Prg,
) -> Result<Zeroizing<Vec<[Block; 2]>>, Error> {
    assert!(count <= MAX_OTS, "too many base OTs for one message");
    let secret = random_scalar(rng);
    let mut public = [0; ELEMENT_BYTES];
    FixedBase::generator().mul_encode(slice::from_ref(&secret), slice::from_mut(&mut public));
    let mut offers: Vec<Offers> = vec![[[0; ELEMENT_BYTES]; 2]; count];
    let message = offers.as_flattened_mut().as_flattened_mut();
    channel.exchange(
        |outbound| outbound.send(&public),
        |inbound| inbound.recv(message),
    )?;

    let mut keys = Zeroizing::new(vec![[Block::ZERO; 2]; count]);
    let mut tasks: Vec<_> = (keys.chunks_mut(OTS_PER_TASK))
        .zip(offers.chunks(OTS_PER_TASK))
        .map(|(keys, offers)| (keys, offers, Ok(())))
        .collect();
    parallel::each_mut(&mut tasks, &|task, (keys, offers, result)| {
        *result = both_keys(task * OTS_PER_TASK, offers, &secret, &public, keys);
    });
    tasks.into_iter().try_for_each(|(_, _, result)| result)?;
    Ok(keys)
}

/// Returns the keys that `choices` select.
///
/// # Errors
/// If the channel breaks, or the peer sends an invalid public key.
///
/// # Panics
/// If there are more than [`MAX_OTS`] choices.
pub(super) fn receive(
    choices: &[bool],
    channel: &mut Channel,
    rng: &mut Prg,
) -> Result<Zeroizing<Vec<Block>>, Error> {
    let count = choices.len();
    assert!(count <= MAX_OTS, "too many base OTs for one message");
    let secrets: Vec<Scalar> = choices.iter().map(|_| random_scalar(rng)).collect();
    let forgotten: Vec<Scalar> = choices.iter().map(|_| random_scalar(rng)).collect();
    let mut offers: Vec<Offers> = vec![[[0; ELEMENT_BYTES]; 2]; count];
    parallel::chunks_mut(&mut offers, OTS_PER_TASK, &|range, offers| {
        let (choices, secrets) = (&choices[range.clone()], &secrets[range.clone()]);
        let first = range.start;
        make_offers(first, choices, secrets, &forgotten[range], offers);
    });

    let mut public = [0; ELEMENT_BYTES];
    channel.exchange(
        |outbound| outbound.send(offers.as_flattened().as_flattened()),
        |inbound| inbound.recv(&mut public),
    )?;
    let base = FixedBase::new(&public).map_err(|_| Error::InvalidPoint)?;

    let mut keys = Zeroizing::new(vec![Block::ZERO; count]);
    parallel::chunks_mut(&mut keys, OTS_PER_TASK, &|range, keys| {
        let mut shared = Zeroizing::new(vec![[0; ELEMENT_BYTES]; keys.len()]);
        base.mul_encode(&secrets[range.clone()], &mut shared);
        for ((key, shared), k) in keys.iter_mut().zip(shared.iter()).zip(range) {
            *key = derive_key(k, choices[k], &offers[k], &public, shared);
        }
    });
    Ok(keys)
}

/// Step 1, for instances from `first` on.
fn make_offers(
    first: usize,
    choices: &[bool],
    secrets: &[Scalar],
    forgotten: &[Scalar],
    offers: &mut [Offers],
) {
    let generator = FixedBase::generator();
    let mut others = vec![[0; ELEMENT_BYTES]; offers.len()];
    generator.mul_encode(forgotten, &mut others);
    let uniform: Vec<[u8; 64]> = (first..)
        .zip(choices.iter().zip(&others))
        .map(|(instance, (choice, other))| hash(instance, *choice, other))
        .collect();
    let uniform = Zeroizing::new(uniform);
    let mut chosen = vec![[0; ELEMENT_BYTES]; offers.len()];
    generator.mul_sub_hash_encode(secrets, &uniform, &mut chosen);
    for (k, offer) in offers.iter_mut().enumerate() {
        let (mut zeroth, mut first) = (chosen[k], others[k]);
        let choice = Choice::from(u8::from(choices[k]));
        Encoding::conditional_swap(&mut zeroth, &mut first, choice);
        *offer = [zeroth, first];
    }
}

/// Does the sender's part of step 2, for instances from `first` on.
fn both_keys(
    first: usize,
    offers: &[Offers],
    secret: &Scalar,
    public: &Encoding,
    keys: &mut [[Block; 2]],
) -> Result<(), Error> {
    let uniform: Vec<[u8; 64]> = (first..)
        .zip(offers)
        .flat_map(|(instance, [zeroth, first])| {
            [hash(instance, false, first), hash(instance, true, zeroth)]
        })
        .collect();
    let mut shared = Zeroizing::new(vec![[0; ELEMENT_BYTES]; uniform.len()]);
    decode_add_hash_mul_encode(offers.as_flattened(), &uniform, secret, &mut shared)
        .map_err(|_| Error::InvalidPoint)?;
    for (k, (keys, shared)) in keys.iter_mut().zip(shared.chunks_exact(2)).enumerate() {
        *keys = [false, true].map(|side| {
            let shared = &shared[usize::from(side)];
            derive_key(first + k, side, &offers[k], public, shared)
        });
    }
    Ok(())
}

/// Returns H_{j,i}(R_{1−i}), before the map to the group. In constant time for all inputs.
fn hash(instance: usize, side: bool, other: &Encoding) -> [u8; 64] {
    let mut uniform = [0; 64];
    blake3::Hasher::new_derive_key("psijoin 2026 base OT: hash to group")
        .update(&(instance as u64).to_le_bytes())
        .update(&[u8::from(side)])
        .update(other)
        .finalize_xof()
        .fill(&mut uniform);
    uniform
}

/// Returns K.
fn derive_key(
    instance: usize,
    side: bool,
    offers: &Offers,
    public: &Encoding,
    shared: &Encoding,
) -> Block {
    let mut hasher = blake3::Hasher::new_derive_key("psijoin 2026 base OT: key");
    hasher
        .update(&(instance as u64).to_le_bytes())
        .update(&[u8::from(side)])
        .update(offers.as_flattened())
        .update(public)
        .update(shared);
    let mut key = Zeroizing::new([0; Block::BYTES]);
    let mut output = hasher.finalize_xof();
    output.fill(&mut *key);
    output.zeroize();
    hasher.zeroize();
    Block::from_bytes(*key)
}

fn random_scalar(rng: &mut Prg) -> Scalar {
    let mut wide = rng.bytes();
    let scalar = Scalar::from_uniform_bytes(&wide);
    wide.zeroize();
    scalar
}
