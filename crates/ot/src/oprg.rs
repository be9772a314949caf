//! Oblivious pseudorandom generator (PSZ14 §4.3): at each place the sender gets a random string,
//! and the receiver gets it too where its choice is one. The sender does not learn the choices;
//! the receiver knows nothing of the other strings.
//!
//! It is random OT of which one message of two is never looked at: the sender ignores the one for
//! choice zero, and the receiver what it gets there.
//!
//! | on | security | bytes a place |
//! |---|---|---|
//! | [`Iknp`] | semi-honest; that of [`iknp`] | 16 |
//! | [`Silent`] | semi-honest; dual LPN, see [`silent`] | 1/8, and a few 100 KB a call |
//!
//! On silent OT, whose choices r are random, the receiver sends c ⊕ r for the choices c that it
//! has, and the sender takes the message for c ⊕ r = 0 or 1 that answers to c = 1 (Beaver). Since r
//! is pseudorandom for the sender, that says nothing of c.

use psijoin_block::{Block, Prg};
use psijoin_channel::Channel;
use rayon::prelude::*;

use crate::{
    Error,
    iknp::{self, SemiHonest, hash_rows},
    silent,
};

/// An oblivious PRG, for semi-honest parties.
pub trait Oprg: Send + Sync + 'static {
    /// The party that gets all strings, after its setup.
    type Sender: Send;
    /// The party that chooses, after its setup.
    type Receiver: Send;

    /// Bytes that the sender sends in its setup, which is one flight both ways.
    const SETUP_SENDER_BYTES: u64;
    /// Bytes that the receiver sends in its setup.
    const SETUP_RECEIVER_BYTES: u64;

    /// Bytes that the sender sends for `count` places.
    fn sender_bytes(count: usize) -> u64;
    /// Bytes that the receiver sends for `count` places.
    fn receiver_bytes(count: usize) -> u64;
    /// Flights of `calls` calls that follow each other. The first and the last are the
    /// receiver's.
    fn flights(calls: u64) -> u64;

    /// The sender's setup, which serves any number of calls; the peer calls
    /// [`set_up_receiver`](Self::set_up_receiver).
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid group element.
    fn set_up_sender(channel: &mut Channel, rng: &mut Prg) -> Result<Self::Sender, Error>;

    /// The receiver's setup.
    ///
    /// # Errors
    /// As [`set_up_sender`](Self::set_up_sender).
    fn set_up_receiver(channel: &mut Channel, rng: &mut Prg) -> Result<Self::Receiver, Error>;

    /// A string for each place of `out`.
    ///
    /// # Errors
    /// If the channel breaks.
    fn send(
        sender: &mut Self::Sender,
        out: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error>;

    /// The sender's string at each place of `out` where the choice (bit j mod 128 of block j / 128)
    /// is one, and a string that the sender does not look at elsewhere.
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If there are fewer choices than places.
    fn receive(
        receiver: &mut Self::Receiver,
        choices: &[Block],
        out: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error>;
}

/// On IKNP's OT extension.
#[derive(Debug, Clone, Copy)]
pub enum Iknp {}

/// On silent OT.
#[derive(Debug, Clone, Copy)]
pub enum Silent {}

impl Oprg for Iknp {
    type Sender = iknp::Sender<SemiHonest>;
    type Receiver = iknp::Receiver<SemiHonest>;

    const SETUP_SENDER_BYTES: u64 = iknp::SETUP_SENDER_BYTES;
    const SETUP_RECEIVER_BYTES: u64 = iknp::SETUP_RECEIVER_BYTES;

    fn sender_bytes(count: usize) -> u64 {
        iknp::sender_bytes::<SemiHonest>(count)
    }

    fn receiver_bytes(count: usize) -> u64 {
        iknp::receiver_bytes::<SemiHonest>(count)
    }

    fn flights(_calls: u64) -> u64 {
        1
    }

    fn set_up_sender(channel: &mut Channel, rng: &mut Prg) -> Result<Self::Sender, Error> {
        iknp::Sender::setup(channel, rng)
    }

    fn set_up_receiver(channel: &mut Channel, rng: &mut Prg) -> Result<Self::Receiver, Error> {
        iknp::Receiver::setup(channel, rng)
    }

    fn send(
        sender: &mut Self::Sender,
        out: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        sender.random_ones(out, channel)
    }

    fn receive(
        receiver: &mut Self::Receiver,
        choices: &[Block],
        out: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        receiver.random(choices, out, channel)
    }
}

/// Blocks of choices in a message: 64 KiB.
const CHOICES_PER_MESSAGE: usize = 1 << 12;

impl Oprg for Silent {
    type Sender = silent::Sender<SemiHonest>;
    type Receiver = silent::Receiver<SemiHonest>;

    const SETUP_SENDER_BYTES: u64 = silent::SETUP_SENDER_BYTES;
    const SETUP_RECEIVER_BYTES: u64 = silent::SETUP_RECEIVER_BYTES;

    fn sender_bytes(count: usize) -> u64 {
        silent::sender_bytes::<SemiHonest>(count)
    }

    fn receiver_bytes(count: usize) -> u64 {
        let choices = count.div_ceil(Block::BITS) * Block::BYTES;
        silent::receiver_bytes::<SemiHonest>(count) + choices as u64
    }

    fn flights(calls: u64) -> u64 {
        2 * calls + 1
    }

    fn set_up_sender(channel: &mut Channel, rng: &mut Prg) -> Result<Self::Sender, Error> {
        silent::Sender::setup(channel, rng)
    }

    fn set_up_receiver(channel: &mut Channel, rng: &mut Prg) -> Result<Self::Receiver, Error> {
        silent::Receiver::setup(channel, rng)
    }

    fn send(
        sender: &mut Self::Sender,
        out: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        let rows = sender.correlated(out.len(), channel)?;
        let mut flips = vec![Block::ZERO; out.len().div_ceil(Block::BITS)];
        for message in flips.chunks_mut(CHOICES_PER_MESSAGE) {
            channel.recv(bytemuck::cast_slice_mut(message))?;
        }
        let delta = sender.delta();
        out.par_chunks_mut(Block::BITS)
            .zip(rows.par_chunks(Block::BITS))
            .zip(&flips)
            .for_each(|((out, rows), flips)| {
                for (i, (out, row)) in out.iter_mut().zip(rows).enumerate() {
                    *out = *row ^ (delta & Block::splat(!flips.bit(i)));
                }
            });
        hash_rows::<SemiHonest>(0, out);
        Ok(())
    }

    fn receive(
        receiver: &mut Self::Receiver,
        choices: &[Block],
        out: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        assert!(
            out.len() <= choices.len() * Block::BITS,
            "a choice for each place"
        );
        let chosen = receiver.random(out.len(), channel)?;
        let mut flips = chosen.choices;
        for (flip, choice) in flips.iter_mut().zip(choices) {
            *flip ^= *choice;
        }
        if let (Some(last), used @ 1..) = (flips.last_mut(), out.len() % Block::BITS) {
            // What is beyond the last place is nobody's business.
            *last = Block(last.0 & ((1 << used) - 1));
        }
        for message in flips.chunks(CHOICES_PER_MESSAGE) {
            channel.send(bytemuck::cast_slice(message))?;
        }
        out.copy_from_slice(&chosen.messages);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use psijoin_channel::{count::counted, memory};

    use super::*;

    /// Two calls after one setup.
    fn check<O: Oprg>() {
        for count in [1, 127, 128, 9000_usize] {
            let (sender, mut receiver) = memory::pair();
            let (mut sender, counters) = counted(sender);
            let mut choices = vec![Block::ZERO; count.div_ceil(Block::BITS)];
            Prg::from_seed(Block(1)).fill(&mut choices);
            let choices = &choices;
            thread::scope(|scope| {
                let senders = scope.spawn(move || {
                    let mut ots =
                        O::set_up_sender(&mut sender, &mut Prg::from_seed(Block(2))).unwrap();
                    [(); 2].map(|()| {
                        let mut strings = vec![Block::ZERO; count];
                        O::send(&mut ots, &mut strings, &mut sender).unwrap();
                        strings
                    })
                });
                let rng = &mut Prg::from_seed(Block(3));
                let mut ots = O::set_up_receiver(&mut receiver, rng).unwrap();
                let received = [(); 2].map(|()| {
                    let mut strings = vec![Block::ZERO; count];
                    O::receive(&mut ots, choices, &mut strings, &mut receiver).unwrap();
                    strings
                });
                let sent = senders.join().unwrap();
                assert!(sent[0] != sent[1], "fresh strings");
                for (sent, received) in sent.iter().zip(&received) {
                    for (j, (sent, received)) in sent.iter().zip(received).enumerate() {
                        assert_eq!(sent == received, choices[j / 128].bit(j % 128), "{j}");
                    }
                }
            });
            let traffic = counters.snapshot();
            let (sender, receiver) = (O::sender_bytes(count), O::receiver_bytes(count));
            assert_eq!(traffic.sent.bytes, O::SETUP_SENDER_BYTES + 2 * sender);
            assert_eq!(
                traffic.received.bytes,
                O::SETUP_RECEIVER_BYTES + 2 * receiver
            );
            assert_eq!(traffic.rounds, 1 + O::flights(2));
        }
    }

    #[test]
    fn both_have_the_same_strings_where_the_receiver_chose_them() {
        check::<Iknp>();
        check::<Silent>();
    }
}
