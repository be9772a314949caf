//! Correlated OT behind one interface, so that a protocol can be run on IKNP's extension, as in
//! the papers, and on silent OT, which sends far less.
//!
//! The sender holds Δ, whose lowest bit is 1 (so that 127 bits are secret), and gets q_j; the
//! receiver has choices c_j and gets t_j = q_j ⊕ c_j·Δ. The choices are random, or given by the
//! receiver.
//!
//! | | bytes per OT, random choices | given choices |
//! |---|---|---|
//! | [`Iknp`](Extension::IKNP) | 16 | 16 |
//! | [`Silent`](Extension::SILENT) | none, but a few 100 KB per call | 1/8 more |
//!
//! The choices r of silent OT are random. For given choices c, the receiver sends c ⊕ r, and the
//! sender adds Δ where that is 1 (Beaver). Since r is pseudorandom for the sender, that tells
//! nothing about c. Parties are semi-honest.

use psijoin_block::{Block, Prg};
use psijoin_channel::Channel;
use psijoin_runtime::{memory::Buffer, parallel};
use zeroize::Zeroizing;

use crate::{
    BaseOts, Error,
    iknp::{self, ROWS_PER_TASK, SemiHonest, hash_rows},
    silent::{self, Chosen},
};

/// A way to extend OTs, for semi-honest parties, and the base OTs that it starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    means: Means,
    base: BaseOts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    Iknp,
    Silent,
}

impl Extension {
    /// IKNP's OT extension.
    pub const IKNP: Self = Self {
        means: Means::Iknp,
        base: BaseOts::DiffieHellman,
    };

    /// Silent OT.
    pub const SILENT: Self = Self {
        means: Means::Silent,
        base: BaseOts::DiffieHellman,
    };

    /// Sets the base OTs.
    #[must_use]
    pub const fn on(self, base: BaseOts) -> Self {
        Self { base, ..self }
    }

    /// Returns the base OTs, of which the sender is the receiver.
    pub const fn base(self) -> BaseOts {
        self.base
    }

    /// Returns whether it is silent OT.
    pub const fn is_silent(self) -> bool {
        matches!(self.means, Means::Silent)
    }

    /// Returns the number of bytes that the sender sends in its setup: in the base OTs.
    pub const fn setup_sender_bytes(self) -> u64 {
        match self.means {
            Means::Iknp => iknp::setup_sender_bytes(self.base),
            Means::Silent => silent::setup_sender_bytes(self.base),
        }
    }

    /// Returns the number of bytes that the receiver sends in its setup: in the base OTs, and more
    /// at once after them.
    pub const fn setup_receiver_bytes(self) -> u64 {
        match self.means {
            Means::Iknp => iknp::setup_receiver_bytes(self.base),
            Means::Silent => silent::setup_receiver_bytes(self.base),
        }
    }

    /// Returns the number of bytes that the sender sends for `count` OTs, whatever the choices.
    pub fn sender_bytes(self, count: usize) -> u64 {
        match self.means {
            Means::Iknp => iknp::sender_bytes::<SemiHonest>(count),
            Means::Silent => silent::sender_bytes::<SemiHonest>(count),
        }
    }

    /// Returns the number of bytes that the receiver sends for `count` OTs of random choices.
    pub fn receiver_bytes(self, count: usize) -> u64 {
        match self.means {
            Means::Iknp => iknp::receiver_bytes::<SemiHonest>(count),
            Means::Silent => silent::receiver_bytes::<SemiHonest>(count),
        }
    }

    /// Returns the number of bytes that the receiver sends for `count` OTs of given choices.
    pub fn chosen_receiver_bytes(self, count: usize) -> u64 {
        let flips = match self.means {
            Means::Iknp => 0,
            Means::Silent => count.div_ceil(8) as u64,
        };
        self.receiver_bytes(count) + flips
    }

    /// Flights of `calls` calls for given choices that follow each other. The first and the last
    /// are the receiver's.
    pub const fn chosen_flights(self, calls: u64) -> u64 {
        match self.means {
            Means::Iknp => 1,
            Means::Silent => 2 * calls + 1,
        }
    }

