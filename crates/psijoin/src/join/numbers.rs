//! Joins of items that are numbers.

use psijoin_channel::Channel;
use psijoin_psi::items;

use super::{Join, JoinError, distinct};
use crate::{Fingerprint, Output, Role};

/// A [`Join`] of items that are numbers of few bits. It promises the other party that all items are
/// such numbers, and the other party must promise the same of its own: the bits are compared like
/// all else.
///
/// A protocol that gains from it compares the numbers as they are: `psz-*`, `pssz` and `circuit-*`
/// send less then, and take no two items for each other. All others digest them, as any items.
/// [`auto`](mod@crate::auto) knows that.
///
/// The other party can be the program, too: an item is a key whose column has the rule
/// `number:BITS`.
#[derive(Debug, Clone)]
pub struct NumberJoin {
    /// The join, which knows the bits as well.
    pub(super) join: Join,
    pub(super) bits: u32,
}

impl NumberJoin {
    /// Plays the sender, as [`Join::send`].
    ///
    /// # Errors
    /// As [`Join::send`], and if an item has more bits than were promised.
    pub fn send(
        &self,
        channel: &mut Channel,
        items: &[u64],
        columns: &[Vec<i64>],
    ) -> Result<Output, JoinError> {
        self.run(Role::Sender, channel, items, columns)
    }

    /// Plays the receiver, which learns the output.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn receive(
        &self,
        channel: &mut Channel,
        items: &[u64],
        columns: &[Vec<i64>],
    ) -> Result<Output, JoinError> {
        self.run(Role::Receiver, channel, items, columns)
    }

    fn run(
        &self,
        role: Role,
        channel: &mut Channel,
        items: &[u64],
        columns: &[Vec<i64>],
    ) -> Result<Output, JoinError> {
        let fingerprints = self.fingerprints(items);
        self.join.run(role, channel, fingerprints, columns, &[])
    }

    fn fingerprints(&self, items: &[u64]) -> Result<Vec<Fingerprint>, JoinError> {
        let bits = self.bits;
        let is_too_long = |item: &u64| item.checked_shr(bits).unwrap_or(0) > 0;
        match items.iter().position(is_too_long) {
            Some(at) => Err(JoinError::TooLong { at, bits }),
            None => distinct(items.iter().map(|item| items::number(*item))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use psijoin_channel::memory;
    use psijoin_psi::{Error, ErrorKind};

    use super::*;
    use crate::{OutputKind, registry};

    fn joined(
        [sending, receiving]: [&NumberJoin; 2],
        senders: &[u64],
        receivers: &[u64],
    ) -> [Result<Output, JoinError>; 2] {
        let (mut sender, mut receiver) = memory::pair();
        thread::scope(|scope| {
            let sent = scope.spawn(move || sending.send(&mut sender, senders, &[]));
            let received = receiving.receive(&mut receiver, receivers, &[]);
            drop(receiver);
            [sent.join().unwrap(), received]
        })
    }

    #[test]
    fn every_protocol_joins_numbers() {
        for bits in [1, 2, 32, 64] {
            let most = u64::MAX >> (64 - bits);
            let (senders, receivers) = match bits {
                1 => (vec![0, 1], vec![1]),
                _ => (vec![0, most, 1], vec![most, 0, 2]),
            };
            let names = registry::PROTOCOLS.iter().map(|it| it.info().name);
            for name in names.chain(["auto", "kkrt-pssz"]) {
                let join = Join::default().protocol(registry::find(name).unwrap());
                let join = join.numbers(bits);
                let [sent, received] = joined([&join; 2], &senders, &receivers);
                assert_eq!(sent.unwrap(), Output::Nothing);
                let shared = (0..receivers.len().min(2) as u32).collect();
                assert_eq!(received.unwrap(), Output::Rows(shared), "{name}, {bits}");
            }
        }
    }

    #[test]
    fn another_length_is_named_on_both_sides() {
        let of_bits = |bits| Join::default().numbers(bits);
        for result in joined([&of_bits(32), &of_bits(33)], &[1], &[1]) {
            let error = result.unwrap_err();
            assert!(matches!(error, JoinError::Disagreement(_)), "{error}");
            assert!(error.to_string().contains("bits of an item"), "{error}");
        }
        let (mut sender, mut receiver) = memory::pair();
        let errors = thread::scope(|scope| {
            let sent = scope.spawn(|| of_bits(32).send(&mut sender, &[1], &[]));
            let received = Join::default().receive(&mut receiver, &["1"], &[]);
            [sent.join().unwrap(), received].map(Result::unwrap_err)
        });
        for error in errors.map(|error| error.to_string()) {
            assert!(error.contains("bits of an item"), "{error}");
            assert!(error.contains("(nothing)"), "{error}");
        }
    }

    #[test]
    fn numbers_that_are_not_as_promised_are_refused_and_the_peer_is_told() {
        let join = Join::default().numbers(8);
        let refusal = |items: &[u64]| {
            let [sent, received] = joined([&join; 2], items, &[1]);
            assert!(matches!(received, Err(JoinError::Run(Error::Channel(_)))));
            sent.unwrap_err()
        };
        let refused = refusal(&[1, 255, 256]);
        assert!(matches!(refused, JoinError::TooLong { at: 2, bits: 8 }));
        let refused = refusal(&[1, 7, 7]);
        assert!(matches!(
            refused,
            JoinError::Duplicate { first: 1, again: 2 }
        ));
        for bits in [0, 65] {
            let join = Join::default().output(OutputKind::Count).numbers(bits);
            for result in joined([&join; 2], &[0], &[0]) {
                let Err(JoinError::Run(error)) = result else {
                    panic!("{result:?}");
                };
                assert_eq!(error.kind(), ErrorKind::Misuse, "{error}");
            }
        }
    }
}
