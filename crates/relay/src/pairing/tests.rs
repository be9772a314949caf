//! Queues, turns and limits.

use std::net::SocketAddr;

use proptest::{collection::vec, prelude::*};

use super::*;

/// Guests of few tokens, with numbers in the order in which they come.
struct Hall {
    pairing: Pairing,
    next: Id,
}

fn source(host: u8) -> Source {
    SocketAddr::from(([192, 0, 2, host], 7)).into()
}

fn guest(side: Side, token: u8, host: u8, client: u8) -> Guest {
    Guest {
        side,
        token: Token::from_bytes([token; 32]),
        client: [client; 8],
        source: source(host),
        has_access: false,
    }
}

impl Hall {
    fn new(change: impl FnOnce(&mut Limits)) -> Self {
        let mut limits = Limits::default();
        change(&mut limits);
        Self {
            pairing: Pairing::new(limits),
            next: 0,
        }
    }

    fn come(&mut self, guest: Guest) -> Result<(Id, Option<Id>), Refusal> {
        self.next += 1;
        let displaced = self.pairing.arrive(self.next, guest)?;
        Ok((self.next, displaced))
    }

    /// Somebody comes to token 1, with a number of its own.
    fn comes(&mut self, side: Side, host: u8) -> Result<(Id, Option<Id>), Refusal> {
        let client = self.next as u8;
        self.come(guest(side, 1, host, client))
    }

    fn meet(&mut self) -> Option<Met> {
        self.pairing.meet(&Token::from_bytes([1; 32]))
    }

    fn is_empty(&self) -> bool {
        let Pairing {
            guests,
            meetings,
            of_source,
            ..
        } = &self.pairing;
        guests.is_empty() && meetings.is_empty() && of_source.is_empty()
    }
}

#[test]
fn two_sides_of_a_token_are_joined_whoever_comes_first() {
    for sides in [[Side::Server, Side::Client], [Side::Client, Side::Server]] {
        let mut hall = Hall::new(|_| ());
        let (first, _) = hall.comes(sides[0], 1).unwrap();
        assert_eq!(hall.meet(), None);
        let (second, _) = hall.comes(sides[1], 2).unwrap();
        let met = hall.meet().unwrap();
        let joined = match sides[0] {
            Side::Server => [met.server, met.client],
            Side::Client => [met.client, met.server],
        };
        assert_eq!(joined, [first, second]);
        assert_eq!(hall.pairing.running(), 1);
        assert!(hall.is_empty(), "the token is forgotten");
    }
}

#[test]
fn one_side_or_two_tokens_are_no_pair() {
    let mut hall = Hall::new(|_| ());
    hall.come(guest(Side::Server, 1, 1, 0)).unwrap();
    hall.come(guest(Side::Server, 1, 2, 1)).unwrap();
    hall.come(guest(Side::Client, 2, 3, 2)).unwrap();
    assert_eq!(hall.meet(), None);
    assert_eq!(hall.pairing.waiting(), 3);
}

#[test]
fn who_comes_first_is_served_first() {
    let mut hall = Hall::new(|_| ());
    let clients: Vec<_> = (1..=5)
        .map(|host| hall.comes(Side::Client, host).unwrap().0)
        .collect();
    for client in clients {
        hall.comes(Side::Server, 9).unwrap();
        assert_eq!(hall.meet().unwrap().client, client);
    }
}

#[test]
fn addresses_take_turns() {
    let mut hall = Hall::new(|_| ());
    for host in [1, 1, 1, 1, 2, 2] {
        hall.comes(Side::Client, host).unwrap();
    }
    let mut order = Vec::new();
    for _ in 0..6 {
        hall.comes(Side::Server, 9).unwrap();
        order.push(hall.meet().unwrap().client);
    }
    // Of the four of one address and the two of the other.
    assert_eq!(order, [1, 5, 2, 6, 3, 4]);
}

#[test]
fn a_newer_connection_of_a_place_replaces_the_older_one() {
    let mut hall = Hall::new(|_| ());
    let (older, _) = hall.come(guest(Side::Server, 1, 1, 7)).unwrap();
    let (other, _) = hall.come(guest(Side::Server, 1, 1, 8)).unwrap();
    for elsewhere in [guest(Side::Client, 1, 1, 7), guest(Side::Server, 2, 1, 7)] {
        assert_eq!(hall.pairing.replace(&elsewhere), [] as [Id; 0]);
    }
    let newer = guest(Side::Server, 1, 2, 7);
    assert_eq!(hall.pairing.replace(&newer), [older]);
    hall.come(newer).unwrap();
    hall.comes(Side::Client, 3).unwrap();
    assert_eq!(hall.meet().unwrap().server, other);
}

