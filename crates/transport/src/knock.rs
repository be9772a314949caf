//! The knock: how a listening party recognises its peer by the first words of TLS, before it
//! computes anything for whoever speaks.
//!
//! A party that listens is pinned to a peer of whom it knows no more than a
//! [fingerprint](crate::fingerprint), a hash of the key. Neither does the party that dials. So
//! neither can compute a secret with the other's key before it has seen that key. But the dialling
//! party can sign. Its knock is
//!
//! | bytes | |
//! |---|---|
//! | 24 | a random nonce |
//! | 8 | sealed: the time, in seconds since 1970, little-endian |
//! | 32 | sealed: its Ed25519 key |
//! | 64 | sealed: its signature of the listening party's fingerprint, the nonce and the time |
//! | 16 | the tag of the seal |
//!
//! The seal is ChaCha20-Poly1305 under a key made of both fingerprints and the nonce. Fingerprints
//! are no secrets, so the seal proves nothing. It keeps names from those who read the line and do
//! not know both, and it lets a listening party refuse all others for the price of a hash.
//!
//! A knock travels as the only protocol name (ALPN, RFC 7301) of the ClientHello. It is good for
//! five minutes by the listening party's clock, and once. All that it gives is priority: who the
//! peer is, pinned TLS decides.
//!
//! Further streams of a session knock with a keyed hash of a nonce, under a secret of the session.
//!
//! # Why it is built this way
//!
//! - *A signature, and no Diffie-Hellman.* A MAC under the static secret of both identities would
//!   be cheaper to refuse. But each side pins a hash of the other's key, and sees the key itself
//!   only when the other side shows it. The dialling side would need an answer first, and answers
//!   are what a flood makes scarce. So it signs, and shows its key under a seal. The seal is what
//!   makes most refusals cheap.
//! - *In the ClientHello, as a protocol name (ALPN).* It is the only field of rustls that takes any
//!   bytes. SNI takes names of hosts, which firewalls look up. The listening side offers no
//!   protocols, so TLS gives the name no meaning. A party without a knock is met as well, and a
//!   listening party that knows none ignores it: no version changed.
//! - *rustls reads the ClientHello* (`Acceptor`), and stops before it answers. Reading costs a few
//!   microseconds, an answer a key exchange and a signature.
//! - *Four standings, each with seats of its own* (`establish::candidate::Standing`): leaving,
//!   unheard, heard, recognised. With seats for all together, whoever floods one stage pushes out
//!   who has to wait a round trip in it. All who are let in are heard once before anybody has to
//!   leave.
//! - *No state but the used nonces*, which only the peer can use up, and no more than 4,096.
//!   `Options` keep them, so that a party that listens again in the same process knows them.
//! - *Addresses play no part in a knock*, so it goes through forwarders, and through anything that
//!   carries the unchanged bytes of TLS.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use blake3::Hasher;
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey},
    rand::{SecureRandom, SystemRandom},
};
use zeroize::Zeroizing;

use crate::{
    Fingerprint, Identity, PublicKey, SIGNATURE_BYTES, Signature,
    signature::{DER_PREFIX, KEY_BYTES},
};

/// The length of a knock's nonce.
pub const NONCE_BYTES: usize = 24;

const TIME_BYTES: usize = 8;

const TAG_BYTES: usize = 16;

const SEALED_BYTES: usize = TIME_BYTES + KEY_BYTES + SIGNATURE_BYTES;

/// The length of a sealed knock.
pub const KNOCK_BYTES: usize = NONCE_BYTES + SEALED_BYTES + TAG_BYTES;

/// The purpose of the signature.
const PURPOSE: &str = "psijoin v1 knock";

/// The greatest difference between the two parties' clocks.
pub(crate) const WINDOW: Duration = Duration::from_secs(300);

/// The number of used knocks that are remembered. Only the peer can use one up.
const MAX_USED: usize = 4096;

/// The claims of a knock, whether they are true or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knock {
    /// A random value, which makes each knock different.
    pub nonce: [u8; NONCE_BYTES],
    /// The time at which it was made, in seconds since 1970.
    pub time: u64,
    /// The Ed25519 key of the party that dials, as RFC 8032 encodes it.
    pub key: [u8; KEY_BYTES],
    /// That party's signature.
    pub signature: Signature,
}