    /// Returns the sender's setup, which serves any number of calls; the peer calls
    /// [`set_up_receiver`](Self::set_up_receiver).
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid public key.
    pub fn set_up_sender(self, channel: &mut Channel, rng: &mut Prg) -> Result<Sender, Error> {
        let ots = match self.means {
            Means::Iknp => {
                let delta = Zeroizing::new(Block(rng.block().0 | 1));
                SenderOts::Iknp(iknp::Sender::setup_with(delta, self.base, channel, rng)?)
            }
            Means::Silent => SenderOts::Silent(silent::Sender::setup(self.base, channel, rng)?),
        };
        Ok(Sender { ots })
    }

    /// Returns the receiver's setup.
    ///
    /// # Errors
    /// As [`set_up_sender`](Self::set_up_sender).
    pub fn set_up_receiver(self, channel: &mut Channel, rng: &mut Prg) -> Result<Receiver, Error> {
        let ots = match self.means {
            Means::Iknp => ReceiverOts::Iknp {
                ots: iknp::Receiver::setup(self.base, channel, rng)?,
                choices: rng.fork(),
            },
            Means::Silent => ReceiverOts::Silent(silent::Receiver::setup(self.base, channel, rng)?),
        };
        Ok(Receiver { ots })
    }
}

/// The party with Δ, after its setup.
pub struct Sender {
    ots: SenderOts,
}

enum SenderOts {
    Iknp(iknp::Sender<SemiHonest>),
    Silent(silent::Sender<SemiHonest>),
}

/// The party with choices, after its setup.
pub struct Receiver {
    ots: ReceiverOts,
}

enum ReceiverOts {
    /// It draws its choices itself if they are to be random.
    Iknp {
        ots: iknp::Receiver<SemiHonest>,
        choices: Prg,
    },
    Silent(silent::Receiver<SemiHonest>),
}

impl Sender {
    /// Returns Δ.
    pub fn delta(&self) -> Zeroizing<Block> {
        match &self.ots {
            SenderOts::Iknp(ots) => ots.delta(),
            SenderOts::Silent(ots) => ots.delta(),
        }
    }

    /// Returns q_j of `count` OTs of random choices.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn send(&mut self, count: usize, channel: &mut Channel) -> Result<Buffer<Block>, Error> {
        match &mut self.ots {
            SenderOts::Iknp(ots) => {
                let mut rows = Buffer::zeroed(count);
                ots.correlated(&mut rows, channel)?;
                Ok(rows)
            }
            SenderOts::Silent(ots) => ots.correlated(count, channel),
        }
    }

    /// Writes q_j of as many OTs of the receiver's choices as there is room for.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn send_chosen(&mut self, rows: &mut [Block], channel: &mut Channel) -> Result<(), Error> {
        match &mut self.ots {
            SenderOts::Iknp(ots) => ots.correlated(rows, channel),
            SenderOts::Silent(ots) => {
                rows.copy_from_slice(&ots.correlated(rows.len(), channel)?);
                let flips = receive_flips(rows.len(), channel)?;
                add_where_flipped(rows, &flips, &ots.delta());
                Ok(())
            }
        }
    }
}

impl Receiver {
    /// Returns c_j and t_j of `count` OTs of random choices.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn receive(&mut self, count: usize, channel: &mut Channel) -> Result<Chosen, Error> {
        match &mut self.ots {
            ReceiverOts::Iknp { ots, choices: prg } => {
                let mut choices = Zeroizing::new(vec![Block::ZERO; count.div_ceil(Block::BITS)]);
                prg.fill(&mut choices);
                clear_behind(&mut choices, count);
                let mut messages = Buffer::zeroed(count);
                ots.correlated(&choices, &mut messages, channel)?;
                Ok(Chosen { choices, messages })
            }
            ReceiverOts::Silent(ots) => ots.correlated(count, channel),
        }
    }

    /// Writes t_j of as many OTs as there is room for, of the choices c_j: bit j mod 128 of block j
    /// / 128.
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If the number of blocks is not what the choices take.
    pub fn receive_chosen(
        &mut self,
        choices: &[Block],
        rows: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        let count = rows.len();
        assert_eq!(
            choices.len(),
            count.div_ceil(Block::BITS),
            "a choice per OT"
        );
        match &mut self.ots {
            ReceiverOts::Iknp { ots, .. } => ots.correlated(choices, rows, channel),
            ReceiverOts::Silent(ots) => {
                let chosen = ots.correlated(count, channel)?;
                send_flips(chosen.choices, choices, count, channel)?;
                rows.copy_from_slice(&chosen.messages);
                Ok(())
            }
        }
    }
}

