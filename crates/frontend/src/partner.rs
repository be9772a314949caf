//! The other party, as users name it: by fingerprints, or by a name in their [book](Book).

pub mod shown;

use std::{iter, path::Path, str::FromStr};

use psijoin_peers::{Book, Met, Name, NameError, News, Peer, Peers, Place, date, now};
use psijoin_printable::humanize;
use psijoin_session::Renewal;
use psijoin_transport::{
    Appointment, Connection, Endpoint, Fingerprint, Identity, Pin, Security,
    fingerprint::ParseError,
};

use crate::{Failure, Listener, meeting};

/// The other party, or one of several, as a user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// By its key.
    Fingerprint(Fingerprint),
    /// By the name that the user has given it.
    Name(Name),
}

/// The reason that a text names no party.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotNamed {
    /// It begins as a fingerprint does, and is none.
    #[error(transparent)]
    Fingerprint(#[from] ParseError),
    /// It is neither.
    #[error(transparent)]
    Name(#[from] NameError),
}

impl FromStr for Named {
    type Err = NotNamed;

    fn from_str(text: &str) -> Result<Self, NotNamed> {
        match text.parse() {
            Ok(fingerprint) => Ok(Self::Fingerprint(fingerprint)),
            Err(ParseError::Prefix) => Ok(Self::Name(text.parse()?)),
            Err(error) => Err(error.into()),
        }
    }
}

/// The other party, as this one meets it.
#[derive(Debug)]
pub struct Partner {
    /// Who both are.
    pub security: Security,
    /// Where both meet, if nothing else is said.
    pub place: Option<Place>,
    /// How both find each other where both go to meet. With nobody in particular there are none.
    pub appointments: Vec<Appointment>,
    /// By which name the user knows it, if it was called so.
    pub known_as: Option<KnownAs>,
}

/// The name by which a user knows a party.
#[derive(Debug, Clone)]
pub struct KnownAs {
    /// The file that tells it.
    pub book: Book,
    /// The name.
    pub name: Name,
}

impl Partner {
    /// Finds the party that is named so, or whichever of several comes, for the party with this
    /// identity.
    ///
    /// # Errors
    /// If a name is unknown, or its party may not be one of several; and if a party is this one.
    pub fn find(identity: &Identity, named: &[Named], book: &Book) -> Result<Self, Failure> {
        let partner = match named {
            [Named::Fingerprint(peer)] => Self {
                security: Security::PinnedTls {
                    identity: identity.clone(),
                    peer: *peer,
                },
                place: None,
                appointments: by_key(identity, *peer),
                known_as: None,
            },
            [Named::Name(name)] => {
                let peers = book.read()?;
                let peer = peers.named(name)?;
                Self {
                    security: peer.security(identity, (book, name)),
                    place: peer.place.clone(),
                    appointments: by_name(identity, peer),
                    known_as: Some(KnownAs {
                        book: book.clone(),
                        name: name.clone(),
                    }),
                }
            }
            several => Self::any_of(identity, several, &book.read()?)?,
        };
        partner.security.check()?;
        Ok(partner)
    }

    /// Finds whichever of several parties comes.
    fn any_of(identity: &Identity, named: &[Named], book: &Peers) -> Result<Self, Failure> {
        let (mut peers, mut appointments) = (Vec::new(), Vec::new());
        for one in named {
            match one {
                Named::Fingerprint(peer) => {
                    peers.push((*peer).into());
                    appointments.extend(by_key(identity, *peer));
                }
                Named::Name(name) => {
                    let peer = book.named(name)?;
                    peers.extend(known_pins(name, peer)?);
                    appointments.extend(by_name(identity, peer));
                }
            }
        }
        Ok(Self {
            security: Security::AnyOf {
                identity: identity.clone(),
                peers,
            },
            place: None,
            appointments,
            known_as: None,
        })
    }

    /// Makes a partner that may be anybody.
    pub fn anybody() -> Self {
        Self {
            security: Security::InsecurePlaintext,
            place: None,
            appointments: Vec::new(),
            known_as: None,
        }
    }

    /// Returns where this party goes to meet: where it was `said`, or else where both meet if
    /// nothing is said. `key` is the file of the access key of a relay.
    ///
    /// # Errors
    /// If both go there, and the other one is not known; if the key cannot be read, or is of no
    /// use there.
    pub fn endpoint(
        &self,
        said: Option<&Place>,
        key: Option<&Path>,
    ) -> Result<Option<Endpoint>, Failure> {
        let place = said.or(self.place.as_ref());
        let endpoint = place.map(|place| meeting::endpoint(place, &self.appointments, key));
        endpoint.transpose()
    }

    /// Returns what looks up how both know each other, once they have met.
    pub fn renewal(&self) -> Option<Renewal> {
        let identity = self.security.identity()?.clone();
        let KnownAs { book, name } = self.known_as.clone()?;
        Some(Renewal::new(move || {
            let peers = book.read().ok()?;
            let peer = peers.named(&name).ok()?;
            let security = peer.security(&identity, (&book, &name));
            Some((by_name(&identity, peer), security))
        }))
    }
}

/// Returns how a party with this identity finds one of which it knows the key only. That one may
/// know this one by a key that it has replaced. It is to hear of the new one, even if it is too
/// late.
fn by_key(identity: &Identity, peer: Fingerprint) -> Vec<Appointment> {
    let replaced = identity.successions().iter().rev();
    let replaced = replaced.map(|statement| statement.old.fingerprint());
    let own = iter::once(identity.fingerprint()).chain(replaced);
    own.map(|own| Appointment::of_strangers(own, peer))
        .collect()
}

/// Returns how a party with this identity finds one that it knows by name.
fn by_name(identity: &Identity, peer: &Peer) -> Vec<Appointment> {
    let side = peer.part();
    let tokens = peer.tokens().into_iter();
    let appointments: Vec<_> = tokens.map(|token| Appointment { token, side }).collect();
    match (appointments.is_empty(), peer.fingerprint()) {
        (true, Some(key)) => by_key(identity, key),
        _ => appointments,
    }
}

/// Returns the keys of a party that has shown its invitation, or was not invited.
fn known_pins(name: &Name, peer: &Peer) -> Result<Vec<Pin>, Failure> {
    match peer.pair_secret.is_some() || peer.invitation.is_none() {
        true => Ok(peer.pins()),
        false => Err(Failure::Usage(format!(
            "{name} is known by an invitation only, so the first session with it is with nobody else: \
             name it alone"
        ))),
    }
}

impl KnownAs {
    /// Keeps what a session's connection shows of the party, and tells the news.
    pub(crate) fn note(&self, connection: &Connection, listener: &dyn Listener) {
        let Some(met) = Met::of(connection) else {
            return;
        };
        let Self { book, name } = self;
        let noted = book.change(|peers| peers.met(name, &met, now()));
        match noted {
            Ok(news) => {
                for one in &news {
                    listener.insist(&told(name.as_str(), one));
                }
            }
            Err(error) => listener.warn(
                &format!("the facts about {name} could not be kept: {error}"),
                None,
            ),
        }
    }
}

/// Says that a party that is known by its key only has replaced that.
pub(crate) fn tell_replaced(connection: &Connection, listener: &dyn Listener) {
    if let (Some(succeeded), Some(key)) = (connection.succeeded(), connection.peer_key()) {
        let news = News::Replaced {
            old: succeeded.old,
            new: key.fingerprint(),
            until: succeeded.until,
        };
        listener.insist(&told("the other party", &news));
    }
}

/// Says which keys this party has replaced that others may still take it for.
pub(crate) fn tell_own(identity: &Identity, listener: &dyn Listener) {
    let now = now();
    let counting = (identity.successions().iter()).filter(|statement| now <= statement.until);
    let counting: Vec<_> = counting
        .map(|statement| {
            let until = date(statement.until);
            format!("{} until {until}", statement.old.fingerprint())
        })
        .collect();
    if !counting.is_empty() {
        listener.say(&format!(
            "your identity, {}, has replaced {}: whoever knows you by that takes the new one over",
            identity.fingerprint(),
            humanize::listed(&counting),
        ));
    }
}

/// Returns the news about a party in words.
fn told(name: &str, news: &News) -> String {
    match news {
        News::Acquainted { fingerprint } => format!(
            "{name} is {fingerprint}: from now on you know each other, and the invitation is used up"
        ),
        News::Replaced { old, new, until } => format!(
            "{name} has replaced its key: it is {new} from now on, as {old} has signed; that one counts \
             until {}",
            date(*until)
        ),
        // A later version of the book knows more.
        _ => format!("there is news about {name}"),
    }
}

#[cfg(test)]
mod tests {
    use psijoin_peers::Wanted;
    use psijoin_transport::rendezvous::Side;

    use super::*;

    #[test]
    fn a_text_names_a_party_by_its_key_or_its_name() {
        let fingerprint = Fingerprint::of_public_key(b"a public key 1");
        let parse = |text: &str| text.parse::<Named>();
        assert_eq!(
            parse(&fingerprint.to_string()),
            Ok(Named::Fingerprint(fingerprint))
        );
        assert_eq!(parse("bob"), Ok(Named::Name("bob".parse().unwrap())));
        assert!(matches!(
            parse("psi1-qcnk"),
            Err(NotNamed::Fingerprint(ParseError::Length(_)))
        ));
        assert!(matches!(
            parse("bob smith"),
            Err(NotNamed::Name(NameError::Character(' ')))
        ));
    }

    #[test]
    fn a_party_that_has_replaced_its_key_is_found_under_the_old_one_too() {
        let [ann, bob] = [(); 2].map(|()| Identity::generate().unwrap());
        let over = bob.replace(now() - 9, now() - 5).unwrap();
        let replaced = over.replace(now(), now() + 60).unwrap();
        let book = Book::in_folder("nowhere");
        let of = |own, peer: &Identity| {
            let named = [Named::Fingerprint(peer.fingerprint())];
            Partner::find(own, &named, &book).unwrap().appointments
        };
        for known in [&bob, &over, &replaced] {
            let [anns] = &*of(&ann, known) else {
                panic!("ann knows one key");
            };
            let meet = |bobs: &&Appointment| bobs.token == anns.token;
            let bobs = of(&replaced, &ann);
            let [bobs] = &bobs.iter().filter(meet).collect::<Vec<_>>()[..] else {
                panic!("they meet in one way");
            };
            assert_eq!(bobs.side, anns.side.other());
        }
    }

    #[test]
    fn parties_are_found_by_name_and_those_invited_only_stand_alone() {
        let folder = tempfile::tempdir().unwrap();
        let book = Book::in_folder(folder.path());
        let [ann, bob] = [(); 2].map(|()| Identity::generate().unwrap());
        let name: Name = "bob".parse().unwrap();
        let place = Place::Listen("0.0.0.0:7766".parse().unwrap());
        let wanted = Wanted::until(now() + 60, place);
        (book.change(|peers| peers.invite(name.clone(), &ann, wanted))).unwrap();
        let named = [Named::Name(name), Named::Fingerprint(bob.fingerprint())];
        let found = Partner::find(&ann, &named[..1], &book).unwrap();
        assert!(matches!(found.security, Security::Inviting { .. }));
        let endpoint = found.endpoint(None, None);
        assert!(matches!(endpoint, Ok(Some(Endpoint::Listen(_)))));
        let relay = Place::Relay("relay.example.org:7767".parse().unwrap());
        let Ok(Some(Endpoint::Relay(at))) = found.endpoint(Some(&relay), None) else {
            panic!("it was said");
        };
        let [appointment] = &*at.appointments else {
            panic!("that of the invitation is the only one");
        };
        assert_eq!(appointment.side, Side::Server);
        let found = Partner::find(&ann, &named[1..], &book).unwrap();
        assert_eq!(found.security.only_peer(), Some(bob.fingerprint()));
        let error = Partner::find(&ann, &named, &book).unwrap_err().to_string();
        assert!(error.contains("name it alone"), "{error}");
        let both = [
            bob.fingerprint(),
            Identity::generate().unwrap().fingerprint(),
        ];
        let several = Partner::find(&ann, &both.map(Named::Fingerprint), &book).unwrap();
        let by_key = both.map(|peer| Appointment::of_strangers(ann.fingerprint(), peer));
        assert_eq!(several.appointments, by_key);
        let other = [Named::Name("carol".parse().unwrap())];
        let error = Partner::find(&ann, &other, &book).unwrap_err().to_string();
        assert!(error.ends_with("those that you know are bob"), "{error}");
    }
}
