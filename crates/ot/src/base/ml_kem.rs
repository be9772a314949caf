//! Random OT from ML-KEM-768 (FIPS 203), secure against malicious parties.
//!
//! OT from a KEM whose public keys look uniform, by McQuoid, Rosulek and Roy (CCS 2020), with
//! their programmable-once public function of two Feistel rounds: a short message φ gives two
//! public keys, of which whoever makes φ can choose one, but not both. The construction of Masny
//! and Rindal (CCS 2019, Figure 8 with Kyber) sends two vectors in place of φ, a third more bytes
//! in all.
//!
//! A public key is a vector t, uniform in a [group](super::public_key) by module LWE, and the seed
//! ρ of a matrix. For instance j, with choice c:
//!
//! 1. The receiver makes a key pair with the public key (t, ρ), draws u ∈ {0,1}^384, sets
//!    s = t + H_{j,c,ρ}(u) and v = u ⊕ G_{j,c,ρ}(s), and sends φ = (ρ, s, v).
//! 2. For i = 0, 1 the sender computes u_i = v ⊕ G_{j,i,ρ}(s) and t_i = s − H_{j,i,ρ}(u_i), which
//!    is t for i = c. It encapsulates a secret z_i under (t_i, ρ), and sends both ciphertexts. Its
//!    keys are K_{j,i}(φ, ciphertexts, z_i).
//! 3. The receiver decapsulates the ciphertext of c.
//!
//! **The seed.** ρ is the receiver's, one for each instance, as key generation makes it. One for
//! all would save 4 of 436 kB, and need a key generation of our own. A receiver that cheats may
//! try k of them: it gets k matrices, which are uniform as SHAKE128 is a random oracle, and looks
//! for a weak one. G and H take ρ, so it comes before all else. A coin of both parties would cost
//! a flight, and save the log2 k bits of the bound.
//!
//! **Security.** In the random-oracle model for G, H, K and the hash functions of ML-KEM, under
//! module LWE with the parameters of ML-KEM-768:
//!
//! - *The sender learns nothing of c, whatever it does.* t is pseudorandom, so s is, and u masks
//!   v. The simulator draws s and v, makes key pairs for both sides under one ρ, and programs
//!   H_{j,i,ρ}(u_i) = s − t_i; nobody has asked before, but with a probability of q/2^384. It can
//!   decapsulate both ciphertexts, so it knows both keys that the receiver could get. There are
//!   such keys for any bytes, since decapsulation rejects implicitly. So a ciphertext that the
//!   sender spoils, to see whether the receiver notices, only chooses its own keys, as an endemic
//!   OT allows; and each key pair serves one ciphertext.
//! - *The receiver learns one key only.* Call side i *free* if the answer to G_{j,i,ρ}(s) came
//!   before that to H_{j,i,ρ}(u_i). Then t_i is uniform when s and ρ are fixed, and the sender's
//!   ciphertext hides z_i by decisional module LWE: this is the second step in the proof of
//!   Kyber's encryption, and the first one is not needed. The reduction guesses the two answers
//!   that lead there, so it loses a factor of q² for q questions. If neither side is free, v is
//!   u_0 ⊕ G_0(s) and u_1 ⊕ G_1(s) for two earlier questions to H: this happens with a probability
//!   of at most q³/2^384, hence the length of u. The simulator takes the side that is not free for
//!   c, encapsulates as the sender does, and gives the functionality that side's key: the receiver
//!   has chosen its own key, as an endemic OT allows.
//!
//! Against *questions in superposition* there is no proof: that of the second point looks at the
//! order of questions. For parties that follow the protocol it needs no order. s and u_{1−c} are
//! uniform then, so t_{1−c} is the answer to a question of 384 bits of entropy, which can be
//! reprogrammed in the quantum model too (Grilo, Hövelmanns, Hülsing and Majenz, Asiacrypt 2021).
//!
//! **Failure.** An honest decapsulation gives another secret with a probability of 2^-164.8: see
//! [`psijoin_params::key_encapsulation`], which also derives the parameter set. Protocols charge it
//! to their failure budget.
//!
//! **Constant time.** ML-KEM is that of the crate `ml-kem`. H reduces wide integers instead of
//! sampling by rejection, as the sender could time both sides. The receiver hashes for c only, with
//! c as an input. It selects the ciphertext without a branch.
//!
//! **Cost.** Two flights: 1,232 bytes per OT from the receiver, then 2,176 from the sender. The
//! receiver makes and opens one key pair per OT, and the sender uses two.

