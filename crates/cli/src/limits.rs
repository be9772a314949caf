//! How large a set of the other party may be.
//!
//! Only the other party knows its size, and memory and time are planned by what it says.

use psijoin::Role;

use crate::{exit::Failure, humanize, memory};

/// Memory that a run is given for each key of the other party. The protocols that `auto` takes for
/// rows of large sets take 93 to 125 bytes (docs/performance.md); the rest is for other memory that
/// grows.
const BYTES_PER_KEY: u64 = 256;

/// A receiver's set this many times as large as the sender's is worth a warning.
const CURIOUS: u64 = 20;

/// The most keys that the other party may have.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MaxPeerKeys {
    /// As the user said.
    Said(u64),
    /// As many as there is memory for.
    ByMemory,
}

impl MaxPeerKeys {
    /// Checks what the other party said, where this one has `own` keys. A set that is no larger
    /// than its own is never refused.
    ///
    /// # Errors
    /// [`Failure::TooManyPeerKeys`] or [`Failure::NoRoomForPeerKeys`].
    pub(crate) fn check(self, own: u64, theirs: u64) -> Result<(), Failure> {
        match self {
            Self::Said(most) if theirs > most => Err(Failure::TooManyPeerKeys { theirs, most }),
            Self::ByMemory if theirs > own => {
                let most = memory::available_bytes().map_or(u64::MAX, |room| room / BYTES_PER_KEY);
                match theirs > most {
                    true => Err(Failure::NoRoomForPeerKeys { theirs, most }),
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

/// What a party in this role should think about, given the sizes of both sets.
pub(crate) fn warning(role: Role, own: u64, theirs: u64) -> Option<String> {
    let is_curious = role == Role::Sender && own > 0 && theirs / own >= CURIOUS;
    is_curious.then(|| {
        format!(
            "WARNING: the receiver has {} keys, {} times as many as you: a receiver that puts in every \
             key it can think of (all telephone numbers, say) learns which of them you have. \
             --max-peer-keys N refuses larger sets.",
            humanize::count(theirs),
            humanize::count(theirs / own),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Code;

    #[test]
    fn what_is_said_counts_and_else_the_memory() {
        let said = MaxPeerKeys::Said(100);
        assert!(said.check(0, 100).is_ok());
        let refused = said.check(1000, 101).unwrap_err();
        assert_eq!(refused.exit_code(), Code::Policy);
        assert!(MaxPeerKeys::ByMemory.check(10, 1000).is_ok());
        assert!(MaxPeerKeys::ByMemory.check(u64::MAX, u64::MAX).is_ok());
        if memory::available_bytes().is_some() {
            assert!(MaxPeerKeys::ByMemory.check(10, u64::MAX).is_err());
        }
    }

    #[test]
    fn only_a_sender_with_far_fewer_keys_is_warned() {
        assert!(warning(Role::Sender, 10, 200).is_some());
        for (role, own, theirs) in [
            (Role::Sender, 10, 199),
            (Role::Sender, 0, 1000),
            (Role::Receiver, 10, 200),
        ] {
            assert!(warning(role, own, theirs).is_none());
        }
    }
}
