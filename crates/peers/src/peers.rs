//! All peers, and the steps by which they get to know each other.

use std::collections::{BTreeMap, btree_map::Entry};

use psijoin_transport::{
    Connection, Fingerprint, Identity, PairSecret, PublicKey, Succeeded,
    endpoint::Address,
    invitation::{Newcomer, SECRET_BYTES, Verdict},
};
use zeroize::Zeroizing;

use crate::{Confirmation, Error, Invitation, Link, Name, Peer, Place, Replaced, Side, Use, now};

/// By how much the clocks of an inviter and a guest may differ. The inviter's decides, so a guest
/// accepts what may still be good.
const CLOCKS_SECONDS: u64 = 2 * 3600;

/// The parties that a user knows by name.
#[derive(Debug, Clone, Default)]
pub struct Peers {
    by_name: BTreeMap<Name, Peer>,
}

/// An invitation, as it is wanted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Wanted {
    /// Its end, in seconds since 1970.
    pub ends: u64,
    /// The place where this party meets the guest.
    pub place: Place,
    /// The places that the guest is told, the best one first: relays, and addresses where this
    /// party can be reached.
    pub told: Vec<Place>,
    /// `true` if the fingerprint of whoever comes is to be compared first.
    pub confirm: bool,
    /// The name that this party suggests for itself.
    pub own_name: Option<Name>,
}

impl Wanted {
    /// Returns an invitation until this time, to meet at this party, which the guest dials at an
    /// address. This party listens at its port by all ways into this machine, as the address may be
    /// that of a router before it.
    pub fn here(ends: u64, dialled: Address) -> Self {
        let (_, port) = dialled
            .as_str()
            .rsplit_once(':')
            .expect("an address has a port");
        let everywhere = format!("0.0.0.0:{port}").parse();
        Self {
            told: vec![Place::Connect(dialled)],
            ..Self::until(
                ends,
                Place::Listen(everywhere.expect("a number with a port")),
            )
        }
    }

    /// Returns an invitation until this time, to meet at a place that the guest is told.
    pub fn until(ends: u64, place: Place) -> Self {
        Self {
            ends,
            told: vec![place.clone()],
            place,
            confirm: false,
            own_name: None,
        }
    }
}

/// The facts about a session that concern its parties' acquaintance.
#[derive(Debug)]
pub struct Met<'a> {
    /// The key with which the peer came.
    pub key: PublicKey,
    /// The secret that both have from this session.
    pub pair_secret: &'a PairSecret,
    /// The pinned key that the peer has replaced by that one, if it has.
    pub succeeded: Option<Succeeded>,
    /// This party has proved an invitation of the peer's.
    pub is_by_invitation: bool,
}

impl<'a> Met<'a> {
    /// Returns those of a connection, if it has some: one in TLS, to an Ed25519 key.
    pub fn of(connection: &'a Connection) -> Option<Self> {
        Some(Self {
            key: connection.peer_key()?,
            pair_secret: connection.pair_secret()?,
            succeeded: connection.succeeded(),
            is_by_invitation: connection.is_by_invitation(),
        })
    }
}

/// The news about a peer after a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum News {
    /// Both have met for the first time, and know each other from now on.
    Acquainted {
        /// The peer's fingerprint.
        fingerprint: Fingerprint,
    },
    /// The peer has replaced its key.
    Replaced {
        /// The key that it had.
        old: Fingerprint,
        /// The key that is pinned now.
        new: Fingerprint,
        /// The end of the time for which the old one counts, too.
        until: u64,
    },
}

impl Peers {
    /// Returns the peer of this name.
    ///
    /// # Errors
    /// [`Error::Unknown`].
    pub fn named(&self, name: &Name) -> Result<&Peer, Error> {
        self.by_name.get(name).ok_or_else(|| self.unknown(name))
    }

    fn named_mut(&mut self, name: &Name) -> Result<&mut Peer, Error> {
        match self.by_name.contains_key(name) {
            true => Ok(self.by_name.get_mut(name).expect("it is there")),
            false => Err(self.unknown(name)),
        }
    }

    fn unknown(&self, name: &Name) -> Error {
        Error::Unknown {
            name: name.clone(),
            names: self.by_name.keys().cloned().collect(),
        }
    }

