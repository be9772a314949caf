//! The first session of a party and of whom it has invited.

use std::{
    sync::{Arc, Mutex},
    thread,
};

use psijoin_channel::joint_seed::JointSeed;
use psijoin_transport::{
    Connection, Error, Fingerprint, Identity, InvitationFault, InvitationKey, Kind, Options,
    Security,
    invitation::{Host, Newcomer, Verdict},
};

use crate::{
    A_WHILE, Meeting, assert_soon, free_address, listener, meet, meeting::patient_for, pair_with,
    patient, tls,
};

const SECRET: [u8; 16] = [7; 16];

/// The time at which the invitation was used.
const WHEN: u64 = 1_795_000_000;

/// An inviter's memory: the first to come is welcome.
#[derive(Debug, Default)]
struct First(Mutex<Option<(Fingerprint, [u8; 32])>>);

impl First {
    fn pair_secret(&self) -> Option<[u8; 32]> {
        let guest = *self.0.lock().unwrap();
        guest.map(|(_, pair_secret)| pair_secret)
    }
}

impl Host for First {
    fn judge(&self, newcomer: &Newcomer) -> Verdict {
        let who = newcomer.key.fingerprint();
        let mut guest = self.0.lock().unwrap();
        match *guest {
            Some((by, _)) if by != who => Verdict::Used { when: WHEN, by },
            _ => {
                *guest = Some((who, *newcomer.pair_secret.as_bytes()));
                Verdict::Welcome
            }
        }
    }
}

/// An inviter that judges all alike.
#[derive(Debug)]
struct Always(Verdict);

impl Host for Always {
    fn judge(&self, _: &Newcomer) -> Verdict {
        self.0
    }
}

fn identities<const N: usize>() -> [Identity; N] {
    std::array::from_fn(|_| Identity::generate().unwrap())
}

fn inviting(identity: &Identity, host: &Arc<impl Host + 'static>) -> Options {
    patient(Security::Inviting {
        identity: identity.clone(),
        key: InvitationKey::of(&SECRET),
        known: Vec::new(),
        host: host.clone(),
    })
}

fn invited_with(secret: [u8; 16], identity: &Identity, inviter: &Identity) -> Options {
    patient(Security::Invited {
        identity: identity.clone(),
        peer: inviter.fingerprint(),
        key: InvitationKey::of(&secret),
    })
}

fn invited(identity: &Identity, inviter: &Identity) -> Options {
    invited_with(SECRET, identity, inviter)
}

fn secret_of(connection: &Connection) -> [u8; 32] {
    *connection.pair_secret().unwrap().as_bytes()
}

/// Lets a party come that is turned away, and then the guest. Gives the fault of the former.
fn come_before(guest: &Options, turned_away: &Options, listening: &Options) -> Error {
    let listener = listener();
    let address = listener.address().clone();
    thread::scope(|scope| {
        let accepted = scope.spawn(move || Connection::accept(listener, listening));
        let error = Connection::connect(&address, turned_away).unwrap_err();
        let met = Connection::connect(&address, guest);
        let (_accepted, mut channel) = accepted.join().unwrap().unwrap();
        let (_connection, mut other) = met.unwrap();
        channel.send(b"hello").unwrap();
        assert_eq!(&other.recv_array().unwrap(), b"hello");
        error
    })
}

/// Returns what both sides hear if only this party comes.
fn come_alone(turned_away: &Options, listening: &Options) -> [Error; 2] {
    let listening = patient_for(A_WHILE, listening.clone());
    let failed = |meeting: Meeting| meeting.map(|_| ()).unwrap_err();
    let (accepted, connected) = meet(&listening, turned_away);
    [failed(accepted), failed(connected)]
}

#[test]
fn both_get_to_know_each_other_and_have_a_secret() {
    let [ann, bob] = identities();
    let host = Arc::new(First::default());
    let [(a, _), (b, _)] = pair_with(&inviting(&ann, &host), &invited(&bob, &ann));
    assert_eq!(a.peer_key(), bob.public_key());
    assert_eq!(b.peer_key(), ann.public_key());
    assert_eq!(secret_of(&a), secret_of(&b));
    assert_eq!(host.pair_secret(), Some(secret_of(&a)));
    // From now on they know each other, and each session has a secret of its own.
    let [(c, _), (d, _)] = pair_with(&tls(&bob, &ann), &tls(&ann, &bob));
    assert_eq!(secret_of(&c), secret_of(&d));
    assert_ne!(secret_of(&a), secret_of(&c));
}

#[test]
fn who_comes_second_is_refused_and_both_are_told_when_and_by_whom_it_was_used() {
    let [ann, bob, thief] = identities();
    let host = Arc::new(First::default());
    let listening = inviting(&ann, &host);
    drop(pair_with(&listening, &invited(&bob, &ann)));
    let [inviter, second] = come_alone(&invited(&thief, &ann), &listening);
    let (inviter, second) = (inviter.to_string(), second.to_string());
    let when = format!("on 2026-11-18 11:06 UTC by {}", bob.fingerprint());
    for text in [&inviter, &second] {
        assert!(text.contains(&when), "{text}");
        assert!(text.contains(&thief.fingerprint().to_string()), "{text}");
    }
    // The guest itself may lose the answer, and come again, whatever the thief does.
    let error = come_before(&invited(&bob, &ann), &invited(&thief, &ann), &listening);
    assert!(
        matches!(error, Error::Invitation(InvitationFault::Used { when: WHEN, by, .. })
            if by == bob.fingerprint()),
        "{error}"
    );
    assert_eq!(error.kind(), Kind::Peer);
}

