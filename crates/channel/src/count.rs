//! Counting bytes, messages and flights.
//!
//! [`counted`] decorates a channel and returns [`Counters`], which another thread may read
//! while the protocol runs.
//!
//! # Flights
//! A *flight* is messages in one direction that did not have to wait for an answer in between. A
//! protocol of `f` flights therefore spends `f · RTT/2` waiting for the network. A request and its
//! answer are two flights. Literature that speaks of rounds often means this.
//!
//! A party sees only its own end of the wire, so flights are told apart by this rule: what
//! a party sends depends on all that it has received, and vice versa. Hence a
//! flight begins whenever a message is sent after one was received, or received after one
//! was sent. Inside [`Channel::exchange`] the rule is suspended: what is sent there must
//! not depend on what is received there, and both together make one flight. Two parties
//! that talk at the same time without saying so by an exchange are counted as if one had
//! waited for the other.

use std::{
    iter::Sum,
    ops::Sub,
    sync::{Arc, Mutex, MutexGuard},
};

use crate::{Channel, listener::Listener, observed::Observed};

/// Counts what passes through `channel` from now on.
pub fn counted(channel: Channel) -> (Channel, Counters) {
    let counters = Counters::default();
    let [sent, received] = [counters.clone(), counters.clone()];
    let mut channel = channel.decorate(
        |inner| Observed {
            inner,
            show: move |message: &[u8]| sent.lock().sent(message.len()),
        },
        |inner| Observed {
            inner,
            show: move |message: &[u8]| received.lock().received(message.len()),
        },
    );
    channel.listeners.push(Arc::new(counters.clone()));
    (channel, counters)
}

/// The traffic of a channel so far, seen from one party.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// The bytes and messages that this party sent.
    pub sent: Tally,
    /// The bytes and messages that this party received.
    pub received: Tally,
    /// Flights, as the [module](self) defines them.
    pub flights: u64,
}

impl Snapshot {
    /// Returns the number of payload bytes of both directions.
    pub fn total_bytes(&self) -> u64 {
        self.sent.bytes + self.received.bytes
    }
}

/// Sums streams side by side: bytes add up, while flights of one are on their way during those of
/// another.
impl Sum for Snapshot {
    fn sum<I: Iterator<Item = Self>>(streams: I) -> Self {
        streams.fold(Self::default(), |all, one| Self {
            sent: all.sent.beside(one.sent),
            received: all.received.beside(one.received),
            flights: all.flights.max(one.flights),
        })
    }
}

/// The later snapshot minus the earlier one: what passed in between.
///
/// # Panics
/// If the right-hand side is not the earlier one of two snapshots of the same counters.
impl Sub for Snapshot {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            sent: self.sent.since(earlier.sent),
            received: self.received.since(earlier.received),
            flights: difference(self.flights, earlier.flights),
        }
    }
}

/// The traffic in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Payload bytes, without any framing.
    pub bytes: u64,
    /// Messages.
    pub messages: u64,
    /// Flights: runs of messages that waited for no answer.
    pub flights: u64,
}

impl Tally {
    fn beside(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            messages: self.messages + other.messages,
            flights: self.flights.max(other.flights),
        }
    }

    fn since(self, earlier: Self) -> Self {
        Self {
            bytes: difference(self.bytes, earlier.bytes),
            messages: difference(self.messages, earlier.messages),
            flights: difference(self.flights, earlier.flights),
        }
    }
}

fn difference(later: u64, earlier: u64) -> u64 {
    later
        .checked_sub(earlier)
        .expect("the earlier snapshot is subtracted from the later one")
}

/// The counters of one channel: a handle that can be cloned and read from any thread.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    // One lock rather than an atomic for each figure: a snapshot is consistent, and the two
    // halves of a channel rarely meet here.
    state: Arc<Mutex<State>>,
}

impl Counters {
    /// Returns the figures at this moment.
    pub fn snapshot(&self) -> Snapshot {
        let State { sent, received, .. } = &*self.lock();
        Snapshot {
            sent: sent.tally,
            received: received.tally,
            flights: sent.last_flight.max(received.last_flight),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("nothing panics while it holds the counters")
    }
}

impl Listener for Counters {
    fn exchange_begins(&self) {
        self.lock().in_exchange = true;
    }

    fn exchange_ends(&self) {
        let mut state = self.lock();
        state.in_exchange = false;
        state.await_answers();
    }
}

/// A logical clock that ticks once per flight.
#[derive(Debug, Default)]
struct State {
    sent: Direction,
    received: Direction,
    in_exchange: bool,
}

impl State {
    fn sent(&mut self, bytes: usize) {
        self.sent.count(bytes);
        if !self.in_exchange {
            self.await_answers();
        }
    }

    fn received(&mut self, bytes: usize) {
        self.received.count(bytes);
        if !self.in_exchange {
            self.await_answers();
        }
    }

