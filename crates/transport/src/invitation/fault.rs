//! The reasons that an invitation does not bring two parties together.

use jiff::Timestamp;

use super::Verdict;
use crate::Fingerprint;

/// The reason that an invitation did not bring two parties together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvitationFault {
    /// At the guest: another key has used the invitation.
    #[error(
        "the other party's invitation was used before, on {} by {by}, and this side is {ours}: if \
         that was not you either, somebody else has had the link, and the other party has to know; \
         ask for a new one", date(*when)
    )]
    Used {
        /// At this time, in seconds since 1970.
        when: u64,
        /// The other key.
        by: Fingerprint,
        /// That of this side.
        ours: Fingerprint,
    },

    /// At the guest: the invitation is over.
    #[error("the other party's invitation was good until {}: ask for a new one", date(*at))]
    Expired {
        /// Since this time, in seconds since 1970.
        at: u64,
    },

    /// At the guest: the inviter compares fingerprints first.
    #[error(
        "the other party compares fingerprints before it lets anybody in: tell it yours, {ours}, by \
         telephone; when it has confirmed that, meet again"
    )]
    Unconfirmed {
        /// That of this side.
        ours: Fingerprint,
    },

    /// At the guest: the inviter has confirmed another fingerprint.
    #[error(
        "the other party has confirmed another fingerprint than yours, {ours}: compare them again \
         by telephone, and ask for a new invitation"
    )]
    Another {
        /// That of this side.
        ours: Fingerprint,
    },

    /// At the guest: the inviter could not write.
    #[error(
        "the other party could not keep this side's key, for a reason that its own message tells: \
         the invitation is as good as before"
    )]
    NotKept,

    /// At the guest: the inviter does not know this invitation.
    #[error(
        "the other party does not know this invitation: it has been withdrawn or replaced, or a \
         part of the link was changed on its way; ask for a new one"
    )]
    Unknown,

    /// At the guest: the inviter answers, and does not know the secret.
    #[error(
        "the other party has the key of the invitation, and does not prove that it knows its secret: \
         somebody may have stolen that key; ask the other party, by telephone"
    )]
    Unproved,

    /// At a party that came without an invitation.
    #[error(
        "the other party waits for somebody whom it has invited, and this side did not show an \
         invitation: accept the link first, or ask for one"
    )]
    NotInvited,

    /// At the inviter: somebody came without the invitation.
    #[error(
        "somebody came as {who} without the invitation: the other party has to accept the link first"
    )]
    NotShown {
        /// The key that came.
        who: Fingerprint,
    },

    /// At the inviter: somebody came with another invitation.
    #[error(
        "somebody came as {who} with another invitation, or one that was changed on its way: send \
         the newest link again"
    )]
    Wrong {
        /// The key that came.
        who: Fingerprint,
    },

    /// At the inviter: somebody proved the invitation, and was not let in.
    #[error("somebody came as {who} with the invitation: {}", of_inviter(verdict))]
    TurnedAway {
        /// The key that came.
        who: Fingerprint,
        /// The reason.
        verdict: Verdict,
    },
}

impl InvitationFault {
    /// Returns what a verdict means to the guest that `ours` names, if it is not let in.
    pub(super) fn of_guest(verdict: Verdict, ours: Fingerprint) -> Option<Self> {
        Some(match verdict {
            Verdict::Welcome => return None,
            Verdict::Used { when, by } => Self::Used { when, by, ours },
            Verdict::Expired { at } => Self::Expired { at },
            Verdict::Unconfirmed => Self::Unconfirmed { ours },
            Verdict::Another => Self::Another { ours },
            Verdict::NotKept => Self::NotKept,
        })
    }
}

/// Returns what a verdict means to the inviter.
fn of_inviter(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Welcome => "it is the guest".to_owned(),
        Verdict::Used { when, by } => format!(
            "that was used on {} by {by}; one of the two is not whom you have invited: ask by \
             telephone which",
            date(*when)
        ),
        Verdict::Expired { at } => {
            format!("that was good until {}; make a new one", date(*at))
        }
        Verdict::Unconfirmed => {
            "compare this fingerprint with the guest's by telephone, and confirm it".to_owned()
        }
        Verdict::Another => "you have confirmed another fingerprint".to_owned(),
        Verdict::NotKept => "its key could not be kept".to_owned(),
    }
}

/// Returns a time in seconds since 1970, for people.
pub(crate) fn date(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok();
    let time = time.and_then(|seconds| Timestamp::from_second(seconds).ok());
    time.map_or_else(
        || "a day that no calendar has".to_owned(),
        |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(of: u8) -> Fingerprint {
        Fingerprint::of_public_key(&[of])
    }

    #[test]
    fn the_second_one_is_told_when_and_by_whom() {
        let (by, ours) = (fingerprint(1), fingerprint(2));
        let when = 1_795_000_000;
        let told = InvitationFault::Used { when, by, ours }.to_string();
        let verdict = Verdict::Used { when, by };
        let who = fingerprint(3);
        let inviter = InvitationFault::TurnedAway { who, verdict }.to_string();
        for text in [told, inviter] {
            assert!(text.contains("2026-11-18 11:06 UTC by psi1-"), "{text}");
            assert!(text.contains(&by.to_string()), "{text}");
        }
        assert_eq!(date(u64::MAX), "a day that no calendar has");
    }
}
