//! A public seed that both parties know and neither controls.
//!
//! Each party draws a [`Share`], and shows a commitment to it before it sees the other's share. So
//! at least one share is uniform and independent of the other, and so is the seed. A party that
//! dislikes the result can only end the session.

use crate::{Channel, Error};

/// Bytes of a share, and of the commitment to it.
pub const SHARE_BYTES: usize = 32;

/// Public randomness to which both parties contributed. It is not secret between them.
///
/// Neither party may be able to choose it, or to know it before both have fixed their sets. So it
/// comes only from an agreement: [`JointSeed::agree`], or the caller's own exchange of [`Share`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JointSeed([u8; 32]);

impl JointSeed {
    /// Draws a seed with the peer, which calls this too, with the other value of `first`. Both must
    /// have fixed their sets before. Two messages of 32 bytes each way.
    ///
    /// # Errors
    /// If the channel breaks, the peer opens another share than it committed to
    /// ([`Error::Malformed`]), or the operating system gives no randomness ([`Error::Io`]).
    pub fn agree(channel: &mut Channel, first: bool) -> Result<Self, Error> {
        let ours = Share::draw(first)?;
        let their_commitment = swap(channel, ours.commitment())?;
        let theirs = swap(channel, *ours.reveal())?;
        let theirs = Revealed {
            commitment: &their_commitment,
            share: &theirs,
        };
        ours.combine(
            theirs,
            &Transcript {
                purpose: "psijoin v1 joint seed",
                opening: &[],
                said: [&[]; 2],
                derived: &[],
            },
        )
    }

