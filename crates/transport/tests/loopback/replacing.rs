//! Parties of which one has replaced its key.

use std::time::SystemTime;

use psijoin_transport::{Error, Identity, Kind, Options, Pin, Security};

use crate::{A_WHILE, Meeting, meet, meeting::patient_for, pair_with, patient, tls};

const DAY: u64 = 24 * 3600;

fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

fn pinning(identity: &Identity, peers: &[Pin]) -> Options {
    patient(Security::AnyOf {
        identity: identity.clone(),
        peers: peers.to_vec(),
    })
}

fn failed(listening: Options, connecting: Options) -> [Error; 2] {
    let [listening, connecting] =
        [listening, connecting].map(|options| patient_for(A_WHILE, options));
    let failed = |meeting: Meeting| meeting.map(|_| ()).unwrap_err();
    let (accepted, connected) = meet(&listening, &connecting);
    [failed(accepted), failed(connected)]
}

#[test]
fn a_peer_takes_the_new_key_over_within_the_overlap() {
    let [ann, bob] = [(); 2].map(|()| Identity::generate().unwrap());
    let until = now() + DAY;
    let replaced = bob.replace(now(), until).unwrap();
    for bob_listens in [false, true] {
        let (ann_is, bob_is) = (tls(&ann, &bob), tls(&replaced, &ann));
        let (a, b) = match bob_listens {
            true => {
                let [b, a] = pair_with(&bob_is, &ann_is);
                (a.0, b.0)
            }
            false => {
                let [a, b] = pair_with(&ann_is, &bob_is);
                (a.0, b.0)
            }
        };
        let succeeded = a.succeeded().expect("bob has replaced its key");
        assert_eq!((succeeded.old, succeeded.until), (bob.fingerprint(), until));
        assert_eq!(a.peer_key(), replaced.public_key());
        assert!(b.succeeded().is_none());
    }
    // A peer that has taken it over does not say so again.
    let [(a, _), _] = pair_with(&tls(&ann, &replaced), &tls(&replaced, &ann));
    assert!(a.succeeded().is_none());
}

#[test]
fn after_the_overlap_both_are_told() {
    let [ann, bob] = [(); 2].map(|()| Identity::generate().unwrap());
    let replaced = bob.replace(now() - 2 * DAY, now() - DAY).unwrap();
    let [told, refused] = failed(tls(&ann, &bob), tls(&replaced, &ann));
    let text = told.to_string();
    assert!(
        text.contains("the time in which this side could take the new one over ended"),
        "{text}"
    );
    assert!(text.contains(&replaced.fingerprint().to_string()), "{text}");
    assert!(matches!(refused, Error::Refused { .. }), "{refused}");
    assert_eq!(refused.kind(), Kind::Peer);
}

#[test]
fn the_old_key_counts_until_the_overlap_is_over() {
    let [ann, bob, new] = [(); 3].map(|()| Identity::generate().unwrap());
    let pins = |until| {
        let old = Pin {
            until: Some(until),
            ..bob.fingerprint().into()
        };
        [new.fingerprint().into(), old]
    };
    drop(pair_with(
        &pinning(&ann, &pins(now() + DAY)),
        &tls(&bob, &ann),
    ));
    drop(pair_with(
        &pinning(&ann, &pins(now() + DAY)),
        &tls(&new, &ann),
    ));
    let [told, _] = failed(pinning(&ann, &pins(now() - DAY)), tls(&bob, &ann));
    let text = told.to_string();
    assert!(text.contains("it has to use its new identity"), "{text}");
    // Nor can the old key name another successor meanwhile.
    let stolen = bob.replace(now(), now() + DAY).unwrap();
    let [told, _] = failed(pinning(&ann, &pins(now() + DAY)), tls(&stolen, &ann));
    assert!(
        told.to_string().contains("but one of these was expected"),
        "{told}"
    );
}

#[test]
fn several_parties_may_be_at_the_other_end() {
    let [ann, bob, carol, other] = [(); 4].map(|()| Identity::generate().unwrap());
    let both = [&bob, &carol].map(|identity| identity.fingerprint().into());
    for peer in [&bob, &carol] {
        let [(a, _), _] = pair_with(&pinning(&ann, &both), &tls(peer, &ann));
        assert_eq!(a.peer_key(), peer.public_key());
        // It may as well be at the address.
        let [_, (a, _)] = pair_with(&tls(peer, &ann), &pinning(&ann, &both));
        assert_eq!(a.peer_key(), peer.public_key());
    }
    let [told, _] = failed(pinning(&ann, &both), tls(&other, &ann));
    let text = told.to_string();
    for peer in [&bob, &carol, &other] {
        assert!(text.contains(&peer.fingerprint().to_string()), "{text}");
    }
}