impl Knock {
    /// Returns a fresh knock at the door of `listener`. `None` if the identity is not an Ed25519
    /// key, or the operating system gives no randomness.
    pub fn new(identity: &Identity, listener: Fingerprint, time: u64) -> Option<Self> {
        let nonce = fresh_nonce()?;
        let statement = statement(listener, &nonce, time);
        Some(Self {
            nonce,
            time,
            key: identity.public_key()?.to_bytes(),
            signature: identity.sign(PURPOSE, &statement)?,
        })
    }

    /// As it travels.
    pub fn seal(&self, listener: Fingerprint) -> [u8; KNOCK_BYTES] {
        let mut sealed = [0; KNOCK_BYTES];
        let (nonce, rest) = sealed.split_at_mut(NONCE_BYTES);
        let (text, tag) = rest.split_at_mut(SEALED_BYTES);
        nonce.copy_from_slice(&self.nonce);
        let (time, rest) = text.split_at_mut(TIME_BYTES);
        let (key, signature) = rest.split_at_mut(KEY_BYTES);
        time.copy_from_slice(&self.time.to_le_bytes());
        key.copy_from_slice(&self.key);
        signature.copy_from_slice(&self.signature.to_bytes());
        let envelope = Envelope::between(self.dialler(), listener, &self.nonce);
        tag.copy_from_slice(&envelope.seal(text));
        sealed
    }

    /// Reads somebody's first bytes, if they are a knock of `dialler` at the door of `listener`, or
    /// made by somebody who knows both, and the key of `dialler`. [`is_genuine`](Self::is_genuine)
    /// tells these apart.
    pub fn open(said: &[u8], dialler: Fingerprint, listener: Fingerprint) -> Option<Self> {
        let said: &[u8; KNOCK_BYTES] = said.try_into().ok()?;
        let (&nonce, sealed) = said.split_first_chunk::<NONCE_BYTES>()?;
        let mut text: [u8; SEALED_BYTES + TAG_BYTES] = sealed.try_into().ok()?;
        let opened = Envelope::between(dialler, listener, &nonce).open(&mut text)?;
        let (&time, rest) = opened.split_first_chunk::<TIME_BYTES>()?;
        let (&key, signature) = rest.split_first_chunk::<KEY_BYTES>()?;
        let knock = Self {
            nonce,
            time: u64::from_le_bytes(time),
            key,
            signature: Signature::from_bytes(signature.try_into().ok()?),
        };
        (knock.dialler() == dialler).then_some(knock)
    }

    /// Returns whether the party with this key has made it, for the door of `listener`.
    pub fn is_genuine(&self, listener: Fingerprint) -> bool {
        PublicKey::from_der(&self.der()).is_some_and(|key| self.is_signed_with(&key, listener))
    }

    fn is_signed_with(&self, key: &PublicKey, listener: Fingerprint) -> bool {
        let statement = statement(listener, &self.nonce, self.time);
        key.verify(PURPOSE, &statement, &self.signature)
    }

    /// Returns its alleged maker.
    pub fn dialler(&self) -> Fingerprint {
        Fingerprint::of_public_key(&self.der())
    }

    fn der(&self) -> Vec<u8> {
        [&DER_PREFIX[..], &self.key].concat()
    }
}

/// Returns what is signed.
fn statement(listener: Fingerprint, nonce: &[u8; NONCE_BYTES], time: u64) -> Vec<u8> {
    [&listener.symbols()[..], nonce, &time.to_le_bytes()].concat()
}

/// Returns a nonce that nobody has had, if the operating system gives randomness.
pub(crate) fn fresh_nonce() -> Option<[u8; NONCE_BYTES]> {
    let mut nonce = [0; NONCE_BYTES];
    SystemRandom::new().fill(&mut nonce).ok()?;
    Some(nonce)
}

/// This machine's time, in seconds since 1970.
pub(crate) fn now() -> u64 {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since_1970.map_or(0, |time| time.as_secs())
}

/// The cipher that a knock is sealed with. Each has a key of its own, so the cipher needs no nonce.
struct Envelope(LessSafeKey);

impl Envelope {
    fn between(dialler: Fingerprint, listener: Fingerprint, nonce: &[u8; NONCE_BYTES]) -> Self {
        let mut hasher = Hasher::new_derive_key("psijoin v1 knock: envelope");
        for part in [&dialler.symbols()[..], listener.symbols(), nonce] {
            hasher.update(part);
        }
        let key = Zeroizing::new(*hasher.finalize().as_bytes());
        let key = UnboundKey::new(&CHACHA20_POLY1305, &*key);
        Self(LessSafeKey::new(key.expect("a hash is as long as a key")))
    }