#[test]
fn a_full_queue_takes_places_from_the_address_with_most() {
    let mut hall = Hall::new(|_| ());
    for _ in 0..8 {
        hall.comes(Side::Client, 1).unwrap();
    }
    let full = Err(Refusal::Queue(8));
    assert_eq!(hall.comes(Side::Client, 1), full);
    let (honest, displaced) = hall.comes(Side::Client, 2).unwrap();
    assert_eq!(displaced, Some(8), "the newest");
    // Whatever comes from there, it stays.
    for _ in 0..100 {
        assert_eq!(hall.comes(Side::Client, 1), full);
    }
    // And has the second turn at the latest.
    let mut joined = Vec::new();
    for _ in 0..2 {
        hall.comes(Side::Server, 9).unwrap();
        joined.push(hall.meet().unwrap().client);
        hall.comes(Side::Client, 1).unwrap();
    }
    assert!(joined.contains(&honest), "{joined:?}");
}

#[test]
fn many_addresses_with_one_place_each_keep_it() {
    let mut hall = Hall::new(|_| ());
    for host in 1..=8 {
        hall.comes(Side::Client, host).unwrap();
    }
    assert_eq!(hall.comes(Side::Client, 9), Err(Refusal::Queue(8)));
}

/// A squatter that is back as soon as it was served, and an honest party that keeps two places.
#[test]
fn a_squatter_gets_every_other_turn_at_most() {
    for squatters in [1, 8] {
        let mut hall = Hall::new(|_| ());
        for _ in 0..squatters {
            let _ = hall.comes(Side::Server, 1);
        }
        let mut honest: Vec<Id> = Vec::new();
        for _ in 0..2 {
            honest.push(hall.comes(Side::Server, 2).unwrap().0);
        }
        let mut lost = 0;
        for _ in 0..50 {
            hall.comes(Side::Client, 3).unwrap();
            let met = hall.meet().unwrap();
            match honest.iter().position(|id| *id == met.server) {
                Some(place) => {
                    lost = 0;
                    honest[place] = hall.comes(Side::Server, 2).unwrap().0;
                }
                None => {
                    lost += 1;
                    assert!(lost < 2, "an honest party lost two turns in a row");
                }
            }
            let _ = hall.comes(Side::Server, 1);
        }
    }
}

#[test]
fn an_address_has_a_quota_that_access_lifts() {
    let mut hall = Hall::new(|limits| limits.waiting_per_address = 3);
    for token in 1..=3 {
        hall.come(guest(Side::Server, token, 1, 0)).unwrap();
    }
    let fourth = guest(Side::Server, 4, 1, 0);
    let refused = Err(Refusal::WaitingOfAddress(3));
    assert_eq!(hall.come(fourth.clone()), refused);
    hall.come(guest(Side::Server, 4, 2, 0)).unwrap();
    for token in 5..100 {
        let known = Guest {
            has_access: true,
            ..guest(Side::Server, token, 1, 0)
        };
        hall.come(known).unwrap();
    }
    assert_eq!(hall.come(fourth.clone()), refused);
    hall.pairing.leave(1);
    hall.come(fourth).unwrap();
}

#[test]
fn a_subscriber_of_ipv6_is_one_address() {
    let mut hall = Hall::new(|limits| limits.waiting_per_address = 1);
    let at = |address: &str, token| Guest {
        source: SocketAddr::new(address.parse().unwrap(), 7).into(),
        ..guest(Side::Server, token, 0, 0)
    };
    hall.come(at("2001:db8:1:2::3", 1)).unwrap();
    let refused = Err(Refusal::WaitingOfAddress(1));
    assert_eq!(hall.come(at("2001:db8:1:2:ffff::4", 2)), refused);
    hall.come(at("2001:db8:1:3::3", 3)).unwrap();
}

#[test]
fn a_full_relay_takes_places_from_the_address_with_most() {
    let mut hall = Hall::new(|limits| limits.waiting = 5);
    for (token, host) in [(1, 1), (2, 1), (3, 1), (4, 2), (5, 3)] {
        hall.come(guest(Side::Server, token, host, 0)).unwrap();
    }
    assert_eq!(
        hall.come(guest(Side::Server, 6, 1, 0)),
        Err(Refusal::Waiting(5))
    );
    let (_, displaced) = hall.come(guest(Side::Server, 6, 4, 0)).unwrap();
    assert_eq!(displaced, Some(3));
    assert_eq!(hall.pairing.waiting(), 5);
}

