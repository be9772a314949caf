//! The facts that are kept of a peer.

use std::sync::Arc;

use psijoin_transport::{
    Fingerprint, Identity, InvitationKey, PairSecret, Pin, PublicKey, Security,
    rendezvous::{self, Token},
};

use crate::{Book, Name, Place, book::Doorway};

/// The time for which an invitation is remembered after its end, and after it was used, so that
/// whoever comes with it later is told: a week.
const REMEMBERED_SECONDS: u64 = 7 * 24 * 3600;

/// A party that the user knows by name.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Peer {
    /// Its key; nothing while it was invited and has not come yet.
    pub key: Option<PublicKey>,
    /// The time since which that is pinned; of an invitation, at which it was made. In seconds
    /// since 1970, as all times.
    pub since: u64,
    /// `true` if this party has invited it, and `false` if it has invited this party. That is kept
    /// beyond the invitation, as it settles the parts of both where both go to meet.
    pub was_invited: bool,
    /// The secret that both have from their first session.
    pub pair_secret: Option<PairSecret>,
    /// The place where it is met, if nothing else is said.
    pub place: Option<Place>,
    /// The keys that it has replaced, which still count for a while.
    pub replaced: Vec<Replaced>,
    /// The invitation by which both got to know each other, as long as it matters.
    pub invitation: Option<Invitation>,
}

/// A key that a peer has replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced {
    /// The key.
    pub key: Fingerprint,
    /// The end of the time for which it still counts.
    pub until: u64,
}

/// An invitation, as it is kept.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Invitation {
    /// The side that this party has in it.
    pub side: Side,
    /// The key of its secret.
    pub key: InvitationKey,
    /// Its end.
    pub ends: u64,
    /// Whether the inviter compares fingerprints before it pins.
    pub confirmation: Confirmation,
    /// Its first use.
    pub used: Option<Use>,
    /// The last one who came with it after that, or before the fingerprint was confirmed.
    pub turned_away: Option<Use>,
}

/// The sides of an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// This party has invited the peer.
    Inviter,
    /// The peer has invited this party.
    Guest,
}

/// The comparison of a guest's fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// Who has the link is the guest.
    NotNeeded,
    /// The inviter compares the fingerprint first, and has not done so yet.
    Needed,
    /// The guest has this one, as the inviter knows from elsewhere.
    Given(Fingerprint),
}

/// The use of an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// The key that came with it.
    pub by: Fingerprint,
    /// The time.
    pub when: u64,
}

/// A text about what is kept of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It was invited, and has not come yet.
    Invited,
    /// Its invitation was accepted, and both have not met yet.
    Accepted,
    /// The invitation is over, and it did not come.
    Over,
    /// Both have met.
    Met,
}

impl Peer {
    /// Returns the fingerprint of its key, if that is known.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.key.as_ref().map(PublicKey::fingerprint)
    }

    /// Returns how far both have got to know each other.
    pub fn kept(&self, now: u64) -> Kept {
        match (&self.key, &self.pair_secret, &self.invitation) {
            (_, Some(_), _) => Kept::Met,
            (_, None, Some(invitation)) if invitation.ends < now => Kept::Over,
            (None, ..) => Kept::Invited,
            (Some(_), None, Some(invitation)) if invitation.side == Side::Guest => Kept::Accepted,
            (Some(_), None, _) => Kept::Met,
        }
    }

    /// Returns whether a party with this key is the peer, at this time.
    pub fn has_key(&self, fingerprint: Fingerprint, now: u64) -> bool {
        let counts = |pin: &Pin| pin.until.is_none_or(|until| now <= until);
        let pins = self.pins();
        let mut pins = pins.iter().filter(|pin| counts(pin));
        pins.any(|pin| pin.fingerprint == fingerprint)
    }

    /// Returns the keys that it may have: its own first, then those that it has replaced.
    pub fn pins(&self) -> Vec<Pin> {
        let replaced = self.replaced.iter().map(|replaced| Pin {
            fingerprint: replaced.key,
            until: Some(replaced.until),
        });
        let own = self.fingerprint().map(Pin::from);
        own.into_iter().chain(replaced).collect()
    }

    /// Returns the names under which both meet where both go: that of the secret of their first
    /// session, and that of the invitation. The other one may not know the former; or it has not
    /// noticed yet that this one has left that session, and looks where that began.
    pub fn tokens(&self) -> Vec<Token> {
        let of_invitation = self.invitation.as_ref();
        let of_invitation = of_invitation.map(|invitation| invitation.key.pair_secret());
        let secrets = self.pair_secret.iter().cloned().chain(of_invitation);
        let tokens = secrets.map(|secret| Token::of_meeting(secret.as_bytes()));
        tokens.collect()
    }

    /// Returns the part of this party where both go to meet: an inviter lets its guest in, since it
    /// is the one that judges. It does not follow from the keys, which may change on one side
    /// first.
    pub fn part(&self) -> rendezvous::Side {
        match self.was_invited {
            true => rendezvous::Side::Server,
            false => rendezvous::Side::Client,
        }
    }

    /// Returns how this party, with that identity, meets the peer of this name in this book.
    pub fn security(&self, identity: &Identity, (book, name): (&Book, &Name)) -> Security {
        let identity = identity.clone();
        match (&self.invitation, self.key) {
            (Some(invitation), _) if invitation.side == Side::Inviter => Security::Inviting {
                identity,
                key: invitation.key.clone(),
                known: self.pins(),
                host: Arc::new(Doorway::new(book.clone(), name.clone())),
            },
            (Some(invitation), Some(key)) if self.pair_secret.is_none() => Security::Invited {
                identity,
                peer: key.fingerprint(),
                key: invitation.key.clone(),
            },
            _ => Security::AnyOf {
                identity,
                peers: self.pins(),
            },
        }
    }

    /// Forgets what does not count any more at this time.
    pub(crate) fn tidy(&mut self, now: u64) {
        self.replaced.retain(|replaced| now <= replaced.until);
        let is_over = |invitation: &Invitation| {
            let used = invitation.used.map_or(0, |used| used.when);
            let last = invitation.ends.max(used).saturating_add(REMEMBERED_SECONDS);
            last < now
        };
        // One that nobody has used stays, so that the user sees it.
        if self.kept(now) == Kept::Met && self.invitation.as_ref().is_some_and(is_over) {
            self.invitation = None;
        }
    }
}