    fn seal(&self, text: &mut [u8]) -> [u8; TAG_BYTES] {
        let sealed = self
            .0
            .seal_in_place_separate_tag(no_nonce(), Aad::empty(), text);
        let tag = sealed.expect("a knock is short");
        tag.as_ref().try_into().expect("this is the cipher's tag")
    }

    fn open<'a>(&self, sealed: &'a mut [u8]) -> Option<&'a [u8]> {
        let opened = self.0.open_in_place(no_nonce(), Aad::empty(), sealed);
        opened.ok().map(|text| &*text)
    }
}

fn no_nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; ring::aead::NONCE_LEN])
}

/// The judgement on a knock: whether it was the peer's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was, and nobody has used it before.
    Peer,
    /// It may have been, and the two clocks differ by that much. Or somebody repeats what it said
    /// long ago.
    ClocksDiffer(Duration),
    /// Anybody may have said it.
    Anybody,
}

/// Recognises the knocks of one peer at the door of this party.
pub(crate) struct Ear {
    peer: Fingerprint,
    ours: Fingerprint,
    /// The peer's key, once it is known; its fingerprint is known before.
    key: Option<PublicKey>,
    used: Used,
}

impl Ear {
    pub(crate) fn new(peer: Fingerprint, ours: Fingerprint, used: &Used) -> Self {
        Self {
            peer,
            ours,
            key: None,
            used: used.clone(),
        }
    }

    /// Judges somebody's first bytes at that time. The cheapest test comes first: only who knows
    /// both fingerprints and the peer's key makes this side verify a signature.
    pub(crate) fn judge(&mut self, said: &[u8], now: u64) -> Verdict {
        let Some(knock) = Knock::open(said, self.peer, self.ours) else {
            return Verdict::Anybody;
        };
        let differ = Duration::from_secs(knock.time.abs_diff(now));
        if differ > WINDOW {
            return Verdict::ClocksDiffer(differ);
        }
        if self.key.is_none() {
            self.key = PublicKey::from_der(&knock.der());
        }
        let is_genuine = self
            .key
            .is_some_and(|key| knock.is_signed_with(&key, self.ours));
        let until = knock.time.saturating_add(WINDOW.as_secs());
        if is_genuine && self.used.is_first(knock.nonce, until, now) {
            Verdict::Peer
        } else {
            Verdict::Anybody
        }
    }
}

/// Knocks that have been used, until when they could be used again. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Used(Arc<Mutex<HashMap<[u8; NONCE_BYTES], u64>>>);

