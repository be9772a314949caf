//! The replacement of a key by another one, which the old one signs.
//!
//! A party that has replaced its key brings the signed *statement* along: in the file of its
//! identity, and in TLS behind its certificate. A peer that pins the old key reads there that the
//! new one follows it, and takes it over. So nobody has to be told of a replacement beforehand, and
//! a peer that is not met for a while follows several at once.
//!
//! - Each statement has an end, which is the end of the *overlap*: until then a peer takes the new
//!   key over, and still meets somebody who has the old one. After it, neither. The overlap bounds
//!   the time for which a stolen key can name a successor of the thief's.
//! - A key that was replaced names no other successor: a [pin](crate::Pin) with an end is not
//!   followed.
//! - Who has stolen a key can replace it, too. Against that helps to remove the peer, and to
//!   exchange fingerprints anew.
//!
//! In TLS, statements are the second entry of the list of certificates, where nothing but the first
//! is ever read as a certificate. A release that knows no statements leaves them out of account,
//! and refuses the new key as any other.
//!
//! | bytes of a statement | |
//! |---|---|
//! | 32 | the old Ed25519 key, as RFC 8032 encodes it |
//! | 32 | the new one |
//! | 8 | the time of the replacement, in seconds since 1970, little-endian |
//! | 8 | the end of the overlap, likewise |
//! | 64 | the signature with the old key of all of that |

use std::fmt;

use rustls::pki_types::CertificateDer;

use crate::{
    Fingerprint, Identity, Pin, PublicKey, SIGNATURE_BYTES, Signature, signature::KEY_BYTES,
};

/// The length of a statement.
pub const STATEMENT_BYTES: usize = SIGNED_BYTES + SIGNATURE_BYTES;

/// The most statements that an identity brings along: the newest ones.
pub const MAX_STATEMENTS: usize = 8;

const TIME_BYTES: usize = 8;

const SIGNED_BYTES: usize = 2 * KEY_BYTES + 2 * TIME_BYTES;

/// The purpose of the signature.
const PURPOSE: &str = "psijoin v1 succession of a key";

/// Begins the entry of TLS's list of certificates. No certificate begins so.
const MAGIC: &[u8] = b"psijoin successions\n";

/// The greatest difference between two parties' clocks, where a replacement has just happened.
const TOLERANCE_SECONDS: u64 = 24 * 3600;

/// The statement that a key follows another one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Succession {
    /// The key that is replaced.
    pub old: PublicKey,
    /// The key that takes its place.
    pub new: PublicKey,
    /// The time of the replacement, in seconds since 1970.
    pub since: u64,
    /// The end of the overlap, in seconds since 1970.
    pub until: u64,
    signature: Signature,
}

impl Succession {
    /// States that `new` follows the key of `old`. `None` if that is not an Ed25519 key.
    pub fn sign(old: &Identity, new: PublicKey, since: u64, until: u64) -> Option<Self> {
        let key = old.public_key()?;
        let signature = old.sign(PURPOSE, &signed(&key, &new, since, until))?;
        Some(Self {
            old: key,
            new,
            since,
            until,
            signature,
        })
    }

    /// Returns whether the old key has signed it.
    pub fn is_genuine(&self) -> bool {
        let signed = signed(&self.old, &self.new, self.since, self.until);
        self.old.verify(PURPOSE, &signed, &self.signature)
    }

    /// As it travels, and is kept.
    pub fn to_bytes(self) -> [u8; STATEMENT_BYTES] {
        let mut bytes = [0; STATEMENT_BYTES];
        let (said, signature) = bytes.split_at_mut(SIGNED_BYTES);
        said.copy_from_slice(&signed(&self.old, &self.new, self.since, self.until));
        signature.copy_from_slice(&self.signature.to_bytes());
        bytes
    }

    /// Reads a statement, which may be [forged](Self::is_genuine). `None` if its keys are none.
    pub fn from_bytes(bytes: &[u8; STATEMENT_BYTES]) -> Option<Self> {
        let (&old, rest) = bytes.split_first_chunk::<KEY_BYTES>()?;
        let (&new, rest) = rest.split_first_chunk::<KEY_BYTES>()?;
        let (&since, rest) = rest.split_first_chunk::<TIME_BYTES>()?;
        let (&until, signature) = rest.split_first_chunk::<TIME_BYTES>()?;
        Some(Self {
            old: PublicKey::from_bytes(old)?,
            new: PublicKey::from_bytes(new)?,
            since: u64::from_le_bytes(since),
            until: u64::from_le_bytes(until),
            signature: Signature::from_bytes(signature.try_into().ok()?),
        })
    }
}

