//! Base OT: random OT over ristretto255, secure against malicious parties.
//!
//! Endemic OT of Masny and Rindal (CCS 2019, Figure 8 with Diffie-Hellman key agreement),
//! in the random-oracle model, UC secure. "Endemic" means that a malicious party may choose
//! its own output; OT extension allows for that. For instance j, with choice c:
//!
//! 1. The receiver draws a and a random element R_{1−c}, sets R_c = a·G − H_{j,c}(R_{1−c}), and
//!    sends (R_0, R_1).
//! 2. The sender draws one b for all instances and sends B = b·G. Its keys are
//!    K(b·(R_i + H_{j,i}(R_{1−i}))) for i = 0, 1.
//! 3. The receiver's key is K(a·B).
//!
//! K is a random oracle that also takes j, i, both R and B, so keys of one instance say
//! nothing about another's although b is shared.
//!
//! Cost: two flights; 64 bytes an OT from the receiver, 32 bytes in all from the sender.

use curve25519_dalek::{
    RistrettoPoint, Scalar, ristretto::CompressedRistretto, traits::IsIdentity,
};
use psijoin_block::{Block, Prg};
use psijoin_channel::{Channel, MAX_MESSAGE_BYTES};
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroize;

use crate::Error;

const POINT_BYTES: usize = 32;

/// The most OTs of one call: their message must fit into one frame.
pub const MAX_OTS: usize = MAX_MESSAGE_BYTES / (2 * POINT_BYTES);

/// Bytes that the receiver of `count` OTs sends.
pub const fn receiver_bytes(count: usize) -> u64 {
    (count * 2 * POINT_BYTES) as u64
}

/// Bytes that the sender sends, however many OTs there are.
pub const SENDER_BYTES: u64 = POINT_BYTES as u64;

/// Both keys of `count` random OTs.
///
/// # Errors
/// If the channel breaks, or the peer sends an invalid group element.
///
/// # Panics
/// If `count` exceeds [`MAX_OTS`].
pub fn send(count: usize, channel: &mut Channel, rng: &mut Prg) -> Result<Vec<[Block; 2]>, Error> {
    assert!(count <= MAX_OTS, "too many base OTs for one message");
    let mut secret = random_scalar(rng);
    let public = RistrettoPoint::mul_base(&secret).compress();
    let mut message = vec![0; count * 2 * POINT_BYTES];
    channel.recv(&mut message)?;
    channel.send(public.as_bytes())?;

    let keys = message
        .chunks_exact(2 * POINT_BYTES)
        .enumerate()
        .map(|(instance, encoded)| {
            let offers = Offers::decode(encoded)?;
            Ok([false, true].map(|side| {
                let shared = secret * (offers.point(side) + offers.hash(instance, side));
                offers.key(instance, side, &public, shared)
            }))
        })
        .collect();
    secret.zeroize();
    keys
}

/// The keys that `choices` select.
///
/// # Errors
/// If the channel breaks, or the peer sends an invalid group element.
///
/// # Panics
/// If there are more than [`MAX_OTS`] choices.
pub fn receive(
    choices: &[bool],
    channel: &mut Channel,
    rng: &mut Prg,
) -> Result<Vec<Block>, Error> {
    assert!(
        choices.len() <= MAX_OTS,
        "too many base OTs for one message"
    );
    let mut secrets: Vec<Scalar> = choices.iter().map(|_| random_scalar(rng)).collect();
    let offers: Vec<Offers> = choices
        .iter()
        .zip(&secrets)
        .enumerate()
        .map(|(instance, (choice, secret))| Offers::new(instance, *choice, secret, rng))
        .collect();
    let mut message = Vec::with_capacity(choices.len() * 2 * POINT_BYTES);
    for offer in &offers {
        message.extend(offer.encoded.iter().flat_map(CompressedRistretto::as_bytes));
    }
    channel.send(&message)?;
    let public = CompressedRistretto(channel.recv_array()?);
    let point = decode(&public)?;

    let keys = offers
        .iter()
        .zip(choices.iter().zip(&secrets))
        .enumerate()
        .map(|(instance, (offer, (choice, secret)))| {
            offer.key(instance, *choice, &public, secret * point)
        })
        .collect();
    secrets.zeroize();
    Ok(keys)
}

/// R_0 and R_1 of one instance.
struct Offers {
    points: [RistrettoPoint; 2],
    encoded: [CompressedRistretto; 2],
}