use std::ops::Range;

use ml_kem::{Decapsulate, DecapsulationKey, EncapsulationKey, KeyExport, MlKem768};
use psijoin_block::{Block, Prg};
use psijoin_channel::Channel;
use psijoin_runtime::parallel;
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, Zeroizing};

use super::public_key::{UNIFORM_BYTES, VECTOR_BYTES, Vector};
use crate::Error;

/// Bytes of ρ.
const SEED_BYTES: usize = 32;

/// Bytes of u and v: 3κ bits.
const TAG_BYTES: usize = 48;

/// Bytes of φ.
pub(super) const OFFER_BYTES: usize = SEED_BYTES + VECTOR_BYTES + TAG_BYTES;

/// Bytes of a ciphertext of ML-KEM-768.
const CIPHERTEXT_BYTES: usize = 1088;

/// Bytes from which a key pair is made.
const KEY_SEED_BYTES: usize = 64;

/// Bytes that the receiver draws for an instance: those of a key pair, and u.
const DRAWN_BYTES: usize = KEY_SEED_BYTES + TAG_BYTES;

/// Instances whose messages travel together: those of the receiver while it makes the next ones.
pub(super) const OTS_PER_MESSAGE: usize = 32;

/// φ.
type Offer = [u8; OFFER_BYTES];

type Ciphertexts = [[u8; CIPHERTEXT_BYTES]; 2];

/// Returns the number of bytes that the receiver of `count` OTs sends.
pub(super) const fn receiver_bytes(count: usize) -> u64 {
    (count * OFFER_BYTES) as u64
}

/// Returns the number of bytes that the sender sends.
pub(super) const fn sender_bytes(count: usize) -> u64 {
    (count * 2 * CIPHERTEXT_BYTES) as u64
}

/// Returns the instances of each message.
fn messages(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count)
        .step_by(OTS_PER_MESSAGE)
        .map(move |first| first..count.min(first + OTS_PER_MESSAGE))
}

/// Returns both keys of `count` random OTs.
pub(super) fn send(
    count: usize,
    channel: &mut Channel,
    rng: &mut Prg,
) -> Result<Zeroizing<Vec<[Block; 2]>>, Error> {
    let mut keys = Zeroizing::new(Vec::with_capacity(count));
    let mut ciphertexts: Vec<Ciphertexts> = Vec::with_capacity(count);
    let mut offers: Vec<Offer> = vec![[0; OFFER_BYTES]; OTS_PER_MESSAGE.min(count)];
    // Nothing is sent before all has come: a receiver that still sends does not listen.
    for range in messages(count) {
        let offers = &mut offers[..range.len()];
        channel.recv(offers.as_flattened_mut())?;
        let mut drawn = Zeroizing::new(vec![[[0; SEED_BYTES]; 2]; range.len()]);
        rng.fill_bytes(drawn.as_flattened_mut().as_flattened_mut());
        let answers = parallel::map(range.len(), &|k| {
            Phi(&offers[k]).answer(range.start + k, &drawn[k])
        });
        for answer in answers {
            let (pair, both) = answer?;
            keys.push(*pair);
            ciphertexts.push(both);
        }
    }
    for range in messages(count) {
        channel.send(ciphertexts[range].as_flattened().as_flattened())?;
    }
    Ok(keys)
}

