//! Lanes whose keys come in the order of their parts.

use std::{collections::BTreeSet, thread};

use psijoin::{Fingerprint, Router};
use psijoin_session::{
    ElsewhereFault, Error, FoundKeys, Lane, LaneInOrder, LaneTicket, Received, Stop,
};
use psijoin_transport::Proxies;

use crate::{Keys, LANES, Listens, listening, specs, to};

/// Opens a lane as another process would.
fn open(ticket: &LaneTicket) -> LaneInOrder {
    let ticket = LaneTicket::from_bytes(ticket.as_bytes().to_vec());
    let lane = Lane::open(&ticket, Proxies::default(), &Stop::default());
    LaneInOrder::new(lane.unwrap())
}

/// Keys of a part, each with its number.
type OfPart = Vec<(Fingerprint, i64)>;

/// Returns keys part by part.
fn in_parts(keys: &Keys, router: &Router) -> Vec<OfPart> {
    let mut parts = vec![Vec::new(); router.parts() as usize];
    let numbered = keys
        .fingerprints
        .iter()
        .copied()
        .zip(keys.numbers.iter().copied());
    for (key, part) in numbered.zip(router.place(&keys.fingerprints)) {
        parts[usize::from(part)].push(key);
    }
    parts
}

/// Returns the shared keys in what parts gave.
fn shared(found: Vec<FoundKeys>, received: &Received) -> BTreeSet<Fingerprint> {
    let of_part = |found: FoundKeys| {
        let places = match received {
            Received::Places(of_parts) => Some(&of_parts[found.part as usize]),
            _ => None,
        };
        assert_eq!(places.is_some(), found.places.is_some());
        let has = |place: usize| match (places, &found.places) {
            (Some(shared), Some(places)) => shared.has(places[place]).unwrap(),
            _ => true,
        };
        let keys = found.fingerprints.iter().enumerate();
        let keys = keys.filter(|(place, _)| has(*place));
        keys.map(|(_, key)| *key).collect::<Vec<_>>()
    };
    found.into_iter().flat_map(of_part).collect()
}

#[test]
fn keys_come_some_at_a_time_with_no_regard_to_where_a_part_ends() {
    for (asked, least) in [("rows", 0), ("rows", 1000), ("sum:receiver.amount", 0)] {
        let folder = tempfile::tempdir().unwrap();
        let [sender, receiver] = specs(folder.path(), asked, least);
        let keys = Keys::read(&folder.path().join("receiver.csv"));
        thread::scope(|scope| {
            let (listens, address) = Listens::new();
            let sender = listening(sender);
            let sent = scope.spawn(move || sender.join(&listens, &Stop::default()).map(drop));
            let agreed = to(address, receiver).agree(
                keys.facts.clone(),
                (LANES, None),
                &(),
                &Stop::default(),
            );
            let mut agreed = agreed.unwrap();
            let router = Router::from_bytes(&agreed.router().to_bytes()).unwrap();
            let parts = in_parts(&keys, &router);
            let tickets: Vec<_> = (0..agreed.lanes())
                .map(|lane| agreed.ticket(lane))
                .collect();
            let run = |ticket: LaneTicket| {
                let parts = parts.clone();
                scope.spawn(move || {
                    let mut lane = open(&ticket);
                    let own: Vec<_> = (lane.lane().parts())
                        .flat_map(|part| &parts[part as usize])
                        .collect();
                    let mut found = Vec::new();
                    for some in own.chunks(300) {
                        let fingerprints: Vec<_> = some.iter().map(|(key, _)| *key).collect();
                        let numbers = some.iter().map(|(_, number)| *number).collect();
                        let columns = match lane.lane().numbers() {
                            [] => Vec::new(),
                            _ => vec![numbers],
                        };
                        found.extend(lane.take(&fingerprints, &columns, &[]).unwrap());
                    }
                    let (rest, report) = lane.finish().unwrap();
                    found.extend(rest);
                    (found, report)
                })
            };
            let running: Vec<_> = tickets.into_iter().map(run).collect();
            let mut found = Vec::new();
            for lane in running {
                let (of_lane, report) = lane.join().unwrap();
                agreed.take(&report).unwrap();
                found.extend(of_lane);
            }
            let received = agreed.finish().unwrap().received.unwrap();
            sent.join().unwrap().unwrap();
            assert_eq!(received.shared_keys().is_some(), asked == "rows");
            let found = shared(found, &received);
            let numbered = keys.fingerprints.iter().zip(&keys.numbers);
            let expected = numbered.filter(|(_, number)| **number < 6000);
            match received {
                Received::Sums(sums) => {
                    let sum: i64 = expected.map(|(_, number)| number).sum();
                    assert_eq!(sums[0].value.to_string(), sum.to_string());
                }
                received => {
                    assert_eq!(received.shared_keys(), Some(1000));
                    assert_eq!(found, expected.map(|(key, _)| *key).collect());
                }
            }
        });
    }
}

#[test]
fn keys_that_come_in_another_order_end_the_lane_on_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let [sender, receiver] = specs(folder.path(), "rows", 0);
    let keys = Keys::read(&folder.path().join("receiver.csv"));
    thread::scope(|scope| {
        let (listens, address) = Listens::new();
        let sender = listening(sender);
        let sent = scope.spawn(move || sender.join(&listens, &Stop::default()).map(drop));
        let agreed =
            to(address, receiver).agree(keys.facts.clone(), (LANES, None), &(), &Stop::default());
        let agreed = agreed.unwrap();
        let keys = in_parts(&keys, &agreed.router());
        let mut lanes: Vec<_> = (0..agreed.lanes())
            .map(|lane| open(&agreed.ticket(lane)))
            .collect();
        let of_another: Vec<_> = keys[1].iter().map(|(key, _)| *key).collect();
        let refused = lanes[0].take(&of_another, &[], &[]);
        assert!(matches!(
            refused,
            Err(Error::Elsewhere(ElsewhereFault::Order))
        ));
        let error = sent.join().unwrap().unwrap_err();
        assert!(error.to_string().contains("other party"), "{error}");
    });
}
