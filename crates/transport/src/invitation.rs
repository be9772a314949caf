//! Invitations: how two parties get to know each other's keys in their first session.
//!
//! One party, the *inviter*, has sent a link with its public key and a one-time secret of 128 bits
//! (the crate `psijoin-peers` writes and reads it). The other, the *guest*, pins that key at once,
//! and proves in the greeting of the first session that it has the secret. Then the inviter pins
//! the guest's key, for good. Neither needs the other to be there before.
//!
//! # In the greeting
//! The inviter listens, and accepts any Ed25519 key in TLS. Both speak as at any other meeting,
//! except that the padding behind the preamble begins with a *note*, whose value means nothing to
//! parties that know each other:
//!
//! | guest → inviter | bytes |
//! |---|---|
//! | that it is a note | 4 |
//! | the guest's proof | 32 |
//!
//! | inviter → guest, once it has judged that | bytes |
//! |---|---|
//! | that it is a note | 4 |
//! | the [verdict](Verdict) | 1 |
//! | its time, in seconds since 1970, little-endian | 8 |
//! | the fingerprint that it is about, 5 bits a byte | 26 |
//! | the inviter's proof | 32 |
//!
//! A proof is BLAKE3, keyed with the [key of the invitation](InvitationKey), of the side, a value
//! that TLS derives for both ends of this connection and nobody else (RFC 8446, section 7.5), and
//! all that the side says. So it cannot be passed on into another connection, and says nothing
//! about the secret. The inviter is silent until it has judged the guest, since a party that does
//! not know of notes takes a preamble for a welcome.
//!
//! Only who has proved the invitation hears the verdict. Whoever comes without it, as a party that
//! was told a fingerprint only, hears that it is [not let in](crate::Error::Invitation).
//!
//! # Security
//! The secret is used up by the first key that proves it: whoever comes second is told when, and by
//! which fingerprint, and so is the inviter. A thief who has the whole link and is first *is* the
//! guest, unless the inviter compares fingerprints ([`Verdict::Unconfirmed`]). There is nothing to
//! guess at 128 bits, so no password-authenticated exchange is needed, and nothing to count.
//!
//! [`Host::judge`] decides, and keeps what it has decided before the guest is told. So a secret is
//! used once though several processes listen, and a guest that lost the answer comes again.

mod fault;
mod note;

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

pub use fault::InvitationFault;
pub(crate) use fault::date;
pub(crate) use note::{
    Answer, Binding, NOTE_BYTES, Shown, guests_note, hear_guest, hear_inviter, inviters_note,
};

use crate::{Fingerprint, PublicKey};

/// The length of the secret in a link.
pub const SECRET_BYTES: usize = 16;

/// The key that both parties derive from the secret of an invitation.
///
/// The inviter keeps this and not the secret: the link cannot be printed again, but who reads the
/// inviter's files can prove the invitation.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct InvitationKey([u8; blake3::KEY_LEN]);

impl InvitationKey {
    /// Derives it.
    pub fn of(secret: &[u8; SECRET_BYTES]) -> Self {
        let purpose = "psijoin v1 invitation: key of a one-time secret";
        Self(blake3::derive_key(purpose, secret))
    }

    /// Returns the key with these bytes, as it was kept.
    pub fn from_bytes(bytes: [u8; blake3::KEY_LEN]) -> Self {
        Self(bytes)
    }

    /// Returns its bytes, to be kept where only this user can read them.
    pub fn as_bytes(&self) -> &[u8; blake3::KEY_LEN] {
        &self.0
    }

    /// Returns the secret that the two parties have before their first session, as far as a meeting
    /// place is concerned.
    pub fn pair_secret(&self) -> PairSecret {
        PairSecret(self.derived("psijoin v1 invitation: pair secret until the first session"))
    }

    pub(crate) fn derived(&self, purpose: &str) -> [u8; blake3::KEY_LEN] {
        blake3::derive_key(purpose, &self.0)
    }
}

impl fmt::Debug for InvitationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvitationKey").finish_non_exhaustive()
    }
}

/// A secret that two parties have from a session, and nobody else: TLS derives it.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct PairSecret([u8; 32]);

impl PairSecret {
    /// The name by which TLS derives it.
    pub(crate) const LABEL: &str = "EXPORTER psijoin v1 pair secret";

    /// Returns the secret with these bytes, as it was kept.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns its bytes, to be kept where only this user can read them.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for PairSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairSecret").finish_non_exhaustive()
    }
}

/// Somebody who has proved an invitation.
#[derive(Debug)]
#[non_exhaustive]
pub struct Newcomer {
    /// The key that it has shown in TLS.
    pub key: PublicKey,
    /// The secret that it has with the inviter from now on, if it is welcome.
    pub pair_secret: PairSecret,
}

/// An inviter's memory.
pub trait Host: fmt::Debug + Send + Sync {
    /// Judges somebody who has proved the invitation. The first one is welcome, and again whenever
    /// it comes with the same key. What this returns is already kept for good, also if other
    /// processes ask at the same time. It is called on the thread that waits.
    fn judge(&self, newcomer: &Newcomer) -> Verdict;
}

/// The judgement on somebody who has proved an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It is pinned.
    Welcome,
    /// Another key has used the invitation.
    Used {
        /// At this time, in seconds since 1970.
        when: u64,
        /// The other key.
        by: Fingerprint,
    },
    /// The invitation is over.
    Expired {
        /// Since this time, in seconds since 1970.
        at: u64,
    },
    /// The inviter compares fingerprints before it pins, and has not done that yet.
    Unconfirmed,
    /// The inviter has compared fingerprints, and expects another one.
    Another,
    /// The inviter could not keep the key. The invitation is as good as before.
    NotKept,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> InvitationKey {
        InvitationKey::of(&[byte; SECRET_BYTES])
    }

    /// Links are kept in mails: their keys must stay what they are.
    #[test]
    fn the_key_of_a_secret_is_fixed() {
        let expected = blake3::derive_key(
            "psijoin v1 invitation: key of a one-time secret",
            &[7; SECRET_BYTES],
        );
        assert_eq!(key(7).as_bytes(), &expected);
        assert_ne!(key(7).pair_secret().as_bytes(), &expected);
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!("{:?} {:?}", key(0xaa), key(0xaa).pair_secret());
        assert!(!shown.contains("170") && !shown.contains("aa"), "{shown}");
    }
}
