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
pub struct Conversation(Vec<Step>);

#[derive(Debug, Clone)]
enum Step {
    Turn(Turn),
    /// Steps that are taken one after the other, and then again from the first: so often in all.
    Repeated(Vec<Step>, u64),
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
            self.0.push(Step::Turn(Turn { sender, receiver }));
        }
        self
    }

    /// Adds these flights: bytes of the sender and of the receiver in each.
    #[must_use]
    pub fn flights(self, flights: impl IntoIterator<Item = [u64; 2]>) -> Self {
        (flights.into_iter()).fold(self, |talk, [sender, receiver]| talk.both(sender, receiver))
    }

    /// Adds another conversation.
    #[must_use]
    pub fn then(mut self, later: Self) -> Self {
        self.0.extend(later.0);
        self
    }

    /// Repeats the conversation, `times` in all.
    #[must_use]
    pub fn repeated(self, times: u64) -> Self {
        Self(vec![Step::Repeated(self.0, times)])
    }

    /// Returns its bytes and flights.
    pub fn traffic(&self) -> Traffic {
        let mut flights = Flights::default();
        flights.take(&self.0);
        let [sender_bytes, receiver_bytes] = bytes(&self.0);
        Traffic {
            sender_bytes,
            receiver_bytes,
            flights: flights.sender.max(flights.receiver),
        }
    }
}

/// Returns the bytes of the sender and of the receiver.
fn bytes(steps: &[Step]) -> [u64; 2] {
    let of_step = |step: &Step| match step {
        Step::Turn(turn) => [turn.sender, turn.receiver],
        Step::Repeated(steps, times) => bytes(steps).map(|bytes| times * bytes),
    };
    (steps.iter().map(of_step)).fold([0, 0], |sum, more| [sum[0] + more[0], sum[1] + more[1]])
}

/// The flights of the last message of either party.
#[derive(Debug, Clone, Copy, Default)]
struct Flights {
    sender: u64,
    receiver: u64,
}

impl Flights {
    fn take(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Turn(turn) => self.add(*turn),
                Step::Repeated(steps, times) => self.repeat(steps, *times),
            }
        }
    }

    /// Adds these steps, taken `times` times.
    fn repeat(&mut self, steps: &[Step], times: u64) {
        for taken in 1..=times {
            let before = *self;
            self.take(steps);
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
                    assert_eq!(
                        after(repeated.clone()),
                        after(spelt_out.clone()),
                        "{first:?}, {again:?}"
                    );
                    // A session in parts repeats what has repetitions in it.
                    let twice = spelt_out.clone().then(spelt_out);
                    assert_eq!(
                        after(repeated.repeated(2)),
                        after(twice),
                        "{first:?}, {again:?}"
                    );
                }
            }
        }
    }
}