    /// Returns all of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Peer)> {
        self.by_name.iter()
    }

    /// Returns the name of the party with this key, if it has one.
    pub fn name_of(&self, fingerprint: Fingerprint) -> Option<&Name> {
        let now = now();
        let mut found = self.iter();
        let found = found.find(|(_, peer)| peer.has_key(fingerprint, now));
        found.map(|(name, _)| name)
    }

    /// Invites somebody under a name, and returns the link. An invitation of that name that nobody
    /// has used is replaced by this one.
    ///
    /// # Errors
    /// [`Error::Taken`], [`Error::NoKey`], [`Error::TooLong`] and [`Error::Randomness`].
    pub fn invite(
        &mut self,
        name: Name,
        identity: &Identity,
        wanted: Wanted,
    ) -> Result<Link, Error> {
        let key = identity.public_key().ok_or(Error::NoKey)?;
        let ends = u32::try_from(wanted.ends).map_err(|_| Error::TooLong)?;
        let mut secret = Zeroizing::new([0; SECRET_BYTES]);
        getrandom::fill(&mut *secret).map_err(|_| Error::Randomness)?;
        let link = Link::new(key, secret, ends, wanted.told, wanted.own_name);
        let invited = Peer {
            since: now(),
            was_invited: true,
            place: Some(wanted.place),
            invitation: Some(Invitation {
                side: Side::Inviter,
                key: link.invitation_key(),
                ends: wanted.ends,
                confirmation: match wanted.confirm {
                    true => Confirmation::Needed,
                    false => Confirmation::NotNeeded,
                },
                used: None,
                turned_away: None,
            }),
            ..Peer::default()
        };
        match self.by_name.entry(name) {
            Entry::Vacant(free) => {
                free.insert(invited);
            }
            Entry::Occupied(mut pending) if pending.get().key.is_none() => {
                pending.insert(invited);
            }
            Entry::Occupied(taken) => return Err(Error::Taken(taken.key().clone())),
        }
        Ok(link)
    }

    /// Accepts an invitation: pins the inviter's key under a name. Accepting it once more changes
    /// nothing.
    ///
    /// # Errors
    /// [`Error::Over`], [`Error::Taken`], and [`Error::Known`].
    pub fn accept(&mut self, name: Name, link: &Link) -> Result<(), Error> {
        let now = now();
        if link.ends().saturating_add(CLOCKS_SECONDS) < now {
            return Err(Error::Over(link.ends()));
        }
        let fingerprint = link.fingerprint();
        if let Some(known) = self.name_of(fingerprint)
            && (*known != name || self.named(known)?.pair_secret.is_some())
        {
            return Err(Error::Known {
                name: known.clone(),
                fingerprint,
            });
        }
        let accepted = Peer {
            key: Some(link.key()),
            since: now,
            place: link.places().first().cloned(),
            invitation: Some(Invitation {
                side: Side::Guest,
                key: link.invitation_key(),
                ends: link.ends(),
                confirmation: Confirmation::NotNeeded,
                used: None,
                turned_away: None,
            }),
            ..Peer::default()
        };
        match self.by_name.entry(name) {
            Entry::Occupied(taken) if taken.get().fingerprint() != Some(fingerprint) => {
                return Err(Error::Taken(taken.key().clone()));
            }
            Entry::Occupied(mut again) => {
                again.insert(accepted);
            }
            Entry::Vacant(free) => {
                free.insert(accepted);
            }
        }
        Ok(())
    }

    /// Notes that the guest of this name has this fingerprint, as the user knows from elsewhere.
    ///
    /// # Errors
    /// [`Error::Unknown`] and [`Error::NothingToConfirm`].
    pub fn confirm(&mut self, name: &Name, fingerprint: Fingerprint) -> Result<(), Error> {
        let peer = self.named_mut(name)?;
        match (&peer.key, &mut peer.invitation) {
            (None, Some(invitation)) if invitation.confirmation != Confirmation::NotNeeded => {
                invitation.confirmation = Confirmation::Given(fingerprint);
                Ok(())
            }
            _ => Err(Error::NothingToConfirm(name.clone())),
        }
    }

    /// Meets a peer at another place from now on.
    ///
    /// # Errors
    /// [`Error::Unknown`].
    pub fn meet_at(&mut self, name: &Name, place: Place) -> Result<(), Error> {
        self.named_mut(name)?.place = Some(place);
        Ok(())
    }

    /// Gives a peer another name.
    ///
    /// # Errors
    /// [`Error::Unknown`] and [`Error::Taken`].
    pub fn rename(&mut self, name: &Name, new: Name) -> Result<(), Error> {
        self.named(name)?;
        if *name != new && self.by_name.contains_key(&new) {
            return Err(Error::Taken(new));
        }
        if let Some(peer) = self.by_name.remove(name) {
            self.by_name.insert(new, peer);
        }
        Ok(())
    }

    /// Forgets a peer, with its key and its invitation, which nobody can use any more.
    ///
    /// # Errors
    /// [`Error::Unknown`].
    pub fn remove(&mut self, name: &Name) -> Result<Peer, Error> {
        let removed = self.by_name.remove(name);
        removed.ok_or_else(|| self.unknown(name))
    }

    /// Judges somebody who has proved the invitation of this name, at this time. Who is welcome is
    /// pinned.
    pub fn judge(&mut self, name: &Name, newcomer: &Newcomer, now: u64) -> Verdict {
        let by = newcomer.key.fingerprint();
        let this = Use { by, when: now };
        let Some(peer) = self.by_name.get_mut(name) else {
            // It was removed while this party waited.
            return Verdict::Expired { at: now };
        };
        let is_known = peer.has_key(by, now);
        let Some(invitation) = peer
            .invitation
            .as_mut()
            .filter(|it| it.side == Side::Inviter)
        else {
            return match is_known {
                true => Verdict::Welcome,
                false => Verdict::Expired { at: now },
            };
        };
        let refused = match (invitation.used, invitation.confirmation) {
            (Some(_), _) if is_known => None,
            (Some(Use { by, when }), _) => Some(Verdict::Used { when, by }),
            (None, _) if invitation.ends < now => Some(Verdict::Expired {
                at: invitation.ends,
            }),
            (None, Confirmation::Needed) => Some(Verdict::Unconfirmed),
            (None, Confirmation::Given(confirmed)) if confirmed != by => Some(Verdict::Another),
            (None, Confirmation::Given(_) | Confirmation::NotNeeded) => {
                invitation.used = Some(this);
                peer.key = Some(newcomer.key);
                peer.since = now;
                None
            }
        };
        match refused {
            Some(verdict) => {
                invitation.turned_away = Some(this);
                verdict
            }
            None => {
                peer.pair_secret = Some(newcomer.pair_secret.clone());
                Verdict::Welcome
            }
        }
    }

    /// Notes a session with the peer of this name, and returns the news about it.
    ///
    /// # Errors
    /// [`Error::Unknown`].
    pub fn met(&mut self, name: &Name, met: &Met<'_>, now: u64) -> Result<Vec<News>, Error> {
        let peer = self.named_mut(name)?;
        let mut news = Vec::new();
        let fingerprint = met.key.fingerprint();
        if let Some(Succeeded { old, until, .. }) = met.succeeded
            && peer.fingerprint() == Some(old)
        {
            peer.replaced.push(Replaced { key: old, until });
            peer.key = Some(met.key);
            news.push(News::Replaced {
                old,
                new: fingerprint,
                until,
            });
        }
        let is_guest = matches!(&peer.invitation, Some(it) if it.side == Side::Guest);
        // The inviter has kept the secret of this very session when it judged the guest.
        let is_kept = |kept: &PairSecret| is_same(kept, met.pair_secret);
        let is_first = is_guest && peer.pair_secret.is_none();
        if is_first || peer.pair_secret.as_ref().is_some_and(is_kept) {
            peer.since = now;
            news.push(News::Acquainted { fingerprint });
        }
        // Whenever it is proved, the inviter keeps the secret of that session.
        if met.is_by_invitation || peer.pair_secret.is_none() {
            peer.pair_secret = Some(met.pair_secret.clone());
        }
        Ok(news)
    }

    /// Forgets what does not count any more at this time.
    pub(crate) fn tidy(&mut self, now: u64) {
        for peer in self.by_name.values_mut() {
            peer.tidy(now);
        }
    }
}

/// Compares two secrets in constant time.
fn is_same(a: &PairSecret, b: &PairSecret) -> bool {
    blake3::Hash::from_bytes(*a.as_bytes()) == blake3::Hash::from_bytes(*b.as_bytes())
}

impl FromIterator<(Name, Peer)> for Peers {
    fn from_iter<I: IntoIterator<Item = (Name, Peer)>>(peers: I) -> Self {
        Self {
            by_name: peers.into_iter().collect(),
        }
    }
}