impl fmt::Debug for Succession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Succession")
            .field("old", &self.old.fingerprint())
            .field("new", &self.new.fingerprint())
            .field("since", &self.since)
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

fn signed(old: &PublicKey, new: &PublicKey, since: u64, until: u64) -> [u8; SIGNED_BYTES] {
    let mut bytes = [0; SIGNED_BYTES];
    let (keys, times) = bytes.split_at_mut(2 * KEY_BYTES);
    keys[..KEY_BYTES].copy_from_slice(&old.to_bytes());
    keys[KEY_BYTES..].copy_from_slice(&new.to_bytes());
    times[..TIME_BYTES].copy_from_slice(&since.to_le_bytes());
    times[TIME_BYTES..].copy_from_slice(&until.to_le_bytes());
    bytes
}

/// A pinned key that a peer has replaced, by that with which it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Succeeded {
    /// The pinned key.
    pub old: Fingerprint,
    /// The end of the time for which it still counts, in seconds since 1970.
    pub until: u64,
}

/// The reason that a key counts, or not, by what was brought along with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It follows a pinned key.
    Follows(Succeeded),
    /// It did, but nobody has taken it over in time.
    TooLate(Succeeded),
    /// It is none that this side knows.
    Unknown,
}

/// Judges a key that is not pinned itself, by the statements that were brought along with it.
pub(crate) fn judge(
    found: PublicKey,
    statements: &[Succession],
    pins: &[Pin],
    now: u64,
) -> Standing {
    let (mut key, mut is_over) = (found, false);
    for _ in 0..MAX_STATEMENTS {
        let follows = |statement: &&Succession| {
            statement.new == key && statement.since <= now.saturating_add(TOLERANCE_SECONDS)
        };
        let mut candidates = statements.iter().filter(follows);
        let Some(statement) = candidates.find(|statement| statement.is_genuine()) else {
            return Standing::Unknown;
        };
        is_over |= statement.until < now;
        let succeeded = Succeeded {
            old: statement.old.fingerprint(),
            until: statement.until,
        };
        let is_it = |pin: &Pin| pin.until.is_none() && pin.fingerprint == succeeded.old;
        if pins.iter().any(is_it) {
            return match is_over {
                true => Standing::TooLate(succeeded),
                false => Standing::Follows(succeeded),
            };
        }
        key = statement.old;
    }
    Standing::Unknown
}

/// Returns what TLS is to bring along behind a certificate, if there is anything.
pub(crate) fn entry(statements: &[Succession]) -> Option<CertificateDer<'static>> {
    let newest = statements.len().saturating_sub(MAX_STATEMENTS);
    let statements = &statements[newest..];
    let said = statements.iter().map(|statement| statement.to_bytes());
    let said: Vec<u8> = said.flatten().collect();
    (!said.is_empty()).then(|| [MAGIC, &said].concat().into())
}