    /// Notes that from now on a message of either direction depends on all messages of the other.
    fn await_answers(&mut self) {
        self.sent.answers = self.received.last_flight;
        self.received.answers = self.sent.last_flight;
    }
}

#[derive(Debug, Default)]
struct Direction {
    tally: Tally,
    /// The flight of the last message in this direction; 0 before the first.
    last_flight: u64,
    /// The flight of the other direction that the next message here depends on.
    answers: u64,
}

impl Direction {
    fn count(&mut self, bytes: usize) {
        self.tally.bytes += bytes as u64;
        self.tally.messages += 1;
        let flight = self.last_flight.max(self.answers + 1);
        if flight > self.last_flight {
            self.last_flight = flight;
            self.tally.flights += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::{Inbound, Outbound, memory};

    type Party = (Channel, Counters);

    fn counted_pair() -> (Party, Party) {
        let (alice, bob) = memory::pair();
        (counted(alice), counted(bob))
    }

    fn pass(from: &mut Party, to: &mut Party, bytes: usize) {
        from.0.send(&vec![0; bytes]).unwrap();
        to.0.recv(&mut vec![0; bytes]).unwrap();
    }

    fn exchange(party: &mut Party, messages: u64) {
        let send =
            |outbound: &mut dyn Outbound| (0..messages).try_for_each(|_| outbound.send(&[0]));
        let receive =
            |inbound: &mut dyn Inbound| (0..messages).try_for_each(|_| inbound.recv(&mut [0]));
        party.0.exchange(send, receive).unwrap();
    }

    fn exchange_both(alice: &mut Party, bob: &mut Party, messages: u64) {
        thread::scope(|scope| {
            scope.spawn(|| exchange(alice, messages));
            exchange(bob, messages);
        });
    }

    fn flights(party: &Party) -> u64 {
        party.1.snapshot().flights
    }

    #[test]
    fn both_parties_count_the_same_traffic() {
        let (mut alice, mut bob) = counted_pair();
        pass(&mut alice, &mut bob, 10);
        pass(&mut alice, &mut bob, 0);
        pass(&mut bob, &mut alice, 5);
        pass(&mut alice, &mut bob, 1);
        let [seen_by_alice, seen_by_bob] = [&alice, &bob].map(|party| party.1.snapshot());
        assert_eq!(
            seen_by_alice.sent,
            Tally {
                bytes: 11,
                messages: 3,
                flights: 2
            }
        );
        assert_eq!(
            seen_by_alice.received,
            Tally {
                bytes: 5,
                messages: 1,
                flights: 1
            }
        );
        assert_eq!(seen_by_alice.flights, 3);
        assert_eq!(seen_by_alice.total_bytes(), 16);
        assert_eq!(seen_by_bob.sent, seen_by_alice.received);
        assert_eq!(seen_by_bob.received, seen_by_alice.sent);
        assert_eq!(seen_by_bob.flights, 3);
    }

    #[test]
    fn exchange_is_one_flight_however_its_messages_interleave() {
        let (mut alice, mut bob) = counted_pair();
        exchange_both(&mut alice, &mut bob, 1000);
        for party in [&alice, &bob] {
            let seen = party.1.snapshot();
            let flight = Tally {
                bytes: 1000,
                messages: 1000,
                flights: 1,
            };
            assert_eq!(
                (seen.sent, seen.received, seen.flights),
                (flight, flight, 1)
            );
        }
        exchange_both(&mut alice, &mut bob, 1);
        assert_eq!([flights(&alice), flights(&bob)], [2, 2]);
        pass(&mut bob, &mut alice, 1);
        assert_eq!([flights(&alice), flights(&bob)], [3, 3]);
    }

    #[test]
    fn exchange_that_follows_a_message_continues_its_flight() {
        let (mut alice, mut bob) = counted_pair();
        pass(&mut alice, &mut bob, 1);
        exchange_both(&mut alice, &mut bob, 3);
        // Alice's part needed nothing from Bob: flight 1. Bob's had her message: flight 2.
        assert_eq!([flights(&alice), flights(&bob)], [2, 2]);
        assert_eq!(alice.1.snapshot().sent.flights, 1);
        assert_eq!(bob.1.snapshot().received.flights, 1);
    }

    #[test]
    fn phases_are_differences_of_snapshots() {
        let (mut alice, mut bob) = counted_pair();
        pass(&mut alice, &mut bob, 3);
        let before = alice.1.snapshot();
        pass(&mut bob, &mut alice, 4);
        pass(&mut alice, &mut bob, 5);
        let phase = alice.1.snapshot() - before;
        assert_eq!(
            phase.sent,
            Tally {
                bytes: 5,
                messages: 1,
                flights: 1
            }
        );
        assert_eq!(
            phase.received,
            Tally {
                bytes: 4,
                messages: 1,
                flights: 1
            }
        );
        assert_eq!(phase.flights, 2);
    }

    #[test]
    fn what_failed_is_not_counted() {
        let ((mut alice, counters), (bob, _)) = counted_pair();
        drop(bob);
        alice.send(&[0]).unwrap_err();
        alice.recv(&mut [0]).unwrap_err();
        assert_eq!(counters.snapshot(), Snapshot::default());
    }

    #[test]
    #[should_panic(expected = "the earlier snapshot")]
    fn subtracting_the_later_snapshot_panics() {
        let ((mut alice, counters), _bob) = counted_pair();
        let before = counters.snapshot();
        alice.send(&[0]).unwrap();
        let _ = before - counters.snapshot();
    }
}
