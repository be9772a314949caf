//! The choice of who has to leave when too many wait, and of who is served first: by where they
//! come from.
//!
//! An address that sends many takes places from itself. Of its candidates a random one of the older
//! half goes. So nobody can foresee how long it takes to push somebody out, and who has just come
//! is not pushed out.
//!
//! A party that listens and a relay have strangers in the same way, so both choose by this.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr, SocketAddr},
};

use ring::rand::{SecureRandom, SystemRandom};

/// The origin of a connection: an address, or a network of IPv6 that belongs to one subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Source(IpAddr);

impl From<SocketAddr> for Source {
    fn from(from: SocketAddr) -> Self {
        const NETWORK: Ipv6Addr = Ipv6Addr::new(!0, !0, !0, !0, 0, 0, 0, 0);
        Self(match from.ip().to_canonical() {
            IpAddr::V6(address) => (address & NETWORK).into(),
            address => address,
        })
    }
}

/// Chooses among a number of candidates.
pub trait Choice {
    /// Returns a number below `count`, which is not 0.
    fn below(&self, count: usize) -> usize;
}

impl Choice for SystemRandom {
    fn below(&self, count: usize) -> usize {
        let mut bytes = [0; 8];
        // Without randomness, the oldest is chosen.
        let _ = self.fill(&mut bytes);
        (u64::from_le_bytes(bytes) % count as u64) as usize
    }
}

/// Returns which of `candidates`, who are in the order in which they came, have to leave so that no
/// more than `seats` stay.
pub fn surplus<T: Copy>(
    candidates: impl Iterator<Item = (T, Source)>,
    seats: usize,
    choice: &impl Choice,
) -> Vec<T> {
    let mut parties: HashMap<Source, Vec<T>> = HashMap::new();
    let mut count = 0;
    for (candidate, source) in candidates {
        parties.entry(source).or_default().push(candidate);
        count += 1;
    }
    let leave = || {
        let largest = parties.values().map(Vec::len).max()?;
        let mut largest: Vec<_> = parties
            .values_mut()
            .filter(|party| party.len() == largest)
            .collect();
        let party = largest.swap_remove(choice.below(largest.len()));
        let older_half = party.len().div_ceil(2);
        Some(party.remove(choice.below(older_half)))
    };
    std::iter::repeat_with(leave)
        .map_while(|leaves| leaves)
        .take(count.max(seats) - seats)
        .collect()
}

/// Returns which of those who ask is answered first: the oldest one of the address that has the
/// fewest of `present`.
pub fn first_served<T>(
    asking: impl Iterator<Item = (T, Source)>,
    present: impl Iterator<Item = Source>,
) -> Option<T> {
    let mut counts: HashMap<Source, usize> = HashMap::new();
    for source in present {
        *counts.entry(source).or_default() += 1;
    }
    let first = asking.min_by_key(|(_, source)| counts.get(source).copied().unwrap_or_default());
    first.map(|(candidate, _)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chooses the last.
    struct Last;

    impl Choice for Last {
        fn below(&self, count: usize) -> usize {
            count - 1
        }
    }

    fn source(address: &str) -> Source {
        SocketAddr::new(address.parse().unwrap(), 7).into()
    }

    fn from(hosts: &[u8]) -> impl Iterator<Item = (usize, Source)> {
        let candidates = hosts.iter().enumerate();
        candidates.map(|(i, host)| (i, source(&format!("192.0.2.{host}"))))
    }

    #[test]
    fn a_subscriber_is_one_source() {
        assert_eq!(source("2001:db8:1:2::3"), source("2001:db8:1:2:ffff::4"));
        assert_ne!(source("2001:db8:1:2::3"), source("2001:db8:1:3::3"));
        assert_eq!(source("::ffff:192.0.2.1"), source("192.0.2.1"));
        assert_ne!(source("192.0.2.1"), source("192.0.2.2"));
    }

    #[test]
    fn nobody_leaves_while_there_are_seats() {
        for seats in [3, 4] {
            assert!(surplus(from(&[1, 1, 2]), seats, &Last).is_empty());
        }
        assert!(surplus(from(&[]), 0, &Last).is_empty());
    }

    #[test]
    fn who_sends_many_takes_places_from_itself() {
        // Of the five, the last of the three oldest; then of four, of the two oldest.
        let hosts = [1, 2, 1, 1, 3, 1, 1];
        assert_eq!(surplus(from(&hosts), 6, &Last), [3]);
        assert_eq!(surplus(from(&hosts), 5, &Last), [3, 2]);
        let mut all = surplus(from(&hosts), 0, &SystemRandom::new());
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn somebody_from_elsewhere_stays_whatever_the_choice() {
        let mut hosts = [1; 300];
        hosts[17] = 2;
        for _ in 0..100 {
            let leaving = surplus(from(&hosts), 2, &SystemRandom::new());
            assert_eq!(leaving.len(), 298);
            assert!(!leaving.contains(&17));
        }
    }

    #[test]
    fn who_has_just_come_stays_and_anybody_of_the_older_half_may_leave() {
        let hosts = [1; 9];
        let mut has_left = [false; 9];
        for _ in 0..1000 {
            has_left[surplus(from(&hosts), 8, &SystemRandom::new())[0]] = true;
        }
        // That one of five never comes in a thousand times: 5 · 0.8^1000.
        let expected = [true, true, true, true, true, false, false, false, false];
        assert_eq!(has_left, expected);
    }

    #[test]
    fn who_has_fewest_is_served_first() {
        let hosts = [1, 1, 2, 3, 1, 2];
        let present = || from(&hosts).map(|(_, source)| source);
        let asking = |places: &'static [usize]| {
            from(&hosts).filter(move |(place, _)| places.contains(place))
        };
        assert_eq!(first_served(asking(&[0, 2, 3]), present()), Some(3));
        assert_eq!(first_served(asking(&[0, 2, 5]), present()), Some(2));
        assert_eq!(first_served(asking(&[1, 4]), present()), Some(1));
        assert_eq!(first_served(asking(&[]), present()), None);
    }
}
