//! Correlated OT behind one interface, so that a protocol can be run on IKNP's extension, as in
//! the papers, and on silent OT, which sends far less.
//!
//! The sender holds Δ, whose lowest bit is 1 (so that 127 bits are secret), and gets q_j; the
//! receiver has choices c_j and gets t_j = q_j ⊕ c_j·Δ. The choices are random, or those that the
//! receiver has.
//!
//! | | bytes an OT, random choices | given choices |
//! |---|---|---|
//! | [`Iknp`] | 16 | 16 |
//! | [`Silent`] | none, but a few 100 KB a call | 1/8 more |
//!
//! On silent OT, whose choices r are random, the receiver of given choices sends c ⊕ r, and the
//! sender adds Δ where that is 1 (Beaver). Since r is pseudorandom for the sender, that says
//! nothing of c. Parties are semi-honest.

use std::fmt::Debug;

use psijoin_block::{Block, Prg, memory::Buffer, parallel};
use psijoin_channel::Channel;
use zeroize::Zeroizing;

use crate::{
    Error,
    iknp::{self, ROWS_PER_TASK, SemiHonest, hash_rows},
    silent::{self, Chosen},
};

/// A way to extend OTs, for semi-honest parties.
pub trait Extension: Copy + Debug + Send + Sync + 'static {
    /// The party with Δ, after its setup.
    type Sender: Send;
    /// The party with choices, after its setup.
    type Receiver: Send;

    /// Bytes that the sender sends in its setup, which is one flight both ways.
    const SETUP_SENDER_BYTES: u64;
    /// Bytes that the receiver sends in its setup.
    const SETUP_RECEIVER_BYTES: u64;

    /// Bytes that the sender sends for `count` OTs, whatever the choices.
    fn sender_bytes(count: usize) -> u64;
    /// Bytes that the receiver sends for `count` OTs of random choices.
    fn receiver_bytes(count: usize) -> u64;
    /// Bytes that the receiver sends for `count` OTs of given choices.
    fn chosen_receiver_bytes(count: usize) -> u64;
    /// Flights of `calls` calls for given choices that follow each other. The first and the last
    /// are the receiver's.
    fn chosen_flights(calls: u64) -> u64;

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

    /// Δ.
    fn delta(sender: &Self::Sender) -> Zeroizing<Block>;

    /// q_j of `count` OTs of random choices.
    ///
    /// # Errors
    /// If the channel breaks. So do the functions below.
    fn send(
        sender: &mut Self::Sender,
        count: usize,
        channel: &mut Channel,
    ) -> Result<Buffer<Block>, Error>;

    /// c_j and t_j of `count` OTs of random choices.
    fn receive(
        receiver: &mut Self::Receiver,
        count: usize,
        channel: &mut Channel,
    ) -> Result<Chosen, Error>;

    /// q_j of as many OTs of the receiver's choices as there is room for.
    fn send_chosen(
        sender: &mut Self::Sender,
        rows: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error>;

    /// t_j of as many OTs as there is room for, of the choices c_j: bit j mod 128 of block j / 128.
    ///
    /// # Panics
    /// If there are not as many blocks as the choices take.
    fn receive_chosen(
        receiver: &mut Self::Receiver,
        choices: &[Block],
        rows: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error>;
}

/// IKNP's OT extension.
#[derive(Debug, Clone, Copy)]
pub enum Iknp {}

/// Silent OT.
#[derive(Debug, Clone, Copy)]
pub enum Silent {}

/// The receiver of IKNP's extension, which draws its choices itself if they are to be random.
pub struct IknpReceiver {
    ots: iknp::Receiver<SemiHonest>,
    choices: Prg,
}

impl Extension for Iknp {
    type Sender = iknp::Sender<SemiHonest>;
    type Receiver = IknpReceiver;

    const SETUP_SENDER_BYTES: u64 = iknp::SETUP_SENDER_BYTES;
    const SETUP_RECEIVER_BYTES: u64 = iknp::SETUP_RECEIVER_BYTES;

    fn sender_bytes(count: usize) -> u64 {
        iknp::sender_bytes::<SemiHonest>(count)
    }

    fn receiver_bytes(count: usize) -> u64 {
        iknp::receiver_bytes::<SemiHonest>(count)
    }

    fn chosen_receiver_bytes(count: usize) -> u64 {
        Self::receiver_bytes(count)
    }

    fn chosen_flights(_calls: u64) -> u64 {
        1
    }

    fn set_up_sender(channel: &mut Channel, rng: &mut Prg) -> Result<Self::Sender, Error> {
        let delta = Zeroizing::new(Block(rng.block().0 | 1));
        iknp::Sender::setup_with(delta, channel, rng)
    }

    fn set_up_receiver(channel: &mut Channel, rng: &mut Prg) -> Result<Self::Receiver, Error> {
        Ok(IknpReceiver {
            ots: iknp::Receiver::setup(channel, rng)?,
            choices: rng.fork(),
        })
    }

    fn delta(sender: &Self::Sender) -> Zeroizing<Block> {
        sender.delta()
    }

    fn send(
        sender: &mut Self::Sender,
        count: usize,
        channel: &mut Channel,
    ) -> Result<Buffer<Block>, Error> {
        let mut rows = Buffer::zeroed(count);
        Self::send_chosen(sender, &mut rows, channel)?;
        Ok(rows)
    }

    fn receive(
        receiver: &mut Self::Receiver,
        count: usize,
        channel: &mut Channel,
    ) -> Result<Chosen, Error> {
        let mut choices = Zeroizing::new(vec![Block::ZERO; count.div_ceil(Block::BITS)]);
        receiver.choices.fill(&mut choices);
        clear_behind(&mut choices, count);
        let mut messages = Buffer::zeroed(count);
        Self::receive_chosen(receiver, &choices, &mut messages, channel)?;
        Ok(Chosen { choices, messages })
    }

    fn send_chosen(
        sender: &mut Self::Sender,
        rows: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        sender.correlated(rows, channel)
    }

    fn receive_chosen(
        receiver: &mut Self::Receiver,
        choices: &[Block],
        rows: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        receiver.ots.correlated(choices, rows, channel)
    }
}

/// Choices are sent eight a byte, so many bytes in a message.
const CHOICE_BYTES_PER_MESSAGE: usize = 1 << 16;

impl Extension for Silent {
    type Sender = silent::Sender<SemiHonest>;
    type Receiver = silent::Receiver<SemiHonest>;

    const SETUP_SENDER_BYTES: u64 = silent::SETUP_SENDER_BYTES;
    const SETUP_RECEIVER_BYTES: u64 = silent::SETUP_RECEIVER_BYTES;

    fn sender_bytes(count: usize) -> u64 {
        silent::sender_bytes::<SemiHonest>(count)
    }

    fn receiver_bytes(count: usize) -> u64 {
        silent::receiver_bytes::<SemiHonest>(count)
    }

    fn chosen_receiver_bytes(count: usize) -> u64 {
        Self::receiver_bytes(count) + count.div_ceil(8) as u64
    }

    fn chosen_flights(calls: u64) -> u64 {
        2 * calls + 1
    }

    fn set_up_sender(channel: &mut Channel, rng: &mut Prg) -> Result<Self::Sender, Error> {
        silent::Sender::setup(channel, rng)
    }

    fn set_up_receiver(channel: &mut Channel, rng: &mut Prg) -> Result<Self::Receiver, Error> {
        silent::Receiver::setup(channel, rng)
    }

    fn delta(sender: &Self::Sender) -> Zeroizing<Block> {
        sender.delta()
    }

    fn send(
        sender: &mut Self::Sender,
        count: usize,
        channel: &mut Channel,
    ) -> Result<Buffer<Block>, Error> {
        sender.correlated(count, channel)
    }

    fn receive(
        receiver: &mut Self::Receiver,
        count: usize,
        channel: &mut Channel,
    ) -> Result<Chosen, Error> {
        receiver.correlated(count, channel)
    }

    fn send_chosen(
        sender: &mut Self::Sender,
        rows: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        rows.copy_from_slice(&sender.correlated(rows.len(), channel)?);
        let mut flips = vec![Block::ZERO; rows.len().div_ceil(Block::BITS)];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut flips);
        for message in bytes[..rows.len().div_ceil(8)].chunks_mut(CHOICE_BYTES_PER_MESSAGE) {
            channel.recv(message)?;
        }
        let delta = sender.delta();
        parallel::chunks_mut(rows, ROWS_PER_TASK, &|range, rows| {
            let flips = &flips[range.start / Block::BITS..];
            for (rows, flips) in rows.chunks_mut(Block::BITS).zip(flips) {
                for (i, row) in rows.iter_mut().enumerate() {
                    *row ^= *delta & Block::splat(flips.bit(i));
                }
            }
        });
        Ok(())
    }

    fn receive_chosen(
        receiver: &mut Self::Receiver,
        choices: &[Block],
        rows: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        let count = rows.len();
        assert_eq!(choices.len(), count.div_ceil(Block::BITS), "a choice an OT");
        let chosen = receiver.correlated(count, channel)?;
        let mut flips = chosen.choices;
        for (flip, choice) in flips.iter_mut().zip(choices) {
            *flip ^= *choice;
        }
        // What is beyond the last OT is nobody's business.
        clear_behind(&mut flips, count);
        let bytes: &[u8] = bytemuck::cast_slice(&flips);
        for message in bytes[..count.div_ceil(8)].chunks(CHOICE_BYTES_PER_MESSAGE) {
            channel.send(message)?;
        }
        rows.copy_from_slice(&chosen.messages);
        Ok(())
    }
}