#[test]
fn who_has_another_link_or_none_is_told_so_at_once_and_the_wait_goes_on() {
    let [ann, bob, other] = identities();
    let host = Arc::new(First::default());
    let listening = inviting(&ann, &host);
    let guest = invited(&bob, &ann);
    let changed = invited_with([8; 16], &other, &ann);
    let error = come_before(&guest, &changed, &listening);
    assert!(
        matches!(error, Error::Invitation(InvitationFault::Unknown)),
        "{error}"
    );
    // A party that was told a fingerprint, and not the link.
    let error = come_before(&guest, &tls(&other, &ann), &listening);
    assert!(
        matches!(error, Error::Invitation(InvitationFault::NotInvited)),
        "{error}"
    );
    let [inviter, _] = come_alone(&tls(&other, &ann), &listening);
    assert!(
        inviter.to_string().contains("without the invitation"),
        "{inviter}"
    );
}

#[test]
fn a_guest_hears_why_it_is_not_let_in() {
    let [ann, bob] = identities();
    let by = ann.fingerprint();
    let cases = [
        (
            Verdict::Expired { at: WHEN },
            "was good until 2026-11-18 11:06 UTC",
        ),
        (Verdict::Unconfirmed, "compares fingerprints"),
        (Verdict::Another, "has confirmed another fingerprint"),
        (Verdict::NotKept, "could not keep this side's key"),
        (Verdict::Used { when: WHEN, by }, "was used before"),
    ];
    thread::scope(|scope| {
        for (verdict, told) in cases {
            let (ann, bob) = (&ann, &bob);
            scope.spawn(move || {
                let host = Arc::new(Always(verdict));
                let [_, guest] = come_alone(&invited(bob, ann), &inviting(ann, &host));
                let text = guest.to_string();
                assert!(text.contains(told), "{text}");
            });
        }
    });
}

#[test]
fn parties_that_know_each_other_meet_whatever_either_still_takes_the_other_for() {
    let [ann, bob] = identities();
    let host = Arc::new(First::default());
    let mut knows = inviting(&ann, &host);
    if let Security::Inviting { known, .. } = &mut knows.security {
        known.push(bob.fingerprint().into());
    }
    for listening in [&knows, &tls(&ann, &bob)] {
        for connecting in [&invited(&bob, &ann), &tls(&bob, &ann)] {
            let [(_a, mut a), (_b, mut b)] = pair_with(listening, connecting);
            a.send(b"hello").unwrap();
            assert_eq!(&b.recv_array().unwrap(), b"hello");
        }
    }
}

#[test]
fn an_inviter_that_does_not_know_its_guest_cannot_connect() {
    let [ann] = identities();
    let host = Arc::new(First::default());
    let address = free_address();
    let error = Connection::connect(&address, &inviting(&ann, &host)).unwrap_err();
    assert!(matches!(error, Error::NobodyToMeet), "{error}");
    assert_eq!(error.kind(), Kind::Usage);
}

#[test]
fn a_guest_at_an_inviters_door_with_the_inviters_own_key_is_refused() {
    let [ann] = identities();
    let host = Arc::new(First::default());
    let error = Connection::connect(&free_address(), &invited(&ann, &ann)).unwrap_err();
    assert!(matches!(error, Error::OwnFingerprint(_)), "{error}");
    assert!(host.pair_secret().is_none());
}

#[test]
fn further_streams_are_the_guests_alone() {
    let [ann, bob] = identities();
    let host = Arc::new(First::default());
    let mut listening = inviting(&ann, &host);
    listening.streams = true;
    let [(mut a, mut to_b), (mut b, mut to_a)] = pair_with(&listening, &invited(&bob, &ann));
    let opened = thread::scope(|scope| {
        let connecting = scope.spawn(move || {
            let seed = JointSeed::agree(&mut to_a, true).unwrap();
            b.open_streams(3, &seed).map(|streams| (b, streams))
        });
        let seed = JointSeed::agree(&mut to_b, false).unwrap();
        let mut streams = a.open_streams(3, &seed).unwrap();
        let (_b, mut others) = connecting.join().unwrap().unwrap();
        for (stream, other) in streams.iter_mut().zip(&mut others) {
            stream.send(b"hello").unwrap();
            assert_eq!(&other.recv_array().unwrap(), b"hello");
        }
        streams.len()
    });
    assert_eq!(opened, 3);
}

/// Many strangers do not keep out a guest: its first words show that it has the invitation.
#[test]
fn a_guest_is_recognised_among_strangers() {
    let [ann, bob] = identities();
    let host = Arc::new(First::default());
    let listening = inviting(&ann, &host);
    let listener = listener();
    let address = listener.address().clone();
    thread::scope(|scope| {
        let accepted = scope.spawn(|| Connection::accept(listener, &listening));
        let strangers: Vec<_> = (0..200).map(|_| crate::strangers::dial(&address)).collect();
        let started = std::time::Instant::now();
        let _met = Connection::connect(&address, &invited(&bob, &ann)).unwrap();
        assert_soon(started);
        let (accepted, _) = accepted.join().unwrap().unwrap();
        assert_eq!(accepted.peer_key(), bob.public_key());
        drop(strangers);
    });
}
