//! Two parties with a book each, from the invitation to later sessions.

use std::{fs, thread, time::Duration};

use psijoin_peers::{Book, Error, Kept, Link, Met, Name, News, Peers, Place, Wanted, now};
use psijoin_transport::{
    Connection, Error as TransportError, Fingerprint, Identity, InvitationFault, Listener, Options,
    endpoint::Address, rendezvous::Side,
};
use tempfile::TempDir;

const DAY: u64 = 24 * 3600;

/// A party with its folder.
struct Party {
    identity: Identity,
    folder: TempDir,
}

impl Party {
    fn new() -> Self {
        Self {
            identity: Identity::generate().unwrap(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn book(&self) -> Book {
        Book::in_folder(self.folder.path())
    }

    fn peers(&self) -> Peers {
        self.book().read().unwrap()
    }

    fn fingerprint(&self) -> Fingerprint {
        self.identity.fingerprint()
    }

    fn invite(&self, name: &str, wanted: Wanted) -> Result<Link, Error> {
        let invite = |peers: &mut Peers| peers.invite(called(name), &self.identity, wanted);
        self.book().change(invite)
    }

    fn accept(&self, name: &str, link: &Link) -> Result<(), Error> {
        self.book().change(|peers| peers.accept(called(name), link))
    }

    fn kept(&self, name: &str) -> Kept {
        self.peers().named(&called(name)).unwrap().kept(now())
    }

    /// Returns how this party meets the one that it calls so.
    fn options(&self, name: &str) -> Options {
        let (peers, name) = (self.peers(), called(name));
        let peer = peers.named(&name).unwrap();
        let mut options = Options::new(peer.security(&self.identity, (&self.book(), &name)));
        options.timeouts.meet = Duration::from_secs(6);
        options
    }

    fn note(&self, name: &str, connection: &Connection) -> Vec<News> {
        let met = Met::of(connection).unwrap();
        let note = |peers: &mut Peers| peers.met(&called(name), &met, now());
        self.book().change(note).unwrap()
    }
}

fn called(name: &str) -> Name {
    name.parse().unwrap()
}

fn wanted() -> Wanted {
    let place: Place = Place::Listen(here());
    Wanted::until(now() + DAY, place)
}

fn here() -> Address {
    "127.0.0.1:0".parse().unwrap()
}

/// Lets two parties meet, of which the first listens, and note it.
fn meet(
    (ann, anns_name): (&Party, &str),
    (bob, bobs_name): (&Party, &str),
) -> Result<[Vec<News>; 2], TransportError> {
    let listener = Listener::bind(&here())?;
    let address = listener.address().clone();
    let (listening, connecting) = (ann.options(anns_name), bob.options(bobs_name));
    thread::scope(|scope| {
        let accepted = scope.spawn(move || Connection::accept(listener, &listening));
        let connected = Connection::connect(&address, &connecting);
        let accepted = accepted.join().unwrap();
        let (b, _channel) = connected?;
        let (a, _other) = accepted?;
        Ok([ann.note(anns_name, &a), bob.note(bobs_name, &b)])
    })
}

#[test]
fn two_parties_get_to_know_each_other_for_good() {
    let [ann, bob] = [(); 2].map(|()| Party::new());
    let link = ann.invite("bob", wanted()).unwrap();
    let link: Link = link.to_string().parse().unwrap();
    assert_eq!(ann.kept("bob"), Kept::Invited);
    bob.accept("ann", &link).unwrap();
    // Once more changes nothing.
    bob.accept("ann", &link).unwrap();
    assert_eq!(bob.kept("ann"), Kept::Accepted);

    // Both are found at a relay under one name before they have met, and after it.
    let found = |party: &Party, name| {
        let peers = party.peers();
        let peer = peers.named(&called(name)).unwrap();
        (peer.tokens(), peer.part())
    };
    let [anns, bobs] = [found(&ann, "bob"), found(&bob, "ann")];
    assert_eq!(anns, (bobs.0, Side::Server));
    assert_eq!(bobs.1, Side::Client);

    let acquainted = |party: &Party| {
        vec![News::Acquainted {
            fingerprint: party.fingerprint(),
        }]
    };
    let news = meet((&ann, "bob"), (&bob, "ann")).unwrap();
    assert_eq!(news, [acquainted(&bob), acquainted(&ann)]);
    assert_eq!([ann.kept("bob"), bob.kept("ann")], [Kept::Met; 2]);
    let [anns, bobs] = [found(&ann, "bob"), found(&bob, "ann")];
    // Each may still be where the other one came with the link.
    assert_eq!(anns.0.len(), 2);
    assert_eq!(anns, (bobs.0, Side::Server));
    assert_eq!(bobs.1, Side::Client);

    // From now on either side may listen.
    for _ in 0..2 {
        assert_eq!(
            meet((&bob, "ann"), (&ann, "bob")).unwrap(),
            [vec![], vec![]]
        );
        assert_eq!(
            meet((&ann, "bob"), (&bob, "ann")).unwrap(),
            [vec![], vec![]]
        );
    }
    let error = bob.accept("ann", &link).unwrap_err();
    assert!(matches!(error, Error::Known { .. }), "{error}");
}

#[test]
fn a_link_works_once_and_both_books_tell_who_came_second() {
    let [ann, bob, thief] = [(); 3].map(|()| Party::new());
    let link = ann.invite("bob", wanted()).unwrap();
    bob.accept("ann", &link).unwrap();
    thief.accept("ann", &link).unwrap();
    meet((&ann, "bob"), (&bob, "ann")).unwrap();
    let error = meet((&ann, "bob"), (&thief, "ann")).unwrap_err();
    assert!(
        matches!(error, TransportError::Invitation(InvitationFault::Used { by, .. })
            if by == bob.fingerprint()),
        "{error}"
    );
    let peers = ann.peers();
    let invitation = peers
        .named(&called("bob"))
        .unwrap()
        .invitation
        .as_ref()
        .unwrap();
    assert_eq!(invitation.used.unwrap().by, bob.fingerprint());
    assert_eq!(invitation.turned_away.unwrap().by, thief.fingerprint());
    meet((&ann, "bob"), (&bob, "ann")).unwrap();
}

#[test]
fn a_guest_that_lost_the_answer_comes_again() {
    let [ann, bob] = [(); 2].map(|()| Party::new());
    let link = ann.invite("bob", wanted()).unwrap();
    bob.accept("ann", &link).unwrap();
    meet((&ann, "bob"), (&bob, "ann")).unwrap();
    // It was killed before it kept what it had learned.
    fs::remove_file(bob.book().path()).unwrap();
    bob.accept("ann", &link).unwrap();
    meet((&ann, "bob"), (&bob, "ann")).unwrap();
    let secret = |party: &Party, name| {
        let peers = party.peers();
        let peer = peers.named(&called(name)).unwrap();
        *peer.pair_secret.as_ref().unwrap().as_bytes()
    };
    assert_eq!(secret(&ann, "bob"), secret(&bob, "ann"));
}

/// As when two sessions begin at once: the later one counts on both sides.
#[test]
fn a_guest_that_proves_its_invitation_once_more_knows_the_inviter_by_that_session() {
    let [ann, bob] = [(); 2].map(|()| Party::new());
    let link = ann.invite("bob", wanted()).unwrap();
    bob.accept("ann", &link).unwrap();
    let of_first = bob.options("ann");
    meet((&ann, "bob"), (&bob, "ann")).unwrap();
    let listener = Listener::bind(&here()).unwrap();
    let address = listener.address().clone();
    let listening = ann.options("bob");
    thread::scope(|scope| {
        let accepted = scope.spawn(|| Connection::accept(listener, &listening));
        let (connection, _) = Connection::connect(&address, &of_first).unwrap();
        bob.note("ann", &connection);
        accepted.join().unwrap().unwrap();
    });
    let secret = |party: &Party, name| {
        let peers = party.peers();
        let peer = peers.named(&called(name)).unwrap();
        *peer.pair_secret.as_ref().unwrap().as_bytes()
    };
    assert_eq!(secret(&ann, "bob"), secret(&bob, "ann"));
}

#[test]
fn a_fingerprint_is_compared_before_it_is_pinned() {
    let [ann, bob, other] = [(); 3].map(|()| Party::new());
    let mut compared = wanted();
    compared.confirm = true;
    let link = ann.invite("bob", compared).unwrap();
    bob.accept("ann", &link).unwrap();
    let error = meet((&ann, "bob"), (&bob, "ann")).unwrap_err();
    assert!(
        error.to_string().contains(&bob.fingerprint().to_string()),
        "{error}"
    );
    assert_eq!(ann.kept("bob"), Kept::Invited);
    let confirm = |fingerprint| {
        let confirm = |peers: &mut Peers| peers.confirm(&called("bob"), fingerprint);
        ann.book().change(confirm)
    };
    confirm(other.fingerprint()).unwrap();
    let error = meet((&ann, "bob"), (&bob, "ann")).unwrap_err();
    assert!(
        matches!(
            error,
            TransportError::Invitation(InvitationFault::Another { .. })
        ),
        "{error}"
    );
    confirm(bob.fingerprint()).unwrap();
    meet((&ann, "bob"), (&bob, "ann")).unwrap();
    let error = confirm(bob.fingerprint()).unwrap_err();
    assert!(matches!(error, Error::NothingToConfirm(_)), "{error}");
}

#[test]
fn stale_and_withdrawn_links_do_not_work() {
    let [ann, bob] = [(); 2].map(|()| Party::new());
    let stale = ann
        .invite("bob", Wanted::until(now() - DAY, Place::Listen(here())))
        .unwrap();
    let error = bob.accept("ann", &stale).unwrap_err();
    assert!(matches!(error, Error::Over(_)), "{error}");
    assert_eq!(ann.kept("bob"), Kept::Over);
    // A new one takes the place of the old one.
    let first = ann.invite("bob", wanted()).unwrap();
    let second = ann.invite("bob", wanted()).unwrap();
    bob.accept("ann", &first).unwrap();
    let error = meet((&ann, "bob"), (&bob, "ann")).unwrap_err();
    assert!(
        matches!(error, TransportError::Invitation(InvitationFault::Unknown)),
        "{error}"
    );
    bob.accept("ann", &second).unwrap();
    meet((&ann, "bob"), (&bob, "ann")).unwrap();
    let error = ann.invite("bob", wanted()).unwrap_err();
    assert!(matches!(error, Error::Taken(_)), "{error}");
}

#[test]
fn a_replaced_key_is_taken_over_and_the_old_one_counts_for_a_while() {
    let [ann, mut bob] = [(); 2].map(|()| Party::new());
    let link = ann.invite("bob", wanted()).unwrap();
    bob.accept("ann", &link).unwrap();
    meet((&ann, "bob"), (&bob, "ann")).unwrap();
    let (old, until) = (bob.identity.clone(), now() + DAY);
    bob.identity = old.replace(now(), until).unwrap();
    let new = bob.fingerprint();
    let [anns, bobs] = meet((&ann, "bob"), (&bob, "ann")).unwrap();
    let old_key = old.fingerprint();
    assert_eq!(
        anns,
        [News::Replaced {
            old: old_key,
            new,
            until
        }]
    );
    assert_eq!(bobs, []);
    let peers = ann.peers();
    let peer = peers.named(&called("bob")).unwrap();
    assert_eq!(peer.fingerprint(), Some(new));
    assert!(peer.has_key(old_key, now()) && !peer.has_key(old_key, until + 1));
    for identity in [bob.identity.clone(), old] {
        bob.identity = identity;
        assert_eq!(
            meet((&ann, "bob"), (&bob, "ann")).unwrap(),
            [vec![], vec![]]
        );
    }
}

#[test]
fn who_is_removed_is_a_stranger() {
    let [ann, bob] = [(); 2].map(|()| Party::new());
    let link = ann.invite("bob", wanted()).unwrap();
    bob.accept("ann", &link).unwrap();
    meet((&ann, "bob"), (&bob, "ann")).unwrap();
    let change = |change: &dyn Fn(&mut Peers) -> Result<(), Error>| ann.book().change(change);
    change(&|peers| peers.rename(&called("bob"), called("robert"))).unwrap();
    meet((&ann, "robert"), (&bob, "ann")).unwrap();
    change(&|peers| peers.remove(&called("robert")).map(drop)).unwrap();
    let error = ann.peers().named(&called("robert")).unwrap_err();
    assert!(
        error.to_string().contains("you know nobody by name yet"),
        "{error}"
    );
    ann.invite("carol", wanted()).unwrap();
    let error = meet((&ann, "carol"), (&bob, "ann")).unwrap_err();
    assert!(
        matches!(
            error,
            TransportError::Invitation(InvitationFault::NotInvited)
        ),
        "{error}"
    );
}

/// Each process reads, changes and writes under a lock.
#[test]
fn changes_at_the_same_time_are_all_kept() {
    let ann = Party::new();
    thread::scope(|scope| {
        for i in 0..16 {
            let ann = &ann;
            scope.spawn(move || ann.invite(&format!("peer-{i}"), wanted()).unwrap());
        }
    });
    assert_eq!(ann.peers().iter().count(), 16);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(ann.book().path())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_file_that_is_damaged_or_newer_is_not_overwritten() {
    let ann = Party::new();
    for (text, told) in [
        (&b"version = 2\nwhatever = 1\n"[..], "later release"),
        (b"version = ", "in line 1"),
        (b"", "version"),
        (&[0xff], "not a text"),
    ] {
        fs::write(ann.book().path(), text).unwrap();
        let error = ann.invite("bob", wanted()).unwrap_err().to_string();
        assert!(
            error.contains(told) && error.contains("peers.toml"),
            "{error}"
        );
        assert_eq!(fs::read(ann.book().path()).unwrap(), text);
    }
}