/// Reads what TLS has brought along behind a certificate: the statements, as far as they are some.
pub(crate) fn of_entries(entries: &[CertificateDer<'_>]) -> Vec<Succession> {
    let said = entries.first().and_then(|entry| entry.strip_prefix(MAGIC));
    let (statements, _) = said.unwrap_or_default().as_chunks();
    let statements = statements.iter().take(MAX_STATEMENTS);
    statements.filter_map(Succession::from_bytes).collect()
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    const NOW: u64 = 1_800_000_000;

    const DAY: u64 = 24 * 3600;

    fn identities<const N: usize>() -> [Identity; N] {
        std::array::from_fn(|_| Identity::generate().unwrap())
    }

    fn key(identity: &Identity) -> PublicKey {
        identity.public_key().unwrap()
    }

    fn pin(identity: &Identity) -> Pin {
        identity.fingerprint().into()
    }

    /// States that `new` follows `old` since a day ago, for thirty days.
    fn stated(old: &Identity, new: &Identity) -> Succession {
        Succession::sign(old, key(new), NOW - DAY, NOW + 29 * DAY).unwrap()
    }

    #[test]
    fn a_statement_is_read_as_it_travels_and_is_genuine() {
        let [old, new] = identities();
        let statement = stated(&old, &new);
        let bytes = statement.to_bytes();
        assert_eq!(Succession::from_bytes(&bytes), Some(statement));
        assert!(statement.is_genuine());
        for at in 0..STATEMENT_BYTES {
            let mut changed = bytes;
            changed[at] ^= 1;
            let changed = Succession::from_bytes(&changed);
            assert!(changed.is_none_or(|changed| !changed.is_genuine()), "{at}");
        }
    }

    #[test]
    fn a_key_is_followed_within_the_overlap_and_not_after_it() {
        let [old, new] = identities();
        let statements = [stated(&old, &new)];
        let until = statements[0].until;
        let succeeded = Succeeded {
            old: old.fingerprint(),
            until,
        };
        let judged = |now| judge(key(&new), &statements, &[pin(&old)], now);
        assert_eq!(judged(NOW), Standing::Follows(succeeded));
        assert_eq!(judged(until), Standing::Follows(succeeded));
        assert_eq!(judged(until + 1), Standing::TooLate(succeeded));
        // This clock is an hour behind that of the party that replaced it.
        let early = statements[0].since - 3600;
        assert_eq!(judged(early), Standing::Follows(succeeded));
        assert_eq!(judged(early - 2 * DAY), Standing::Unknown);
    }

    #[test]
    fn several_replacements_are_followed_at_once() {
        let [first, second, third] = identities();
        let statements = [stated(&first, &second), stated(&second, &third)];
        let judged = judge(key(&third), &statements, &[pin(&first)], NOW);
        assert!(
            matches!(judged, Standing::Follows(Succeeded { old, .. }) if old == first.fingerprint())
        );
        // One of them is missing.
        let judged = judge(key(&third), &statements[1..], &[pin(&first)], NOW);
        assert_eq!(judged, Standing::Unknown);
        // One of them is over.
        let mut late = statements;
        late[1] = Succession::sign(&second, key(&third), NOW - 9 * DAY, NOW - DAY).unwrap();
        let judged = judge(key(&third), &late, &[pin(&first)], NOW);
        assert!(matches!(judged, Standing::TooLate(_)), "{judged:?}");
    }

    #[test]
    fn nobody_but_the_pinned_key_names_who_follows_it() {
        let [old, new, thief] = identities();
        let mut forged = stated(&thief, &new);
        forged.old = key(&old);
        for statements in [&[][..], &[forged], &[stated(&thief, &new)]] {
            let judged = judge(key(&new), statements, &[pin(&old)], NOW);
            assert_eq!(judged, Standing::Unknown);
        }
        // A key that was replaced before names nobody else.
        let replaced = Pin {
            until: Some(NOW + DAY),
            ..pin(&old)
        };
        let judged = judge(key(&new), &[stated(&old, &new)], &[replaced], NOW);
        assert_eq!(judged, Standing::Unknown);
    }

    /// Two keys that name each other must not keep this side busy.
    #[test]
    fn a_circle_ends() {
        let [a, b, pinned] = identities();
        let statements = [stated(&a, &b), stated(&b, &a)];
        let judged = judge(key(&a), &statements, &[pin(&pinned)], NOW);
        assert_eq!(judged, Standing::Unknown);
    }

    #[test]
    fn the_newest_statements_travel() {
        let [old, new] = identities();
        assert_eq!(entry(&[]), None);
        let mut statements = vec![stated(&old, &new); MAX_STATEMENTS + 2];
        statements[0].since = 0;
        let travelled = of_entries(&[entry(&statements).unwrap()]);
        assert_eq!(travelled, &statements[2..]);
    }

    proptest! {
        #[test]
        fn whatever_is_brought_along_is_read(front in any::<bool>(), bytes in vec(any::<u8>(), 0..999)) {
            let front = if front { MAGIC } else { &[] };
            let entry = [front, &bytes].concat().into();
            prop_assert!(of_entries(&[entry]).len() <= MAX_STATEMENTS);
        }
    }
}