/// Choices are sent eight per byte, with this many bytes in a message.
const CHOICE_BYTES_PER_MESSAGE: usize = 1 << 16;

/// Says where the choices of `count` OTs differ from the random ones.
fn send_flips(
    random: Zeroizing<Vec<Block>>,
    choices: &[Block],
    count: usize,
    channel: &mut Channel,
) -> Result<(), Error> {
    let mut flips = random;
    for (flip, choice) in flips.iter_mut().zip(choices) {
        *flip ^= *choice;
    }
    // The bits beyond the last OT belong to nobody.
    clear_behind(&mut flips, count);
    let bytes: &[u8] = bytemuck::cast_slice(&flips);
    for message in bytes[..count.div_ceil(8)].chunks(CHOICE_BYTES_PER_MESSAGE) {
        channel.send(message)?;
    }
    Ok(())
}

fn receive_flips(count: usize, channel: &mut Channel) -> Result<Vec<Block>, Error> {
    let mut flips = vec![Block::ZERO; count.div_ceil(Block::BITS)];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut flips);
    for message in bytes[..count.div_ceil(8)].chunks_mut(CHOICE_BYTES_PER_MESSAGE) {
        channel.recv(message)?;
    }
    Ok(flips)
}

/// Adds Δ where the choice is not the random one.
fn add_where_flipped(rows: &mut [Block], flips: &[Block], delta: &Block) {
    parallel::chunks_mut(rows, ROWS_PER_TASK, &|range, rows| {
        let flips = &flips[range.start / Block::BITS..];
        for (rows, flips) in rows.chunks_mut(Block::BITS).zip(flips) {
            for (i, row) in rows.iter_mut().enumerate() {
                *row ^= *delta & Block::splat(flips.bit(i));
            }
        }
    });
}

/// Clears the bits after the first `count`.
fn clear_behind(choices: &mut [Block], count: usize) {
    if let (Some(last), used @ 1..) = (choices.last_mut(), count % Block::BITS) {
        *last = Block(last.0 & ((1 << used) - 1));
    }
}

/// Returns the sender's random messages H(q_j) and H(q_j ⊕ Δ), in place of q_j and in a list of
/// their own.
pub fn random_messages(rows: &mut [Block], delta: &Block) -> Buffer<Block> {
    let mut others = Buffer::zeroed(rows.len());
    for (other, row) in others.iter_mut().zip(&*rows) {
        *other = *row ^ *delta;
    }
    hash_rows::<SemiHonest>(0, rows);
    hash_rows::<SemiHonest>(0, &mut others);
    others
}

/// Puts the receiver's random message H(t_j) in place of t_j.
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

    /// Tests OTs of random and of given choices, after one setup.
    fn check(extension: Extension) {
        for count in [1, 127, 128, 9000_usize] {
            let (sender, mut receiver) = memory::pair();
            let (mut sender, counters) = counted(sender);
            let mut given = vec![Block::ZERO; count.div_ceil(Block::BITS)];
            Prg::from_seed(Block(1)).fill(&mut given);
            clear_behind(&mut given, count);
            let (q, t) = thread::scope(|scope| {
                let sent = scope.spawn(move || {
                    let rng = &mut Prg::from_seed(Block(2));
                    let mut ots = extension.set_up_sender(&mut sender, rng).unwrap();
                    let random = ots.send(count, &mut sender).unwrap();
                    let mut chosen = Buffer::zeroed(count);
                    ots.send_chosen(&mut chosen, &mut sender).unwrap();
                    (ots.delta(), [random, chosen])
                });
                let rng = &mut Prg::from_seed(Block(3));
                let mut ots = extension.set_up_receiver(&mut receiver, rng).unwrap();
                let random = ots.receive(count, &mut receiver).unwrap();
                let mut chosen = Buffer::zeroed(count);
                ots.receive_chosen(&given, &mut chosen, &mut receiver)
                    .unwrap();
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
            let sent = extension.setup_sender_bytes() + 2 * extension.sender_bytes(count);
            let received = extension.receiver_bytes(count) + extension.chosen_receiver_bytes(count);
            assert_eq!(traffic.sent.bytes, sent);
            assert_eq!(
                traffic.received.bytes,
                extension.setup_receiver_bytes() + received
            );
        }
    }

    #[test]
    fn each_extension_correlates_as_chosen() {
        check(Extension::IKNP);
        check(Extension::SILENT);
    }
}
