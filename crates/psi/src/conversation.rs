//! The messages of a run, in order. A plan's bytes and flights follow from it.

use crate::{Role, Traffic};

/// The messages of both parties in a run, in order. Flights are counted as
/// [`psijoin_channel::count`] does on a wire: what a party sends depends on all that it has
/// received.
///
/// ```
/// use psijoin_psi::Conversation;
///
/// // A question, and an answer in two messages that follow each other.
/// let talk = Conversation::default().receiver(100).sender(16).sender(8);
/// assert_eq!(talk.traffic().flights, 2);
/// assert_eq!(talk.traffic().sender_bytes, 24);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Conversation(Vec<Stretch>);

/// Turns that are taken one after the other, and then again from the first.
#[derive(Debug, Clone)]
struct Stretch {
    turns: Vec<Turn>,
    times: u64,
}

/// The bytes that the sender and the receiver send at the same time, neither waiting for the other.
#[derive(Debug, Clone, Copy)]
struct Turn {
    sender: u64,
    receiver: u64,
}

impl Conversation {
    /// Adds a message of the sender; nothing if it is empty.
    #[must_use]
    pub fn sender(self, bytes: u64) -> Self {
        self.both(bytes, 0)
    }

    /// Adds a message of the receiver; nothing if it is empty.
    #[must_use]
    pub fn receiver(self, bytes: u64) -> Self {
        self.both(0, bytes)
    }

    /// Adds a message of this party; nothing if it is empty.
    #[must_use]
    pub fn says(self, role: Role, bytes: u64) -> Self {
        match role {
            Role::Sender => self.sender(bytes),
            Role::Receiver => self.receiver(bytes),
        }
    }

    /// Adds messages of both at the same time, in an
    /// [exchange](psijoin_channel::Channel::exchange).
    #[must_use]
    pub fn both(mut self, sender: u64, receiver: u64) -> Self {
        if sender + receiver > 0 {
            self.add(Stretch {
                turns: vec![Turn { sender, receiver }],
                times: 1,
            });
        }
        self
    }

    /// Adds a stretch. One that is not repeated is joined to one before it that is not repeated
    /// either.
    fn add(&mut self, later: Stretch) {
        match self.0.last_mut() {
            Some(Stretch { turns, times: 1 }) if later.times == 1 => turns.extend(later.turns),
            _ => self.0.push(later),
        }
    }

    /// Adds these flights: bytes of the sender and of the receiver in each.
    #[must_use]
    pub fn flights(self, flights: impl IntoIterator<Item = [u64; 2]>) -> Self {
        (flights.into_iter()).fold(self, |talk, [sender, receiver]| talk.both(sender, receiver))
    }

    /// Adds another conversation.
    #[must_use]
    pub fn then(mut self, later: Self) -> Self {
        later.0.into_iter().for_each(|stretch| self.add(stretch));
        self
    }

    /// Repeats the conversation, `times` in all.
    ///
    /// # Panics
    /// If some of it is repeated already.
    #[must_use]
    pub fn repeated(mut self, times: u64) -> Self {
        assert!(self.0.len() <= 1, "a plain conversation is repeated");
        for stretch in &mut self.0 {
            stretch.times *= times;
        }
        self
    }

    /// Returns its bytes and flights.
    pub fn traffic(&self) -> Traffic {
        let mut traffic = Traffic::default();
        let mut flights = Flights::default();
        for Stretch { turns, times } in &self.0 {
            for Turn { sender, receiver } in turns {
                traffic.sender_bytes += times * sender;
                traffic.receiver_bytes += times * receiver;
            }
            flights.take(turns, *times);
        }
        traffic.flights = flights.sender.max(flights.receiver);
        traffic
    }
}

/// The flights of the last message of either party.
#[derive(Debug, Clone, Copy, Default)]
struct Flights {
    sender: u64,
    receiver: u64,
}

impl Flights {
    /// Adds these turns, taken `times` times.
    fn take(&mut self, turns: &[Turn], times: u64) {
        for taken in 1..=times {
            let before = *self;
            turns.iter().for_each(|turn| self.add(*turn));
            // Only their difference counts for what follows. Once it stays, each further time adds
            // the same.
            let more = self.sender - before.sender;
            if self.receiver - before.receiver == more {
                self.sender += more * (times - taken);
                self.receiver += more * (times - taken);
                break;
            }
        }
    }

    fn add(&mut self, turn: Turn) {
        let heard = *self;
        if turn.sender > 0 {
            self.sender = heard.sender.max(heard.receiver + 1);
        }
        if turn.receiver > 0 {
            self.receiver = heard.receiver.max(heard.sender + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flights(talk: Conversation) -> u64 {
        talk.traffic().flights
    }

    fn talk() -> Conversation {
        Conversation::default()
    }

    #[test]
    fn messages_of_one_party_after_the_other_are_one_flight() {
        assert_eq!(flights(talk()), 0);
        assert_eq!(flights(talk().sender(1).sender(1)), 1);
        assert_eq!(flights(talk().sender(1).receiver(0).sender(1)), 1);
        assert_eq!(flights(talk().sender(1).receiver(1).sender(1)), 3);
    }

    #[test]
    fn both_at_once_are_one_flight() {
        assert_eq!(flights(talk().both(1, 1)), 1);
        assert_eq!(flights(talk().both(1, 1).both(1, 1)), 2);
        assert_eq!(flights(talk().both(1, 1).receiver(1)), 2);
    }

    #[test]
    fn who_spoke_last_goes_on_without_waiting() {
        assert_eq!(flights(talk().sender(1).both(1, 1)), 2);
        assert_eq!(flights(talk().sender(1).both(1, 1).receiver(1)), 2);
        assert_eq!(flights(talk().sender(1).both(1, 1).sender(1)), 3);
    }

    #[test]
    fn a_flight_without_bytes_is_none() {
        let said = talk().flights([[1, 0], [0, 0], [0, 1], [1, 0]]);
        assert_eq!(flights(said), 3);
    }

    #[test]
    fn conversations_follow_each_other() {
        let question = talk().receiver(5);
        let whole = talk().sender(1).receiver(2).then(question).sender(3);
        let Traffic {
            sender_bytes,
            receiver_bytes,
            flights,
        } = whole.traffic();
        assert_eq!((sender_bytes, receiver_bytes, flights), (4, 7, 3));
    }

    #[test]
    fn what_is_repeated_counts_as_if_it_were_spelt_out() {
        let talks = [
            talk().sender(1),
            talk().receiver(3),
            talk().sender(1).receiver(2),
            talk().both(1, 1).receiver(5).sender(2),
            talk().receiver(1).sender(1).both(2, 2).sender(1),
        ];
        for first in &talks {
            for again in &talks {
                for times in 0..6 {
                    let spelt_out =
                        (0..times).fold(first.clone(), |talk, _| talk.then(again.clone()));
                    let repeated = first.clone().then(again.clone().repeated(times));
                    let after = |talk: Conversation| talk.receiver(1).sender(7).traffic();
                    assert_eq!(after(repeated), after(spelt_out), "{first:?}, {again:?}");
                }
            }
        }
    }
}