/// Returns the keys that `choices` select.
pub(super) fn receive(
    choices: &[bool],
    channel: &mut Channel,
    rng: &mut Prg,
) -> Result<Zeroizing<Vec<Block>>, Error> {
    let count = choices.len();
    let mut pairs = Vec::with_capacity(count);
    let mut offers: Vec<Offer> = Vec::with_capacity(count);
    for range in messages(count) {
        let mut drawn = Zeroizing::new(vec![[0; DRAWN_BYTES]; range.len()]);
        rng.fill_bytes(drawn.as_flattened_mut());
        let made = parallel::map(range.len(), &|k| {
            make_offer(range.start + k, choices[range.start + k], &drawn[k])
        });
        for (pair, offer) in made {
            pairs.push(pair);
            offers.push(offer);
        }
        channel.send(offers[range].as_flattened())?;
    }

    let mut keys = Zeroizing::new(Vec::with_capacity(count));
    let mut ciphertexts = vec![[[0; CIPHERTEXT_BYTES]; 2]; OTS_PER_MESSAGE.min(count)];
    for range in messages(count) {
        let ciphertexts = &mut ciphertexts[..range.len()];
        channel.recv(ciphertexts.as_flattened_mut().as_flattened_mut())?;
        let chosen = Zeroizing::new(parallel::map(range.len(), &|k| {
            let instance = range.start + k;
            let (offer, both) = (&offers[instance], &ciphertexts[k]);
            open(instance, choices[instance], &pairs[instance], offer, both)
        }));
        keys.extend_from_slice(&chosen);
    }
    Ok(keys)
}

/// Step 1.
fn make_offer(
    instance: usize,
    choice: bool,
    drawn: &[u8; DRAWN_BYTES],
) -> (DecapsulationKey<MlKem768>, Offer) {
    let (seed, u) = drawn.split_at(KEY_SEED_BYTES);
    let seed: [u8; KEY_SEED_BYTES] = seed.try_into().expect("the length that it is cut to");
    let u: &[u8; TAG_BYTES] = u.try_into().expect("the rest");
    let pair = DecapsulationKey::<MlKem768>::from_seed(seed.into());
    let public = pair.encapsulation_key().to_bytes();
    let (t, rho) = public.split_at(VECTOR_BYTES);
    let t = Vector::decode(t.try_into().expect("the length that it is cut to"))
        .expect("key generation reduces modulo q");
    let side = Side::new(instance, choice, rho);
    let s = t.plus(&side.mask(u)).encode();
    let mut v = side.tag(&s);
    xor(&mut v, u);
    let mut offer = [0; OFFER_BYTES];
    offer[..SEED_BYTES].copy_from_slice(rho);
    offer[SEED_BYTES..][..VECTOR_BYTES].copy_from_slice(&s);
    offer[SEED_BYTES + VECTOR_BYTES..].copy_from_slice(&v);
    (pair, offer)
}

/// A message of the receiver.
struct Phi<'a>(&'a Offer);

impl Phi<'_> {
    /// Step 2: both keys, and both ciphertexts. `drawn` are the secrets that are encapsulated.
    fn answer(
        &self,
        instance: usize,
        drawn: &[[u8; SEED_BYTES]; 2],
    ) -> Result<(Zeroizing<[Block; 2]>, Ciphertexts), Error> {
        let mut ciphertexts = [[0; CIPHERTEXT_BYTES]; 2];
        let mut secrets = Zeroizing::new([[0; 32]; 2]);
        for side in [0, 1] {
            let key = self.public_key(instance, side == 1)?;
            let (ciphertext, mut secret) = key.encapsulate_deterministic(&drawn[side].into());
            ciphertexts[side].copy_from_slice(&ciphertext);
            secrets[side].copy_from_slice(&secret);
            secret.as_mut_slice().zeroize();
        }
        let key = |side: bool| {
            let secret = &secrets[usize::from(side)];
            derive_key(instance, side, self.0, &ciphertexts, secret)
        };
        Ok((Zeroizing::new([false, true].map(key)), ciphertexts))
    }

    /// Returns (t_i, ρ).
    fn public_key(&self, instance: usize, side: bool) -> Result<EncapsulationKey<MlKem768>, Error> {
        let (rho, rest) = self.0.split_at(SEED_BYTES);
        let (s, v) = rest.split_at(VECTOR_BYTES);
        let s: &[u8; VECTOR_BYTES] = s.try_into().expect("the length that it is cut to");
        let side = Side::new(instance, side, rho);
        let mut u = side.tag(s);
        xor(&mut u, v);
        let s = Vector::decode(s).ok_or(Error::InvalidPublicKey)?;
        let mut public = [0; VECTOR_BYTES + SEED_BYTES];
        public[..VECTOR_BYTES].copy_from_slice(&s.minus(&side.mask(&u)).encode());
        public[VECTOR_BYTES..].copy_from_slice(rho);
        EncapsulationKey::new(&public.into()).map_err(|_| Error::InvalidPublicKey)
    }
}