#[test]
fn pairs_count_for_the_side_that_dials() {
    let mut hall = Hall::new(|limits| {
        limits.pairs = 4;
        limits.pairs_per_address = 2;
    });
    let mut met = Vec::new();
    for _ in 0..2 {
        hall.comes(Side::Server, 1).unwrap();
        hall.comes(Side::Client, 2).unwrap();
        met.push(hall.meet().unwrap());
    }
    assert_eq!(hall.comes(Side::Client, 2), Err(Refusal::PairsOfAddress(2)));
    // The other address has none, however many of its connections are taken.
    for host in [1, 3] {
        hall.comes(Side::Server, 1).unwrap();
        hall.comes(Side::Client, host).unwrap();
        met.push(hall.meet().unwrap());
    }
    hall.comes(Side::Server, 1).unwrap();
    assert_eq!(hall.comes(Side::Client, 4), Err(Refusal::Pairs(4)));
    hall.pairing.end(met[0].charged);
    hall.comes(Side::Client, 2).unwrap();
    assert!(hall.meet().is_some());
}

#[test]
fn who_leaves_is_forgotten() {
    let mut hall = Hall::new(|_| ());
    let (id, _) = hall.comes(Side::Server, 1).unwrap();
    assert!(hall.pairing.leave(id).is_some());
    assert!(hall.pairing.leave(id).is_none());
    assert!(hall.is_empty());
    hall.comes(Side::Client, 1).unwrap();
    assert_eq!(hall.meet(), None);
}

#[derive(Debug, Clone)]
enum Act {
    Come {
        side: Side,
        token: u8,
        host: u8,
        client: u8,
    },
    Leave(usize),
    End,
}

fn any_act() -> impl Strategy<Value = Act> {
    let side = prop_oneof![Just(Side::Server), Just(Side::Client)];
    let come = (side, 0..3_u8, 0..4_u8, 0..9_u8);
    prop_oneof![
        6 => come.prop_map(|(side, token, host, client)| Act::Come { side, token, host, client }),
        2 => (0..50_usize).prop_map(Act::Leave),
        1 => Just(Act::End),
    ]
}

proptest! {
    /// Whatever comes, the books agree with each other, and no limit is passed.
    #[test]
    fn the_books_stay_right(acts in vec(any_act(), 0..200)) {
        let mut hall = Hall::new(|limits| {
            limits.waiting = 20;
            limits.waiting_per_address = 7;
            limits.waiting_per_side = 4;
            limits.pairs = 5;
            limits.pairs_per_address = 3;
        });
        let mut running = Vec::new();
        for act in acts {
            match act {
                Act::Come { side, token, host, client } => {
                    let guest = guest(side, token, host, client);
                    hall.pairing.replace(&guest);
                    let token = guest.token.clone();
                    if hall.come(guest).is_ok() {
                        running.extend(hall.pairing.meet(&token));
                    }
                }
                Act::Leave(place) => {
                    let mut ids: Vec<_> = hall.pairing.guests.keys().copied().collect();
                    ids.sort_unstable();
                    if let Some(id) = ids.get(place) {
                        hall.pairing.leave(*id);
                    }
                }
                Act::End => {
                    if let Some(met) = running.pop() {
                        hall.pairing.end(met.charged);
                    }
                }
            }
            let pairing = &hall.pairing;
            prop_assert_eq!(pairing.running(), running.len());
            prop_assert!(running.len() <= 5 && pairing.waiting() <= 20);
            let sources: usize = pairing.of_source.values().map(Vec::len).sum();
            prop_assert_eq!(sources, pairing.waiting());
            prop_assert!(pairing.of_source.values().all(|ids| (1..=7).contains(&ids.len())));
            prop_assert_eq!(pairing.charged.values().sum::<usize>(), running.len());
            let queues = pairing.meetings.values().flat_map(|meeting| &meeting.0);
            let lengths: Vec<_> = queues.map(|queue| queue.guests.len()).collect();
            prop_assert_eq!(lengths.iter().sum::<usize>(), pairing.waiting());
            prop_assert!(lengths.iter().all(|length| *length <= 4));
        }
    }
}