impl Used {
    /// Uses a nonce, and tells whether it was the first time. If there is no room left to remember
    /// it, it counts as used.
    pub(crate) fn is_first(&self, nonce: [u8; NONCE_BYTES], until: u64, now: u64) -> bool {
        let mut used = self.0.lock().expect("nothing panics while it is held");
        if used.len() >= MAX_USED {
            used.retain(|_, until| *until >= now);
        }
        used.len() < MAX_USED && used.insert(nonce, until).is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::{array::uniform32, collection::vec, prelude::*};

    use super::*;

    const NOW: u64 = 1_800_000_000;

    /// The party that dials, the one that listens, and somebody else.
    static PARTIES: LazyLock<[Identity; 3]> =
        LazyLock::new(|| std::array::from_fn(|_| Identity::generate().unwrap()));

    fn names() -> [Fingerprint; 3] {
        std::array::from_fn(|i| PARTIES[i].fingerprint())
    }

    fn knock_at(time: u64) -> Knock {
        Knock::new(&PARTIES[0], names()[1], time).unwrap()
    }

    fn ear() -> Ear {
        let [dialler, listener, _] = names();
        Ear::new(dialler, listener, &Used::default())
    }

    #[test]
    fn the_peer_is_recognised_once() {
        let (mut ear, listener) = (ear(), names()[1]);
        let first = knock_at(NOW).seal(listener);
        let second = knock_at(NOW).seal(listener);
        assert_ne!(first, second);
        assert_eq!(ear.judge(&first, NOW), Verdict::Peer);
        assert_eq!(ear.judge(&first, NOW), Verdict::Anybody);
        assert_eq!(ear.judge(&second, NOW + 1), Verdict::Peer);
        assert_eq!(ear.judge(&second, NOW + 2), Verdict::Anybody);
    }

    #[test]
    fn what_is_used_is_used_at_all_doors_of_these_options() {
        let [dialler, listener, _] = names();
        let used = Used::default();
        let said = knock_at(NOW).seal(listener);
        let judge = || Ear::new(dialler, listener, &used).judge(&said, NOW);
        assert_eq!([judge(), judge()], [Verdict::Peer, Verdict::Anybody]);
    }

    #[test]
    fn clocks_may_differ_by_so_much_and_no_more() {
        let window = WINDOW.as_secs();
        for (time, verdict) in [
            (NOW - window, Verdict::Peer),
            (NOW + window, Verdict::Peer),
            (
                NOW - window - 1,
                Verdict::ClocksDiffer(Duration::from_secs(window + 1)),
            ),
            (NOW + 3600, Verdict::ClocksDiffer(Duration::from_secs(3600))),
            (0, Verdict::ClocksDiffer(Duration::from_secs(NOW))),
        ] {
            let said = knock_at(time).seal(names()[1]);
            assert_eq!(ear().judge(&said, NOW), verdict, "{time}");
        }
    }

    #[test]
    fn who_knows_all_but_the_secret_key_is_not_recognised() {
        let [_, listener, other] = names();
        let genuine = knock_at(NOW);
        let by_another_key = Knock::new(&PARTIES[2], listener, NOW).unwrap();
        let at_another_door = Knock::new(&PARTIES[0], other, NOW).unwrap();
        let forgeries = [
            Knock {
                signature: by_another_key.signature,
                ..genuine.clone()
            },
            Knock {
                nonce: [7; NONCE_BYTES],
                ..genuine.clone()
            },
            Knock {
                time: NOW + 1,
                ..genuine.clone()
            },
            // It dials somebody else, who passes that on.
            at_another_door,
        ];
        let mut ear = ear();
        for forgery in forgeries {
            let said = forgery.seal(listener);
            let opened = Knock::open(&said, names()[0], listener).unwrap();
            assert_eq!(opened, forgery);
            assert!(!opened.is_genuine(listener));
            assert_eq!(ear.judge(&said, NOW), Verdict::Anybody);
        }
        assert!(genuine.is_genuine(listener));
        // None of them has used up the genuine one.
        assert_eq!(ear.judge(&genuine.seal(listener), NOW), Verdict::Peer);
    }

    #[test]
    fn who_does_not_know_both_parties_reads_nothing() {
        let [dialler, listener, other] = names();
        let said = knock_at(NOW).seal(listener);
        assert!(Knock::open(&said, dialler, listener).is_some());
        for [a, b] in [[dialler, other], [other, listener], [listener, dialler]] {
            assert!(Knock::open(&said, a, b).is_none());
        }
        let key = PARTIES[0].public_key().unwrap().to_bytes();
        let shows_key = said.windows(key.len()).any(|bytes| bytes == key);
        assert!(!shows_key);
    }

    #[test]
    fn there_is_a_bound_on_what_is_remembered() {
        let used = Used::default();
        let nonce = |i: usize| {
            let mut nonce = [0; NONCE_BYTES];
            nonce[..8].copy_from_slice(&i.to_le_bytes());
            nonce
        };
        for i in 0..MAX_USED {
            assert!(used.is_first(nonce(i), NOW, NOW));
        }
        // It cannot be remembered, so it does not count.
        assert!(!used.is_first(nonce(MAX_USED), NOW, NOW));
        assert!(!used.is_first(nonce(0), NOW, NOW));
        // All of them are too old to be used again.
        assert!(used.is_first(nonce(MAX_USED), NOW + 9, NOW + 1));
        assert_eq!(used.0.lock().unwrap().len(), 1);
    }

    proptest! {
        #[test]
        fn what_is_sealed_can_be_opened(time in any::<u64>(), nonce in uniform32(any::<u8>())) {
            let [dialler, listener, _] = names();
            let knock = Knock {
                nonce: std::array::from_fn(|i| nonce[i]),
                time,
                ..knock_at(NOW)
            };
            let said = knock.seal(listener);
            prop_assert_eq!(Knock::open(&said, dialler, listener), Some(knock));
        }

        #[test]
        fn a_changed_bit_is_noticed(bit in 0..8 * KNOCK_BYTES) {
            let mut said = knock_at(NOW).seal(names()[1]);
            said[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(ear().judge(&said, NOW), Verdict::Anybody);
        }

        #[test]
        fn anything_can_be_said(said in vec(any::<u8>(), 0..2 * KNOCK_BYTES), now in any::<u64>()) {
            prop_assert_eq!(ear().judge(&said, now), Verdict::Anybody);
        }
    }
}