/// Step 3.
fn open(
    instance: usize,
    choice: bool,
    pair: &DecapsulationKey<MlKem768>,
    offer: &Offer,
    ciphertexts: &Ciphertexts,
) -> Block {
    let first = Choice::from(u8::from(choice));
    let [zeroth, other] = ciphertexts;
    let chosen: Zeroizing<[u8; CIPHERTEXT_BYTES]> = Zeroizing::new(std::array::from_fn(|i| {
        u8::conditional_select(&zeroth[i], &other[i], first)
    }));
    let mut secret = pair.decapsulate(&(*chosen).into());
    let bytes = Zeroizing::new(secret.0);
    secret.as_mut_slice().zeroize();
    derive_key(instance, choice, offer, ciphertexts, &bytes)
}

/// The inputs that G and H share: j, i, ρ.
struct Side<'a> {
    instance: usize,
    side: bool,
    rho: &'a [u8],
}

impl<'a> Side<'a> {
    fn new(instance: usize, side: bool, rho: &'a [u8]) -> Self {
        Self {
            instance,
            side,
            rho,
        }
    }

    /// Returns G(s).
    fn tag(&self, s: &[u8; VECTOR_BYTES]) -> [u8; TAG_BYTES] {
        self.hash("psijoin 2026 base OT by ML-KEM: tag", s)
    }

    /// Returns H(u).
    fn mask(&self, u: &[u8; TAG_BYTES]) -> Vector {
        let bytes = self.hash("psijoin 2026 base OT by ML-KEM: hash to public keys", u);
        Vector::uniform(&Zeroizing::<[u8; UNIFORM_BYTES]>::new(bytes))
    }

    /// In constant time for all inputs.
    fn hash<const N: usize>(&self, purpose: &str, input: &[u8]) -> [u8; N] {
        let mut hasher = blake3::Hasher::new_derive_key(purpose);
        hasher
            .update(&(self.instance as u64).to_le_bytes())
            .update(&[u8::from(self.side)])
            .update(self.rho)
            .update(input);
        let mut hash = [0; N];
        let mut output = hasher.finalize_xof();
        output.fill(&mut hash);
        output.zeroize();
        hasher.zeroize();
        hash
    }
}

fn xor(bytes: &mut [u8; TAG_BYTES], other: &[u8]) {
    for (byte, other) in bytes.iter_mut().zip(other) {
        *byte ^= other;
    }
}

/// Returns K.
fn derive_key(
    instance: usize,
    side: bool,
    offer: &Offer,
    ciphertexts: &Ciphertexts,
    secret: &[u8; 32],
) -> Block {
    let mut hasher = blake3::Hasher::new_derive_key("psijoin 2026 base OT by ML-KEM: key");
    hasher
        .update(&(instance as u64).to_le_bytes())
        .update(&[u8::from(side)])
        .update(offer)
        .update(ciphertexts.as_flattened())
        .update(secret);
    let mut key = Zeroizing::new([0; Block::BYTES]);
    let mut output = hasher.finalize_xof();
    output.fill(&mut *key);
    output.zeroize();
    hasher.zeroize();
    Block::from_bytes(*key)
}
