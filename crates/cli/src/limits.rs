//! How large a set of the other party may be.
//!
//! Only the other party knows its size, and memory and time are planned by what it says.

use psijoin::{OutputKind, Plan, Role};

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
    /// Checks what the other party said, as soon as it has.
    ///
    /// # Errors
    /// [`Failure::TooManyPeerKeys`].
    pub(crate) fn check(self, theirs: u64) -> Result<(), Failure> {
        match self {
            Self::Said(most) if theirs > most => Err(Failure::TooManyPeerKeys { theirs, most }),
            _ => Ok(()),
        }
    }

    /// Checks that a party in this role has memory for what follows from what the other one said. A set that is no larger
    /// than its own is never refused.
    ///
    /// # Errors
    /// [`Failure::NoRoomForPeerKeys`].
    pub(crate) fn check_memory(self, role: Role, plan: &Plan) -> Result<(), Failure> {
        let sizes = plan.request().sizes;
        let (own, theirs) = (role.items(sizes), role.other().items(sizes));
        let most = match self {
            Self::ByMemory if theirs > own && grows_with_the_peers_set(plan) => {
                memory::available_bytes().map_or(u64::MAX, |room| room / BYTES_PER_KEY)
            }
            _ => u64::MAX,
        };
        match theirs > most {
            true => Err(Failure::NoRoomForPeerKeys { theirs, most }),
            false => Ok(()),
        }
    }
}

/// Whether a party takes more memory if the other one has more keys. In parts, it takes that of a part whatever the sizes
/// are, unless shares of all items are kept until the end.
fn grows_with_the_peers_set(plan: &Plan) -> bool {
    plan.parts()
        .is_none_or(|parts| matches!(parts.plan.request().output, OutputKind::Shares(_)))
}

/// What a party in this role should think about, given the sizes of both sets.
pub(crate) fn warning(role: Role, own: u64, theirs: u64) -> Option<String> {
    let is_curious = role == Role::Sender && own > 0 && theirs / own >= CURIOUS;
    is_curious.then(|| {
        format!(
            "the receiver has {} keys, {} times as many as you: a receiver that puts in every \
             key it can think of (all telephone numbers, say) learns which of them you have. \
             --max-peer-keys N refuses larger sets.",
            humanize::count(theirs),
            humanize::count(theirs / own),
        )
    })
}

#[cfg(test)]
mod tests {
    use psijoin::{Columns, Request, Sizes, registry};

    use super::{MaxPeerKeys::ByMemory, *};
    use crate::exit::Code;

    #[test]
    fn what_is_said_counts_and_else_the_memory() {
        let said = MaxPeerKeys::Said(100);
        assert!(said.check(100).is_ok());
        let refused = said.check(101).unwrap_err();
        assert_eq!(refused.exit_code(), Code::Policy);
        assert!(MaxPeerKeys::ByMemory.check(u64::MAX).is_ok());
    }

    /// No machine has memory for the largest set at once.
    #[test]
    fn memory_is_for_what_grows_with_the_other_set() {
        let planned = |sizes: [u64; 2], output| {
            let request = Request::rows(sizes[0], sizes[1]).unwrap().output(output);
            psijoin::plan(registry::find("rr22-circuit").unwrap(), &request).unwrap()
        };
        let check =
            |limit: MaxPeerKeys, plan: &Plan| limit.check_memory(Role::Sender, plan).is_ok();
        let largest = [1, Sizes::MAX_ITEMS];
        assert!(check(ByMemory, &planned(largest, OutputKind::Count)));
        let shares = OutputKind::Shares(Columns::default());
        let of_all = planned(largest, shares.clone());
        assert!(check(MaxPeerKeys::Said(1), &of_all));
        assert_eq!(
            check(ByMemory, &of_all),
            memory::available_bytes().is_none()
        );
        assert!(check(ByMemory, &planned([Sizes::MAX_ITEMS; 2], shares)));
        assert!(check(ByMemory, &planned([10, 1000], OutputKind::Count)));
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
