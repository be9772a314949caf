//! Steps 1 and 2: from shares of b and α to shares of b·Δ, and of b·α_j·Δ for each bit of α.
//!
//! A bit x is shared as c ⊕ c', and Δ as δ ⊕ δ'. Each party is the sender of a correlated OT, with
//! q and its δ, and the receiver of another, with its c and t = q' ⊕ c·δ'. Then q ⊕ t ⊕ c·δ is its
//! share of x·Δ.

use psijoin_block::{Block, Prg, crhf};
use psijoin_channel::Channel;
use psijoin_circuit::{Bits, Lanes};
use psijoin_ot::extension::Extension;
use psijoin_psi::{BaseOts, Conversation, Error, Role, ots::Ots};
use psijoin_runtime::{memory::Buffer, parallel};
use zeroize::Zeroizing;

use super::{Shape, exchange};
use crate::products::{calls, extension};

/// Lanes of a task.
const LANES_PER_TASK: usize = 1 << 12;

/// The parties by whom OTs are sent, in the order of their setups.
const SENDERS: [Role; 2] = [Role::Sender, Role::Receiver];

/// Returns what is said offline and online.
pub(super) fn conversations(shape: Shape, base: BaseOts) -> [Conversation; 2] {
    let count = shape.lanes * (1 + shape.depth());
    let offline = SENDERS
        .into_iter()
        .fold(Conversation::default(), |talk, sender| {
            let ots = Ots {
                extension: extension(base),
                sender,
            };
            calls(count).fold(talk.then(ots.setup()), |talk, count| {
                talk.then(ots.random(count))
            })
        });
    let turns = shape.lanes.div_ceil(8) as u64;
    let bits = (shape.lanes * shape.depth()).div_ceil(8) as u64;
    let online = Conversation::default()
        .both(turns, turns)
        .both(bits, bits)
        .both(bits, bits);
    [offline, online]
}

/// OTs of random choices: those for b first, and then those for each bit of α.
pub(super) struct Paths {
    shape: Shape,
    /// δ.
    delta: Zeroizing<Block>,
    /// q of those for b.
    sent: Buffer<Block>,
    /// q ⊕ t.
    both: Buffer<Block>,
    choices: Bits,
}

/// A party's shares.
pub(super) struct Shares {
    /// Of Δ.
    pub(super) delta: Zeroizing<Block>,
    /// Of b·Δ in each lane, then of p_1·Δ in each lane, and so on.
    pub(super) bits: Buffer<Block>,
}

impl Paths {
    /// Runs the OTs in either direction.
    pub(super) fn prepare(
        shape: Shape,
        role: Role,
        base: BaseOts,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let count = shape.lanes * (1 + shape.depth());
        let mut paths = Self {
            shape,
            delta: Zeroizing::default(),
            sent: Buffer::zeroed(shape.lanes),
            both: Buffer::zeroed(count),
            choices: Bits::default(),
        };
        for sender in SENDERS {
            if sender == role {
                paths.send(sender, extension(base), channel, rng)?;
            } else {
                paths.receive(sender, extension(base), channel, rng)?;
            }
        }
        Ok(paths)
    }