    /// Returns a seed that anybody may know beforehand. For tests and benches: with a seed that a
    /// party could know before it fixed its set, or choose, no protocol is secure.
    pub fn insecure_fixed(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns a seed that both parties agreed on before, as this party kept it, to resume a
    /// session under it. The sets must be those that were fixed then.
    pub fn kept(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns what to keep of it. Whoever has it can test guesses of items against their digests.
    pub fn to_kept(&self) -> [u8; 32] {
        self.0
    }

    /// Returns public randomness for one purpose.
    pub fn key(&self, purpose: &str) -> [u8; 32] {
        blake3::derive_key(purpose, &self.0)
    }

    /// Returns the seed of one part of a session.
    #[must_use]
    pub fn part(&self, part: u32) -> Self {
        Self(self.key_with("psijoin 2026 part of a session", &part.to_le_bytes()))
    }

    /// Returns the first half of [`key`](Self::key): enough for AES.
    pub fn short_key(&self, purpose: &str) -> [u8; 16] {
        let key = self.key(purpose);
        std::array::from_fn(|i| key[i])
    }

    /// Returns public randomness for one purpose that also depends on `nonce`, which a party drew
    /// after the seed.
    pub fn key_with(&self, purpose: &str, nonce: &[u8]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(purpose);
        hasher.update(&self.0).update(nonce).finalize().into()
    }
}

fn swap(channel: &mut Channel, ours: [u8; SHARE_BYTES]) -> Result<[u8; SHARE_BYTES], Error> {
    let mut theirs = [0; SHARE_BYTES];
    channel.exchange(
        |outbound| outbound.send(&ours),
        |inbound| inbound.recv(&mut theirs),
    )?;
    Ok(theirs)
}

/// A party's share of a seed, which the peer must not see before it has shown its commitment.
#[derive(Clone)]
pub struct Share {
    bytes: [u8; SHARE_BYTES],
    first: bool,
}

impl Share {
    /// Returns a uniform share, for the first party or the second.
    ///
    /// # Errors
    /// If the operating system gives no randomness.
    pub fn draw(first: bool) -> Result<Self, Error> {
        let mut bytes = [0; SHARE_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|_| std::io::Error::other("the operating system gives no randomness"))?;
        Ok(Self { bytes, first })
    }

    /// Returns what the peer sees first. A share has 256 uniform bits, which hide it without
    /// further randomness; the party's number keeps the peer from repeating it.
    pub fn commitment(&self) -> [u8; SHARE_BYTES] {
        commitment(self.first, &self.bytes)
    }

    /// Returns the share, to be sent once the peer's commitment is known.
    pub fn reveal(&self) -> &[u8; SHARE_BYTES] {
        &self.bytes
    }

    /// Returns the seed, from the peer's share and what was said before: a hash of the transcript's
    /// opening, what the first party said and its share, the same of the second, and what both
    /// derived.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the peer's share is not the one that it committed to.
    pub fn combine(
        self,
        theirs: Revealed<'_>,
        transcript: &Transcript<'_>,
    ) -> Result<JointSeed, Error> {
        if commitment(!self.first, theirs.share) != *theirs.commitment {
            return Err(Error::Malformed(
                "its share of the seed is not the one that it committed to",
            ));
        }
        let [first, second] = match self.first {
            true => [&self.bytes, theirs.share],
            false => [theirs.share, &self.bytes],
        };
        let [said_first, said_second] = transcript.said;
        let mut hasher = blake3::Hasher::new_derive_key(transcript.purpose);
        for part in [
            transcript.opening,
            said_first,
            first,
            said_second,
            second,
            transcript.derived,
        ] {
            hasher.update(part);
        }
        Ok(JointSeed(hasher.finalize().into()))
    }
}

/// The peer's messages: first the commitment, then the share.
#[derive(Debug, Clone, Copy)]
pub struct Revealed<'a> {
    /// The commitment to the share.
    pub commitment: &'a [u8; SHARE_BYTES],
    /// The share.
    pub share: &'a [u8; SHARE_BYTES],
}

/// The further input of a seed's hash, so that two sessions that differ in it have different seeds.
/// Both parties know the length of each part.
#[derive(Debug, Clone, Copy)]
pub struct Transcript<'a> {
    /// The purpose of the seed.
    pub purpose: &'a str,
    /// The opening messages of both.
    pub opening: &'a [u8],
    /// The messages of the first party along with its commitment, and of the second.
    pub said: [&'a [u8]; 2],
    /// The bytes that both derived from that.
    pub derived: &'a [u8],
}

fn commitment(first: bool, share: &[u8; SHARE_BYTES]) -> [u8; SHARE_BYTES] {
    let mut hasher = blake3::Hasher::new_derive_key("psijoin v1 handshake: commitment");
    hasher.update(&[1 + u8::from(!first)]).update(share);
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::memory;

    #[test]
    fn both_get_the_same_and_something_else_every_time() {
        let agree = || {
            let (mut left, mut right) = memory::pair();
            thread::scope(|scope| {
                let left = scope.spawn(move || JointSeed::agree(&mut left, true));
                let right = JointSeed::agree(&mut right, false).unwrap();
                (left.join().unwrap().unwrap(), right)
            })
        };
        let [(a, b), (c, _)] = [agree(), agree()];
        assert_eq!(a, b);
        assert_ne!(a, c);
        assert_ne!(a.key("one"), a.key("another"));
        assert_eq!(a.short_key("one"), a.key("one")[..16]);
        assert_eq!(a.key_with("one", &[]), a.key("one"));
        assert_ne!(a.key_with("one", &[1]), a.key_with("one", &[2]));
    }

    #[test]
    fn a_party_cannot_change_its_share_or_repeat_the_others() {
        let transcript = Transcript {
            purpose: "test",
            opening: &[],
            said: [&[]; 2],
            derived: &[],
        };
        let theirs = Share::draw(false).unwrap();
        let combine = |commitment: [u8; SHARE_BYTES], share: [u8; SHARE_BYTES]| {
            let revealed = Revealed {
                commitment: &commitment,
                share: &share,
            };
            let ours = Share {
                bytes: [7; SHARE_BYTES],
                first: true,
            };
            ours.combine(revealed, &transcript)
        };
        assert!(combine(theirs.commitment(), *theirs.reveal()).is_ok());
        let mut other = *theirs.reveal();
        other[31] ^= 1;
        assert!(matches!(
            combine(theirs.commitment(), other),
            Err(Error::Malformed(_))
        ));
        // Our own commitment and share, sent back.
        let ours = Share {
            bytes: [7; SHARE_BYTES],
            first: true,
        };
        let repeated = combine(ours.commitment(), *ours.reveal());
        assert!(matches!(repeated, Err(Error::Malformed(_))));
    }
}