/// Clears the bits behind the first `count`.
fn clear_behind(choices: &mut [Block], count: usize) {
    if let (Some(last), used @ 1..) = (choices.last_mut(), count % Block::BITS) {
        *last = Block(last.0 & ((1 << used) - 1));
    }
}

/// The sender's random messages H(q_j) and H(q_j ⊕ Δ), in place of q_j and in a list of their own.
pub fn random_messages(rows: &mut [Block], delta: &Block) -> Buffer<Block> {
    let mut others = Buffer::zeroed(rows.len());
    for (other, row) in others.iter_mut().zip(&*rows) {
        *other = *row ^ *delta;
    }
    hash_rows::<SemiHonest>(0, rows);
    hash_rows::<SemiHonest>(0, &mut others);
    others
}

/// The receiver's random message H(t_j), in place of t_j.
pub fn random_message(rows: &mut [Block]) {
    hash_rows::<SemiHonest>(0, rows);
}

#[cfg(test)]
mod tests {
    use std::thread;

    use psijoin_channel::{count::counted, memory};

    use super::*;

    fn choice(choices: &[Block], j: usize) -> bool {
        choices[j / Block::BITS].bit(j % Block::BITS)
    }

    /// OTs of random and of given choices, after one setup.
    fn check<E: Extension>() {
        for count in [1, 127, 128, 9000_usize] {
            let (sender, mut receiver) = memory::pair();
            let (mut sender, counters) = counted(sender);
            let mut given = vec![Block::ZERO; count.div_ceil(Block::BITS)];
            Prg::from_seed(Block(1)).fill(&mut given);
            clear_behind(&mut given, count);
            let (q, t) = thread::scope(|scope| {
                let sent = scope.spawn(move || {
                    let rng = &mut Prg::from_seed(Block(2));
                    let mut ots = E::set_up_sender(&mut sender, rng).unwrap();
                    let random = E::send(&mut ots, count, &mut sender).unwrap();
                    let mut chosen = Buffer::zeroed(count);
                    E::send_chosen(&mut ots, &mut chosen, &mut sender).unwrap();
                    (E::delta(&ots), [random, chosen])
                });
                let rng = &mut Prg::from_seed(Block(3));
                let mut ots = E::set_up_receiver(&mut receiver, rng).unwrap();
                let random = E::receive(&mut ots, count, &mut receiver).unwrap();
                let mut chosen = Buffer::zeroed(count);
                E::receive_chosen(&mut ots, &given, &mut chosen, &mut receiver).unwrap();
                let t = [(random.choices.to_vec(), random.messages), (given, chosen)];
                (sent.join().unwrap(), t)
            });
            let (delta, q) = q;
            assert!(delta.bit(0), "the lowest bit is 1");
            for (mut q, (choices, mut t)) in q.into_iter().zip(t) {
                assert_eq!(choices.len(), count.div_ceil(Block::BITS));
                for j in 0..count {
                    let expected = q[j] ^ (*delta & Block::splat(choice(&choices, j)));
                    assert!(t[j] == expected, "OT {j} of {count}");
                }
                let ones = random_messages(&mut q, &delta);
                random_message(&mut t);
                for j in 0..count {
                    assert!(t[j] == if choice(&choices, j) { ones[j] } else { q[j] });
                }
            }
            let traffic = counters.snapshot();
            let sent = E::SETUP_SENDER_BYTES + 2 * E::sender_bytes(count);
            let received = E::receiver_bytes(count) + E::chosen_receiver_bytes(count);
            assert_eq!(traffic.sent.bytes, sent);
            assert_eq!(traffic.received.bytes, E::SETUP_RECEIVER_BYTES + received);
        }
    }

    #[test]
    fn each_extension_correlates_as_chosen() {
        check::<Iknp>();
        check::<Silent>();
    }
}