    fn send(
        &mut self,
        sender: Role,
        extension: Extension,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<(), Error> {
        let mut ots = extension.set_up_sender(channel, rng)?;
        let mask = kept(sender);
        self.delta = Zeroizing::new(*ots.delta() & mask);
        let mut start = 0;
        for count in calls(self.both.len()) {
            let mut rows = ots.send(count, channel)?;
            rows.iter_mut().for_each(|row| *row &= mask);
            let for_b = self.sent.len().saturating_sub(start).min(count);
            self.sent[start.min(self.shape.lanes)..][..for_b].copy_from_slice(&rows[..for_b]);
            add(&mut self.both[start..][..count], &rows);
            start += count;
        }
        Ok(())
    }

    fn receive(
        &mut self,
        sender: Role,
        extension: Extension,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<(), Error> {
        let mut ots = extension.set_up_receiver(channel, rng)?;
        let mask = kept(sender);
        let mut start = 0;
        for count in calls(self.both.len()) {
            let mut chosen = ots.receive(count, channel)?;
            self.choices
                .append(&Bits::from_blocks(&chosen.choices, count));
            chosen.messages.iter_mut().for_each(|row| *row &= mask);
            add(&mut self.both[start..][..count], &chosen.messages);
            start += count;
        }
        Ok(())
    }

    /// Steps 1 and 2.
    pub(super) fn turn(
        self,
        selected: &Bits,
        points: &[u16],
        channel: &mut Channel,
    ) -> Result<Shares, Error> {
        let Self {
            shape,
            delta,
            mut sent,
            both: mut bits,
            choices,
        } = self;
        assert_eq!(points.len(), shape.lanes, "a point for each lane");
        // Step 1: t of the OTs for b is that of the party's share of b already.
        let mut received = Buffer::zeroed(shape.lanes);
        received.copy_from_slice(&sent);
        add(&mut received, &bits[..shape.lanes]);
        let turns = theirs(&(&choices.range(0..shape.lanes) ^ selected), channel)?;
        add_where(&mut sent, &turns, &delta);
        add_where(&mut bits[..shape.lanes], &(&turns ^ selected), &delta);
        // Step 2.
        let own = multiply(shape, selected, points, &delta, [sent, received], channel)?;
        let own = Bits::concat(&own);
        let rest = choices.range(shape.lanes..choices.lanes());
        let turns = theirs(&(&rest ^ &own), channel)?;
        add_where(&mut bits[shape.lanes..], &(&turns ^ &own), &delta);
        Ok(Shares { delta, bits })
    }
}

/// The bits of OTs that are kept: the lowest bit of one Δ is cleared, so that that of the XOR of
/// both is one.
fn kept(sender: Role) -> Block {
    match sender {
        Role::Sender => Block(!1),
        Role::Receiver => Block::ONES,
    }
}

/// Returns this party's shares of b·α_j in each lane, for each bit of α, the highest first. Its OTs
/// for b have q, and t of its share of b.
///
/// Each hash of an OT's messages hides all bits of a point at once.
fn multiply(
    shape: Shape,
    selected: &Bits,
    points: &[u16],
    delta: &Block,
    [mut sent, mut received]: [Buffer<Block>; 2],
    channel: &mut Channel,
) -> Result<Vec<Bits>, Error> {
    let mut others = Buffer::zeroed(sent.len());
    others.copy_from_slice(&sent);
    add_where(&mut others, &Bits::ones(sent.len()), delta);
    for rows in [&mut sent, &mut others, &mut received] {
        parallel::chunks_mut(rows, LANES_PER_TASK, &|_, rows| {
            crhf::correlation_robust(rows)
        });
    }
    let hidden = sent.iter().zip(others.iter()).zip(points);
    let hidden = hidden.map(|((first, other), point)| *first ^ *other ^ Block((*point).into()));
    let hidden: Zeroizing<Vec<Block>> = Zeroizing::new(hidden.collect());
    let wires = |rows: &[Block]| -> Vec<Bits> {
        let bit = |bit: usize| rows.iter().map(|row| row.bit(bit)).collect();
        (0..shape.depth()).rev().map(bit).collect()
    };
    let corrections = theirs(&Bits::concat(&wires(&hidden)), channel)?;
    let corrections = corrections.split(&vec![shape.lanes; shape.depth()]);
    add(&mut sent, &received);
    let points: Vec<Block> = points.iter().map(|point| Block((*point).into())).collect();
    let points = wires(&Zeroizing::new(points));
    let shares = wires(&sent).into_iter().zip(corrections).zip(&points);
    Ok(shares
        .map(|((share, correction), point)| &share ^ &(selected & &(&correction ^ point)))
        .collect())
}

/// Sends bits, and returns as many of the peer's.
fn theirs(own: &Bits, channel: &mut Channel) -> Result<Bits, Error> {
    let own_bytes = own.to_bytes();
    let mut bytes = vec![0; own_bytes.len()];
    exchange(&own_bytes, &mut bytes, channel)?;
    Ok(Bits::from_bytes(&bytes, own.lanes()))
}

fn add(rows: &mut [Block], more: &[Block]) {
    rows.iter_mut()
        .zip(more)
        .for_each(|(row, more)| *row ^= *more);
}

/// Adds δ where the bit is one.
fn add_where(rows: &mut [Block], bits: &Bits, delta: &Block) {
    parallel::chunks_mut(rows, LANES_PER_TASK, &|range, rows| {
        for (row, lane) in rows.iter_mut().zip(range) {
            *row ^= *delta & Block::splat(bits.get(lane));
        }
    });
}