impl Offers {
    /// Step 1.
    fn new(instance: usize, choice: bool, secret: &Scalar, rng: &mut Prg) -> Self {
        let choice = Choice::from(u8::from(choice));
        let other = RistrettoPoint::from_uniform_bytes(&rng.bytes());
        let encoded_other = other.compress();
        let hash = RistrettoPoint::conditional_select(
            &hash_to_point(instance, false, &encoded_other),
            &hash_to_point(instance, true, &encoded_other),
            choice,
        );
        let mut points = [RistrettoPoint::mul_base(secret) - hash, other];
        let (first, second) = points.split_at_mut(1);
        RistrettoPoint::conditional_swap(&mut first[0], &mut second[0], choice);
        Self {
            points,
            encoded: points.map(|point| point.compress()),
        }
    }

    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let (first, second) = bytes.split_at(POINT_BYTES);
        let encoded = [first, second].map(|half| {
            CompressedRistretto(half.try_into().expect("an instance is two encoded points"))
        });
        Ok(Self {
            points: [decode(&encoded[0])?, decode(&encoded[1])?],
            encoded,
        })
    }

    fn point(&self, side: bool) -> RistrettoPoint {
        self.points[usize::from(side)]
    }

    /// H_{j,i}(R_{1−i}).
    fn hash(&self, instance: usize, side: bool) -> RistrettoPoint {
        hash_to_point(instance, side, &self.encoded[usize::from(!side)])
    }

    /// K.
    fn key(
        &self,
        instance: usize,
        side: bool,
        public: &CompressedRistretto,
        shared: RistrettoPoint,
    ) -> Block {
        let mut hasher = blake3::Hasher::new_derive_key("psijoin 2026 base OT: key");
        hasher
            .update(&(instance as u64).to_le_bytes())
            .update(&[u8::from(side)]);
        for point in [
            &self.encoded[0],
            &self.encoded[1],
            public,
            &shared.compress(),
        ] {
            hasher.update(point.as_bytes());
        }
        let mut key = [0; Block::BYTES];
        hasher.finalize_xof().fill(&mut key);
        hasher.zeroize();
        Block::from_bytes(key)
    }
}

fn hash_to_point(instance: usize, side: bool, point: &CompressedRistretto) -> RistrettoPoint {
    let mut uniform = [0; 64];
    blake3::Hasher::new_derive_key("psijoin 2026 base OT: hash to group")
        .update(&(instance as u64).to_le_bytes())
        .update(&[u8::from(side)])
        .update(point.as_bytes())
        .finalize_xof()
        .fill(&mut uniform);
    RistrettoPoint::from_uniform_bytes(&uniform)
}

fn decode(encoded: &CompressedRistretto) -> Result<RistrettoPoint, Error> {
    encoded
        .decompress()
        .filter(|point| !point.is_identity())
        .ok_or(Error::InvalidPoint)
}

fn random_scalar(rng: &mut Prg) -> Scalar {
    let mut wide = rng.bytes();
    let scalar = Scalar::from_bytes_mod_order_wide(&wide);
    wide.zeroize();
    scalar
}

#[cfg(test)]
mod tests {
    use super::*;
    use psijoin_channel::memory;
    use std::thread;

    #[test]
    fn receiver_gets_the_key_it_chose_and_no_other() {
        let (mut a, mut b) = memory::pair();
        let choices: Vec<bool> = (0..20).map(|i| i % 3 == 0).collect();
        let (sent, received) = thread::scope(|scope| {
            let sender = scope.spawn(|| send(20, &mut a, &mut Prg::from_os()));
            let received = receive(&choices, &mut b, &mut Prg::from_os()).unwrap();
            (sender.join().unwrap().unwrap(), received)
        });
        let mut all = std::collections::HashSet::new();
        for ((pair, key), choice) in sent.iter().zip(&received).zip(&choices) {
            assert!(*key == pair[usize::from(*choice)]);
            assert!(*key != pair[usize::from(!*choice)]);
            all.extend(pair.map(Block::to_bytes));
        }
        assert_eq!(all.len(), 40, "all keys differ");
    }

    #[test]
    fn invalid_points_are_refused() {
        for bad in [[0; 32], [0xff; 32]] {
            let (mut a, mut b) = memory::pair();
            b.send(&[bad, bad].concat()).unwrap();
            let error = send(1, &mut a, &mut Prg::from_os()).unwrap_err();
            assert!(matches!(error, Error::InvalidPoint));

            let (mut a, mut b) = memory::pair();
            b.send(&bad).unwrap();
            let error = receive(&[true], &mut a, &mut Prg::from_os()).unwrap_err();
            assert!(matches!(error, Error::InvalidPoint));
        }
    }
}
